"""Train on a sample of a corpus that Apache Spark reads: count words, then draw sentences."""

import math
import tempfile
import time
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError, CtxembedError, UsageError
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import choose, fit_settings
from ctxembed.storage.atomic import atomic_directory
from ctxembed.text.corpus import Corpus, Source
from ctxembed.text.index import Index, choose_document_kind
from ctxembed.text.sampling import Drawn, Plan, count_file, draw_file, write_sampled
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.spark import job_progress, on_files, open_session
from ctxembed.training.train import TOO_RARE, TrainJob, TrainResult, train_on

PER_WORD = 1000  # occurrences listed of each word
TRAIN_WORDS = 50_000_000  # that word2vec reads
COUNTED = "word string, count long, file int, first long"
COUNTED += ", sentences long, blocks long, message string"
DTYPES = {"ids": np.int32, "lengths": np.int32, "lines": np.int32, "numbers": np.int64,
          "blocks": np.int32, "drawn_for": np.uint8}  # fmt: skip
DRAWN = ", ".join(["file int", *(f"{name} binary" for name in DTYPES), "rare string"])
WORDS_PER_ROW = 1 << 16  # words in one batch from a file
MAX_PARTITIONS = 200  # of the words while counts are summed


def train_on_spark(
    corpus: Corpus, output: str | Path = "ctxembed-model", *, tokenizer: Tokenizer | None = None,
    per_word: int = PER_WORD, train_words: int = TRAIN_WORDS, progress: Progress = SILENT,
    workers: int | None = None, engine: str = "auto", force: bool = False, attention: bool = True,
    **options: Any,
) -> TrainResult:  # fmt: skip
    """Train a model on a sample of the corpus that Spark draws, and return what was done.

    per_word: occurrences of each word in the sample. train_words: words that word2vec reads.
    options: fields of static.settings.EngineSettings.
    """
    if "-" in corpus.names:
        raise UsageError("--on spark reads files, not stdin")
    if corpus.weights:
        raise UsageError("--on spark reads every source alike; leave the weights out")
    tokenizer = tokenizer or Tokenizer()
    session = open_session()
    name, train_vectors, note = choose(engine, bool(options.get("hierarchical_softmax")))
    target = atomic_directory(Path(output), replace=force)
    with target as folder, tempfile.TemporaryDirectory() as aside:
        (folder / "index").mkdir()
        started = time.perf_counter()
        counted = _count(session, corpus, tokenizer, progress)
        share = min(1.0, train_words / counted.tokens)
        sampled_tokens = round(share * counted.tokens)
        settings = fit_settings(sampled_tokens, engine=name, workers=workers, **options)
        if not options.get("min_count"):  # as often in the sample
            settings = replace(settings, min_count=math.ceil(settings.min_count / share))
        words, counts, types = counted.words(settings.min_count)
        if not words:
            raise CorpusError(TOO_RARE.format(settings.min_count))
        plan = Plan(words, counts, per_word, share, settings.seed)
        blocks = sum(file["blocks"] for file in counted.files)
        kind = choose_document_kind(corpus.document, len(counted.files), blocks)
        drawn = _draw(session, counted.readable, tokenizer, plan, progress)
        names = list(counted.readable.names)
        sampled = write_sampled(drawn, names, plan, kind, folder / "index", Path(aside))
        files = [
            {"name": file["name"], "sha256": file["sha256"], "sentences": kept}
            for file, kept in zip(counted.files, sampled.by_file, strict=True)
        ]
        meta = {
            "sentences": sum(file["sentences"] for file in counted.files), "tokens": counted.tokens,
            "dropped_words": types - len(words),
            "sampled": {
                "per_word": per_word, "sentences": sum(sampled.by_file), "tokens": sampled.tokens,
                "trained_tokens": int(sampled.trained.sum()),
            },
            "word2vec": asdict(settings), "tokenizer": tokenizer.to_dict(), "lines": corpus.lines,
            "encoding": corpus.encoding, "document": kind, "documents": sampled.documents,
            "files": files,
        }  # fmt: skip
        result = train_on(
            TrainJob(
                index=Index(Path(aside), words, counted.files), counts=counts,
                trained_counts=sampled.trained, settings=settings, train_vectors=train_vectors,
                meta=meta, folder=folder, output=output, started=started, attention=attention,
                notes=[note] if note else [],
            ), progress,
        )  # fmt: skip
    counted.frame.unpersist()
    return replace(result, notes=[*counted.notes, *result.notes])


@dataclass(frozen=True)
class _WordCounts:
    """The result of the first pass; its words stay on the cluster until `words` is called."""

    frame: Any
    readable: Corpus
    files: list[dict[str, Any]]
    tokens: int
    notes: list[str]  # why the other files were left out

    def words(self, min_count: int) -> tuple[list[str], NDArray[np.int64], int]:
        """Return the words that are kept, in the order of `train`, their counts, and all types."""
        from pyspark.sql import functions as f

        words = self.frame.where("message is null")
        kept = words.where(f.col("count") >= min_count)
        kept = kept.orderBy(f.desc("count"), "at.file", "at.first")
        table = kept.select("word", "count").toArrow()
        return table["word"].to_pylist(), np.array(table["count"], np.int64), words.count()


def _count(session: Any, corpus: Corpus, tokenizer: Tokenizer, progress: Progress) -> _WordCounts:
    """Count the words of all files; unreadable files are left out, with a note each."""
    from pyspark.sql import functions as f

    def count_rows(files: Iterator[int]) -> Iterator[dict[str, Any]]:
        for file in files:
            key = [f"\n{file}"]  # of a row about the file: no word has a line break
            try:
                c = count_file(_with_files(corpus, [file]), tokenizer)
            except CtxembedError as error:
                yield _rows(file, key, [0], [0], message=str(error))
                continue
            for first in range(0, len(c.words), WORDS_PER_ROW):
                part = slice(first, first + WORDS_PER_ROW)
                yield _rows(file, c.words[part], c.counts[part], c.first[part])
            sizes = {"sentences": c.sentences, "blocks": c.blocks}
            yield _rows(file, key, [0], [0], **sizes, message=c.sha256)

    by_file = on_files(session, len(corpus.sources), count_rows, COUNTED)
    partitions = min(MAX_PARTITIONS, len(corpus.sources))
    frame = by_file.repartition(partitions, "word").groupBy("word").agg(
        f.sum("count").alias("count"), f.min(f.struct("file", "first")).alias("at"),
        *(f.max(name).alias(name) for name in ("sentences", "blocks", "message")),
    ).persist()  # fmt: skip
    with job_progress(session, progress, "counting"):
        summaries = frame.where("message is not null").orderBy("at.file").collect()
        tokens = frame.where("message is null").agg(f.sum("count")).collect()[0][0]
    good = [row for row in summaries if row["sentences"] is not None]
    wrong = [str(row["message"]) for row in summaries if row["sentences"] is None]
    if not good or not tokens:
        raise CorpusError(f"{', '.join(corpus.names)}: no words in it" if good else wrong[0])
    readable = _with_files(corpus, [row["at"]["file"] for row in good])
    files = [
        {"name": name, "sha256": row["message"], **{k: row[k] for k in ("sentences", "blocks")}}
        for name, row in zip(readable.names, good, strict=True)
    ]
    left_out = f"; left out, {len(good)} of {len(summaries)} files were read"
    return _WordCounts(frame, readable, files, int(tokens), [text + left_out for text in wrong])


def _rows(file: int, words: list[str], counts: Any, first: Any, **facts: Any) -> dict[str, Any]:
    """Return the columns of a row for each word; facts about the file are None where not given."""
    same = {"file": file, "sentences": None, "blocks": None, "message": None, **facts}
    columns = {name: [value] * len(words) for name, value in same.items()}
    return {"word": words, "count": counts, "first": first, **columns}


def _draw(
    session: Any, corpus: Corpus, tokenizer: Tokenizer, plan: Plan, progress: Progress
) -> Iterator[tuple[int, Drawn]]:
    """Yield the sentences that are drawn, in the order of the corpus."""

    def drawn_rows(files: Iterator[int]) -> Iterator[dict[str, Any]]:
        for file in files:
            for part in draw_file(_with_files(corpus, [file]), tokenizer, plan):
                arrays = {name: [getattr(part, name).tobytes()] for name in DTYPES}
                yield {"file": [file], **arrays, "rare": ["\n".join(part.rare)]}

    frame = on_files(session, len(corpus.sources), drawn_rows, DRAWN)
    with job_progress(session, progress, "drawing"):
        for row in frame.toLocalIterator(prefetchPartitions=True):
            arrays = {name: np.frombuffer(row[name], kind) for name, kind in DTYPES.items()}
            yield row["file"], Drawn(**arrays, rare=row["rare"].split("\n") if row["rare"] else [])


def _with_files(corpus: Corpus, files: Sequence[int]) -> Corpus:
    """Return the corpus with only some of its files, given by their numbers."""
    part = copy(corpus)  # the constructor would look for the files, which may be elsewhere
    part.sources = [Source(corpus.sources[file].name) for file in files]
    part.names = [source.name for source in part.sources]
    return part
