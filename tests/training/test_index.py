"""Add a corpus to existing vectors: the vectors stay the same."""

from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.errors import CorpusError
from ctxembed.model.bundled import bundled_model, corpora_directory
from ctxembed.model.model import Model
from tests.conftest import Run, mentions

TEXT = "The apple fell. A zyzzyva ate the apple!\nThe zyzzyva, the quux and the bank.\n"
GLOVE = "the 1 0 0\napple 0 1 0\nbank 0 0 1\nriver 0 1 1\na 1 1 0\nate 1 0 1\n"


@pytest.fixture
def glove(tmp_path: Path) -> Path:
    """Vectors as GloVe has them, imported, and a corpus beside them."""
    (tmp_path / "glove.txt").write_text(GLOVE)
    (tmp_path / "own.txt").write_text(TEXT)
    ctxembed.import_(str(tmp_path / "glove.txt"), tmp_path / "glove")
    return tmp_path


def test_index_adds_a_corpus_to_imported_vectors(run: Run, glove: Path) -> None:
    refused = run("kwic", "apple", "-m", "glove")
    assert refused.returncode == 3
    assert mentions(refused.stderr, "ctxembed -m -o")
    done = run("index", "own.txt", "-m", "glove", "-o", "mine")
    assert done.returncode == 0, done.stderr
    # the apple fell . a zyzzyva ate the apple . the zyzzyva the quux and the bank: 15 words,
    # of which fell, zyzzyva (twice), quux and and have no vector
    assert done.stdout == (
        "property\tvalue\nsentences\t3\ntokens\t15\nknown_words\t5\nunknown_words\t4\n"
        "unknown_tokens\t5\nunknown_share\t0.333333\nvectors\t6\ndim\t3\nmodel\tmine\n"
    )
    assert mentions(done.stderr, "33.3% text 4~words 2 1")
    kwic = run("kwic", "apple", "-m", "mine", "-f", "jsonl")
    assert kwic.returncode == 0, kwic.stderr
    assert '"right": "fell. A zyzzyva ate' in kwic.stdout  # unknown words are shown
    assert 'A zyzzyva ate the", "hit": "apple"' in kwic.stdout
    shown = run("show", "apple", "-m", "mine").stdout
    assert "apple\tcount\t2\n" in shown and "[apple] fell" in shown
    assert "river\tcount\t0\n" in run("show", "river", "-m", "mine").stdout


def test_index_keeps_the_vectors(glove: Path) -> None:
    ctxembed.index(glove / "glove", glove / "own.txt", glove / "mine")
    old, new = Model.open(glove / "glove"), Model.open(glove / "mine")
    np.testing.assert_array_equal(old.vectors[:], new.vectors[:])
    np.testing.assert_array_equal(old.counts, new.seen)
    assert old.seen_tokens == new.seen_tokens
    assert new.counts.tolist() == [5, 2, 1, 0, 1, 1]
    assert [row[1:] for row in ctxembed.neighbors(new, "apple").rows] == [
        row[1:] for row in ctxembed.neighbors(old, "apple").rows
    ]


def test_english_reads_everyday(tmp_path: Path) -> None:
    text = (corpora_directory() / "everyday.txt").read_text().splitlines()[:3000]
    (tmp_path / "own.txt").write_text("\n".join(text) + "\n")
    table = ctxembed.index("english", tmp_path / "own.txt", tmp_path / "mine")
    assert dict(table.rows)["unknown_share"] < 0.02
    new, english = Model.open(tmp_path / "mine"), Model.open(bundled_model("english"))
    np.testing.assert_array_equal(new.vectors[:50], english.vectors[:50])
    assert new.attentions() == english.attentions()
    one, other = (
        ctxembed.compare(m, "the [server] crashed", number=2).records() for m in (new, english)
    )
    for mine, theirs in zip(one, other, strict=True):
        assert mine["like"]  # not the same: the dictionary has examples for english only
        assert mine["cos_static"] == pytest.approx(theirs["cos_static"], abs=1e-6)
    assert [len(row) for row in ctxembed.senses(new, "bank", k=2).rows]
    ctxembed.ambiguity(new, "bank").records()
    ctxembed.learn(new, "own", epochs=0.002)
    assert "own" in Model.open(tmp_path / "mine").attentions()


def test_index_errors(run: Run, glove: Path) -> None:
    (glove / "greek.txt").write_text("αβγ δεζ\n")
    with pytest.raises(CorpusError, match="a vector for none of its words"):
        ctxembed.index(glove / "glove", glove / "greek.txt", glove / "mine")
    assert run("index", "missing.txt", "-m", "glove", "-o", "mine").returncode == 5
    assert run("index", "own.txt", "-m", "glove", "-o", "glove").returncode == 2  # --force
    assert not (glove / "mine").exists()
