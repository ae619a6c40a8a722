"""The word list: counts by Python's Counter, spread by hand, layers, selections."""

from collections import Counter
from pathlib import Path

import pytest

from ctxembed.errors import UsageError
from ctxembed.model.model import Model
from ctxembed.queries.wordlist import wordlist
from ctxembed.training.index_ import index
from tests.conftest import TEXT, Run


@pytest.mark.parametrize("length", [1, 2, 3, 4])
def test_counts_are_those_of_counter(tiny: Path, length: int) -> None:
    expected = Counter[str]()
    for line in TEXT:
        words = line.split()
        parts = zip(*(words[at:] for at in range(length)), strict=False)
        expected.update(map(" ".join, parts))
    table = wordlist(tiny, number=100, length=length)
    assert dict(zip(table["word"], table["count"], strict=True)) == dict(expected)
    assert table["count"] == sorted(table["count"], reverse=True)
    tokens = sum(len(line.split()) for line in TEXT)
    assert table["per_million"] == [1e6 * count / tokens for count in table["count"]]


def test_spread_by_hand(tiny: Path) -> None:
    # Lines are documents, of 4, 3, 5, 3, 4 and 3 words; `bank` is once in the fourth and fifth
    rows = {row["word"]: row for row in wordlist(tiny, number=100)}
    shares = [4 / 22, 3 / 22, 5 / 22, 3 / 22, 4 / 22, 3 / 22]
    own = [0, 0, 0, 0.5, 0.5, 0]
    by_hand = sum(abs(a - b) for a, b in zip(own, shares, strict=True)) / 2
    assert rows["bank"]["dp"] == pytest.approx(by_hand) and rows["bank"]["documents"] == 2
    assert rows["quay"]["count"] == 1  # a word without a vector


def test_content_words(tiny: Path) -> None:
    assert "the" not in wordlist(tiny, content=True)["word"]
    pairs = wordlist(tiny, length=2, content=True)["word"]
    assert "apple juice" in pairs and not any("the" in pair.split() for pair in pairs)


def test_layers_and_documents(run: Run, tmp_path: Path) -> None:
    rest = "\t_" * 6
    lines = [
        "# newdoc id = a",
        f"1\tbanks\tbank\tNOUN{rest}",
        f"2\tBank\tbank\tVERB{rest}",
        "",
        "# newdoc id = b",
        f"1\triver\triver\tNOUN{rest}",
        "",
    ]
    (tmp_path / "a.conllu").write_text("\n".join(lines) + "\n")
    index("everyday", str(tmp_path / "a.conllu"), tmp_path / "m")
    at = ("-m", str(tmp_path / "m"))
    lemmas = run("wordlist", "--layer", "lemma", *at).stdout.splitlines()[1:]
    assert [line.split("\t")[:3] for line in lemmas] == [["1", "bank", "2"], ["2", "river", "1"]]
    tags = run("wordlist", "--layer", "pos", "--length", "2", *at).stdout.splitlines()[1:]
    assert [line.split("\t")[1:3] for line in tags] == [["NOUN VERB", "1"]]
    part = run("wordlist", "--where", "document=b", *at).stdout.splitlines()[1:]
    assert [line.split("\t")[1:3] for line in part] == [["river", "1"]]


def test_refusals(run: Run, tiny: Path) -> None:
    model = Model.open(tiny)
    with pytest.raises(UsageError, match="length=6 is not a whole number"):
        wordlist(model, length=6)
    with pytest.raises(UsageError, match="--layer lemma: this corpus has none"):
        wordlist(model, layer="lemma")
    assert run("wordlist", "--length", "9", "-m", str(tiny)).returncode == 2
