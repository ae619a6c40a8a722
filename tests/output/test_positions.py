"""Where things lie on a picture: read back by the numbers beside its scales, they are the table's.

Nothing of the drawing's own arithmetic is used: ticks give a scale, the scale gives each mark a
number, and the number is the cell's.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from xml.etree import ElementTree

import numpy as np
import pytest

import ctxembed
from ctxembed.model.bundled import bundled_model
from ctxembed.output.picture import draw
from ctxembed.table import Cell, Chart, Column, Table

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = r"-?\d+(?:\.\d+)?"
PIXEL = 0.11  # coordinates are written with one digit
Scale = Callable[[float], float]
Rows = list[list[Any]]


class Shape(NamedTuple):
    """A mark: what its tip says, and the middle of it."""

    tip: str
    kind: str
    x: float
    y: float


class Picture:
    """An SVG as a reader with a ruler sees it."""

    def __init__(self, table: Table) -> None:
        self.root = ElementTree.fromstring(draw(table))

    def texts(self) -> Iterator[tuple[str, float, float, str]]:
        for e in self.root.iter(f"{SVG}text"):
            text = "".join(part for part in e.itertext() if part)
            kind = f"{e.get('class')} {e.get('text-anchor', '')}"
            yield text, float(e.attrib["x"]), float(e.attrib["y"]), kind

    def paths(self, kind: str) -> Iterator[tuple[str, ElementTree.Element]]:
        for e in self.root.iter(f"{SVG}path"):
            if e.get("class") == kind:
                yield e.attrib["d"], e

    def across(self) -> tuple[Scale, float]:
        """The scale under the plot: what a place means, and how much a pixel."""
        labels = (one for one in self.texts() if one[3] == "soft middle" and is_number(one[0]))
        return straight([(x, float(text)) for text, x, _, _ in labels])

    def upward(self) -> tuple[Scale, float]:
        """The scale beside the plot: a tick's number is at its line."""
        lines = [points(d)[0][1] for d, _ in self.paths("line") if flat(points(d))]
        ticks = [
            (y, float(text))
            for text, _, at, kind in self.texts()
            if kind == "soft end" and is_number(text)
            for y in lines
            if abs(at - 4 - y) < 0.2
        ]
        return straight(ticks)

    def marks(self) -> Iterator[Shape]:
        for e in self.root.iter():
            title = e.find(f"{SVG}title")
            if title is None or not re.fullmatch(r"f\d", e.get("class", "")):
                continue
            tip, kind = title.text or "", e.attrib["class"]
            if e.tag == f"{SVG}circle":
                yield Shape(tip, kind, float(e.attrib["cx"]), float(e.attrib["cy"]))
            elif e.tag == f"{SVG}path":
                there = np.array(points(e.attrib["d"]))
                middle = (there.min(0) + there.max(0)) / 2
                yield Shape(tip, kind, *map(float, middle))

    def boxes(self) -> Iterator[tuple[str, float, float, float]]:
        """Tip, left, right and shade of each box that says something."""
        for e in self.root.iter(f"{SVG}rect"):
            title = e.find(f"{SVG}title")
            if title is not None:
                left = float(e.attrib["x"])
                shade = float(e.get("fill-opacity", "1"))
                yield title.text or "", left, left + float(e.attrib["width"]), shade


def is_number(text: str) -> bool:
    return re.fullmatch(NUMBER, text) is not None


def points(d: str) -> list[tuple[float, float]]:
    return [(float(x), float(y)) for x, y in re.findall(rf"({NUMBER}) ({NUMBER})", d)]


def flat(some: Sequence[tuple[float, float]]) -> bool:
    return len(some) == 2 and some[0][1] == some[1][1]


def straight(ticks: Sequence[tuple[float, float]]) -> tuple[Scale, float]:
    """The line through ticks, each of which lies on it."""
    assert len(ticks) > 1
    (x0, v0), (x1, v1) = min(ticks), max(ticks)
    slope = (v1 - v0) / (x1 - x0)
    for x, value in ticks:
        assert value == pytest.approx(v0 + slope * (x - x0), abs=2 * PIXEL * abs(slope))
    return (lambda x: v0 + slope * (x - x0)), abs(slope) * 2 * PIXEL


def two(value: Any) -> str:
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text


@pytest.fixture(params=range(4))
def chance(request: pytest.FixtureRequest) -> np.random.Generator:
    return np.random.default_rng(request.param)


def figures(chance: np.random.Generator, names: str, steps: int = 5) -> list[list[Cell]]:
    """Rows of name, x, y and its interval; some have none."""
    rows: list[list[Cell]] = []
    for name in names:
        for x in np.sort(chance.uniform(-3, 3, steps)):
            y, apart = chance.normal(), chance.uniform(0, 0.5, 2)
            held: list[Cell] = [y - apart[0], y + apart[1]]
            rows.append([name, float(x), float(y), *(held if name != "c" else [None, None])])
    return rows


COLUMNS = ("name", "x", "y", "low", "high")


def test_lines_and_their_intervals(chance: np.random.Generator) -> None:
    rows = figures(chance, "abc")
    chart = Chart("lines", ["y"], "x", series=["name"], low="low", high="high", title="t")
    held_is_the_tables(Table(COLUMNS, rows, chart=chart), "abc", rows)


def held_is_the_tables(table: Table, names: Sequence[str], rows: Sequence[Sequence[Cell]]) -> None:
    """Each line, each interval and each tip of a picture of lines is what the rows say."""
    seen = Picture(table)
    (across, dx), (up, dy) = seen.across(), seen.upward()
    for number, name in enumerate(names):
        mine = [row for row in rows if row[0] == name]
        ((path, _),) = [
            one for one in seen.paths(f"l{number}") if one[1].get("stroke-width") == "2"
        ]
        read = [(across(x), up(y)) for x, y in points(path)]
        assert [x for x, _ in read] == pytest.approx([row[1] for row in mine], abs=dx)
        assert [y for _, y in read] == pytest.approx([row[2] for row in mine], abs=dy)
        bands = [d for d, e in seen.paths(f"f{number}") if e.get("opacity") == "0.16"]
        if mine[0][3] is None:
            assert bands == []
            continue
        (band,) = bands
        edge = [up(y) for _, y in points(band)]
        high, low = [row[4] for row in mine], [row[3] for row in mine]
        assert edge == pytest.approx([*high, *low[::-1]], abs=dy)
    tips = [mark.tip for mark in seen.marks()]
    assert tips == [f"{row[0]} · {two(row[1])}: {two(row[2])}" for row in rows]


def test_a_line_for_each_column(chance: np.random.Generator) -> None:
    rows: Rows = [[step, *map(float, chance.uniform(0, 9, 2))] for step in range(1, 9)]
    table = Table(
        ("epoch", "loss", "held_out"), rows, chart=Chart("lines", ["loss", "held_out"], "epoch")
    )
    seen = Picture(table)
    (across, dx), (up, dy) = seen.across(), seen.upward()
    for number in (0, 1):
        ((path, _),) = seen.paths(f"l{number}")
        assert [across(x) for x, _ in points(path)] == pytest.approx([r[0] for r in rows], abs=dx)
        assert [up(y) for _, y in points(path)] == pytest.approx(
            [row[1 + number] for row in rows], abs=dy
        )
    tips = {mark.tip for mark in seen.marks()}
    assert tips >= {f"loss · {row[0]}: {two(row[1])}" for row in rows}
    assert tips >= {f"held_out · {row[0]}: {two(row[2])}" for row in rows}


def test_a_map_keeps_distances(chance: np.random.Generator) -> None:
    """A map has no scale: one factor brings every point of the table to its place, y upwards."""
    rows: Rows = [[*map(float, chance.normal(size=2) * [3, 1]), i % 3, f"s{i}"] for i in range(30)]
    chart = Chart("scatter", ["y"], "x", ["text"], series=["sense"], title="t")
    marks = list(Picture(Table(("x", "y", "sense", "text"), rows, chart=chart)).marks())
    assert [mark.tip for mark in marks] == [row[3] for row in rows]
    result = np.array([row[:2] for row in rows], float)
    drawn = np.array([(mark.x, -mark.y) for mark in marks])
    result, drawn = result - result.mean(0), drawn - drawn.mean(0)
    factor = (result * drawn).sum() / (result * result).sum()
    assert factor > 0
    np.testing.assert_allclose(drawn, factor * result, atol=1.2)  # a triangle's middle is not 0
    kinds = {row[2]: mark.kind for row, mark in zip(rows, marks, strict=True)}
    assert len(set(kinds.values())) == 3
    for row, mark in zip(rows, marks, strict=True):
        assert mark.kind == kinds[row[2]]


def test_two_dimensions_are_drawn_as_they_are(chance: np.random.Generator) -> None:
    rows: Rows = [
        [name, *map(float, chance.uniform(-1, 1, 2))] for name in ("static", "bag", "learned")
    ]
    chart = Chart("scatter", ["y"], "x", series=["name"], start="static", title="t")
    plane_is_the_tables(Table(("name", "x", "y"), rows, chart=chart), rows)


def plane_is_the_tables(table: Table, rows: Sequence[Sequence[Cell]]) -> None:
    seen = Picture(table)
    (across, dx), (up, dy) = seen.across(), seen.upward()
    marks = [mark for mark in seen.marks() if "→" not in mark.tip]
    assert len(marks) == len(rows)
    for (name, x, y), mark in zip(rows, marks, strict=True):
        assert mark.tip == f"{name}: {two(x)}, {two(y)}".strip()
        assert across(mark.x) == pytest.approx(x, abs=dx)
        assert up(mark.y) == pytest.approx(y, abs=8 * dy)  # a triangle's middle is not its own


@pytest.mark.parametrize("sign", [1, -1])
def test_bars(sign: int, chance: np.random.Generator) -> None:
    rows: Rows = [[name, *map(float, sign * chance.normal(size=2))] for name in "abcd"]
    table = Table(("l", "p", "q"), rows, chart=Chart("bars", ["p", "q"], label=["l"], title="t"))
    seen = Picture(table)
    across, dx = seen.across()
    boxes = list(seen.boxes())
    expected = [(row[0], n, v) for row in rows for n, v in zip("pq", row[1:], strict=True)]
    for (tip, left, right, _), (label, name, value) in zip(boxes, expected, strict=True):
        assert tip == f"{label} · {name}: {two(value)}"
        ends = sorted((0.0, value))
        assert [across(left), across(right)] == pytest.approx(ends, abs=2 * dx)
    shown = [text for text, *_ in seen.texts() if re.fullmatch(r"-?\d+\.\d\d", text)]
    assert shown == [two(value) for _, _, value in expected]


def test_stacked_bars(chance: np.random.Generator) -> None:
    percents = {name: chance.dirichlet([1, 1, 1]) * 100 for name in "ab"}
    rows: Rows = [
        [name, sense, float(v)] for name, all_ in percents.items() for sense, v in enumerate(all_)
    ]
    chart = Chart("bars", ["v"], label=["l"], series=["s"], stacked=True, title="t")
    seen = Picture(Table(("l", "s", "v"), rows, chart=chart))
    across, dx = seen.across()
    begun = {"a": 0.0, "b": 0.0}
    for (tip, left, right, _), (label, sense, value) in zip(seen.boxes(), rows, strict=True):
        assert tip == f"{label} · s {sense}: {two(value)}"
        assert across(left) == pytest.approx(begun[label], abs=2 * dx)
        begun[label] += value
        if right > left:
            gap = abs(across(1) - across(0))  # a pixel lies between two parts
            assert across(right) + gap == pytest.approx(begun[label], abs=2 * dx)
    assert begun == pytest.approx({"a": 100, "b": 100})


def test_dots_and_their_intervals(chance: np.random.Generator) -> None:
    rows = figures(chance, "abc", 1)
    chart = Chart("dots", ["y"], label=["name"], low="low", high="high", title="t")
    dots_are_the_tables(Table(COLUMNS, rows, chart=chart), [row[2:] for row in rows])


def dots_are_the_tables(table: Table, rows: Sequence[Sequence[Cell]]) -> None:
    """Each dot, its interval, its number and its tip are the row's y, low and high."""
    seen = Picture(table)
    across, dx = seen.across()
    marks = list(seen.marks())
    held = [
        (float(m[1]), float(m[3]))
        for d, _ in seen.paths("l0")
        if (m := re.fullmatch(rf"M({NUMBER}) ({NUMBER})H({NUMBER})", d))
    ]
    assert [across(mark.x) for mark in marks] == pytest.approx([row[0] for row in rows], abs=dx)
    expected = [end for row in rows if row[1] is not None for end in row[1:]]
    assert [across(x) for ends in held for x in ends] == pytest.approx(expected, abs=dx)
    for mark, (value, low, high) in zip(marks, rows, strict=True):
        interval = "" if low is None else f" ({two(low)} to {two(high)})"
        assert mark.tip.endswith(f": {two(value)}{interval}")
    shown = [interval for interval, *_ in seen.texts() if re.fullmatch(r"-?\d+\.\d\d", interval)]
    assert shown == [two(row[0]) for row in rows]


def test_dots_with_arrows(chance: np.random.Generator) -> None:
    rows: Rows = [
        [name, float(v)] for name, v in zip(("static", "bag"), chance.normal(size=2), strict=True)
    ]
    chart = Chart("dots", ["y"], series=["name"], start="static", title="t")
    seen = Picture(Table(("name", "y"), rows, chart=chart))
    across, dx = seen.across()
    assert [across(m.x) for m in seen.marks()] == pytest.approx([r[1] for r in rows], abs=dx)
    ends = [points(d) for d, _ in seen.paths("l1")]
    for arrow in ends:  # none where the two are almost one
        pixel = abs(across(1) - across(0))
        assert across(arrow[0][0]) == pytest.approx(rows[0][1], abs=7 * pixel)
        assert across(arrow[1][0]) == pytest.approx(rows[1][1], abs=7 * pixel)


def test_heat(chance: np.random.Generator) -> None:
    values = chance.uniform(-1, 1, (3, 4))
    rows: Rows = [[f"r{i}", *map(float, line)] for i, line in enumerate(values)]
    chart = Chart("heat", range(1, 5), label=["w"], domain=(-1, 1), title="t")
    seen = Picture(Table("wabcd", rows, chart=chart))
    boxes = list(seen.boxes())
    expected = [(row[0], n, v) for row in rows for n, v in zip("abcd", row[1:], strict=True)]
    assert [tip for tip, *_ in boxes] == [f"{r} · {n}: {two(v)}" for r, n, v in expected]
    shades = [shade for *_, shade in boxes]
    assert shades == pytest.approx([0.85 * abs(v) for *_, v in expected], abs=6e-4)
    shown = [text for text, *_ in seen.texts() if re.fullmatch(r"-?\d+\.\d\d", text)]
    assert shown == [two(v) for *_, v in expected]


def test_a_heat_map_of_a_long_sentence_goes_down_and_one_of_urdu_to_the_left() -> None:
    def squares(tokens: Sequence[str]) -> list[str]:
        rows = [(head, w, 0.5 / (i + 1)) for head in "12" for i, w in enumerate(tokens)]
        chart = Chart("heat", ["y"], "token", ["head"], domain=(0, 1), title="t")
        seen = Picture(Table(("head", "token", "y"), rows, chart=chart))
        return [tip for tip, *_ in seen.boxes()]

    long = [f"w{i}" for i in range(30)]
    tips = [tip.replace("\u200e", "") for tip in squares(long)]
    assert tips[:3] == ["w0 · head 1: 0.50", "w0 · head 2: 0.50", "w1 · head 1: 0.25"]
    assert len(tips) == 60
    urdu = [tip.replace("\u200e", "") for tip in squares(["کیک", "کا", "ٹکڑا"])]
    assert urdu[:3] == ["1 · ٹکڑا: 0.17", "1 · کا: 0.25", "1 · کیک: 0.50"]


@pytest.mark.parametrize("words", [3, 40])
def test_a_sentence(words: int, chance: np.random.Generator) -> None:
    """Shades, numbers and bars go with the weight; widths of arcs are in test_pictures."""
    weights = chance.dirichlet(np.ones(words))
    rows: list[tuple[Cell, ...]] = [("t", "t", 1, None)]
    rows += [("t", f"w{i}", i + 2, float(weight)) for i, weight in enumerate(weights)]
    columns = ("target", "token", "position", Column("weight", role="share", group=("target",)))
    chart = Chart(
        *("tokens", ["weight"], "position", ["token"]), panel=["target"], start="target", title="t"
    )
    seen = Picture(Table(columns, rows, chart=chart))
    shades = [
        float(e.attrib["fill-opacity"])
        for e in seen.root.iter(f"{SVG}rect")
        if e.get("rx") and e.get("fill-opacity")
    ]
    assert shades == pytest.approx(0.85 * weights / weights.max(), abs=6e-4)
    long = [right - left for _, left, right, _ in seen.boxes()]  # a bar where a word has its line
    if words > 20:
        assert np.array(long) == pytest.approx(max(long) * weights / weights.max(), abs=0.2)
    shown = [opacity for opacity, *_ in seen.texts() if re.fullmatch(r"0\.\d\d", opacity)]
    assert sum(map(float, shown[:words])) == pytest.approx(1)
    for opacity, weight in zip(shown, weights, strict=False):
        assert float(opacity) == pytest.approx(weight, abs=0.01)


def test_pictures_of_real_answers(often: Path) -> None:
    """The same holds for what commands draw: a curve, a plane, a figure with its interval."""
    everyday = bundled_model("everyday")
    curve = ctxembed.positions(attention="learned", model=everyday)
    assert curve.charts[0].kind == "lines"
    names = [name for name in curve.names if name.startswith("head")]
    seen = Picture(curve)
    (across, dx), (up, dy) = seen.across(), seen.upward()
    for number, name in enumerate(names):
        ((path, _),) = [
            one for one in seen.paths(f"l{number}") if one[1].get("stroke-width") == "2"
        ]
        result = [(row["distance"], row[name]) for row in curve.records()]
        assert [across(x) for x, _ in points(path)] == pytest.approx([x for x, _ in result], abs=dx)
        assert [up(y) for _, y in points(path)] == pytest.approx([y for _, y in result], abs=dy)
    spread = ctxembed.ambiguity(often, ["apple", "bank"])
    assert spread.charts[0].low
    chart = spread.charts[0]
    dots_are_the_tables(
        spread, [[r[str(c)] for c in (chart.y[0], chart.low, chart.high)] for r in spread.records()]
    )
