"""What is this model, and what is this word's averaged vector?"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from ctxembed.context.axes import Axes, axis_cosines, known_axes
from ctxembed.context.columns import NUMBERS, VECTOR, WORD, vector_of
from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import corpus_of, no_corpus, quote
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import BUNDLED, bundled_model, on_model
from ctxembed.model.model import Model
from ctxembed.queries.neighbors import nearest
from ctxembed.table import PROPERTIES, Cell, Column, Table

SHOW = (
    WORD,
    Column(
        "property",
        "count, share, documents, composed, norm, nearest, axis NAME or occurrence",
        "label",
    ),
    Column(
        "value",
        "its value; share is the part of all words in the corpus that are this one, composed are"
        " the subwords or characters of a word that has no vector of its own",
        "text",
        between=", ",
    ),
)


@on_model(*PROPERTIES)
def info(model: Model) -> Table:
    """List every parameter of a model, its corpus and its sizes."""
    from ctxembed.model.attentions import read_description  # of use here only
    from ctxembed.model.saved_senses import open_senses

    meta = dict(model.meta)
    files = meta.pop("files", [])
    for name in ("fingerprint", "contents"):  # say nothing to a reader; check shows the files
        meta.pop(name, None)
    rows: list[tuple[str, Cell]] = [("path", str(model.path))]
    for name, value in meta.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{key}", _cell(inner)) for key, inner in value.items()]
        else:
            rows.append((name, _cell(value)))
    for file in files:
        digest = f" sha256:{file['sha256'][:12]}" if file["sha256"] else ""
        rows.append(("file", f"{file['name']}{digest}"))
    for name in model.attentions():
        about = read_description(model, name)
        told = {**about["layer"], **about["settings"], **about["figures"]}
        rows += [(f"attention.{name}.{key}", _cell(value)) for key, value in told.items()]
    rows += [(f"bundled.{name}", _bundled(name)) for name in BUNDLED]
    open_senses(model)  # damaged ones are told of
    rows.append(("bytes", model.size()))
    return Table(PROPERTIES, rows)


def _bundled(name: str) -> str:
    """Say what a bundled model is, in one line."""
    meta = Model.open(bundled_model(name)).meta
    corpus = "with its corpus" if (bundled_model(name) / "index").is_dir() else "no corpus"
    return f"{meta['vocabulary']} words of {meta['dim']} numbers, {corpus}; -m {name}"


def _cell(value: object) -> Cell:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"  # 1e-05 would print as 0.0000
    return value if isinstance(value, int | str) else str(value)


@on_model(WORD, NUMBERS, VECTOR)
def vector(model: Model, words: str | Sequence[str]) -> Table:
    """Give the numbers of each word's vector."""
    known, notes, unknown = model.vocabulary.keep_known(words)
    columns = (WORD, vector_of(model.dim))
    return Table(columns, lambda: ((word, model.vector(word)) for word in known), notes, unknown)


@on_model(*SHOW)
def show(
    model: Model,
    words: str | Sequence[str],
    *,
    axes: Axes | None = None,
    nearest: int = 8,
    occurrences: int = 3,
    min_count: int = 1,
    raw: bool = False,
) -> Table:
    """Describe the averaged vector of each word."""
    ranking = {"min_count": min_count, "raw": raw}
    known, notes, unknown = model.vocabulary.keep_known(words)
    kept, told = known_axes(model, axes)
    rows = [
        (word, *line)
        for word in known
        for line in _describe(model, word, kept, nearest, occurrences, ranking)
    ]
    if occurrences and model.index is None and not model.by_hand:
        told.append(no_corpus(model))
    return Table(SHOW, rows, [*notes, *told], unknown)


def _describe(
    model: Model, word: str, axes: Axes, most: int, occurrences: int, ranking: dict[str, Any]
) -> Iterator[tuple[str, Cell]]:
    row = model.vocabulary.find(word)
    vector, parts = model.vector(word), model.vocabulary.parts(word)
    hits = None
    if model.index is not None:
        with suppress(UsageError, UnknownWordError):  # made of smaller units, it may occur nowhere
            hits = find_hits(model, word)
    if row is None:
        yield "composed", _compose(model, word, parts)
    elif model.index is not None or not model.meta.get("counts_estimated"):  # else a guess
        count = int(model.counts[row])
        yield "count", count
        yield "share", count / model.tokens
    if hits is not None:
        yield "documents", corpus_of(model).count_documents(hits.places)
    yield "norm", float(np.linalg.norm(vector))
    if most:
        (found,) = nearest(model, vector, most, [parts], **ranking)
        yield "nearest", [f"{word} {cosine:.2f}" for word, cosine in found]
    for name, cosine in zip(axes, axis_cosines(model, vector, axes)[0], strict=True):
        yield f"axis {name}", float(cosine)
    if hits is not None:
        for text in sample_occurrences(model, hits, occurrences):
            yield "occurrence", text


def _compose(model: Model, word: str, parts: Sequence[int]) -> str:
    """Say which units a word's vector is the mean of, and which have none."""
    without = [
        unit for unit in model.vocabulary.tokenizer.words(word) if unit not in model.vocabulary.rows
    ]
    told = f"the mean of {' '.join(model.vocabulary.words[part] for part in parts)}"
    return f"{told}; no vector for {' '.join(without)}" if without else told


def sample_occurrences(model: Model, hits: Hits, number: int) -> list[str]:
    """Quote a few occurrences, spread evenly over the corpus."""
    last = len(hits.places) - 1
    chosen = hits.places[np.linspace(0, last, min(number, last + 1)).astype(int)]
    return [quote(corpus_of(model), int(place), size=hits.size) for place in chosen]
