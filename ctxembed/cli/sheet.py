"""Exercises of chapters and their answers, to be printed for a class: lesson --sheet."""

import re
from collections.abc import Sequence

from ctxembed.cli.quiz import INTRO, lay_out, make_exercises
from ctxembed.lesson.chapter import Chapter
from ctxembed.lesson.exercises import Exercise
from ctxembed.output.render import escape_latex

LATEX = r"""\documentclass[a4paper]{article}
\usepackage[margin=2cm]{geometry}
\usepackage{booktabs,iftex}
\ifpdftex\usepackage[T1]{fontenc}\else\usepackage{fontspec}\fi
\newcommand{\blank}[1]{\underline{\hspace{3em}}\,(#1)}
\setlength{\parindent}{0pt}
\begin{document}
BODY
\end{document}
"""
PLAIN = {"²": r"\textsuperscript{2}", "ᵀ": r"\textsuperscript{T}"}
PLAIN |= {"√": r"$\surd$", "·": r"$\cdot$", "×": r"$\times$"}


def make_sheet(loaded: Sequence[Chapter], seed: int, form: str) -> str:
    """Return exercises and, on a page of their own, their answers, as Markdown or LaTeX."""
    made = [(chapter, *make_exercises(chapter, seed)) for chapter in loaded]
    parts = []
    for chapter, grids, chosen in made:
        outputs = [*lay_out(chapter, grids, chosen, form)]
        parts.append(_exercises_latex(chapter, chosen, outputs) if form == "latex"
                     else _exercises_markdown(chapter, chosen, outputs))  # fmt: skip
    answers = [(chapter, chosen) for chapter, _, chosen in made]
    if form == "latex":
        return LATEX.replace("BODY", "\n".join(parts) + _answers_latex(answers, seed))
    return "\n".join(parts) + _answers_markdown(answers, seed)


def _exercises_markdown(
    chapter: Chapter, chosen: Sequence[Exercise], outputs: Sequence[tuple[str, str]]
) -> str:
    lines = [f"# {chapter.number}. {chapter.title}\n", "Name: ____________________\n", chapter.text]
    lines += [f"\n{INTRO}\n"]
    for line, text in outputs:
        lines += [f"`{line}`\n", text]
    lines += [f"{i}. {one.asked}: ____________" for i, one in enumerate(chosen, 1)]
    return "\n".join(lines) + "\n"


def _answers_markdown(answers: Sequence[tuple[Chapter, Sequence[Exercise]]], seed: int) -> str:
    lines = ['\n<div style="page-break-before: always"></div>\n', f"# Answers (seed {seed})\n"]
    for chapter, chosen in answers:
        lines.append(f"## {chapter.number}. {chapter.title}\n")
        lines += [f"{i}. {one.asked}: {one.how}" for i, one in enumerate(chosen, 1)]
        lines.append("")
    return "\n".join(lines)


def _latex(text: str) -> str:
    """Return text with what LaTeX reads as a command escaped."""
    text = escape_latex(text)
    for sign, command in PLAIN.items():
        text = text.replace(sign, command)
    return text


def _prose(text: str) -> str:
    """Return the same with the two quotes of a printed text; a command keeps the typed ones."""
    return re.sub(r'"([^"]*)"', r"``\1''", _latex(text))


def _exercises_latex(
    chapter: Chapter, chosen: Sequence[Exercise], outputs: Sequence[tuple[str, str]]
) -> str:
    lines = [rf"\section*{{{chapter.number}. {_latex(chapter.title)}}}",
             r"Name: \underline{\hspace{12em}}\medskip", "", _prose(chapter.text), "", r"\medskip",
             _latex(INTRO), "", r"\medskip"]  # fmt: skip
    for line, text in outputs:
        typed = _latex(line).replace("--", "-{}-")  # else LaTeX prints one dash
        lines += [rf"\texttt{{{typed}}}", "", r"\medskip"]
        for part in text.split("\n\n"):
            table = part.lstrip().startswith(r"\begin{tabular}")
            lines += [part if table else _latex(" ".join(part.split())), "", r"\medskip"]
    lines.append(r"\begin{enumerate}")
    lines += [rf"\item {_prose(one.asked)}: \underline{{\hspace{{8em}}}}" for one in chosen]
    return "\n".join([*lines, r"\end{enumerate}", r"\clearpage", ""])


def _answers_latex(answers: Sequence[tuple[Chapter, Sequence[Exercise]]], seed: int) -> str:
    lines = [rf"\section*{{Answers (seed {seed})}}"]
    for chapter, chosen in answers:
        lines.append(rf"\subsection*{{{chapter.number}. {_latex(chapter.title)}}}")
        lines.append(r"\begin{enumerate}")
        lines += [rf"\item {_prose(one.asked)}: {_prose(one.how)}" for one in chosen]
        lines.append(r"\end{enumerate}")
    return "\n".join(lines)
