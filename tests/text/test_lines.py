"""Text files read whole and by line, and the errors for bytes that are no text."""

import bz2
import gzip
from pathlib import Path

import pytest

from ctxembed.errors import CorpusError, ModelError
from ctxembed.text.lines import labelled_lines, numbered_lines, read_text
from ctxembed.text.tokenizer import Tokenizer

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
    message = f"^{path}: line 3: byte 0xe9 is not utf-8$"
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
