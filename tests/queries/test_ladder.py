"""Two words under every representation, against other computations."""

import json

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from tests.conftest import EVERYDAY, TEXT, WORDS, Run, mentions

A, B = "the apple juice sweet", "the apple launched the phone"


def cosine(one: object, other: object) -> float:
    return float(cosine_similarity([one], [other])[0, 0])


def rungs(run: Run, *arguments: str) -> dict[str, dict[str, float]]:
    done = run("ladder", *arguments, "-f", "json")
    assert done.returncode == 0, done.stderr
    return {row["representation"]: row for row in json.loads(done.stdout)}


def test_one_word_in_two_sentences(run: Run) -> None:
    cosines = rungs(run, "apple", "apple", "--sentences", A, B)
    assert list(cosines) == ["one-hot", "bow", "tfidf", "static", "bag", "general"]
    assert [cosines[name]["dim"] for name in cosines] == [10, 10, 10, 4, 4, 4]
    assert cosines["one-hot"]["cosine"] == 1
    assert cosines["one-hot"]["zeros"] == pytest.approx(0.9)
    assert cosines["bow"]["cosine"] == pytest.approx(3 / np.sqrt(4 * 7))  # the·2the + apple
    assert cosines["bow"]["zeros"] == pytest.approx(12 / 20)
    fitted = TfidfVectorizer().fit(TEXT).transform([A, B])
    assert cosines["tfidf"]["cosine"] == pytest.approx((fitted[0] @ fitted[1].T).sum())
    assert cosines["static"]["cosine"] == pytest.approx(1)
    bags = [
        np.mean([WORDS[word] for word in text.split() if word != "apple"], axis=0)
        for text in (A, B)
    ]
    assert cosines["bag"]["cosine"] == pytest.approx(cosine(*bags), abs=1e-6)
    assert cosines["general"]["cosine"] < 1


def test_two_words_without_sentences_take_them_from_the_corpus(run: Run) -> None:
    done = run("ladder", "apple", "bank")
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert lines[0] == ["representation", "dim", "zeros", "cosine", "tells"]
    assert lines[1] == ["one-hot", "10", "0.900000", "0.000000", "which word it is"]
    assert lines[4][:4] == ["static", "4", "0.500000", "0.000000"]
    notes = done.stderr.splitlines()
    assert notes[2] == "ctxembed: chosen to show the lesson; --sentences A B takes yours"
    for note, word in zip(notes, ("apple", "bank"), strict=False):
        quoted = note.removeprefix("ctxembed: in the corpus: ").replace(f"[{word}]", word)
        assert any(quoted == text.replace(" quay", "") for text in TEXT)  # quay has no vector


def test_the_sentences_chosen_show_the_lesson(run: Run) -> None:
    """Two words come closer in context than counts of words can tell; one word comes apart."""
    everyday = {"CTXEMBED_MODEL": str(EVERYDAY)}
    for pair in (("bank", "river"), ("apple", "pear"), ("apple", "orange")):
        done = run("ladder", *pair, "-f", "json", env=everyday)
        cosines = {row["representation"]: row["cosine"] for row in json.loads(done.stdout)}
        assert cosines["one-hot"] == 0
        assert cosines["learned"] > cosines["bow"] + 0.1
        assert cosines["learned"] > cosines["static"] + 0.02
    for word in ("bank", "apple"):
        done = run("ladder", word, word, "-f", "json", env=everyday)
        cosines = {row["representation"]: row["cosine"] for row in json.loads(done.stdout)}
        assert cosines["static"] == pytest.approx(1)
        assert cosines["learned"] < 0.3 < cosines["one-hot"]


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("king", "queen", (0.18 + 0.02 + 0.4) / np.sqrt(2.18 * 1.29)),
        ("king", "cricket", (0.12 + 0.09 + 0.9 + 0.36) / np.sqrt(2.18 * 2.63)),
        ("queen", "cricket", (0.06 + 0.18 + 0.36 + 0.9) / np.sqrt(1.29 * 2.63)),
    ],
)
def test_the_vectors_of_the_notes(run: Run, one: str, other: str, expected: float) -> None:
    cosines = rungs(run, one, other, "--vectors", "king-queen-cricket")
    assert cosines["one-hot"]["cosine"] == 0
    assert cosines["static"]["cosine"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("form", ["table", "csv", "jsonl", "markdown"])
def test_formats(run: Run, form: str) -> None:
    done = run("ladder", "apple", "bank", "-f", form, "-q")
    assert (done.returncode, done.stderr) == (0, "")
    assert "one-hot" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["apple", "aple"], 4, "'aple' vocabulary apple"),
        (
            ["apple", "bank", "--sentences", A, B],
            2,
            "--sentences 'bank' the apple phone",
        ),
        (["apple"], 2, "Missing argument 'WORD2'"),
        (["apple", "bank", "--vectors", "nothing"], 5, "nothing file"),
    ],
)
def test_errors(run: Run, arguments: list[str], code: int, message: str) -> None:
    done = run("ladder", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)
