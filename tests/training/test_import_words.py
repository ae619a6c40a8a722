"""Words that no list of words can hold are left out; a good model is never lost for them."""

from pathlib import Path

import numpy as np
import pytest

from ctxembed.model.model import Model
from ctxembed.text.lines import read_lines
from ctxembed.training.import_ import import_
from tests.conftest import Run, write_tiny

GOOD = ["apple", "naïve", "می\u200cخواهم", "new york", "a\u00adb", "\U0001f600", "x\u00a0y"]
BAD = [
    "",
    " ",
    "\u3000",
    "a\rb",
    "\r",
    "a\nb",
    "a\u2028b",
    "\x85",
    "\x1b[31m",
    "a\tb",
    "\x7f",
    "\0",
]


def write_array(folder: Path, words: list[str]) -> str:
    """Write words and vectors as gensim's KeyedVectors, which may hold any string."""
    import pickle

    from gensim.models import KeyedVectors

    vectors = KeyedVectors(2)
    vectors.add_vectors(words, np.arange(2 * len(words), dtype=np.float32).reshape(-1, 2))
    with (folder / "v.kv").open("wb") as file:
        pickle.dump(vectors, file)
    return str(folder / "v.kv")


def test_odd_words_are_left_out_and_counted(tmp_path: Path) -> None:
    words = [word for pair in zip(GOOD, BAD, strict=False) for word in pair] + BAD[len(GOOD) :]
    table = import_(write_array(tmp_path, words), tmp_path / "m")
    assert ("unusable", len(BAD)) in table.rows
    model = Model.open(tmp_path / "m")
    assert model.vocabulary.words == GOOD
    assert model.vectors[:, 0].tolist() == [2 * words.index(word) for word in GOOD]


@pytest.mark.parametrize("text", ["2 2\na\rb 1 2\nc 3 4\n", "a\x1eb 1 2\nc 3 4\n"])
def test_a_carriage_return_in_a_word(text: str, run: Run, tmp_path: Path) -> None:
    write_tiny(tmp_path / "m")
    (tmp_path / "v.txt").write_bytes(text.encode())
    done = run("import", "v.txt", "-o", "m", "--force")
    assert done.returncode == 0
    assert "unusable\t1\n" in done.stdout
    assert run("show", "--vector", "c", "-m", "m").stdout == "word\td1\td2\nc\t3.000000\t4.000000\n"


def test_nothing_usable_leaves_the_earlier_model(run: Run, tmp_path: Path) -> None:
    write_tiny(tmp_path / "m")
    (tmp_path / "v.txt").write_bytes(b"1 2\na\rb 1 2\n")
    assert run("import", "v.txt", "-o", "m", "--force").returncode == 3
    assert run("show", "--vector", "apple", "-m", "m").returncode == 0


def test_a_list_of_words_ends_lines_only_at_line_feeds(tmp_path: Path) -> None:
    (tmp_path / "words").write_bytes("a\rb\nc\u2028d\x85\n\r\n".encode())
    assert read_lines(tmp_path / "words") == ["a\rb", "c\u2028d\x85", "\r"]
