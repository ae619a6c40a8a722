"""What one head does for one target, laid out for a page: a table for each, under its equation."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import groupby

from ctxembed.table import Cell, Row, Table

LEFT_OUT = ("position", "scale")  # the order of the words and the equation tell them
ROOM = 3  # terms for which a page of 80 characters has room beside the contribution


def lay_out_heads(table: Table) -> Iterator[Table]:
    """Lay the rows of `explain --head` out, a table for each head of each target."""
    names, notes, unknown = table.names, table.notes, table.unknown
    charts = [replace(chart, of=lambda: table) for chart in table.charts]  # above the first one
    first = names.index("token")
    terms = names[names.index("scale") + 1 : names.index("sum")]
    left_out = LEFT_OUT if len(terms) <= ROOM else (*LEFT_OUT, "contribution")
    kept = [i for i, name in enumerate(names) if i >= first and name not in left_out]
    for key, group in groupby(table.rows, key=lambda row: list(row[:first])):
        rows = list(group)
        columns = [table.columns[i] for i in kept]
        if key[-1] == "own":
            columns, rows = [columns[0], table.columns[-1]], [(rows[0][first], rows[0][-1])]
            title = f"{_about(key)}: what the word itself brings"
        else:
            title = f"{_about(key)}\n{_equation(terms, rows, names.index('scale'))}"
            rows = [[row[i] for i in kept] for row in rows]
        made = Table(columns, rows, notes, unknown, charts)
        made.title = title
        yield made
        notes, unknown, charts = [], [], []


def _about(key: list[Cell]) -> str:
    *sentence, target, head = key
    told = f"{target}, head {head}" if head != "own" else str(target)
    return f"{sentence[0]}. {told}" if sentence else told


def _equation(terms: list[str], rows: list[Row], place: int) -> str:
    scale = next((row[place] for row in rows if row[place]), 1.0)
    added = " + ".join([f"{scale:.4g} score", *terms])
    return f"sum = {added}; weight = softmax of sum"
