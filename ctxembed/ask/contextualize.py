"""Contextual vectors for many sentences: this is how other programs get them."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ctxembed.ask.explain import name_targets
from ctxembed.attention.layer import attend
from ctxembed.context.representations import Attention, Occurrence, Parsed, Representation, parse
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.table import Cell, Table

if TYPE_CHECKING:
    from ctxembed.context.encoder import Reading

CHUNK = 2048  # sentences read, sorted by length and run at once
SQUARE = 256  # words; a longer sentence is run target by target, without a square matrix


@dataclass(frozen=True)
class Target:
    """One target and where it stood."""

    sentence: int  # number of the line, from 1
    name: str
    position: int  # place among the known words, from 1


@dataclass
class Skipped:
    """What could not be answered, told at the end."""

    words: dict[str, int] = field(default_factory=dict)
    sentences: list[tuple[int, str]] = field(default_factory=list)  # line and reason


def contextualize(
    model: Model,
    way: "Representation | Reading",
    sentences: Iterable[str],
    *,
    every_word: bool = False,
    skipped: Skipped | None = None,
) -> Iterator[tuple[list[Target], Floats]]:
    """Yield targets and their vectors (n, d), a chunk of sentences at a time, in their order."""
    skipped = skipped if skipped is not None else Skipped()
    numbered = enumerate(sentences, 1)
    while chunk := list(islice(numbered, CHUNK)):
        targets: list[Target] = []
        items: list[Occurrence] = []
        for number, text in chunk:
            if not text.strip():
                continue  # counted, so that the numbers are those of the file
            parsed = _parse(model, number, text, every_word, skipped)
            if parsed is None:
                continue
            items += parsed.occurrences
            targets += [
                Target(number, name, item.target.start + 1)
                for name, item in zip(name_targets(parsed), parsed.occurrences, strict=True)
            ]
        if items:
            yield targets, _run(way, items)


def _parse(
    model: Model, number: int, text: str, every_word: bool, skipped: Skipped
) -> Parsed | None:
    if not every_word and "[" not in text:
        raise UsageError(f"line {number}: no target; mark it with [ ] or give --all")
    try:
        parsed = parse(model, text.replace("[", " ").replace("]", " ") if every_word else text)
    except UsageError as error:
        raise UsageError(f"line {number}: {error}") from None
    except UnknownWordError as error:
        skipped.sentences.append((number, str(error)))
        return None
    for word in parsed.unknown:
        skipped.words[word] = skipped.words.get(word, 0) + 1
    return parsed


def _run(way: "Representation | Reading", items: Sequence[Occurrence]) -> Floats:
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


def as_table(chunks: Iterator[tuple[list[Target], Floats]], dim: int, *, lists: bool) -> Table:
    """Tabulate vectors, as one list a row (for json) or a column a number."""
    names = ("vector",) if lists else tuple(f"d{i}" for i in range(1, dim + 1))

    def rows() -> Iterator[tuple[Cell, ...]]:
        for targets, vectors in chunks:
            for target, vector in zip(targets, vectors.tolist(), strict=True):
                cells = (vector,) if lists else tuple(vector)
                yield target.sentence, target.name, target.position, *cells

    return Table(("sentence", "target", "position", *names), rows())


def labelled(
    chunks: Iterator[tuple[list[Target], Floats]],
) -> Iterator[tuple[dict[str, Sequence[Cell]], Floats]]:
    """Turn targets into columns, for a file of arrays."""
    for targets, vectors in chunks:
        yield (
            {
                "sentence": [target.sentence for target in targets],
                "target": [target.name for target in targets],
                "position": [target.position for target in targets],
            },
            vectors,
        )
