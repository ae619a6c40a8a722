"""Runs that write the same model at the same moment, in one PID namespace or in two."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctxembed.attention.presets import general
from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import FILE, SavedSenses, open_senses, save_senses
from ctxembed.queries.info import check
from ctxembed.storage import locks
from ctxembed.storage.atomic import atomic_directory, atomic_file, atomic_pair
from ctxembed.storage.manifest import list_contents
from ctxembed.training.index_ import index
from ctxembed.training.shrink import shrink
from tests.conftest import ROOT, TEXT, Run, write_tiny

# Wait in the first fsync until a file "go" is there, and write a file "waits": a slow disk.
# Write another file when the lock of the model is wanted.
SLOW = """
import fcntl, os, time
from ctxembed.cli.main import run
real = os.fsync
def fsync(number):
    if not os.path.exists("waits"):
        open("waits", "w").close()
        while not os.path.exists("go"):
            time.sleep(0.01)
    real(number)
os.fsync = fsync
lock = fcntl.flock
def flock(number, kind):
    if os.path.realpath(f"/proc/self/fd/{number}") == os.path.abspath("m"):
        open(os.environ.get("NAME", "") + "-locks", "w").close()
    lock(number, kind)
fcntl.flock = flock
run()
"""
TRAIN = ("train", "c.txt", "-o", "m", "--force", "--lines", "--min-count", "1", "--dim", "4",
         "--epochs", "1", "--workers", "1", "--static-only", "-q")  # fmt: skip
UNSHARE = ("unshare", "--pid", "--fork")  # as a container: the first process has the number 1


def start(folder: Path, *line: str, before: tuple[str, ...] = ()) -> "subprocess.Popen[bytes]":
    return subprocess.Popen(
        [*before, sys.executable, *line],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def wait_for(path: Path, process: "subprocess.Popen[bytes] | None" = None) -> None:
    """Wait for a file, or for the end of a process."""
    until = time.monotonic() + 120
    while not path.exists() and (process is None or process.poll() is None):
        assert time.monotonic() < until
        time.sleep(0.01)


def senses_of(model: Model, word: str) -> SavedSenses:
    rows = np.eye(2, model.dim, dtype=np.float32)
    return SavedSenses(word, "general", [3, 2], rows, rows, [0.0, 0.0], [[], []], [[], []], {})


def other_model(target: Path) -> None:
    """Replace a model by one of the same words over another text."""
    with atomic_directory(target, replace=True) as work:
        write_tiny(work, TEXT * 2)


WRITERS: dict[str, Callable[[Model], object]] = {
    "senses": lambda model: save_senses(model, senses_of(model, "bank")),
    "learn": lambda model: save_attention(model, "learned", Saved(general("cosine", 4))),
    "index": lambda model: index(model, ROOT / "tests/conftest.py", model.path, force=True),
    "shrink": lambda model: shrink(model, model.path, force=True),
}


@pytest.mark.linux
@pytest.mark.parametrize("name", WRITERS)
def test_a_model_replaced_while_waiting_is_not_changed(
    name: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model is replaced after every check that is not made inside the lock."""
    import fcntl

    path = shutil.copytree(tiny, tmp_path / "m")
    list_contents(path)
    model, real, real_sync = Model.open(path), fcntl.flock, os.fsync
    replaced: list[bytes] = []

    def replace_once() -> None:
        if not replaced:
            replaced.append(b"")
            other_model(path)
            replaced[0] = (path / "model.json").read_bytes()

    def flock(number: int, kind: int) -> None:
        if os.readlink(f"/proc/self/fd/{number}") == str(path) and kind & fcntl.LOCK_EX:
            replace_once()
        real(number, kind)

    def fsync(number: int) -> None:
        replace_once()
        real_sync(number)

    if name in ("index", "shrink"):  # the lock is taken at the end, and for any output
        monkeypatch.setattr(os, "fsync", fsync)
    else:
        monkeypatch.setattr(fcntl, "flock", flock)
    with pytest.raises(ModelError, match="replaced by another model meanwhile"):
        WRITERS[name](model)
    monkeypatch.undo()
    assert replaced == [(path / "model.json").read_bytes()]
    assert not list(path.rglob("*learned*")) and not (path / FILE).exists()
    assert os.listdir(tmp_path) == ["m"]
    check(path)


@pytest.mark.linux
def test_senses_behind_a_slow_run(run: Run, often: Path, tmp_path: Path) -> None:
    """The senses of a run that waited are not those of the model that is there now."""
    path = shutil.copytree(often, tmp_path / "m")
    (tmp_path / "c.txt").write_text("\n".join([*TEXT, "bank river money apple"] * 9))
    line = ("-c", SLOW, "senses", "bank", "--k", "2", "--save", "-m", "m")
    slow = start(tmp_path, *line, before=("env", "NAME=slow"))
    wait_for(tmp_path / "waits")  # it has the lock
    line = ("-c", SLOW, "senses", "apple", "--k", "2", "--save", "-m", "m")
    waiting = start(tmp_path, *line, before=("env", "NAME=waiting"))
    wait_for(tmp_path / "waiting-locks")  # it has opened the model
    train = start(tmp_path, "-c", SLOW, *TRAIN, before=("env", "NAME=train"))
    wait_for(tmp_path / "train-locks", train)
    (tmp_path / "go").touch()
    ends = [(p.communicate(timeout=200)[1], p.returncode) for p in (slow, train, waiting)]
    assert [code for _, code in ends[:2]] == [0, 0], ends
    assert run("info", "--check", "-m", "m").returncode == 0
    assert run("compare", "the [bank] money", "the river [bank]", "-m", "m").returncode == 0
    if ends[2][1]:  # else it was faster than train
        assert b"replaced by another model meanwhile; nothing was saved" in ends[2][0]
    assert not list(tmp_path.glob(".*")) and not list(path.glob(".*"))


@pytest.mark.posix
def test_checksums_are_added_to_the_model_that_was_checked(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, real = shutil.copytree(tiny, tmp_path / "m"), Model.check_unchanged

    def changed(model: Model, *arguments: Path) -> None:
        monkeypatch.undo()
        description = json.loads((path / "model.json").read_text())
        (path / "model.json").write_text(json.dumps({**description, "tokens": 9}))
        real(model, *arguments)

    monkeypatch.setattr(Model, "check_unchanged", changed)
    with pytest.raises(ModelError, match="replaced by another model meanwhile"):
        check(path, add=True)
    assert "contents" not in json.loads((path / "model.json").read_text())


@pytest.mark.linux
@pytest.mark.parametrize("before", [(), UNSHARE], ids=["here", "namespaces"])
def test_pairs_of_training(before: tuple[str, ...], tmp_path: Path) -> None:
    """Each of two runs ends with a model, though both may be process 1; no directory stays."""
    if before and subprocess.run([*before, "true"], capture_output=True).returncode:
        pytest.skip("no new PID namespace allowed here")
    (tmp_path / "c.txt").write_text("\n".join(TEXT * 3))
    slow = start(tmp_path, "-c", SLOW, *TRAIN, before=before)
    wait_for(tmp_path / "waits")
    other = start(tmp_path, "-m", "ctxembed", *TRAIN, before=before)
    assert (other.communicate(timeout=200)[1], other.returncode) == (b"", 0)
    (tmp_path / "go").touch()
    assert (slow.communicate(timeout=200)[1], slow.returncode) == (b"", 0)
    check(tmp_path / "m")
    assert not list(tmp_path.glob(".*"))


@pytest.mark.posix
def test_two_threads_save_senses(tiny: Path, tmp_path: Path) -> None:
    path, words = shutil.copytree(tiny, tmp_path / "m"), ("bank", "apple", "orange", "river")
    models = [Model.open(path) for _ in words]
    threads = [
        threading.Thread(target=save_senses, args=(model, senses_of(model, word)))
        for model, word in zip(models, words, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(open_senses(Model.open(path))) == sorted(words)


def modes(folder: Path) -> dict[str, int]:
    return {
        item.relative_to(folder).as_posix(): item.stat().st_mode & 0o777
        for item in (folder, *folder.rglob("*"))
    }


@pytest.mark.posix
@pytest.mark.parametrize("swap", [True, False])
def test_a_private_model_stays_private(
    swap: bool, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxembed.storage.atomic._exchange", lambda *_: False) if not swap else None
    (tmp_path / "c.txt").write_text("\n".join(TEXT * 15))
    assert run(*TRAIN).returncode == 0
    umask = os.umask(0o022)
    os.umask(umask)
    new = modes(tmp_path / "m")
    assert {new.pop(name) for name in (".", "index")} == {0o777 & ~umask}
    assert set(new.values()) == {0o666 & ~umask}
    for name in ("senses", "add"):
        for item in (tmp_path / "m").rglob("*"):
            item.chmod(0o700 if item.is_dir() else 0o600)
        (tmp_path / "m").chmod(0o700)
        if name == "senses":
            assert run("senses", "bank", "--k", "2", "--save", "-m", "m").returncode == 0
            (tmp_path / "m" / FILE).chmod(0o600)
            assert run("senses", "apple", "--k", "2", "--save", "-m", "m").returncode == 0
        else:
            meta = json.loads((tmp_path / "m/model.json").read_text())
            del meta["contents"], meta["generation"]
            (tmp_path / "m/model.json").write_text(json.dumps(meta))
            assert run("info", "--check", "--add", "-m", "m").returncode == 0
        assert set(modes(tmp_path / "m").values()) == {0o700, 0o600}
        assert run(*TRAIN).returncode == 0
        private = modes(tmp_path / "m")
        assert {private.pop(name) for name in (".", "index")} == {0o700}
        assert set(private.values()) == {0o600}


@pytest.mark.linux
@pytest.mark.parametrize("swap", [True, False])
def test_a_read_only_model_is_replaced(swap: bool, tiny: Path) -> None:
    """A user who may not write into a directory cannot move it to another one."""
    code = (
        "import os, platform; from pathlib import Path; from ctxembed.storage import atomic\n"
        "os.getuid() or os.setuid(65534)  # root may do everything\n"
        f"if not {swap}: atomic._exchange = lambda *_: False\n"
        "with atomic.atomic_directory(Path('m'), replace=True) as work:\n"
        "    (work / 'model.json').write_text('new')\n"
    )
    with tempfile.TemporaryDirectory() as folder:  # one that another user may enter
        path = shutil.copytree(tiny, Path(folder, "m"))
        for item in (*path.rglob("*"), path):
            item.chmod(0o500 if item.is_dir() else 0o400)
        for item in (path.parent, path, *path.rglob("*")) if not os.getuid() else ():
            os.chown(item, 65534, 65534)
        process = start(path.parent, "-c", code)
        _, err = process.communicate(timeout=200)
        assert process.returncode == 0, err
        assert (path / "model.json").read_text() == "new"
        assert os.listdir(folder) == ["m"]
        assert path.stat().st_mode & 0o777 == 0o700


@pytest.mark.posix
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o666])
def test_a_replaced_file_keeps_its_mode(mode: int, run: Run, tmp_path: Path) -> None:
    lines = {"t.tsv": "neighbors bank -o", "v.txt": "export --force", "v.npy": "export --force",
             "v.npz": "contextualize --all c.txt -o"}  # fmt: skip
    (tmp_path / "c.txt").write_text("the river bank\n")
    umask = os.umask(0o022)
    os.umask(umask)
    for name, line in lines.items():
        assert run(*line.split(), name).returncode == 0, name
        assert (tmp_path / name).stat().st_mode & 0o777 == 0o666 & ~umask
    for name in (*lines, "v.vocab.txt"):
        (tmp_path / name).chmod(mode)
    for name, line in lines.items():
        assert run(*line.split(), name).returncode == 0
    for name in (*lines, "v.vocab.txt"):
        assert (tmp_path / name).stat().st_mode & 0o777 == mode, name


@pytest.mark.parametrize("errno", [28, None])
def test_a_full_disk_is_named(errno: int | None, tmp_path: Path) -> None:
    """Numpy says only: 10 requested and 3 written."""
    error = OSError(28, "No space left") if errno else OSError("10 requested and 3 written")
    full = f"no space left on the disk that holds {tmp_path}; nothing was changed"
    one, other = tmp_path / "x.npy", tmp_path / "x.vocab.txt"
    with pytest.raises(CtxembedError, match=full), atomic_pair(one, other):
        raise error
    with pytest.raises(CtxembedError, match=full), atomic_file(one):
        raise error
    with pytest.raises(CtxembedError, match=full), atomic_directory(one, replace=False):
        raise error
    assert not os.listdir(tmp_path)


@pytest.mark.linux
def test_what_a_disk_took_in_part_is_not_kept(tmp_path: Path) -> None:
    """A limit on the size of files is the nearest to a full disk that every user may set."""
    write_tiny(tmp_path / "m")
    code = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (150, 150));"
        "from ctxembed.cli.main import run; run()"
    )
    process = start(tmp_path, "-c", code, "export", "x.npy", "-m", "m")
    _, err = process.communicate(timeout=200)
    assert process.returncode == 1 and b"no space left on the disk that holds" in err, err
    with (
        pytest.raises(CtxembedError, match="no space left on the disk that holds"),
        atomic_directory(tmp_path / "new", replace=False) as work,
    ):
        write_tiny(work)
        os.truncate(work / "vectors.npy", 150)  # numpy does not always say so
    assert os.listdir(tmp_path) == ["m"]


@pytest.mark.posix
def test_a_lock_that_is_never_released(tiny: Path, tmp_path: Path) -> None:
    """A command says that it waits in vain, and changes nothing."""
    path = shutil.copytree(tiny, tmp_path / "m")
    with pytest.MonkeyPatch.context() as patch, locks.hold(path):
        patch.setattr(locks, "MAX_WAIT", 0.1)
        with pytest.raises(CtxembedError, match="in use by another run; run this command again"):
            save_senses(Model.open(path), senses_of(Model.open(path), "bank"))
    assert not (path / FILE).exists()


@pytest.mark.parametrize("missing", ["folders", "all"])
def test_without_locks(
    missing: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where folders have no locks a file beside them is locked; where nothing has, nobody waits."""
    path, real = shutil.copytree(tiny, tmp_path / "m"), locks._try_lock

    def try_lock(number: int) -> bool:
        if missing == "all" or os.path.samestat(os.fstat(number), os.stat(path)):
            raise OSError(9, "Bad file descriptor")
        return real(number)

    monkeypatch.setattr(locks, "_try_lock", try_lock)
    model = Model.open(path)
    with locks.hold(path):
        beside = [".m.ctxembed-lock"] if missing == "folders" else []
        assert sorted(os.listdir(tmp_path)) == [*beside, "m"]
    save_senses(model, senses_of(model, "bank"))
    other_model(path)
    assert os.listdir(tmp_path) == ["m"]
