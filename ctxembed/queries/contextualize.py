"""Compute the contextual vectors of many sentences, for other programs."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, groupby, islice

import numpy as np

from ctxembed.context.columns import NUMBERS, POSITION, TARGET, VECTOR, vector_of
from ctxembed.context.networks import READ, RecurrentRepresentation
from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representation import Attention, Representation
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import (
    Skipped,
    Target,
    choose_representation,
    list_targets,
    open_encoders,
    read_each,
)
from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.stats.threads import one_thread
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table
from ctxembed.text.lines import take_chunks

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
    """Return the contextual vectors of the marked words of sentences, or of every word."""
    if encoder and (attention or general):
        raise UsageError("--encoder cannot be used with --attention or --general")
    representation: Representation
    if encoder:
        (representation,) = open_encoders([encoder], model)
    else:
        representation = choose_representation(Representations.of(model), attention, general)

    def vector_rows(lines: Iterable[str], skipped: Skipped) -> Iterator[tuple[Cell, ...]]:
        for targets, vectors in contextual_vectors(
            model, representation, lines, every_word=every_word, skipped=skipped
        ):
            for target, vector in zip(targets, vectors, strict=True):
                yield target.sentence, target.name, target.item.position, vector

    return answer_lines((*WHERE, vector_of(representation.dim)), sentences, vector_rows)


def answer_lines(
    columns: Sequence[Column],
    sentences: str | Iterable[str],
    answer: Callable[[Iterable[str], Skipped], Iterator[tuple[Cell, ...]]],
) -> Table:
    """Return a table that answers while sentences are read; it keeps the rows of a stream."""
    lines = [sentences] if isinstance(sentences, str) else sentences
    notes: list[str] = []
    unknown: list[str] = []

    def each() -> Iterator[tuple[Cell, ...]]:
        skipped = Skipped()
        yield from answer(lines, skipped)
        notes[:], unknown[:] = skipped.notes, skipped.unknown

    def rows() -> Iterator[tuple[Cell, ...]]:
        every = each()
        return chain(list(islice(every, 1)), every)  # an error comes before anything is printed

    return Table(columns, rows() if isinstance(lines, Iterator) else rows, notes, unknown)


def contextual_vectors(
    model: Model,
    representation: Representation,
    sentences: Iterable[str],
    *,
    every_word: bool = False,
    skipped: Skipped | None = None,
) -> Iterator[tuple[list[Target], Floats]]:
    """Yield targets and their vectors (n, d), a chunk of sentences at a time, in their order."""

    def parse_line(text: str, number: int) -> Parsed:
        if not every_word and "[" not in text:
            raise UsageError("no target; mark it with [ ] or give --all")
        plain = text.replace("[", " ").replace("]", " ") if every_word else text
        return parse(model, plain, number=number)

    for targets in read_targets(sentences, parse_line, skipped or Skipped()):
        yield targets, _run(representation, [target.item for target in targets])


def read_targets(
    sentences: Iterable[str], read: Callable[[str, int], Parsed], skipped: Skipped
) -> Iterator[list[Target]]:
    """Yield targets, a chunk of sentences at a time, in their order."""
    for chunk in take_chunks(sentences, CHUNK):
        if targets := list_targets(read_each(chunk, read, skipped)):
            yield targets


@one_thread()
def _run(representation: Representation, items: Sequence[Occurrence]) -> Floats:
    """Return vectors (n, d) of targets; if each word of a sentence is one, attend to it once."""
    if not isinstance(representation, Attention | RecurrentRepresentation):
        return representation.vectors(items)
    vectors = np.zeros((len(items), representation.dim), np.float32)
    longest = SQUARE if isinstance(representation, Attention) else READ  # the same either way
    single: list[int] = []
    squares: dict[int, list[int]] = {}  # length -> first row of each sentence
    for _, group in groupby(range(len(items)), key=lambda row: id(items[row].ids)):
        rows = list(group)  # of one sentence
        if 1 < len(rows) <= longest and len(rows) == len(items[rows[0]].ids):
            squares.setdefault(len(rows), []).append(rows[0])
        else:
            single += rows
    if single:
        vectors[single] = representation.vectors([items[row] for row in single])
    for length, rows in sorted(squares.items()):
        step = max(1, (1 << 16) // length**2)
        for start in range(0, len(rows), step):
            some = np.array(rows[start : start + step])
            ids = np.array([items[row].ids for row in some])
            vectors[some[:, None] + np.arange(length)] = representation.every_word(ids)
    return vectors
