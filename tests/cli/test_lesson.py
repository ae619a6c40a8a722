"""ctxembed lesson: it lists chapters, and tells one with the real output of its commands."""

import re
from pathlib import Path

from tests.conftest import Run


def test_without_a_number_it_lists_the_chapters(run: Run) -> None:
    done = run("lesson")
    assert done.returncode == 0
    assert " 6. A recipe\n    A word in its sentence is a mixture" in done.stdout


def test_a_chapter_prints_what_its_commands_print(run: Run) -> None:
    lesson = run("lesson", "6")
    assert lesson.returncode == 0, lesson.stderr
    alone = run("explain", "--weights", "river-bank", "--recipe", "-f", "table")
    shown = f"$ ctxembed explain --weights river-bank --recipe\n\n{alone.stdout}\nLook: "
    assert shown in lesson.stdout
    assert alone.stderr in lesson.stderr


def test_each_chapter_begins_in_an_empty_directory(run: Run) -> None:
    """The same chapter twice: what its commands write is not there the second time."""
    done = run("lesson", "17", "17")
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("-o mine\n") == 2


def test_a_chapter_that_does_not_exist(run: Run) -> None:
    done = run("lesson", "99")
    assert done.returncode == 2
    assert "no chapter 99" in done.stderr
    assert done.stdout == ""


def answers(run: Run, *arguments: str) -> list[str]:
    """Return the right answers of a quiz, in their order, from a run without answers."""
    done = run("lesson", *arguments, "--quiz", stdin="\n" * 20)
    return re.findall(r"left out: .* = (\S+)$", done.stdout, flags=re.M)


def test_a_quiz_in_a_pipe(run: Run) -> None:
    right = answers(run, "6")
    assert len(right) == 6
    done = run("lesson", "6", "--quiz", stdin="\n".join([*right[:2], "0,99", "half", "?"]) + "\n")
    assert done.returncode == 0, done.stderr
    verdicts = re.findall(r"^    (right|wrong|left out): ", done.stdout, flags=re.M)
    assert verdicts == ["right", "right", "wrong", "wrong", "left out"]
    assert done.stdout.count(" (Enter skips): ") == 6
    assert "No more answers." in done.stdout
    assert "Score: 2 of 6 right, 1 not answered." in done.stdout


def test_seeds_ask_for_other_numbers(run: Run) -> None:
    first, again, other = (answers(run, "7", "--seed", seed) for seed in ("1", "1", "2"))
    assert first == again != other


def test_a_sheet_has_its_answers_on_a_page_of_their_own(run: Run, tmp_path: Path) -> None:
    done = run("lesson", "6", "8", "--sheet", "markdown")
    exercises, answers_ = done.stdout.split("page-break-before")
    assert exercises.count("# 6. A recipe") == exercises.count("# 8. Softmax") == 1
    assert "_ (1)" in exercises.replace("\\", "") and " = 0.50" in answers_
    number = len(re.findall(r"^\d\. .*: ____", exercises, flags=re.M))
    assert number == len(re.findall(r"^\d\. .* = \S+$", answers_, flags=re.M)) > 8
    assert run("lesson", "8", "--sheet", "latex", "-o", "s.tex").stdout == ""
    latex = (tmp_path / "s.tex").read_text(encoding="utf-8")
    assert latex.startswith(r"\documentclass") and r"\end{document}" in latex
    assert 1 + latex.count(r"\blank{") == latex.count(r": \underline")
    assert r'\texttt{ctxembed explain "money [bank] grows" -{}-vectors bank}' in latex
    quoted = run("lesson", "6", "--sheet", "latex").stdout
    assert r"\item weight of ``milk'' in tea: \underline" in quoted
    assert latex.count(r"\begin{enumerate}") == latex.count(r"\end{enumerate}") == 2


def test_options_that_do_not_fit(run: Run) -> None:
    for arguments in (["--quiz"], ["8", "--quiz", "--sheet", "latex"], ["8", "-o", "a.md"]):
        assert run("lesson", *arguments).returncode == 2
