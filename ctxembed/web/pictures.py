"""Pictures of the page's answers, as numbers: the page adds its colours and clicks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ctxembed.context.columns import DRAWN as DRAWN_NUMBERS
from ctxembed.model.model import Model
from ctxembed.output.picture import sketch
from ctxembed.output.plots import fit_frame, name_clusters
from ctxembed.queries.compare import compare
from ctxembed.table import Chart, Row, Table
from ctxembed.text.tokenizer import number_repeats
from ctxembed.word_senses.sense_map import WordMap

WIDTHS = (560, 340)  # of a picture on a wide and on a narrow screen
MAP_WIDTHS = (660, 340)
MAX_WORDS = 24  # in a square of cosines
Parameters = Mapping[str, Any]


def draw_pictures(
    model: Model, question: str, table: Table, parameters: Parameters
) -> list[list[Any]]:
    """Return the pictures of an answer, each for a wide and for a narrow screen.

    The parameter `narrow` chooses one of the two; `drawn`, one of the numbers of attention.
    """
    drawn = DRAWN[question](model, table, parameters) if question in DRAWN else ()
    narrow = parameters.get("narrow")
    widths = WIDTHS if narrow is None else WIDTHS[narrow : narrow + 1]
    return [[sketch(one, width) for width in widths] for one in drawn]


def _numbers(parameters: Parameters) -> Sequence[str]:
    """Return what pictures of attention show: the number that is asked for, or each."""
    return [parameters["drawn"]] if "drawn" in parameters else DRAWN_NUMBERS


def draw_map(sense_map: WordMap) -> list[list[Any]]:
    """Return the frame of a map for each screen, with the names of the senses in pixels."""
    points = [(float(x), float(y)) for x, y in sense_map.points[:, :2].round(2)]
    saved = sense_map.senses
    markers = [saved.describe(sense).replace(",", "") for sense in range(saved.number)]
    pictures = []
    around = points if sense_map.of_occurrences else list(_spread(points))
    for frame in (fit_frame(around, width) for width in MAP_WIDTHS):
        clusters: dict[str, list[tuple[float, float]]] = {}
        for point, sense in zip(points, sense_map.labels, strict=True):
            clusters.setdefault(markers[sense - 1], []).append(frame(*point))
        senses = [markers.index(name) + 1 for name in clusters]
        names = [(*label, senses[i]) for *label, i in name_clusters(clusters, frame)]
        pictures.append({**frame._asdict(), "names": names})
    return [pictures]


def _spread(points: Sequence[tuple[float, float]]) -> Iterator[tuple[float, float]]:
    """Yield points farther from their middle: a few marks need space for their names."""
    x, y = (sum(side) / len(points) for side in zip(*points, strict=True))
    yield from ((x + 1.8 * (a - x), y + 1.8 * (b - y)) for a, b in points)


def _heads(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the heads together and each head as a row of squares: contributions, then weights."""
    records: list[dict[str, Any]] = table.records()
    for number in _numbers(parameters):
        heads: dict[str, dict[int, float]] = {}
        tokens: dict[int, str] = {}
        for row in records:
            if row["head"] != "own" and row[number] is not None:
                heads.setdefault(row["head"], {})[row["position"]] = row[number]
                tokens[row["position"]] = row["token"]
        if len(heads) < 2:
            return
        # of all heads, weights are averaged and contributions add up
        parts = len(heads) if number == "weight" else 1
        whole = {p: sum(one.get(p, 0.0) for one in heads.values()) / parts for p in tokens}
        if number == "contribution":
            _add_own(whole, records)
        named = {"mean" if parts > 1 else "all": whole}
        named |= {f"head {head}": one for head, one in heads.items()}
        rows = [(name, tokens[p], one.get(p)) for name, one in named.items() for p in tokens]
        chart = Chart("heat", [number], "token", [0], domain=(0, 1))
        yield Table(("", "token", number), rows, chart=chart)


def _add_own(parts: dict[int, float], records: Sequence[Mapping[str, Any]]) -> None:
    """Add the word's own part to its contribution, if it is a word of the sentence."""
    first = [row for row in records if row["head"] == records[0]["head"]]
    names = number_repeats([str(row["token"]) for row in first])
    for own in (row for row in records if row["head"] == "own"):
        places = [row["position"] for row, name in zip(first, names, strict=True)]
        at = dict(zip(names, places, strict=True)).get(own["token"])
        if at in parts:
            parts[at] += own["contribution"]


def _axes(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield for each sentence the cosines of each representation with the axes."""
    records = table.records()
    axes = parameters.get("axes") or {}
    for number in dict.fromkeys(row["sentence"] for row in records) if axes else ():
        yield _dots([row for row in records if row["sentence"] == number], list(axes))


def _by_hand(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the same with the representation whose weights are set by hand."""
    axes, general = parameters.get("axes"), parameters.get("general")
    if axes:
        compared = compare(model, parameters["sentence"], axes=axes, general=general).records()
        yield _dots([*compared, *table.records()[-1:]], list(axes))


def _dots(records: Sequence[Mapping[str, Any]], axes: Sequence[str]) -> Table:
    """Return a row for each axis and representation, drawn as dots."""
    rows = [(axis, row["representation"], row.get(axis)) for axis in axes for row in records]
    chart = Chart("dots", ["cosine"], label=["axis"], series=["representation"], start="static")
    return Table(("axis", "representation", "cosine"), rows, chart=chart)


def _cosines(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the cosines with short names: apple, or apple (2) for the second sentence."""
    rows: list[Row] = list(table.rows)
    several, names = len(parameters["words"]) > 1, []
    sentences: dict[str, int] = {}
    for row in rows:
        text = str(row[0])
        name, _, rest = text.partition(": ") if ": " in text else ("", "", text)
        number = sentences.setdefault(rest, len(sentences) + 1)
        bracket = re.search(r"\[([^\]]*)\]", text)
        name = name or (bracket[1] if bracket else text)
        names.append(f"{name} ({number})" if several else name)
    if 2 <= len(rows) <= MAX_WORDS:
        cells = [(name, *row[1 : len(rows) + 1]) for name, row in zip(names, rows, strict=True)]
        chart = Chart("heat", range(1, len(rows) + 1), label=[0], domain=(-1, 1))
        yield Table(("", *names), cells, chart=chart)


def _counts(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the counts of each sentence as a row of squares."""
    rows = list(table.rows)
    most = max([1.0, *(float(cell) for row in rows for cell in row[1:])])
    chart = Chart("heat", range(1, len(table.columns)), label=[0], domain=(0, most))
    yield Table(table.columns, rows, chart=chart)


def _bars(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the contribution and change of each word, then its weight and change."""
    rows = list(table.rows)
    for number in _numbers(parameters):
        charts = [replace(chart, y=[number, "change"]) for chart in table.charts]
        yield Table(table.columns, rows, chart=charts)


def _states(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the share of each word that a recurrent network has left."""
    yield table


DRAWN: Mapping[str, Callable[[Model, Table, Parameters], Iterator[Table]]] = {
    "explain": _heads, "compare": _axes, "reweigh": _by_hand, "similarity": _cosines,
    "counts": _counts, "ablate": _bars, "states": _states,
}  # fmt: skip
