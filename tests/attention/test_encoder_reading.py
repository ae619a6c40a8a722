"""Reading an encoder without its gradients: the numbers of the forward pass that torch confirms."""

import numpy as np
import pytest

from ctxembed.attention import encoder_reading
from ctxembed.attention.encoder import Targets, encode, random_encoder
from ctxembed.attention.encoder_reading import read_targets


@pytest.mark.parametrize("hidden", [True, False])
@pytest.mark.parametrize("words_at_once", [1, 10, 512])
def test_the_same_as_the_forward_pass(
    hidden: bool, words_at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(encoder_reading, "WORDS", words_at_once)
    rng = np.random.default_rng(2)
    start = random_encoder(6, 2, rng, width=8, heads=2, reach=2)
    noisy = {k: v + 0.2 * rng.normal(size=v.shape) for k, v in start.parameters().items()}
    encoder, x = start.updated(noisy), rng.normal(size=(7, 5, 6))
    columns, mask = rng.integers(0, 5, 7), rng.random((7, 5)) < 0.7
    mask[np.arange(7), columns] = True
    mask[:2] = True
    for there in (mask, np.ones_like(mask)):
        whole = encode(encoder, x, there, Targets(np.arange(7), columns, np.full(7, hidden)))
        read = read_targets(encoder, x, columns, there, hidden=hidden)
        np.testing.assert_allclose(read.output, whole.output)
        np.testing.assert_allclose(read.seen, whole.rollout(), atol=1e-12)


def test_no_sentence() -> None:
    encoder = random_encoder(6, 1, np.random.default_rng(2), width=8, heads=2, reach=2)
    read = read_targets(encoder, np.zeros((0, 5, 6), np.float32), np.zeros(0, int))
    assert read.output.shape == (0, 6) and read.seen.shape == (0, 5)
