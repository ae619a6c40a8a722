"""Contextual vectors for many sentences: this is how other programs get them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice

import numpy as np

from ctxembed.attention.attend import attend
from ctxembed.context.columns import NUMBERS, POSITION, TARGET, VECTOR, vector_of
from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representations import Attention, Representation, representations_of
from ctxembed.context.sentences import (
    Skipped,
    Target,
    choose_way,
    list_targets,
    open_encoders,
    read_each,
)
from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table

CHUNK = 2048  # sentences read, sorted by length and run at once
SQUARE = 256  # words; a longer sentence is run target by target, without a square matrix
WHERE = (Column("sentence", "number of the line, from 1", "label"), TARGET, POSITION)


@on_model(*WHERE, NUMBERS, VECTOR)
def contextualize(
    model: Model,
    sentences: str | Iterable[str],
    *,
    attention: str | None = None,
    every_word: bool = False,
    general: str | None = None,
    encoder: str | None = None,
) -> Table:
    """Give the contextual vectors of the marked words of sentences, or of every word."""
    if encoder and (attention or general):
        raise UsageError("give --encoder or an attention, not both")
    way: Representation
    if encoder:
        (way,) = open_encoders([encoder], model)
    else:
        way = choose_way(representations_of(model), attention, general)

    def answer(lines: Iterable[str], skipped: Skipped) -> Iterator[tuple[Cell, ...]]:
        made = contextual_vectors(model, way, lines, every_word=every_word, skipped=skipped)
        for targets, vectors in made:
            for target, vector in zip(targets, vectors, strict=True):
                yield target.sentence, target.name, target.item.position, vector

    return answer_lines((*WHERE, vector_of(way.dim)), sentences, answer)


def answer_lines(
    columns: Sequence[Column],
    sentences: str | Iterable[str],
    answer: Callable[[Iterable[str], Skipped], Iterator[tuple[Cell, ...]]],
) -> Table:
    """Answer as sentences are read; what could not be answered is told at the end.

    Rows are kept only where sentences are a stream, which cannot be read again.
    """
    listed = [sentences] if isinstance(sentences, str) else sentences
    notes: list[str] = []
    unknown: list[str] = []

    def each() -> Iterator[tuple[Cell, ...]]:
        skipped = Skipped()
        yield from answer(listed, skipped)
        notes[:], unknown[:] = skipped.notes, skipped.unknown

    def rows() -> Iterator[tuple[Cell, ...]]:
        made = each()
        first = list(islice(made, 1))  # made now: a mistake is told before anything is printed
        return chain(first, made)

    return Table(columns, rows() if isinstance(listed, Iterator) else rows, notes, unknown)


def contextual_vectors(
    model: Model,
    way: Representation,
    sentences: Iterable[str],
    *,
    every_word: bool = False,
    skipped: Skipped | None = None,
) -> Iterator[tuple[list[Target], Floats]]:
    """Yield targets and their vectors (n, d), a chunk of sentences at a time, in their order."""

    def read(text: str, number: int) -> Parsed:
        if not every_word and "[" not in text:
            raise UsageError("no target; mark it with [ ] or give --all")
        plain = text.replace("[", " ").replace("]", " ") if every_word else text
        return parse(model, plain, number=number)

    for targets in read_targets(sentences, read, skipped or Skipped()):
        yield targets, _run(way, [target.item for target in targets])


def read_targets(
    sentences: Iterable[str], read: Callable[[str, int], Parsed], skipped: Skipped
) -> Iterator[list[Target]]:
    """Yield targets, a chunk of sentences at a time, in their order."""
    numbered = enumerate(sentences, 1)
    while chunk := list(islice(numbered, CHUNK)):
        if targets := list_targets(read_each(chunk, read, skipped)):
            yield targets


def _run(way: Representation, items: Sequence[Occurrence]) -> Floats:
    """Run targets one by one, but a sentence whose every word is a target as one square."""
    if not isinstance(way, Attention):
        return way.vectors(items)
    vectors = np.zeros((len(items), way.inputs.shape[1]), np.float32)
    single: list[int] = []
    squares: dict[int, list[int]] = {}  # length -> first row of each sentence
    row = 0
    while row < len(items):
        length = len(items[row].ids)
        if 1 < length <= SQUARE and _all_follow(items, row, length):
            squares.setdefault(length, []).append(row)
            row += length
        else:
            single.append(row)
            row += 1
    if single:
        vectors[single] = way.vectors([items[row] for row in single])
    for length, rows in sorted(squares.items()):
        step = max(1, (1 << 16) // length**2)
        for first in range(0, len(rows), step):
            some = np.array(rows[first : first + step])
            ids = np.array([items[row].ids for row in some])
            made = attend(way.layer, way.inputs[ids], ids).output  # (B, T, d)
            vectors[some[:, None] + np.arange(length)] = made
    return vectors


def _all_follow(items: Sequence[Occurrence], row: int, length: int) -> bool:
    """Tell whether the next rows are all the words of one sentence."""
    last = row + length - 1
    return (
        items[row].target == range(1)
        and last < len(items)
        and items[last].ids is items[row].ids
        and items[last].target == range(length - 1, length)
    )
