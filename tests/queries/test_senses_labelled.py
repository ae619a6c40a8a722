"""Senses trained on labels: figures by hand, planted senses, another model's senses."""

import csv
import shutil
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.context.representation import ModelRepresentation
from ctxembed.context.representations import Representations
from ctxembed.errors import CorpusError, UsageError
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import saved_senses
from ctxembed.queries.kwic import kwic
from ctxembed.queries.senses import senses
from ctxembed.queries.senses_labelled import senses_labelled
from ctxembed.stats.agreement import cohen_kappa, precision_recall
from ctxembed.training.index_ import index
from ctxembed.word_senses.sense_space import SenseSpace
from ctxembed.word_senses.supervised import fit_rule
from tests.conftest import Run

MONEY = ("loans", "interest", "money", "credit")
RIVER = ("river", "water", "boats", "stream")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of a model over 40 documents with bank as money and as river, and of its labels."""
    at, rng = tmp_path_factory.mktemp("labels"), np.random.default_rng(4)
    (at / "in").mkdir()
    for number in range(40):
        lines = []
        for line in range(4):
            one, two = rng.choice(RIVER if (number + line) % 2 else MONEY, 2, replace=False)
            lines.append(f"We saw the {one} and the {two} of the bank.")
        (at / "in" / f"d{number:02}.txt").write_text("\n".join(lines) + "\n")
    index("everyday", str(at / "in"), at / "model")
    with (at / "labels.tsv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter="\t")
        writer.writerow(["file", "line", "left", "hit", "label"])
        for row in kwic(at / "model", "bank"):
            label = "river" if set(row["left"].split()[-9:]) & set(RIVER) else "money"
            writer.writerow([row["file"], row["line"], row["left"], row["hit"], label])
    return at


def test_figures_by_hand() -> None:
    gold, answers = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 1, -1])
    assert precision_recall(gold, answers, 3) == [
        (1.0, 2 / 3, 0.8), (2 / 3, 1.0, 0.8), (0.0, 0.0, 0.0),
    ]  # fmt: skip
    # Wikipedia, Cohen's kappa: 20 both yes, 15 both no, 5 and 10 apart
    one = np.repeat([1, 1, 0, 0], [20, 5, 10, 15])
    other = np.repeat([1, 0, 1, 0], [20, 5, 10, 15])
    assert cohen_kappa(one, other) == pytest.approx(0.4)


def test_held_out_documents(folder: Path) -> None:
    table = senses_labelled(folder / "model", "bank", str(folder / "labels.tsv"))
    assert table["label"] == ["river", "money"] or table["label"] == ["money", "river"]
    assert table["labelled"] == [80, 80]
    assert min(table["f1"]) > 0.9  # the words of the context are disjoint
    assert saved_senses(Model.open(folder / "model"), "bank") is None


def test_few_occurrences_do_not_hide_the_labels() -> None:
    """Two occurrences span one direction; the labels differ in two others, out of 64."""
    axes = np.eye(64)
    learned = Representations.of(ctxembed.open("everyday")).get("general")
    assert isinstance(learned, ModelRepresentation)
    space = SenseSpace(learned, axes)
    labels = np.array([0, 0, 1, 1])
    for first in range(2, 63):
        labelled = axes[[first, first, first + 1, first + 1]]
        rule = fit_rule(space, axes[:2], labelled, labels, 2)
        assert rule.apply(labelled.astype("f4")).tolist() == labels.tolist()


def test_saved_compared_and_moved(run: Run, folder: Path, tmp_path: Path) -> None:
    at = shutil.copytree(folder / "model", tmp_path / "m")
    labels = str(folder / "labels.tsv")
    done = run("senses", "bank", "--labels", labels, "--save", "-m", str(at))
    picture = run("kwic", "bank", "-m", str(at), "-f", "svg")
    assert picture.returncode == 0 and "one sense" not in picture.stdout
    assert "bank: 2 senses saved in" in done.stderr
    lines = kwic(at, "bank", where="sense=river").records()
    assert {row["sense_name"] for row in lines} == {"river"} and 70 <= len(lines) <= 90
    compared = run("senses", "bank", "--labels", labels, "-m", str(at))
    assert "the saved senses of bank are compared" in compared.stderr
    # Another model, with other vectors and other documents.
    (tmp_path / "in").mkdir()
    for number in range(30):
        word, other = [("money", "interest"), ("water", "river")][number % 2]
        text = f"We saw the {other} and the {word} of a bank.\n"
        (tmp_path / "in" / f"e{number:02}.txt").write_text(text)
    index("english", str(tmp_path / "in"), tmp_path / "other")
    table = senses(tmp_path / "other", "bank", source=at, save=True)
    assert sorted(table["name"]) == ["money", "river"]
    for row in kwic(tmp_path / "other", "bank"):
        assert row["sense_name"] == ("river" if "water" in row["left"] else "money")
    with pytest.raises(UsageError, match="has no saved senses of bank"):
        senses(tmp_path / "other", "bank", source=folder / "model")


def test_names_in_order(run: Run, folder: Path, tmp_path: Path) -> None:
    at = str(shutil.copytree(folder / "model", tmp_path / "m"))
    done = run("senses", "bank", "--k", "2", "--save", "--names", "first,second", "-m", at)
    assert [line.split("\t")[2] for line in done.stdout.splitlines()[1:]] == ["first", "second"]
    both = run("senses", "bank", "--name", "1=a", "--names", "a,b", "-m", at)
    assert "give --name or --names, not both" in both.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("file\tline\n", "no row is about an occurrence of bank"),
        ("file\tline\nx\t1\n", "line 2: a column is missing"),
        ("file\tline\tlabel\nnowhere\t1\tx\n", "no row is about an occurrence of bank"),
        ("file\tline\tlabel\nIN/d00.txt\t1\tx\n", "at least two labels with 2 occurrences each"),
        ("file\tline\tlabel\nIN/d00.txt\t1\t3\n", "names of senses must differ, be no numbers"),
    ],
)
def test_labels_that_cannot_be_used(
    folder: Path, tmp_path: Path, content: str, message: str
) -> None:
    file = tmp_path / "labels.tsv"
    file.write_text(content.replace("IN", str(folder / "in")), encoding="utf-8")
    with pytest.raises((CorpusError, UsageError), match=message):
        senses_labelled(folder / "model", "bank", str(file))
