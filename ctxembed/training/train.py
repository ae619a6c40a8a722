"""From a corpus to a model directory."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.training.learning import NothingToLearn
from ctxembed.errors import CorpusError, UsageError
from ctxembed.model.bundled import NOISE
from ctxembed.model.model import Model
from ctxembed.model.write import write_files, write_frames
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import Train, choose, cores, fit_settings
from ctxembed.static.settings import EngineSettings
from ctxembed.storage.atomic import written_whole
from ctxembed.table import PROPERTIES, Cell, Table, answers
from ctxembed.text.build_index import Counted, build, put_first, write_occurrences
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.index import Index
from ctxembed.text.languages import tell_no_spaces
from ctxembed.text.phrases import FILE as PHRASES
from ctxembed.text.phrases import learn_phrases, write_phrases
from ctxembed.text.subword import FILE, Characters, Subwords, check_letters, learn
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.units import divide
from ctxembed.text.word_list import write_lines
from ctxembed.training.learn import learn_attention


@answers(*PROPERTIES)
def train(
    corpus: Corpus | str | Path | Sequence[str | Path],
    output: str | Path = "ctxembed-model",
    *,
    tokenizer: Tokenizer | None = None,
    unit: str = "word",
    pieces: int | None = None,
    phrases: bool = False,
    force: bool = False,
    text: bool = True,
    attention: bool = True,
    progress: Progress = SILENT,
    workers: int | None = None,
    engine: str = "auto",
    words: Collection[str] | None = None,
    **given: Any,
) -> Table:
    """Train a model, learn attention on it, save both.

    unit: "word", or "subword" (byte pairs, `pieces` of them) or "character" for smaller ones.
    words: which words get a vector; without, those that occur often enough.
    phrases: join words that go together, as new_york, to one.
    text: keep a packed copy of the text, so that occurrences can be quoted as they were written.
    engine: what trains, "own" or "gensim"; "auto" is our own wherever it can run.
    `given` are fields of static.settings.EngineSettings; the rest fits the size of the corpus.
    """
    if phrases and unit != "word":
        raise UsageError(f"--phrases joins words: it does not go with --unit {unit}")
    tokenizer, corpus = tokenizer or Tokenizer(), as_corpus(corpus)
    if unit == "character":
        tokenizer = replace(tokenizer, kind="whitespace")
    name, train_vectors, told = choose(engine, bool(given.get("hierarchical_softmax")), progress)
    with written_whole(Path(output), replace=force) as folder:
        (folder / "index").mkdir()
        begun = time.perf_counter()
        counted = build(
            corpus, tokenizer, folder / "index", workers or cores(), progress, keep=text
        )
        notes = tell_no_spaces(counted.types, counted.counts.tolist()) if unit == "word" else []
        if unit != "word":
            tokenizer, counted = _divide(folder, tokenizer, counted, unit, pieces)
            given["min_count"] = given.get("min_count") or 1  # any word is made of them
        settings = fit_settings(counted.tokens, engine=name, workers=workers, **given)
        joined = {}
        if phrases:
            tokenizer, counted = learn_phrases(
                folder / "index", counted, tokenizer, settings.min_count
            )
            joined = {"phrases": write_phrases(folder / PHRASES, tokenizer)}
        if words is None:
            kept = counted.kept(settings.min_count)
        else:
            settings = replace(settings, min_count=1)
            counted, kept = put_first(folder / "index", counted, words)
        if not kept:
            raise CorpusError(
                f"no word occurs {settings.min_count} times; give a lower --min-count"
            )
        vocabulary, counts = counted.types[:kept], counted.counts[:kept]
        write_occurrences(folder / "index", counts)
        write_lines(folder / "index" / "rare.txt", counted.types[kept:])
        meta = {
            "sentences": counted.sentences,
            "tokens": counted.tokens,
            "dropped_words": len(counted.types) - kept,
            "word2vec": asdict(settings),
            "tokenizer": tokenizer.told(),
            **joined,
            "lines": corpus.lines,
            "encoding": corpus.encoding,
            "document": counted.document,
            "documents": counted.documents,
            "files": counted.files,
        }
        return train_on(
            Index(folder / "index", vocabulary, counted.files), counts, counts, settings,
            train_vectors, meta, folder, output,
            begun=begun, attention=attention, progress=progress,
            told=[*notes, *([told] if told else [])],
        )  # fmt: skip


def _divide(
    folder: Path, tokenizer: Tokenizer, counted: Counted, unit: str, pieces: int | None
) -> tuple[Tokenizer, Counted]:
    """Make an index of smaller units, and the tokeniser that finds them."""
    divided: Characters | Subwords
    words = counted.types
    check_letters(max(words, key=len))
    if unit == "character":
        divided = Characters(tokenizer.kind, tokenizer.cased, language=tokenizer.language)
        units: Iterable[list[str]] = map(divided.words, words)
    else:
        size = pieces or min(max(len(words) // 3, 300), 30_000)
        learned = learn(zip(words, counted.counts.tolist(), strict=True), size)
        (folder / FILE).write_text(learned, encoding="utf-8", newline="\n")
        divided = Subwords(
            tokenizer.kind, tokenizer.cased, language=tokenizer.language, learned=learned
        )
        units = divided.pieces(words)
    return divided, divide(folder / "index", counted, units)


def train_on(
    index: Index,
    counts: NDArray[np.int64],
    seen: NDArray[np.int64],
    settings: EngineSettings,
    train_vectors: Train,
    meta: dict[str, Any],
    folder: Path,
    output: str | Path,
    *,
    begun: float,
    attention: bool,
    told: Sequence[str],
    progress: Progress,
) -> Table:
    """Train vectors on an index, write a model's files, learn its attention, and tell of it all.

    counts: (V,) how often each word occurs. seen: (V,) how often in the index, if that is a sample.
    begun: when reading did. told: what reading has to tell.
    """
    read = time.perf_counter()
    vectors, outputs = train_vectors(index, np.maximum(1, seen), settings, progress)
    training = time.perf_counter() - read
    write_files(folder, index.vocab, counts, vectors, outputs, meta)
    write_frames(Model.open(folder))  # what stands beside words
    chosen = meta["word2vec"] | {
        "sample": f"{settings.sample:g}",  # 1e-05 would print as 0.0000
        "hierarchical_softmax": "yes" if settings.hierarchical_softmax else "no",
    }
    rows: list[tuple[str, Cell]] = [
        *((name, meta[name]) for name in ("sentences", "tokens", "document", "documents")),
        ("vocabulary", len(counts)),
        ("dropped_words", meta["dropped_words"]),
        *([("phrases", meta["phrases"])] if "phrases" in meta else []),
        *chosen.items(),
        ("reading_seconds", f"{read - begun:.2f}"),
        ("training_seconds", f"{training:.2f}"),
        ("words_per_second", round(int(seen.sum()) * settings.epochs / max(training, 1e-9))),
        ("model", str(output)),
        *((f"sampled_{key}", value) for key, value in meta.get("sampled", {}).items()),
    ]
    notes = []
    if meta["tokens"] < NOISE:
        notes.append(
            f"{meta['tokens']} words are too few: these vectors are noise. Some ten thousand words"
            " begin to mean something, a million is good; the bundled model shows what to expect"
        )
    if settings.workers > 1:
        notes.append(
            f"trained by {settings.workers} workers, so another run will differ a little;"
            " --workers 1 gives the same bytes every time"
        )
    notes += told
    if attention:
        try:
            made = learn_attention(Model.open(folder), seed=settings.seed, progress=progress)
            pairs = (tuple(record.values()) for record in made.records())
            rows += [(k if k == "attention" else f"attention_{k}", v) for k, v in pairs]
        except NothingToLearn as error:
            notes.append(str(error))
    return Table(PROPERTIES, rows, notes)
