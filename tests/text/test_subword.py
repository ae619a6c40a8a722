"""Models of units smaller than a word answer for words they never saw."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.errors import ModelError, UnknownWordError
from ctxembed.model.model import Model
from ctxembed.text.corpus import Corpus
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.train import train
from tests.conftest import Run

LINES = [
    "The apple is a sweet fruit.",
    "Apples and pears are sweet.",
    "Apple launched a new phone.",
    "The phones are smart, the pear is not!",
    "A plain lesson, a place to sleep, a puzzle.",
    "A" + " very" * 2500 + " long line.",
]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("text") / "corpus.txt"
    path.write_text("\n".join(LINES * 3) + "\n", encoding="utf-8")
    return path


def make(corpus: Path, folder: Path, unit: str) -> Model:
    train(Corpus([str(corpus)]), folder, unit=unit, pieces=30, workers=1, epochs=1, dim=8)
    return Model.open(folder)


@pytest.fixture(scope="module", params=["subword", "character"])
def small(request: pytest.FixtureRequest, corpus: Path) -> Model:
    return make(corpus, corpus.parent / request.param, request.param)


def test_the_index_holds_the_units_of_the_text(small: Model) -> None:
    index = small.index
    assert index is not None
    units = [index.words(index.sentence(n)) for n in range(len(index.offsets) - 1)]
    text = "\n".join(LINES * 3)
    assert [unit for units_ in units for unit in units_] == small.vocabulary.tokenizer.words(text)
    assert max(map(len, units)) <= 10_000
    counts = np.bincount(index.ids, minlength=len(small.vocabulary.words))
    assert counts.tolist() == small.counts.tolist()
    assert len(index.lines) == len(units) == small.meta["sentences"]
    lines = index.lines.tolist()
    assert lines == sorted(lines) and set(lines) == set(range(1, len(LINES) * 3 + 1))
    assert small.meta["files"][0]["sentences"] == len(units)


def test_an_unseen_word_is_the_mean_of_its_parts(small: Model) -> None:
    assert small.vocabulary.find("aples") is None
    parts = [small.vocabulary.rows[unit] for unit in small.vocabulary.tokenizer.words("Aples")]
    assert small.vocabulary.parts("aples") == parts and len(parts) > 1
    np.testing.assert_allclose(small.vector("aples"), small.vectors[parts].mean(axis=0))
    assert small.vocabulary.sort_known(["Aples", "§"]) == (["aples"], ["§"])


def test_an_unseen_word_has_a_vector_in_context(small: Model) -> None:
    parsed = parse(small, "The [aples] are sweet")
    (item,) = parsed.occurrences
    assert [small.vocabulary.words[i] for i in item.ids[item.target.start : item.target.stop]] == (
        small.vocabulary.tokenizer.words("aples")
    )
    vectors = Representations(small).get("general").vectors(parsed.occurrences)
    assert vectors.shape == (1, 8) and np.isfinite(vectors).all()
    named = parse(small, "The aples are sweet", "aples").occurrences[0]
    assert (named.ids.tolist(), named.target) == (item.ids.tolist(), item.target)


def test_a_letter_never_seen_is_left_out_of_the_word(small: Model) -> None:
    (item,) = parse(small, "[añple]").occurrences
    assert len(item.target) == len(small.vocabulary.parts("añple")) >= 2
    with pytest.raises(UnknownWordError):
        parse(small, "the [ñ] is")


def test_without_a_mark_whole_words_are_targets(corpus: Path, tmp_path: Path) -> None:
    model = make(corpus, tmp_path / "m", "subword")
    parsed = parse(model, "the aples are sweet")
    words = [
        "".join(
            model.vocabulary.words[i].removeprefix("##")
            for i in o.ids[o.target.start : o.target.stop]
        )
        for o in parsed.occurrences
    ]
    assert words == ["the", "aples", "are", "sweet"]


def test_training_twice_gives_the_same_bytes(corpus: Path, tmp_path: Path) -> None:
    one, two = (make(corpus, tmp_path / name, "subword").path for name in ("one", "two"))
    for name in ("subword.json", "vocab.txt", "vectors.npy", "index/ids.npy", "model.json"):
        assert (one / name).read_bytes() == (two / name).read_bytes(), name


def test_show_says_how_a_word_was_composed(run: Run, small: Model) -> None:
    done = run("show", "Aples", "-m", str(small.path), "-n", "1", "-f", "json")
    rows = {row["property"]: row["value"] for row in json.loads(done.stdout)}
    pieces = " ".join(small.vocabulary.tokenizer.words("aples"))
    assert rows["composed"] == f"the mean of {pieces}"
    assert "count" not in rows and "nearest" in rows
    for name in ("vector", "neighbors", "similarity"):
        answer = run(name, "aples", "-m", str(small.path))
        assert answer.returncode == 0 and "aples\t" in answer.stdout
    odd = run("show", "apñle", "-m", str(small.path), "--no-header").stdout
    assert odd.splitlines()[0].endswith("; no vector for ##ñ" if "##l" in pieces else " for ñ")
    assert run("explain", "a [aples] pie", "-m", str(small.path)).returncode == 0


def test_tokenize_reads_as_the_model_does(run: Run, small: Model) -> None:
    done = run("tokenize", "Aples!", "-m", str(small.path), "-f", "jsonl")
    tokens = [json.loads(line)["token"] for line in done.stdout.splitlines()]
    assert tokens == small.vocabulary.tokenizer.words("Aples!")


def test_a_damaged_tokenizer_is_named(corpus: Path, tmp_path: Path) -> None:
    model = make(corpus, tmp_path / "m", "subword")
    (tmp_path / "m" / "subword.json").write_text("{")
    with pytest.raises(ModelError, match=r"subword\.json: damaged"):
        _ = Model.open(model.path).vocabulary.tokenizer
    (tmp_path / "m" / "subword.json").unlink()
    with pytest.raises(ModelError, match=r"subword\.json: missing"):
        _ = Model.open(model.path).vocabulary.tokenizer


def test_a_word_model_composes_nothing(model: Model) -> None:
    assert model.vocabulary.tokenizer == Tokenizer(rules=1)  # an older model
    assert model.vocabulary.parts("aple") == []
    with pytest.raises(UnknownWordError, match="close known words: apple"):
        model.vector("aple")


def test_train_from_a_pipe(run: Run, corpus: Path) -> None:
    text = corpus.read_text(encoding="utf-8")
    done = run("train", "-", "--unit", "subword", "--pieces", "50", "--epochs", "1", stdin=text)
    assert done.returncode == 0
    answer = run("neighbors", "aple", "-n", "1", "-m", "ctxembed-model", "--no-header")
    assert answer.stdout.startswith("aple\t") and answer.stdout.endswith("\t1\n")
