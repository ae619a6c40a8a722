"""The conditions of --where: what they mean, and that hostile ones are refused."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxembed.errors import UsageError
from ctxembed.text.where import Comparison, evaluate_condition, parse_where

ROWS = [(party, year) for party in ("Dem", "Rep") for year in (1930, 1945, 1960)]


Mask = np.ndarray[Any, np.dtype[np.bool_]]


def holds(text: str) -> list[tuple[str, int]]:
    """Return the rows for which a condition holds, compared one by one."""

    def compare(item: Comparison) -> Mask:
        if item.name == "party":
            return np.array([(row[0] in item.values) == (item.operator == "=") for row in ROWS])
        value = int(item.values[0])
        compared = {
            "=": int.__eq__, "!=": int.__ne__, "<": int.__lt__, "<=": int.__le__, ">": int.__gt__,
            ">=": int.__ge__,
        }[item.operator]  # fmt: skip
        return np.array([compared(row[1], value) for row in ROWS])

    mask = evaluate_condition(parse_where(text), compare)
    return [row for row, chosen in zip(ROWS, mask.tolist(), strict=True) if chosen]


@pytest.mark.parametrize(
    ("text", "python"),
    [
        ("party=Dem and year>=1945", "p == 'Dem' and y >= 1945"),
        ("party=Dem or party=Rep and year<1945", "p == 'Dem' or p == 'Rep' and y < 1945"),
        ("(party=Dem or party=Rep) and year<1945", "(p == 'Dem' or p == 'Rep') and y < 1945"),
        ("not party=Dem and year!=1930", "not p == 'Dem' and y != 1930"),
        ("not (party=Dem and year>1930)", "not (p == 'Dem' and y > 1930)"),
        ("party=Dem,Rep AND year<=1945", "p in ('Dem', 'Rep') and y <= 1945"),
        ("party!=Dem,Green", "p not in ('Dem', 'Green')"),
        ("year = 1945", "y == 1945"),
    ],
)
def test_as_python_reads_it(text: str, python: str) -> None:
    assert holds(text) == [(p, y) for p, y in ROWS if eval(python, {"p": p, "y": y})]


def test_values_in_quotes() -> None:
    assert parse_where("state='New York'") == Comparison("state", "=", ("New York",))
    assert parse_where('name=\'O\'\'Brien\', "a ""b"""') == Comparison(
        "name", "=", ("O'Brien", 'a "b"')
    )
    assert parse_where("state=New York") == Comparison("state", "=", ("New York",))
    assert parse_where("a='Trial and Error'") == Comparison("a", "=", ("Trial and Error",))
    assert parse_where("name=O'Brien") == Comparison("name", "=", ("O'Brien",))
    assert parse_where("party=''") == Comparison("party", "=", ("",))


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected the name of a column"),
        ("party", "expected =, !="),
        ("party=", "expected a value"),
        ("party=Dem 'New York'", "expected and, or, or the end after 'party = Dem'"),
        ("party=Dem year>1945", "expected and, or, or the end after '= Dem year'"),
        ("(party=Dem", "expected )"),
        ("party=Dem and", "expected the name of a column after '= Dem and'"),
        ("year<1,2", "< takes one value"),
        ("party='Dem", "cannot read"),
        ("not " * 60 + "a=b", "more than 50 conditions inside each other"),
        ("(" * 4000 + "a=b", "more than 50 conditions inside each other"),
        ("a=" + "b" * 10_000, "longer than 10,000 characters"),
        ("__import__('os')", "expected =, !="),
    ],
)
def test_what_cannot_be_read_is_refused(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_where(text)
    assert problem in str(error.value)


@given(st.text(alphabet="ab=<>!,()'\" andort*", max_size=60))
def test_any_text_is_a_condition_or_an_error(text: str) -> None:
    try:
        parse_where(text)
    except UsageError as error:
        assert len(str(error)) < 300
