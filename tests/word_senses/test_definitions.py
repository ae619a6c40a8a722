"""Definitions: each score once more by plain arithmetic; the bundled model on plain sentences."""

import json
import math
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.context.parse import Occurrence, Written
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import read_sentences
from ctxembed.errors import ModelError
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.queries.define import list_written
from ctxembed.word_senses.definitions import (
    UNSEEN,
    WITHOUT_EXAMPLES,
    Choice,
    Definitions,
    count_senses,
    describe_choice,
    is_proper,
)
from ctxembed.word_senses.dictionary import Dictionary, Sense, write_manifest
from ctxembed.word_senses.labelled import DECAY, FILE, LabelledSenses, near_words, write_labelled
from ctxembed.word_senses.parts_of_speech import PartsOfSpeech
from ctxembed.word_senses.sense_file import SenseFile, open_sources
from tests.conftest import ROOT, TEXT, WORDS

EVEN = dict.fromkeys("nvar", [1.0] * 9)  # weights of the parts of a score
COUNTS = {word: " ".join(TEXT).split().count(word) for word in WORDS}
SENSES = {  # definition, example, in words of the small model
    "money": ("the money", "bank money phone"),
    "river": ("the river juice", "the river bank"),
}


@pytest.fixture
def definitions(model: Model, tmp_path: Path) -> Definitions:
    lines = (f"bank\tn\t{label}\t{one}\t{two}\n" for label, (one, two) in SENSES.items())
    (tmp_path / "own.tsv").write_text("".join(lines))
    return Definitions(Representations.of(model), [SenseFile(str(tmp_path / "own.tsv"))])


def target(text: str, word: str) -> Occurrence:
    """Return a word of a sentence of the small model."""
    words, rows = text.split(), sorted(WORDS, key=lambda one: -COUNTS[one])
    ids = np.array([rows.index(one) for one in words], np.int32)
    span = range(words.index(word), words.index(word) + 1)
    return Occurrence(ids, span, Written(words, span))


def unit(x: list[float]) -> list[float]:
    size = math.sqrt(sum(a * a for a in x))
    return [a / size for a in x] if size else x


def add(*vectors: list[float]) -> list[float]:
    return [sum(column) for column in zip(*vectors, strict=True)]


def mean(vectors: list[list[float]]) -> list[float]:
    return [a / len(vectors) for a in add(*vectors)]


def dot(x: list[float], y: list[float]) -> float:
    return sum(a * b for a, b in zip(x, y, strict=True))


def test_scores_by_hand(definitions: Definitions) -> None:
    """All but the vectors of attention is computed here, with lists of numbers."""
    sentence = "the river bank quay".replace(" quay", "")

    def vectors(text: str) -> list[list[float]]:
        item = target(text, "bank")
        others = [WORDS[word] for word in text.split() if word != "bank"]
        return [definitions.attention.vectors([item])[0].tolist(), mean(others)]

    def weigh(text: str, weight: float) -> list[float]:
        tokens = sum(map(len, (line.split() for line in TEXT)))
        parts = [
            [weight * 1e-3 / (1e-3 + COUNTS[word] / tokens) * a for a in unit(WORDS[word])]
            for word in text.split()
        ]
        return add(*parts)

    in_texts = {
        label: [vectors(f"bank {one}"), vectors(two)] for label, (one, two) in SENSES.items()
    }
    means = [
        mean([unit(two[kind]) for texts in in_texts.values() for two in texts]) for kind in (0, 1)
    ]
    words = {
        label: add(weigh(one, 1), weigh(two, 0.5), weigh("bank", 0.5))
        for label, (one, two) in SENSES.items()
    }
    middle = mean([unit(vector) for vector in words.values()])

    def centre(x: list[float], m: list[float]) -> list[float]:
        return unit([a - b for a, b in zip(unit(x), m, strict=True)])

    own, scores = vectors(sentence), {}
    weights = WITHOUT_EXAMPLES["n"]
    for label in SENSES:
        score = weights[7] * math.log(1 + 0.3)  # a sense of a file counts 1
        for kind in (0, 1):
            here = centre(own[kind], means[kind])
            both = add(*(unit(two[kind]) for two in in_texts[label]))
            definition = centre(words[label], middle)
            for weight, x in zip(
                weights[3 * kind : 3 * kind + 3],
                (centre(both, means[kind]), definition, definition),
                strict=True,
            ):
                score += weight * dot(here, x)
        scores[label] = score
    total = sum(map(math.exp, scores.values()))
    (ranked,) = definitions.rank([target(sentence, "bank")])
    assert {choice.sense.key for choice in ranked} == {"bank%money", "bank%river"}
    for choice in ranked:
        label = choice.sense.key.removeprefix("bank%")
        assert choice.examples == 0
        parts = (choice.text or 0) + (choice.prior or 0)
        assert parts == pytest.approx(scores[label], abs=1e-4)
        assert choice.sure == pytest.approx(math.exp(scores[label]) / total, abs=1e-4)
    assert ranked[0].sense.key == "bank%river"
    (other,) = definitions.rank([target("the bank money", "bank")])
    assert other[0].sense.key == "bank%money"


def test_examples_by_hand(definitions: Definitions, tmp_path: Path) -> None:
    """n / (n + 1) times the cosine with the sense's sum less that with the lemma's sum."""
    model = definitions.representations.model
    folder = tmp_path / "labelled"
    folder.mkdir()
    sums = {
        3 * 64: (np.array([0, 0, 2, 0], float), 3.0), 5 * 64 + 1: (np.array([0, 0, 0, 1], float), 1)
    }  # fmt: skip
    write_labelled(folder, model, "general", sums, np.ones((32, 4)), [np.zeros(4)] * 6, EVEN)
    definitions.labelled = LabelledSenses.open(model, "general", folder)
    senses = [
        Sense("bank", "n", "a", "", (), (), 3, 3, 0), Sense("bank", "n", "b", "", (), (), 1, 5, 1),
        Sense("bank", "n", "c", "", (), (), 9, 5, 0),
    ]  # fmt: skip
    nearer = definitions._examples(senses, np.array([0, 0, 0.6, 0.8], np.float32))
    lemma = (0.6 * 2 + 0.8 * 1) / math.sqrt(5)
    assert nearer == pytest.approx([3 / 4 * (0.6 - lemma), 1 / 2 * (0.8 - lemma), 0], abs=1e-3)
    assert LabelledSenses.open(model, "learned", folder) is None


HARM: dict[str, Any] = {  # a file of the labelled senses and an array that does not belong there
    "vectors.npy": np.zeros((2, 9), np.int8), "means.npy": np.full((6, 4), np.nan, np.float32),
    "senses.npy": np.zeros((2, 1), np.uint32), "counts.npy": np.zeros(3, np.uint16),
    "projection.npy": np.full((32, 4), np.nan, np.float16),
}  # fmt: skip


@pytest.mark.parametrize("name", HARM)
def test_damaged_examples(name: str, model: Model, tmp_path: Path) -> None:
    sums = {64: (np.ones(4), 2.0), 128: (np.ones(4), 1.0)}
    write_labelled(tmp_path, model, "general", sums, np.ones((32, 4)), [np.ones(4)] * 6, EVEN)
    np.save(tmp_path / name, HARM[name])
    with pytest.raises(ModelError, match=f"{name}: damaged"):
        LabelledSenses.open(model, "general", tmp_path)
    meta = json.loads((tmp_path / FILE).read_text())
    kept = {key: value for key, value in meta.items() if key not in ("contents", "generation")}
    write_manifest(tmp_path, FILE, kept | {"weights": {"n": [1.0, "x"]}})
    with pytest.raises(ModelError, match=r"damaged .* install ctxembed again"):
        LabelledSenses.open(model, "general", tmp_path)


def test_damaged_parts_of_speech(tmp_path: Path) -> None:
    folder = tmp_path / "copy"
    shutil.copytree(ROOT / "corpora" / "dictionary", folder)
    here = Written(["the", "book"], range(1, 2))
    meta = json.loads((folder / "dictionary.json").read_text())
    kept = {key: value for key, value in meta.items() if key not in ("contents", "generation")}
    numbers = np.load(folder / "parts.npy")
    np.save(folder / "parts.npy", np.full_like(numbers, np.inf))
    write_manifest(folder, "dictionary.json", kept)
    fitted = PartsOfSpeech.of(Dictionary.open(folder))
    with pytest.raises(ModelError, match=r"parts\.npy: damaged"):
        assert fitted and fitted.scores(here, {"n": 1, "v": 1})
    wrong: list[Any] = [[], {"words": [1], "count": 1}, {"words": [], "count": "x"}]
    for parts in wrong:
        write_manifest(folder, "dictionary.json", kept | {"parts": parts})
        with pytest.raises(ModelError, match=r"dictionary\.json: damaged"):
            PartsOfSpeech.of(Dictionary.open(folder))


def test_counts() -> None:
    def sense(count: float) -> Sense:
        return Sense("x", "n", "", "", (), (), count)

    assert count_senses([sense(3), sense(math.nan), sense(1)]).tolist() == [3, 1, 1]
    assert count_senses([sense(math.nan)]).tolist() == [1]
    assert count_senses([]).tolist() == []


def test_description() -> None:
    def choices(*sure: float) -> list[Choice]:
        return [Choice(Sense("x", "n", "", f"d{i}", (), (), 0), s) for i, s in enumerate(sure, 1)]

    assert describe_choice(choices(1.0)) == ["d1, its only sense in the dictionary"]
    assert describe_choice(choices(0.999, 0.001)) == ["d1, 0.99 sure"]
    assert describe_choice(choices(0.5, 0.3, 0.2)) == ["d1, 0.50 sure", "  or d2, 0.30"]
    assert describe_choice(choices(0.3, 0.25, 0.2, 0.1)) == [
        "not sure",
        "  perhaps d1, 0.30",
        "  or d2, 0.25",
        "  or d3, 0.20",
    ]


def test_entry_shares() -> None:
    definitions = Definitions(Representations.of(open_model("everyday")), [Dictionary.open()])
    entry = definitions.entry("bank", "n")
    shares = [choice.sense.share + UNSEEN for choice in entry]
    assert [c.sure for c in entry] == pytest.approx([n / sum(shares) for n in shares])
    entry = definitions.entry("abacus", "n")  # nobody estimated its shares
    assert len(entry) == 2 and not any(choice.sense.share for choice in entry)
    counts = [choice.sense.count + UNSEEN for choice in entry]
    assert [c.sure for c in entry] == pytest.approx([n / sum(counts) for n in counts])
    assert definitions.entry("xyzzyq") == []
    assert definitions.rank(
        [target("the bank money", "money")._replace(written=Written(["xyzzyq"], range(1)))]
    ) == [[]]


# a sentence | the part of speech of its target
PARTS = """
they want to [book] a room | v
the [book] of the year | n
a very [light] bag | a
the [light] of the moon | n
he will [light] the fire | v
"""


@pytest.mark.parametrize("row", PARTS.strip().splitlines())
def test_part_of_speech(row: str) -> None:
    text, _, part = row.partition(" | ")
    words = text.replace("[", "").replace("]", "").split()
    start = next(i for i, word in enumerate(text.split()) if word.startswith("["))
    dictionary = Dictionary.open()
    fitted = PartsOfSpeech.of(dictionary)
    assert fitted is not None
    counts = dict.fromkeys({sense.part for sense in dictionary.look_up(words[start])}, 10.0)
    scores = dict(
        zip(counts, fitted.scores(Written(words, range(start, start + 1)), counts), strict=True)
    )
    assert max(scores, key=lambda own: scores[own]) == part


@pytest.fixture(scope="module")
def english() -> Definitions:
    return Definitions(Representations.of(open_model("english")), open_sources())


def test_labelled_senses_fit_the_model(english: Definitions) -> None:
    """Else: make dictionary DATA=..."""
    assert english.labelled is not None
    assert len(english.labelled.senses) > 10_000


# a sentence | how the key of its sense begins
HOMONYMS = """
They moored the boat to the [bank] | bank%1:17:01
She put money in the [bank] | bank%1:14:00
Just click twice with the left [mouse] button | mouse%1:06
He ate salad with a [fork] | fork%1:06:00
She wrote the script in [Python] | python%language
[Apple] launched a new phone while I was eating an orange | apple%company
We moved our data to the [cloud] | cloud%computers
A dark [cloud] brought rain | cloud%1:17:00
The [crane] lifted steel beams to the tenth floor | crane%1:06
The old oak has thick rough [bark] | bark%1:20
An [apple] a day keeps the doctor away | apple%1:13
Apple launched a new phone while I was eating an [orange] | orange%1:13
Apple launch new phone while I was eating [apple] | apple%1:13
Looks like I just crashed the [server] | server%1:06:01
Please turn on the [light] | light%1:06
"""


def test_projection_by_hand(model: Model, tmp_path: Path) -> None:
    """The joined vector times the projection, at length 1: here the part of attention."""
    projection = np.concatenate([np.eye(4), np.zeros((28, 4))])
    sums = {64: (np.ones(4), 2.0)}
    write_labelled(tmp_path, model, "general", sums, projection, [np.zeros(4)] * 6, EVEN)
    labelled = LabelledSenses.open(model, "general", tmp_path)
    assert labelled is not None
    attention, others = np.array([[3, 0, 4, 0]], np.float32), np.ones((6, 1, 4), np.float32)
    projected = labelled.project(attention, others[0], others)
    np.testing.assert_allclose(projected, [[0.6, 0, 0.8, 0]], atol=1e-3)


def test_near_words_by_hand(model: Model) -> None:
    """The nearest word counts 1, the next one DECAY, on each side."""
    x = np.asarray(model.centred_space[np.arange(4)], np.float64)
    before, after, *beside = near_words(model, [Occurrence(np.array([0, 1, 2, 3]), range(2, 3))])
    np.testing.assert_allclose(before[0], x[1] + DECAY * x[0], atol=1e-6)
    np.testing.assert_allclose(after[0], x[3], atol=1e-6)
    for vector, expected in zip(beside, (x[0], x[1], x[3], 0 * x[0]), strict=True):
        np.testing.assert_allclose(vector[0], expected, atol=1e-6)  # two before, two after


def test_capitals(english: Definitions) -> None:
    """A capital makes a proper noun more probable, a small letter less."""

    def share(capital: bool | None) -> float:
        item = english.find_occurrence("we read about ", "turkey", " in the paper")
        words = ["we", "read", "about", "turkey", "in", "the", "paper"]
        (choices,) = english.rank([item._replace(written=Written(words, range(3, 4), capital))])
        return sum(choice.sure for choice in choices if is_proper(choice.sense))

    assert share(False) < 0.5 * share(None) < 0.5 * share(True)


@pytest.mark.parametrize("row", HOMONYMS.strip().splitlines())
def test_homonyms(row: str, english: Definitions) -> None:
    import ctxembed

    sentence, _, key = row.partition(" | ")
    model = english.representations.model
    first = ctxembed.define(model, sentence, number=1).records()[0]
    assert str(first["sense_key"]).startswith(key)
    assert 0 < float(str(first["sure"])) <= 1


@pytest.mark.parametrize(
    ("sentence", "part"),
    [
        ("I like [it] here", ""), ("we [can] swim", ""), ("he opened the [can]", "n"),
        ("she works in [IT] now", "n"), ("we left [at] dawn", ""), ("twice [as] big", "r"),
    ],
)  # fmt: skip
def test_words_of_grammar(english: Definitions, sentence: str, part: str) -> None:
    (parsed,) = read_sentences(english.representations, sentence, None).parsed
    (target,) = list_written(parsed)
    (choices,) = english.rank([target.item])
    assert (choices[0].sense.part if choices else "") == part


def test_a_genitive_is_its_word(english: Definitions) -> None:
    (parsed,) = read_sentences(english.representations, "the [bank's] profit rose", None).parsed
    (target,) = list_written(parsed)
    (choices,) = english.rank([target.item])
    assert choices[0].sense.key == "bank%1:14:00::"
