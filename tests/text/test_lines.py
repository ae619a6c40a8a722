"""Text files read whole and by line, and the errors for bytes that are no text."""

import bz2
import gzip
from pathlib import Path

import pytest

from ctxembed.errors import CorpusError, ModelError
from ctxembed.text.lines import MAX_LINE, Decoding, labelled_lines, numbered_lines, read_text
from ctxembed.text.tokenizer import Tokenizer
from tests.conftest import Run

BAD = "tea\r\n\ncaf\xe9\nend".encode("latin-1")


def test_lines_are_numbered_as_an_editor_does(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes("\ufeffone\r\n\n  \ntw\u00f6\tx\n\u2028three".encode())
    expected = [(1, "one"), (4, "tw\u00f6\tx"), (5, "\u2028three")]
    assert list(numbered_lines(path)) == expected
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    assert list(numbered_lines(str(packed))) == expected


def test_invalid_utf8_is_reported_by_line_and_byte(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_bytes(BAD)
    message = f"^{path}: line 3: byte 0xe9 is not utf-8"
    with pytest.raises(CorpusError, match=message):
        list(numbered_lines(path))
    with pytest.raises(ModelError, match=message):
        read_text(path, kind=ModelError)
    assert read_text(path, "latin-1") == "tea\n\ncaf\xe9\nend"


def test_damage_is_reported_while_lines_are_read(tmp_path: Path) -> None:
    path = tmp_path / "f.bz2"
    path.write_bytes(bz2.compress(b"one\n") + b"XXX")
    with pytest.raises(CorpusError, match=f"^{path}: cannot be read: Invalid data stream"):
        list(numbered_lines(path))
    with pytest.raises(CorpusError, match=r"f\.no: no such file or directory"):
        list(numbered_lines(path.with_suffix(".no")))


def test_labelled_lines(tmp_path: Path) -> None:
    path = tmp_path / "f"
    path.write_text("half\tsentence\tlabel\n\ntest\tan [Apple] pie\t fruit \textra\n")
    (line,) = labelled_lines(path, Tokenizer())
    number, row, marked = line
    assert (number, row) == (3, {"half": "test", "sentence": "an [Apple] pie", "label": "fruit"})
    assert (marked.words, marked.targets) == (("an", "apple", "pie"), (range(1, 2),))
    for text, why in {
        "fruit an [apple]": "1 columns",
        "\tan [apple]": "no label",
        "fruit\tan apple": "no target",
        "fruit\tan [ ] apple": "no target",
        "fruit\t[an] [apple]": "2 targets",
    }.items():
        path.write_text(f"{text}\n")
        with pytest.raises(CorpusError, match=f"^{path}: line 1: {why}; write LABEL<tab>SENTENCE"):
            list(labelled_lines(path, Tokenizer()))


def test_lines_that_end_in_a_return_and_other_encodings(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    expected = [(1, "a b"), (3, "é")]
    for encoding in ("utf-8", "latin-1", "utf-16", "utf-8-sig"):
        for end in ("\r", "\n", "\r\n"):
            path.write_bytes(end.join(["a b", "", "é", ""]).encode(encoding))
            assert list(numbered_lines(path, decoding=Decoding(encoding))) == expected
    path.write_bytes(b"a\r" + b"b" * (MAX_LINE + 1))
    with pytest.raises(CorpusError, match="line 2 is longer than 1 MiB"):
        list(numbered_lines(path))
    path.write_bytes(b"a\rb\r" * MAX_LINE)
    assert sum(1 for _ in numbered_lines(path)) == 2 * MAX_LINE


def test_one_bad_byte_in_a_batch(run: Run, tmp_path: Path) -> None:
    lines = b"the [bank] of a river\nan \xe9 [apple] pie\nan [apple] pie\n"
    (tmp_path / "a.txt").write_bytes(lines)
    text = lines.decode("utf-8", "surrogateescape")
    for line in ("compare -", "explain -", "substitutes -", "ablate -", "similarity -",
            f"contextualize {tmp_path / 'a.txt'}"):  # fmt: skip
        done = run(*line.split(), "-m", "everyday", "-f", "jsonl", stdin=text)
        assert done.returncode == 4 and "line 2: byte 0xe9 is not utf-8" in done.stderr
        assert "bank" in done.stdout and "apple" in done.stdout
        name = "--input-encoding" if "explain" in line else "--encoding"
        for options in ([name, "latin-1"], ["--errors", "replace"]):
            done = run(*line.split(), "-m", "everyday", *options, stdin=text)
            assert done.returncode == 0 and "0xe9" not in done.stderr
    done = run("neighbors", "-", "-m", "everyday", "-n", "1", stdin="apple\nn\udce9\n")
    assert done.returncode == 4 and done.stdout.splitlines()[1].startswith("apple\t")
    done = run("neighbors", "-", "-m", "everyday", stdin="n\udce9\n" * 30)
    assert done.returncode == 5 and "line 1: byte 0xe9" in done.stderr
    assert "and 9 more such lines" in done.stderr and done.stdout == ""


def test_one_bad_byte_in_a_benchmark(run: Run, tmp_path: Path) -> None:
    data, gold = tmp_path / "data", tmp_path / "gold"
    data.write_bytes(b"bank.n\t1\t1\tthe bank of a river caf\xe9\n")
    gold.write_text("bank.n 1 :: shore 2;water 1;\n")
    (tmp_path / "pairs").write_bytes(b"apple pear 8\nbank caf\xe9 2\nbank river 5\n")
    for line in (f"substitution {data} {gold}", f"similarity {tmp_path / 'pairs'}"):
        command = ("evaluate", *line.split(), "-m", "everyday")
        strict = run(*command)
        assert strict.returncode == 5 and "0xe9 is not utf-8; give the right" in strict.stderr
        for options in (["--encoding", "latin-1"], ["--errors", "replace"]):
            done = run(*command, *options)
            assert done.returncode == 0 and "static" in done.stdout
