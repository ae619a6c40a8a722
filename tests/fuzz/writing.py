"""Commands that are killed while they write, that write at once, or replace private files."""

import ctypes
import json
import os
import signal
import sys
import time
import traceback
from pathlib import Path

from ctxembed.cli.main import main
from tests.fuzz.tries import Result, find_fault, run
from tests.fuzz.workspace import Tries, Workspace, split

WRITES = {  # a command that writes, and the files it writes beside the model m
    "train c.txt -o m --lines --dim 8 --epochs 1 --workers 1 --force --static-only": [],
    "learn -m m --epochs 0.005": [],
    "fit task.tsv -m m --epochs 1": [],
    "senses river --k 2 --save -m m": [],
    "import v.txt -o m --force": [],
    "index c.txt -m one -o m --force": [],
    "shrink -m one -o m --force": [],
    "info --check --add -m m": [],
    "export k.txt -m one --force": ["k.txt"],
    "export k.bin -m one --force": ["k.bin"],
    "export k.npy -m one --force": ["k.npy", "k.vocab.txt"],
    "neighbors bank -m one -o k.tsv": ["k.tsv"],
    "explain|money in the [bank]|-m|one|-o|k.svg": ["k.svg"],
    "contextualize sentences.txt -m one -o k.npz": ["k.npz"],
    "vectorize sentences.txt -o v.npz": ["v.npz"],
    "explore|money in the [bank]|-m|one|-o|k.html": ["k.html"],
}
REPLACES = [line for line in WRITES if line.endswith("-o m --force") or line.startswith("train")]
ADDS = ["learn -m m --epochs 0.005", "senses river --k 2 --save -m m", "info --check --add -m m",
        "fit task.tsv -m m --epochs 1", "index c.txt -m m -o m --force"]  # fmt: skip
# A run that adds to a model may refuse one that replaced it, or whose words are not its own.
REFUSED = (
    b"replaced by another model meanwhile", b"replaced while it was read", b"no target is known",
)  # fmt: skip
NEW_PID_NAMESPACE = 0x20000000  # of unshare, as of a container; where it is refused, none


def killed(workspace: Workspace) -> Tries:
    """Kill what writes at a random moment; the next run must find old or new, and leave no rest."""
    folder, rng = workspace.folder, workspace.rng
    steps: dict[str, int] = {}  # how many openings, renames and the like a whole run takes
    whole: dict[str, bytes] = {}  # every run writes the same
    while True:
        for line in rng.sample(list(WRITES), len(WRITES)):
            _prepare(workspace, line)
            if line not in steps:
                _kill(line, folder, sys.maxsize)
                steps[line] = int((folder / ".steps").read_text())
                whole |= {name: (folder / name).read_bytes() for name in WRITES[line]}
                _prepare(workspace, line)
            if not _kill(
                line, folder, rng.randrange(steps[line]), rng.choice((None, rng.random()))
            ):
                continue  # it was done before
            fault = "" if _is_whole(folder, WRITES[line], whole) else "lost"
            for question in ("info --check -m m", "neighbors bank -m m"):
                end = run(question.split(), folder)
                fault = fault or find_fault(end) or ("lost" if end.code else "")
            end = run(split(line), folder)  # the next run
            fault = fault or find_fault(end) or ("lost" if end.code else "")
            rest = [p.name for p in folder.rglob(".*") if ".ctxembed" in p.name]
            fault = fault or ("lost" if rest else "")
            yield f"killed: {line} {rest}", fault, end


def concurrent(workspace: Workspace) -> Tries:
    """Let two or three runs write one model on a slow disk, each in a PID namespace or in none."""
    folder, rng = workspace.folder, workspace.rng
    while True:
        workspace.fresh()
        lines = [REPLACES[0]] * 2 if rng.random() < 0.4 else [rng.choice(REPLACES)]
        lines += rng.sample(ADDS, rng.randrange(1, 3)) if len(lines) == 1 else []
        runs = [
            _start(
                line, folder, number, rng.random() * 0.03, rng.random() * 0.1, rng.random() < 0.7
            )
            for number, line in enumerate(lines)
        ]
        for number, (line, process) in enumerate(zip(lines, runs, strict=True)):
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            end = Result(code, b"", (folder / f".err-{number}").read_bytes(), 0, 0)
            fault = find_fault(end)
            if code and not fault and (line in REPLACES or not any(t in end.err for t in REFUSED)):
                fault = "lost"
            yield f"concurrent: {line} of {lines}", fault, end
        for question in ("info --check -m m", "compare|the [bank] of the [river]|-m|m"):
            end = run(split(question), folder)
            rest = [item.name for item in folder.rglob(".*") if ".ctxembed" in item.name]
            fault = find_fault(end) or ("lost" if rest or end.code not in (0, 4) else "")
            yield f"after concurrent: {question} {lines} {rest}", fault, end


def _start(line: str, folder: Path, number: int, fsync: float, delay: float, alone: bool) -> int:
    """Start a command after a delay; each fsync takes some time. Return the process."""
    process = os.fork()
    if process == 0:
        try:
            if alone and not ctypes.CDLL(None).unshare(NEW_PID_NAMESPACE) and (inner := os.fork()):
                os._exit(max(0, os.waitstatus_to_exitcode(os.waitpid(inner, 0)[1])))
            real = os.fsync

            def slow(file: int) -> None:
                time.sleep(fsync)
                real(file)

            os.fsync = slow  # type: ignore[assignment]
            time.sleep(delay)
            os.chdir(folder)
            err = os.open(f".err-{number}", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
            for stream, file in ((0, os.open(os.devnull, os.O_RDWR)), (1, err), (2, err)):
                os.dup2(file, stream)
            sys.argv = ["ctxembed", *split(line)]
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
            main()
        except SystemExit as leave:
            sys.stderr.flush()
            os._exit(int(leave.code or 0))
        except BaseException:
            traceback.print_exc()
            sys.stderr.flush()
        finally:
            os._exit(120)
    return process


def private(workspace: Workspace) -> Tries:
    """Replace models and files of all modes; each keeps its own."""
    folder, rng = workspace.folder, workspace.rng
    while True:
        line = rng.choice(list(WRITES))
        _prepare(workspace, line)
        if not all((folder / name).exists() for name in WRITES[line]):
            run(split(line), folder)
        mine = [folder / name for name in (*WRITES[line], "m")]
        kept = [*mine, *(folder / "m").rglob("*")]
        modes = {}
        for path in kept:
            modes[path] = rng.choice((0o700, 0o750, 0o755) if path.is_dir() else (0o600, 0o640))
            path.chmod(modes[path])
        end = run(split(line), folder)
        lost = [p.name for p in kept if p.exists() and p.stat().st_mode & 0o777 != modes[p]]
        fault = find_fault(end) or ("lost" if end.code or lost else "")
        yield f"private: {line} {lost}", fault, end


def _prepare(workspace: Workspace, line: str) -> None:
    """Have a sound model; one without checksums where they are to be added."""
    model = workspace.fresh()
    if "--add" in line:
        description = json.loads((model / "model.json").read_text())
        del description["contents"], description["generation"]
        (model / "model.json").write_text(json.dumps(description))


def _is_whole(folder: Path, names: list[str], whole: dict[str, bytes]) -> bool:
    """Tell whether files are as they were, or wait to be moved by the next run."""
    waiting = names and (folder / f".{names[0]}.ctxembed-ready").exists()
    return bool(waiting) or all((folder / name).read_bytes() == whole[name] for name in names)


def _kill(line: str, folder: Path, steps: int, seconds: float | None = None) -> bool:
    """Run a command; kill it after so many openings, renames and the like, or when it is time."""
    process = os.fork()
    if process == 0:
        done = 0

        def count(event: str, _: object) -> None:
            nonlocal done
            if event.partition(".")[0] in ("open", "os", "shutil", "mmap"):
                done += 1
                if done == steps + 1:  # once: to kill is an event too
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            os.setpgrp()
            null = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(null, number)
            os.chdir(folder)
            sys.argv = ["ctxembed", *split(line)]
            sys.stdout, sys.stderr = open(1, "w", closefd=False), open(2, "w", closefd=False)
            sys.addaudithook(count)
            main()
        except SystemExit:
            if steps == sys.maxsize:
                (folder / ".steps").write_text(str(done))
        finally:
            os._exit(1)
    begun = time.monotonic()
    while not (ended := os.waitpid(process, os.WNOHANG))[0]:
        if seconds is not None and time.monotonic() - begun > seconds:
            os.kill(process, signal.SIGKILL)
            ended = os.waitpid(process, 0)
            break
        time.sleep(0.001)
    return os.WIFSIGNALED(ended[1])
