"""substitutes: every score once more by plain arithmetic, and every way to ask wrongly."""

import json
import math
from pathlib import Path
from statistics import fmean, pstdev
from typing import cast

import numpy as np
import pytest

from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.explanation.substitutes import FORMS, NEAR, SubstituteRanker, same_stem
from ctxembed.model.model import Model
from ctxembed.model.write import write_files, write_frames
from ctxembed.queries.compare import compare
from ctxembed.queries.substitutes import substitutes
from ctxembed.table import Cell
from tests.conftest import TEXT, WORDS, Run, mentions, write_tiny
from tests.queries.test_compare import cosine
from tests.queries.test_compare import general as general_of

COUNTS = {word: " ".join(TEXT).split().count(word) for word in WORDS}


def middle() -> list[float]:
    return [fmean(column) for column in zip(*WORDS.values(), strict=True)]


def centred(word: str) -> list[float]:
    return [a - b for a, b in zip(WORDS[word], middle(), strict=True)]


def standard(measures: dict[str, float], pool: list[str]) -> dict[str, float]:
    mean, spread = fmean(measures[w] for w in pool), pstdev(measures[w] for w in pool)
    return {word: (value - mean) / spread for word, value in measures.items()}


def expected(
    words: list[str], position: int, candidates: list[str], own: float = 1, context: float = 1
) -> dict[str, tuple[float, float]]:
    """Rate candidates on the small model, which has no frames and no learned attention."""
    pool = [word for word in WORDS if word not in words]
    target, every = words[position], [*pool, *candidates]
    near = standard({w: cosine(centred(w), centred(target)) for w in every}, pool)
    often = standard({w: math.log(COUNTS[w]) for w in every}, pool)
    vector = general_of(words, position)
    fits = standard({w: cosine(WORDS[w], vector) for w in every}, pool)
    return {w: (own * near[w] + 0.5 * often[w], context * fits[w]) for w in candidates}


def test_scores_by_hand(run: Run) -> None:
    words = ["the", "apple", "launched", "the", "phone"]
    pool = [word for word in WORDS if word not in words]
    rows = json.loads(run("substitutes", "the [apple] launched the phone", "-f", "json").stdout)
    rated = expected(words, 1, pool)
    order = sorted(pool, key=lambda word: -sum(rated[word]))
    assert [row["substitute"] for row in rows] == order
    assert [row["rank"] for row in rows] == list(range(1, len(pool) + 1))
    for row in rows:
        assert (row["sentence"], row["target"]) == (1, "apple")
        word, context = rated[row["substitute"]]
        assert row["fits_word"] == pytest.approx(word, abs=1e-4)
        assert row["fits_context"] == pytest.approx(context, abs=1e-4)
        assert row["score"] == row["fits_word"] + row["fits_context"]


def test_candidates_from_the_command_line(run: Run) -> None:
    words = ["the", "apple", "launched", "the", "phone"]
    ask = ("substitutes", "the [apple] launched the phone", "-f", "json", "--candidates")
    rows = json.loads(run(*ask, "juice,phone, Sweet,juice").stdout)  # the sentence's own too
    rated = expected(words, 1, ["juice", "phone", "sweet"], own=0.5, context=1.5)
    assert [row["substitute"] for row in rows] == sorted(rated, key=lambda w: -sum(rated[w]))
    for row in rows:
        assert row["score"] == pytest.approx(sum(rated[row["substitute"]]), abs=1e-4)
    (alone,) = json.loads(run(*ask, "juice").stdout)  # whatever else is given
    assert alone["score"] == next(r["score"] for r in rows if r["substitute"] == "juice")


def test_an_unknown_candidate_is_named(run: Run) -> None:
    done = run("substitutes", "the [apple] phone", "--candidates", "juice,orangee", "--no-header")
    assert done.returncode == 4
    assert [line.split("\t")[3] for line in done.stdout.splitlines()] == ["juice"]
    assert mentions(done.stderr, "'orangee' vocabulary orange")
    none = run("substitutes", "the [apple] phone", "--candidates", "orangee")
    assert (none.returncode, none.stdout) == (4, "")


def test_every_format(run: Run) -> None:
    ask = ("substitutes", "money [bank]", "-n", "1")
    head = "sentence\ttarget\trank\tsubstitute\tscore\tfits_word\tfits_context\n"
    pool = [word for word in WORDS if word not in ("money", "bank")]
    rated = expected(["money", "bank"], 1, pool)
    best = max(pool, key=lambda word: sum(rated[word]))
    numbers = (sum(rated[best]), *rated[best])
    tsv = run(*ask).stdout
    assert tsv.startswith(f"{head}1\tbank\t1\t{best}\t")
    assert [float(x) for x in tsv.split()[-3:]] == pytest.approx(numbers, abs=1e-4)
    assert run(*ask, "-f", "csv", "--precision", "6").stdout == tsv.replace("\t", ",")
    shown = run(*ask, "-f", "table", "--precision", "2").stdout.splitlines()
    assert shown[0].split() == head.split()
    assert shown[2].split() == ["1", "bank", "1", best, *(f"{x:.2f}" for x in numbers)]
    assert len(shown) == 3
    assert json.loads(run(*ask, "-f", "jsonl").stdout)["substitute"] == best
    assert run(*ask, "-f", "markdown").stdout.splitlines()[2].split(" | ")[3].strip() == best


def test_frames_tell_one_kind_of_word_from_another(tmp_path: Path) -> None:
    """orange and sweet have one direction; only orange has the neighbours of apple."""
    text = ["the apple phone", "the orange phone", "phone the sweet"] * 20
    folder = write_tiny(tmp_path / "m", [*text, "juice bank money river launched"])

    def fits(column: str) -> float:
        rows = substitutes(folder, "phone [apple] juice").records()
        scores = {row["substitute"]: row[column] for row in rows}
        return cast(float, scores["orange"]) - cast(float, scores["sweet"])

    word = fits("fits_word")
    assert write_frames(Model.open(folder))
    assert fits("fits_word") > word + 0.5


def write_vectors(folder: Path, words: dict[str, list[float]]) -> Path:
    folder.mkdir()
    counts = np.full(len(words), 1000)
    meta = {"tokens": 9, "tokenizer": {"kind": "whitespace", "cased": False}}
    write_files(folder, list(words), counts, np.array([*words.values()], np.float32), None, meta)
    return folder


def test_a_genitive_is_proposed_only_for_one(tmp_path: Path) -> None:
    words = {"dog": [1.0, 0.2], "cat": [1.0, 0.3], "cat's": [1.0, 0.25], "dog's": [0.9, 0.2]}
    folder = write_vectors(tmp_path / "m", words | {"stone": [-1.0, 0.5], "loud": [0.0, -1.0]})

    def proposed(sentence: str) -> set[Cell]:
        return {row["substitute"] for row in substitutes(folder, sentence).records()}

    assert proposed("loud [dog]") == {"cat", "stone"}
    assert proposed("loud [dog's]") == {"cat", "cat's", "stone"}


def test_a_rare_sense_is_proposed_from_the_context(tmp_path: Path) -> None:
    """More words of money than are looked at lie nearer to bank than any water does."""
    away = [i / 1000 for i in range(NEAR + FORMS + 20)]
    money = {f"money{i}": [1.0, 0.1 + x, 0.0] for i, x in enumerate(away)}
    words = {"bank": [1.0, 0.1, 0.3], "river": [0.0, 0.1, 1.0], "shore": [0.3, 0.1, 1.0]}
    folder = write_vectors(tmp_path / "m", words | money | {"far": [-9.0, -1.0, -9.0]})
    like = substitutes(folder, "river [bank]", number=3).records()
    assert like[0]["substitute"] == "shore"


def test_words_of_a_probable_sense_come_first(tmp_path: Path) -> None:
    """A dictionary may name a word of the sentence or a form of the target: neither is proposed."""
    words = {"dog": [1.0, 0.2], "cat": [1.0, 0.3], "hound": [-0.2, 1.0], "dogs": [1.0, 0.1]}
    folder = write_vectors(tmp_path / "m", words | {"loud": [0.3, -1.0], "stone": [-1.0, 0.5]})
    model = Model.open(folder)
    representations = Representations.of(model)
    items = parse(model, "loud [dog]").occurrences
    general = representations.get("general")
    vectors = general.vectors(items)

    def ranked(related: dict[str, float]) -> dict[str, float]:
        rows = [{model.vocabulary.row(word): sure for word, sure in related.items()}]
        ranker = SubstituteRanker.of(representations, items, vectors, related=rows)
        best = ranker.rank(0, general, vectors[0]).best(9)
        return {model.vocabulary.words[row]: float(fits.sum()) for row, fits in best}

    without, related = ranked({}), ranked({"hound": 0.5, "loud": 1.0, "dogs": 1.0})
    assert next(iter(without)) == "cat"
    assert set(related) == set(without) == {"cat", "hound", "stone"}
    assert related["hound"] == pytest.approx(without["hound"] + 5 * 0.5)


def test_where_nothing_fits_no_word_is_named(tmp_path: Path) -> None:
    words = {"dog": [1.0, 0.0, 0.0], "loud": [1.0, 0.1, 0.0], "cat": [1.0, 0.9, 0.0]}
    words |= {"stone": [-1.0, 0.1, 0.5], "far": [0.2, -0.4, 1.0]}
    folder = write_vectors(tmp_path / "m", words)

    def named(sentence: str) -> object:
        rows = compare(folder, sentence).records()
        return next(row["like"] for row in rows if row["representation"] == "bag")

    assert named("loud [dog]") == ["cat"]
    assert named("cat loud [dog]") == []
    assert named("stone [dog]") == []


def test_one_sentence_or_many(tmp_path: Path) -> None:
    folder = write_tiny(tmp_path / "m", TEXT)
    sentences = ["the [apple] launched the phone", "money [bank]", "the sweet [orange] juice"]
    many = [row["like"] for row in compare(folder, sentences).records()]
    one = [row["like"] for text in sentences for row in compare(folder, text).records()]
    assert many == one
    for like, text in zip(many[2::3], sentences, strict=True):
        assert isinstance(like, list)
        assert not {str(word) for word in like} & set(
            text.replace("[", "").replace("]", "").split()
        )


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("bank", "banks", True),
        ("bank", "banker", True),
        ("launched", "launching", True),
        ("apple", "apple's", True),
        ("inform", "information", True),
        ("fire", "firing", True),
        ("go", "gone", False),
        ("pear", "peach", False),
        ("river", "rivet", True),  # it is only asked of words that are near in meaning
        ("start", "stop", False),
    ],
)
def test_forms_of_one_word(one: str, other: str, same: bool) -> None:
    assert same_stem(one, other) is same
    assert same_stem(other, one) is same


def test_numbers_are_like_numbers_only(tmp_path: Path) -> None:
    words = {"dog": [1.0, 0.1, 0.0], "1,200": [1.0, 0.12, 0.0], "cat": [0.9, 0.3, 0.0]}
    words |= {"42": [0.9, 0.2, 0.1], "loud": [1.0, 0.1, 0.1], "stone": [-1.0, 0.1, 0.5]}
    folder = write_vectors(tmp_path / "m", words)

    def named(sentence: str) -> set[object]:
        return {word for row in compare(folder, sentence).records() for word in row["like"]}

    assert named("loud [dog]") and not named("loud [dog]") & {"1,200", "42"}
    assert "42" in named("loud [1,200]")
