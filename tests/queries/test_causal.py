"""explain --causal, the mask of a decoder: by hand, against a sentence cut short, and torch."""

import json
import math
import re
from decimal import Decimal
from typing import cast

import numpy as np
import pytest

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general, random_layer, starting_layer
from ctxembed.context.parse import parse
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.explanation.explanation import check_rows, trace_targets
from ctxembed.model.model import Model
from tests.conftest import Run, mentions

RNG = np.random.default_rng(3)
FREQUENCY = RNG.random(9) / 9
LAYERS = {
    **{kind: general(kind, 8, 3, FREQUENCY) for kind in ("textbook", "scaled", "cosine")},
    "random": random_layer(8, 2, RNG),
    "learned": starting_layer(8, RNG, RNG.random((9, 4)), RNG.random(9)),
}


@pytest.mark.parametrize("name", LAYERS)
def test_a_word_has_the_vector_of_a_sentence_that_ends_with_it(name: str) -> None:
    layer, ids = LAYERS[name], RNG.integers(0, 9, (2, 7))
    x = RNG.normal(size=(2, 7, 8))
    whole = attend(layer, x, ids, causal=True)
    for i in range(7):
        last = np.full(2, i)
        cut = attend(layer, x[:, : i + 1], ids[:, : i + 1], queries=last)
        one = attend(layer, x, ids, queries=last, causal=True)
        for attended, row in ((whole, i), (one, 0)):
            np.testing.assert_allclose(attended.output[:, row], cut.output[:, 0], atol=1e-12)
            weights = attended.weights[:, :, row]
            np.testing.assert_allclose(weights[..., : i + 1], cut.weights[:, :, 0], atol=1e-12)
            assert not weights[..., i + 1 :].any()
            seen = i > 0 or not layer.skip_self
            np.testing.assert_allclose(weights.sum(axis=-1), seen, atol=1e-12)
    if layer.skip_self:  # nothing to look at: the static vector
        np.testing.assert_allclose(whole.output[:, 0], x[:, 0])


@pytest.mark.parametrize("name", ["random", "learned"])
def test_gradients_by_finite_differences(name: str) -> None:
    layer, ids = LAYERS[name], RNG.integers(0, 9, (2, 5))
    x, d_output = RNG.normal(size=(2, 2, 5, 8))
    layer = layer.updated({k: v.astype(np.float64) for k, v in layer.parameters().items()})
    gradients = attend(layer, x, ids, causal=True).backward(d_output)
    for key in ("w_q", "w_k", "w_v", "w_o"):
        direction = RNG.normal(size=gradients[key].shape)
        ends = [
            (attend(
                layer.updated({key: layer.parameters()[key] + step * direction}),
                x, ids, causal=True,
            ).output * d_output).sum()
            for step in (1e-5, -1e-5)
        ]  # fmt: skip
        slope = (ends[0] - ends[1]) / 2e-5
        assert (gradients[key] * direction).sum() == pytest.approx(slope, rel=1e-6, abs=1e-7)


def test_padding_and_the_mask_are_both_applied() -> None:
    x = RNG.normal(size=(1, 4, 8))
    padding = np.array([[False, True, True, True]])
    weights = attend(Layer(), x, mask=padding, causal=True).weights[0, 0]
    assert not weights[0].any() and weights[1].tolist() == [0, 1, 0, 0]
    np.testing.assert_allclose(weights[1:].sum(axis=1), 1)


def test_another_sentence_is_not_masked() -> None:
    x, y = RNG.normal(size=(1, 2, 8)), RNG.normal(size=(1, 5, 8))
    plain, masked = (attend(Layer(), x, over=(y, None), causal=c) for c in (False, True))
    np.testing.assert_array_equal(plain.weights, masked.weights)


@pytest.mark.parametrize("name", ["textbook", "scaled", "random"])
def test_torch_masks_alike(name: str) -> None:
    torch = pytest.importorskip("torch")
    layer = LAYERS[name]
    x = RNG.normal(size=(1, 6, 8))
    q, k, v = (
        x[:, None] if w is None else x[:, None] @ w for w in (layer.w_q, layer.w_k, layer.w_v)
    )
    attended = torch.nn.functional.scaled_dot_product_attention(
        *map(torch.from_numpy, (q, k, v)), is_causal=True, scale=layer.scale
    ).numpy()  # (1, H, T, dv)
    output = attended[:, 0] if layer.w_o is None else (attended @ layer.w_o).sum(axis=1)
    np.testing.assert_allclose(attend(layer, x, causal=True).output, output, atol=1e-6)


# money = [1, 0, .2], bank = [.7, .7, 0], grows = [.5, 0, .5]; bank·money = .7, bank·bank = .98
OWN = 1 / (1 + math.exp(0.7 - 0.98))
BY_HAND = [1 - OWN, OWN]


def test_by_hand(run: Run) -> None:
    ask = ("explain", "money [bank] grows", "--vectors", "bank", "--causal")
    done = run(*ask, "--check", "-f", "json")
    rows = json.loads(done.stdout)
    assert [row["weight"] for row in rows[:2]] == pytest.approx(BY_HAND, abs=1e-6)
    later = rows[2]
    assert (later["token"], later["score"], later["weight"]) == ("grows", None, None)
    assert later["contribution"] == 0
    assert mentions(done.stderr, "causal decoder before checked")
    assert run(*ask, "--recipe", "--no-header").stdout == "bank\tbank = 0.43 money + 0.57 bank\n"
    first = run("explain", "[money] bank", "--vectors", "bank", "--causal", "--recipe")
    assert "money\tmoney = 1.00 money\n" in first.stdout


def test_steps_show_the_triangle(run: Run) -> None:
    ask = ("explain", "money bank grows", "--vectors", "bank", "--causal", "--steps")
    rows = json.loads(run(*ask, "-f", "json").stdout)
    values = {(r["step"], r["row"], r["column"]): r["value"] for r in rows}
    pairs = [(i, j) for i in range(1, 4) for j in range(1, 4)]
    assert all((values["sum", i, j] is None) == (j > i) for i, j in pairs)
    assert all((values["weights", i, j] == 0) == (j > i) for i, j in pairs)
    assert values["scores", 1, 3] == pytest.approx(0.6)  # scores are there before the mask
    assert [values["weights", 2, j] for j in (1, 2)] == pytest.approx(BY_HAND, abs=1e-6)
    assert [values["output", 1, j] for j in (1, 2, 3)] == pytest.approx([1, 0, 0.2])
    shown = run(*ask, "-f", "table").stdout
    assert "sum = 1 scores, without later words (3 × 3)\n" in shown
    assert "money  1.0400    -inf    -inf\nbank   0.7000  0.9800    -inf\n" in shown
    cosine = run("explain", "bank money river", "--causal", "--steps", "-f", "table").stdout
    assert re.search(r"sum_1 +bank +money +river\n[- ]+\nbank +-inf +-inf +-inf\n", cosine)


def test_the_first_word_of_an_attention_without_the_word_itself(run: Run) -> None:
    done = run("explain", "[bank] money", "--causal", "--recipe", "--no-header")
    assert done.stdout == "bank\tbank = 1.00 bank\n"
    assert mentions(done.stderr, "first keeps static")
    second = run("explain", "bank [money] river", "--causal", "--recipe", "--no-header")
    assert second.stdout == "money\tmoney = 0.70 bank + 0.30 money\n"


@pytest.mark.parametrize("name", ["textbook", "scaled", "cosine", "random"])
def test_the_rows_add_up(model: Model, name: str) -> None:
    which = ("random", "cosine") if name == "random" else ("general", name)
    chosen = cast(Attention, Representations(model).get(*which))
    for text in ("bank the river", "[bank the] river bank", "apple [juice]"):
        for encoding in ("none", "sinusoidal"):
            for item in trace_targets(chosen, parse(model, text), encoding=encoding, causal=True):
                check_rows(item.rows("each"), item)


def test_printed_weights_sum_to_1(run: Run) -> None:
    lines = run("explain", "the apple [juice] river bank", "--causal", "--no-header").stdout
    cells = [line.split("\t") for line in lines.splitlines()]
    assert sum(Decimal(cell[-2]) for cell in cells if cell[-2]) == 1
    assert [cell[2] for cell in cells if not cell[-2]] == ["juice", "river", "bank"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("bank", "--causal", "--over", "river"), "decoder --over leave --causal"),
        (("--weights", "money-bank", "--causal"), "--weights --word --recipe"),
        (("--weights", "money-bank", "--matrices"), "--weights --word --recipe"),
        (("bank", "--matrices", "--attention", "random"), "--matrices sentence --steps"),
        (("--matrices", "--causal", "--attention", "random"), "--matrices sentence --steps"),
        (("--matrices", "--recipe"), "--matrices --steps --recipe"),
        (("--matrices", "--sort", "weight"), "--sort --matrices"),
        (("--matrices", "--attention", "general"), "general no matrices"),
        (("--matrices", "--attention", "random", "--head", "9"), "--head 9 1~to~4"),
        (("--matrices", "--steps", "--attention", "random"), "sentence"),
    ],
)
def test_refusals(run: Run, arguments: tuple[str, ...], words: str) -> None:
    done = run("explain", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, words)
