"""Exercises of a chapter: numbers of its output that follow from the other numbers of it.

An exercise knows the cells that show its number, the cells that are needed to work it out, and how.
Exercises are chosen so that what one needs is not hidden by another.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ctxembed.table import Column, Row, Table

DIGITS = 4  # as a table is printed
NUMBER = re.compile(r"\d+\.\d+")  # in a text such as a recipe
MIN_TOLERANCE, MAX_TOLERANCE = 0.0006, 0.005  # of an answer: a number with two digits is right
RELATIVE = 0.03, 0.005  # the same for small and for large numbers


class Place(NamedTuple):
    """A number in the output of a chapter; of a text with several numbers, which one."""

    step: int
    table: int
    row: int
    column: int
    part: int = 0


@dataclass(frozen=True)
class Exercise:
    """A number to be worked out."""

    places: frozenset[Place]  # all cells that show it
    needs: frozenset[Place]
    answer: float  # as printed
    asked: str  # what it is, for a person: weight of launched
    how: str  # how it is worked out
    whole: bool = False  # a count
    within: float = 0.0  # of the answer: also right

    @property
    def first(self) -> Place:
        """The first cell that shows it."""
        return min(self.places)

    def is_right(self, typed: float) -> bool:
        """Return whether a number is the answer, as far as rounding can tell.

        >>> asked = Exercise(frozenset([Place(0, 0, 0, 0)]), frozenset(), 0.4370, "", "")
        >>> [asked.is_right(typed) for typed in (0.437, 0.44, 0.45)]
        [True, True, False]
        """
        if self.whole:
            return abs(typed - self.answer) < MAX_TOLERANCE
        small, large = (part * abs(self.answer) for part in RELATIVE)
        return abs(typed - self.answer) <= max(
            MIN_TOLERANCE, self.within, min(MAX_TOLERANCE, small), large
        )


@dataclass(frozen=True)
class Grid:
    """A table as it is printed: its title, the names of its columns, and its cells."""

    step: int
    number: int  # among the tables of its step
    title: str
    names: Sequence[str]
    columns: Sequence[Column]
    rows: Sequence[Row]

    @classmethod
    def of(cls, step: int, number: int, table: Table) -> "Grid":
        """Return the grid of a table."""
        rows = [list(row) for row in table.rows]
        return cls(step, number, table.title, table.names, table.columns, rows)

    def place(self, row: int, column: int | str, part: int = 0) -> Place:
        """Return the place of a cell."""
        at = column if isinstance(column, int) else self.names.index(column)
        return Place(self.step, self.number, row, at, part)

    def value(self, row: int, column: int | str) -> float | None:
        """Return a number as it is printed, or None."""
        cell = self.rows[row][column if isinstance(column, int) else self.names.index(column)]
        return round(float(cell), DIGITS) if isinstance(cell, int | float) else None

    def column(self, name: str) -> list[float | None]:
        """Return the numbers of a column."""
        return [self.value(row, name) for row in range(len(self.rows))]


# Of each table one exercise is chosen first, then of each column one, then any.
KINDS: Sequence[Callable[[Place], tuple[int, ...]]] = (
    lambda place: (place.step, place.table),
    lambda place: (place.step, place.table, place.column),
    tuple,
)


def choose(exercises: Sequence[Exercise], number: int, rng: np.random.Generator) -> list[Exercise]:
    """Return at most so many exercises of different kinds, in the order of the output."""
    waiting = [exercises[i] for i in rng.permutation(len(exercises))]
    chosen: list[Exercise] = []
    hidden: set[Place] = set()
    needed: set[Place] = set()
    for kind in KINDS:
        for one in waiting:
            free = not (one.places & (hidden | needed) or one.needs & hidden)
            others = {kind(other.first) for other in chosen}
            if len(chosen) < number and free and kind(one.first) not in others:
                chosen.append(one)
                hidden |= one.places
                needed |= one.needs
    return sorted(chosen, key=lambda one: one.first)


def hide(grids: Sequence[Grid], chosen: Sequence[Exercise]) -> Iterator[Table]:
    """Yield the tables with marks instead of the numbers that are asked for; see `fill_marks`."""
    marks = {place: number for number, one in enumerate(chosen, 1) for place in one.places}
    for grid in grids:
        rows = [list(row) for row in grid.rows]
        for place in sorted(marks, reverse=True):  # of a text, the last number first
            if (place.step, place.table) == (grid.step, grid.number):
                cell = rows[place.row][place.column]
                mark = f"{MARK}{marks[place]:02}"
                if isinstance(cell, str):
                    mark = replace_number(cell, place.part, mark)
                rows[place.row][place.column] = mark
        yield Table(grid.columns, rows, title=grid.title)


def replace_number(text: str, which: int, by: str) -> str:
    """Return a text with one of its numbers replaced.

    >>> replace_number("0.25 money + 0.75 bank", 1, "?")
    '0.25 money + ? bank'
    """
    match = [*NUMBER.finditer(text)][which]
    return f"{text[: match.start()]}{by}{text[match.end() :]}"


MARK = "7777."  # it looks like a number, so that its column stays one of numbers


def fill_marks(text: str, number: int, form: str = "____({:>1})") -> str:
    """Return text with a blank for each of so many marks.

    >>> fill_marks("a 7777.01", 1)
    'a ____(1)'
    """
    for i in range(1, number + 1):
        text = text.replace(f"{MARK}{i:02}", form.format(i).rjust(len(MARK) + 2))
    return text
