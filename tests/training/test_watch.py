"""Training that is watched: the numbers of a worked example, held by torch and by hand."""

import json
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.attention.training.descent import LEARNED, Epoch, descend
from ctxembed.errors import CorpusError, CtxembedError, UsageError
from ctxembed.model.bundled import find_example
from ctxembed.static.worked_example import read_vectors, write_example
from ctxembed.training.watch import WatchTable, read_lesson, watch, with_matrices
from tests.conftest import Run

PHONE = "[Apple] launched a new phone while I was eating an orange"
DAY = "An [apple] a day keeps the doctor away"


@pytest.fixture(scope="module")
def watched() -> WatchTable:
    return watch("apple")


def test_apple_leaves_its_average_meaning(watched: WatchTable) -> None:
    """From [0.9 0.3] to fruit in one sentence, to the company in one that was not trained on."""
    first, last, sentences = watched.epochs[0], watched.epochs[-1], watched.lesson.example.sentences
    assert [text for text, wanted in sentences if wanted is None] == [PHONE]
    assert sentences[0][0] == DAY
    example = watched.lesson.inputs[4]
    assert example.x[example.target].tolist() == [0.9, 0.3]
    np.testing.assert_allclose(last.output(4), [0.3, 0.8], atol=0.05)
    np.testing.assert_allclose(last.output(0), [0.9, 0.2], atol=0.05)
    assert np.abs(first.output(4) - [0.3, 0.8]).max() > 0.5  # nothing is known before training
    assert last.loss < 0.002 < 0.5 < first.loss


@pytest.mark.parametrize("seed", [0, 2, 3, 4, 5])
def test_other_seeds_end_there_too(seed: int) -> None:
    last = watch("apple", seed=seed).epochs[-1]
    np.testing.assert_allclose(last.output(4), [0.3, 0.8], atol=0.05)
    np.testing.assert_allclose(last.output(0), [0.9, 0.2], atol=0.05)


def test_phone_and_launched_outweigh_orange(watched: WatchTable) -> None:
    weights = watched.epochs[-1].results[4].weights[0, 0, 0]
    by_word = dict(zip(watched.lesson.tokens[4], weights, strict=True))
    assert min(by_word["phone"], by_word["launched"]) > 3 * max(
        by_word["orange"], by_word["eating"]
    )


def test_every_epoch_as_in_torch(watched: WatchTable) -> None:
    """The same data and steps with automatic differentiation: loss, gradients, matrices."""
    torch = pytest.importorskip("torch")
    d = 2
    numbers = np.random.default_rng(1).normal(0, d**-0.5, (3, 1, d, d))
    w = [torch.tensor(matrix[0], dtype=torch.float64, requires_grad=True) for matrix in numbers]
    optimizer = torch.optim.SGD(w, lr=1.0)
    for epoch in watched.epochs:
        losses, outputs = [], []
        for example in watched.lesson.inputs:
            x = torch.tensor(example.x)
            q, k, v = (x @ matrix for matrix in w)
            weights = torch.softmax(q[example.target] @ k.T / d**0.5, dim=-1)
            outputs.append(weights @ v)
            if example.wanted is not None:
                losses.append(((outputs[-1] - torch.tensor(example.wanted)) ** 2).sum())
        loss = torch.stack(losses).mean()
        optimizer.zero_grad()
        loss.backward()
        for i, output in enumerate(outputs):
            np.testing.assert_allclose(epoch.output(i), output.detach().numpy(), atol=1e-6)
        assert epoch.loss == pytest.approx(loss.item(), abs=1e-6)
        for name, matrix in zip(LEARNED, w, strict=True):
            old = epoch.layer.parameters()[name][0]
            np.testing.assert_allclose(old, matrix.detach().numpy(), atol=1e-6)
            np.testing.assert_allclose(epoch.gradients[name][0], matrix.grad.numpy(), atol=1e-6)
        optimizer.step()


def test_gradients_by_finite_differences(watched: WatchTable) -> None:
    inputs, h = watched.lesson.inputs, 1e-6

    def first_loss(epoch: Epoch, name: str, at: tuple[int, ...], change: float) -> float:
        matrix = epoch.layer.parameters()[name].copy()
        matrix[at] += change
        return next(descend(epoch.layer.updated({name: matrix}), inputs, 1.0, 1)).loss

    for epoch in (watched.epochs[0], watched.epochs[100]):
        for name in LEARNED:
            for at in np.ndindex(1, 2, 2):
                rise = first_loss(epoch, name, at, h) - first_loss(epoch, name, at, -h)
                assert epoch.gradients[name][at] == pytest.approx(rise / (2 * h), abs=1e-7)


def test_bundled_examples_are_what_training_gives(watched: WatchTable) -> None:
    """Nothing is written by hand: the matrices are of the seed, and of gradient descent."""
    start = np.random.default_rng(1).normal(0, 2**-0.5, (3, 1, 2, 2))
    untrained, trained = (
        read_vectors(find_example(f"apple-{state}")) for state in ("untrained", "trained")
    )
    for i, name in enumerate(LEARNED):
        np.testing.assert_array_equal(untrained.matrices[name], start[i])
        expected = with_matrices(watched).matrices[name]
        np.testing.assert_allclose(trained.matrices[name][0], expected, atol=1e-9)
    for word, vector in zip(trained.words, trained.vectors.tolist(), strict=True):
        known = ctxembed.open_worked_example("apple")
        if word in known.vocabulary.words:  # as the notes have them
            np.testing.assert_allclose(known.vector(word), vector, atol=1e-7)


def test_table_by_epoch(run: Run) -> None:
    done = run("learn", "--watch", "--vectors", "apple", "--epochs", "2")
    head, *rows = (line.split("\t") for line in done.stdout.splitlines())
    assert [row[0] for row in rows] == ["0", "1", "2"]
    assert head[:6] == ["epoch", "loss", "w_q_11", "w_q_12", "w_q_21", "w_q_22"]
    assert head[14:16] == ["taste_1", "technology_1"]
    assert head[-1] == "weight_orange"
    weights = [float(cell) for cell in rows[0][head.index("weight_apple") :]]
    assert sum(weights) == pytest.approx(1, abs=1e-5)
    records = json.loads(run("learn", "--watch", "--epochs", "2", "-f", "json").stdout)
    assert len(records[2]["w_v"]) == 4 and len(records[2]["vector_5"]) == 2


def test_steps_follow_from_each_other(run: Run) -> None:
    """Every printed number can be computed from those above it."""
    done = run("learn", "--watch", "--show", "0,last", "--sentence", "4", "-f", "json")
    steps: dict[tuple[int, str], list[list[float]]] = {}
    for row in json.loads(done.stdout):
        block = steps.setdefault((row["epoch"], row["step"]), [])
        if row["column"] == 1:
            block.append([])
        block[-1].append(row["value"])
    assert {epoch for epoch, _ in steps} == {0, 400}
    for epoch in (0, 400):
        of = {name: np.array(block) for (number, name), block in steps.items() if number == epoch}
        for role in "qkv":
            np.testing.assert_allclose(of[role], of["x"] @ of[f"w_{role}"], atol=1e-12)
        np.testing.assert_allclose(of["score"][:, 0], of["k"] @ of["q"][0], atol=1e-12)
        np.testing.assert_allclose(of["scaled"], of["score"] / np.sqrt(2), atol=1e-12)
        raised = np.exp(of["scaled"])
        np.testing.assert_allclose(of["weight"], raised / raised.sum(), atol=1e-12)
        np.testing.assert_allclose(of["weighted"], of["weight"] * of["v"], atol=1e-12)
        np.testing.assert_allclose(of["output"][0], of["weighted"].sum(axis=0), atol=1e-12)
        for name in LEARNED:
            moved = of[name] - 1.0 * of[f"gradient_{name}"]
            np.testing.assert_allclose(of[f"updated_{name}"], moved, atol=1e-12)


def test_page(run: Run) -> None:
    done = run("learn", "--watch", "-f", "table", "--precision", "2")
    for line in (
        f"Epoch 0, forward: {PHONE}",
        "apple     [0.90 0.30]  [0.29 0.25]   [0.46 0.41]   [0.24 0.30]",
        "phone      8.03    5.68    0.30  [-0.07 0.40]",
        "sum                        1.00  [0.30 0.78]",
        "Epoch 400, backward: loss 0.00; updated = value - 1 · gradient",
        "  400  0.00",
        "Taste of the target in each sentence by epoch",
        "400           0.87        0.91        0.92        0.30        0.30",
        "wanted        0.90        0.90        0.90        0.30",
        "400           0.23        0.21        0.16        0.80        0.78",
    ):
        assert line in done.stdout.splitlines(), done.stdout
    assert all(len(line) <= 80 and "…" not in line for line in done.stdout.splitlines())
    assert f"5. {PHONE}: [0.90 0.30] -> [0.30 0.78], not trained on" in done.stderr


def test_a_weight_reads_the_same_here_and_in_explain(run: Run) -> None:
    page = run("learn", "--watch", "-f", "table").stdout.splitlines()
    rows = run("explain", PHONE, "--vectors", "apple-trained", "-f", "table").stdout.splitlines()
    for word in ("eating", "orange", "phone"):
        explained = [line.split()[-2] for line in rows if line.startswith(word)][-1]
        forward = [line.split()[3] for line in page if line.startswith(word) and "[" in line][-1]
        by_epoch = [line.split()[-1] for line in page if line.startswith(word)][-1]
        assert explained == forward == by_epoch


def test_picture(run: Run, tmp_path: Path) -> None:
    done = run("learn", "--watch", "-f", "chart")
    assert "loss" in done.stdout and "● taste_5" in done.stdout
    assert run("learn", "--watch", "-o", "watch.svg").returncode == 0
    assert (tmp_path / "watch.svg").read_text().startswith("<svg")
    for command in (("learn", "--watch"), ("compare", PHONE, "--vectors", "apple-trained")):
        done = run(*command, "-o", "table.npz")  # several numbers a row: no file of vectors
        assert done.returncode == 0 and "Traceback" not in done.stderr


def test_trained_and_untrained_are_asked_like_any_example(run: Run) -> None:
    for name, vector in (("apple-trained", [0.30, 0.78]), ("apple-untrained", [0.09, 0.16])):
        done = run("compare", PHONE, "--vectors", name, "-f", "json")
        rows = {row["representation"]: row for row in json.loads(done.stdout)}
        assert list(rows) == ["static", "bag", "general", "given"]
        assert rows["static"]["vector"] == pytest.approx([0.9, 0.3])
        assert rows["given"]["vector"] == pytest.approx(vector, abs=0.005)
        table = run("contextualize", "-", "--vectors", name, stdin=PHONE).stdout.splitlines()
        assert [float(cell) for cell in table[1].split("\t")[-2:]] == pytest.approx(
            vector, abs=0.005
        )
    lead = run("compare", PHONE, "--vectors", "apple-trained", "-f", "table").stdout
    assert "but static says taste (" in lead and "bag says" not in lead  # [0.22 0.25], as here
    rows = json.loads(run("explain", PHONE, "--vectors", "apple-trained", "-f", "json").stdout)
    apple, phone = rows[0], rows[4]
    assert apple["q"] != apple["k"]
    assert phone["score"] == pytest.approx(np.dot(apple["q"], phone["k"]))
    assert run("explain", PHONE, "--vectors", "apple-trained", "--check").returncode == 0
    unknown = run("explain", "[apple] xyzzy", "--vectors", "apple-trained", "-f", "json").stdout
    assert json.loads(unknown)[1]["q"] == [None, None]
    assert "q1" not in run("explain", "[phone] fruit", "--vectors", "scaling").stdout


def test_save(run: Run, tmp_path: Path) -> None:
    """A toy of one's own, in three dimensions, is trained, saved and asked."""
    lesson = {
        "vectors": {"bank": [0.7, 0.7, 0], "money": [1, 0, 0.2], "river": [0, 1, 0.2]},
        "sentences": [
            {"sentence": "money [bank]", "wanted": [1, 0, 0]},
            {"sentence": "river [bank]", "wanted": [0, 1, 0]},
        ],
    }
    (tmp_path / "bank.json").write_text(json.dumps(lesson))
    done = run("learn", "--watch", "--vectors", "bank.json", "--save", "new.json", "--rate", "0.5")
    assert done.returncode == 0, done.stderr
    saved = read_vectors(tmp_path / "new.json")
    assert write_example(saved).startswith('{"vectors": {\n  "bank": [0.7, 0.7, 0.0],')
    rows = json.loads(run("compare", "money [bank]", "--vectors", "new.json", "-f", "json").stdout)
    assert rows[-1]["vector"] == pytest.approx([1, 0, 0], abs=0.1)


def test_refusals(run: Run, tmp_path: Path) -> None:
    for arguments, message in (
        (("--watch", "--vectors", "bank"), "no sentences to train on"),
        (("--watch", "--sentence", "6"), "sentences 1 to 5"),
        (("--watch", "--show", "0,x"), "give epochs from 0 to 400"),
        (("--watch", "--show", "401"), "give epochs from 0 to 400"),
        (("--watch", "--epochs", "0.5"), "a whole number with --watch"),
        (("--watch", "--heads", "2"), "--heads cannot be used with --watch"),
        (("--vectors", "apple"), "--vectors goes with --watch"),
        (("--watch", "--rate", "1000"), "lower the rate"),
        (("--watch", "--save", "no/where.json"), "--save no/where.json: no such directory"),
    ):
        done = run("learn", *arguments)
        assert done.returncode != 0 and message in done.stderr, (arguments, done.stderr)
        assert "Traceback" not in done.stderr and not done.stdout
    for sentences in ([{"sentence": "[a] [b]", "wanted": [1, 2]}], [{"wanted": [1, 2]}], [3],
                      [{"sentence": "[a]", "wanted": [1]}], "x", 3):  # fmt: skip
        text = json.dumps({"vectors": {"a": [1, 0], "b": [0, 1]}, "sentences": sentences})
        (tmp_path / "wrong.json").write_text(text)
        with pytest.raises((CorpusError, UsageError)):
            read_lesson(str(tmp_path / "wrong.json"))
    wide = {"vectors": {"a": [1] * 5}, "sentences": [{"sentence": "[a]", "wanted": [1] * 5}]}
    (tmp_path / "wide.json").write_text(json.dumps(wide))
    with pytest.raises(CtxembedError, match="at most 4 dimensions"):
        watch(str(tmp_path / "wide.json"))
