"""Counts against scikit-learn and against the lecture notes; vectors against their mean."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer

from ctxembed.model.model import Model
from tests.conftest import Run, mentions

DOCUMENTS = "mat cat mat\ncat rat rat\n"


def test_one_hot_of_the_notes(run: Run) -> None:
    assert run("vectorize", "-", "--method", "one-hot", stdin=DOCUMENTS).stdout == (
        "word\tmat\tcat\trat\nmat\t1\t0\t0\ncat\t0\t1\t0\nrat\t0\t0\t1\n"
    )


def test_bag_of_words_of_the_notes(run: Run) -> None:
    chosen = run("vectorize", "-", "--columns", "mat,rat,cat", stdin=DOCUMENTS)
    assert chosen.stdout == "sentence\tmat\trat\tcat\n1\t2\t0\t1\n2\t0\t2\t1\n"
    assert run("vectorize", "-", stdin=DOCUMENTS).stdout == (
        "sentence\tcat\tmat\trat\n1\t1\t2\t0\n2\t1\t0\t2\n"
    )


def test_tfidf_by_hand_and_by_scikit_learn(run: Run) -> None:
    idf = np.log(3 / 2) + 1  # of mat and rat; cat is in both: ln(3/3) + 1 = 1
    length = np.hypot(2 * idf, 1)
    done = run("vectorize", "-", "--method", "tfidf", "-f", "json", stdin=DOCUMENTS)
    rows = json.loads(done.stdout)
    assert rows[0] == {
        "sentence": 1,
        "cat": pytest.approx(1 / length),
        "mat": pytest.approx(2 * idf / length),
        "rat": 0.0,
    }
    theirs = TfidfVectorizer().fit_transform(DOCUMENTS.splitlines()).toarray()
    own = [[row["cat"], row["mat"], row["rat"]] for row in rows]
    np.testing.assert_allclose(own, theirs, atol=1e-15)


def test_a_column_may_have_the_name_of_the_first(run: Run) -> None:
    assert run("vectorize", "-", stdin="a sentence\n").stdout == "sentence\ta\tsentence_\n1\t1\t1\n"


def test_triples(run: Run) -> None:
    assert run("vectorize", "-", "--sparse", stdin=DOCUMENTS).stdout == (
        "sentence\tword\tvalue\n1\tcat\t1\n1\tmat\t2\n2\tcat\t1\n2\trat\t2\n"
    )
    assert run("vectorize", "-", "--sparse", "--method", "one-hot", stdin="a b").stdout == (
        "word\tcolumn\tvalue\na\ta\t1\nb\tb\t1\n"
    )


def test_arrays(run: Run, tmp_path: Path, model: Model) -> None:
    done = run("vectorize", "-", "-o", "counts.npz", stdin=DOCUMENTS)
    assert (done.stdout, done.returncode) == ("", 0)
    assert mentions(done.stderr, "2~rows 3~numbers counts.npz")
    path = tmp_path / "counts.npz"
    assert sparse.load_npz(path).toarray().tolist() == [[1, 2, 0], [1, 0, 2]]
    assert np.load(path)["columns"].tolist() == ["cat", "mat", "rat"]
    run("vectorize", "-", "--method", "static", "-o", "v.npz", stdin="apple phone\n\nquay\nriver\n")
    arrays = np.load(tmp_path / "v.npz")
    assert arrays["sentence"].tolist() == [1, 3]  # quay has no vector
    expected = model.vectors[[model.vocabulary.row("apple"), model.vocabulary.row("phone")]].mean(
        axis=0
    )
    np.testing.assert_allclose(arrays["vectors"][0], expected)


@pytest.mark.parametrize("method", ["static", "bag", "general"])
def test_a_sentence_is_the_mean_of_its_words(run: Run, method: str) -> None:
    text = "apple juice the phone"
    whole = run("vectorize", "-", "--method", method, "-f", "json", stdin=text)
    (row,) = json.loads(whole.stdout)
    words = run("contextualize", "-", "--all", "--attention", method, "-f", "json", stdin=text)
    mean = np.mean([word["vector"] for word in json.loads(words.stdout)], axis=0)
    np.testing.assert_allclose(row["vector"], mean, atol=1e-6)


def test_formats(run: Run) -> None:
    def printed(form: str) -> str:
        return run("vectorize", "-", "-f", form, stdin="b a b").stdout

    assert printed("csv") == "sentence,a,b\n1,1,2\n"
    assert printed("jsonl") == '{"sentence": 1, "a": 1, "b": 2}\n'
    assert printed("markdown").splitlines()[2].split() == ["|", "1", "|", "1", "|", "2", "|"]
    assert printed("table").splitlines()[2].split() == ["1", "1", "2"]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (["missing.txt"], "", 5, "missing.txt file"),
        (["-"], "", 2, "words"),
        (["-", "--method", "one-hot"], "...\n", 2, "words"),
        (["-", "-o", "x.csv"], "a", 2, "-o x.csv"),
        (["-", "--columns", "a,b,a"], "a b", 2, "--columns 'a' twice"),
        (["-", "--columns", "a,c", "--method", "one-hot"], "a b", 2, "'c' text"),
        (["-", "--method", "static", "--sparse"], "a", 2, "tfidf"),
        (["-", "--method", "learned"], "apple", 3, "no attention 'learned'"),
        (["-"], " ".join(f"w{i}" for i in range(2001)), 2, "2001~columns many"),
    ],
)
def test_errors(run: Run, arguments: list[str], stdin: str, code: int, message: str) -> None:
    done = run("vectorize", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)
