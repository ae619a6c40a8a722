"""Which model answers: named, found, or bundled; and what a model without text says."""

import os
from pathlib import Path

import pytest

import ctxembed
from ctxembed.errors import UsageError
from ctxembed.model.bundled import BUNDLED, bundled_model, model_path
from tests.conftest import Run, write_tiny

NOBODY: dict[str, str | None] = {"CTXEMBED_MODEL": None}


def path_told(run: Run, *arguments: str, env: dict[str, str | None] = NOBODY) -> str:
    done = run("info", *arguments, env=env)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()[1].removeprefix("path\t")


def test_english_answers_where_no_other_is_named(run: Run, tmp_path: Path) -> None:
    done = run("info", env=NOBODY)
    assert done.stdout.splitlines()[1] == f"path\t{bundled_model('english')}"
    assert done.stderr == (
        "ctxembed: the bundled model english answers; it has read 52 million words\n"
    )
    write_tiny(tmp_path / "ctxembed-model")
    assert path_told(run) == "ctxembed-model"
    done = run("info", env=NOBODY)
    said = "ctxembed: ctxembed-model answers; it has read 22 words: too few to trust\n"
    assert done.stderr == said


def test_names_are_taken_by_the_option_the_environment_and_python(run: Run) -> None:
    for name in BUNDLED:
        assert path_told(run, "-m", name) == str(bundled_model(name))
        assert path_told(run, env={"CTXEMBED_MODEL": name}) == str(bundled_model(name))
        assert ctxembed.open(name).path == bundled_model(name)
    done = run("info", "-m", "everyday")
    assert done.stderr == ""  # it was named
    missing = run("info", "-m", "englisch")
    assert (missing.returncode, missing.stdout) == (3, "")


def test_a_model_of_that_name_here_comes_first_and_it_is_said(run: Run, tmp_path: Path) -> None:
    (tmp_path / "everyday").mkdir()  # a folder that is no model hides nothing
    assert path_told(run, "-m", "everyday") == str(bundled_model("everyday"))
    write_tiny(tmp_path / "english")
    done = run("info", "-m", "english")
    assert done.stdout.splitlines()[1] == "path\tenglish"
    assert done.stderr == (
        "ctxembed: english is your own model in this directory; the bundled one is behind it\n"
    )


def test_info_lists_the_bundled_models(run: Run) -> None:
    lines = dict(line.split("\t") for line in run("info").stdout.splitlines())
    assert lines["bundled.english"].endswith(", no corpus; -m english")
    assert lines["bundled.everyday"] == "4141 words of 64 numbers, with its corpus; -m everyday"
    english = dict(line.split("\t") for line in run("info", "-m", "english").stdout.splitlines())
    assert "Wikipedia" in english["about"] and "CC BY-SA" in english["about"]


@pytest.mark.parametrize(
    "line", ["kwic bank", "senses slope", "ambiguity bank", "shift english everyday bank"]
)
def test_what_needs_occurrences_says_so_and_names_the_way(run: Run, line: str) -> None:
    done = run(*line.split(), *(() if "shift" in line else ("-m", "english")))
    assert (done.returncode, done.stdout) == (3, "")
    begin = "no senses of 'slope' can be looked for: " if "slope" in line else ""
    assert done.stderr == (
        f"ctxembed: {begin}english has no corpus to show where words occur; bring your own:"
        " ctxembed index CORPUS -m english -o mine; or ask the bundled -m everyday\n"
    )


def test_show_tells_why_there_are_no_examples(run: Run) -> None:
    done = run("show", "bank", "-m", "english")
    assert done.returncode == 0
    assert "occurrence" not in done.stdout
    assert "english has no corpus" in done.stderr
    assert run("show", "bank", "--occurrences", "0", "-m", "english").stderr == ""


def test_the_bundled_models_stay_as_they_are(run: Run) -> None:
    before = {name: sorted(os.walk(bundled_model(name))) for name in BUNDLED}
    for name in BUNDLED:
        with pytest.raises(UsageError, match=f"the bundled model {name} stays as it is"):
            ctxembed.learn(name)
        assert run("learn", "-m", name).returncode == 2
        assert run("senses", "bank", "--save", "-m", name).returncode == 2
    assert before == {name: sorted(os.walk(bundled_model(name))) for name in BUNDLED}


def test_an_empty_name_is_no_model() -> None:
    with pytest.raises(UsageError, match="empty name"):
        model_path("")
