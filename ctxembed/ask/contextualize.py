"""Contextual vectors for many sentences: this is how other programs get them."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice

import numpy as np

from ctxembed.ask.columns import NUMBERS, POSITION, TARGET, VECTOR, vector_of
from ctxembed.ask.targets import (
    Skipped,
    general_kind,
    name_attention,
    name_targets,
    open_encoders,
)
from ctxembed.attention.attend import attend
from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representations import Attention, Representation, representations_of
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.table import Cell, Column, Table

CHUNK = 2048  # sentences read, sorted by length and run at once
SQUARE = 256  # words; a longer sentence is run target by target, without a square matrix
WHERE = (Column("sentence", "number of the line, from 1", "label"), TARGET, POSITION)


@dataclass(frozen=True)
class Target:
    """One target and where it stood."""

    sentence: int  # number of the line, from 1
    name: str
    position: int  # place among the words as written, from 1


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
    """Give the contextual vectors of the marked words of sentences, or of every word.

    Rows are made as they are read; they are kept only where sentences are a stream.
    """
    representations = representations_of(model)
    name = name_attention(representations, attention, general)
    if encoder and (attention or general):
        raise UsageError("give --encoder or an attention, not both")
    way: Representation = representations.get(name, general_kind(model, general))
    if encoder:
        (way,) = open_encoders([encoder], model)
    listed = [sentences] if isinstance(sentences, str) else sentences
    notes: list[str] = []
    unknown: list[str] = []

    def chunks() -> Iterator[tuple[list[Target], Floats]]:
        skipped = Skipped()
        yield from contextual_vectors(model, way, listed, every_word=every_word, skipped=skipped)
        notes[:], unknown[:] = skipped.notes, skipped.unknown

    def rows() -> Iterator[tuple[Cell, ...]]:
        made = chunks()
        first = next(made, None)  # made now: a mistake is told before anything is printed
        return (
            (target.sentence, target.name, target.position, vector)
            for targets, vectors in chain([] if first is None else [first], made)
            for target, vector in zip(targets, vectors, strict=True)
        )

    columns = (*WHERE, vector_of(way.dim))
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

    def read(text: str) -> Parsed:
        if not every_word and "[" not in text:
            raise UsageError("no target; mark it with [ ] or give --all")
        return parse(model, text.replace("[", " ").replace("]", " ") if every_word else text)

    for targets, items in read_targets(sentences, read, skipped or Skipped()):
        yield targets, _run(way, items)


def read_targets(
    sentences: Iterable[str], read: Callable[[str], Parsed], skipped: Skipped
) -> Iterator[tuple[list[Target], list[Occurrence]]]:
    """Yield targets and their occurrences, a chunk of sentences at a time, in their order.

    Empty sentences count, so that the numbers are those of a file's lines.
    """
    numbered = enumerate(sentences, 1)
    while chunk := list(islice(numbered, CHUNK)):
        targets: list[Target] = []
        items: list[Occurrence] = []
        for number, text in chunk:
            if not text.strip():
                continue
            try:
                parsed = read(text)
            except (UnknownWordError, UsageError) as error:
                skipped.lines.append((number, str(error)))
                continue
            items += parsed.occurrences
            targets += [
                Target(number, name, item.position)
                for name, item in zip(name_targets(parsed), parsed.occurrences, strict=True)
            ]
            skipped.add(parsed)
        if items:
            yield targets, items


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
