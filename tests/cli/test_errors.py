"""Errors: the message, the exit code, and no traceback."""

import bz2
import gzip
import json
import lzma
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import CorpusError, CtxembedError, ModelError
from ctxembed.model.model import Model
from ctxembed.storage.atomic import atomic_directory
from ctxembed.text.streams import open_bytes
from tests.conftest import ROOT, Run, mentions

PROSE = "An apple a day keeps the doctor away. Apple makes great phones.\n" * 20


def said(done: "subprocess.CompletedProcess[str]", code: int, message: str) -> None:
    assert (done.returncode, done.stdout, done.stderr) == (code, "", message)


CORPORA = {
    "missing": ("no.txt", None, "no.txt: no such file or folder"),
    "empty": ("c.txt", b"", "c.txt: contains no words"),
    "blank": ("c.txt", b" \n\n", "c.txt: contains no words"),
    "binary": ("c.txt", b"abc\nd\0ef" * 9, "c.txt: line 2: a NUL character; this looks like"
        " a binary file (for UTF-16 text give --encoding utf-16)"),
    "undecodable binary": ("c.txt", b"\xff\x00\xfe" * 9,
        "c.txt: looks like a binary file; give text, or the right --encoding"),
    "wrong encoding": ("c.txt", b"tea\ncaf\xe9 au lait\n", "c.txt: line 2: byte 0xe9 is not utf-8;"
        " give the right --encoding (such as latin-1), or --errors replace to go on"),
    "cut gzip": ("c.gz", gzip.compress(os.urandom(999))[:500], "c.gz: cannot be read: Compressed"
        " file ended before the end-of-stream marker was reached"),
    "no gzip": ("c.gz", b"plain text", "c.gz: cannot be read: Not a gzipped file (b'pl')"),
    "no bzip2": ("c.bz2", b"plain text", "c.bz2: cannot be read: Invalid data stream"),
    "no xz": ("c.xz", b"plain text", "c.xz: damaged: Input format not supported by decoder"),
    "scheme": ("gopher://x", None,
        "gopher://x: unknown URL scheme; use http, https, s3 or gs"),
}  # fmt: skip


@pytest.mark.parametrize("kind", CORPORA)
def test_a_corpus_that_cannot_be_used(kind: str, run: Run, tmp_path: Path) -> None:
    name, content, message = CORPORA[kind]
    if content is not None:
        (tmp_path / name).write_bytes(content)
    said(run("train", name), 5, f"ctxembed: {message}\n")
    assert not [item for item in tmp_path.iterdir() if item.name != name]


def test_the_engine_is_compiled_only_for_a_text_with_words(spawn: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_bytes(b"")
    cache = {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = spawn("train", "c.txt", env=cache)
    said(done, 5, "ctxembed: c.txt: contains no words\n")


def test_a_damaged_zstandard_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.zst").write_bytes(b"plain text")
    done = run("train", "c.zst")
    assert done.returncode == 5
    assert done.stderr.startswith("ctxembed: c.zst: damaged: ")


def test_the_middle_of_a_packed_file_is_damaged(run: Run, tmp_path: Path) -> None:
    for name, pack in (("c.gz", gzip.compress), ("c.bz2", bz2.compress), ("c.xz", lzma.compress)):
        data = bytearray(pack(os.urandom(20_000).hex().encode()))
        data[5000:5050] = bytes(50)
        (tmp_path / name).write_bytes(data)
        done = run("train", name)
        assert done.returncode == 5, name
        assert done.stderr.startswith(f"ctxembed: {name}: "), name


def test_other_trouble_with_a_corpus(run: Run, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    said(run("train", "folder"), 5, "ctxembed: no text files in folder\n")
    (tmp_path / "c.txt").write_text("one two two\n")
    said(
        run("train", "c.txt", "--min-count", "9"),
        5,
        "ctxembed: no word occurs 9 times; give a lower --min-count\n",
    )
    said(
        run("train", "c.txt", "--encoding", "klingon"),
        5,
        "ctxembed: unknown encoding 'klingon'; try utf-8, latin-1 or cp1252\n",
    )
    (tmp_path / "one.txt").write_text("one one\n")
    said(
        run("train", "one.txt", "--hierarchical-softmax"),
        5,
        "ctxembed: one word makes no tree; leave --hierarchical-softmax out\n",
    )
    said(run("train", "-", stdin=""), 5, "ctxembed: -: contains no words\n")


def test_an_address_without_a_server(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise ConnectionError("Pool(x): failed: [Errno 111] Connection refused'))")

    monkeypatch.setattr("smart_open.open", refuse)
    with pytest.raises(CorpusError, match=r"^http://x/: cannot be opened: connection refused$"):
        open_bytes("http://x/")

    def lacks(*_: object, **__: object) -> None:
        raise ImportError("requests")

    monkeypatch.setattr("smart_open.open", lacks)
    with pytest.raises(CorpusError, match=r"pip install 'ctxembed\[remote\]'"):
        open_bytes("http://x/")

    def forbid(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("smart_open.open", forbid)
    with pytest.raises(CorpusError, match=r"^a\.gz: permission denied$"):
        open_bytes("a.gz")


USAGE = {
    "no command": ("nope", "no command 'nope'. ctxembed --help lists them.\n"),
    "option": ("version", "no command 'version'. Did you mean --version?\n"),
    "option first": ("-m english show apple",
        "no option '-m'. Options come after the command: ctxembed COMMAND OPTIONS.\n"
        "ctxembed: try: ctxembed --help\n"),
    "close command": ("neighbour", "no command 'neighbour'. Did you mean neighbors?\n"),
    "no argument": ("show",
        "Missing argument 'WORD...'.\nctxembed: try: ctxembed show --help\n"),
    "bad option": ("info --xyzzy",
        "no option '--xyzzy'.\nctxembed: try: ctxembed info --help\n"),
    "close option": ("info --cheek",
        "no option '--cheek'. Did you mean --check?\nctxembed: try: ctxembed info --help\n"),
    "both": ("train c.txt --negative 5 --hierarchical-softmax",
        "give --negative or --hierarchical-softmax, not both\n"),
    "axis": ("show apple --axis taste", "--axis 'taste': write NAME=WORD,WORD,...\n"),
    "axis twice": ("show apple --axis a=bank --axis a=bank", "--axis a is given twice\n"),
    "no stdin": ("show -", "nothing to do: stdin was empty\n"),
}  # fmt: skip


@pytest.mark.parametrize("kind", USAGE)
def test_wrong_usage(kind: str, run: Run) -> None:
    line, message = USAGE[kind]
    done = run(*line.split())
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"ctxembed: {message}"


UNKNOWN = {
    "show --vector appel": "'appel' is not in the vocabulary; close known words: apple",
    "neighbors zzz": "'zzz' is not in the vocabulary",
    "show xyzzy": "'xyzzy' is not in the vocabulary",
    "similarity bankk phonee": "'bankk' is not in the vocabulary; close known words: bank\n"
    "ctxembed: 'phonee' is not in the vocabulary; close known words: phone",
    "neighbors --analogy apple bank mony": "'mony' is not in the vocabulary; close known words:"
    " money",
    "show apple --axis a=rivver": "--axis a: 'rivver' is not in the vocabulary; close known words:"
    " river",
}


@pytest.mark.parametrize("line", UNKNOWN)
def test_an_unknown_word(line: str, run: Run) -> None:
    said(run(*line.split()), 4, f"ctxembed: {UNKNOWN[line]}\n")


def test_a_message_about_a_long_word_is_short(run: Run) -> None:
    done = run("neighbors", "x" * 50_000, "-m", "everyday")
    assert done.returncode == 4 and len(done.stderr) < 1100
    assert done.stderr.startswith("ctxembed: 'xxx")
    assert done.stderr.endswith("xxx' is not in the vocabulary\n")


def test_no_model(run: Run, tmp_path: Path) -> None:
    said(
        run("info", "-m", "nope"),
        3,
        "ctxembed: nope: no such model; train one with: ctxembed train CORPUS -o nope\n",
    )
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    for name in ("file", "folder"):
        said(
            run("info", "-m", name),
            3,
            f"ctxembed: {name}: not a model; give the directory that ctxembed train wrote\n",
        )


def test_a_newer_model(run: Run, tiny: Path, tmp_path: Path) -> None:
    shutil.copytree(tiny, tmp_path / "m")
    meta = json.loads((tmp_path / "m" / "model.json").read_text())
    (tmp_path / "m" / "model.json").write_text(json.dumps(meta | {"format": 99, "version": "9.1"}))
    done = run("show", "apple", "-m", "m")
    assert (done.returncode, done.stdout) == (3, "")
    assert all(text in done.stderr for text in ("9.1", "format 99", "pip install --upgrade"))


FILES = [
    "vocab.txt",
    "counts.npy",
    "vectors.npy",
    "index/ids.npy",
    "index/offsets.npy",
    "index/lines.npy",
    "index/starts.npy",
    "index/positions.npy",
    "index/rare.txt",
]


def use(path: Path) -> None:
    """Ask everything of a model."""
    model = Model.open(path)
    index = model.index
    assert index is not None
    for row in range(len(model.vocabulary)):
        positions = index.positions(row)
        assert len(positions) == model.counts[row]
        assert (index.ids[positions] == row).all()
    for number in range(len(index.offsets) - 1):
        index.words(index.sentence(number))
        index.source_of(number)
    assert model.vectors is not None
    model.output  # noqa: B018


@pytest.mark.parametrize("how", ["missing", "empty", "short", "cut in half", "noise", "longer"])
@pytest.mark.parametrize("name", FILES)
def test_a_damaged_model_names_the_file(name: str, how: str, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    shutil.copytree(tiny, path)
    use(path)
    file = path / name
    data = file.read_bytes()
    if how == "missing":
        file.unlink()
    elif how == "longer":
        if name.endswith("npy"):
            np.save(file, np.concatenate([np.load(file), np.load(file)]))
        else:
            file.write_bytes(data + b"extra")
    else:
        file.write_bytes(
            {
                "empty": b"",
                "short": data[:-1],
                "cut in half": data[: len(data) // 2],
                "noise": b"\x93\xff\xfenot what it was",
            }[how]
        )
    with pytest.raises(ModelError) as caught:
        use(path)
    assert f"{file}: " in str(caught.value) or name.startswith("index/")
    assert "train the model again" in str(caught.value)


@pytest.mark.parametrize("name", ["vectors.npy", "output.npy"])
def test_not_a_number_is_refused(name: str, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    shutil.copytree(tiny, path)
    vectors = np.load(path / "vectors.npy")
    vectors[3, 2] = np.nan
    np.save(path / name, vectors)
    with pytest.raises(
        ModelError, match=rf"{name}: damaged \(not a number\); train the model again"
    ):
        use(path)


@pytest.mark.parametrize("key", ["format", "vocabulary", "dim", "tokens", "tokenizer"])
def test_a_model_json_with_a_gap(key: str, tiny: Path, tmp_path: Path) -> None:
    path = tmp_path / "m"
    shutil.copytree(tiny, path)
    meta = json.loads((path / "model.json").read_text())
    for value in (None, "x"):
        (path / "model.json").write_text(json.dumps(meta | {key: value}))
        with pytest.raises(ModelError, match=r"model.json: damaged"):
            use(path)
    del meta[key]
    (path / "model.json").write_text(json.dumps(meta))
    with pytest.raises(ModelError, match=r"model.json: damaged"):
        use(path)
    for text in ("", "[]", "{", "null"):
        (path / "model.json").write_text(text)
        with pytest.raises(ModelError, match=r"model.json: damaged"):
            use(path)


def test_output_exists(run: Run, tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text(PROSE)
    quick = ("--epochs", "1", "--static-only")
    assert run("train", "c.txt", "-o", "m", *quick).returncode == 0
    before = {f: f.read_bytes() for f in (tmp_path / "m").rglob("*") if f.is_file()}
    said(
        run("train", "c.txt", "-o", "m"),
        2,
        f"ctxembed: {tmp_path / 'm'} exists; give --force to replace it, or another name\n",
    )
    assert before == {f: f.read_bytes() for f in (tmp_path / "m").rglob("*") if f.is_file()}
    assert run("train", "c.txt", "-o", "m", "--force", *quick).returncode == 0
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("precious")
    for name, why in (
        ("c.txt", "is not a directory; give another name"),
        ("mine", "is not a ctxembed model; it will not be replaced"),
    ):
        said(
            run("train", "c.txt", "-o", name, "--force"), 2, f"ctxembed: {tmp_path / name} {why}\n"
        )
    said(
        run("train", "c.txt", "-o", "no/m"), 2, f"ctxembed: {tmp_path / 'no'}: no such directory\n"
    )
    assert (tmp_path / "mine" / "thesis.txt").read_text() == "precious"


@pytest.mark.parametrize(
    "error", [OSError(28, "No space left on device"), OSError("640 requested and 12 written")]
)
def test_disk_full(error: OSError, tmp_path: Path) -> None:
    (tmp_path / "m").mkdir()
    with (
        pytest.raises(
            CtxembedError, match=r"^no space left on the disk that holds .*; nothing was"
        ),
        atomic_directory(tmp_path / "m", replace=True) as folder,
    ):
        (folder / "half").write_text("half")
        raise error
    assert [item.name for item in tmp_path.rglob("*")] == ["m"]


@pytest.mark.linux
def test_a_full_tmpfs(tmp_path: Path) -> None:
    """A real full disk, at several stages of training; needs the right to mount in a namespace."""
    if (
        not shutil.which("unshare")
        or subprocess.run(
            ["unshare", "-rm", "mount", "-t", "tmpfs", "x", str(tmp_path)], capture_output=True
        ).returncode
    ):
        pytest.skip("cannot mount a small tmpfs here")
    source = tmp_path.parent / "source.txt"
    source.write_text("".join(f"word{i % 5000} and more of it.\n" for i in range(60_000)))
    train = f"{sys.executable} -m ctxembed train {source} -o {tmp_path}/m --epochs 1 --dim 8 -q"
    mount = f"mount -t tmpfs -o size=$0k x {tmp_path}"
    script = f"{mount} && {train}; code=$?; ls -A {tmp_path} >&2; exit $code"
    messages = set()
    for size in (400, 1500, 2400, 3200):
        done = subprocess.run(
            ["unshare", "-rm", "sh", "-c", script, str(size)],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        messages.add(done.stderr)
        assert (done.returncode, done.stdout) == (1, ""), size
    assert messages == {
        f"ctxembed: no space left on the disk that holds {tmp_path}; nothing was changed\n"
    }


@pytest.mark.linux
def test_stdout_on_a_full_disk(tiny: Path) -> None:
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ctxembed", "show", "apple", "-m", str(tiny)],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
    assert done.returncode == 1
    assert mentions(done.stderr, "space disk")


@pytest.mark.posix
def test_a_closed_pipe_is_no_failure(tiny: Path) -> None:
    """`| head` ends quietly, however much was still to come."""
    line = (
        f"yes apple | head -50000 | {sys.executable} -m ctxembed show --vector - -m {tiny}"
        " | head -2;"
        " echo ${PIPESTATUS[2]}"
    )
    done = subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert done.stdout.endswith("\n0\n")
    assert done.stdout.startswith("word\td1")
    assert done.stderr == ""
