"""Words that go together become one, in the index and in every question."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.text.build_index import build
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.phrases import Phrases, find_pairs, join_known
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.train import train
from tests.conftest import Run

PASSES = (frozenset({("a", "b"), ("b", "b"), ("b", "c")}), frozenset({("a_b", "c"), ("a", "b_b")}))


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from("abcd"), min_size=1, max_size=9), min_size=1, max_size=9))
def test_the_index_is_joined_as_the_tokenizer_joins(text: list[list[str]]) -> None:
    import tempfile

    lines = "".join(" ".join(sentence) + "\n" for sentence in text)
    phrases = Phrases(passes=PASSES)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        (folder / "c.txt").write_text(lines)
        corpus = Corpus([str(folder / "c.txt")], lines=True)
        counted = build(corpus, Tokenizer(), folder, 1, Progress(), keep=True)
        counted = join_known(folder, counted, phrases)
        index = Index(folder, counted.types, counted.files, lambda: phrases)
        expected = [phrases.words(" ".join(sentence)) for sentence in text]
        assert [index.words(index.sentence(i)) for i in range(len(text))] == expected
        counts = Counter(word for sentence in expected for word in sentence)
        assert {w: n for w, n in zip(counted.types, counted.counts.tolist(), strict=True) if n} == (
            counts
        )
        assert counted.tokens == sum(counts.values())
        assert index.documents.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
        assert index.original
        for position, row in enumerate(index.ids.tolist()):
            hit = index.original.around(position, 1, 5)[1]
            assert hit.replace(" ", "_") == counted.types[row]


def test_pairs_by_hand(tmp_path: Path) -> None:
    # "red tape" always together: NPMI 1. "big" and "red" meet as often as chance has it.
    (tmp_path / "c.txt").write_text("red tape\nbig man\n" * 6 + "big tree\ntall man\n" * 20)
    counted = build(Corpus([str(tmp_path / "c.txt")]), Tokenizer(), tmp_path, 1, Progress())
    pairs = find_pairs(tmp_path, counted, 5)
    n = counted.tokens
    counts = dict(zip(counted.types, counted.counts.tolist(), strict=True))

    def npmi(a: str, b: str, together: int) -> float:
        return float(np.log(together * n / (counts[a] * counts[b])) / -np.log(together / n))

    assert npmi("red", "tape", 6) == pytest.approx(1)
    phrases = {(counted.types[a], counted.types[b]) for a, b in pairs.tolist()}
    expected = {
        (a, b)
        for a, b, together in [
            ("red", "tape", 6), ("big", "man", 6), ("big", "tree", 20), ("tall", "man", 20)
        ]
        if npmi(a, b, together) >= 0.6
    }  # fmt: skip
    assert phrases == expected and ("red", "tape") in phrases and ("big", "man") not in phrases


TEXT = """They moved to New York in May. The new house in York is old.
New York City is a city. An old man saw a new car in York.
"""


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with new_york in it."""
    folder = tmp_path_factory.mktemp("phrases")
    (folder / "a.txt").write_text(
        (TEXT + "The New York bank closed.\nHe ate some bread and cheese at home.\n") * 12
    )
    table = train(folder / "a.txt", folder / "m", phrases=True, attention=False, min_count=1, dim=5)
    assert any(record["property"] == "phrases" for record in table.records())
    return folder / "m"


def test_every_command_takes_a_phrase(run: Run, trained: Path) -> None:
    at = ("-m", str(trained))
    assert Model.open(trained).vocabulary.find("New York") is not None
    assert Model.open(trained).vocabulary.tokenizer.words("in New York.") == ["in", "new_york"]
    for line in (
        ["neighbors", "New York"], ["show", "--vector", "new york"],
        ["similarity", "New York", "york"],
        ["show", "NEW YORK"], ["compare", "They went to [New York]"], ["kwic", "New York"],
        ["collocates", "New York"], ["senses", "New York"], ["ambiguity", "New York"],
        ["shift", str(trained), str(trained), "New York"],
    ):  # fmt: skip
        done = run(*line, *at) if line[0] != "shift" else run(*line)
        assert done.returncode == 0, (line, done.stderr)
        assert "new_york" in done.stdout or "New York" in done.stdout, line
    rows = json.loads(run("kwic", "new york", "-n", "2", "-f", "json", *at).stdout)
    assert [(row["left"], row["hit"]) for row in rows] == [
        ("They moved to", "New York"),
        ("", "New York"),
    ]


def test_without_phrases_several_words_are_their_mean(run: Run, tiny: Path) -> None:
    done = run("show", "--vector", "apple phone", "--precision", "2")
    assert done.stdout.splitlines()[1] == "apple phone\t0.45\t0.65\t0.00\t0.00"
    assert run("show", "--vector", "apple zebra").returncode == 4


def test_phrases_are_words_only(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n")
    done = run("train", "a.txt", "--phrases", "--unit", "character", cwd=tmp_path)
    assert (done.returncode, "--phrases joins words" in done.stderr) == (2, True)
