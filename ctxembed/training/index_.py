"""A corpus of one's own for vectors that are there already."""

from collections.abc import Sequence
from itertools import count
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError
from ctxembed.model.bundled import bundled_name, on_model
from ctxembed.model.model import Model
from ctxembed.model.write import write_description
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import cores
from ctxembed.static.quantized import Small
from ctxembed.storage.atomic import written_whole
from ctxembed.table import PROPERTIES, Cell, Table
from ctxembed.text.build_index import Counted, build, renumber_for, write_occurrences
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.phrases import FILE as PHRASES
from ctxembed.text.phrases import Phrases, join_known, write_phrases
from ctxembed.text.word_list import write_lines
from ctxembed.training.shrink import MADE, copy_attentions

NAMED = 8  # unknown words that are named
OF_CORPUS = ("sentences", "dropped_words", "lines", "encoding", "document", "documents", "files")


@on_model(*PROPERTIES)
def index(
    model: Model,
    corpus: Corpus | str | Path | Sequence[str | Path],
    output: str | Path = "ctxembed-model",
    *,
    force: bool = False,
    progress: Progress = SILENT,
) -> Table:
    """Make a model of another one's vectors and attentions with this corpus; no vector changes."""
    corpus, vocabulary = as_corpus(corpus), len(model.vocabulary)
    with written_whole(Path(output), replace=force) as folder:
        (folder / "index").mkdir()
        counted, unknown, counts = read_for(model, corpus, folder / "index", progress, keep=True)
        if len(unknown) == len(counted.types):
            raise CorpusError(
                f"{', '.join(corpus.names)}: the model has a vector for none of its words"
            )
        if isinstance(model.vocabulary.tokenizer, Phrases):
            write_phrases(folder / PHRASES, model.vocabulary.tokenizer)
        _copy_vectors(model, folder)
        meta = {key: value for key, value in model.meta.items() if key not in (*MADE, *OF_CORPUS)}
        meta |= {
            "seen_tokens": model.seen_tokens,
            "vectors_of": bundled_name(model.path) or str(model.path),
            "sentences": counted.sentences,
            "tokens": counted.tokens,
            "dropped_words": len(unknown),
            "lines": corpus.lines,
            "encoding": corpus.encoding,
            "document": counted.document,
            "documents": counted.documents,
            "files": counted.files,
        }
        write_description(folder, model.vocabulary.words, counts[:vocabulary], model.dim, meta)
        copy_attentions(model, Model.open(folder))
    left_out = counts[vocabulary:]
    table: list[tuple[str, Cell]] = [
        ("sentences", counted.sentences),
        ("tokens", counted.tokens),
        ("known_words", int(np.count_nonzero(counts[:vocabulary]))),
        ("unknown_words", len(unknown)),
        ("unknown_tokens", int(left_out.sum())),
        ("unknown_share", float(left_out.sum() / counted.tokens)),
        ("vectors", len(model.vocabulary)),
        ("dim", model.dim),
        ("model", str(output)),
    ]
    return Table(PROPERTIES, table, _tell(unknown, left_out.tolist(), counted.tokens))


def read_for(
    model: Model, corpus: Corpus, folder: Path, progress: Progress, keep: bool = False
) -> tuple[Counted, list[str], NDArray[np.int64]]:
    """Write an index of a corpus whose words have the model's rows, and behind them the unknown.

    Returns what was read, the unknown words, and how often each row occurs.
    """
    counted = build(corpus, model.vocabulary.tokenizer, folder, cores(), progress, keep)
    if isinstance(model.vocabulary.tokenizer, Phrases):
        counted = join_known(folder, counted, model.vocabulary.tokenizer)
    found = {word: model.vocabulary.find(word) for word in counted.types}
    unknown = [word for word, row in found.items() if row is None]
    rows = found | dict(zip(unknown, count(len(model.vocabulary)), strict=False))
    counts = renumber_for(folder, list(rows.values()), len(model.vocabulary) + len(unknown))
    write_occurrences(folder, counts[: len(model.vocabulary)])
    write_lines(folder / "rare.txt", unknown)
    return counted, unknown, counts


def _tell(words: Sequence[str], counts: Sequence[int], tokens: int) -> list[str]:
    """Say how much of the corpus has no vector, and name what is missed most."""
    if not words:
        return []
    named = list(zip(words, counts, strict=True))[:NAMED]
    most = ", ".join(f"{word} {count}" for word, count in named)
    return [
        f"{sum(counts) / tokens:.1%} of the text, {len(words)} words, has no vector and is read"
        f" over: {most}{', ...' if len(words) > NAMED else ''}"
    ]


def _copy_vectors(model: Model, folder: Path) -> None:
    """Keep vectors, how often their words were seen in training, and their mean as they are."""
    for name, vectors in (("vectors.npy", model.vectors), ("output.npy", model.output)):
        if vectors is not None:
            np.save(folder / name, vectors.rows if isinstance(vectors, Small) else vectors)
    if model.frames is not None:
        np.save(folder / "frames.npy", model.frames)
    np.save(folder / "seen.npy", np.asarray(model.seen))
    np.save(folder / "mean.npy", np.asarray(model.mean))
