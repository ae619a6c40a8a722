"""The mathematics of attention against plain loops, torch, values by hand, and its laws."""

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import GENERAL, general, random_layer
from ctxembed.attention.scores import dot, scale_scores, softmax
from ctxembed.attention.terms import Distance, TokenPairs, WordBias, decay, sinusoidal
from ctxembed.stats.vectors import unit

Floats = NDArray[Any]
HEADS = range(1, 9)


def loop_attend(q: Floats, k: Floats, v: Floats, scale: float) -> list[list[float]]:
    """Write attention as three plain loops: newValue += value * similarity(query, key)."""
    out = []
    for one in q.tolist():
        scores = [scale * sum(a * b for a, b in zip(one, key, strict=True)) for key in k.tolist()]
        top = max(scores)
        raised = [math.exp(score - top) for score in scores]
        new = [0.0] * v.shape[1]
        for share, value in zip(raised, v.tolist(), strict=True):
            for position, number in enumerate(value):
                new[position] += number * share / sum(raised)
        out.append(new)
    return out


def loop_layer(layer: Layer, x: Floats, key_bias: Floats, target: int) -> Floats:
    """Run any layer for one word of one sentence, number by number."""

    def scale_scores(vector: list[float], matrix: Floats | None, head: int) -> list[float]:
        if matrix is None:
            return vector
        rows = matrix[head].tolist()
        return [
            sum(vector[i] * rows[i][j] for i in range(len(vector))) for j in range(len(rows[0]))
        ]

    words = x.tolist()
    total = [0.0] * len(words[0])
    looked = False
    for head in range(layer.heads):
        q = scale_scores(words[target], layer.w_q, head)
        raised = []
        for position, word in enumerate(words):
            k = scale_scores(word, layer.w_k, head)
            score = sum(a * b for a, b in zip(q, k, strict=True))
            if layer.unit:
                score /= (math.hypot(*q) or 1) * (math.hypot(*k) or 1)
            score = score * layer.scale + float(key_bias[position])
            distance = layer.term(Distance)
            if distance is not None:
                reach = (distance.by_head.shape[1] - 1) // 2
                far = max(-reach, min(reach, position - target))
                score += float(distance.by_head[head, reach + far])
            seen = not (layer.skip_self and position == target)
            raised.append(math.exp(score) if seen else 0.0)
        for word, share in zip(words, raised, strict=True):
            if not share:
                continue
            looked = True
            value = scale_scores(scale_scores(word, layer.w_v, head), layer.w_o, head)
            part = layer.share * share / sum(raised)
            part /= layer.heads if layer.w_o is None else 1
            total = [t + part * number for t, number in zip(total, value, strict=True)]
    own = layer.own if looked else 1.0
    return np.array([t + own * number for t, number in zip(total, words[target], strict=True)])


def layers(dim: int) -> dict[str, Layer]:
    """Make one of each kind; matrices of every combination that a file may give."""
    rng = np.random.default_rng(3)
    square = rng.normal(0, 0.5, (2, dim, dim))
    layers = {f"{kind}": general(kind, dim) for kind in GENERAL}
    layers |= {f"cosine-{h}": general("cosine", dim, h) for h in HEADS}
    layers |= {f"random-{h}": random_layer(dim, h, rng) for h in HEADS}
    layers["values only"] = Layer(2, w_v=square)
    layers["output only"] = Layer(2, w_o=square, own=0.5)
    layers["keys only"] = Layer(2, w_q=square, w_k=square, scale=3.0, skip_self=True)
    by_place = (Distance(rng.normal(size=(2, 5))),)
    layers["biased"] = Layer(2, w_k=square, terms=by_place, own=0.4, share=0.6)
    return layers


@pytest.mark.parametrize("name", layers(6))
@pytest.mark.parametrize("length", [1, 2, 7])
def test_every_layer_is_the_plain_loop(name: str, length: int) -> None:
    layer = layers(6)[name]
    rng = np.random.default_rng(length)
    x = rng.normal(size=(3, length, 6))
    bias = rng.normal(size=(3, length))
    expected = np.array(
        [[loop_layer(layer, x[b], bias[b], t) for t in range(length)] for b in range(3)]
    )
    by_word = WordBias(np.ones((1, 1)), bias.reshape(-1, 1))  # every place has a word of its own
    layer = replace(layer, terms=(*layer.terms, by_word))
    ids = np.arange(3 * length).reshape(3, length)
    np.testing.assert_allclose(attend(layer, x, ids).output, expected, atol=1e-10)
    targets = np.array([0, length - 1, length // 2])
    wanted = expected[np.arange(3), targets][:, None]
    for y in (x, x.astype(np.float32)):
        output = attend(layer, y, ids, queries=targets).output
        assert output.dtype == y.dtype
        np.testing.assert_allclose(output, wanted, atol=1e-10 if y is x else 2e-5)


@pytest.mark.parametrize("name", layers(6))
def test_padding_changes_nothing(name: str) -> None:
    layer = layers(6)[name]
    rng = np.random.default_rng(0)
    sentences = [rng.normal(size=(length, 6)) for length in (1, 4, 7)]
    padded = rng.normal(size=(3, 7, 6))  # the content of the padding must not matter
    mask = np.zeros((3, 7), bool)
    for row, sentence in enumerate(sentences):
        padded[row, : len(sentence)], mask[row, : len(sentence)] = sentence, True
    whole = attend(layer, padded, mask=mask)
    last = np.array([0, 3, 6])
    single = attend(layer, padded, mask=mask, queries=last).output[:, 0]
    for row, sentence in enumerate(sentences):
        expected = attend(layer, sentence[None]).output[0]
        np.testing.assert_allclose(whole.output[row, : len(sentence)], expected, atol=1e-10)
        np.testing.assert_allclose(single[row], expected[-1], atol=1e-10)
        assert not whole.weights[row, :, :, len(sentence) :].any()


@pytest.mark.parametrize("name", layers(6))
def test_contributions_sum_to_the_output(name: str) -> None:
    x = np.random.default_rng(1).normal(size=(2, 5, 6))
    encoded = attend(layers(6)[name], x)
    np.testing.assert_allclose(
        np.einsum("bqht,bhtd->bqd", encoded.head_weights, encoded.values) + encoded.own,
        encoded.output,
        atol=1e-10,
    )


@pytest.mark.parametrize("heads", HEADS)
def test_cross_attention_is_the_plain_loop(heads: int) -> None:
    rng = np.random.default_rng(heads)
    layer = random_layer(8, heads, rng)
    x, other = rng.normal(size=(1, 3, 8)), rng.normal(size=(1, 5, 8))
    assert layer.w_q is not None and layer.w_k is not None
    assert layer.w_v is not None and layer.w_o is not None
    expected = sum(
        np.array(
            loop_attend(
                x[0] @ layer.w_q[h], other[0] @ layer.w_k[h], other[0] @ layer.w_v[h], layer.scale
            )
        )
        @ layer.w_o[h]
        for h in range(heads)
    )
    np.testing.assert_allclose(attend(layer, x, over=(other, None)).output[0], expected, atol=1e-10)


@pytest.mark.parametrize("heads", [1, 3])
def test_torch_scaled_dot_product_attention(heads: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is only in the bench environment")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(3, 6, 5)).astype(np.float32)
    there = np.arange(6) < np.array([[6], [2], [4]])
    distance = Distance(rng.normal(size=(heads, 5)).astype(np.float32))
    layer = Layer(heads, scale=5**-0.5, terms=(distance,))
    far = np.clip(np.arange(6) - np.arange(6)[:, None], -2, 2) + 2
    bias = np.where(there[:, None, None], distance.by_head[:, far], -np.inf)  # (3, H, 6, 6)
    tensor = torch.from_numpy(np.repeat(x[:, None], heads, axis=1))
    mask = torch.from_numpy(bias.astype(np.float32))
    theirs = torch.nn.functional.scaled_dot_product_attention(tensor, tensor, tensor, mask)
    output = attend(layer, x, mask=there).output
    np.testing.assert_allclose(output, theirs.numpy().mean(axis=1), atol=1e-5)


@pytest.mark.parametrize("heads", [1, 2, 4, 8])
def test_torch_multihead_attention(heads: int) -> None:
    torch = pytest.importorskip("torch", reason="torch is only in the bench environment")
    rng = np.random.default_rng(heads)
    layer = random_layer(16, heads, rng)
    module = torch.nn.MultiheadAttention(16, heads, bias=False, batch_first=True)
    assert layer.w_o is not None
    matrices = [m for m in (layer.w_q, layer.w_k, layer.w_v) if m is not None]
    into = [m.transpose(0, 2, 1).reshape(16, 16) for m in matrices]
    with torch.no_grad():
        module.in_proj_weight.copy_(torch.from_numpy(np.concatenate(into)))
        module.out_proj.weight.copy_(torch.from_numpy(layer.w_o.reshape(16, 16).T.copy()))
        x = rng.normal(size=(3, 6, 16)).astype(np.float32)
        other = rng.normal(size=(3, 4, 16)).astype(np.float32)
        mask = np.arange(6) < np.array([[6], [2], [4]])
        tx, to = torch.from_numpy(x), torch.from_numpy(other)
        plain, weights = module(tx, tx, tx, average_attn_weights=False)
        padded, _ = module(tx, tx, tx, key_padding_mask=torch.from_numpy(~mask))
        crossed, _ = module(tx, to, to)
    attended = attend(layer, x)
    np.testing.assert_allclose(attended.output, plain.numpy(), atol=1e-5)
    np.testing.assert_allclose(attended.weights, weights.numpy(), atol=1e-5)
    np.testing.assert_allclose(attend(layer, x, mask=mask).output, padded.numpy(), atol=1e-5)
    one = attend(layer, x, mask=mask, queries=np.array([5, 0, 2])).output[:, 0]
    np.testing.assert_allclose(one, padded.numpy()[[0, 1, 2], [5, 0, 2]], atol=1e-5)
    output = attend(layer, x, over=(other, None)).output
    np.testing.assert_allclose(output, crossed.numpy(), atol=1e-5)


def test_softmax_by_hand() -> None:
    np.testing.assert_allclose(softmax(np.array([0.0, 0.0])), [0.5, 0.5])
    np.testing.assert_allclose(softmax(np.log([1.0, 2.0, 5.0])), [0.125, 0.25, 0.625])
    e = math.e
    np.testing.assert_allclose(softmax(np.array([1.0, 0.0])), [e / (e + 1), 1 / (e + 1)])
    np.testing.assert_array_equal(
        softmax(np.array([[-np.inf, 3.0], [-np.inf, -np.inf]])), [[0, 1], [0, 0]]
    )


def test_matrices_turn_and_stretch() -> None:
    x = np.array([[[1.0, 0.0]]])  # one word: its weight is 1, so only W_V acts
    assert attend(Layer(w_v=np.array([[[2.0, 0], [0, 2]]])), x).output.tolist() == [[[2, 0]]]
    assert attend(Layer(w_v=np.array([[[0.0, 1], [-1, 0]]])), x).output.tolist() == [[[0, 1]]]


def test_sinusoidal_by_hand() -> None:
    table = sinusoidal(3, 5)
    for position in range(3):
        for column in range(5):
            angle = position / 10000 ** ((column - column % 2) / 5)
            wave = math.cos if column % 2 else math.sin
            assert table[position, column] == pytest.approx(wave(angle), abs=1e-12)


def test_positions_fall_off_with_distance() -> None:
    table = sinusoidal(40, 64)
    product = table @ table.T
    for distance in range(39):  # the same wherever the two stand
        along = np.diagonal(product, distance)
        np.testing.assert_allclose(along, along[0], atol=1e-9)
    assert (np.diff(product[0, :6]) < 0).all()


def test_bias_by_distance() -> None:
    far = Distance(decay((0.5,), 2)).bias(TokenPairs(None, np.array([3]), 7), float)
    assert far is not None and far.tolist() == [[[[-1, -1, -0.5, 0, -0.5, -1, -1]]]]


# Laws that hold whatever the numbers are.

SIZES = st.tuples(st.integers(1, 6), st.integers(1, 5))


def numbers(shape: Any, dtype: Any, most: float = 1e30) -> Any:
    most = float(np.dtype(dtype).type(most))
    width = 8 * np.dtype(dtype).itemsize
    return arrays(dtype, shape, elements=st.floats(-most, most, width=width))


@st.composite
def sentences(draw: st.DrawFn, most: float = 1e30, dtype: Any = None) -> Floats:
    length, dim = draw(SIZES)
    chosen = dtype or draw(st.sampled_from([np.float32, np.float64]))
    array: Floats = draw(numbers((1, length, dim), chosen, most))
    return array


KINDS = st.sampled_from([*GENERAL, "random"])


def layer_of(kind: str, dim: int) -> Layer:
    if kind == "random":
        return random_layer(dim, 2, np.random.default_rng(0))
    return general(kind, dim)


@given(sentences(), KINDS)
@settings(deadline=None, max_examples=150)
def test_rows_sum_to_1_and_nothing_is_nan(x: Floats, kind: str) -> None:
    layer = layer_of(kind, x.shape[2])
    encoded = attend(layer, x)
    sums = encoded.weights.sum(axis=-1)
    looks = not (layer.skip_self and x.shape[1] == 1)
    np.testing.assert_allclose(sums, 1.0 if looks else 0.0, atol=1e-5)
    assert np.isfinite(encoded.output).all()
    assert np.isfinite(attend(layer, x, queries=np.array([0])).output).all()


@given(st.data(), SIZES, st.sampled_from([np.float32, np.float64]))
@settings(deadline=None, max_examples=150)
def test_scores_take_any_finite_numbers(data: st.DataObject, size: Any, dtype: Any) -> None:
    q, k = (data.draw(numbers(size, dtype)) for _ in range(2))
    scores = dot(q, k)
    scaled = scale_scores(scores.copy(), data.draw(st.sampled_from([0.1, 1.0, 6.0, 1e6])))
    weights = softmax(scaled)
    for part in (scores, scaled, weights):
        assert np.isfinite(part).all()
    np.testing.assert_allclose(weights.sum(-1), 1, atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_values_of_1e30_do_not_overflow(dtype: Any) -> None:
    x = np.array([[[1e30, -1e30], [1e30, 1e30], [0, 0], [-1e30, 1e-30]]], dtype)
    for kind in (*GENERAL, "random"):
        layer = layer_of(kind, 2)
        assert np.isfinite(attend(layer, x).output).all()
    np.testing.assert_allclose(unit(x)[0, 0], [0.5**0.5, -(0.5**0.5)], rtol=1e-6)
    assert np.isfinite(dot(x, x)).all()


@given(
    sentences(most=5, dtype=np.float64),
    st.randoms(),
    st.sampled_from(["textbook", "scaled", "random"]),
)
@settings(deadline=None)
def test_order_of_the_context_does_not_matter(x: Floats, random: Any, kind: str) -> None:
    layer = layer_of(kind, x.shape[2])
    order = list(range(1, x.shape[1]))
    random.shuffle(order)
    shuffled = x[:, [0, *order]]
    np.testing.assert_allclose(
        attend(layer, shuffled).output[:, 0], attend(layer, x).output[:, 0], atol=1e-9
    )


def test_order_matters_with_positions() -> None:
    x = np.random.default_rng(0).normal(size=(1, 4, 6))
    swapped = x[:, [0, 2, 1, 3]]
    near, plain = general("cosine", 6), general("cosine", 6, 1)
    assert np.abs(attend(near, x).output[0, 0] - attend(near, swapped).output[0, 0]).max() > 1e-3
    np.testing.assert_allclose(attend(plain, x).output[0, 0], attend(plain, swapped).output[0, 0])
    waves = sinusoidal(4, 6)
    one, two = (attend(Layer(), y + waves).output[0, 0] for y in (x, swapped))
    assert np.abs(one - two).max() > 1e-3


@given(sentences(most=50, dtype=np.float64), st.floats(-1e3, 1e3))
def test_a_constant_changes_nothing(x: Floats, constant: float) -> None:
    scores = x[0]
    np.testing.assert_allclose(softmax(scores + constant), softmax(scores), atol=1e-9)
    biased = Layer(terms=(WordBias(np.array([[constant]]), np.ones((1, 1))),))
    ids = np.zeros(x.shape[:2], int)
    np.testing.assert_allclose(
        attend(biased, x, ids).output,
        attend(Layer(), x).output,
        atol=1e-6 * np.abs(x).max(initial=1),
    )


@given(st.integers(1, 8), KINDS, st.data())
@settings(deadline=None)
def test_one_token_returns_itself(dim: int, kind: str, data: st.DataObject) -> None:
    x = data.draw(numbers((1, 1, dim), np.float64, 1e6))
    layer = layer_of(kind, dim)
    expected = x
    if kind == "random":  # the matrices still act; the weight is 1
        assert layer.w_v is not None and layer.w_o is not None
        expected = (x @ layer.w_v @ layer.w_o.astype(np.float64)).sum(axis=0, keepdims=True)
    np.testing.assert_allclose(attend(layer, x).output, expected, rtol=1e-6, atol=1e-6)
    one = attend(layer, x, queries=np.array([0])).output
    np.testing.assert_allclose(one, expected, rtol=1e-6, atol=1e-6)


@given(st.data(), SIZES)
@settings(deadline=None)
def test_masks_are_respected(data: st.DataObject, size: tuple[int, int]) -> None:
    length, dim = size
    scores = data.draw(numbers((length, dim), np.float64, 1e3))
    mask = data.draw(arrays(bool, (length, dim)))
    weights = softmax(scores, mask)
    assert not weights[~mask].any()
    np.testing.assert_allclose(weights.sum(-1), mask.any(-1))
    x = data.draw(numbers((1, length, dim), np.float64, 1e3))
    there = data.draw(arrays(bool, (1, length)))
    looked = attend(Layer(), x, mask=there).weights[0, 0]
    assert not looked[:, ~there[0]].any()
    np.testing.assert_allclose(looked.sum(-1), there.any())


@pytest.mark.parametrize("name", layers(6))
def test_a_batch_equals_single_runs(name: str) -> None:
    layer = layers(6)[name]
    x = np.random.default_rng(5).normal(size=(9, 5, 6)).astype(np.float32)
    whole = attend(layer, x).output
    for row in range(9):
        np.testing.assert_allclose(whole[row], attend(layer, x[[row]]).output[0], atol=1e-6)
        for position in range(5):
            alone = attend(layer, x[[row]], queries=np.array([position])).output[0, 0]
            np.testing.assert_allclose(whole[row, position], alone, atol=1e-5)
