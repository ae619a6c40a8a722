"""The shortest use: train on a text, then ask for neighbours."""

from pathlib import Path

from tests.conftest import Run


def test_train_then_ask(run: Run, tmp_path: Path) -> None:
    (tmp_path / "corpus.txt").write_text("An apple a day.\nApple is healthy.\n" * 50)
    trained = run("train", "corpus.txt", "--epochs", "2")
    assert trained.returncode == 0
    assert "sentences\t100\n" in trained.stdout
    assert "too few" in trained.stderr
    answer = run("neighbors", "Apple", "-n", "2", "-m", "ctxembed-model")
    assert answer.returncode == 0
    assert answer.stdout.startswith("word\tneighbor\tcosine\trank\napple\t")


def test_neighbors_of_the_fixed_model(run: Run) -> None:
    assert run("neighbors", "phone", "-n", "2").stdout == (
        "word\tneighbor\tcosine\trank\nphone\tlaunched\t0.800000\t1\nphone\tthe\t0.500000\t2\n"
    )  # (0, .8, .6, 0) has length 1; (.1, .1, .1, .1) makes 60° with every axis
