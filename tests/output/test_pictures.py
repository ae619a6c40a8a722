"""Pictures of a Table: exact SVG of each kind, and the numbers of the table."""

import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import pytest

import ctxembed
from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.output.blocks import draw_blocks
from ctxembed.output.picture import draw
from ctxembed.output.render import render
from ctxembed.output.sentence import WIDE
from ctxembed.table import Cell, Chart, Column, Table
from tests.conftest import Run

HERE = Path(__file__).parent / "pictures"
SVG = "{http://www.w3.org/2000/svg}"
WEIGHTS: list[tuple[Cell, ...]] = [
    ("apple", "apple", 1, None),
    ("apple", "launched", 2, 0.625),
    ("apple", "a", 3, 0.25),
    ("apple", "phone", 4, 0.125),
]
WEIGHT = ("target", "token", "position", Column("weight", role="share", group=("target",)))
ARCS = Chart(
    "tokens", ["weight"], "position", ["token"], panel=["target"], start="target", title="weights"
)
GROWTH: list[tuple[Cell, ...]] = [
    ("static", 0.0, 0.4, 0.3, 0.5),
    ("static", 1.0, -0.2, -0.3, -0.1),
    ("general", 0.0, 0.3, None, None),
    ("general", 1.0, 0.3, None, None),
]
# One table a kind; its picture is in pictures/KIND.svg, and was looked at.
KINDS: dict[str, Callable[[], Table]] = {
    "tokens": lambda: Table(WEIGHT, WEIGHTS, ["mean of 4 heads"], chart=ARCS),
    "heat": lambda: Table(
        ("word", "apple", "bank"),
        [("apple", 1.0, -0.25), ("bank", -0.25, 1.0)],
        chart=Chart("heat", [1, 2], label=["word"], domain=(-1, 1), title="cosine"),
    ),
    "scatter": lambda: Table(
        ("x", "y", "sense", "occurrence"),
        [(0.0, 0.0, 1, "the [bank]"), (1.0, 0.5, 1, "a [bank]"), (-2.0, 1.0, 2, "river [bank]")],
        chart=Chart("scatter", ["y"], "x", ["occurrence"], series=["sense"], title="bank"),
    ),
    "lines": lambda: Table(
        ("representation", "share", "difference", "low", "high"),
        GROWTH,
        chart=Chart(
            *("lines", ["difference"], "share"),
            series=["representation"],
            low="low",
            high="high",
            title="taste",
        ),
    ),
    "bars": lambda: Table(
        ("removed", "weight", "change"),
        [("launched", 0.6, 0.25), ("phone", 0.4, -0.1)],
        chart=Chart("bars", ["weight", "change"], label=["removed"], title="ablation"),
    ),
    "dots": lambda: Table(
        ("representation", "value", "low", "high"),
        [("static", 0.5, 0.4, 0.6), ("learned", 0.9, 0.85, 0.95)],
        chart=Chart(
            "dots", ["value"], label=["representation"], low="low", high="high", title="accuracy"
        ),
    ),
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_byte(kind: str) -> None:
    svg = draw(KINDS[kind]())
    assert svg == draw(KINDS[kind]())
    assert svg == (HERE / f"{kind}.svg").read_text(encoding="utf-8")


def read(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)


def texts(svg: str) -> list[str]:
    return ["".join(e.itertext()) for e in read(svg).iter(f"{SVG}text")]


@pytest.mark.parametrize("kind", ["tokens", "heat", "bars", "dots"])
def test_every_number_is_the_tables(kind: str) -> None:
    """The numbers with two digits on the picture are those of the table."""
    table = KINDS[kind]()
    assert table.charts
    cells = [
        line.split("\t") for line in "".join(render(table, "tsv", precision=2)).splitlines()[1:]
    ]
    numbers = sorted(
        row[table.column_index(column)]
        for row in cells
        for column in table.charts[0].y
        if row[table.column_index(column)]
    )
    shown = [text for text in texts(draw(table)) if re.fullmatch(r"-?\d+\.\d\d", text)]
    if kind == "tokens":
        numbers = sorted([*numbers, max(numbers)])  # the end of its scale
    assert sorted(shown) == numbers
    tips = " ".join(e.text or "" for e in read(draw(table)).iter(f"{SVG}title"))
    assert all(number in tips or kind == "heat" for number in numbers)


def test_shares_add_up_on_a_picture() -> None:
    third = 1 / 3
    rows: list[tuple[Cell, ...]] = [("a", token, i, third) for i, token in enumerate("bcd", 1)]
    shown = [t for t in texts(draw(Table(WEIGHT, rows, chart=ARCS))) if t.startswith("0.3")]
    assert shown[:3] == ["0.34", "0.33", "0.33"]


def arcs_of(svg: str) -> Iterator[tuple[float, str]]:
    """Yield the width of each arc, and what its tip says."""
    for path in read(svg).iter(f"{SVG}path"):
        tip = path.find(f"{SVG}title")
        if tip is not None and "→" in (tip.text or ""):
            yield float(path.attrib["stroke-width"]), str(tip.text)


@pytest.mark.parametrize("words", [1, 30])  # on one line, and a word a line
def test_the_width_of_an_arc_is_the_weight(words: int) -> None:
    rows = [*WEIGHTS, *(("apple", "and", i, 0.0) for i in range(5, 4 + words))]
    widths = dict((tip, width) for width, tip in arcs_of(draw(Table(WEIGHT, rows, chart=ARCS))))
    assert widths == {
        "apple → launched: 0.63": pytest.approx(0.625 * WIDE),
        "apple → a: 0.25": pytest.approx(0.25 * WIDE),
        "apple → phone: 0.12": pytest.approx(0.125 * WIDE),
    }


def test_a_number_below_zero_has_another_colour_and_a_sign() -> None:
    rows: list[tuple[Cell, ...]] = [("apple", "apple", 1, 0.75), ("apple", "a", 2, -0.25)]
    rows.append(("apple", "phone", 3, 0.5))
    svg = draw(Table(WEIGHT, rows, chart=ARCS))
    arcs = {str(tip): width for width, tip in arcs_of(svg)}
    assert arcs["apple → a: -0.25"] == pytest.approx(0.25 * WIDE)
    kinds = [
        path.attrib["class"]
        for path in read(svg).iter(f"{SVG}path")
        if (tip := path.find(f"{SVG}title")) is not None and "→ a:" in (tip.text or "")
    ]
    assert kinds == ["l1"]
    assert any("-0.75" in text for text in texts(svg))  # the other end of the scale


def test_a_chart_with_a_note_names_what_it_draws() -> None:
    chart = replace(ARCS, note="weight: how much attention looks at a word")
    table = Table(WEIGHT, WEIGHTS, chart=chart)
    assert texts(draw(table))[0] == "weights: weight"
    assert "weight: how much attention looks at a word" in texts(draw(table))
    assert list(draw_blocks(table))[-1] == "\nweight: how much attention looks at a word\n"


def test_heat_colours_are_symmetric() -> None:
    rows: list[tuple[Cell, ...]] = [("a", 0.0, 1.0, -1.0, 0.5)]
    table = Table("wxyzv", rows, chart=Chart("heat", range(1, 5), label=["w"], domain=(-1, 1)))
    shades = [
        (e.attrib["class"], e.attrib["fill-opacity"])
        for e in read(draw(table)).iter(f"{SVG}rect")
        if e.find(f"{SVG}title") is not None
    ]
    assert shades == [("s0", "0"), ("s0", "0.85"), ("s1", "0.85"), ("s0", "0.425")]


def positions_of(svg: str, words: list[str]) -> list[float]:
    at = {"".join(e.itertext()): float(e.attrib["x"]) for e in read(svg).iter(f"{SVG}text")}
    return [at[word] for word in words]


def test_a_sentence_from_right_to_left_is_mirrored() -> None:
    words = ["کیک", "کا", "ٹکڑا"]
    rows: list[tuple[Cell, ...]] = [(words[0], w, i, 0.5 * (i > 1)) for i, w in enumerate(words, 1)]
    there = positions_of(draw(Table(WEIGHT, rows, chart=ARCS)), words)
    assert there == sorted(there, reverse=True)
    latin: list[tuple[Cell, ...]] = [("a", w, i, 0.5 * (i > 1)) for i, w in enumerate("abc", 1)]
    there = positions_of(draw(Table(WEIGHT, latin, chart=ARCS)), [*"abc"])
    assert there == sorted(there)


HOSTILE = [
    "<script>alert(1)</script>",
    "</title></style><img src=x onerror=alert(1)>",
    '" onload="alert(1)',
    "&lt;b&gt; &amp; ]]>",
    "a\x00b\x1b[31m\x08\u202ec\ud800",
    "javascript:alert(1)//<a href='//x'>",
]


@pytest.mark.parametrize("odd", HOSTILE)
@pytest.mark.parametrize("kind", KINDS)
def test_text_stays_text(kind: str, odd: str) -> None:
    """Nothing of a table becomes markup, script or a control character, in any place of it."""
    table = KINDS[kind]()
    chart = table.charts[0]
    rows = [[odd if isinstance(cell, str) else cell for cell in row] for row in table.rows]
    columns = [Column(f"{odd}{i}", c.meaning, c.role) for i, c in enumerate(table.columns)]
    parts = {
        name: [table.column_index(p) for p in getattr(chart, name)]
        for name in ("y", "label", "series", "panel")
    }
    x = None if chart.x is None else table.column_index(chart.x)
    chart_ = Chart(chart.kind, **parts, x=x, title=odd)  # type: ignore[arg-type]
    svg = draw(Table(columns, rows, [odd], chart=chart_))
    plain = {element.tag for element in read(draw(table)).iter()} | {f"{SVG}title"}
    seen = list(read(svg).iter())
    assert {element.tag for element in seen} <= plain
    assert not any(name.startswith("on") or "href" in name for e in seen for name in e.attrib)
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", svg)


COLUMNS = ("word", "n")
BARS = Chart("bars", ["n"], label=["word"], title="counts")


def test_a_notebook_shows_the_picture_without_script() -> None:
    html = Table(COLUMNS, [("<b>", 3)], chart=BARS)._repr_html_()
    assert html.startswith("<svg ") and "</svg>\n<table>" in html
    assert "<b>" not in html and "<script" not in html and "href" not in html


def test_a_note_says_what_is_not_drawn() -> None:
    many = Table(COLUMNS, [(str(i), i) for i in range(100)], chart=BARS)
    assert "only the first 60 of 100 rows are drawn" in texts(draw(many))
    noted = Table(COLUMNS, [("a", 1)], ["skipped, not in the vocabulary: b"], chart=BARS)
    assert "skipped, not in the vocabulary: b" in texts(draw(noted))


def test_a_picture_names_its_model_and_whether_it_can_mean_anything(tiny: Path) -> None:
    shown = texts(draw(ctxembed.neighbors(str(tiny), "apple", 2)))
    assert "model tiny, 22 words: too few, these vectors are noise" in shown
    shown = texts(draw(ctxembed.neighbors("everyday", "apple", 2)))
    assert any(re.fullmatch(r"model everyday, [\d,]{7} words", text) for text in shown)
    hand = ctxembed.similarity(ctxembed.given("bank"), ["bank", "river"])
    assert "bank: vectors given by hand" in texts(draw(hand))


def test_the_picture_of_compare_speaks_in_words() -> None:
    table = ctxembed.compare("everyday", "river [bank] flows")
    shown = texts(draw(table))
    assert any(text.startswith("bank: like ") for text in shown)  # the answer, as printed
    for row in table:
        assert ", ".join(row["like"]) in shown


def test_a_picture_has_no_hints_about_options() -> None:
    notes = [
        "4 heads: weight is the mean of theirs; --head each shows each step",
        "learned attention answers here. Try ctxembed compare, or --steps.",
        "two words - and a dash -- stay",
    ]
    shown = texts(draw(Table(COLUMNS, [("a", 1)], notes, chart=BARS)))
    assert shown[-3:] == [
        "4 heads: weight is the mean of theirs",
        "learned attention answers here",
        "two words - and a dash -- stay",
    ]
    explained = draw(ctxembed.explain("english", "[Apple] launched a new phone"))
    assert "--" not in "".join(texts(explained))


def test_senses_without_occurrences_say_why_nothing_is_drawn(run: Run, tmp_path: Path) -> None:
    done = run("senses", "apple", "-o", "a.svg", "-m", "english")
    assert done.returncode == 2
    assert "no text" in done.stderr and "-m everyday" in done.stderr
    assert "leave away" not in done.stderr


ODD: list[list[float | None]] = [
    [], [None], [0.0], [float("nan")], [float("inf"), 1.0], [1e-12, -1e12], [5.0, 5.0], [-1.0, -2],
]  # fmt: skip


@pytest.mark.parametrize("numbers", ODD, ids=str)
@pytest.mark.parametrize("kind", [*KINDS, "stacked", "plane"])
def test_odd_numbers_are_drawn(kind: str, numbers: list[float | None]) -> None:
    """Nothing, nothing but NaN, one number, none apart: there is a picture, without NaN in it."""
    rows: list[tuple[Cell, ...]] = [("a", "b", i, y, "a") for i, y in enumerate(numbers)]
    chart = {
        "stacked": Chart("bars", ["y"], label=["l"], series=["s"], stacked=True),
        "plane": Chart("scatter", ["y"], "x", series=["s"], start="b"),
        "lines": Chart("lines", ["y"], "x", series=["s"]),
        "scatter": Chart("scatter", ["y"], "x", series=["s"]),
        "tokens": Chart("tokens", ["y"], "x", ["l"], start="t"),
    }.get(kind) or Chart(kind, ["y"], label=["l"], title="t")  # type: ignore[arg-type]
    table = Table("lsxyt", rows, chart=chart)
    svg = draw(table)
    assert not re.search(r"\bnan\b|\binf\b", svg)
    read(svg)
    assert all(len(line) <= 30 for line in "".join(draw_blocks(table, 30)).splitlines())


def test_a_sentence_in_characters() -> None:
    """Labels take as much room as the longest word, numbers theirs, and bars the rest."""
    lines = "".join(draw_blocks(Table(WEIGHT, WEIGHTS, chart=ARCS), 40)).splitlines()
    assert lines[-3:] == [
        f"launched {'█' * 26} 0.63",
        f"a        {'█' * 10}▍{' ' * 15} 0.25",  # 0.25 / 0.625 of 26 is 10.4
        f"phone    {'█' * 5}▎{' ' * 20} 0.12",
    ]


def test_labels_are_moved_apart() -> None:
    rows = [(name, x, 0.5 + 0.001 * n) for n, name in enumerate("abcdef") for x in (0.0, 1.0)]
    chart = Chart("lines", ["y"], "x", series=["name"], title="t")
    svg = draw(Table(("name", "x", "y"), rows, chart=chart))
    at = sorted(
        float(e.attrib["y"])
        for e in read(svg).iter(f"{SVG}text")
        if "".join(e.itertext())[-1:] in "abcdef"
    )
    assert min(b - a for a, b in pairwise(at)) >= 14


def test_which_commands_have_a_picture(run: Run) -> None:
    pictured = [name for name in COMMANDS if load_command(name).picture]
    assert {
        *("explain", "compare", "similarity", "senses", "kwic", "mix", "shift", "ablate"),
        *("positions", "ambiguity", "neighbors", "ladder", "evaluate", "learn", "fit"),
    } <= set(pictured)
    for name, line in (("define", ["define", "bank"]), ("train", ["train", "nothing.txt"])):
        done = run(*line, "-f", "svg")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{name} has no picture" in done.stderr
    done = run("explain", "the [apple]", "--recipe", "-o", "a.svg")
    assert done.returncode == 2 and "no picture" in done.stderr


def test_files(run: Run, tmp_path: Path) -> None:
    line = ("neighbors", "phone", "-n", "2")
    printed = run(*line, "-f", "svg")
    assert (printed.returncode, printed.stderr) == (0, "")
    assert run(*line, "-o", "a.svg").stdout == ""
    assert (tmp_path / "a.svg").read_text() == printed.stdout
    assert run(*line, "-o", "a.html").returncode == 0
    page = (tmp_path / "a.html").read_text()
    assert printed.stdout in page and "default-src 'none'" in page and "<script" not in page
    assert "<td>launched</td>" in page
    assert "0.800" in run(*line, "-f", "svg", "--precision", "3").stdout


def test_without_the_extra_the_message_says_how(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    for suffix in ("png", "pdf"):
        done = run("neighbors", "phone", "-o", f"a.{suffix}")
        assert done.returncode == 1
        assert "pip install 'ctxembed[pictures]'" in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_png_and_pdf(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    for suffix, magic in (("png", b"\x89PNG"), ("pdf", b"%PDF")):
        assert run("neighbors", "phone", "-o", f"a.{suffix}").returncode == 0
        assert (tmp_path / f"a.{suffix}").read_bytes().startswith(magic)


def test_drawn_from_python(tiny: Path) -> None:
    table = ctxembed.similarity(str(tiny), ["apple", "bank"])
    assert ctxembed.draw(table) == draw(table)
    assert texts(draw(table))[:2] == ["cosine", "apple"]


def rewrite() -> None:
    """Write the pictures anew; look at each before it is kept."""
    HERE.mkdir(exist_ok=True)
    for kind, make in KINDS.items():
        (HERE / f"{kind}.svg").write_text(draw(make()), encoding="utf-8")


if __name__ == "__main__":
    rewrite()
