"""Going on from a model with more text: words begin where they were, new words are added."""

from pathlib import Path

import numpy as np
import pytest

from ctxembed.model.model import Model
from tests.conftest import Run, mentions

OLD = "the apple is a sweet fruit\nthe river is long and wide\n" * 40
NEW = "the apple falls on the tractor\na tractor is slow\n" * 40
FEW = ("--min-count", "1", "--workers", "1", "--static-only", "-q")


@pytest.fixture
def old(run: Run, tmp_path: Path) -> Path:
    (tmp_path / "old.txt").write_text(OLD)
    (tmp_path / "new.txt").write_text(NEW)
    done = run("train", str(tmp_path / "old.txt"), "-o", str(tmp_path / "old"), "--dim", "12", *FEW)
    assert done.returncode == 0, done.stderr
    return tmp_path / "old"


def test_words_begin_where_they_were(run: Run, old: Path, tmp_path: Path) -> None:
    target = tmp_path / "both"
    command = ("train", str(tmp_path / "new.txt"), "--from", str(old), "-o", str(target), *FEW)
    done = run(*command, "--rate", "1e-7", "--epochs", "1")
    assert done.returncode == 0, done.stderr
    before, after = Model.open(old), Model.open(target)
    assert set(after.vocabulary.words) == {
        *before.vocabulary.words,
        "falls",
        "on",
        "tractor",
        "slow",
    }
    for word in before.vocabulary.words:  # at this rate nothing moves
        np.testing.assert_allclose(after[word], before[word], atol=1e-4)
    counts = {word: int(after.counts[row]) for word, row in after.vocabulary.rows.items()}
    assert (counts["tractor"], counts["apple"], counts["river"]) == (80, 40, 0)
    seen = {word: int(after.seen[row]) for word, row in after.vocabulary.rows.items()}
    assert (seen["tractor"], seen["apple"], seen["river"]) == (80, 80, 40)
    assert after.seen_tokens == len(OLD.split()) + len(NEW.split())
    assert after.meta["continued_from"] == {"name": "old", "fingerprint": before.fingerprint}
    assert run("info", "--check", "-m", str(target)).returncode == 0
    hits = run("kwic", "tractor", "-m", str(target), "-f", "tsv").stdout
    assert hits.count("\n") == 81  # the text is the new one
    assert run("neighbors", "river", "-m", str(target)).returncode == 0


def test_words_of_the_new_text_move(run: Run, old: Path, tmp_path: Path) -> None:
    target = tmp_path / "both"
    run("train", str(tmp_path / "new.txt"), "--from", str(old), "-o", str(target), *FEW)
    before, after = Model.open(old), Model.open(target)
    np.testing.assert_array_equal(after["river"], before["river"])  # never a target in new text
    assert np.linalg.norm(after["apple"] - before["apple"]) > 1e-3
    again = tmp_path / "again"
    run("train", str(tmp_path / "new.txt"), "--from", str(old), "-o", str(again), *FEW)
    np.testing.assert_array_equal(Model.open(again).vectors, after.vectors)  # the same bytes


def test_in_place(run: Run, old: Path, tmp_path: Path) -> None:
    text = str(tmp_path / "new.txt")
    assert run("train", text, "--from", str(old), "-o", str(old), *FEW).returncode == 2
    assert run("train", text, "--from", str(old), "-o", str(old), "--force", *FEW).returncode == 0
    assert "tractor" in Model.open(old)


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--dim", "20"], 2, "--dim 20 12 dimensions"),
        (["--cased"], 2, "--cased cannot be used with --from"),
        (["--unit", "subword"], 2, "--unit cannot be used with --from"),
        (["--hierarchical-softmax"], 2, "hierarchical cannot be used with --from"),
        (["--engine", "gensim"], 2, "gensim cannot go on from a model"),
    ],
)
def test_refused(
    run: Run, old: Path, tmp_path: Path, options: list[str], code: int, message: str
) -> None:
    text, target = str(tmp_path / "new.txt"), str(tmp_path / "both")
    done = run("train", text, "--from", str(old), "-o", target, *FEW, *options)
    assert done.returncode == code and mentions(done.stderr, message), done.stderr
    assert not Path(target).exists()


def test_models_that_cannot_go_on(run: Run, old: Path, tmp_path: Path) -> None:
    text = str(tmp_path / "new.txt")
    no_outputs = run("train", text, "--from", "english", "-o", str(tmp_path / "x"), *FEW)
    assert no_outputs.returncode == 3 and mentions(no_outputs.stderr, "output vectors")
    assert run("train", text, "--from", "missing", "-o", str(tmp_path / "x"), *FEW).returncode == 3
    run("train", text, "--unit", "subword", "-o", str(tmp_path / "sub"), *FEW)
    units = run("train", text, "--from", str(tmp_path / "sub"), "-o", str(tmp_path / "x"), *FEW)
    assert units.returncode == 2 and mentions(units.stderr, "only models of words")
