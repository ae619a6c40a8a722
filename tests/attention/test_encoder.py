"""The Transformer encoder: gradients by finite differences, weights, masks, the same as torch."""

from dataclasses import replace

import numpy as np
import pytest

from ctxembed.attention.encoder import Encoder, Targets, encode, random_encoder
from ctxembed.stats.vectors import Floats, unit

RNG = np.random.default_rng(7)


def small(layers: int = 2) -> Encoder:
    """Return an encoder of a few numbers in double precision, none of them zero."""
    encoder = random_encoder(5, layers, RNG, width=8, heads=2, reach=2)
    noisy = {k: v + 0.1 * RNG.normal(size=v.shape) for k, v in encoder.parameters().items()}
    return encoder.updated({k: v.astype(np.float64) for k, v in noisy.items()})


def batch() -> tuple[Floats, Floats, Targets]:
    """Return two sentences of 4 and 3 words and three targets, one of them hidden."""
    x = unit(RNG.normal(size=(2, 4, 5)))
    mask = np.array([[True] * 4, [True] * 3 + [False]])
    hidden = np.array([True, False, False])
    return x, mask, Targets(np.array([0, 0, 1]), np.array([0, 3, 1]), hidden)


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_gradients_are_finite_differences(layers: int) -> None:
    encoder, (x, mask, targets) = small(layers), batch()
    direction = RNG.normal(size=(3, 5))
    gradients = encode(encoder, x, mask, targets).backward(direction)
    parameters = encoder.parameters()
    for name, gradient in gradients.items():
        assert gradient.shape == parameters[name].shape
        for at in {tuple(RNG.integers(0, n) for n in gradient.shape) for _ in range(12)}:
            values = []
            for step in (1e-5, -1e-5):
                moved = parameters[name].copy()
                moved[at] += step
                output = encode(encoder.updated({name: moved}), x, mask, targets).output
                values.append(float((output * direction).sum()))
            expected = (values[0] - values[1]) / 2e-5
            assert gradient[at] == pytest.approx(expected, rel=1e-5, abs=1e-7), (name, at)
    assert set(parameters) - set(gradients) == {"scale"}


def test_weights_sum_to_one_and_words_that_are_not_there_get_none() -> None:
    x, mask, targets = batch()
    for step in encode(small(), x, mask, targets).steps:
        np.testing.assert_allclose(step.weights.sum(axis=3), 1)
        assert (step.weights[1, :, :, 3] == 0).all()


def test_padding_changes_nothing() -> None:
    encoder, (x, mask, targets) = small(), batch()
    padded = np.concatenate([x, RNG.normal(size=(2, 3, 5))], axis=1)
    wider = np.concatenate([mask, np.zeros((2, 3), bool)], axis=1)
    output = encode(encoder, padded, wider, targets).output
    np.testing.assert_allclose(output, encode(encoder, x, mask, targets).output, atol=1e-12)


def test_a_hidden_target_does_not_show() -> None:
    encoder, (x, mask, targets) = small(), batch()
    other = x.copy()
    other[0, 0] = unit(RNG.normal(size=5))  # the hidden target
    one, two = (encode(encoder, each, mask, targets).output for each in (x, other))
    np.testing.assert_allclose(one, two)
    shown = replace(targets, hidden=np.zeros(3, bool))
    one, two = (encode(encoder, each, mask, shown).output for each in (x, other))
    assert np.abs(one - two).max() > 1e-3


def test_parameters_return_the_same_encoder() -> None:
    encoder = small()
    again = random_encoder(5, 2, np.random.default_rng(1), 8, 2, 2).updated(encoder.parameters())
    x, mask, targets = batch()
    same = encode(again, x, mask, targets).output
    np.testing.assert_array_equal(same, encode(encoder, x, mask, targets).output)


def test_a_block_is_the_block_of_torch() -> None:
    torch = pytest.importorskip("torch")
    encoder, (x, mask, targets) = small(1), batch()
    block = replace(encoder.blocks[0], position=np.zeros_like(encoder.blocks[0].position))
    encoder = replace(encoder, blocks=(block,))
    layer = torch.nn.TransformerEncoderLayer(
        8, 2, 32, dropout=0.0, batch_first=True, norm_first=True, dtype=torch.float64
    )
    tensor = torch.tensor
    with torch.no_grad():
        weights = np.concatenate([block.w_q.T, block.w_k.T, block.w_v.T])
        layer.self_attn.in_proj_weight.copy_(tensor(weights))
        layer.self_attn.in_proj_bias.copy_(tensor(block.b[:3].ravel()))
        layer.self_attn.out_proj.weight.copy_(tensor(block.w_o.T))
        layer.self_attn.out_proj.bias.copy_(tensor(block.b[3]))
        layer.linear1.weight.copy_(tensor(block.w_1.T))
        layer.linear1.bias.copy_(tensor(block.b_1))
        layer.linear2.weight.copy_(tensor(block.w_2.T))
        layer.linear2.bias.copy_(tensor(block.b_2))
        for norm, own in ((layer.norm1, block.norm1), (layer.norm2, block.norm2)):
            norm.weight.copy_(tensor(own[0]))
            norm.bias.copy_(tensor(own[1]))
        y = x * np.sqrt(5) @ encoder.w_in + encoder.b_in
        seen = np.where(targets.hidden[:, None], encoder.hidden, targets.take(y) + encoder.shown)
        y[targets.rows, targets.columns] = seen
        expected = layer(tensor(y), src_key_padding_mask=tensor(~mask)).numpy()
    result = encode(encoder, x, mask, targets).steps[0].output
    np.testing.assert_allclose(result, targets.take(expected), atol=1e-10)
