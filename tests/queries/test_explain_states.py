"""The rows of a recurrent network: by hand, by leaving words out, and from the command line."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.recurrent import (
    Recurrent,
    random_recurrent,
    read_sentences,
    read_with_shares,
)
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from tests.conftest import Run, mentions

SENTENCE = "the sweet [apple] juice"


@pytest.fixture
def network() -> Recurrent:
    return random_recurrent(4, np.random.default_rng(3), size=4)


@pytest.fixture
def folder(tiny: Path, tmp_path: Path, network: Recurrent) -> Path:
    """Return a copy of the small model with a recurrent network of four numbers."""
    model = Model.open(shutil.copytree(tiny, tmp_path / "m"))
    save_attention(model, "recurrent", Saved(network, inputs="raw"))
    return model.path


def look_up(folder: Path) -> Floats:
    """Return (4, d) the vectors of the sentence."""
    model = Model.open(folder)
    ids = [model.vocabulary.row(word) for word in ("the", "sweet", "apple", "juice")]
    return np.asarray(model.vectors[np.array(ids)], np.float64)


def explain(run: Run, *options: str, sentence: str = SENTENCE) -> list[dict[str, Any]]:
    done = run("explain", sentence, "--attention", "recurrent", "-m", "m", "-f", "json", *options)
    assert done.returncode == 0, done.stderr
    rows: list[dict[str, Any]] = json.loads(done.stdout)
    return rows


def test_steps_in_the_order_of_reading(folder: Path, run: Run) -> None:
    rows = explain(run)
    read = [(row["reading"], row["token"], row["position"]) for row in rows]
    assert read == [
        ("forward", "the", 1), ("forward", "sweet", 2), ("forward", "apple", 3),
        ("backward", "juice", 4), ("backward", "apple", 3), ("own", "apple", None),
    ]  # fmt: skip
    assert rows[0]["comes_in"] == rows[3]["comes_in"] == 1  # the state is 0 before
    assert all(0 < row["kept"] < 1 and 0 < row["comes_in"] <= 1 for row in rows[:-1])


def test_left_is_what_the_output_loses(folder: Path, network: Recurrent, run: Run) -> None:
    x = look_up(folder)
    output = read_sentences(network, x[None], np.array([2])).output[0]
    shares = {row["token"]: row["left"] for row in explain(run) if row["token"] != "apple"}
    for at, word in ((0, "the"), (1, "sweet"), (3, "juice")):
        target = np.array([1 if at < 2 else 2])
        without = read_sentences(network, np.delete(x, at, axis=0)[None], target).output[0]
        expected = (output - without) @ output / (output @ output)
        assert shares[word] == pytest.approx(expected, rel=1e-6)


def test_sentences_read_together_have_the_shares_of_each_alone(network: Recurrent) -> None:
    x = np.random.default_rng(3).normal(size=(5, 6, network.w.shape[1]))
    targets = np.array([0, 5, 2, 2, 4])
    output, shares = read_with_shares(network, x, targets)
    np.testing.assert_allclose(output, read_sentences(network, x, targets).output)
    for row, target in enumerate(targets):
        for at in set(range(6)) - {target}:
            rest = np.delete(x[row], at, axis=0)[None]
            less = read_sentences(network, rest, np.array([target - (at < target)])).output[0]
            lost = (output[row] - less) @ output[row] / (output[row] @ output[row])
            assert shares[row, :, at].sum() == pytest.approx(lost)
            assert shares[row, int(at < target), at] == 0  # only the reading on its side


def test_all_parts_of_a_word_alone_sum_to_one(folder: Path, run: Run) -> None:
    rows = explain(run, sentence="[apple]")
    assert [row["reading"] for row in rows] == ["forward", "backward", "own"]
    assert sum(row["left"] for row in rows) == pytest.approx(1)


def test_sort_and_top(folder: Path, run: Run) -> None:
    left = [abs(row["left"]) for row in explain(run)]
    assert [abs(row["left"]) for row in explain(run, "--sort", "weight")] == sorted(left)[::-1]
    assert len(explain(run, "--top", "2")) == 2


@pytest.mark.parametrize(
    "option", [["--head", "1"], ["--steps"], ["--recipe"], ["--check"], ["--over", "the tree"]]
)
def test_what_is_for_attention_is_refused(option: list[str], folder: Path, run: Run) -> None:
    done = run("explain", SENTENCE, "--attention", "recurrent", "-m", "m", *option)
    assert done.returncode == 2
    assert mentions(done.stderr, "--attention recurrent only --sort and --top")


def test_it_is_a_row_of_every_comparison(folder: Path, network: Recurrent, run: Run) -> None:
    done = run("compare", SENTENCE, "-m", "m", "-f", "json")
    rows = {row["representation"]: row for row in json.loads(done.stdout)}
    assert list(rows) == ["static", "bag", "general", "recurrent"]
    assert -1 <= rows["recurrent"]["cos_static"] <= 1
    done = run("ladder", "apple", "juice", "-m", "m", "-f", "json")
    assert json.loads(done.stdout)[-1]["representation"] == "recurrent"
    arguments = ("--attention", "recurrent", "-m", "m", "-f", "json")
    done = run("contextualize", "-", *arguments, stdin=SENTENCE)
    (row,) = json.loads(done.stdout)
    x = look_up(folder).astype(np.float32)
    expected = read_sentences(network, x[None], np.array([2])).output[0]
    np.testing.assert_allclose(row["vector"], expected, rtol=1e-5)


@pytest.mark.parametrize("length", [3, 99, 100, 101, 260])
def test_every_word_of_a_sentence_as_if_it_were_marked(length: int, folder: Path, run: Run) -> None:
    words = ["the", "sweet", "apple", "juice"] * 65
    options = ("--attention", "recurrent", "-m", "m", "-f", "json")
    done = run("contextualize", "-", "--all", *options, stdin=" ".join(words[:length]))
    every = [row["vector"] for row in json.loads(done.stdout)]
    assert len(every) == length
    for at in (0, length // 2, length - 1):
        marked = [f"[{word}]" if i == at else word for i, word in enumerate(words[:length])]
        done = run("contextualize", "-", *options, stdin=" ".join(marked))
        (row,) = json.loads(done.stdout)
        np.testing.assert_allclose(every[at], row["vector"], rtol=1e-4, atol=1e-6)


def test_a_corpus_is_read_as_its_sentences_are(folder: Path) -> None:
    from ctxembed.context.networks import RecurrentRepresentation
    from ctxembed.context.occurrences import Windows
    from ctxembed.context.parse import parse
    from ctxembed.context.representations import Representations

    model = Model.open(folder)
    network = Representations.of(model).get("recurrent")
    assert isinstance(network, RecurrentRepresentation)
    items = [parse(model, text).occurrences[0] for text in (SENTENCE, "[apple] juice")]
    ids = np.zeros((2, 4), np.int32)
    ids[0], ids[1, 1:3] = items[0].ids, items[1].ids  # the second one has padding on both sides
    mask = np.array([[True] * 4, [False, True, True, False]])
    batch = Windows(ids, mask, np.array([2, 1]), np.arange(2))
    np.testing.assert_allclose(network.embed(batch), network.vectors(items), atol=1e-6)


def test_notes_say_what_the_columns_are(folder: Path, run: Run) -> None:
    done = run("explain", SENTENCE, "--attention", "recurrent", "-m", "m")
    assert "state = kept · state + (1 - kept) · new" in done.stderr
    assert "left: share of the word in the output" in done.stderr


def test_the_ladder_says_that_it_reads_word_by_word(folder: Path, run: Run) -> None:
    rows = json.loads(run("ladder", "apple", "juice", "-m", "m", "-f", "json").stdout)
    tells = {row["representation"]: row["tells"] for row in rows}
    assert tells["recurrent"] == "its meaning here, word by word"
    assert tells["general"] == "its meaning here, no parameters"


def test_it_is_a_row_of_evaluate(folder: Path, run: Run) -> None:
    senses = {"sweet [apple] juice": "fruit", "new [apple] phone": "company"}
    lines = (f"{sense}\t{text}\n" for text, sense in senses.items() for _ in range(5))
    (folder.parent / "apple.tsv").write_text("".join(lines))
    done = run("evaluate", "senses", "apple.tsv", "-m", "m", "-f", "json")
    assert done.returncode == 0, done.stderr
    assert "recurrent" in {row["representation"] for row in json.loads(done.stdout)}


def test_a_damaged_network_is_reported(folder: Path, run: Run) -> None:
    assert run("info", "-m", "m", "--check").returncode == 0
    path = folder / "attention" / "recurrent" / "u.npy"
    array = np.load(path)
    array[0, 0, 0] = np.nan
    np.save(path, array)
    done = run("info", "-m", "m", "--check")
    assert done.returncode == 3
    assert "u.npy" in done.stderr


@pytest.mark.parametrize("command", ["ablate", "positions"])
def test_commands_that_need_weights_say_so(command: str, folder: Path, run: Run) -> None:
    text = [SENTENCE] if command == "ablate" else []
    done = run(command, *text, "--attention", "recurrent", "-m", "m")
    assert done.returncode == 2
    assert "--attention recurrent" in done.stderr
