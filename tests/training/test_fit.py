"""The task's gradients by finite differences; fit and predict as printed, and on bad files."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from ctxembed.attention.layer import Layer, Parameters
from ctxembed.attention.terms import Distance
from ctxembed.attention.training.fitting import FitSettings, add_heads, run_task
from ctxembed.attention.training.learning import Examples
from ctxembed.attention.training.task_head import classify, find_expressions, gates, logits
from ctxembed.context.labelled import read_task
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.queries.predict import predict
from ctxembed.training.fit import wilson
from tests.attention.test_learning import NAMES, D, V, close, numeric, some_layer
from tests.conftest import ROOT, Run, mentions, write_tiny

FRUIT = ["the [apple] juice sweet", "the sweet [apple] orange", "the [apple] orange juice"]
TECH = ["the [apple] launched the phone", "the phone [apple] launched", "the [apple] phone money"]


def task_text(repeats: int = 10) -> str:
    lines = [f"fruit\t{s}\ntech\t{t}\n" for s, t in zip(FRUIT, TECH, strict=True)]
    return "".join(lines * repeats)


def some_task(
    rng: np.random.Generator,
) -> tuple[Layer, NDArray[Any], NDArray[Any], NDArray[Any], Examples]:
    """Three sentences of three labels over eleven words, two expressions."""
    layer = add_heads(some_layer(rng), rng)
    moved = {k: a + 0.2 * rng.standard_normal(a.shape) for k, a in layer.parameters().items()}
    anchors = rng.standard_normal((2, D))
    anchors /= np.linalg.norm(anchors, axis=1, keepdims=True)
    head = rng.standard_normal((3, 3, 2 * D + 1))
    x = rng.standard_normal((V, D))
    length = np.array([9, 6, 2])  # a word alone has no context to learn from
    ids = np.where(np.arange(9) < length[:, None], rng.integers(0, V, (3, 9)), 0).astype(np.int32)
    own = rng.standard_normal((3, D))
    some = Examples(ids, length, np.array([4, 0, 1]), own, np.array([0, 2, 1]))
    return layer.updated(moved), head, x, anchors, some


@pytest.mark.parametrize("name", [*NAMES, "head"])
def test_gradient_of_the_task(name: str) -> None:
    rng = np.random.default_rng(8)
    layer, head, x, anchors, some = some_task(rng)
    now = layer.parameters()
    origin = {k: a + 0.1 * rng.standard_normal(a.shape) for k, a in now.items()}
    settings = FitSettings(decay=0.03, pull=0.02)

    def loss(p: Parameters) -> float:
        rest = dict(p)
        reads = rest.pop("head")
        return run_task(layer.updated(rest), reads, origin, x, anchors, some, settings)[0]

    gradient = run_task(layer, head, origin, x, anchors, some, settings)[2][name]
    close(gradient, numeric({**now, "head": head}, name, loss))


def test_gradient_by_the_contextual_vector() -> None:
    rng = np.random.default_rng(9)
    _, head, _, anchors, some = some_task(rng)
    output, gate = rng.standard_normal((3, D)), gates(some.own, anchors)

    def loss(p: Parameters) -> float:
        return classify(head, p["output"], some.own, gate, some.label)[0]

    gradient = classify(head, output, some.own, gate, some.label)[3]
    close(gradient, numeric({"output": output}, "output", loss))


def test_the_head_by_a_plain_loop() -> None:
    rng = np.random.default_rng(10)
    head, output, own = rng.normal(size=(3, 2, 7)), rng.normal(size=(4, 3)), rng.normal(size=(4, 3))
    anchors = np.eye(3)[:2]
    scores = logits(head, output, own, gates(own, anchors))
    for b in range(4):
        z, s = output[b] / np.linalg.norm(output[b]), own[b] / np.linalg.norm(own[b])
        total = 0.5 * head[0]
        for a in range(2):
            total = total + max(0.0, s @ anchors[a]) ** 4 * head[a + 1]
        np.testing.assert_allclose(scores[b], total @ np.array([*z, *s, 1.0]))


def test_added_heads_look_at_the_sentence_and_to_either_side() -> None:
    rng = np.random.default_rng(1)
    layer = add_heads(some_layer(rng), rng)
    whole, left, right = np.exp(layer.parameters()[Distance.name][-3:])
    assert np.ptp(whole) == 0
    assert left.argmax() == 2 and left[2] / left.sum() > 0.8  # reach 3: distance -1
    assert right.argmax() == 4 and right[4] / right.sum() > 0.8


def test_expressions_are_found_up_to_a_number() -> None:
    own = np.eye(4)[[0, 1, 0, 2, 3]]
    anchors, group = find_expressions(own, limit=3)
    assert group.tolist() == [0, 1, 0, 2, -1]
    np.testing.assert_allclose(anchors, np.eye(4)[:3])


def test_interval_agrees_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    want = stats.binomtest(222, 260).proportion_ci(method="wilson")
    assert wilson(222, 260) == pytest.approx((want.low, want.high), abs=1e-4)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small fixed model with a fitted task."""
    folder = write_tiny(tmp_path_factory.mktemp("fitted") / "m")
    (folder.parent / "task.tsv").write_text(task_text())
    done = subprocess.run(
        [sys.executable, "-m", "ctxembed", "fit", "task.tsv", "--name", "sense", "-m", "m", "-q"],
        cwd=folder.parent,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    summary = dict(line.split("\t") for line in done.stdout.splitlines())
    assert (summary["labels"], summary["start"], summary["sentences"]) == (
        "fruit, tech",
        "general",
        "60",
    )
    assert summary["accuracy"] == "1.000000"
    return folder


def test_fitting_repeats_to_the_byte(run: Run, fitted: Path) -> None:
    again = run("fit", "-", "--name", "again", "-m", str(fitted), stdin=task_text())
    assert again.returncode == 0, again.stderr
    one, two = (fitted / "attention" / name for name in ("sense", "again"))
    for file in one.iterdir():
        assert file.read_bytes() == (two / file.name).read_bytes(), file.name
    shutil.rmtree(two)


def test_reports(run: Run, fitted: Path) -> None:
    command = ("fit", "-", "--name", "again", "-m", str(fitted), "-q")
    table = run(*command, "--report", "confusion", "-f", "table", stdin=task_text())
    assert table.stdout == (
        "label  fruit  tech\n-----  -----  ----\nfruit      6     0\ntech       0     6\n"
    )
    epochs = run(*command, "--report", "epochs", "--epochs", "3", "-f", "jsonl", stdin=task_text())
    rows = [json.loads(line) for line in epochs.stdout.splitlines()]
    assert [row["epoch"] for row in rows] == [1, 2, 3]
    assert [row["kept"] for row in rows].count("yes") == 1
    assert rows[2]["loss"] < rows[0]["loss"]
    shutil.rmtree(fitted / "attention" / "again")


SENTENCES = "the [apple] orange sweet\nthe [apple] launched phone\n"


def test_predict_in_every_format(run: Run, fitted: Path) -> None:
    command = ("predict", "--attention", "sense", "-m", str(fitted))
    whole = run(*command, "-f", "json", stdin=SENTENCES)
    rows = json.loads(whole.stdout)
    assert [(row["sentence"], row["target"], row["label"]) for row in rows] == [
        (1, "apple", "fruit"),
        (2, "apple", "tech"),
    ]
    assert all(row["like"] == "apple" for row in rows)
    assert all(row["cos_like"] == pytest.approx(1, abs=1e-6) for row in rows)
    assert all(0.5 < row["probability"] <= 1 for row in rows)
    p = [f"{row['probability']:.6f}" for row in rows]
    head = "sentence\ttarget\tlabel\tprobability\tlike\tcos_like\n"
    tsv = (
        f"{head}1\tapple\tfruit\t{p[0]}\tapple\t1.000000\n2\tapple\ttech\t{p[1]}\tapple\t1.000000\n"
    )
    short = [f"{row['probability']:.4f}" for row in rows]
    table = (
        "sentence  target  label  probability  like   cos_like\n"
        "--------  ------  -----  -----------  -----  --------\n"
        f"       1  apple   fruit       {short[0]}  apple    1.0000\n"
        f"       2  apple   tech        {short[1]}  apple    1.0000\n"
    )
    markdown = (
        "| sentence | target | label | probability | like  | cos_like |\n"
        "|----------|--------|-------|-------------|-------|----------|\n"
        f"|        1 | apple  | fruit |      {short[0]} | apple |   1.0000 |\n"
        f"|        2 | apple  | tech  |      {short[1]} | apple |   1.0000 |\n"
    )
    for form, text in (
        ("tsv", tsv),
        ("csv", tsv.replace("\t", ",")),
        ("table", table),
        ("markdown", markdown),
    ):
        digits = ["--precision", "6"] if form == "csv" else []  # it has all of them otherwise
        assert run(*command, "-f", form, *digits, stdin=SENTENCES).stdout == text
    lines = run(*command, "-f", "jsonl", stdin=SENTENCES).stdout.splitlines()
    assert [json.loads(line) for line in lines] == rows
    python = predict(fitted, SENTENCES.splitlines(), attention="sense").records()
    assert python == rows


def test_compare_and_explain_show_the_task(run: Run, fitted: Path) -> None:
    shown = run(
        "compare", "the [apple juice] sweet", "--attention", "general,sense", "-m", str(fitted)
    )
    assert shown.returncode == 0, shown.stderr
    names = [line.split("\t")[3] for line in shown.stdout.splitlines()[1:]]
    assert names == ["static", "bag", "general", "sense"]
    why = run("explain", "the [apple] phone", "--attention", "sense", "--check", "-m", str(fitted))
    assert why.returncode == 0, why.stderr
    assert "checked" in why.stderr
    assert "attention.sense.accuracy\t" in run("info", "-m", str(fitted)).stdout


GLOSSED = "label\tsentence\thalf\tgloss\n" + "".join(
    f"{label}\t{sentence}\t{half}\t{gloss}\n"
    for half in ("train", "train", "test")
    for label, gloss, sentences in (("fruit", "سیب", FRUIT), ("tech", "", TECH))
    for sentence in sentences
)


def test_held_out_lines_and_glosses_of_a_task_file(run: Run, tmp_path: Path) -> None:
    write_tiny(tmp_path / "m")
    (tmp_path / "task.tsv").write_text(GLOSSED, encoding="utf-8")
    done = run("fit", "task.tsv", "-m", "m")
    assert done.returncode == 0, done.stderr
    assert "measured_on\ttest, 6 sentences\n" in done.stdout
    predicted = run("predict", "the [apple] sweet juice", "-m", "m", "-f", "json")
    assert json.loads(predicted.stdout)[0]["gloss"] == "سیب"


@pytest.mark.parametrize(
    ("text", "message", "code"),
    [
        ("", "task.tsv sentence LABEL<tab>SENTENCE", 5),
        ("a\tthe [apple]\n" * 9, "task.tsv 'a'", 5),
        ("a\tthe [apple]\nb\tthe apple\n", "task.tsv line~2 target", 5),
        ("a\tthe [apple]\nb\tthe [ ]\n", "task.tsv line~2 target", 5),
        ("a\t[the] [apple]\n", "task.tsv line~1 2~targets", 5),
        ("the [apple]\n", "task.tsv line~1 1~columns", 5),
        ("\tthe [apple]\n", "task.tsv line~1", 5),
        ("a\tthe [apple]\nb\tthe [bank]\n", "'a' 1 5~of", 5),
        ("a\tthe [quay]\nb\tthe [kai]\n" * 9, "target known line~1 'quay'", 4),
        ("".join(f"{i}\tthe [apple]\n" for i in range(200)), "100~labels", 5),
        (b"a\tthe [apple]\n\xff\n", "line~2 0xff utf-8", 5),
        (None, "task.tsv directory", 5),
    ],
)
def test_bad_tasks(
    run: Run, tmp_path: Path, text: str | bytes | None, message: str, code: int
) -> None:
    if text is not None:
        (tmp_path / "task.tsv").write_bytes(text if isinstance(text, bytes) else text.encode())
    done = run("fit", "task.tsv")
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)
    assert "Traceback" not in done.stderr


def test_lines_with_an_unknown_target_are_left_out_and_named(run: Run, tmp_path: Path) -> None:
    write_tiny(tmp_path / "m")
    text = task_text() + "tech\tthe [quay] phone\n" * 5
    done = run("fit", "-", "-m", "m", "--epochs", "1", stdin=text)
    assert done.returncode == 4
    assert mentions(done.stderr, "line~61 'quay' vocabulary")
    assert mentions(done.stderr, "5~lines left")
    assert "sentences\t60\n" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message", "code"),
    [
        (["predict", "the [apple]"], "task ctxembed fit", 3),
        (["predict", "the [apple]", "--attention", "x"], "attention 'x' general", 3),
        (["fit", "task.tsv", "--name", "bag"], "attention 'bag'", 2),
        (["fit"], "Missing argument 'TASK'", 2),
    ],
)
def test_errors(run: Run, arguments: list[str], message: str, code: int) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)


def test_sentences_without_a_label_are_named(run: Run, fitted: Path) -> None:
    text = "the [apple] phone\nthe apple\nthe [quay]\nthe [apple] quay\n"
    done = run("predict", "-m", str(fitted), stdin=text)
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()] == ["sentence", "1", "4"]
    assert mentions(done.stderr, "line~2 target")
    assert mentions(done.stderr, "line~3 'quay' vocabulary")


def test_one_expression_cannot_be_split_by_expression(run: Run, tmp_path: Path) -> None:
    write_tiny(tmp_path / "m")
    done = run("fit", "-", "--split", "expression", "-m", "m", stdin=task_text())
    assert done.returncode == 5
    assert mentions(done.stderr, "expression 'apple' sentence")


def test_a_long_file_is_sampled(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "long.tsv").write_text(task_text(500))
    task = read_task(Model.open(tiny), str(tmp_path / "long.tsv"), most=100)
    assert (task.lines, len(task.items)) == (3000, 100)
    assert 30 < sum(item.label == "fruit" for item in task.items) < 70


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read on Linux")
def test_memory_for_three_hundred_thousand_lines(tiny: Path, tmp_path: Path) -> None:
    with (tmp_path / "long.tsv").open("w") as file:
        for _ in range(30):
            file.write(task_text(1667))  # 10,002 lines
    code = (
        "import re; from ctxembed.model.model import Model;"
        "from ctxembed.context.labelled import read_task;"
        f"t = read_task(Model.open({str(tiny)!r}), {str(tmp_path / 'long.tsv')!r});"
        # getrusage would count what the parent held when it forked
        "peak = re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1];"
        "print(len(t.items), t.lines, peak)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    kept, lines, kilobytes = map(int, done.stdout.split())
    assert (kept, lines) == (50_000, 300_060)
    assert kilobytes < 300_000


def test_the_bundled_task_on_its_held_out_half(run: Run, tmp_path: Path) -> None:
    shutil.copytree(bundled_model("everyday"), tmp_path / "m")
    done = run("fit", "idioms", "--name", "idioms", "-m", "m")
    assert done.returncode == 0, done.stderr
    summary = dict(line.split("\t") for line in done.stdout.splitlines())
    assert summary["measured_on"] == "test, 260 sentences"
    assert float(summary["accuracy"]) >= 0.85
    sentences = [  # the idioms of the notes, and one that means what it says
        "Solving problems like these is a [piece of cake]",
        "You are on stage in a minute, so [break a leg]",
        "Please do not [let the cat out of the bag] about the party",
        "She ate a [piece of cake] with her tea",
    ]
    done = run("predict", *sentences, "--attention", "idioms", "-m", "m", "-f", "json")
    rows = json.loads(done.stdout)
    assert [row["label"] for row in rows] == ["figurative"] * 3 + ["literal"]
    assert [row["gloss"] for row in rows][:2] == ["بہت آسان کام", "کامیابی ہو"]
    assert rows[3]["gloss"] == "کیک کا ٹکڑا"


def test_a_name_is_not_reused_for_another_kind_of_attention(run: Run, tmp_path: Path) -> None:
    shutil.copytree(bundled_model("everyday"), tmp_path / "m")
    before = (tmp_path / "m" / "attention" / "learned" / "w_q.npy").read_bytes()
    done = run("fit", "idioms", "--name", "learned", "--epochs", "1", "-m", "m")
    assert (done.returncode, done.stdout) == (2, "")
    assert mentions(done.stderr, "'learned' learned labels")
    assert (tmp_path / "m" / "attention" / "learned" / "w_q.npy").read_bytes() == before
    assert run("fit", "idioms", "--name", "task", "--epochs", "1", "-m", "m").returncode == 0
    done = run("learn", "--name", "task", "-m", "m")
    assert done.returncode == 2 and mentions(done.stderr, "learned task")
