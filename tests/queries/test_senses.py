"""Senses: the maths on made-up clouds, the command on the small fixed model."""

import importlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ctxembed
from ctxembed.context.hits import find_hits
from ctxembed.context.parse import parse
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, open_senses, saved_senses
from ctxembed.word_senses.cluster import adjusted_rand, cluster, distinct_rows, merge_parts
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_space import (
    SenseSpace,
    assign_senses,
    classify,
    classify_at,
    discriminant_directions,
    make_space,
    sense_representation,
)
from tests.conftest import ROOT, Run, mentions

FORMATS = ("table", "tsv", "csv", "json", "jsonl", "markdown")


def plain(apart: float = 40.0, dim: int = 10) -> SenseSpace:
    """A space in which vectors lie as they are; unit vectors are taken apart by the tests."""
    return SenseSpace(None, 20 * np.eye(dim), apart)  # type: ignore[arg-type]


def around_axes(
    sizes: list[int], spread: float = 0.15
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    """Draw clouds about the first axes, so many points each; the axes lie sqrt(2) apart."""
    rng = np.random.default_rng(2)
    return np.eye(10)[np.repeat(np.arange(len(sizes)), sizes)] + spread * rng.normal(
        size=(sum(sizes), 10)
    )


@pytest.mark.parametrize(
    "sizes", [[400], [200, 200], [100, 100, 100], [100] * 4, [360, 40], [480, 20]]
)
def test_counts_the_clouds(sizes: list[int]) -> None:
    """Clouds that lie apart as two words do (2 · 20² squared); each point finds its cloud."""
    vectors = around_axes(sizes)
    senses = cluster(vectors, plain(apart=800.0), None)
    assert senses.number == len(sizes)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    assert adjusted_rand(np.array([truth, senses.labels]))[0, 1] > 0.98


def test_one_cloud_is_one_sense() -> None:
    assert cluster(around_axes([500]), plain(800.0), None).number == 1
    near = cluster(around_axes([200, 200]), plain(apart=800.0 * 20), None)
    assert near.number == 1  # two clouds much nearer than two words are
    assert 0 < near.scores[0] < 1


def test_where_words_lie_near_each_other_senses_need_more() -> None:
    """Clouds 4 apart squared are two words' distance in a poor space, and no two senses."""
    vectors = around_axes([200, 200], spread=0.01)
    near, far = (SenseSpace(None, size * np.eye(10), 2 * size**2) for size in (1.4, 1.7))  # type: ignore[arg-type]
    assert [cluster(vectors, space, None).number for space in (near, far)] == [1, 2]


def test_few_occurrences_have_few_senses() -> None:
    """Five clear clouds of twelve are no more than two senses; given five times as many, five."""
    few, many = (cluster(around_axes([each] * 5), plain(800.0), None) for each in (12, 60))
    assert (few.number, many.number) == (2, 5)
    assert few.scores[3] > 1  # the score says what they look like
    assert cluster(around_axes([12] * 5), plain(800.0), 5).number == 5  # asked for


def test_near_duplicates_count_once() -> None:
    vectors = np.concatenate([around_axes([300]), np.tile(np.eye(10)[5], (60, 1))])
    assert cluster(vectors, plain(apart=800.0), None).number == 1
    assert len(distinct_rows(np.tile(np.eye(2), (5, 1)))) == 2


def test_parts_are_joined_by_hand() -> None:
    """Four parts on a line, 0 1 | 10 12: first 0 and 1, then 10 and 12, then both."""
    centres, sizes = np.array([[[0.0], [1], [10], [12]]] * 2), np.array([[50, 50, 50, 50]] * 2)
    groups, heights = merge_parts(centres, sizes, np.array([0.0, 5.0]))
    for run in range(2):
        assert groups[:, run].tolist() == [[0, 0, 0, 0], [0, 0, 2, 2], [0, 0, 2, 3], [0, 1, 2, 3]]
    # The halves hold all: 4 (100 · 100 / 200) / 200 = 1. Single parts half of it, to the power 0.3.
    assert heights[0] == pytest.approx([10.5**2, 2**2 * 0.5**0.3, 1 * 0.5**0.3])
    # Chance puts parts of 50 apart by 5 (1/50 + 1/50).
    assert heights[1, 2] == pytest.approx((1 - 0.2) * 0.5**0.3)


def test_a_group_that_is_too_small_joins_the_nearest() -> None:
    centres, sizes = np.array([[[0.0], [1], [99]]]), np.array([[500, 490, 10]])
    groups, heights = merge_parts(centres, sizes, np.zeros(1))
    assert groups[1].tolist() == [[0, 1, 1]]
    assert heights[0, 0] > 0 == heights[0, 1]


def test_labels_are_ordered_by_share_and_judge_agrees() -> None:
    rng = np.random.default_rng(3)
    away = np.eye(12)[[0] * 30 + [1] * 70] + 0.15 * rng.normal(size=(100, 12))
    space = plain(800.0, 12)
    senses = cluster(away, space, 2)
    np.testing.assert_array_equal(senses.labels, [1] * 30 + [0] * 70)
    labels, margins = classify(away, senses.weights, senses.bias)
    np.testing.assert_array_equal(labels, senses.labels)
    # Without the shares, the border is the plane halfway between the centres.
    placed = space.project(away)
    a, b = placed[30:].mean(axis=0), placed[:30].mean(axis=0)
    line = (a - b) / np.linalg.norm(a - b)
    inside = np.concatenate([placed[30:] - a, placed[:30] - b])
    spread = (inside**2).mean()
    shift = np.repeat([-1, 1], [30, 70]) * spread * np.log(7 / 3) / np.linalg.norm(a - b)
    expected = (np.abs((placed - (a + b) / 2) @ line) + shift) / np.sqrt(spread)
    np.testing.assert_allclose(margins, expected, rtol=0.06)  # contexts said again count once
    assert cluster(away, space, None).number == 2


def test_the_space_tells_words_apart() -> None:
    """Words that differ along one direction and vary along another: the first comes first."""
    rng = np.random.default_rng(4)
    groups = [
        rng.normal(size=(30, 6)) * [1, 5, 1, 1, 1, 1] + [far, 0, 0, 0, 0, 0]
        for far in 10 * rng.normal(size=80)
    ]
    matrix, apart, kept = discriminant_directions(groups)
    assert matrix.shape == (6, 6) and kept == 6
    assert np.abs(matrix[:, 0]).argmax() == 0
    means = np.array([group.mean(axis=0) for group in groups]) @ matrix
    pairs = ((means[:, None] - means) ** 2).sum(axis=2)
    assert apart == pytest.approx(pairs.sum() / (80 * 79), rel=0.02)


def test_space_of_a_small_model(often: Path) -> None:
    space = make_space(Representations(Model.open(often)), "general")
    assert np.isfinite(space.matrix).all()
    assert np.linalg.matrix_rank(space.matrix) == 4


def test_adjusted_rand_agrees_with_sklearn() -> None:
    from sklearn.metrics import adjusted_rand_score

    rng = np.random.default_rng(5)
    groupings = np.array([rng.integers(0, k, 60) for k in (1, 2, 3, 4, 4)])
    groupings[2:, :30] = groupings[1, :30]
    expected = [[adjusted_rand_score(one, other) for other in groupings] for one in groupings]
    np.testing.assert_allclose(adjusted_rand(groupings), expected, atol=1e-12)


def test_evidence_weighs_more_evenly() -> None:
    representations = Representations(Model.open(bundled_model("everyday")))
    for name in ("general", "learned"):
        plain, even = representations.get(name), sense_representation(representations, name)
        assert isinstance(plain, Attention) and isinstance(even, Attention)
        sentence = parse(
            representations.model, "they put money in the [bank] of the town"
        ).occurrences
        most = [attention.run(sentence).traces[0].weights.max() for attention in (plain, even)]
        assert most[0] > most[1]


@pytest.mark.parametrize("word", ["apple", "bank", "server", "mouse", "orange"])
def test_senses_of_the_bundled_model(word: str) -> None:
    """The corpus was written with two senses of each; its labels are the truth."""
    from sklearn.metrics import v_measure_score

    with open(ROOT / "corpora" / "everyday.senses.tsv", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    truth = [row[3] for row in rows if row[1] == word]
    representations = Representations(Model.open(bundled_model("everyday")))
    senses = find_senses(representations, word)
    assert senses.number in (2, 3)  # trees are a third kind of use
    positions = find_hits(representations.model, word).positions
    labels, _ = classify_at(representations, senses, positions)
    np.testing.assert_array_equal(np.bincount(labels), senses.counts)
    assert v_measure_score(truth, labels) > 0.4


def test_min_score_decides_on_a_further_sense(run: Run, tmp_path: Path) -> None:
    """The largest number of senses whose score, as --all-k prints it, is as high as was asked."""
    folder = shutil.copytree(bundled_model("everyday"), tmp_path / "m")
    (folder / "senses.npz").unlink()
    command = ("senses", "date", "-m", str(folder), "--all-k", "-f", "json")
    scores = {row["k"]: row["score"] for row in json.loads(run(*command).stdout) if row["score"]}
    assert 0.9 < scores[2] < 1
    for enough in (0.5, 0.9, 1.0, 5.0):
        result = run(*command, "--min-score", str(enough))
        chosen = [row["k"] for row in json.loads(result.stdout) if row["chosen"] == "yes"]
        assert chosen == [max((k for k, score in scores.items() if score >= enough), default=1)]
    assert not (folder / "senses.npz").exists()  # a question without --save writes nothing
    assert len(run("senses", "date", "-m", str(folder)).stdout.splitlines()) == 2


def test_two_senses_of_bank(run: Run, often: Path) -> None:
    done = run("senses", "bank", "--k", "2", "-m", str(often), "-f", "json")
    assert done.returncode == 0, done.stderr
    one, two = json.loads(done.stdout)
    assert (one["sense"], two["sense"], one["share"], two["count"]) == (1, 2, 0.5, 15)
    by_marker = {" ".join(row["markers"]): row for row in (one, two)}
    assert set(by_marker) == {"money", "river"}
    assert set(by_marker["money"]["examples"]) == {"the [bank] money"}
    assert set(by_marker["river"]["examples"]) == {"the river [bank] quay"}
    assert by_marker["river"]["nearest"][0] == "river"
    # bank is [0 0 .8 .6]: between money [0 0 1 0] and river [0 0 0 1], nearer to money.
    assert by_marker["money"]["mix"] > by_marker["river"]["mix"] > 0
    assert 0 <= one["residual"] < 0.2 and one["mean_cosine"] > 0.98
    assert f"bank ≈ {one['mix']:.2f}·s1 + {two['mix']:.2f}·s2" in done.stderr


def test_every_format_is_exact(run: Run, often: Path) -> None:
    texts = {
        form: run("senses", "bank", "--k", "1", "-m", str(often), "-f", form, "--precision", "2")
        for form in FORMATS
    }
    assert texts["tsv"].stdout.splitlines()[0].split("\t") == [
        "word", "sense", "share", "count", "mix", "nearest", "markers", "examples", "residual",
        "mean_cosine",
    ]  # fmt: skip
    row = texts["tsv"].stdout.splitlines()[1].split("\t")
    assert row[:4] == ["bank", "1", "1.00", "30"]
    assert texts["csv"].stdout == texts["tsv"].stdout.replace("\t", ",")
    (record,) = json.loads(texts["json"].stdout)
    assert json.loads(texts["jsonl"].stdout) == record
    assert [str(value) for value in record.values()][:2] == ["bank", "1"]
    assert texts["table"].stdout.splitlines()[0].split() == [
        "sense", "share", "count", "mix", "nearest", "markers", "examples",
    ]  # fmt: skip
    assert texts["markdown"].stdout.startswith("| word ")
    assert all(done.returncode == 0 for done in texts.values())


def test_wraps_on_a_narrow_terminal(run: Run, often: Path) -> None:
    done = run("senses", "bank", "--k", "2", "-m", str(often), "-f", "table", env={"COLUMNS": "60"})
    assert max(map(len, done.stdout.splitlines())) <= 60
    assert "…" not in done.stdout  # nothing is cut


def test_same_seed_same_bytes(run: Run, often: Path) -> None:
    one, two = (run("senses", "apple", "--k", "3", "--max", "30", "-m", str(often)) for _ in "ab")
    assert one.stdout == two.stdout
    assert mentions(one.stderr, "30~of 45~occurrences 66.7%")


@pytest.mark.posix  # replaces files that are open
def test_saved_senses_are_used_again(run: Run, often: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(often, folder)
    command = ("senses", "bank", "-m", str(folder), "-f", "json")
    assert saved_senses(Model.open(folder), "bank") is None
    done = run(*command, "--k", "2")  # a number that was asked for is not kept
    assert saved_senses(Model.open(folder), "bank") is None
    kept = run(*command, "--k", "2", "--save")
    assert (kept.returncode, kept.stdout) == (0, done.stdout)
    assert f"1 saved in {folder / 'senses.npz'}" in kept.stderr
    saved = saved_senses(Model.open(folder), "bank")
    assert saved is not None
    assert (saved.word, saved.attention, saved.vectors.shape) == ("bank", "general", (2, 4))
    np.testing.assert_allclose(saved.shares, [0.5, 0.5])
    plain = run(*command)
    assert plain.stdout == done.stdout
    assert mentions(plain.stderr, "--again before")
    assert "saved before" not in run(*command, "--again").stderr
    assert "saved before" not in run(*command, "--k", "1").stderr
    shutil.rmtree(folder / "index")  # the senses stay, their examples go with the corpus
    bare = json.loads(run(*command).stdout)
    assert [row["markers"] for row in bare] == [row["markers"] for row in json.loads(done.stdout)]
    assert [row["examples"] for row in bare] == [[], []]
    notes = run(*command).stderr
    assert "no text in this model" in notes
    assert "--again" not in notes  # there is nothing to compute them from


def test_only_save_writes_to_the_model(run: Run, often: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(often, folder)
    command = ("senses", "bank", "apple", "-m", str(folder))
    first = run(*command)
    assert not (folder / "senses.npz").exists()
    assert run(*command, "--save").stdout == run(*command).stdout == first.stdout
    assert (folder / "senses.npz").exists()
    alone = run("senses", "bank", "-m", str(folder))
    assert mentions(alone.stderr, "--again before")


def test_words_from_a_pipe(run: Run, often: Path) -> None:
    done = run("senses", "-", "--k", "1", "-m", str(often), stdin="bank\nzebra\nphone\nApple\n")
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["word", "bank", "apple"]
    assert mentions(done.stderr, "'zebra' vocabulary")
    assert mentions(done.stderr, "'phone' 15~times senses")


def test_the_number_of_senses_does_not_depend_on_the_seed() -> None:
    representations = Representations(Model.open(bundled_model("everyday")))
    numbers = {find_senses(representations, "mouse", seed=seed).number for seed in range(4)}
    assert len(numbers) == 1


def test_which_sense_a_sentence_has(often: Path) -> None:
    representations = Representations(Model.open(often))
    senses = find_senses(representations, "bank", k=2)
    sentences = ("the [bank] money", "the river [bank]")
    occurrences = [parse(representations.model, text).occurrences[0] for text in sentences]
    labels, margins = assign_senses(representations, senses, occurrences)
    markers = [senses.markers[label] for label in labels]
    assert markers == [["money"], ["river"]]
    assert (margins > 0).all()


def test_top_chooses_the_words(run: Run, often: Path, tmp_path: Path) -> None:
    folder = shutil.copytree(often, tmp_path / "model")
    done = run("senses", "--top", "1", "--save", "-m", str(folder))
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["apple", "1"], ["apple", "2"]]
    assert list(open_senses(Model.open(folder))) == ["apple"]
    both = run("senses", "bank", "--top", "3", "-m", str(folder))
    assert (both.returncode, both.stdout) == (2, "")
    assert mentions(both.stderr, "words --top")


def test_top_in_several_processes(run: Run, often: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ask = ("senses", "--top", "2", "-m", str(often))
    alone = run(*ask)
    query = importlib.import_module("ctxembed.queries.senses")
    monkeypatch.setattr(query, "MANY_WORDS", 1)
    monkeypatch.setattr(query, "BLOCK", 1)
    monkeypatch.setattr(query, "cores", lambda: 2)
    done = run(*ask)
    assert (done.stdout, done.returncode) == (alone.stdout, 0)
    assert len(done.stdout.splitlines()) > 2


def test_an_interrupt_keeps_the_senses_found(often: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    query = importlib.import_module("ctxembed.queries.senses")
    words, find = list[str](), query.find_senses

    def interrupted(representations: Representations, word: str, **options: Any) -> SavedSenses:
        words.append(word)
        if len(words) == 3:
            raise KeyboardInterrupt
        found: SavedSenses = find(representations, word, **options)
        return found

    monkeypatch.setattr(query, "find_senses", interrupted)
    table = ctxembed.senses(often, ["bank", "apple", "sweet"], k=2)
    assert table.interrupted and mentions(table.notes[-1], "interrupted 2~of~3 words")
    assert {row["word"] for row in table} == {"bank", "apple"}


def test_words_without_saved_senses_do_not_stop_the_others(run: Run) -> None:
    """english keeps no text: of server it can say nothing, of bank and apple it can."""
    done = run("senses", "-", "-m", "english", "--no-header", stdin="apple\nserver\nbank\n")
    assert done.returncode == 4
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == {"apple", "bank"}
    assert mentions(done.stderr, "senses 'server'")
    assert run("senses", "server", "-m", "english").returncode == 3
    assert run("senses", "server", "waiter", "-m", "english").returncode == 3
    result = run("senses", "bank", "--all-k", "-m", "english")
    assert mentions(result.stderr, "senses bank")


def test_no_sense_for_a_word_without_context(run: Run) -> None:
    done = run("compare", "[bank]", "-m", "english", "-f", "json")
    assert {row["sense"] for row in json.loads(done.stdout)} == {None}


def test_names_of_senses_are_kept_and_used(run: Run, often: Path, tmp_path: Path) -> None:
    folder = str(shutil.copytree(often, tmp_path / "model"))
    done = run("senses", "bank", "--k", "2", "--save", "-m", folder, "-f", "json")
    order = [row["markers"][0] for row in json.loads(done.stdout)]
    assert "name" not in json.loads(done.stdout)[0]
    names = [f"{number}={marker} side" for number, marker in enumerate(order, 1)]
    done = run("senses", "bank", "--name", names[0], "--name", names[1], "-m", folder, "-f", "json")
    assert [row["name"] for row in json.loads(done.stdout)] == [f"{one} side" for one in order]
    rows = json.loads(run("kwic", "bank", "-m", folder, "-f", "json").stdout)
    assert {row["sense_name"] for row in rows} == {"river side", "money side"}
    done = run("kwic", "bank", "-m", folder, "--where", "sense=river side", "-f", "json")
    river = json.loads(done.stdout)
    assert 0 < len(river) < len(rows)
    assert {row["sense_name"] for row in river} == {"river side"}
    done = run("collocates", "bank", "--by-sense", "-m", folder, "--min-documents", "1")
    assert "\triver side\triver\t" in done.stdout
    assert "river side" in run("senses", "bank", "-m", folder, "-f", "svg").stdout
    run("senses", "bank", "--save", "--k", "2", "-m", folder)  # the same senses keep their names
    saved = open_senses(Model.open(Path(folder)))["bank"]
    assert saved.describe(0) == f"{order[0]} side"
    assert saved.without([1]).names == [f"{order[1]} side"]
    run("senses", "bank", "--name", "1=", "-m", folder)
    assert open_senses(Model.open(Path(folder)))["bank"].names == ["", f"{order[1]} side"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["bank", "--k", "2", "--name", "3=x"], "senses 1 to 2"),
        (["bank", "--k", "2", "--name", "1=x", "--name", "2=x"], "must differ"),
        (["bank", "--k", "2", "--name", "1=2"], "no numbers"),
        (["bank", "--name", "river"], "N=NAME"),
        (["bank", "apple", "--name", "1=river"], "one word"),
        (["bank", "--name", "1=river", "-m", "english"], "cannot be changed"),
    ],
)
def test_names_that_are_refused(
    run: Run, often: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    folder = str(shutil.copytree(often, tmp_path / "model"))
    done = run("senses", *arguments, *([] if "-m" in arguments else ["-m", folder]))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_definitions_of_senses(run: Run) -> None:
    rows = json.loads(run("senses", "bank", "--define", "-m", "everyday", "-f", "json").stdout)
    by_key = {row["sense_key"]: row for row in rows}
    assert "money" in by_key["bank%1:14:00::"]["markers"]
    assert "river" in by_key["bank%1:17:01::"]["markers"]
    assert all(0.4 <= row["sure"] <= 1 for row in rows)
