"""Every command in every format, exact, on the small fixed model."""

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ctxembed.cli.main import cli
from ctxembed.output.render import FORMATS
from tests.conftest import ROOT, Run, mentions

Rows = list[tuple[Any, ...]]

# What each command must answer, worked out by hand from the vectors in conftest.py.
ANSWERS: dict[str, tuple[str, tuple[str, ...], Rows]] = {
    "vector": ("show --vector phone Bank", ("word", "d1", "d2", "d3", "d4"), [
        ("phone", 0.0, 1.0, 0.0, 0.0),
        ("bank", 0.0, 0.0, 0.8, 0.6),
    ]),
    "neighbors": ("neighbors phone river -n 2", ("word", "neighbor", "cosine", "rank"), [
        ("phone", "launched", 0.8, 1),
        ("phone", "the", 0.5, 2),
        ("river", "bank", 0.6, 1),  # as near as juice, and before it in the vocabulary
        ("river", "juice", 0.6, 2),
    ]),
    "similarity": (
        "similarity apple phone bank --axis drink=juice",
        ("word", "apple", "phone", "bank", "drink"),
        [  # apple is (3, 1, 0, 0) / sqrt(10)
            ("apple", 1.0, 0.1**0.5, 0.0, 0.8 * 0.9**0.5),
            ("phone", 0.1**0.5, 1.0, 0.0, 0.0),
            ("bank", 0.0, 0.0, 1.0, 0.36),
        ],
    ),
    "pairs": ("similarity apple phone bank --pairs", ("word1", "word2", "cosine"), [
        ("apple", "phone", 0.1**0.5),
        ("apple", "bank", 0.0),
        ("phone", "bank", 0.0),
    ]),
    "analogy": ("neighbors --analogy orange juice phone -n 3", ("rank", "word", "cosine"), [
        # juice - orange + phone = (-0.2, 1, 0, 0.6), of length sqrt(1.4)
        (1, "launched", 0.8 / 1.4**0.5),
        (2, "the", 0.7 / 1.4**0.5),
        (3, "river", 0.6 / 1.4**0.5),
    ]),
    "show": (
        "show bank -n 2 --occurrences 2 --axis cash=money --axis drink=juice,sweet",
        ("word", "property", "value"),
        [  # 2 of 22 words; juice + sweet is (1.8, 0, 0, 0.6), of length sqrt(3.6)
            ("bank", "count", 2),
            ("bank", "share", 2 / 22),
            ("bank", "documents", 2),
            ("bank", "norm", 1.0),
            ("bank", "nearest", ["money 0.80", "the 0.70"]),
            ("bank", "axis cash", 0.8),
            ("bank", "axis drink", 0.36 / 3.6**0.5),
            ("bank", "occurrence", "the [bank] money"),
            ("bank", "occurrence", "the river [bank] quay"),
        ],
    ),
}  # fmt: skip


def number(value: Any, digits: int) -> str:
    if isinstance(value, list):
        return ", ".join(value)
    return f"{value:.{digits}f}" if isinstance(value, float) else str(value)


def expected(form: str, columns: tuple[str, ...], rows: Rows) -> str:
    """Write a table down in a way that shares nothing with the renderer."""
    if form in ("json", "jsonl") and "d1" in columns:  # one shape for every vector
        columns, rows = ("word", "vector"), [(word, numbers) for word, *numbers in rows]
    if form in ("json", "jsonl"):
        lines = [
            json.dumps({k: round(v, 3) if isinstance(v, float) else v for k, v in record.items()})
            for record in (dict(zip(columns, row, strict=True)) for row in rows)
        ]
        return (
            "[\n  " + ",\n  ".join(lines) + "\n]\n" if form == "json" else "\n".join(lines) + "\n"
        )
    body = [[number(cell, 3) for cell in row] for row in rows]
    if form == "latex":
        texts = {"word", "neighbor", "word1", "word2", "property"}
        texts |= {"value"} if "word" in columns else set()
        sides = ["l" if name in texts else "r" for name in columns]
        lines = [" & ".join(line).replace("_", "\\_") + " \\\\\n" for line in [columns, *body]]
        lines[0] += "\\midrule\n"
        return (
            f"\\begin{{tabular}}{{{''.join(sides)}}}\n\\toprule\n{''.join(lines)}"
            "\\bottomrule\n\\end{tabular}\n"
        )
    if form == "tsv":
        return "".join("\t".join(line) + "\n" for line in [list(columns), *body])
    if form == "csv":
        buffer = io.StringIO()
        csv.writer(buffer, lineterminator="\n").writerows([columns, *body])
        return buffer.getvalue()
    widths = [max(len(name), *(len(row[i]) for row in body)) for i, name in enumerate(columns)]
    right = [all(re.fullmatch(r"-?[\d.]+", row[i]) for row in body) for i in range(len(columns))]
    aligned = [
        [
            cell.rjust(w) if r else cell.ljust(w)
            for cell, w, r in zip(row, widths, right, strict=True)
        ]
        for row in [list(columns), *body]
    ]
    if form == "markdown":
        marked = ["| " + " | ".join(line) + " |" for line in aligned]
        rule = "|" + "|".join("-" * (width + 2) for width in widths) + "|"
        return "\n".join([marked[0], rule, *marked[1:]]) + "\n"
    plain = ["  ".join(line).rstrip() for line in aligned]
    rule = "  ".join("-" * width for width in widths)
    return "\n".join([plain[0], rule, *plain[1:]]) + "\n"


@pytest.mark.parametrize("form", FORMATS)
@pytest.mark.parametrize("name", ANSWERS)
def test_answer(name: str, form: str, tiny: Path) -> None:
    line, columns, rows = ANSWERS[name]
    arguments = [*line.split(), "-m", str(tiny), "-f", form, "--precision", "3"]
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == 0, result.output
    assert result.stdout == expected(form, columns, rows)
    assert result.stderr == ""


def printed_value(name: str) -> str:
    meta = json.loads((ROOT / "corpora" / "models" / name / "model.json").read_text())
    corpus = {"english": "no corpus", "everyday": "with its corpus"}[name]
    return f"{meta['vocabulary']} words of {meta['dim']} numbers, {corpus}; -m {name}"


@pytest.mark.posix
@pytest.mark.parametrize("form", FORMATS)
def test_info(form: str, tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    size = sum(file.stat().st_size for file in tiny.rglob("*") if file.is_file())
    rows: Rows = [
        ("path", "MODEL"),
        ("format", 2),
        ("version", "0.3.0"),
        ("vocabulary", 10),
        ("dim", 4),
        ("sentences", 6),
        ("tokens", 22),
        ("dropped_words", 1),
        ("word2vec.algorithm", "skipgram"),
        ("word2vec.seed", 1),
        ("tokenizer.kind", "word"),
        ("tokenizer.cased", "no"),
        ("lines", "yes"),
        ("encoding", "utf-8"),
        ("file", "tiny.txt sha256:000000000000"),
        *((f"bundled.{name}", printed_value(name)) for name in ("english", "everyday")),
        ("bytes", size),
    ]
    monkeypatch.chdir(tmp_path)
    Path("MODEL").symlink_to(tiny)
    result = CliRunner().invoke(cli, ["info", "-m", "MODEL", "-f", form])
    assert result.stdout == expected(form, ("property", "value"), rows)


@pytest.mark.parametrize("form", FORMATS)
def test_train_summary(form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    (tmp_path / "c.txt").write_text("An apple a day.\nApple pie. Bank!\n" * 10)
    result = CliRunner().invoke(
        cli, ["train", str(tmp_path / "c.txt"), "-o", str(tmp_path / "m"), "-f", form, "--dim", "5"]
    )
    shown = result.stdout.replace("\\_", "_").replace(str(tmp_path), "")
    assert re.search(r"\brate\W+(value\W+)?0\.0250*\b", shown)
    for name in ("rate", "reading_seconds", "training_seconds", "words_per_second"):
        shown = re.sub(rf"({name}\W+(?:value\W+)?)[\d.]+", r"\1N", shown)
    rows: Rows = [
        ("sentences", 30),
        ("tokens", 70),
        ("document", "line"),
        ("documents", 20),
        ("vocabulary", 6),
        ("dropped_words", 0),
        ("engine", "own"),
        ("algorithm", "skipgram"),
        ("dim", 5),
        ("window", 5),
        ("epochs", 100),
        ("min_count", 1),
        ("negative", 5),
        ("hierarchical_softmax", "no"),
        ("sample", "0.001"),
        ("rate", "N"),
        ("workers", 1),
        ("seed", 1),
        ("reading_seconds", "N"),
        ("training_seconds", "N"),
        ("words_per_second", "N"),
        ("model", "/m"),
    ]
    want = expected(form, ("property", "value"), rows).replace("\\_", "_")
    if form in ("json", "jsonl"):  # a rate is a number
        want = re.sub(r'(rate|words_per_second)", "value": "N"', r'\1", "value": N', want)
    squeeze = re.compile(r"[ -]+")  # the width of a time may vary
    assert squeeze.sub(" ", shown) == squeeze.sub(" ", want)
    assert "too few" in result.stderr


def test_precision_is_full_in_json_and_six_in_a_pipe(run: Run) -> None:
    line = ("similarity", "apple", "phone", "--pairs")
    assert run(*line).stdout == "word1\tword2\tcosine\napple\tphone\t0.316228\n"
    (row,) = json.loads(run(*line, "-f", "json").stdout)
    assert row["cosine"] == pytest.approx(0.1**0.5, abs=1e-7)
    assert len(repr(row["cosine"])) > 10


def test_words_from_stdin(run: Run) -> None:
    done = run(
        "show", "--vector", "-", "--no-header", "--precision", "0", stdin="phone\n\n money \n"
    )
    assert done.stdout == "phone\t0\t1\t0\t0\nmoney\t0\t0\t1\t0\n"


def test_an_unknown_word_among_known_ones(run: Run) -> None:
    done = run("show", "--vector", "phone", "appel", "--no-header", "--precision", "0")
    assert done.returncode == 4
    assert done.stdout == "phone\t0\t1\t0\t0\n"
    assert mentions(done.stderr, "'appel' vocabulary apple")


def test_the_python_interface_has_the_same_names(tiny: Path) -> None:
    import ctxembed

    model = ctxembed.open(tiny)
    (row,) = ctxembed.neighbors(model, ["phone"], 1).records()
    assert row["neighbor"] == "launched"
    assert ctxembed.analogy(model, "orange", "juice", "phone", 1).records()[0]["word"] == "launched"
    assert len(ctxembed.similarity(model, ["apple", "bank"]).records()) == 2
    assert ctxembed.show(model, ["bank"]).records()[0]["value"] == 2
    assert ctxembed.info(model).records()[1] == {"property": "format", "value": 2}
    assert ctxembed.vector(model, ["phone"]).records()[0]["vector"][1] == 1.0
    assert set(ctxembed.__all__) <= set(dir(ctxembed))
    for name in ctxembed.__all__:
        assert getattr(ctxembed, name) is not None
    with pytest.raises(AttributeError, match="nothing"):
        ctxembed.nothing  # type: ignore[attr-defined]  # noqa: B018


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell: str, run: Run) -> None:
    done = run(env={"_CTXEMBED_COMPLETE": f"{shell}_source"})
    assert done.returncode == 0
    assert f"_CTXEMBED_COMPLETE={shell}_complete" in done.stdout
    old = run("completion", shell)
    assert (old.returncode, old.stdout) == (0, done.stdout)
    assert f"_CTXEMBED_COMPLETE={shell}_source" in old.stderr
    listed = run(
        env={"_CTXEMBED_COMPLETE": "bash_complete", "COMP_WORDS": "ctxembed nei", "COMP_CWORD": "1"}
    )
    assert listed.stdout == "plain,neighbors\n"


@pytest.mark.parametrize("old, new", [
    ("vector phone bank", "show --vector phone bank"),
    ("analogy orange juice phone", "neighbors --analogy orange juice phone -n 5"),
    ("check MODEL -f json", "info --check -m MODEL -f json"),
    ("check -f json MODEL", "info --check -m MODEL -f json"),
])  # fmt: skip
def test_old_names_work_and_name_the_new_ones(old: str, new: str, run: Run, tiny: Path) -> None:
    before, after = (run(*line.replace("MODEL", str(tiny)).split()) for line in (old, new))
    assert (before.returncode, before.stdout) == (after.returncode, after.stdout)
    assert before.returncode == 0
    name = " ".join(new.split()[:2])
    assert f"{old.split()[0]} is now: ctxembed {name}" in before.stderr
    quiet = run(*old.replace("MODEL", str(tiny)).split(), "-q")
    assert quiet.stderr == ""


def test_completion_of_an_unknown_shell_is_refused(run: Run) -> None:
    done = run("completion", "tcl")
    assert (done.returncode, done.stdout) == (2, "")
    assert "tcl" in done.stderr and "bash" in done.stderr and "tcl_source" not in done.stderr


def test_report_is_explore_with_a_file(run: Run, tmp_path: Path) -> None:
    done = run("report", "the [apple] launched")
    assert done.returncode == 0, done.stderr
    assert "explore SENTENCE -o FILE" in done.stderr
    assert (tmp_path / "report.html").stat().st_size > 10_000
    assert run("explore", "the [apple] launched").returncode == 2  # which file?
    assert run("neighbors", "--analogy", "apple", "bank").returncode == 2
    assert run("info", "--add").returncode == 2


def test_the_list_of_commands_cuts_no_sentence_off(run: Run) -> None:
    listed = run("help", env={"COLUMNS": "80"}).stdout
    assert "..." not in listed.partition("Start here:")[2]
    assert max(map(len, listed.splitlines())) <= 80
