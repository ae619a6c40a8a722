"""Gradients against finite differences and torch; learning against its own promises."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ctxembed.attention.attend import attend
from ctxembed.attention.layer import Layer, Parameters
from ctxembed.attention.presets import starting_layer
from ctxembed.attention.terms import count_heights, sum_between
from ctxembed.attention.training.learning import NothingToLearn, Report, Settings, learn
from ctxembed.attention.training.objective import Weights, unaverage
from ctxembed.attention.training.pseudowords import Occurrences, Sampler, split_corpus
from ctxembed.model.attentions import load_attention
from ctxembed.model.model import Model
from tests.conftest import ROOT, Run

D, H, R, V = 5, 3, 3, 11
NAMES = ("w_q", "w_k", "w_v", "w_o", "b_q", "word", "distance", "wall", "own")
Rows = NDArray[np.intp]


def some_layer(rng: np.random.Generator) -> Layer:
    """Make a layer that has everything, over a vocabulary of eleven words."""
    heights = np.abs(rng.standard_normal(V))
    layer = starting_layer(D, rng, rng.standard_normal((V, 4)), heights, heads=H, reach=R)
    parameters = layer.parameters()
    return layer.updated(
        {
            k: a.astype(np.float64) + 0.3 * rng.standard_normal(a.shape)
            for k, a in parameters.items()
        }
    )


def some_words(rng: np.random.Generator) -> tuple[NDArray[Any], Rows, NDArray[np.bool_]]:
    """Three sentences of up to nine words, longer than the reach; one has a single known word."""
    x = rng.standard_normal((3, 9, D))
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    return x, rng.integers(0, V, (3, 9)), np.arange(9) < np.array([9, 6, 1])[:, None]


def numeric(
    parameters: Parameters, name: str, loss: Callable[[Parameters], float], step: float = 1e-5
) -> NDArray[Any]:
    gradient = np.zeros_like(parameters[name])
    for i in np.ndindex(gradient.shape):
        for sign in (1, -1):
            moved = parameters[name].copy()
            moved[i] += sign * step
            gradient[i] += sign * loss({**parameters, name: moved}) / (2 * step)
    return gradient


def close(got: NDArray[Any], want: NDArray[Any]) -> None:
    assert np.abs(got - want).max() <= 1e-6 * max(1e-3, float(np.abs(want).max()))


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("one", [True, False])
def test_gradient_of_the_layer(name: str, one: bool) -> None:
    """Gradients equal finite differences, for one word a sentence and for all of them."""
    rng = np.random.default_rng(2)
    layer, (x, ids, known) = some_layer(rng), some_words(rng)
    target = np.array([4, 0, 0]) if one else None
    attended = attend(layer, x, ids, queries=target, mask=known)
    pull = rng.standard_normal(attended.output.shape)

    def loss(p: Parameters) -> float:
        attended = attend(layer.updated(p), x, ids, queries=target, mask=known)
        return float((attended.output * pull).sum())

    close(attended.backward(pull)[name], numeric(layer.parameters(), name, loss))


def test_gradients_agree_with_torch() -> None:
    torch = pytest.importorskip("torch", reason="torch is a bench-only dependency")
    rng = np.random.default_rng(5)
    layer, (x, ids, _) = some_layer(rng), some_words(rng)
    target = np.array([4, 0, 8])
    pull = rng.standard_normal((3, 1, D))
    attended = attend(layer, x, ids, queries=target)
    p = {k: torch.tensor(a, requires_grad=True) for k, a in layer.parameters().items()}
    _, word, wall = layer.terms
    assert word.words is not None and wall.words is not None
    heights = wall.words[ids]
    walls = np.array(
        [
            [heights[b, min(j, i) + 1 : max(j, i) + 1].sum() for j in range(9)]
            for b, i in enumerate(target)
        ]
    )
    own = torch.tensor(x[np.arange(3), target])[:, None, None]  # (B, 1, 1, d)
    keys = torch.tensor(x)[:, None]  # (B, 1, T, d)
    at = torch.arange(9)
    far = (at - torch.tensor(target)[:, None]).clamp(-R, R) + R
    bias = p["distance"][:, far].transpose(0, 1)  # (B, H, T)
    bias = bias + (torch.tensor(word.words[ids]) @ p["word"].T).transpose(1, 2)
    bias = bias - p["wall"][:, None] * torch.tensor(walls)[:, None]
    bias = bias.masked_fill((at == torch.tensor(target)[:, None])[:, None], -torch.inf)[:, :, None]
    attention = torch.nn.functional.scaled_dot_product_attention

    def look(asks: Any, heads: slice, values: Any) -> Any:
        q = asks @ p["w_q"][heads, : asks.shape[-1]] + p["b_q"][heads, None]
        return attention(q, keys @ p["w_k"][heads], values, attn_mask=bias[:, heads])

    near = slice(0, 1)
    n = look(own, near, keys)  # (B, 1, 1, d)
    asks = torch.cat([own, torch.nn.functional.normalize(n, dim=-1)], dim=-1)
    passed = [look(own, near, keys @ p["w_v"][near]), look(asks, slice(1, H), keys @ p["w_v"][1:])]
    want = p["own"] * own[:, 0] + (torch.cat(passed, dim=1) @ p["w_o"]).sum(dim=1)
    (want * torch.tensor(pull)).sum().backward()
    np.testing.assert_allclose(attended.output, want.detach().numpy(), atol=1e-10)
    gradients = attended.backward(pull)
    for name in NAMES:
        close(gradients[name], p[name].grad.numpy())


def test_one_word_is_a_row_of_all() -> None:
    rng = np.random.default_rng(3)
    layer, (x, ids, known) = some_layer(rng), some_words(rng)
    target, rows = np.array([4, 5, 0]), np.arange(3)
    whole = attend(layer, x, ids, mask=known)
    one = attend(layer, x, ids, mask=known, queries=target)
    np.testing.assert_allclose(whole.output[rows, target], one.output[:, 0], atol=1e-12)
    np.testing.assert_array_equal(one.output[2, 0], x[2, 0])  # a word alone stays what it is
    for attended in (whole, one):
        np.testing.assert_allclose(
            attended.own + np.einsum("bqht,bhtd->bqd", attended.head_weights, attended.values),
            attended.output,
            atol=1e-12,
        )
        trace = attended.trace()
        added = sum(trace.added.values(), layer.scale * trace.scores)
        seen = np.isfinite(trace.scaled)
        np.testing.assert_allclose(added[seen], trace.scaled[seen], atol=1e-12)
        assert set(trace.added) == {"distance", "word", "wall"}


def test_a_layer_for_some_words_is_the_same_layer() -> None:
    rng = np.random.default_rng(6)
    layer, (x, ids, known) = some_layer(rng), some_words(rng)
    used = np.unique(ids)
    small = attend(layer.only(used), x, np.searchsorted(used, ids), mask=known)
    np.testing.assert_array_equal(small.output, attend(layer, x, ids, mask=known).output)


@pytest.mark.parametrize(("plain", "repeats"), [(3, 5), (4, 4)])
def test_gradient_of_the_objective(plain: int, repeats: int) -> None:
    rng = np.random.default_rng(4)
    output, words = rng.standard_normal((3, 2, repeats, D)), rng.standard_normal((3, 2, D))
    words /= np.linalg.norm(words, axis=-1, keepdims=True)
    same = np.eye(6, dtype=bool)
    same[0, 3] = same[3, 0] = True  # a word that is in two pairs is not its own rival
    w = Weights(plain=1.0, spliced=0.7, static=0.4)
    _, gradient = unaverage(output, words, same, plain, w)
    want = np.zeros_like(output)
    for i in np.ndindex(output.shape):
        for sign in (1, -1):
            moved = output.copy()
            moved[i] += sign * 1e-5
            want[i] += sign * unaverage(moved, words, same, plain, w)[0].loss / 2e-5
    close(gradient, want)


def test_walls_by_a_plain_loop() -> None:
    high = np.random.default_rng(1).random((2, 7))
    sums = sum_between(high)
    for b, i, j in np.ndindex(2, 7, 7):
        inner = high[b, min(i, j) + 1 : max(i, j) + 1]
        assert sums[b, i, j] == pytest.approx(inner.sum(), abs=1e-12)
    np.testing.assert_allclose(sum_between(high, np.array([3, 6]))[:, 0], sums[[0, 1], [3, 6]])


def test_a_word_that_starts_sentences_is_a_wall() -> None:
    # 0 always starts a sentence, 1 as often as any word, 2 never; 5 has no vector.
    sentences = [[0, 3, 1, 2, 5], [1, 3, 4, 2, 5], [0, 4, 3, 2, 1]] * 100
    ids = np.array(sentences, np.int32)
    high = count_heights(ids.ravel(), np.arange(0, ids.size + 1, 5), 5)
    rate = (200 + 50 / 5) / ((200 + 50) / 5)  # starts and occurrences, with 50 average ones
    assert high[0] == pytest.approx(np.log1p(np.exp(np.log(rate) - 2)), abs=1e-6)
    assert high[0] > high[1] > high[3] >= high[2] > 0
    few = count_heights(ids.ravel(), np.arange(0, ids.size + 1, 5), 5, words=5)
    assert few[0] == pytest.approx(np.log1p(np.exp(np.log(11 / (51 / 5)) - 2)), abs=1e-6)


def test_far_contexts_stand_behind_filler() -> None:
    # 40 sentences 0 1 T 2 3, with T = 4 or 5; the context keeps its order and its sides
    ids = np.array([[0, 1, 4 + i % 2, 2, 3] for i in range(40)]).ravel()
    order, counts = np.argsort(ids, kind="stable"), np.bincount(ids)
    last = np.cumsum(counts)
    occurrences = Occurrences(ids, np.arange(0, 201, 5), 6, order, last - counts, last)
    alone = np.arange(6)[:, None]
    sampler = Sampler(occurrences, np.zeros(6, int), alone, spliced=0, far=1.0, filler=3)
    rng = np.random.default_rng(1)
    batch = sampler.draw(np.cumsum([0, 0, 0, 0, 1.0, 1.0]), 8, rng)
    sides = set()
    for row, target, length in zip(batch.sentences, batch.target, batch.length, strict=True):
        sentence = row[:length].tolist()
        assert sentence[:2] == [0, 1] and sentence[-2:] == [2, 3]
        assert sentence[target] in (4, 5)
        sides |= {("left", target - 2), ("right", length - target - 3)}
    assert sides == {(side, number) for side in ("left", "right") for number in range(4)}
    near = Sampler(occurrences, np.zeros(6, int), alone, spliced=0, far=0.0)
    assert set(near.draw(np.cumsum([0, 0, 0, 0, 1.0, 1.0]), 8, rng).length.tolist()) == {5}


SPEAK = ("apple pear plum fig", "phone chip code app", "bank loan cash coin", "dog cat cow hen")


def topics_corpus(path: Path, lines: int = 1500) -> Path:
    """Four topics of their own words, joined by a few common ones."""
    rng = np.random.default_rng(7)
    topics = [[f"{w}{i}" for w in words.split() for i in range(6)] for words in SPEAK]
    text = []
    for _ in range(lines):
        words = list(rng.choice(topics[rng.integers(4)], 8))
        words.insert(4, str(rng.choice(["the", "of", "and"])))
        text.append(" ".join(words))
    path.write_text("\n".join(text) + "\n")
    return path


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model with learned attention."""
    from ctxembed.text.corpus import Corpus
    from ctxembed.training.train import train

    folder = tmp_path_factory.mktemp("learned")
    corpus = topics_corpus(folder / "corpus.txt")
    train(Corpus([str(corpus)], lines=True), folder / "m", dim=16, epochs=10, attention=False)
    return folder / "m"


def test_learning_improves_held_out_pseudowords_and_repeats_to_the_byte(
    trained: Path, run: Run
) -> None:
    saved = []
    for name in ("one", "two"):
        done = run("learn", "--name", name, "--epochs", "0.2", "-m", str(trained), "-f", "tsv")
        assert done.returncode == 0, done.stderr
        folder = trained / "attention" / name
        saved.append({f.name: f.read_bytes() for f in sorted(folder.iterdir())})
    assert saved[0] == saved[1]
    far = run("learn", "--name", "far", "--far", "--epochs", "0.02", "-m", str(trained))
    assert far.returncode == 0, far.stderr
    learned = load_attention(Model.open(trained), "far")
    assert learned.settings["far"] == 0.15 and learned.settings["weight_spliced"] == 6
    figures = load_attention(Model.open(trained), "one").figures
    assert figures["loss"] < figures["loss_before"]  # on the held-out part
    info = run("info", "-m", str(trained), "-f", "tsv").stdout
    assert "attention.one.pseudowords\t" in info
    assert "attention.one.heads\t4\n" in info
    shown = run(
        "explain", "[apple1] pear2 plum3", "--attention", "one", "--check", "-m", str(trained)
    )
    assert shown.returncode == 0, shown.stderr
    assert "checked" in shown.stderr


def test_a_recurrent_network_learns_on_the_same_pseudowords(trained: Path, run: Run) -> None:
    saved = []
    for name in ("recurrent", "again"):
        options = () if name == "recurrent" else ("--name", name)
        done = run(
            "learn", "--layer", "recurrent", *options, "--epochs", "0.05", "-m", str(trained)
        )
        assert done.returncode == 0, done.stderr
        assert f"attention\t{name}\nstate\t64\n" in done.stdout
        folder = trained / "attention" / name
        saved.append({f.name: f.read_bytes() for f in sorted(folder.iterdir())})
    assert saved[0] == saved[1]
    figures = load_attention(Model.open(trained), "recurrent").figures
    assert figures["loss"] < figures["loss_before"] - 0.2  # on the held-out part
    # One pair in four is of one topic, where nothing tells its words apart: about 3/4 + 1/4 · 1/2
    # is the most. A mean of the words, where learning begins, is near it too.
    assert 0.85 < figures["pseudowords"] < 0.9
    info = run("info", "-m", str(trained), "-f", "tsv").stdout
    assert "attention.recurrent.kind\trecurrent\n" in info
    assert "attention.recurrent.heads" not in info


@pytest.mark.parametrize("option", [("--heads", "2"), ("--positions", "decay")])
def test_options_of_attention_are_refused_for_a_network(
    option: tuple[str, str], trained: Path, run: Run
) -> None:
    done = run("learn", "--layer", "recurrent", *option, "-m", str(trained))
    assert done.returncode == 2
    assert "of --layer attention" in done.stderr


def test_the_name_of_learned_attention_is_not_for_a_network(trained: Path, run: Run) -> None:
    done = run("learn", "--layer", "recurrent", "--name", "learned", "-m", str(trained))
    assert done.returncode == 2
    assert "give another --name" in done.stderr


@pytest.mark.parametrize("heads", ["1", "3"])
@pytest.mark.parametrize("positions", ["learned", "decay"])
def test_the_rows_add_up_for_every_learned_layer(
    trained: Path, run: Run, heads: str, positions: str
) -> None:
    done = run(
        "learn",
        "--name",
        "h",
        "--heads",
        heads,
        "--positions",
        positions,
        "--epochs",
        "0.02",
        "-m",
        str(trained),
    )
    assert done.returncode == 0, done.stderr
    for encoding in ("none", "sinusoidal"):
        shown = run(
            "explain",
            "[apple1] pear2 the plum3 phone1",
            "--attention",
            "h",
            "--head",
            "each",
            "--encoding",
            encoding,
            "--check",
            "-m",
            str(trained),
        )
        assert shown.returncode == 0, shown.stderr


@pytest.mark.parametrize(
    "text",
    ["one two three four.\n" * 100, "word\n" * 500, " ".join(f"w{i}" for i in range(3000))],
    ids=["100 sentences", "one word", "no repeated word"],
)
def test_a_model_without_learned_attention_answers(run: Run, tmp_path: Path, text: str) -> None:
    (tmp_path / "corpus.txt").write_text(text)
    done = run("train", "corpus.txt", "--epochs", "1", "--dim", "4")
    assert done.returncode == 0, done.stderr
    assert "nothing to learn attention from" in done.stderr
    word = text.split()[0].strip(".")
    shown = run("compare", f"[{word}] {word}", "-m", "ctxembed-model")
    assert shown.returncode == 0, shown.stderr
    assert "\tgeneral\t" in shown.stdout
    again = run("learn", "-m", "ctxembed-model")
    assert again.returncode == 5
    assert "nothing to learn" in again.stderr


@pytest.mark.posix
def test_interrupting_keeps_what_was_validated(trained: Path) -> None:
    command = [sys.executable, "-m", "ctxembed", "learn", "--name", "cut", "--epochs", "500"]
    process = subprocess.Popen(
        [*command, "-m", str(trained)],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stderr=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    time.sleep(4)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in errors
    assert not list((trained / "attention").glob(".*"))
    if (trained / "attention" / "cut").exists():
        assert "interrupted" in errors
        load_attention(Model.open(trained), "cut")


def test_not_a_number_ends_with_the_last_good_parameters(monkeypatch: pytest.MonkeyPatch) -> None:
    import ctxembed.attention.training.learning as module

    rng = np.random.default_rng(0)
    ids = rng.integers(0, 40, 8000).astype(np.int32)
    offsets = np.arange(0, 8001, 10)
    order = np.argsort(ids, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=40))])
    x = rng.standard_normal((40, 6)).astype(np.float32)
    x /= np.linalg.norm(x, axis=1, keepdims=True)

    def begin(rng: np.random.Generator) -> Layer:
        zeros = np.zeros(40, np.float32)
        return starting_layer(6, rng, np.zeros((40, 4), np.float32), zeros)

    seen, held_out = split_corpus(ids, offsets, order, starts, 0.2)
    real, calls = module.run_batch, 0

    def broken(*arguments: Any, **options: Any) -> Any:
        nonlocal calls
        calls += 1
        score, gradients = real(*arguments, **options)
        if calls > 30:
            gradients["w_q"] = gradients["w_q"] * np.nan
        return score, gradients

    monkeypatch.setattr(module, "run_batch", broken)
    *_, last = learn(x, begin, seen, held_out, Settings(steps=100), seed=1)
    assert last.why == "not a number"
    assert all(np.isfinite(array).all() for array in last.best.parameters().values())


def learn_topics(settings: Settings) -> Report:
    """Return the last report of learning on sentences, each of the ten words of one topic."""
    rng = np.random.default_rng(0)
    ids = (np.repeat(rng.integers(0, 4, 1600), 10) * 10 + rng.integers(0, 10, 16_000)).astype("i4")
    order = np.argsort(ids, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ids, minlength=40))])
    x = np.repeat(rng.standard_normal((4, 8)), 10, axis=0) + rng.standard_normal((40, 8))
    x = (x / np.linalg.norm(x, axis=1, keepdims=True)).astype(np.float32)

    def begin(rng: np.random.Generator) -> Layer:
        return starting_layer(8, rng, np.zeros((40, 4), np.float32), np.zeros(40, np.float32))

    seen, held_out = split_corpus(ids, np.arange(0, 16_001, 10), order, starts, 0.2)
    *_, last = learn(x, begin, seen, held_out, settings, seed=1)
    return last


def test_a_batch_is_the_same_on_any_number_of_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    """A layer learned by threads has the bytes of one learned without them."""
    import ctxembed.attention.training.learning as module

    layers = []
    for number in (1, 1 << 30):  # sentences from which threads take part
        monkeypatch.setattr(module, "MIN_PARALLEL", number)
        last = learn_topics(Settings(steps=12, check_every=6, pairs=4))
        layers.append(last.best.parameters() | {"loss": np.array(last.loss)})
    for name, array in layers[0].items():
        assert array.tobytes() == layers[1][name].tobytes()


def test_quick_learning_ends_where_little_is_gained() -> None:
    small = Settings(steps=400, check_every=5, pairs=4, rate=0.01, average=0.9)
    last = learn_topics(replace(small, quick=True, gain=0.3))
    assert last.why == "little more to gain" and last.step < 400 and last.improved
    gained = [least for _, _, least in last.curve]
    # The last quarter of the steps follows the checks that gained little.
    before = [least for step, _, least in last.curve if step <= 0.75 * last.step + 1]
    assert before[-4] - before[-1] <= 0.3 * (gained[0] - before[-1])


def test_too_few_words() -> None:
    ids, offsets = np.zeros(100, np.int32), np.arange(0, 101, 10)
    seen, held_out = split_corpus(ids, offsets, np.arange(100), np.array([0, 100]), 0.1)
    with pytest.raises(NothingToLearn, match="only 1 words occur 20 times"):
        list(learn(np.ones((1, 2)), lambda _: Layer(), seen, held_out, Settings(), seed=1))
