"""A Table can be read twice, and shown in a notebook."""

import json
import sys
from collections.abc import Iterator
from html.parser import HTMLParser

import numpy as np
import pytest

from ctxembed.errors import CtxembedError
from ctxembed.table import Cell, Chart, Column, Table
from tests.conftest import stream


def test_a_stream_is_kept() -> None:
    numbers: list[int] = []
    table = Table(("n",), stream(numbers))
    assert next(iter(table.rows)) == (0,)
    assert numbers == [0]
    assert table.records() == table.records() == [{"n": 0}, {"n": 1}, {"n": 2}]
    assert numbers == [0, 1, 2]


def test_a_table_from_a_function_is_computed_once_or_streamed() -> None:
    begun = []

    def rows() -> Iterator[tuple[int]]:
        begun.append(1)
        return iter([(7,)])

    table = Table(("n",), rows)
    assert [*table.stream()] == [*table.stream()] == [(7,)]
    assert len(begun) == 2
    assert table.records() == table.records() == [*table] == [{"n": 7}]
    assert [*table.stream()] == [(7,)] and len(table) == 1 and len(begun) == 3


def test_notes_may_grow_while_rows_are_read() -> None:
    unknown: list[str] = []

    def rows() -> Iterator[tuple[str]]:
        yield ("apple",)
        unknown.append("'appel' is not in the vocabulary")

    table = Table(("word",), rows, unknown=unknown)
    assert table.unknown == []
    table.records()
    assert table.unknown == ["'appel' is not in the vocabulary"]


def test_a_column_stands_for_several() -> None:
    axis = Column("AXIS...", "cosine with the axis")
    assert axis.each(["taste"]) == [Column("taste", "cosine with the axis")]


def test_a_table_carries_what_its_picture_shows() -> None:
    chart = Chart("bars", ["n"], label=["word"])
    table = Table(("word", "n"), [("apple", 3)], chart=chart)
    assert table.charts == (chart,)
    assert Table(("n",), [], chart=[chart, chart]).charts == (chart, chart)
    assert Table(("n",), []).charts == ()
    assert [table.column_index(column) for column in (*chart.label, *chart.y, 1)] == [0, 1, 1]


class Seen(HTMLParser):
    """The tags and texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert not attrs
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def test_a_notebook_shows_text_as_text() -> None:
    odd = "<script>alert('&')</script>"
    rows: list[tuple[Cell, ...]] = [(odd, 0.5, None), ("b", float("nan"), ["x", "y"])]
    seen = Seen(Table((odd, "score", "n"), rows)._repr_html_())
    assert seen.tags == {"table", "thead", "tbody", "tr", "th", "td"}
    assert seen.texts == [odd, "score", "n", odd, "0.5000", "b", "x y"]


def test_a_notebook_shows_the_first_rows_only() -> None:
    seen = Seen(Table(("n",), ((i,) for i in range(1000)))._repr_html_())
    assert seen.texts[-2:] == ["99", "only the first 100 rows"]


def test_as_text() -> None:
    assert str(Table(("word", "n"), [("apple", 3)])) == "word   n\n-----  -\napple  3\n"
    assert str(Table(("n",), ((i,) for i in range(1000)))).endswith(
        "\n99\nonly the first 100 rows\n"
    )


MIXED = Table(
    ("word", "n", "share", "mixed", "vector", "like"),
    [
        ("apple", 1, 0.5, "x", np.array([1.0, 2.0], np.float32), ["a", "b"]),
        ("bank", 2, 1, 3, np.array([3.0, 4.0], np.float32), None),
    ],
)
MIXED_RECORDS = [
    {"word": "apple", "n": 1, "share": 0.5, "mixed": "x", "vector": [1, 2], "like": ["a", "b"]},
    {"word": "bank", "n": 2, "share": 1.0, "mixed": "3", "vector": [3, 4], "like": None},
]


def test_to_polars() -> None:
    pytest.importorskip("polars")
    frame = MIXED.to_polars()
    assert frame.to_dicts() == MIXED_RECORDS
    assert str(frame.schema["n"]) == "Int64"


def test_to_arrow() -> None:
    pyarrow = pytest.importorskip("pyarrow")
    assert MIXED.to_arrow().to_pylist() == MIXED_RECORDS
    assert pyarrow.table(MIXED).to_pylist() == MIXED_RECORDS  # without a method of ours
    assert Table(("word",), []).to_arrow().num_rows == 0


@pytest.mark.parametrize("name", ["pandas", "polars", "pyarrow"])
def test_a_missing_library_names_its_extra(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    method = {"pyarrow": "to_arrow"}.get(name, f"to_{name}")
    with pytest.raises(CtxembedError, match=r"pip install 'ctxembed\[tables\]'"):
        getattr(MIXED, method)()


def test_to_pandas() -> None:
    pandas = pytest.importorskip("pandas")
    frame = Table(("word", "n"), [("apple", 1), ("bank", 2)]).to_pandas()
    pandas.testing.assert_frame_equal(
        frame, pandas.DataFrame({"word": ["apple", "bank"], "n": [1, 2]})
    )


def test_a_table_is_a_sequence_of_rows_and_columns() -> None:
    table = Table(("word", "n"), iter([("apple", 1), ("bank", 2), ("pear", 3)]))
    assert repr(table) == "<Table of word, n; rows: not counted>"
    assert len(table) == 3 and [row["n"] for row in table] == [1, 2, 3]
    assert table[0] == {"word": "apple", "n": 1} and table[-1]["word"] == "pear"
    assert table["word"] == ["apple", "bank", "pear"] and table[1:] == table.records()[1:]
    assert repr(table) == "<Table of word, n; rows: 3>"
    with pytest.raises(IndexError):
        table[3]
    with pytest.raises(KeyError, match="no column 'nothing'; it has word, n"):
        table["nothing"]
    assert len(repr(Table([f"column{i}" for i in range(99)], []))) < 80


def test_records_for_json() -> None:
    vector = np.array([0.5, float("nan")], np.float32)
    table = Table(("word", "n", "vector"), [("a", np.float64("inf"), vector), ("b", 1, [2.0])])
    text = json.dumps(table.records(plain=True), allow_nan=False)
    assert text == (
        '[{"word": "a", "n": null, "vector": [0.5, null]}, {"word": "b", "n": 1, "vector": [2.0]}]'
    )
    assert table.records()[0]["vector"] is vector
