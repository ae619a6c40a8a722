"""Answer the lines of a pipe as they come, for a program that waits for each answer."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from ctxembed.cli.command import Lines
from ctxembed.cli.printing import printing, refuse_bad_lines
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.table import Row, Table
from ctxembed.text.lines import take_chunks
from ctxembed.text.streams import is_live

MAX_LINES = 256  # answered at once
MAX_LISTED = 20  # lines without an answer, and notes, that are printed
FORMATS = ("tsv", "csv", "jsonl")  # whose lines do not depend on later ones


def reads_pipe(arguments: Sequence[str]) -> bool:
    """Return whether the sentences come from a pipe or a person, in a format of single lines."""
    if list(arguments) != ["-"] or printing().file_ or printing().chosen not in FORMATS:
        return False
    return is_live(sys.stdin)


def answer_pipe(query: Callable[[list[str]], Table]) -> Table:
    """Return a table of the lines of stdin; a query answers those that have come together.

    The first column of the query's table is the number of the line.
    """
    notes: list[str] = []
    unknown: list[str] = []
    answers = _answers(query, notes, unknown)
    first = next(answers, None)
    if first is None:
        if not unknown:
            refuse_bad_lines()
            raise UsageError("nothing to do: stdin was empty")
        raise UnknownWordError("\n".join(unknown))
    rows = (row for table, before in chain([first], answers) for row in _shift(table, before))
    return Table(first[0].columns, rows, notes, unknown)


def _answers(
    query: Callable[[list[str]], Table], notes: list[str], unknown: list[str]
) -> Iterator[tuple[Table, int]]:
    """Yield the table of each batch of lines, and the number of lines before it."""
    seen: Counter[str] = Counter()
    batches = left_out = 0
    for batch in take_chunks(Lines("-", pauses=True), MAX_LINES):
        if not any(text for _, text in batch):
            continue
        table, before = None, batch[0][0] - 1
        try:
            # One more line: they are numbered even if there is only one.
            table = query([*(text for _, text in batch), ""])
            messages = table.unknown
        except UnknownWordError as error:
            messages = str(error).splitlines()
        left_out += len(messages)
        unknown += [_renumber(message, before) for message in messages][: MAX_LISTED - len(unknown)]
        if table is not None:
            batches += 1
            seen.update(table.notes)
            yield table, before
    if left_out > len(unknown):
        unknown.append(f"and {left_out - len(unknown)} more lines have no answer")
    # What is said of all sentences must hold for every batch; a word may be unknown in one.
    said = (note for note, n in seen.items() if n == batches or "not in the vocabulary" in note)
    notes += list(said)[:MAX_LISTED]


def _shift(table: Table, before: int) -> Iterator[Row]:
    for number, *cells in table.rows:
        yield int(str(number)) + before, *cells


def _renumber(message: str, before: int) -> str:
    return re.sub(r"^line (\d+):", lambda match: f"line {int(match[1]) + before}:", message)
