"""Pictures of the page's answers, as numbers: the page adds its colours and clicks."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from ctxembed.model.model import Model
from ctxembed.output.picture import sketch
from ctxembed.output.plots import fit_frame, name_clusters
from ctxembed.queries.compare import compare
from ctxembed.table import Chart, Row, Table
from ctxembed.word_senses.sense_map import WordMap

WIDTHS = (560, 340)  # of a picture on a wide and on a narrow screen
MAP_WIDTHS = (660, 340)
MAX_WORDS = 24  # in a square of cosines
Parameters = Mapping[str, Any]


def draw_pictures(
    model: Model, question: str, table: Table, parameters: Parameters
) -> list[list[Any]]:
    """Return the pictures of an answer, each for a wide and for a narrow screen."""
    drawn = DRAWN[question](model, table, parameters) if question in DRAWN else ()
    return [[sketch(one, width) for width in WIDTHS] for one in drawn]


def draw_map(sense_map: WordMap) -> list[list[Any]]:
    """Return the frame of a map for each screen, with the names of the senses in pixels."""
    points = [(float(x), float(y)) for x, y in sense_map.points[:, :2].round(2)]
    saved = sense_map.senses
    markers = [saved.describe(sense).replace(",", "") for sense in range(saved.number)]
    pictures = []
    for frame in (fit_frame(points, width) for width in MAP_WIDTHS):
        clusters: dict[str, list[tuple[float, float]]] = {}
        for point, sense in zip(points, sense_map.labels, strict=True):
            clusters.setdefault(markers[sense - 1], []).append(frame(*point))
        senses = [markers.index(name) + 1 for name in clusters]
        names = [(*label, senses[i]) for *label, i in name_clusters(clusters, frame)]
        pictures.append({**frame._asdict(), "names": names})
    return [pictures]


def _heads(model: Model, table: Table, parameters: Parameters) -> Iterator[Table]:
    """Yield the mean of the heads and each head as a row of squares."""
    weights: dict[str, dict[int, float]] = {}
    tokens: dict[int, str] = {}
    records: list[dict[str, Any]] = table.records()
    for row in records:
        if row["weight"] is not None:
            weights.setdefault(row["head"], {})[row["position"]] = row["weight"]
            tokens[row["position"]] = row["token"]
    if len(weights) > 1:
        mean = {p: sum(w.get(p, 0.0) for w in weights.values()) / len(weights) for p in tokens}
        named = {"mean": mean, **{f"head {head}": some for head, some in weights.items()}}
        rows = [(name, tokens[p], some.get(p)) for name, some in named.items() for p in tokens]
        chart = Chart("heat", ["weight"], "token", [0], domain=(0, 1))
        yield Table(("", "token", "weight"), rows, chart=chart)


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


DRAWN: Mapping[str, Callable[[Model, Table, Parameters], Iterator[Table]]] = {
    "explain": _heads, "compare": _axes, "reweigh": _by_hand, "similarity": _cosines,
    "counts": _counts, "ablate": lambda model, table, parameters: iter([table]),
}  # fmt: skip
