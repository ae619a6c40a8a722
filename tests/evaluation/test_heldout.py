"""The bundled model on sentences that are not in its training text."""

from collections import defaultdict

import pytest

from ctxembed.context.nearest import axis_cosines
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import bundled_model, corpora_directory
from ctxembed.model.model import Model
from ctxembed.text.index import Index
from tests.conftest import ROOT, Run
from tests.training.test_corpora import read_table

AXES = (
    "--axis", "taste=fruit,sweet,juice", "--axis", "technology=phone,company,software",
)  # fmt: skip
PHONE = "[Apple] launched a new phone while I was eating an"


@pytest.fixture(scope="module")
def representations() -> Representations:
    return Representations(Model.open(bundled_model("everyday")))


def accuracy(representations: Representations, name: str) -> dict[str, float]:
    """Share of held-out sentences whose target lies nearest to the right sense's axis."""
    axes: defaultdict[str, dict[str, list[str]]] = defaultdict(dict)
    for row in read_table(corpora_directory() / "senses.tsv"):
        axes[row["word"]][row["sense"]] = row["axis"].split(",")
    representation = representations.get(name)
    right: defaultdict[str, list[bool]] = defaultdict(list)
    for row in read_table(ROOT / "tests" / "heldout.tsv"):
        vector = representation.vectors(parse(representations.model, row["sentence"]).occurrences)
        senses = axes[row["word"]]
        cosines = axis_cosines(representations.model, vector, senses, representation.alone)[0]
        hit = list(senses)[int(cosines.argmax())] == row["sense"]
        right["all"].append(hit)
        right[row["distractor"]].append(hit)
    return {key: sum(hits) / len(hits) for key, hits in right.items()}


def test_learned_attention_beats_the_baselines(
    representations: Representations,
) -> None:
    scores = {
        name: accuracy(representations, name) for name in ("static", "bag", "general", "learned")
    }
    assert scores["learned"]["all"] >= 0.9
    assert scores["learned"]["yes"] >= 0.8  # with a distractor clause
    for name in ("static", "bag", "general"):
        assert scores["learned"]["all"] > scores[name]["all"] + 0.05
        assert scores["learned"]["yes"] > scores[name]["yes"] + 0.1


def on_axes(run: Run, sentence: str) -> dict[tuple[str, str], tuple[float, float]]:
    done = run(
        "compare",
        sentence,
        *AXES,
        "-f",
        "tsv",
        env={"CTXEMBED_MODEL": str(bundled_model("everyday"))},
    )
    assert done.returncode == 0, done.stderr
    header, *lines = (line.split("\t") for line in done.stdout.splitlines())
    taste, technology = header.index("taste"), header.index("technology")
    return {(row[1], row[3]): (float(row[taste]), float(row[technology])) for row in lines}


def test_apple_is_technology_although_there_is_an_orange(run: Run) -> None:
    axes = on_axes(run, f"{PHONE} [orange]")
    taste, technology = axes["apple", "static"]
    assert taste > technology
    taste, technology = axes["apple", "learned"]
    assert technology > taste + 0.1
    taste, technology = axes["orange", "learned"]
    assert taste > technology + 0.1


def test_two_apples_of_one_sentence_come_out_on_different_sides(run: Run) -> None:
    axes = on_axes(run, f"{PHONE} [apple]")
    assert axes["apple", "learned"][1] > axes["apple", "learned"][0]
    assert axes["apple:2", "learned"][0] > axes["apple:2", "learned"][1]


def test_the_bundled_model_is_whole_and_small(representations: Representations) -> None:
    model = representations.model
    assert model.meta["files"][0]["name"] == "corpora/everyday.txt"
    assert model.attentions() == ["encoder", "learned", "recurrent"]
    assert isinstance(model.index, Index)
    assert sum(f.stat().st_size for f in model.path.rglob("*") if f.is_file()) < 8_000_000
    first = (corpora_directory() / "everyday.txt").read_text(encoding="utf-8").splitlines()[0]
    assert model.index.words(model.index.sentence(0)) == model.vocabulary.tokenizer.words(first)
