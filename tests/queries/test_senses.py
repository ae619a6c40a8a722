"""Senses: the maths on made-up clouds, the command on the small fixed model."""

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.parse import parse
from ctxembed.context.representations import Attention, Representations
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses, saved_senses
from ctxembed.word_senses.assign import judge, sense_here
from ctxembed.word_senses.cluster import adjusted_rand, cluster, different, join
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_space import SenseSpace, evidence, make_space, tell_apart
from tests.conftest import ROOT, Run

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
    found = cluster(vectors, plain(apart=800.0), None)
    assert found.number == len(sizes)
    truth = np.repeat(np.arange(len(sizes)), sizes)
    assert adjusted_rand(np.array([truth, found.labels]))[0, 1] > 0.98


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
    assert len(different(np.tile(np.eye(2), (5, 1)))) == 2


def test_parts_are_joined_by_hand() -> None:
    """Four parts on a line, 0 1 | 10 12: first 0 and 1, then 10 and 12, then both."""
    centres, sizes = np.array([[0.0], [1], [10], [12]]), np.array([50, 50, 50, 50])
    groups, heights = join(centres, sizes, 0.0)
    assert [group.tolist() for group in groups] == [
        [0, 0, 0, 0], [0, 0, 1, 1], [0, 0, 1, 2], [0, 1, 2, 3],
    ]  # fmt: skip
    # The halves hold all: 4 (100 · 100 / 200) / 200 = 1. Single parts half of it, to the power 0.3.
    assert heights == pytest.approx([10.5**2, 2**2 * 0.5**0.3, 1 * 0.5**0.3])
    noisy = join(centres, sizes, 5.0)[1]  # chance puts parts of 50 apart by 5 (1/50 + 1/50)
    assert noisy[2] == pytest.approx((1 - 0.2) * 0.5**0.3)


def test_a_group_that_is_too_small_joins_the_nearest() -> None:
    groups, heights = join(np.array([[0.0], [1], [99]]), np.array([500, 490, 10]), 0.0)
    assert (groups[1].tolist(), heights) == ([0, 1, 1], [pytest.approx(heights[0]), 0.0])


def test_labels_are_ordered_by_share_and_judge_agrees() -> None:
    rng = np.random.default_rng(3)
    away = np.eye(12)[[0] * 30 + [1] * 70] + 0.15 * rng.normal(size=(100, 12))
    space = plain(800.0, 12)
    found = cluster(away, space, 2)
    np.testing.assert_array_equal(found.labels, [1] * 30 + [0] * 70)
    labels, margins = judge(away, found.weights, found.bias)
    np.testing.assert_array_equal(labels, found.labels)
    # Without the shares, the border is the plane halfway between the centres.
    placed = space.place(away)
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
    matrix, apart, kept = tell_apart(groups)
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
        plain, even = representations.get(name), evidence(representations, name)
        assert isinstance(plain, Attention) and isinstance(even, Attention)
        sentence = parse(
            representations.model, "they put money in the [bank] of the town"
        ).occurrences
        most = [way.attend(sentence).weights.max() for way in (plain, even)]
        assert most[0] > most[1]


@pytest.mark.parametrize("word", ["apple", "bank", "server", "mouse", "orange"])
def test_bundled_senses_are_found(word: str) -> None:
    """The corpus was written with two senses of each; its labels are the truth."""
    from sklearn.metrics import v_measure_score

    with open(ROOT / "corpora" / "everyday.senses.tsv", encoding="utf-8") as file:
        rows = [line.rstrip("\n").split("\t") for line in file]
    truth = [row[3] for row in rows if row[1] == word]
    representations = Representations(Model.open(bundled_model("everyday")))
    found = find_senses(representations, word)
    assert found.clustering.number in (2, 3)  # trees are a third way of speaking of fruit
    assert v_measure_score(truth, found.clustering.labels) > 0.4


def test_a_score_that_is_enough(run: Run, tmp_path: Path) -> None:
    """The largest number of senses whose score, as --all-k prints it, is as high as was asked."""
    place = shutil.copytree(bundled_model("everyday"), tmp_path / "m")
    (place / "senses.npz").unlink()
    asked = ("senses", "date", "-m", str(place), "--all-k", "-f", "json")
    scores = {row["k"]: row["score"] for row in json.loads(run(*asked).stdout) if row["score"]}
    assert 0.9 < scores[2] < 1
    for enough in (0.5, 0.9, 1.0, 5.0):
        found = run(*asked, "--min-score", str(enough))
        chosen = [row["k"] for row in json.loads(found.stdout) if row["chosen"] == "yes"]
        assert chosen == [max((k for k, score in scores.items() if score >= enough), default=1)]
    assert "as found before" in run(*asked).stderr  # those of a plain question were kept
    assert len(run("senses", "date", "-m", str(place)).stdout.splitlines()) == 2


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
    assert "30 of 45 occurrences looked at (66.7%)" in one.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["zebra"], 4, "'zebra' is not in the vocabulary"),
        (["phone"], 1, "'phone' occurs 15 times: too few to tell senses apart"),
        (["bank", "--k", "two"], 2, "--k two: give a number from 1 to 50, or auto"),
        (["bank", "--seed", "99999999999"], 2, "99999999999 is not a whole number"),
        (["bank", "--k", "0"], 2, "--k 0: give a number from 1 to 50, or auto"),
        (["bank", "--k", "9"], 1, "of 9 senses have an occurrence; give a lower --k"),
        (["bank", "--attention", "mine"], 3, "no attention 'mine'"),
        (["bank", "--save", "-m", "everyday"], 2, "the bundled model everyday stays as it is"),
    ],
)
def test_errors(run: Run, often: Path, arguments: list[str], code: int, message: str) -> None:
    done = run("senses", "-m", str(often), *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_saved_senses_answer_again(run: Run, often: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(often, place)
    asked = ("senses", "bank", "-m", str(place), "-f", "json")
    assert saved_senses(Model.open(place), "bank") is None
    done = run(*asked, "--k", "2")  # a number that was asked for is not kept
    assert saved_senses(Model.open(place), "bank") is None
    kept = run(*asked, "--k", "2", "--save")
    assert (kept.returncode, kept.stdout) == (0, done.stdout)
    assert f"1 saved in {place / 'senses.npz'}" in kept.stderr
    saved = saved_senses(Model.open(place), "bank")
    assert saved is not None
    assert (saved.word, saved.attention, saved.vectors.shape) == ("bank", "general", (2, 4))
    np.testing.assert_allclose(saved.shares, [0.5, 0.5])
    plain = run(*asked)
    assert plain.stdout == done.stdout
    assert "as found before; --again looks anew" in plain.stderr
    assert "as found before" not in run(*asked, "--again").stderr
    assert "as found before" not in run(*asked, "--k", "1").stderr
    shutil.rmtree(place / "index")  # the senses stay, their examples go with the corpus
    bare = json.loads(run(*asked).stdout)
    assert [row["markers"] for row in bare] == [row["markers"] for row in json.loads(done.stdout)]
    assert [row["examples"] for row in bare] == [[], []]


def test_a_plain_answer_is_kept(run: Run, often: Path, tmp_path: Path) -> None:
    place = tmp_path / "model"
    shutil.copytree(often, place)
    first, second = (run("senses", "bank", "apple", "-m", str(place)) for _ in "ab")
    assert first.stdout == second.stdout
    assert (place / "senses.npz").exists()
    alone = run("senses", "bank", "-m", str(place))
    assert "as found before; --again looks anew" in alone.stderr


def test_words_from_a_pipe(run: Run, often: Path) -> None:
    done = run("senses", "-", "--k", "1", "-m", str(often), stdin="bank\nzebra\nphone\nApple\n")
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["word", "bank", "apple"]
    assert "'zebra' is not in the vocabulary" in done.stderr
    assert "'phone' occurs 15 times: too few to tell senses apart" in done.stderr


def test_the_number_does_not_hang_on_the_seed() -> None:
    representations = Representations(Model.open(bundled_model("everyday")))
    numbers = {find_senses(representations, "mouse", seed=seed).senses.number for seed in range(4)}
    assert len(numbers) == 1


def test_which_sense_a_sentence_has(often: Path) -> None:
    representations = Representations(Model.open(often))
    found = find_senses(representations, "bank", k=2).senses
    sentences = ("the [bank] money", "the river [bank]")
    occurrences = [parse(representations.model, text).occurrences[0] for text in sentences]
    labels, margins = sense_here(representations, found, occurrences)
    told = [found.markers[label] for label in labels]
    assert told == [["money"], ["river"]]
    assert (margins > 0).all()


def test_the_tool_chooses_the_words(run: Run, often: Path, tmp_path: Path) -> None:
    place = shutil.copytree(often, tmp_path / "model")
    done = run("senses", "--top", "1", "--save", "-m", str(place))
    assert done.returncode == 0, done.stderr
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert [row[:2] for row in rows] == [["apple", "1"], ["apple", "2"]]
    assert list(open_senses(Model.open(place))) == ["apple"]
    both = run("senses", "bank", "--top", "3", "-m", str(place))
    assert (both.returncode, both.stdout) == (2, "")
    assert "give words, or --top N for as many as have more than one sense" in both.stderr


def test_words_without_kept_senses_do_not_stop_the_others(run: Run) -> None:
    """english keeps no text: of server it can say nothing, of bank and apple it can."""
    done = run("senses", "-", "-m", "english", "--no-header", stdin="apple\nserver\nbank\n")
    assert done.returncode == 4
    assert {line.split("\t")[0] for line in done.stdout.splitlines()} == {"apple", "bank"}
    assert "no senses of 'server' can be looked for" in done.stderr
    assert run("senses", "server", "-m", "english").returncode == 3
    assert run("senses", "server", "waiter", "-m", "english").returncode == 3
    told = run("senses", "bank", "--all-k", "-m", "english")
    assert "as many senses as were asked for, whatever their score: bank" in told.stderr


def test_nothing_is_told_of_a_word_without_context(run: Run) -> None:
    done = run("compare", "[bank]", "-m", "english", "-f", "json")
    assert {row["sense"] for row in json.loads(done.stdout)} == {None}
