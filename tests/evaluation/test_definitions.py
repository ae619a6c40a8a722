"""Evaluation of definitions: hand-made XML, keys and tables; F1 and calibration by hand."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.errors import CorpusError, UsageError
from ctxembed.evaluation.calibration import Calibration
from ctxembed.evaluation.evaluate import evaluate
from ctxembed.model.model import Model
from tests.conftest import Run, mentions

XML = """<?xml version="1.0" encoding="UTF-8" ?>
<corpus lang="en" source="{source}">
<text id="d0">
<sentence id="d0.s0">
<wf lemma="the" pos="DET">The</wf>
<wf lemma="river" pos="NOUN">river</wf>
<instance id="d0.s0.t0" lemma="bank" pos="NOUN">banks</instance>
<wf lemma="[" pos=".">[</wf>
</sentence>
<sentence id="d0.s1">
<instance id="d0.s1.t0" lemma="bank" pos="NOUN">bank</instance>
<wf lemma="money" pos="NOUN">money</wf>
<instance id="d0.s1.t1" lemma="launch" pos="VERB">launched</instance>
<wf lemma="phone" pos="NOUN">phone</wf>
</sentence>
</text>
</corpus>
"""
KEY = "d0.s0.t0 bank%river\nd0.s1.t0 bank%money bank%other\nd0.s1.t1 launch%begin\n"
OWN = (
    "bank\tn\tmoney\tthe money\tbank money phone\n"
    "bank\tn\triver\tthe river juice\tthe river bank\n"
    "bank\tv\ttilt\tthe orange\n"
)
TABLE = (
    "one\tbank\tn\tbank%river\tthe river [bank]\n"
    "two\tbank\tn\tbank%money\tthe [bank] money\n"
    "three\ttram\tn\ttram%car\tthe [tram]\n"
)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("first", "second"):
        Path(f"{name}.data.xml").write_text(XML.format(source=name))
    for name, text in (("gold.key.txt", KEY), ("own.tsv", OWN), ("table.tsv", TABLE)):
        Path(name).write_text(text)


def read(model: Model, *names: str) -> dict[tuple[Any, Any, Any], Any]:
    records = evaluate(model, "definitions", names, dictionaries=["own.tsv"]).records()
    return {(r["set"], r["metric"], r["representation"]): r["value"] for r in records}


@pytest.mark.usefixtures("files")
def test_xml_and_keys(model: Model) -> None:
    """Two of three are answered, both right: P = 1, R = 2/3, F1 = 4/5. No entry for launch."""
    pairs = [f"{name}.data.xml" for name in ("first", "second")]
    figures = read(model, pairs[0], "gold.key.txt", pairs[1], "gold.key.txt")
    for name in ("first", "second", "ALL"):
        assert figures[name, "f1", "define"] == pytest.approx(4 / 5)
        assert figures[name, "f1", "first sense"] == pytest.approx(2 / 5)  # money
    assert figures["ALL, nouns", "f1", "define"] == 1
    assert figures["ALL, verbs", "f1", "define"] == 0
    rows = {name for _, metric, name in figures if metric == "f1"}
    assert rows == {
        "random", "first sense", "most frequent", "static", "bag", "general", "define"
    }  # fmt: skip
    assert figures["ALL", "f1_text", "static"] == pytest.approx(2 / 5)  # the same for both
    assert figures["ALL", "f1_word", "define"] <= 4 / 5


@pytest.mark.usefixtures("files")
def test_table(run: Run) -> None:
    done = run("evaluate", "definitions", "table.tsv", "--dictionary", "own.tsv")
    assert "table\tf1\tdefine\t0.800000\t" in done.stdout
    assert "f1_word\tdefine" in done.stdout
    assert mentions(done.stderr, "table expected calibration error targets entry answered")
    Path("short.tsv").write_text("bank%river\tthe river [bank]\n")
    done = run("evaluate", "definitions", "short.tsv", "--dictionary", "own.tsv")
    assert "short\tf1\tdefine\t1.000000\t" in done.stdout
    assert "f1_word" not in done.stdout  # f1 is that already


@pytest.mark.usefixtures("files")
def test_calibration_of_the_command(run: Run) -> None:
    done = run("evaluate", "definitions", "table.tsv", "--dictionary", "own.tsv", "--calibration")
    head, *rows = [line.split("\t") for line in done.stdout.splitlines()]
    assert head == ["set", "above", "sure", "right", "low", "high", "items"]
    assert sum(int(row[-1]) for row in rows) == 2  # without the target that is not answered
    for row in rows:
        assert float(row[1]) <= float(row[2]) <= float(row[1]) + 0.1
    options = ("--dictionary", "own.tsv", "--calibration", "-f", "svg")
    done = run("evaluate", "definitions", "table.tsv", *options)
    assert "sure = right" in done.stdout


def test_expected_calibration_error_by_hand() -> None:
    sure = np.array([0.25, 0.25, 0.85, 0.85, 0.85, 1.0])
    right = np.array([True, False, True, True, False, True])
    own = Calibration.measure("x", sure, right, np.random.default_rng(1))
    # 2 of 0.25 sure and 1/2 right, 3 of 0.85 and 2/3, 1 of 1 and right
    assert own.error == pytest.approx((2 * 0.25 + 3 * (0.85 - 2 / 3)) / 6)
    assert [(row[0], row[-1]) for row in own.rows] == [(0.2, 2), (0.8, 3), (0.9, 1)]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(
    ("names", "text", "message"),
    [
        (["first.data.xml"], None, "name its key file"),
        (["bad.xml", "gold.key.txt"], "<corpus><text>", "not XML"),
        (["bad.xml", "gold.key.txt"], "<!DOCTYPE x [<!ENTITY a 'b'>]>", "declarations"),
        (["bad.xml", "gold.key.txt"], "<corpus></corpus>", "labels 3 targets"),
        (["bad.xml", "gold.key.txt"], XML.replace('pos="NOUN">banks', 'pos="X">b'), "line 9"),
        (["bad.tsv"], "bank%river\tno target", "line 1"),
        (["bad.tsv"], "bank\tx\tbank%river\tthe [bank]", "line 1"),
        (["bad.tsv"], "\n", "no labelled target"),
    ],
)
def test_bad_files(model: Model, names: list[str], text: str | None, message: str) -> None:
    if text is not None:
        Path(names[0]).write_text(text)
    with pytest.raises((CorpusError, UsageError), match=message):
        evaluate(model, "definitions", names, dictionaries=["own.tsv"])


def test_options_of_other_kinds(model: Model) -> None:
    with pytest.raises(UsageError, match="--calibration is for definitions"):
        evaluate(model, "similarity", ["x"], calibration=True)


@pytest.mark.usefixtures("files")
def test_published_figures(model: Model) -> None:
    table = evaluate(model, "definitions", ["table.tsv"], dictionaries=["own.tsv"], published=True)
    records = {(r["set"], r["representation"]): r["value"] for r in table.records() if r["source"]}
    assert records["ALL", "BERT-large LMMS"] == 0.754
