"""compare, similarity with sentences: exact output, baselines, and every way to ask wrongly."""

import json
import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from ctxembed.attention.presets import SLOPES
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, save_senses
from ctxembed.static.space import Space, mean_of
from tests.conftest import ROOT, TEXT, WORDS, Run, in_bash, mentions, write_tiny

HEAD = (
    "sentence\ttarget\tposition\trepresentation\tcos_static\tlike\tbecause\tsense\tsense_share"
    "\tdefinition\tsense_key\tsure\tsecond\twritten\n"
)


SENTENCE = ["the", "apple", "launched", "the", "phone"]
LIKE = ["orange", "sweet", "juice"]  # the words left that taste


def cosine(a: list[float], b: list[float]) -> float:
    return float(np.dot(a, b) / np.linalg.norm(a) / np.linalg.norm(b))


def general_parts(words: list[str], target: int) -> list[list[float]]:
    """Compute what each word gives to the cosine attention of one, by plain loops over heads."""
    tokens = [word for line in TEXT for word in line.split()]
    units = [np.array(WORDS[word]) / np.linalg.norm(WORDS[word]) for word in words]
    parts = [np.zeros(4) for _ in words]
    parts[target] += 0.3 * units[target]
    for slope in SLOPES:
        raised = {}
        for position, word in enumerate(words):
            if position != target:
                p = tokens.count(word) / len(tokens)
                score = 6 * units[target] @ units[position] - slope * abs(position - target)
                raised[position] = math.exp(score) * 1e-3 / (1e-3 + p)
        for position, value in raised.items():
            parts[position] += 0.7 / 4 * value / sum(raised.values()) * units[position]
    return [part.tolist() for part in parts]


def general(words: list[str], target: int) -> list[float]:
    return [sum(column) for column in zip(*general_parts(words, target), strict=True)]


def because(words: list[str], target: int) -> str:
    """Name the three words that give most, by their shares of the output's length."""
    out = np.array(general(words, target))
    contributions = {}
    for position, part in enumerate(general_parts(words, target)):
        seen = words[:position].count(words[position])
        name = f"{words[position]}:{seen + 1}" if seen else words[position]
        if position != target:
            contributions[name] = float(np.array(part) @ out / (out @ out))
    best = sorted(
        (name for name in contributions if contributions[name] >= 0.05),
        key=lambda name: -contributions[name],
    )
    return ", ".join(f"{name} {contributions[name]:.2f}" for name in best[:3])


def score(target: str, sentence: list[str], context: list[float] | None) -> dict[str, float]:
    """Score the words near the target and its context, which counts four times; static has none."""
    mean = np.mean([np.array(vector) / np.linalg.norm(vector) for vector in WORDS.values()], axis=0)

    def centred(word: str) -> list[float]:
        return list(np.array(WORDS[word]) / np.linalg.norm(WORDS[word]) - mean)

    scores = {}
    for word in WORDS.keys() - {*sentence}:
        near = cosine(centred(word), centred(target))
        fits = 1.0 if context is None else cosine(WORDS[word], context)
        if context is None:
            scores[word] = near
        elif near >= 0.05 and fits >= 0.3:
            scores[word] = math.log(max(near, 0.1)) + 4 * math.log(fits)
    return scores


def bag(words: list[str], target: int) -> list[float]:
    others = [WORDS[word] for position, word in enumerate(words) if position != target]
    return [sum(column) / len(others) for column in zip(*others, strict=True)]


def test_one_sentence_by_hand(run: Run) -> None:
    words = ["the", "apple", "launched", "the", "phone"]
    done = run("compare", "the [apple] launched the phone", "-f", "json", "--axis", "t=phone")
    rows = json.loads(done.stdout)
    vectors = {"static": WORDS["apple"], "bag": bag(words, 1), "general": general(words, 1)}
    assert [row["representation"] for row in rows] == list(vectors)
    for row in rows:
        vector = vectors[row["representation"]]
        assert (row["sentence"], row["target"], row["position"]) == (1, "apple", 2)
        assert row["cos_static"] == pytest.approx(cosine(vector, WORDS["apple"]), abs=1e-6)
        assert row["t"] == pytest.approx(cosine(vector, WORDS["phone"]), abs=1e-6)
    for row in rows:
        context = None if row["representation"] == "static" else vectors[row["representation"]]
        scores = score("apple", words, context)
        best = sorted(scores.values(), reverse=True)[:3]  # two words may be as good
        assert [scores[word] for word in row["like"]] == pytest.approx(best, abs=1e-5)
        expected = because(words, 1) if row["representation"] == "general" else None
        reasons = ", ".join(f"{one['word']} {one['share']:.2f}" for one in row["because"] or ())
        assert (reasons or None, row["sense"], row["sense_share"]) == (expected, None, None)


def test_words_of_a_worked_example_are_those_it_moved_towards(run: Run) -> None:
    """bank moves from (.7,.7) to the words beside it: no word of the other sentence is named."""
    done = run(
        "compare", "money [bank] grows", "river [bank] flows", "--vectors", "bank", "-f", "json"
    )
    like = {
        (row["sentence"], row["representation"]): row["like"] for row in json.loads(done.stdout)
    }
    for name in ("bag", "general"):
        assert like[1, name] == ["money", "grows"]
        assert like[2, name] == ["river", "flows"]


def test_every_format(run: Run) -> None:
    ask = ("compare", "money [bank]", "--vectors", "bank", "-n", "2")
    # bank (.7,.7,0), money (1,0,.2): cosine .5/√(.98·1.04)·… = .7/√(.98·1.04) = .693375
    assert f"{0.7 / math.sqrt(0.98 * 1.04):.6f}" == "0.693375"
    tsv = HEAD + (
        "1\tbank\t2\tstatic\t1.000000\tmoney river\t\t\t\t\t\t\t\t\n"
        "1\tbank\t2\tbag\t0.693375\tmoney grows\t\t\t\t\t\t\t\t\n"
        "1\tbank\t2\tgeneral\t0.939582\tmoney grows\tmoney 0.43\t\t\t\t\t\t\t\n"
    )
    weight = 1 / (1 + math.exp(0.7 - 0.98))  # of bank itself: softmax(.98, .7)
    mixed = [weight * b + (1 - weight) * m for b, m in zip((0.7, 0.7, 0), (1, 0, 0.2), strict=True)]
    assert f"{cosine(mixed, [0.7, 0.7, 0]):.6f}" == "0.939582"
    along = np.dot([1, 0, 0.2], mixed) / np.dot(mixed, mixed)
    assert f"{(1 - weight) * along:.2f}" == "0.43"
    assert run(*ask).stdout == tsv
    csv = tsv.replace("\t", ",")
    assert run(*ask, "-f", "csv", "--precision", "6").stdout == csv
    assert run(*ask, "-f", "table").stdout == (
        "bank: like money, grows; because money 0.43\n"
        "  but static says like money, river (the word alone)\n"
        "\n"
        "sentence  target  representation  cos_static  like\n"
        "--------  ------  --------------  ----------  -----------\n"
        "       1  bank    static              1.0000  money river\n"
        "       1  bank    bag                 0.6934  money grows\n"
        "       1  bank    general             0.9396  money grows\n"
    )
    cells = run(*ask, "-f", "markdown").stdout.splitlines()[4].split("|")[1:-1]
    result = ["1", "bank", "2", "general", "0.9396", "money grows", "money 0.43", *[""] * 7]
    assert [cell.strip() for cell in cells] == result
    lines = [json.loads(line) for line in run(*ask, "-f", "jsonl").stdout.splitlines()]
    assert lines == json.loads(run(*ask, "-f", "json").stdout)
    assert [" ".join(line["like"]) for line in lines] == [
        "money river",
        "money grows",
        "money grows",
    ]


def test_two_sentences_and_their_baseline(run: Run) -> None:
    done = run("compare", "the [apple] launched the phone", "[apple] orange juice", "-f", "json")
    rows = json.loads(done.stdout)
    one = (["the", "apple", "launched", "the", "phone"], 1)
    two = (["apple", "orange", "juice"], 0)
    representations = {
        "static": lambda words, position: WORDS[words[position]],
        "bag": bag,
        "general": general,
    }
    occurrences = [  # known words only: that is what the model sees
        ([w for w in line.split() if w in WORDS], line.split().index("apple"))
        for line in TEXT
        if "apple" in line
    ]
    for row in rows:
        representation = representations[row["representation"]]
        here = representation(*(one if row["sentence"] == 1 else two))
        assert row["cos_first"] == pytest.approx(cosine(here, representation(*one)), abs=1e-6)
        all_of_them = [representation(*where) for where in occurrences]
        pairs = [cosine(a, b) for i, a in enumerate(all_of_them) for b in all_of_them[:i]]
        assert row["cos_random"] == pytest.approx(sum(pairs) / len(pairs), abs=1e-6)
    assert {row["cos_first"] for row in rows if row["representation"] == "static"} == {1.0}


def test_the_verdict_is_the_first_line(run: Run) -> None:
    """A line for each target, and below it who sees another meaning, and why that may be."""
    axes = ("--axis", "taste=orange,sweet", "--axis", "technology=phone,launched")
    done = run("compare", "the [apple] launched the phone", *axes, "-f", "table")
    first, second, third, *_ = done.stdout.splitlines()
    assert first == f"apple: like {', '.join(LIKE)}; because {because(SENTENCE, 1)}"
    assert second == "  but static says taste (the word alone)"
    assert third == ""
    narrow = run("compare", "the [apple] launched the phone", "-f", "table", env={"COLUMNS": "40"})
    assert max(map(len, narrow.stdout.splitlines()[:3])) <= 40
    quiet = run("compare", "the [apple] launched the phone", "-f", "table", "--no-header")
    assert quiet.stdout.splitlines()[0].split()[:2] == ["1", "apple"]
    several = run("compare", "[apple] sweet", "[bank] money", "-f", "table").stdout
    assert [line[:9] for line in several.splitlines() if line[1:2] == "."] == [
        "1. apple:",
        "2. bank: ",
    ]


def test_saved_senses_name_the_sense(tmp_path: Path, run: Run) -> None:
    """apple has two saved senses: the fruit lies along taste, the firm along technology."""
    folder = write_tiny(tmp_path / "m")
    model = Model.open(folder)
    vectors = np.array([[1, 0, 0, 0], [0, 1, 0, 0]], np.float32)
    markers = [["juice", "sweet", "pie", "tree"], ["phone", "launched", "new"]]
    kept = SavedSenses(
        "apple", "general", [30, 10], vectors, 4 * vectors, [0, 0], markers, [[], []], {"layer": 0}
    )
    save_senses(model, kept)
    ask = ("compare", "[apple] launched phone", "apple [juice]", "-m", str(folder))
    rows = json.loads(run(*ask, "-f", "json").stdout)
    senses = {(r["target"], r["representation"]): (r["sense"], r["sense_share"]) for r in rows}
    assert senses["apple", "static"] == senses["apple", "bag"] == (None, None)
    assert senses["juice", "general"] == (None, None)  # none are saved for it
    sense, share = senses["apple", "general"]
    assert (sense, 0.5 < share < 1) == (2, True)
    (line, *_) = run(*ask, "-f", "table", env={"COLUMNS": "200"}).stdout.splitlines()
    assert f"; sense 2 of 2 (phone, launched, new), {share:.2f} sure" in line


def test_repeated_words_are_two_targets(run: Run) -> None:
    done = run("compare", "apple launched phone while eating an apple", "--no-header")
    names = [line.split("\t")[1] for line in done.stdout.splitlines()]
    assert names == [n for n in ("apple", "launched", "phone", "apple:2") for _ in range(3)]
    assert mentions(done.stderr, "vocabulary skipped")
    second = run("compare", "apple launched phone an apple", "--word", "apple:2", "--no-header")
    assert [line.split("\t")[1:3] for line in second.stdout.splitlines()] == [["apple:2", "5"]] * 3


@pytest.mark.parametrize("number", ["²", "٣²", "9" * 5000, "-1", "x"])
def test_what_is_no_number_of_a_target_is_refused(run: Run, number: str) -> None:
    done = run("compare", "apple launched phone", "--word", f"apple:{number}")
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, "--word apple: WORD:N") and len(done.stderr) < 200


def test_content_words_are_the_targets(run: Run, model: Model) -> None:
    done = run("compare", "the apple", "--no-header")
    assert {line.split("\t")[1] for line in done.stdout.splitlines()} == {"apple"}
    done = run("compare", "the", "--no-header")  # nothing else: then it is one
    assert {line.split("\t")[1] for line in done.stdout.splitlines()} == {"the"}


def test_attention_lists_and_stdin(run: Run) -> None:
    done = run(
        "compare", "-", "--attention", "random,general", stdin="the [bank]\n\n[bank] river\n"
    )
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert [line[3] for line in lines] == ["static", "bag", "random", "general"] * 2
    assert [line[0] for line in lines] == ["1"] * 4 + ["3"] * 4  # lines of stdin


def test_it_says_when_attention_adds_nothing(run: Run) -> None:
    stderr = run("compare", "[sweet] orange").stderr  # the bag is orange, and so is nearly general
    assert "general adds nothing to the bag here: its vector is nearly the mean of the" in stderr
    axes = ("--axis", "a=orange", "--axis", "b=phone")
    assert "adds nothing" in run("compare", "[sweet] orange", *axes).stderr
    # the nearest axis is that of the bag too, but the vector is another one
    assert "adds nothing" not in run("compare", "[apple] orange sweet phone", *axes).stderr


@pytest.mark.posix
def test_the_awk_line_of_the_readme(tiny: Path) -> None:
    pick = "awk -F'\\t' '$4==\"general\"{print $2,$5}'"
    done = in_bash(f'ctxembed compare "[apple] launched the phone" | {pick}', tiny)
    expected = cosine(general(["apple", "launched", "the", "phone"], 0), WORDS["apple"])
    assert done.stdout == f"apple {expected:.6f}\n"


def test_similarity_of_words_in_sentences(run: Run) -> None:
    done = run("similarity", "[apple] phone", "[Apple] juice", "phone", "--pairs", "-f", "json")
    rows = {(r["word1"], r["word2"]): r["cosine"] for r in json.loads(done.stdout)}
    one, two = general(["apple", "phone"], 0), general(["apple", "juice"], 0)
    assert rows["[apple] phone", "[Apple] juice"] == pytest.approx(cosine(one, two), abs=1e-6)
    assert rows["[apple] phone", "phone"] == pytest.approx(cosine(one, WORDS["phone"]), abs=1e-6)
    table = run("similarity", "[apple] phone", "phone").stdout
    assert table.startswith("word\t[apple] phone\tphone\n[apple] phone\t1.000000\t")
    partly = run("similarity", "[apple pie] juice", "phone")
    assert partly.returncode == 0
    assert mentions(partly.stderr, "vocabulary pie")
    wrong = run("similarity", "[aple] pie")
    assert (wrong.returncode, wrong.stdout) == (4, "")
    assert mentions(wrong.stderr, "apple")


def test_a_space_equals_the_normalised_array(model: Model) -> None:
    vectors = np.random.default_rng(0).normal(1, 1, (5000, 3)).astype(np.float32)
    vectors[7] = 0
    mean = vectors.astype(np.float64).mean(axis=0)
    for space, shift in ((Space(vectors), np.zeros(3)), (Space(vectors, mean_of(vectors)), mean)):
        table = vectors - shift
        table /= np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-30)
        assert space.shape == table.shape
        np.testing.assert_allclose(
            space[7 + np.arange(4).reshape(2, 2)], table[7:11].reshape(2, 2, 3), atol=1e-6
        )
        queries = table[:5].astype(np.float32)
        np.testing.assert_allclose(space.cosines(queries).T, queries @ table.T, atol=1e-5)


def test_one_sentence_imports_nothing_heavy(tiny: Path) -> None:
    code = (
        "import sys; sys.argv = ['ctxembed', 'compare', '[apple] juice']\n"
        "from ctxembed.cli.main import main\n"
        "try: main()\n"
        "except SystemExit as leave: assert leave.code == 0\n"
        "heavy = ('gensim', 'scipy', 'sklearn', 'torch', 'tqdm', 'concurrent.futures.process',"
        " 'numpy.random', 'tempfile')\n"
        "assert not [name for name in heavy if name in sys.modules], sorted(sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "CTXEMBED_MODEL": str(tiny)},
    )
    assert done.returncode == 0, done.stderr


def test_spans_and_lengths_in_one_batch(model: Model) -> None:
    texts = ["[apple juice] sweet", "the [apple]", "[bank]", "the river [bank] money", "[the] the"]
    items = [parse(model, text).occurrences[0] for text in texts]
    for name in ("static", "bag", "general", "random"):
        representation = Representations(model).get(name)
        together = representation.vectors(items)
        for row, item in enumerate(items):
            np.testing.assert_allclose(together[row], representation.vectors([item])[0], atol=1e-6)
