"""One of the two corpora that are compared: a model with a corpus, or some documents of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import corpus_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.model.selection import describe_values, select_documents
from ctxembed.text.index import Index
from ctxembed.text.metadata import Groups

Ints = NDArray[np.int64]
# A column that names who wrote or spoke, in some languages.
_AUTHOR = re.compile(
    "author|speaker|writer|president|member|user|poet|candidate|autor|auteur|sprecher|redner|orador"
    "|yazar|konuşmacı",
    re.I,
)


@dataclass(frozen=True, eq=False)
class Side:
    """A model whose documents are compared with those of another side."""

    model: Model
    name: str
    clusters: Ints | None = None  # (D,) number of what is permuted as one; None: each document
    first_document: int = 0  # number of its first document among those of both sides

    @property
    def index(self) -> Index:
        """The corpus of its model."""
        return corpus_of(self.model)

    @property
    def documents(self) -> int:
        """The number of its documents."""
        return len(self.index.documents) - 1

    @property
    def units(self) -> Ints:
        """(D,) the number of the document or cluster of each document.

        A cluster of both sides has one number; the documents of both sides have different ones.
        """
        if self.clusters is not None:
            return self.clusters
        return np.arange(self.documents) + self.first_document

    def units_of(self, positions: Ints) -> Ints:
        """Return the number (n,) of the document or cluster of each position."""
        return self.units[self.index.document_of(positions)]


Sides = tuple[Side, Side]


def sides_of(a: Model, b: Model, names: Sequence[str] = (), cluster: str | None = None) -> Sides:
    """Return the sides of two models.

    cluster: a column of the metadata of both; documents with the same value are one cluster.
    """
    first, second = names or (a.path.name, b.path.name)
    numbers: tuple[Ints, Ints] | tuple[None, None] = (None, None)
    if cluster is not None:
        numbers = _number_clusters(a, b, cluster)
    start = len(corpus_of(a).documents) - 1
    return Side(a, first, numbers[0]), Side(b, second, numbers[1], start)


def sides_by(model: Model, by: str, cluster: str | None = None) -> Sides:
    """Return two groups of documents, such as party=Rep,Dem or year=1900..1949,1950..1999.

    A column that has two values needs no values: by is its name.
    """
    name, equals, text = (part.strip() for part in by.partition("="))
    if re.search("[<>!]", name):
        raise UsageError(f"--by {by[:60]}: write COLUMN=A,B, such as year=1900..1949,1950..1999")
    column = corpus_of(model).metadata.column(name)
    groups = column.groups()
    values = [value.strip() for value in text.split(",")] if equals else list(groups.names)
    if len(values) != 2 or "" in values or values[0] == values[1]:
        message = (
            f"--by {by[:60]}: give two values, as {name}=A,B; {name} {describe_values(column)}"
        )
        raise UsageError(message)
    masks = [column.matches("=", value) for value in values]
    for value, mask in zip(values, masks, strict=True):
        if not mask.any():
            message = f"--by {by[:60]}: no document has {name}={value}"
            raise UsageError(f"{message}; {name} {describe_values(column)}")
    if (masks[0] & masks[1]).any():
        raise UsageError(f"--by {by[:60]}: some documents belong to both")
    a, b = (select_documents(model, mask) for mask in masks)
    return sides_of(a, b, values, cluster)


def sides_by_files(model: Model, number: int, names: Sequence[str]) -> Sides:
    """Return the documents of a model that begin in its first files, and the others."""
    index = corpus_of(model)
    sentences = sum(file["sentences"] for file in index.files[:number])
    is_first = index.documents[:-1] < index.offsets[sentences]
    return sides_of(select_documents(model, is_first), select_documents(model, ~is_first), names)


def choose_sides(
    a: Model, b: Model | str | Path | None, by: str | None, cluster: str | None = None
) -> Sides:
    """Return two models as sides, or with `by` two groups of the documents of the first."""
    if (b is None) == (by is None):
        raise UsageError("give two models, or one model and --by COLUMN=A,B")
    if by is not None:
        return sides_by(a, by, cluster)
    return sides_of(a, open_model(b), cluster=cluster)


def describe_repeats(sides: Sides) -> list[str]:
    """Return a note if several of the documents have the same author."""
    tables = [side.index.metadata for side in sides]
    for name in tables[0].names:
        if not _AUTHOR.search(name) or name not in tables[1].columns:
            continue
        groups = [table.column(name).groups() for table in tables]
        known = sum(int((group.numbers >= 0).sum()) for group in groups)
        authors = len(set(groups[0].names) | set(groups[1].names))
        if 1 < authors < known:
            many = f"{known} documents have {authors} values of {name}"
            return [f"{many}: p-values are too small. Give --cluster {name}"]
    return []


def _number_clusters(a: Model, b: Model, cluster: str) -> tuple[Ints, Ints]:
    """Return the cluster of each document of two models; one without a value is its own."""
    numbers: dict[str, int] = {}
    sides = list[Ints]()
    for model in (a, b):
        column = corpus_of(model).metadata.column(cluster)
        groups: Groups = column.groups()
        if not groups.names:
            raise UsageError(f"--cluster {cluster}: {model.path} has no values of {cluster}")
        rows = [numbers.setdefault(name, len(numbers)) for name in groups.names]
        sides.append(np.array([*rows, -1], np.int64)[groups.numbers])
    first = len(numbers)
    for side in sides:
        alone = np.flatnonzero(side < 0)
        side[alone] = np.arange(first, first + len(alone))
        first += len(alone)
    return sides[0], sides[1]
