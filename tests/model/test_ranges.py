"""Python takes the numbers that the command line takes, and no others."""

from inspect import signature
from pathlib import Path
from typing import Any

import pytest

import ctxembed
from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from ctxembed.cli.options import Number
from ctxembed.errors import UsageError
from ctxembed.model.ranges import RANGES, check_numbers


def find_ranges() -> dict[str, Number]:
    """Return the numbers that commands pass to their queries, by query and parameter."""
    ranges = {}
    for name in COMMANDS:
        command = load_command(name)
        for query in command.queries.values():
            names = signature(query).parameters
            on_model = next(iter(names), "").startswith("model")
            for option in command.params:
                learned = name == "learn" and option.name not in ("sentence", "precision")
                given = learned or option.name in names
                if on_model and given and isinstance(option.type, Number):
                    ranges[f"{query.__name__}.{option.name}"] = option.type
    return ranges


def test_ranges_are_those_of_the_command_line() -> None:
    ranges = find_ranges()
    assert len(ranges) > 20
    for place, number in ranges.items():
        query, name = place.split(".")
        step = 0 if number.min_open else 1
        for value in (number.low - step, number.high + 1, float("nan"), "three"):
            with pytest.raises(UsageError, match=f"{name}=.* is not a .*number"):
                check_numbers(query, {name: value})
        check_numbers(query, {name: number.high})
        check_numbers(query, {name: None})
    assert {name.split(".")[-1] for name in RANGES} <= {place.split(".")[1] for place in ranges}


def test_a_number_out_of_range_is_wrong_usage(tiny: Path) -> None:
    message = "^number=0 is not a whole number from 1 to 2,147,483,648$"
    with pytest.raises(UsageError, match=message):
        ctxembed.neighbors(tiny, "apple", 0)
    with pytest.raises(UsageError, match="seed=-1 is not a whole number from 0"):
        ctxembed.ablate(tiny, "the [apple]", seed=-1)


def test_what_is_not_text_is_wrong_usage(tiny: Path) -> None:
    model = ctxembed.open(tiny)
    wrong: Any
    for wrong in (3, None, ["apple", 3], b"apple", {"apple": 1}):
        with pytest.raises(UsageError, match=r"^words=.* is not a text, or a list of texts$"):
            ctxembed.neighbors(model, wrong)
        with pytest.raises(UsageError, match=r"^words="):
            model.most_similar(wrong)
        for ask in (ctxembed.compare, ctxembed.encode, ctxembed.contextualize):
            with pytest.raises(UsageError, match=r"^sentences="):
                ask(model, wrong)
    with pytest.raises(UsageError, match=r"^word=3"):
        ctxembed.compare(model, "the apple", word=3)  # type: ignore[arg-type]
    assert ctxembed.contextualize(model, iter(["the [apple]"])).records()
    assert len(ctxembed.ladder(model, "apple", "bank", None)) > 0
