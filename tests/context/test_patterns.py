"""Patterns: alternatives, optional words, regular expressions, layers; against Python's re."""

import re
import time
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.hits import find_all, find_hits
from ctxembed.context.patterns import compile_regex, is_pattern
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.training.index_ import index
from tests.conftest import Run, write_tiny

WORDS = ("the", "bank", "banks", "of", "river", "money")
TAGS = {
    "the": "DET",
    "bank": "NOUN",
    "banks": "NOUN",
    "of": "ADP",
    "river": "NOUN",
    "money": "NOUN",
}


@pytest.fixture(scope="module")
def annotated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model over 300 random sentences with lemmas and tags; a quarter of banks are verbs."""
    folder, rng = tmp_path_factory.mktemp("patterns"), np.random.default_rng(3)
    lines = []
    for _ in range(300):
        for number in range(int(rng.integers(2, 8))):
            word = WORDS[rng.integers(len(WORDS))]
            tag = "VERB" if word == "banks" and rng.random() < 0.25 else TAGS[word]
            lemma = "bank" if word == "banks" else word
            lines.append("\t".join([str(number + 1), word, lemma, tag, *"______"]))
        lines.append("")
    (folder / "a.conllu").write_text("\n".join(lines) + "\n", encoding="utf-8")
    index("everyday", str(folder / "a.conllu"), folder / "m")
    return folder / "m"


def spans(model: Model, query: str) -> set[tuple[int, int]]:
    return {(int(p), hits.size) for hits in find_all(model, query) for p in hits.positions}


def expected(model: Model, pattern: str) -> set[tuple[int, int]]:
    """Return the matches, from every position, of a regular expression over word/lemma/tag."""
    found, corpus = set(), model.index
    assert corpus is not None
    lemma, pos = (corpus.layers[name] for name in ("lemma", "pos"))
    for begin, end in zip(corpus.offsets[:-1], corpus.offsets[1:], strict=True):
        tokens = [
            f"{word}/{lemma.values[lemma.numbers[i]]}/{pos.values[pos.numbers[i]]} "
            for i, word in zip(range(begin, end), corpus.words(corpus.ids[begin:end]), strict=True)
        ]
        for first in range(len(tokens)):
            if match := re.match(pattern, "".join(tokens[first:])):
                found.add((int(begin) + first, match[0].count(" ")))
    return found


@pytest.mark.parametrize(
    ("query", "pattern"),
    [
        ("bank|banks", r"banks?/\S+ "),
        ("the bank|river of", r"the/\S+ (?:bank|river)/\S+ of/\S+ "),
        ("/b.*s/", r"b[^/]*s/\S+ "),
        ("/RIVER|money/ *", r"(?:river|money)/\S+ \S+ "),
        ("lemma=bank", r"\w+/bank/\S+ "),
        ("lemma=bank&pos=VERB of", r"\w+/bank/VERB of/\S+ "),
        ("banks&pos=NOUN", r"banks/bank/NOUN "),
        ("pos=D* pos=/N..N/", r"\w+/\w+/DET \w+/\w+/NOUN "),
        ("lemma=river|money pos=ADP", r"\w+/(?:river|money)/\w+ \w+/\w+/ADP "),
        ("* of", r"\S+ of/\S+ "),
        ("ba* of", r"ba\w*/\S+ of/\S+ "),
    ],
)
def test_as_a_regular_expression_finds_it(annotated: Path, query: str, pattern: str) -> None:
    model = Model.open(annotated)
    found = spans(model, query)
    assert found == expected(model, pattern) and found


def test_optional_words(annotated: Path) -> None:
    model = Model.open(annotated)
    longest = expected(model, r"bank/\S+ of/\S+ (?=the|bank|banks|of|river|money)\S+ river/\S+ ")
    shorter = expected(model, r"bank/\S+ of/\S+ river/\S+ ")
    assert spans(model, "bank of ? river") == longest | shorter and longest and shorter
    plain = expected(model, r"river/\S+ ")
    after_the = expected(model, r"the/\S+ river/\S+ ")
    inside = {(position + 1, 1) for position, _ in after_the}
    assert spans(model, "the? river") == after_the | (plain - inside)


def test_what_cannot_match_says_so(run: Run, annotated: Path) -> None:
    model = Model.open(annotated)
    for query, message in (
        ("zebra|gnu", "no word of the corpus is zebra|gnu"),
        ("the /z+/", "no word of the corpus is /z+/"),
        ("lemma=zebra", "no word of the corpus is lemma=zebra"),
        ("bank pos=XX", "no word of the corpus is pos=XX"),
    ):
        with pytest.raises(UnknownWordError) as error:
            find_all(model, query)
        assert message in str(error.value)
        assert run("kwic", query, "-m", str(annotated)).returncode == 4
    assert "0 occurrences" in run("kwic", "of of of of of of of of", "-m", str(annotated)).stderr


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("bank|", "nothing on one side of |"),
        ("bank&river&pos=NOUN", "two words joined by &"),
        ("/(/", "not a regular expression"),
        ("/(a+)+b/", "a repeat within a repeat"),
        ("/(a|a*)*/", "a repeat within a repeat"),
        ("/(a)\\1/", "references and conditions"),
        ("/a*b*c*d*e*f*/", "more than 4 repeats"),
        (f"/{'a' * 300}/", "longer than 200 letters"),
        ("? ?", "no word in it"),
        ("a? b? c? d? e? f? g? of", "at most 6 words"),
        ("of|new.york city", "of|new.york: one of these is not one word"),
    ],
)
def test_patterns_that_are_refused(annotated: Path, query: str, message: str) -> None:
    with pytest.raises((UsageError, UnknownWordError)) as error:
        find_all(Model.open(annotated), query)
    assert message in str(error.value)


def test_a_corpus_without_layers(tmp_path: Path) -> None:
    model = Model.open(write_tiny(tmp_path / "tiny"))
    with pytest.raises(UsageError, match="this corpus has no lemma"):
        find_all(model, "lemma=bank")
    with pytest.raises(UsageError, match="only kwic and collocates"):
        find_hits(model, "the? bank")
    assert find_hits(model, "apple|orange").positions.tolist() == [1, 5, 6, 8, 19]


def test_the_slowest_regular_expression_ends() -> None:
    pattern, begun = compile_regex("/a*a*a*a*b/"), time.process_time()
    assert pattern.fullmatch("a" * 100) is None
    assert time.process_time() - begun < 30  # it does not grow with the corpus


def test_what_a_pattern_is() -> None:
    plain = ["bank", "New York", "what?", "and/or", "don't", "AT&T"]
    assert not any(map(is_pattern, plain))


def test_the_words_beside(run: Run, tiny: Path) -> None:
    def rights(*where: str) -> list[str]:
        options = [part for text in where for part in ("--where", text)]
        lines = run("kwic", "apple", *options, "-m", str(tiny)).stdout.splitlines()[1:]
        return [line.split("\t")[5] for line in lines]

    assert rights("R1=juice") == ["juice sweet"]
    assert rights("r2=sweet,the") == ["juice sweet", "launched the phone"]
    assert rights("l1!=the") == []
    assert rights("r1!=juice and l1=the") == ["orange", "launched the phone"]
