"""Learning an encoder on hidden words: gradients, splices, the same bytes again, going on."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.encoder import Encoder, random_encoder
from ctxembed.attention.training.hidden_words import (
    HiddenWords,
    Report,
    Settings,
    State,
    compare_words,
    learn,
)
from ctxembed.attention.training.learning import NothingToLearn
from ctxembed.attention.training.pseudowords import Occurrences, split_corpus
from ctxembed.model.attentions import load_attention
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.training import learn_encoder
from ctxembed.training.learn import learn_model
from tests.attention.test_learning import topics_corpus
from tests.conftest import Run

WORDS, DIM = 40, 6
QUICK = Settings(
    words=60_000, sentences=40, negatives=30, frequent=1.0, rate=1e-2, average=0.98,
    report_every=5, check_every=10,
)  # fmt: skip


def vectors(dtype: type = np.float32) -> Floats:
    """Return vectors that are nearer to those of their own topic."""
    rng = np.random.default_rng(1)
    topics = np.repeat(rng.normal(size=(WORDS // 10, DIM)), 10, axis=0)
    return unit(topics + 0.6 * rng.normal(size=(WORDS, DIM))).astype(dtype)


def small_encoder(dtype: type = np.float32) -> Encoder:
    encoder = random_encoder(DIM, 2, np.random.default_rng(2), width=8, heads=2, reach=3)
    return encoder.updated({k: v.astype(dtype) for k, v in encoder.parameters().items()})


def corpus(sentences: int = 1500) -> tuple[Occurrences, Occurrences]:
    """Return sentences in which ten consecutive words of the vocabulary keep together."""
    rng = np.random.default_rng(3)
    topics = rng.integers(0, WORDS // 10, sentences)
    ids = (topics[:, None] * 10 + rng.integers(0, 10, (sentences, 9))).ravel()
    offsets = np.arange(0, len(ids) + 1, 9)
    positions = np.argsort(ids, kind="stable")
    starts = np.searchsorted(ids[positions], np.arange(WORDS + 1))
    return split_corpus(ids, offsets, positions, starts, 0.1)


def test_the_gradients_of_the_loss_are_finite_differences() -> None:
    encoder = small_encoder(np.float64)
    source = HiddenWords.of(vectors(np.float64), corpus()[0], QUICK)
    sentences, length = source.draw(np.random.default_rng(4))

    def run(changed: Encoder) -> tuple[float, dict[str, Floats]]:
        score, gradients = source.run(changed, sentences, length, np.random.default_rng(5))
        return score.loss, gradients

    _, gradients = run(encoder)
    parameters, rng = encoder.parameters(), np.random.default_rng(6)
    assert gradients.keys() == parameters.keys()
    for name, gradient in gradients.items():
        for at in {tuple(rng.integers(0, n) for n in gradient.shape) for _ in range(4)}:
            losses = []
            for step in (1e-5, -1e-5):
                moved = parameters[name].copy()
                moved[at] += step
                losses.append(run(encoder.updated({name: moved}))[0])
            expected = (losses[0] - losses[1]) / 2e-5
            assert gradient[at] == pytest.approx(expected, rel=1e-5, abs=1e-9), (name, at)


def test_the_loss_is_a_softmax_over_cosines() -> None:
    candidates = np.eye(3)
    output, label = np.array([[2.0, 0.0, 0.0], [0.0, 3.0, 4.0]]), np.array([0, 1])
    loss, right, _, _ = compare_words(output, np.array([np.log(2.0)]), candidates, label, 2)
    first = -np.log(np.exp(2) / (np.exp(2) + 2))
    second = -np.log(np.exp(1.2) / (1 + np.exp(1.2) + np.exp(1.6)))
    assert loss == pytest.approx((first + second) / 2)
    assert right.tolist() == [True, False]


@pytest.mark.parametrize("spliced", [0.0, 1.0])
def test_spliced_sentences_speak_of_something_else_too(spliced: float) -> None:
    settings = Settings(sentences=300, spliced=spliced)
    seen, _ = corpus()
    sentences, length = HiddenWords.of(vectors(), seen, settings).draw(np.random.default_rng(1))
    topics = [len(set(row[:size] // 10)) for row, size in zip(sentences, length, strict=True)]
    if spliced:
        assert max(topics) == 2
        assert 0.6 < np.mean(np.array(topics) == 2) < 0.85  # a quarter splices the same topic
    else:
        assert set(topics) == {1}
        assert set(length.tolist()) == {9}


def test_held_out_sentences_are_drawn_from_the_held_out_end() -> None:
    seen, held_out = corpus()
    one, other = (HiddenWords.of(vectors(), part, QUICK) for part in (seen, held_out))
    assert one.begin == 0 and one.end == other.begin == 1350 * 9 and other.end == 1500 * 9


def test_learning_lowers_the_held_out_loss() -> None:
    state = State.start(small_encoder(), np.random.default_rng(1))
    longer = replace(QUICK, words=200_000)
    *_, last = learn(vectors(), state, *corpus(), longer, 1)
    assert last.why == "finished" and last.done == 1 and last.improved
    assert last.best_score.loss < last.first.loss - 0.5
    assert last.best_score.hidden > 0.06  # one word in ten of a topic; by chance one in forty
    assert last.best_score.averaged > 0.3


def test_a_restored_state_goes_on_as_if_nothing_had_happened() -> None:
    whole = State.start(small_encoder(), np.random.default_rng(1))
    *_, expected = learn(vectors(), whole, *corpus(), QUICK, 1)
    stopped = State.start(small_encoder(), np.random.default_rng(1))
    for report in learn(vectors(), stopped, *corpus(), QUICK, 1):
        if report.step == 20:
            break
    arrays = {name: array.copy() for name, array in stopped.arrays().items()}
    numbers = json.loads(json.dumps(stopped.numbers()))
    again = State.start(small_encoder(), np.random.default_rng(9))
    again.restore(arrays, numbers)
    *_, last = learn(vectors(), again, *corpus(), QUICK, 1)
    assert (last.step, last.words, last.best_score) == (
        expected.step, expected.words, expected.best_score,
    )  # fmt: skip
    for name, array in last.best.parameters().items():
        np.testing.assert_array_equal(array, expected.best.parameters()[name])


def test_a_corpus_without_repeated_words_is_refused() -> None:
    state = State.start(small_encoder(), np.random.default_rng(1))
    with pytest.raises(NothingToLearn, match="only 0 words occur 20 times"):
        next(learn(vectors(), state, *corpus(20), QUICK, 1))


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small model without learned attention."""
    from ctxembed.text.corpus import Corpus
    from ctxembed.training.train import train

    folder = tmp_path_factory.mktemp("encoder")
    text = topics_corpus(folder / "corpus.txt")
    train(Corpus([str(text)], lines=True), folder / "m", dim=16, epochs=10, attention=False)
    return folder / "m"


def test_learn_saves_the_same_encoder_again(trained: Path, run: Run) -> None:
    saved = []
    for name in ("encoder", "again"):
        options = () if name == "encoder" else ("--name", name)
        command = ("learn", "--layer", "encoder", "--layers", "1", "--epochs", "2", *options)
        done = run(*command, "-m", str(trained))
        assert done.returncode == 0, done.stderr
        assert f"attention\t{name}\nlayers\t1\nwidth\t128\nheads\t8\n" in done.stdout
        folder = trained / "attention" / name
        saved.append({f.name: f.read_bytes() for f in sorted(folder.iterdir())})
    assert saved[0] == saved[1] and saved[0].keys() == {"encoder.npy", "layer.json"}
    figures = load_attention(Model.open(trained), "encoder").figures
    assert figures["loss"] < figures["loss_before"]
    info = run("info", "-m", str(trained), "-f", "tsv").stdout
    assert "attention.encoder.kind\tencoder\n" in info
    assert "attention.encoder.layers\t1\n" in info
    assert run("info", "--check", "-m", str(trained)).returncode == 0


def test_an_interrupt_keeps_the_best_encoder(
    trained: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def stop(*arguments: Any) -> Iterator[Report]:
        for report in learn(*arguments):
            yield report
            if report.step >= 100:
                raise KeyboardInterrupt

    monkeypatch.setattr(learn_encoder, "learn", stop)
    with pytest.raises(KeyboardInterrupt):
        learn_model(Model.open(trained), "stopped", layer="encoder", layers=1, epochs=20)
    saved = load_attention(Model.open(trained), "stopped")
    assert saved.settings["ended"] == "interrupted" and saved.settings["steps_taken"] == 100
    assert saved.figures["loss"] < saved.figures["loss_before"]


@pytest.mark.parametrize(
    "options",
    [
        ("--layer", "encoder", "--layers", "5"),
        ("--layer", "encoder", "--heads", "7"),
        ("--layer", "encoder", "--positions", "decay"),
        ("--layer", "recurrent", "--layers", "1"),
        ("--layers", "1"),
        ("--layer", "encoder", "--name", "learned"),
    ],
)
def test_impossible_options_are_refused(options: tuple[str, ...], trained: Path, run: Run) -> None:
    done = run("learn", *options, "-m", str(trained))
    assert done.returncode == 2 and not done.stdout
