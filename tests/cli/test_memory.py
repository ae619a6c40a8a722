"""Little memory: one message and exit code 1."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxembed.cli import main as main_module
from tests.conftest import ROOT, mentions

MESSAGE = "ctxembed: not enough memory for this; try a smaller --dim or corpus\n"


@pytest.mark.linux
@pytest.mark.parametrize("size", [170, 200, 240])  # MiB; scipy would wait for memory without end
def test_a_library_that_does_not_fit(size: int, tmp_path: Path) -> None:
    import resource

    (tmp_path / "a.txt").write_text("the cat sat\n")
    line = ["vectorize", "a.txt", "--sparse"]
    done = subprocess.run(
        [sys.executable, "-m", "ctxembed", *line],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20)),
        timeout=60,
    )
    assert (done.returncode, done.stdout, done.stderr) == (1, "", MESSAGE)


def fail_with(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every command raise an error."""

    def fail(**_: object) -> None:
        raise error

    monkeypatch.setattr(main_module.cli, "main", fail)


def exit_code() -> object:
    with pytest.raises(SystemExit) as left:
        main_module.main()
    return left.value.code


def test_no_memory_for_a_thread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fail_with(RuntimeError("can't start new thread"), monkeypatch)
    assert exit_code() == 1
    assert mentions(capsys.readouterr().err, "memory --workers 1")


def test_a_system_error_under_a_memory_limit(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where memory is limited, the C code of Python may return without saying why."""
    fail_with(SystemError("error return without exception set"), monkeypatch)
    with pytest.raises(SystemError):  # no limit: a bug
        main_module.main()
    monkeypatch.setattr(main_module, "_memory_limit", lambda: 1 << 30)
    assert exit_code() == 1
    assert capsys.readouterr().err == MESSAGE


def test_exit_without_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise SystemError("error return without exception set")

    left: list[int] = []
    monkeypatch.setattr(main_module, "main", fail)
    monkeypatch.setattr("os._exit", left.append)
    with pytest.raises(SystemError):
        main_module.run()
    monkeypatch.setattr(main_module, "_memory_limit", lambda: 1 << 30)
    main_module.run()
    assert left == [1]
