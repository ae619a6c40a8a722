"""The recurrent network: gradients by finite differences, masks, steps by hand, same as torch."""

import numpy as np
import pytest

from ctxembed.attention.recurrent import (
    Recurrent,
    random_recurrent,
    read_every_word,
    read_sentences,
    read_targets,
)
from ctxembed.attention.training.pseudowords import Bools, Ints
from ctxembed.stats.vectors import Floats, unit

RNG = np.random.default_rng(7)


def small() -> Recurrent:
    """Return a network of a few numbers in double precision, none of them zero."""
    network = random_recurrent(5, RNG, size=3)
    noisy = {k: v + 0.3 * RNG.normal(size=v.shape) for k, v in network.parameters().items()}
    return network.updated({k: v.astype(np.float64) for k, v in noisy.items()})


def batch() -> tuple[Floats, Ints, Bools]:
    """Return three sentences of 5, 4 and 1 words, and targets at the edges and in the middle."""
    mask = np.arange(5) < np.array([5, 4, 1])[:, None]
    return unit(RNG.normal(size=(3, 5, 5))), np.array([4, 1, 0]), mask


def test_gradients_are_finite_differences() -> None:
    network, (x, targets, mask) = small(), batch()
    direction = RNG.normal(size=(3, 5))
    gradients = read_sentences(network, x, targets, mask).backward(direction)
    parameters = network.parameters()
    assert set(gradients) == set(parameters)
    for name, gradient in gradients.items():
        assert gradient.shape == parameters[name].shape
        for at in np.ndindex(gradient.shape):
            values = []
            for step in (1e-5, -1e-5):
                moved = parameters[name].copy()
                moved[at] += step
                output = read_sentences(network.updated({name: moved}), x, targets, mask).output
                values.append(float((output * direction).sum()))
            expected = (values[0] - values[1]) / 2e-5
            assert gradient[at] == pytest.approx(expected, rel=1e-5, abs=1e-8), (name, at)


def test_a_step_by_hand() -> None:
    one = np.ones((2, 1, 1))
    w, u, b = one * [0.5, -1, 2], one * [1, 0.5, -1], np.array([[0.1, 0.2, 0.3]] * 2)
    network = Recurrent(w, u, b, np.array([[0.4]] * 2), one, own=0.25)
    result = read_sentences(network, np.array([[[1.0], [0.6]]]), np.array([1]))

    def sigmoid(y: float) -> float:
        return float(1 / (1 + np.exp(-y)))

    h = 0.0
    for x in (1.0, 0.6):
        reset, kept = sigmoid(0.5 * x + 0.1 + h), sigmoid(-x + 0.2 + 0.5 * h)
        h = kept * h + (1 - kept) * np.tanh(2 * x + 0.3 + reset * (-h + 0.4))
    kept = sigmoid(-0.6 + 0.2)  # from the end the target is the first word that is read
    end = (1 - kept) * np.tanh(1.2 + 0.3 + sigmoid(0.3 + 0.1) * 0.4)
    np.testing.assert_allclose(result.states[-1].ravel(), [h, end])
    np.testing.assert_allclose(result.output, [[h + end + 0.25 * 0.6]])


def test_padding_changes_nothing() -> None:
    network, (x, targets, mask) = small(), batch()
    padded = np.concatenate([x, RNG.normal(size=(3, 4, 5))], axis=1)
    wider = np.concatenate([mask, np.zeros((3, 4), bool)], axis=1)
    expected = read_sentences(network, x, targets, mask).output
    np.testing.assert_allclose(read_sentences(network, padded, targets, wider).output, expected)
    for row, length in enumerate((5, 4, 1)):
        alone = read_sentences(network, x[row : row + 1, :length], targets[row : row + 1])
        np.testing.assert_allclose(alone.output[0], expected[row])


def test_one_reading_from_each_end_is_enough_for_every_word() -> None:
    network, (x, _, _) = small(), batch()
    every = read_every_word(network, x)
    for target in range(x.shape[1]):
        expected = read_sentences(network, x, np.full(len(x), target)).output
        np.testing.assert_allclose(every[:, target], expected)


def test_many_sentences_of_distinct_words_are_read_as_one_by_one() -> None:
    network, x = small(), unit(RNG.normal(size=(4, 5)))
    sentences = [[0, 1, 2, 1, 3], [2], [3, 3, 0], [1, 2]]
    targets = [3, 0, 0, 1]
    end = np.cumsum([len(words) for words in sentences])
    first = end - [len(words) for words in sentences]
    flat = np.concatenate(sentences)
    output = read_targets(network, x, flat, first, first + np.array(targets), end - 1)
    for row, (words, target) in enumerate(zip(sentences, targets, strict=True)):
        alone = read_sentences(network, x[words][None], np.array([target])).output
        np.testing.assert_allclose(output[row], alone[0], atol=1e-14)
    none = np.zeros(0, np.intp)
    assert read_targets(network, x, none, none, none, none).shape == (0, 5)


def test_learning_begins_near_a_mean_of_the_nearer_words() -> None:
    network = random_recurrent(9, np.random.default_rng(1), size=2000)
    x = np.eye(9, dtype=np.float32)[None]
    (output,) = read_sentences(network, x, np.array([4])).output  # the share of each word
    assert output[4] > output[3] > output[1] > 0
    assert output[4] > output[5] > output[8] > 0


def test_the_same_as_torch() -> None:
    torch = pytest.importorskip("torch")
    network, (x, targets, mask) = small(), batch()
    gru = torch.nn.GRU(5, 3, batch_first=True, bidirectional=True).double()
    with torch.no_grad():
        for i, end in enumerate(("", "_reverse")):
            getattr(gru, f"weight_ih_l0{end}").copy_(torch.tensor(network.w[i].T))
            getattr(gru, f"weight_hh_l0{end}").copy_(torch.tensor(network.u[i].T))
            getattr(gru, f"bias_ih_l0{end}").copy_(torch.tensor(network.b[i]))
            zeros = np.zeros(6)
            bias = torch.tensor(np.concatenate([zeros, network.c[i]]))
            getattr(gru, f"bias_hh_l0{end}").copy_(bias)
    direction = RNG.normal(size=(3, 5))
    result = read_sentences(network, x, targets, mask)
    gradients = result.backward(direction)
    w_out = torch.tensor(network.w_out.reshape(6, 5))
    loss = torch.zeros(())
    for row, length in enumerate(mask.sum(axis=1)):
        states, _ = gru(torch.tensor(np.sqrt(5) * x[row : row + 1, :length]))
        output = states[0, targets[row]] @ w_out + network.own * torch.tensor(x[row, targets[row]])
        np.testing.assert_allclose(result.output[row], output.detach().numpy(), atol=1e-12)
        loss = loss + (output * torch.tensor(direction[row])).sum()
    loss.backward()
    for i, end in enumerate(("", "_reverse")):
        for name, torch_name in (("w", "weight_ih"), ("u", "weight_hh"), ("b", "bias_ih")):
            expected = getattr(gru, f"{torch_name}_l0{end}").grad.numpy().T
            np.testing.assert_allclose(gradients[name][i], expected, atol=1e-12)
        expected = getattr(gru, f"bias_hh_l0{end}").grad.numpy()[6:]
        np.testing.assert_allclose(gradients["c"][i], expected, atol=1e-12)
