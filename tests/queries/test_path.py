"""The path of one question: few files, few calls deep, and each attention runs once."""

import sys
from collections import Counter
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import ctxembed
from ctxembed import draw
from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.cli.main import main
from ctxembed.context import networks, representation
from ctxembed.context.parse import parse
from ctxembed.model.bundled import open_model
from ctxembed.queries.compare import compare

SENTENCE = "[Apple] launched a new phone"
# Seven files look a word up in the dictionary and choose its definition; the deepest call reads the
# irregular forms of words from a file.
MAX_FILES, MAX_DEPTH = 53, 21
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}  # a frame before 3.12


def test_attention_runs_once_for_each_representation(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: Counter[tuple[int, float]] = Counter()
    own = [o.ids.tolist() for o in parse(open_model("english"), SENTENCE).occurrences]

    def count(layer: Layer, x: Any, ids: Any, **options: Any) -> Any:
        if ids.tolist() == own:  # else texts of the dictionary
            runs[layer.heads, layer.scale] += 1
        return attend(layer, x, ids, **options)

    for module in (representation, networks):
        monkeypatch.setattr(module, "attend", count)
    table = compare("english", SENTENCE)
    assert len(table) and table.lead and [*table.lead()] and draw(table)
    # General, learned, learned for the encoder, and learned as saved senses scale it.
    assert sorted(runs.values()) == [1, 1, 2]


def test_compare_passes_few_files_and_few_calls(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """From `run` to the printed table, imports left out."""
    package = str(Path(ctxembed.__file__).parent)
    files: set[str] = set()
    deepest: list[str] = []

    def profile(frame: FrameType | None, event: str, _: Any) -> None:
        if event != "call" or frame is None or not frame.f_code.co_filename.startswith(package):
            return
        path, stack = frame.f_code.co_filename, []
        while frame is not None and frame.f_code is not main.__code__:
            code = frame.f_code
            if code.co_name == "<module>":
                return
            if code.co_filename.startswith(package) and code.co_name not in COMPREHENSIONS:
                stack.append(f"{code.co_filename[len(package) :]}:{code.co_name}")
            frame = frame.f_back
        files.add(path)
        stack += ["main", "run"]
        if len(stack) > len(deepest):
            deepest[:] = stack

    monkeypatch.setattr(sys, "argv", ["ctxembed", "compare", SENTENCE])
    monkeypatch.delenv("CTXEMBED_MODEL", raising=False)
    sys.setprofile(profile)
    try:
        with pytest.raises(SystemExit):
            main()
    finally:
        sys.setprofile(None)
    assert "learned" in capsys.readouterr().out
    assert len(files) <= MAX_FILES, sorted(files)
    assert len(deepest) <= MAX_DEPTH, deepest
