"""An encoder as a representation, its layers and rollout: exact identities, and the commands."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.attend import attend
from ctxembed.attention.encoder import Encoder, Targets, encode, random_encoder
from ctxembed.context.networks import OWN_SHARE, Together
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from tests.conftest import Run

SENTENCE = "the sweet [apple] juice"
TARGET = Targets(np.array([0]), np.array([2]), np.array([True]))


@pytest.fixture
def encoder() -> Encoder:
    """Return an encoder of two layers with biases that are not zero."""
    rng = np.random.default_rng(3)
    start = random_encoder(4, 2, rng, width=8, heads=2, reach=2)
    noisy = {k: v + 0.2 * rng.normal(size=v.shape) for k, v in start.parameters().items()}
    return start.updated({k: v.astype(np.float32) for k, v in noisy.items()})


@pytest.fixture
def folder(tiny: Path, tmp_path: Path, encoder: Encoder) -> Path:
    """Return a copy of the small model with the encoder."""
    model = Model.open(shutil.copytree(tiny, tmp_path / "m"))
    save_attention(model, "encoder", Saved(encoder, inputs="raw"))
    return model.path


def look_up(folder: Path) -> Floats:
    """Return (1, 4, d) the vectors of the sentence."""
    model = Model.open(folder)
    ids = [model.vocabulary.row(word) for word in ("the", "sweet", "apple", "juice")]
    return np.asarray(model.vectors[np.array(ids)], np.float64)[None]


def explain(run: Run, *options: str, sentence: str = SENTENCE) -> list[dict[str, Any]]:
    done = run("explain", sentence, "--attention", "encoder", "-m", "m", "-f", "json", *options)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_the_layer_of_a_block_gives_its_weights_and_what_it_adds(encoder: Encoder) -> None:
    x = unit(np.random.default_rng(1).normal(size=(1, 4, 4)))
    result = encode(encoder, x, np.ones((1, 4), bool), TARGET)
    before = result.steps[0].output
    for number, (block, step) in enumerate(zip(encoder.blocks, result.steps, strict=True)):
        inputs = np.concatenate([step.y, np.ones((1, 4, 1))], axis=2)
        attended = attend(block.as_layer(), inputs, np.zeros((1, 4), np.int32))
        np.testing.assert_allclose(attended.weights, step.weights, atol=1e-12)
        mixed = step.mixed if number == 0 else step.mixed[None]
        added = attended.output[0, :, :8] if number == 0 else attended.output[:, 2, :8]
        np.testing.assert_allclose(added, (mixed @ block.w_o + block.b[3])[0], atol=1e-6)
    # The whole output, from what the last layer adds.
    middle = before[0, 2] + attended.output[0, 2, :8]
    block, last = encoder.blocks[1], result.steps[1]
    z = (middle - middle.mean()) / np.sqrt(middle.var() + 1e-5) * block.norm2[0] + block.norm2[1]
    inner = np.maximum(z @ block.w_1 + block.b_1, 0)
    np.testing.assert_allclose(last.output[0], middle + inner @ block.w_2 + block.b_2, atol=1e-6)


def test_rollout_is_the_product_of_the_weights_with_residual(encoder: Encoder) -> None:
    x = unit(np.random.default_rng(1).normal(size=(1, 4, 4)))
    result = encode(encoder, x, np.ones((1, 4), bool), TARGET)
    first, second = (0.5 * (step.weights[0].mean(0) + np.eye(4)) for step in result.steps)
    (seen,) = result.rollout()
    np.testing.assert_allclose(seen, (second @ first)[2])
    assert seen.sum() == pytest.approx(1)


def test_explain_shows_what_the_target_saw_in_the_end(
    folder: Path, encoder: Encoder, run: Run
) -> None:
    rows = explain(run)
    assert [row["token"] for row in rows] == ["the", "sweet", "apple", "juice"]
    assert {row["head"] for row in rows} == {"rollout"}
    (seen,) = encode(encoder, look_up(folder), np.ones((1, 4), bool), TARGET).rollout()
    np.testing.assert_allclose([row["weight"] for row in rows], seen, atol=1e-6)
    (best,) = explain(run, "--sort", "weight", "--top", "1")
    assert best["weight"] == max(row["weight"] for row in rows)
    (recipe,) = explain(run, "--recipe")
    parts = [float(word) for word in recipe["recipe"].split() if word[0] == "0"]
    assert sum(parts) == pytest.approx(1)


@pytest.mark.parametrize("layer", [1, 2])
def test_explain_traces_any_layer_and_head(
    layer: int, folder: Path, encoder: Encoder, run: Run
) -> None:
    result = encode(encoder, look_up(folder), np.ones((1, 4), bool), TARGET)
    step = result.steps[layer - 1]
    each = explain(run, "--layer", str(layer), "--head", "each", "--check")
    for head in (1, 2):
        rows = explain(run, "--layer", str(layer), "--head", str(head))
        assert rows == [row for row in each if row["head"] == str(head)]
        q, k = step.q[0, head - 1, 2], step.k[0, head - 1]
        np.testing.assert_allclose([row["score"] for row in rows], k @ q, atol=1e-6)
        sums = [r["score"] * r["scale"] + r["distance"] for r in rows]
        np.testing.assert_allclose([row["sum"] for row in rows], sums, atol=1e-9)
        weights = np.exp(sums) / np.exp(sums).sum()
        np.testing.assert_allclose([row["weight"] for row in rows], weights, atol=1e-9)
        np.testing.assert_allclose(step.weights[0, head - 1, 2], weights, atol=1e-6)
    assert sum(row["contribution"] for row in each) == pytest.approx(1)
    mean = explain(run, "--layer", str(layer))
    assert sum(row["weight"] for row in mean) == pytest.approx(1)


def test_the_matrices_of_a_layer_hold_its_biases(folder: Path, encoder: Encoder, run: Run) -> None:
    options = ("--attention", "encoder", "--layer", "2", "--head", "1", "-m", "m", "-f", "json")
    done = run("explain", "--matrices", *options)
    rows = json.loads(done.stdout)
    w_q = np.array([row["value"] for row in rows if row["step"] == "W_Q"]).reshape(9, 4)
    np.testing.assert_allclose(w_q[:-1], encoder.blocks[1].w_q[:, :4], atol=1e-6)
    np.testing.assert_allclose(w_q[-1], encoder.blocks[1].b[0, :4], atol=1e-6)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--head", "2"), "choose one of 2 layers"),
        (("--layer", "3"), "layers 1 to 2"),
        (("--layer", "1", "--head", "3"), "heads 1 to 2"),
        (("--steps",), "are of attention"),
        (("--causal",), "are of attention"),
        (("--over", "the bank"), "are of attention"),
    ],
)
def test_what_an_encoder_does_not_have_is_refused(
    options: tuple[str, ...], message: str, folder: Path, run: Run
) -> None:
    done = run("explain", SENTENCE, "--attention", "encoder", "-m", "m", *options)
    assert done.returncode == 2 and message in done.stderr


def test_a_layer_number_is_of_an_encoder_only(folder: Path, run: Run) -> None:
    done = run("explain", SENTENCE, "--layer", "1", "-m", "m")
    assert done.returncode == 2 and "--layer is of an encoder" in done.stderr


def test_an_encoder_is_a_row_everywhere(folder: Path, encoder: Encoder, run: Run) -> None:
    done = run("compare", SENTENCE, "-m", "m", "-f", "json")
    rows = {row["representation"]: row for row in json.loads(done.stdout)}
    assert list(rows) == ["static", "bag", "general", "encoder"]
    options = ("--attention", "encoder", "-m", "m", "-f", "json")
    done = run("contextualize", "-", *options, stdin=SENTENCE)
    (row,) = json.loads(done.stdout)
    output = encode(encoder, look_up(folder), np.ones((1, 4), bool), TARGET).output[0]
    np.testing.assert_allclose(list(row["vector"]), output, atol=1e-5)
    ladder = run("ladder", "apple", "juice", "-m", "m", "-f", "tsv").stdout
    assert "\nencoder\t" in ladder


def test_learned_and_encoder_answer_together(tiny: Path, folder: Path, run: Run) -> None:
    from ctxembed.attention.presets import general

    model = Model.open(folder)
    save_attention(model, "learned", Saved(general("cosine", 4), inputs="raw"))
    representations = Representations.of(Model.open(folder))
    assert representations.names()[-1] == representations.answer() == "together"
    assert representations.default() == "learned"
    items = parse(representations.model, SENTENCE).occurrences
    both = representations.get("together")
    assert isinstance(both, Together)
    one, other = (representations.get(n).vectors(items) for n in ("learned", "encoder"))
    np.testing.assert_allclose(both.vectors(items), OWN_SHARE * unit(one) + unit(other), atol=1e-6)
    traces = representations.get("learned").run(items).traces
    np.testing.assert_array_equal(both.run(items).traces[0].weights, traces[0].weights)
    rows = json.loads(run("compare", SENTENCE, "-m", "m", "-f", "json").stdout)
    assert rows[-1]["representation"] == "together" and rows[-1]["because"]
    done = run("explain", SENTENCE, "-m", "m")
    assert done.returncode == 0 and "learned attention is one part of the answer" in done.stderr
    done = run("explain", SENTENCE, "--attention", "together", "-m", "m")
    assert done.returncode == 2 and "it joins learned and encoder" in done.stderr


def test_far_words_are_not_read(folder: Path, run: Run) -> None:
    near = "sweet " * 100
    lines = "".join(f"{far} {near}[apple]\n" for far in ("juice", "bank"))
    done = run("contextualize", "-", "--attention", "encoder", "-m", "m", stdin=lines)
    _, one, other = (line.split("\t")[-4:] for line in done.stdout.splitlines())
    assert one == other
    rows = explain(run, sentence=f"juice {near}[apple]")
    assert len(rows) == 101 and sum(row["weight"] for row in rows) == pytest.approx(1)
