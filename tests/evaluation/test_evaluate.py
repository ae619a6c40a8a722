"""Benchmarks on the small fixed model, whose cosines are known by hand."""

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest

from ctxembed.cli.main import load_command
from ctxembed.errors import CorpusError
from ctxembed.evaluation.evaluate import KINDS, evaluate
from ctxembed.evaluation.items import Reader
from ctxembed.evaluation.pseudowords import merge_words, other_text, own_text
from ctxembed.evaluation.senses import splice
from ctxembed.model.model import Model
from ctxembed.output.render import FORMATS
from ctxembed.progress import Progress
from ctxembed.text.corpus import Corpus
from ctxembed.training.import_ import import_
from tests.conftest import Run, mentions

COLUMNS = "set\tmetric\trepresentation\tvalue\tlow\thigh\tp_bag\titems\tmissing\n"


def figures(table: Any) -> dict[tuple[str, str, str], Any]:
    return {(r["set"], r["metric"], r["representation"]): r["value"] for r in table.records()}


def sense_file(path: Path, times: int = 1) -> Path:
    """Fruit stands with juice and sweet, the company with phone and launched."""
    lines = [
        "fruit\tthe [apple] juice sweet",
        "fruit\tsweet [Apple], orange",
        "fruit\torange juice [apple]",
        "firm\tthe [apple] phone",
        "firm\t[apple] launched the phone",
        "firm\tphone, [apple] launched",
    ]
    path.write_text("\n".join(lines * times) + "\n")
    return path


def test_similarity_reads_spaces_tabs_and_commas(run: Run, tmp_path: Path) -> None:
    # cosines: orange·apple = 0.949, orange·juice = 0.8, orange·phone = 0: ranked as rated
    rows = [("orange", "apple", 9), ("orange", "juice", 5), ("orange", "phone", 1)]
    for sign in " \t,":
        body = "".join(f"{a}{sign}{b}{sign}{c}\n" for a, b, c in [*rows, ("orange", "tram", 2)])
        (tmp_path / "pairs.txt").write_text(f"word1{sign}word2{sign}score\n{body}")
        done = run("evaluate", "similarity", "pairs.txt")
        lines = done.stdout.splitlines(keepends=True)
        assert lines[0] == COLUMNS
        assert lines[2].startswith("pairs\tspearman\tstatic\t1.000000\t")
        assert lines[2].endswith("\t4\t1\n")  # tram is unknown: told, not hidden
        assert mentions(done.stderr, "1~items word vocabulary")


@pytest.mark.parametrize("form", FORMATS)
def test_every_format(run: Run, tmp_path: Path, form: str) -> None:
    (tmp_path / "pairs.txt").write_text("orange apple 9\norange juice 5\norange phone 1\n")
    done = run("evaluate", "similarity", "pairs.txt", "-f", form, "--precision", "1")
    assert done.returncode == 0
    if form in ("json", "jsonl"):
        text = done.stdout if form == "json" else f"[{','.join(done.stdout.splitlines())}]"
        assert [row["representation"] for row in json.loads(text)] == ["random", "static"]
    else:
        assert "static" in done.stdout
        assert "1.0" in done.stdout


def test_senses_of_a_file(model: Model, tmp_path: Path) -> None:
    scores = figures(evaluate(model, "senses", [str(sense_file(tmp_path / "apple.tsv", 5))]))
    for representation in ("bag", "general"):
        for metric in ("auc", "accuracy", "recall", "f1", "neighbor", "v_measure"):
            assert scores["apple", metric, representation] == pytest.approx(1), (
                metric,
                representation,
            )
    assert scores["apple", "auc", "static"] == 0.5  # one vector for all
    assert scores["apple", "accuracy", "most frequent"] == 0.5
    assert ("apple", "auc", "most frequent") not in scores
    assert ("apple", "spliced", "bag") in scores


def coarse(folder: Path) -> Path:
    """CoarseWSD-20's layout, two words."""
    for word, senses in {"apple": ("juice", "phone"), "bank": ("money", "river")}.items():
        directory = folder / word
        directory.mkdir(parents=True)
        for split in ("train", "test"):
            data = "".join(f"1\tthe {word} {context} .\n" * 4 for context in senses)
            (directory / f"{split}.data.txt").write_text(data)
            (directory / f"{split}.gold.txt").write_text("0\n" * 4 + "1\n" * 4)
    return folder


def test_senses_in_coarse_layout(run: Run, tmp_path: Path) -> None:
    coarse(tmp_path / "data")
    done = run("evaluate", "senses", "data", "-f", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["set"] for row in rows} == {"mean"}
    assert mentions(done.stderr, "2~words --by-word")
    (best,) = (
        row for row in rows if row["metric"] == "accuracy" and row["representation"] == "bag"
    )
    assert best == {
        **{"set": "mean", "metric": "accuracy", "representation": "bag", "value": 1.0},
        **{"low": 1.0, "high": 1.0, "p_bag": None, "items": 16, "missing": 0},
    }
    (static,) = (
        row for row in rows if row["metric"] == "accuracy" and row["representation"] == "static"
    )
    assert static["value"] == 0.5
    assert static["p_bag"] == pytest.approx(2 / 1001)
    each = run("evaluate", "senses", "data", "--by-word", "-f", "jsonl")
    assert {json.loads(line)["set"] for line in each.stdout.splitlines()} == {
        *("apple", "bank", "mean")
    }
    one = run("evaluate", "senses", "data/apple", "-f", "jsonl")
    assert {json.loads(line)["set"] for line in one.stdout.splitlines()} == {"apple"}


def test_splice_by_hand(model: Model) -> None:
    reader = Reader(model)
    left = reader.item(
        ["the", "the", "orange", "apple", "juice", "sweet", "the", "the"], range(3, 4)
    )
    right = reader.item(["river", "money", "bank", "phone", "launched"], range(2, 3))
    spliced = splice([left, right], np.array([0, 1]), 1, np.random.default_rng(0))
    text = [" ".join(model.vocabulary.words[row] for row in item.ids) for item in spliced]
    assert text[0] in ("money phone orange apple juice", "orange apple juice money phone")
    assert text[1] in ("orange juice money bank phone", "money bank phone orange juice")
    for item, word in zip(spliced, ("apple", "bank"), strict=True):
        assert model.vocabulary.words[item.ids[item.target.start]] == word


def wic_files(folder: Path, name: str, lines: list[tuple[str, str]]) -> tuple[str, str]:
    data, gold = folder / f"{name}.data.txt", folder / f"{name}.gold.txt"
    data.write_text("".join(f"{line}\n" for line, _ in lines))
    gold.write_text("".join(f"{label}\n" for _, label in lines))
    return str(data), str(gold)


PAIRS = [
    ("apple\tN\t1-0\tThe apple juice\tApple sweet", "T"),
    ("apple\tN\t1-1\tThe apple phone\tThe apple juice", "F"),
    ("bank\tN\t1-1\tThe bank money\tMoney bank", "T"),
    ("bank\tN\t0-0\tBank money\tBank river", "F"),
]


def test_wic(model: Model, tmp_path: Path) -> None:
    test, train = wic_files(tmp_path, "dev", PAIRS), wic_files(tmp_path, "train", PAIRS * 2)
    scores = figures(evaluate(model, "wic", test, train=train))
    assert scores["dev", "accuracy", "bag"] == 1
    assert scores["dev", "accuracy", "static"] == 0.5  # every cosine is 1
    assert scores["dev", "accuracy", "most frequent"] == 0.5
    alone = evaluate(model, "wic", test)
    assert figures(alone)["dev", "accuracy", "bag"] == 1
    assert alone.notes == ["the threshold is the median cosine; --train DATA GOLD fits it"]


def test_wic_forms_lemmas_and_unknown_words(model: Model, tmp_path: Path) -> None:
    lines = [
        *PAIRS,
        ("apple\tN\t1-0\tThe apples juice\tApple sweet", "T"),  # by its lemma
        ("tram\tN\t0-0\tTram\tTram", "T"),  # unknown: gets the most frequent answer
        ("tram\tN\t0-0\tTram\tTram", "F"),
    ]
    test, train = wic_files(tmp_path, "dev", lines), wic_files(tmp_path, "train", PAIRS)
    rows = evaluate(model, "wic", test, train=train).records()
    (bag,) = (row for row in rows if row["representation"] == "bag")
    assert (bag["items"], bag["missing"]) == (7, 2)
    assert bag["value"] == pytest.approx(6 / 7)


def scws_line(one: str, other: str, rating: float) -> str:
    texts = [f"the <b> {word} </b> {context}" for word, context in (one.split(), other.split())]
    words = [text.split()[0] for text in (one, other)]
    return "\t".join(["1", words[0], "n", words[1], "n", *texts, str(rating), *["1"] * 10])


def test_scws(model: Model, tmp_path: Path) -> None:
    (tmp_path / "ratings.txt").write_text(
        "\n".join(
            [
                scws_line("apple juice", "orange juice", 9),
                scws_line("apple juice", "orange sweet", 8),
                scws_line("apple phone", "bank river", 1),
                scws_line("tram phone", "bank river", 1),
            ]
        )
    )
    rows = evaluate(model, "scws", [str(tmp_path / "ratings.txt")]).records()
    by = {(row["set"], row["representation"]): row for row in rows}
    assert by["in context", "bag"]["value"] == pytest.approx(1)
    assert by["in context", "static"]["missing"] == 1
    assert by["out of context", "static"]["value"] == by["in context", "static"]["value"]
    assert ("out of context", "bag") not in by


def test_analogies(run: Run, tmp_path: Path) -> None:
    # juice - orange + phone = (-0.2, 1, 0, 0.6): launched 0.8, the 0.7, river 0.6, apple 0.13
    (tmp_path / "questions.txt").write_text(
        ": one\norange juice phone launched\n: two\norange juice phone river\na b c d\n"
    )
    done = run("evaluate", "analogies", "questions.txt", "--precision", "2", "-q")
    assert done.stderr == ""
    static = [line.split("\t") for line in done.stdout.splitlines() if "\tstatic\t" in line]
    assert [(row[0], row[1], row[3], row[7], row[8]) for row in static] == [
        ("one", "accuracy", "1.00", "1", "0"),
        ("two", "accuracy", "0.00", "2", "1"),
        ("two", "accuracy_known", "0.00", "2", "1"),
        ("all questions", "accuracy", "0.33", "3", "1"),
        ("all questions", "accuracy_known", "0.50", "3", "1"),
    ]


def write_text(folder: Path) -> Path:
    """A text in which fruit and devices keep to themselves; every word is rare enough."""
    rng = np.random.default_rng(0)
    lines = []
    for _ in range(100):
        lines.append(f"sweet {rng.choice(['orange', 'apple'])} juice")
        lines.append(f"phone {rng.choice(['money', 'bank'])} launched")
        lines += [f"filler{n} filler{n + 1}" for n in rng.integers(0, 10**6, 1000)]
    (folder / "text.txt").write_text("\n".join(lines) + "\n")
    return folder / "text.txt"


def test_pseudowords_on_another_text(model: Model, tmp_path: Path) -> None:
    path = write_text(tmp_path)
    table = evaluate(model, "pseudowords", [str(path)], pairs=3)
    scores = figures(table)
    bands = {key[0] for key in scores}
    assert bands == {"20-99", "100-999", "mean"}
    assert scores["mean", "accuracy", "random"] == pytest.approx(0.5, abs=0.15)
    assert {key[1] for key in scores if key[0] == "20-99"} == {"accuracy"}
    assert table.records() == evaluate(model, "pseudowords", [str(path)], pairs=3).records()


def test_a_pseudoword_hides_which_word_stood_there(model: Model, tmp_path: Path) -> None:
    text = other_text(model, Corpus([str(write_text(tmp_path))]), Progress())
    for band, word in merge_words(model, text, 4, np.random.default_rng(1)):
        a, b = word.name.split("+")
        for item in word.items:
            assert [model.vocabulary.words[item.ids[position]] for position in item.target] == [
                a,
                b,
            ]
        counts = [int(text.counts[model.vocabulary.row(half)]) for half in (a, b)]
        low, high = map(int, band.split("-"))
        assert all(low <= count <= high for count in counts)
        for half in (0, 1):  # as many teach as are asked
            folds = word.folds[word.labels == half]
            assert abs(int((folds == 0).sum()) - int((folds == -1).sum())) <= 1


def test_own_text_is_the_corpus_of_the_model(model: Model) -> None:
    text = own_text(model)
    assert np.flatnonzero(text.ids == model.vocabulary.row("apple")).tolist() == [1, 5, 8]
    with pytest.raises(CorpusError, match="too little text"):
        list(merge_words(model, text, 4, np.random.default_rng(1)))


def test_an_imported_model_has_no_corpus(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("apple 1 0\nbank 0 1\n")
    import_(str(tmp_path / "v.txt"), tmp_path / "m")
    done = run("evaluate", "pseudowords", "-m", "m")
    assert (done.stderr, done.returncode) == (
        "ctxembed: m: has no corpus; give one: ctxembed evaluate pseudowords CORPUS\n",
        3,
    )


def test_published_figures_are_marked(run: Run, tmp_path: Path) -> None:
    data, gold = wic_files(tmp_path, "dev", PAIRS)
    done = run("evaluate", "wic", data, gold, "--published", "-f", "jsonl")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    here = [row for row in rows if row["source"] == "measured here"]
    assert [row["representation"] for row in here] == [
        *("random", "most frequent", "static", "bag", "general")
    ]
    (context2vec,) = (row for row in rows if row["representation"] == "Context2vec")
    assert context2vec["value"] == 0.593
    assert context2vec["low"] is None
    assert "1808.09121" in context2vec["source"]
    table = run("evaluate", "wic", data, gold, "--published", "-f", "table", env={"COLUMNS": "80"})
    assert mentions(table.stderr, "Context2vec 2019")
    assert "…" not in table.stdout


@pytest.mark.parametrize(
    ("arguments", "content", "message", "code"),
    [
        (["similarity"], None, "write: ctxembed evaluate similarity FILE...", 2),
        (["wic", "x"], None, "write: ctxembed evaluate wic DATA GOLD", 2),
        (["scws", "x", "y"], None, "write: ctxembed evaluate scws FILE", 2),
        (["scws", "x", "--train", "a", "b"], None, "--train is for wic, not for scws", 2),
        (["similarity", "no.txt"], None, "no.txt: no such file or directory", 5),
        (["similarity", "f"], "a b 1\na b c\n", "f: line 2: expected word1 word2 score", 5),
        (["similarity", "f"], "", "f: no pairs of words in it", 5),
        (["similarity", "f"], "a b nan\n", "f: line 1: the score nan is no number", 5),
        (["senses", "f"], "x\tan [apple]\ny\tthe [apple]\n", "f: no sense occurs twice", 5),
        (
            ["senses", "f"],
            "".join(f"x{i % 101}\tan [apple]\n" for i in range(202)),
            "f: 101 different labels; 100 are the most",
            5,
        ),
        (["senses", "f"], "x\tan [apple]\n" * 20_001, "f: more than 20,000 lines", 5),
        (["similarity", "f"], "an apple 3\n" * 50_001, "f: more than 50,000 lines", 5),
        (["wic", "f", "f"], "an\tN\t0-0\tan x\tan y\n" * 50_001, "f: more than 50,000 lines", 5),
        (["substitution", "f", "f"], "a.n 1 :: b 1;\n" * 50_001, "f: more than 50,000 lines", 5),
        (["analogies", "f"], "a b c d\n" * 100_001, "f: more than 100,000 lines", 5),
        (["similarity", "f"], b"a b 1\n\xe9 b 2\n", "f: line 2: byte 0xe9 is not utf-8", 5),
        (["scws", "f"], "1\ta\n", "f: line 1: expected id, word, tag, word, tag", 5),
        (["analogies", "f"], ": x\na b c\n", "f: line 2: four words are expected", 5),
        (["analogies", "f"], ": x\n", "f: no questions in it", 5),
        (["senses", "f"], "fruit an apple\n", "f: line 1: 1 columns; write LABEL<tab>SENTENCE", 5),
        (["senses", "f"], "", "f: empty", 5),
        (["senses", "."], "", ".: no train.data.txt in it or in a folder of it", 5),
        (["wic", "f", "f"], "apple\tN\t1-0\tx\n", "f: line 1: expected word, tag, place-place", 5),
        (["pseudowords", "f"], "an apple\n", "too little text for pseudowords", 5),
        (["karaoke"], None, "Invalid value for 'KIND'", 2),
    ],
)
def test_errors(
    run: Run, tmp_path: Path, arguments: list[str], content: Any, message: str, code: int
) -> None:
    if content is not None:
        (tmp_path / "f").write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("evaluate", *arguments)
    assert (done.stdout, done.returncode) == ("", code)
    assert done.stderr.startswith(f"ctxembed: {message}")
    assert "Traceback" not in done.stderr


def test_damaged_coarse_folders(model: Model, tmp_path: Path) -> None:
    folder = coarse(tmp_path / "data") / "apple"
    (folder / "test.gold.txt").write_text("0\n")
    with pytest.raises(CorpusError, match=r"1 labels, but .* has 8 sentences"):
        evaluate(model, "senses", [str(folder)])
    (folder / "test.data.txt").write_text("99\tthe apple\n")
    with pytest.raises(CorpusError, match="line 1: no target"):
        evaluate(model, "senses", [str(folder)])


def test_labels_differ_from_pairs_in_wic(model: Model, tmp_path: Path) -> None:
    data, gold = wic_files(tmp_path, "dev", PAIRS)
    Path(gold).write_text("T\n")
    with pytest.raises(CorpusError, match=r"1 labels, but .* has 4 pairs"):
        evaluate(model, "wic", (data, gold))
    Path(gold).write_text("T\nmaybe\n")
    with pytest.raises(CorpusError, match="line 2: expected T or F"):
        evaluate(model, "wic", (data, gold))


def test_a_word_of_one_sense(model: Model, tmp_path: Path) -> None:
    (tmp_path / "apple.tsv").write_text("fruit\tthe [apple] juice\nfruit\tsweet [apple]\n")
    scores = figures(evaluate(model, "senses", [str(tmp_path / "apple.tsv")]))
    assert scores["apple", "accuracy", "bag"] == 1
    assert not [key for key in scores if key[1] in ("auc", "spliced", "spliced_wide")]


def test_a_file_without_a_known_target(model: Model, tmp_path: Path) -> None:
    (tmp_path / "tram.tsv").write_text("a\tthe [tram] juice\nb\tsweet [tram]\n" * 3)
    rows = evaluate(model, "senses", [str(tmp_path / "tram.tsv")]).records()
    (bag,) = (r for r in rows if (r["metric"], r["representation"]) == ("accuracy", "bag"))
    assert (bag["value"], bag["missing"]) == (0.5, 6)


def test_the_command_offers_every_benchmark() -> None:
    (kind,) = (param for param in load_command("evaluate").params if param.name == "kind")
    assert isinstance(kind.type, click.Choice)
    assert set(kind.type.choices) == set(KINDS)
