"""The tables of `explain --head` as a page shows them: each head in one or two steps."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import groupby

from ctxembed.attention.terms import TERMS
from ctxembed.explanation.explanation import MAX_SUM
from ctxembed.table import Row, Table

OWN = "the word itself, added apart from the heads"


def lay_out_heads(table: Table) -> Iterator[Table]:
    """Yield one or two tables for each head of each target, and one for the word's own part.

    If terms are added to the score, or q, k and v are shown, the weights get their own table.
    """
    names, notes, unknown = table.names, table.notes, table.unknown
    charts = [replace(chart, of=lambda: table) for chart in table.charts]  # above the first one
    token = names.index("token")
    legend = [f"{name}: {TERMS[name].meaning}" for name in names if name in TERMS]
    for key, group in groupby(table.rows, key=lambda row: list(row[:token])):
        rows: list[Row] = list(group)
        *sentence, target, head = key
        about = f"{sentence[0]}. {target}" if sentence else str(target)
        if head == "own":
            parts = [([len(names) - 1], f"{about}: {OWN}")]
        else:
            parts = [
                (columns, f"{about}, head {head}\n{equation}")
                for columns, equation in _parts(names, rows)
            ]
        for columns, title in parts:
            title = "\n".join([title, *legend])
            kept = [token, *columns]
            cells = [tuple(row[i] for i in kept) for row in rows]
            yield Table(
                [table.columns[i] for i in kept], cells, notes, unknown, charts, title=title
            )
            notes, unknown, charts, legend = [], [], [], []


def _parts(names: Sequence[str], rows: Sequence[Row]) -> list[tuple[list[int], str]]:
    """Return the columns of each table of a head, with the equation above it."""
    token, score, scale, total = map(names.index, ("token", "score", "scale", "sum"))
    factor = next((row[scale] for row in rows if row[scale]), 1.0)
    equation = " + ".join([f"sum = {factor:.4g} score", *names[scale + 1 : total]])
    sums = [cell for row in rows if isinstance(cell := row[total], float)]
    largest = max(sums, default=0.0)
    power = f"e^(sum - {largest:.4f})" if largest > MAX_SUM else "e^sum"
    weight = f"exponential = {power}; weight = exponential / the sum of all"
    to_sum, to_weight = [*range(score, total + 1)], [*range(total, len(names))]
    roles = [i for i in range(token + 1, score) if names[i] != "position"]
    if len(to_sum) > 3:
        return [(to_sum, equation), (to_weight, weight)]
    one = ([*to_sum, *to_weight[1:]], f"{equation}; {weight}")
    return [([*roles, score], "score = q of the target · k"), one] if roles else [one]
