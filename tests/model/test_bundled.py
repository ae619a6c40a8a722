"""Which model a command uses: named, default or bundled; messages of a model without text."""

import os
from pathlib import Path

import pytest

import ctxembed
from ctxembed.errors import UsageError
from ctxembed.model.bundled import BUNDLED, bundled_model, model_path
from tests.conftest import Run, mentions, write_tiny

NOBODY: dict[str, str | None] = {"CTXEMBED_MODEL": None}


def printed_path(run: Run, *arguments: str, env: dict[str, str | None] = NOBODY) -> str:
    done = run("info", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1].removeprefix("path\t")


def test_english_is_the_default_model(run: Run, tmp_path: Path) -> None:
    done = run("info", env=NOBODY)
    assert done.stdout.splitlines()[1] == f"path\t{bundled_model('english')}"
    assert mentions(done.stderr, "bundled model 104~million words")
    write_tiny(tmp_path / "ctxembed-model")
    assert printed_path(run) == "ctxembed-model"
    done = run("info", env=NOBODY)
    said = "ctxembed: ctxembed-model answers; it has read 22 words: too few to trust\n"
    assert done.stderr == said


def test_bundled_names_work_everywhere(run: Run) -> None:
    for name in BUNDLED:
        assert printed_path(run, "-m", name) == str(bundled_model(name))
        assert printed_path(run, env={"CTXEMBED_MODEL": name}) == str(bundled_model(name))
        assert ctxembed.open(name).path == bundled_model(name)
    done = run("info", "-m", "everyday")
    assert done.stderr == ""  # it was named
    missing = run("info", "-m", "englisch")
    assert (missing.returncode, missing.stdout) == (3, "")


def test_a_local_model_wins_over_a_bundled_name(run: Run, tmp_path: Path) -> None:
    (tmp_path / "everyday").mkdir()  # a folder that is no model hides nothing
    assert printed_path(run, "-m", "everyday") == str(bundled_model("everyday"))
    write_tiny(tmp_path / "english")
    done = run("info", "-m", "english")
    assert done.stdout.splitlines()[1] == "path\tenglish"
    assert done.stderr.startswith("ctxembed: english is your own model in this directory")


def test_info_lists_the_bundled_models(run: Run) -> None:
    lines = dict(line.split("\t") for line in run("info").stdout.splitlines())
    assert lines["bundled.english"].endswith(", no corpus; -m english")
    assert lines["bundled.everyday"] == "4141 words of 64 numbers, with its corpus; -m everyday"
    english = dict(line.split("\t") for line in run("info", "-m", "english").stdout.splitlines())
    assert "Wikipedia" in english["about"] and "CC BY-SA" in english["about"]


@pytest.mark.parametrize(
    "line", ["kwic bank", "senses slope", "decide bank", "shift english everyday bank"]
)
def test_what_needs_occurrences_is_refused_with_a_fix(run: Run, line: str) -> None:
    done = run(*line.split(), *(() if "shift" in line else ("-m", "english")))
    assert (done.returncode, done.stdout) == (3, "")
    assert "english has no corpus" in done.stderr
    assert "ctxembed index CORPUS -m english" in done.stderr


def test_show_says_why_there_are_no_examples(run: Run) -> None:
    done = run("show", "bank", "-m", "english")
    assert done.returncode == 0
    assert "occurrence" not in done.stdout
    assert mentions(done.stderr, "corpus english")
    assert run("show", "bank", "--occurrences", "0", "-m", "english").stderr == ""


def test_the_bundled_models_cannot_be_changed(run: Run) -> None:
    before = {name: sorted(os.walk(bundled_model(name))) for name in BUNDLED}
    for name in BUNDLED:
        with pytest.raises(UsageError, match=f"the bundled model {name} cannot be changed"):
            ctxembed.learn(name)
        assert run("learn", "-m", name).returncode == 2
        assert run("senses", "bank", "--save", "-m", name).returncode == 2
    assert before == {name: sorted(os.walk(bundled_model(name))) for name in BUNDLED}


def test_an_empty_name_is_no_model() -> None:
    with pytest.raises(UsageError, match="empty"):
        model_path("")
