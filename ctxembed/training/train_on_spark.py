"""From a corpus on a cluster's storage to an ordinary model directory, read by Apache Spark.

Two passes over the files, each row of which is one file: the first counts words, the second draws
sentences by hashing (text/sampling.py). Our own reader and tokeniser run where the data is, so that
counts, ties and messages are the local ones. What comes back to this machine is the vocabulary and
the sample; word2vec and attention are trained here.
"""

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError, CtxembedError, UsageError
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import choose, fit_settings
from ctxembed.storage.atomic import written_whole
from ctxembed.table import PROPERTIES, Table, answers
from ctxembed.text.corpus import Corpus, Source
from ctxembed.text.documents import choose as choose_document
from ctxembed.text.index import Index
from ctxembed.text.sampled_index import write_sampled
from ctxembed.text.sampling import Drawn, Plan, count_file, draw_file
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.spark import job, on_files, open_session
from ctxembed.training.train import train_on

PER_WORD = 1000  # occurrences listed of each word
TRAIN_WORDS = 50_000_000  # that word2vec reads
COUNTED = "word string, count long, file int, first long, sentences long, blocks long, told string"
DTYPES = {"ids": np.int32, "lengths": np.int32, "lines": np.int32, "numbers": np.int64,
          "blocks": np.int32, "drawn_for": np.uint8}  # fmt: skip
DRAWN = ", ".join(["file int", *(f"{name} binary" for name in DTYPES), "rare string"])
WORDS_A_ROW = 1 << 16  # words handed over at once
MOST_PARTS = 200  # of the words that are added up


@answers(*PROPERTIES)
def train_on_spark(
    corpus: Corpus,
    output: str | Path = "ctxembed-model",
    *,
    tokenizer: Tokenizer | None = None,
    per_word: int = PER_WORD,
    train_words: int = TRAIN_WORDS,
    progress: Progress = SILENT,
    workers: int | None = None,
    engine: str = "auto",
    force: bool = False,
    attention: bool = True,
    **given: Any,
) -> Table:
    """Train a model on a sample that Spark draws: per_word occurrences of each word, and an even
    sample of train_words words for word2vec.

    `given` are fields of static.settings.EngineSettings.
    """
    if "-" in corpus.names:
        raise UsageError("--on spark reads files, not stdin")
    tokenizer = tokenizer or Tokenizer()
    session = open_session()
    name, train_vectors, told = choose(engine, bool(given.get("hierarchical_softmax")), progress)
    with (
        written_whole(Path(output), replace=force) as folder,
        tempfile.TemporaryDirectory() as aside,
    ):
        (folder / "index").mkdir()
        begun = time.perf_counter()
        counted = _count(session, corpus, tokenizer, progress)
        share = min(1.0, train_words / counted.tokens)
        settings = fit_settings(
            round(share * counted.tokens), engine=name, workers=workers, **given
        )
        if not given.get("min_count"):  # as often in the sample
            settings = replace(settings, min_count=math.ceil(settings.min_count / share))
        words, counts, types = counted.words(settings.min_count)
        if not words:
            raise CorpusError(
                f"no word occurs {settings.min_count} times; give a lower --min-count"
            )
        plan = Plan(words, counts, per_word, share, settings.seed)
        blocks = sum(file["blocks"] for file in counted.files)
        kind = choose_document(corpus.document, len(counted.files), blocks)
        drawn = _draw(session, counted.readable, tokenizer, plan, progress)
        names = [source.name for source in counted.readable.sources]
        sampled = write_sampled(drawn, names, plan, kind, folder / "index", Path(aside))
        files = [
            {"name": file["name"], "sha256": file["sha256"], "sentences": kept}
            for file, kept in zip(counted.files, sampled.by_file, strict=True)
        ]
        meta = {
            "sentences": sum(file["sentences"] for file in counted.files),
            "tokens": counted.tokens,
            "dropped_words": types - len(words),
            "sampled": {
                "per_word": per_word,
                "sentences": sum(sampled.by_file),
                "tokens": sampled.tokens,
                "trained_tokens": int(sampled.trained.sum()),
            },
            "word2vec": asdict(settings),
            "tokenizer": tokenizer.told(),
            "lines": corpus.lines,
            "encoding": corpus.encoding,
            "document": kind,
            "documents": sampled.documents,
            "files": files,
        }
        table = train_on(
            Index(Path(aside), words, counted.files), counts, sampled.trained, settings,
            train_vectors, meta, folder, output,
            begun=begun, attention=attention, progress=progress, told=[told] if told else [],
        )  # fmt: skip
    counted.frame.unpersist()
    table.notes[:0] = counted.told
    return table


@dataclass(frozen=True)
class _Counted:
    """What the first pass found; the words stay on the cluster until they are asked for."""

    frame: Any
    readable: Corpus
    files: list[dict[str, Any]]
    tokens: int
    told: list[str]  # what was wrong with the others

    def words(self, least: int) -> tuple[list[str], NDArray[np.int64], int]:
        """Return words that occur so often, as `train` orders them, their counts; and all types."""
        from pyspark.sql import functions as f

        words = self.frame.where("told is null")
        found = words.where(f.col("count") >= least).orderBy(f.desc("count"), "at.file", "at.first")
        table = found.select("word", "count").toArrow()
        return table["word"].to_pylist(), np.array(table["count"], np.int64), words.count()


def _count(session: Any, corpus: Corpus, tokenizer: Tokenizer, progress: Progress) -> _Counted:
    """Count the words of all files; those that cannot be read are left out and told."""
    from pyspark.sql import functions as f

    def counted(files: Iterator[int]) -> Iterator[dict[str, Any]]:
        for file in files:
            try:
                found = count_file(_alone(corpus, file), tokenizer)
            except CtxembedError as error:
                yield _summary_row(file, str(error))
                continue
            for first in range(0, len(found.words), WORDS_A_ROW):
                some = slice(first, first + WORDS_A_ROW)
                number = len(found.words[some])
                yield {
                    "word": found.words[some],
                    "count": found.counts[some],
                    "file": [file] * number,
                    "first": found.first[some],
                    **{name: [None] * number for name in ("sentences", "blocks", "told")},
                }
            yield _summary_row(file, found.sha256, found.sentences, found.blocks)

    each = on_files(session, len(corpus.sources), counted, COUNTED)
    frame = (
        each.repartition(min(MOST_PARTS, len(corpus.sources)), "word")
        .groupBy("word")
        .agg(
            f.sum("count").alias("count"),
            f.min(f.struct("file", "first")).alias("at"),
            *(f.max(name).alias(name) for name in ("sentences", "blocks", "told")),
        )
        .persist()
    )
    with job(session, progress, "counting"):
        told = frame.where("told is not null").orderBy("at.file").collect()
        tokens = frame.where("told is null").agg(f.sum("count")).collect()[0][0]
    sources = corpus.sources
    good = [row for row in told if row["sentences"] is not None]
    wrong = [str(row["told"]) for row in told if row["sentences"] is None]
    if not good:
        raise CorpusError(wrong[0])
    if not tokens:
        raise CorpusError(f"{', '.join(corpus.names)}: no words in it")
    files = [
        {
            "name": sources[row["at"]["file"]].name,
            "sha256": row["told"],
            "sentences": row["sentences"],
            "blocks": row["blocks"],
        }
        for row in good
    ]
    readable = _of(corpus, [file["name"] for file in files])
    left_out = f"; left out, {len(good)} of {len(told)} files were read"
    return _Counted(frame, readable, files, int(tokens), [text + left_out for text in wrong])


def _summary_row(
    file: int, told: str, sentences: int | None = None, blocks: int | None = None
) -> dict[str, Any]:
    """Tell of a file in the form of a word; no word has a line break in it."""
    return {
        "word": [f"\n{file}"], "count": [0], "file": [file], "first": [0],
        "sentences": [sentences], "blocks": [blocks], "told": [told],
    }  # fmt: skip


def _draw(
    session: Any, corpus: Corpus, tokenizer: Tokenizer, plan: Plan, progress: Progress
) -> Iterator[tuple[int, Drawn]]:
    """Yield the sentences that are drawn, in the order of the corpus."""

    def drawn(files: Iterator[int]) -> Iterator[dict[str, Any]]:
        for file in files:
            for some in draw_file(_alone(corpus, file), tokenizer, plan):
                arrays = {name: [getattr(some, name).tobytes()] for name in DTYPES}
                yield {"file": [file], **arrays, "rare": ["\n".join(some.rare)]}

    frame = on_files(session, len(corpus.sources), drawn, DRAWN)
    with job(session, progress, "drawing"):
        for row in frame.toLocalIterator(prefetchPartitions=True):
            arrays = {name: np.frombuffer(row[name], kind) for name, kind in DTYPES.items()}
            yield row["file"], Drawn(**arrays, rare=row["rare"].split("\n") if row["rare"] else [])


def _alone(corpus: Corpus, file: int) -> Corpus:
    """Return the corpus of one file, without looking for it: it may be on another machine."""
    return _of(corpus, [corpus.sources[file].name])


def _of(corpus: Corpus, names: Sequence[str]) -> Corpus:
    made = object.__new__(Corpus)
    made.__dict__.update(corpus.__dict__, names=names, sources=[Source(name) for name in names])
    return made
