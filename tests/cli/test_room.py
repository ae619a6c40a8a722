"""Little memory: libraries that would not fit are not loaded, and the message says so."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from ctxembed.cli import main as main_module
from ctxembed.cli.room import Room
from tests.conftest import ROOT

resource = pytest.importorskip("resource")
TOLD = "ctxembed: not enough memory for this; try a smaller --dim or corpus\n"


@pytest.mark.parametrize("size", [170, 200, 240])  # MiB; scipy would wait for more for ever
def test_a_library_that_does_not_fit(size: int, tmp_path: Path) -> None:
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
    assert (done.returncode, done.stdout, done.stderr) == (1, "", TOLD)


def test_what_fits_is_found_by_others() -> None:
    Room(1 << 50).find_spec("scipy")
    Room(0).find_spec("json")
    with pytest.raises(MemoryError):
        Room(0).find_spec("scipy")


def test_no_room_for_a_thread(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(**_: object) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(main_module.cli, "main", fail)
    with pytest.raises(SystemExit) as left:
        main_module.main()
    assert left.value.code == 1
    assert capsys.readouterr().err == (
        "ctxembed: no memory for another thread, or too many of them; try --workers 1\n"
    )


def test_an_error_that_python_lost(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where memory is limited, the C code of Python may return without saying why."""

    def fail(**_: object) -> None:
        raise SystemError("error return without exception set")

    monkeypatch.setattr(main_module.cli, "main", fail)
    monkeypatch.setattr(main_module, "guard", lambda: None)
    with pytest.raises(SystemError):  # no limit: a mistake of somebody's
        main_module.main()
    monkeypatch.setattr(main_module, "limit", lambda: 1 << 27)
    with pytest.raises(SystemExit) as left:
        main_module.main()
    assert left.value.code == 1
    assert capsys.readouterr().err == TOLD


def test_no_memory_left_to_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise SystemError("error return without exception set")

    left: list[int] = []
    monkeypatch.setattr(main_module, "main", fail)
    monkeypatch.setattr("os._exit", left.append)
    with pytest.raises(SystemError):
        main_module.run()
    monkeypatch.setattr(main_module, "limit", lambda: 1 << 27)
    main_module.run()
    assert left == [1]
