"""Train a model on a corpus and write its directory."""

import time
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.training.learning import NothingToLearn
from ctxembed.errors import CorpusError, UsageError
from ctxembed.model.bundled import MIN_TOKENS, ModelLike
from ctxembed.model.model import Model
from ctxembed.model.write import write_files, write_frames
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import Train, choose, cores, fit_settings
from ctxembed.static.settings import EngineSettings
from ctxembed.stats.threads import one_thread
from ctxembed.storage.atomic import atomic_directory
from ctxembed.table import PROPERTIES, Cell, Table, answers
from ctxembed.text.build_index import (
    Counted,
    add_absent,
    build,
    put_first,
    split_into_units,
    write_occurrences,
)
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.index import Index
from ctxembed.text.languages import describe_unspaced_text
from ctxembed.text.lines import write_lines
from ctxembed.text.phrases import FILE as PHRASES
from ctxembed.text.phrases import learn_phrases, write_phrases
from ctxembed.text.subword import FILE, Characters, Subwords, check_letters, learn
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.weights import add_weights, count_as_read
from ctxembed.training.continuation import Continuation
from ctxembed.training.index_ import describe_corpus
from ctxembed.training.learn import LearnResult, learn_model

if TYPE_CHECKING:
    from ctxembed.training.learn_encoder import EncoderLearned

CorpusLike = Corpus | str | Path | Sequence[str | Path]
TOO_SMALL = (
    "words are too few: these vectors are noise. Some ten thousand words begin to mean something,"
    " a million is good; the bundled model shows what to expect"
)
NOT_REPRODUCIBLE = "trained by {} workers: another run differs a little, unless with --workers 1"
TOO_RARE = "no word occurs {} times; give a lower --min-count"


@dataclass(frozen=True)
class TrainJob:
    """What training needs once the corpus is indexed."""

    index: Index
    counts: NDArray[np.int64]  # (V,) how often each word occurs in the corpus
    trained_counts: NDArray[np.int64]  # (V,) how often it is read in an epoch
    settings: EngineSettings
    train_vectors: Train
    meta: dict[str, Any]  # of model.json
    folder: Path  # where the files are written
    output: str | Path  # where they are moved to
    started: float  # time.perf_counter() before the corpus was read
    attention: bool  # learn attention too
    notes: Sequence[str]  # from reading the corpus


@dataclass(frozen=True)
class TrainResult:
    """What was read, chosen and trained."""

    meta: dict[str, Any]  # of model.json
    vocabulary: int
    reading_seconds: float
    training_seconds: float
    words_per_second: int
    output: str
    learned: "LearnResult | EncoderLearned | None"
    notes: list[str]

    def to_table(self) -> Table:
        """Return a row for each property."""
        meta, settings = self.meta, dict(self.meta["word2vec"])
        settings["sample"] = f"{settings['sample']:g}"  # 1e-05 would print as 0.0000
        settings["hierarchical_softmax"] = "yes" if settings["hierarchical_softmax"] else "no"
        rows: list[tuple[str, Cell]] = [
            *((name, meta[name]) for name in ("sentences", "tokens", "document", "documents")),
            ("vocabulary", self.vocabulary),
            *((name, meta[name]) for name in ("dropped_words", "phrases") if name in meta),
            *settings.items(),
            ("reading_seconds", f"{self.reading_seconds:.2f}"),
            ("training_seconds", f"{self.training_seconds:.2f}"),
            ("words_per_second", self.words_per_second),
            ("model", self.output),
            *((f"sampled_{key}", value) for key, value in meta.get("sampled", {}).items()),
        ]
        if self.learned is not None:
            rows.append(("attention", self.learned.name))
            rows += [(f"attention_{key}", v) for key, v in self.learned.summary().items()]
        return Table(PROPERTIES, rows, self.notes)


@answers(*PROPERTIES)
@one_thread()
def train(corpus: CorpusLike, output: str | Path = "ctxembed-model", **options: Any) -> Table:
    """Train a model on a corpus and return a summary; options are those of train_model."""
    return train_model(corpus, output, **options).to_table()


def train_model(
    corpus: CorpusLike, output: str | Path = "ctxembed-model", *,
    tokenizer: Tokenizer | None = None, unit: str = "word", pieces: int | None = None,
    phrases: bool = False, force: bool = False, text: bool = True, attention: bool = True,
    progress: Progress = SILENT, workers: int | None = None, engine: str = "auto",
    words: Collection[str] | None = None, start: ModelLike = None, **options: Any,
) -> TrainResult:  # fmt: skip
    """Train a model, learn attention on it, save both, and return what was done.

    unit: "word", "subword" (byte pairs, `pieces` of them) or "character".
    words: the words that get a vector; by default those that occur often enough.
    phrases: join words that often occur together, such as new_york, to one.
    text: keep a compressed copy of the text, so that occurrences can be quoted.
    engine: "own", "gensim", or "auto": the own engine wherever it can run.
    start: a model that goes on being trained with this corpus; its words are kept.
    corpus: a name may end in a weight, as novels.xz*0.5: how often it is read in an epoch.
    options: fields of static.settings.EngineSettings; defaults depend on the corpus size.
    """
    if phrases and unit != "word":
        raise UsageError(f"--phrases joins words: it cannot be used with --unit {unit}")
    begun = Continuation.of(start) if start is not None else None
    if begun is not None:
        if phrases or unit != "word" or tokenizer not in (None, begun.tokenizer):
            raise UsageError("--from: the text is split as the model's was; leave such options out")
        tokenizer, options = begun.tokenizer, begun.fit(options)
    tokenizer, corpus = tokenizer or Tokenizer(), as_corpus(corpus, weighted=True)
    if unit == "character":
        tokenizer = replace(tokenizer, kind="whitespace")
    name, train_vectors, note = choose(engine, bool(options.get("hierarchical_softmax")))
    if corpus.weights and name != "own":
        raise UsageError(f"{name} reads every source once; leave the weights out")
    if begun is not None and name != "own":
        raise UsageError(f"{name} cannot go on from a model; leave --from out, or use --engine own")
    check = partial(begun.model.check_unchanged, output) if begun is not None else lambda: None
    with atomic_directory(Path(output), replace=force, check=check) as folder:
        index_folder = folder / "index"
        index_folder.mkdir()
        started = time.perf_counter()
        counted = build(corpus, tokenizer, index_folder, workers or cores(), progress, keep=text)
        notes = [note] if note else []
        if unit == "word":
            notes = [*describe_unspaced_text(counted.types, counted.counts.tolist()), *notes]
        else:
            tokenizer, counted = _divide(folder, tokenizer, counted, unit, pieces)
            options["min_count"] = options.get("min_count") or 1  # every word consists of units
        settings = fit_settings(counted.tokens, engine=name, workers=workers, **options)
        meta: dict[str, Any] = {}
        if phrases:
            tokenizer, counted = learn_phrases(index_folder, counted, tokenizer, settings.min_count)
            meta["phrases"] = write_phrases(folder / PHRASES, tokenizer)
        kept = counted.kept(settings.min_count)
        if words is not None:
            settings = replace(settings, min_count=1)
            counted, kept = put_first(index_folder, counted, words)
        if begun is not None:
            words = {*begun.model.vocabulary.words, *counted.types[:kept]}
            counted, kept = put_first(index_folder, counted, words)
            counted, kept = add_absent(index_folder, counted, kept, begun.model.vocabulary.words)
        if not kept:
            raise CorpusError(TOO_RARE.format(settings.min_count))
        vocabulary, counts = counted.types[:kept], counted.counts[:kept]
        write_occurrences(index_folder, counts)
        write_lines(index_folder / "rare.txt", counted.types[kept:])
        index = Index(index_folder, vocabulary, counted.files)
        if corpus.weights:
            counted = replace(counted, files=add_weights(index, corpus.weights, counted.files))
            index = replace(index, files=counted.files)
        meta |= {"dropped_words": len(counted.types) - kept, **describe_corpus(corpus, counted)}
        meta |= {"word2vec": asdict(settings), "tokenizer": tokenizer.to_dict()}
        if begun is not None:
            from ctxembed.static import own_engine  # imports numba

            place = partial(begun.place, words=vocabulary)
            train_vectors = partial(own_engine.train, start=place)
            meta |= {"seen_tokens": begun.model.seen_tokens + counted.tokens, **begun.describe()}
            np.save(folder / "seen.npy", begun.seen(vocabulary, counts))
        return train_on(
            TrainJob(
                index=index, counts=counts, trained_counts=count_as_read(index, counts),
                settings=settings, train_vectors=train_vectors, meta=meta,
                folder=folder, output=output, started=started, attention=attention, notes=notes,
            ), progress,
        )  # fmt: skip


def _divide(
    folder: Path, tokenizer: Tokenizer, counted: Counted, unit: str, pieces: int | None
) -> tuple[Tokenizer, Counted]:
    """Return the tokenizer of smaller units, and the index rewritten in these units."""
    words, kind, cased = counted.types, tokenizer.kind, tokenizer.cased
    check_letters(max(words, key=len))
    if unit == "character":
        characters = Characters(kind, cased, language=tokenizer.language)
        return characters, split_into_units(folder / "index", counted, map(characters.words, words))
    size = pieces or min(max(len(words) // 3, 300), 30_000)
    learned = learn(zip(words, counted.counts.tolist(), strict=True), size)
    (folder / FILE).write_text(learned, encoding="utf-8", newline="\n")
    subwords = Subwords(kind, cased, language=tokenizer.language, learned=learned)
    return subwords, split_into_units(folder / "index", counted, subwords.pieces(words))


def train_on(job: TrainJob, progress: Progress) -> TrainResult:
    """Train vectors on an index, write a model's files, learn its attention."""
    settings, meta = job.settings, job.meta
    read = time.perf_counter()
    if settings.engine == "own":
        from ctxembed.static import own_engine  # imports numba

        own_engine.compile_kernel(progress)
    compiled = time.perf_counter()
    trained_counts = np.maximum(1, job.trained_counts)
    vectors, outputs = job.train_vectors(job.index, trained_counts, settings, progress)
    seconds = time.perf_counter() - compiled
    write_files(job.folder, job.index.vocab, job.counts, vectors, outputs, meta)
    write_frames(Model.open(job.folder))
    learned, notes = None, list(job.notes)
    if settings.workers > 1:
        notes.insert(0, NOT_REPRODUCIBLE.format(settings.workers))
    if meta.get("seen_tokens", meta["tokens"]) < MIN_TOKENS:
        notes.insert(0, f"{meta['tokens']} {TOO_SMALL}")
    if job.attention:
        try:
            learned = learn_model(Model.open(job.folder), seed=settings.seed, progress=progress)
        except NothingToLearn as error:
            notes.append(str(error))
    rate = round(int(job.trained_counts.sum()) * settings.epochs / max(seconds, 1e-9))
    return TrainResult(
        meta, len(job.counts), read - job.started, seconds, rate, str(job.output), learned, notes
    )
