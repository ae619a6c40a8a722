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
from ctxembed.context import representations
from ctxembed.queries.compare import compare

SENTENCE = "[Apple] launched a new phone"
MAX_FILES, MAX_DEPTH = 40, 14
COMPREHENSIONS = {"<listcomp>", "<dictcomp>", "<setcomp>", "<genexpr>"}  # a frame before 3.12


def test_attention_runs_once_for_each_representation(monkeypatch: pytest.MonkeyPatch) -> None:
    runs: Counter[tuple[int, float]] = Counter()

    def count(layer: Layer, *arrays: Any, **options: Any) -> Any:
        runs[layer.heads, layer.scale] += 1
        return attend(layer, *arrays, **options)

    monkeypatch.setattr(representations, "attend", count)
    table = compare(None, SENTENCE)
    assert list(table.rows) and list(table.lead() if table.lead else ()) and draw(table)
    assert len(runs) == 3  # general, learned, and learned as saved senses scale it
    assert set(runs.values()) == {1}


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
