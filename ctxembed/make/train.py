"""From a corpus to a model directory."""

import time
from collections.abc import Collection, Iterable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.learning import NothingToLearn
from ctxembed.errors import CorpusError, UsageError
from ctxembed.make.learn import learn_attention
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import choose, cores, fit_settings
from ctxembed.store.model import Model
from ctxembed.store.places import NOISE
from ctxembed.store.whole import written_whole
from ctxembed.store.write_model import write_files, write_frames
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
        unspaced = tell_no_spaces(counted.types, counted.counts.tolist()) if unit == "word" else []
        if unit != "word":
            tokenizer, counted = _divide(folder, tokenizer, counted, unit, pieces)
            given["min_count"] = given.get("min_count") or 1  # any word is made of them
        settings = fit_settings(counted.tokens, engine=name, workers=workers, **given)
        joined = 0
        if phrases:
            tokenizer, counted = learn_phrases(
                folder / "index", counted, tokenizer, settings.min_count
            )
            joined = write_phrases(folder / PHRASES, tokenizer)
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
        read = time.perf_counter()
        vectors, outputs = train_vectors(
            Index(folder / "index", vocabulary, counted.files), counts, settings, progress
        )
        trained = time.perf_counter()
        write_lines(folder / "index" / "rare.txt", counted.types[kept:])
        meta = {
            "sentences": counted.sentences,
            "tokens": counted.tokens,
            "dropped_words": len(counted.types) - kept,
            "word2vec": asdict(settings),
            "tokenizer": tokenizer.told(),
            **({"phrases": joined} if phrases else {}),
            "lines": corpus.lines,
            "encoding": corpus.encoding,
            "document": counted.document,
            "documents": counted.documents,
            "files": counted.files,
        }
        write_files(folder, vocabulary, counts, vectors, outputs, meta)
        learned, notes = finish(folder, settings.seed, attention, progress)
    seconds = {"reading": read - begun, "training": trained - read}
    table = summary(meta, counts, seconds, output)
    notes = [*table.notes, *unspaced, *([told] if told else []), *notes]
    return Table(PROPERTIES, [*table.rows, *learned], notes)


def finish(
    folder: Path, seed: int, attention: bool, progress: Progress
) -> tuple[list[tuple[str, Cell]], list[str]]:
    """Count what stands beside words, and learn a new model's attention; return what that tells."""
    write_frames(Model.open(folder))
    if not attention:
        return [], []
    try:
        learned = learn_attention(Model.open(folder), seed=seed, progress=progress)
    except NothingToLearn as nothing:
        return [], [str(nothing)]
    pairs = (tuple(record.values()) for record in learned.records())
    return [(k if k == "attention" else f"attention_{k}", v) for k, v in pairs], []


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


def summary(
    meta: dict[str, Any],
    counts: NDArray[np.int64],
    seconds: dict[str, float],
    output: str | Path,
) -> Table:
    settings = dict(meta["word2vec"])
    settings["sample"] = f"{settings['sample']:g}"  # 1e-05 would print as 0.0000
    settings["hierarchical_softmax"] = "yes" if settings["hierarchical_softmax"] else "no"
    trained = int(counts.sum()) * settings["epochs"]
    rows: list[tuple[str, Cell]] = [
        ("sentences", meta["sentences"]),
        ("tokens", meta["tokens"]),
        ("document", meta["document"]),
        ("documents", meta["documents"]),
        ("vocabulary", len(counts)),
        ("dropped_words", meta["dropped_words"]),
        *([("phrases", meta["phrases"])] if "phrases" in meta else []),
        *settings.items(),
        *((f"{stage}_seconds", f"{time:.2f}") for stage, time in seconds.items()),
        ("words_per_second", round(trained / max(seconds["training"], 1e-9))),
        ("model", str(output)),
    ]
    notes = []
    if meta["tokens"] < NOISE:
        notes.append(
            f"{meta['tokens']} words are too few: these vectors are noise. Some ten thousand words"
            " begin to mean something, a million is good; the bundled model shows what to expect"
        )
    if settings["workers"] > 1:
        notes.append(
            f"trained by {settings['workers']} workers, so another run will differ a little;"
            " --workers 1 gives the same bytes every time"
        )
    return Table(PROPERTIES, rows, notes)
