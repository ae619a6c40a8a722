"""train --pairs: the pairs of CBOW and skip-gram, and one update: by hand, torch and train."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ctxembed
from ctxembed.static.pairs import Pair, apply_update, compute_update, draw_negatives, list_pairs
from ctxembed.training.pairs import start_vectors
from tests.conftest import Run, mentions

TEXT = "An apple a day"
RNG = np.random.default_rng(5)


def test_pairs_by_hand(run: Run) -> None:
    done = run("train", "--pairs", TEXT, "--window", "1", "-f", "json")
    rows = json.loads(done.stdout)
    assert [(r["algorithm"], r["pair"], r["input"], r["output"]) for r in rows] == [
        ("cbow", 1, "apple", "an"),
        ("cbow", 2, "an a", "apple"),
        ("cbow", 3, "apple day", "a"),
        ("cbow", 4, "a", "day"),
        ("skipgram", 5, "an", "apple"),
        ("skipgram", 6, "apple", "an"),
        ("skipgram", 7, "apple", "a"),
        ("skipgram", 8, "a", "apple"),
        ("skipgram", 9, "a", "day"),
        ("skipgram", 10, "day", "a"),
    ]
    for row in rows:
        assert len(set(row["negatives"])) == 2 and row["output"] not in row["negatives"]
    assert mentions(done.stderr, "--update N")
    assert not list(Path().glob("ctxembed-model"))


def test_a_wider_window_and_one_algorithm() -> None:
    rows = ctxembed.training_pairs(TEXT, window=2, algorithm="skipgram", negative=1).records()
    assert [(r["input"], r["output"]) for r in rows[:5]] == [
        ("an", "apple"), ("an", "a"), ("apple", "an"), ("apple", "a"), ("apple", "day"),
    ]  # fmt: skip
    assert len(rows) == 2 + 3 + 3 + 2
    cbow = ctxembed.training_pairs(TEXT, window=9, algorithm="cbow").records()
    assert [r["input"] for r in cbow] == ["apple a day", "an a day", "an apple day", "an apple a"]


def test_negatives_come_from_the_seed() -> None:
    text = "the cat sat on the mat and the dog lay by the door of the house"
    one, same, other = (
        [row["negatives"] for row in ctxembed.training_pairs(text, seed=seed).records()]
        for seed in (1, 1, 2)
    )
    assert one == same != other
    alone = ctxembed.training_pairs(text, seed=1, algorithm="skipgram").records()
    assert [row["negatives"] for row in alone] == one[-len(alone) :]


def test_negatives_are_drawn_by_counts_to_the_power_of_three_quarters() -> None:
    counts = np.array([16, 1, 81, 5])
    drawn = [draw_negatives(counts, 3, 1, RNG)[0] for _ in range(6000)]
    share = np.bincount(drawn, minlength=4) / 6000
    np.testing.assert_allclose(share, np.array([8, 1, 27, 0]) / 36, atol=0.03)
    assert draw_negatives(np.array([3]), 0, 2, RNG) == []
    note = ctxembed.training_pairs("a b", negative=5).notes[0]
    assert note == "2 different words: no more than 1 negatives"


def sigmoid(score: float) -> float:
    return 1 / (1 + math.exp(-score))


def test_one_update_of_skipgram_by_hand() -> None:
    vectors = np.array([[1.0, 2.0], [0, 0], [0, 0]])
    outputs = np.array([[0, 0], [0.5, 0.5], [-1.0, 1.0]])
    pair = Pair("skipgram", [0], 1, [2])
    step = compute_update(pair, vectors, outputs)
    right, wrong = sigmoid(1.5), sigmoid(1)  # 1·0.5 + 2·0.5, and 1·-1 + 2·1
    assert step.scores.tolist() == [1.5, 1]
    assert step.errors == pytest.approx([right - 1, wrong])
    assert step.loss == pytest.approx(-math.log(right) - math.log(1 - wrong))
    by_input = [0.5 * (right - 1) - wrong, 0.5 * (right - 1) + wrong]
    assert step.by_input == pytest.approx(by_input)
    new_vectors, new_outputs = apply_update(pair, step, vectors, outputs, 0.1)
    assert new_vectors[0] == pytest.approx([1 - 0.1 * by_input[0], 2 - 0.1 * by_input[1]])
    assert new_outputs[1] == pytest.approx([0.5 - 0.1 * (right - 1), 0.5 - 0.2 * (right - 1)])
    assert new_outputs[2] == pytest.approx([-1 - 0.1 * wrong, 1 - 0.2 * wrong])
    assert (new_vectors[1:] == vectors[1:]).all() and (new_outputs[0] == outputs[0]).all()
    assert compute_update(pair, new_vectors, new_outputs).loss < step.loss


def test_one_update_of_cbow_by_hand() -> None:
    vectors = np.array([[1.0, 0.0], [0.0, 2.0], [9, 9]])
    outputs = np.array([[9, 9], [9, 9], [2.0, -1.0]])
    pair = Pair("cbow", [0, 1, 0, 1], 2, [])
    step = compute_update(pair, vectors, outputs)
    assert step.x.tolist() == [0.5, 1]
    assert step.scores.tolist() == [0]  # so that the sigmoid is a half, the error -0.5
    assert step.by_input.tolist() == [-1, 0.5]
    assert step.by_outputs.tolist() == [[-0.25, -0.5]]
    new_vectors, new_outputs = apply_update(pair, step, vectors, outputs, 0.1)
    # Each word is there twice, and gets the whole gradient twice.
    assert new_vectors.tolist() == pytest.approx(np.array([[1.2, -0.1], [0.2, 1.9], [9, 9]]))
    assert new_outputs[2] == pytest.approx([2.025, -0.95])


@pytest.mark.parametrize("algorithm", ["cbow", "skipgram"])
def test_torch_has_the_same_gradients(algorithm: str) -> None:
    torch = pytest.importorskip("torch")
    start = RNG.normal(size=(2, 6, 5))
    for pair in list_pairs([0, 1, 2, 3, 1, 4, 5], algorithm, 2, 3, RNG):
        step = compute_update(pair, *start)
        vectors, outputs = (torch.tensor(x, requires_grad=True) for x in start)
        x = vectors[list(pair.inputs)].mean(dim=0)
        x.retain_grad()
        chosen = [pair.output, *pair.negatives]
        labels = torch.tensor([1.0] + [0.0] * len(pair.negatives), dtype=torch.float64)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(
            outputs[chosen] @ x, labels, reduction="sum"
        )
        loss.backward()
        assert step.loss == pytest.approx(loss.item())
        np.testing.assert_allclose(step.by_input, x.grad.numpy(), atol=1e-12)
        np.testing.assert_allclose(step.by_outputs, outputs.grad.numpy()[chosen], atol=1e-12)


@pytest.mark.parametrize("skipgram", [True, False])
def test_the_engine_makes_the_same_update(skipgram: bool) -> None:
    """Two words and a negative that is always the third: train's own loop, two pairs."""
    kernel = pytest.importorskip("ctxembed.static.kernel", exc_type=ImportError)
    start = RNG.normal(size=(2, 3, kernel.LANES)).astype(np.float32)
    vectors, outputs = start.copy()
    always = np.zeros(3, np.uint32), np.full(3, 2, np.int32)  # the alias table: never its own word
    kernel.train(
        np.array([0, 1], np.int32), np.array([0, 2], np.int64),
        np.full(3, 2**32 - 1, np.uint32), *always, vectors, outputs,
        np.ones(1, np.uint64), np.zeros(2, np.int64),
        skipgram=skipgram, window=1, negative=1, rate=0.1, slope=0.0,
    )  # fmt: skip
    mine = start.astype(np.float64)
    for center, context in ((0, 1), (1, 0)):
        pair = Pair("skipgram" if skipgram else "cbow", [context], center, [2])
        mine = np.array(apply_update(pair, compute_update(pair, *mine), mine[0], mine[1], 0.1))
    np.testing.assert_allclose([vectors, outputs], mine, atol=1e-5)


def read_update(run: Run, *arguments: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(run("train", *arguments, "-f", "json").stdout)
    return rows


@pytest.mark.parametrize("number", [2, 6])
def test_the_printed_update_adds_up(run: Run, number: int) -> None:
    ask = ("--pairs", TEXT, "--update", str(number), "--rate", "0.5", "--dim", "3")
    rows = read_update(run, *ask)
    pair = ctxembed.training_pairs(TEXT).records()[number - 1]
    outputs = [row for row in rows if row["vector"] == "output"]
    assert [row["word"] for row in outputs] == [pair["output"], *pair["negatives"]]
    assert [row["label"] for row in outputs] == [1, 0, 0]
    inputs = [row for row in rows if row["vector"] == "input"]
    assert " ".join(row["word"] for row in inputs) == pair["input"]
    means = [row for row in rows if row["vector"] == "mean"]
    assert len(means) == (pair["algorithm"] == "cbow")
    x = np.mean([row["before"] for row in inputs], axis=0)
    for row in outputs:
        assert row["score"] == pytest.approx(x @ row["before"])
        assert row["sigmoid"] == pytest.approx(sigmoid(row["score"]))
        assert row["error"] == pytest.approx(row["sigmoid"] - row["label"])
        assert row["gradient"] == pytest.approx(row["error"] * x)
    by_input = sum(row["error"] * np.array(row["before"]) for row in outputs)
    for row in [*inputs, *means]:
        assert row["gradient"] == pytest.approx(by_input)
    for row in rows:
        assert row["after"] == pytest.approx(
            np.subtract(row["before"], 0.5 * np.array(row["gradient"]))
        )


def test_vectors_have_one_digit_and_come_from_the_seed() -> None:
    vectors, outputs = start_vectors(7, 3, 4)
    assert vectors.shape == outputs.shape == (7, 3)
    assert (np.round(vectors, 1) == vectors).all() and abs(outputs).max() <= 0.9
    assert (start_vectors(7, 3, 4)[1] == outputs).all()
    assert (start_vectors(7, 3, 5)[1] != outputs).any()


def test_an_update_on_a_page(run: Run) -> None:
    done = run("train", "--pairs", TEXT, "--update", "2", "-f", "table", env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines()[2:])) <= 83
    assert "error = sigmoid - label\n\nword   label    score  sigmoid    error\n" in done.stdout
    assert "after = before - 0.025 gradient\n\nvector  word " in done.stdout
    assert mentions(done.stderr, "loss")


def test_pictures_and_files(run: Run, tmp_path: Path) -> None:
    run("train", "--pairs", TEXT, "-o", "pairs.svg")
    assert "skipgram" in (tmp_path / "pairs.svg").read_text()
    run("train", "--pairs", TEXT, "--update", "1", "-o", "update.svg")
    drawn = (tmp_path / "update.svg").read_text()
    assert "number 2" in drawn and "each number moves by -0.025 times it" in drawn
    run("train", "--pairs", TEXT, "-o", "pairs.tsv")
    assert (tmp_path / "pairs.tsv").read_text() == run("train", "--pairs", TEXT).stdout
    assert run("train", "--pairs", TEXT, "-o", "-").stdout == run("train", "--pairs", TEXT).stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((), "corpus train~corpus.txt"),
        (("--pairs", "apple"), "2~to~200 1"),
        (("--pairs", "?!"), "2~to~200 0"),
        (("--pairs", "a b " * 101), "2~to~200 202"),
        (("--pairs", TEXT, "corpus.txt"), "--pairs corpus"),
        (("--pairs", TEXT, "--epochs", "3"), "--pairs --epochs"),
        (("--pairs", TEXT, "--update", "15"), "--update~15 1~to~14"),
        (("--pairs", TEXT, "-o", "x.npz"), "x.npz arrays"),
        (("--update", "1", "corpus.txt"), "--update --pairs"),
        (("corpus.txt", "-f", "svg"), "picture --pairs"),
    ],
)
def test_refusals(run: Run, arguments: tuple[str, ...], words: str) -> None:
    done = run("train", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, words)
