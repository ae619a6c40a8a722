"""What type checkers know of the module: every public name, with the types of its parameters.

`python -m tests.test_types` writes ctxembed/__init__.pyi.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import ctxembed
from tests.conftest import ROOT

STUB = ROOT / "ctxembed" / "__init__.pyi"
HEAD = '''"""Types of the names that ctxembed imports when they are used; see tests.test_types."""

from typing import Any

'''
TAIL = """
__version__: str

def look_up(name: str) -> Any: ...
"""
RIGHT = """
from pathlib import Path

import ctxembed

table: ctxembed.Table = ctxembed.neighbors("english", "apple", 3)
ctxembed.compare(None, ["the [apple] fell"], axes={"fruit": ["juice"]})
ctxembed.compare(Path("model"), "the [apple] fell")
ctxembed.vectorize("a text", "general", model=Path("model"))
with ctxembed.open() as model:
    ctxembed.info(model).records()
try:
    ctxembed.senses(model, "bank")
except ctxembed.UnknownWordError as error:
    code: int = error.exit_code
"""
WRONG = """
import ctxembed

model = ctxembed.open()
ctxembed.neighbors(model, "apple", "three")
ctxembed.nonsense(1)
ctxembed.neighbors(3, "apple")
ctxembed.compare(model, "the [apple] fell", axis={})
"""
WRONG_LINES = [5, 6, 7, 8]


def stub() -> str:
    """Return the stub of the module: an import of each public name."""
    lines = []
    for name, source in ctxembed._WHERE.items():  # type: ignore[attr-defined]
        module, _, attribute = source.partition(":")
        lines.append(f"from {module} import {attribute or name} as {name}\n")
    names = sorted(ctxembed.__all__, key=lambda name: (name[0].islower(), name))
    listed = "".join(f'    "{name}",\n' for name in names)
    return f"{HEAD}{''.join(sorted(lines))}\n__all__ = [\n{listed}]{TAIL}"


def test_the_stub_has_every_public_name() -> None:
    assert STUB.read_text(encoding="utf-8") == stub(), "run: python -m tests.test_types"


@pytest.mark.parametrize("checker", ["mypy", "pyright"])
def test_type_checkers_find_wrong_calls(checker: str, tmp_path: Path) -> None:
    command = shutil.which(checker, path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    if command is None:
        pytest.skip(f"needs {checker}")
    files = tmp_path / "right.py", tmp_path / "wrong.py"
    for file, text in zip(files, (RIGHT, WRONG), strict=True):
        file.write_text(text)
    options = (
        ["--strict", "--no-error-summary"]
        if checker == "mypy"
        else ["--pythonpath", sys.executable]
    )
    result = subprocess.run([command, *options, *files], cwd=ROOT, capture_output=True, text=True)
    errors = [line for line in result.stdout.splitlines() if " error: " in line]
    assert [int(line.split("wrong.py:")[1].split(":")[0]) for line in errors] == WRONG_LINES, result


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8", newline="\n")
