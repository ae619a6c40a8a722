"""Chapters of the course, read from chapters/01.txt, 02.txt, ... in the package.

A chapter is plain text. First come lines of `name: value`: its title, what it says in short,
whether `demo` has it, and the state of the page that belongs to it (see Page). After an empty line
comes what the chapter says. Each line that begins with `$ ctxembed` is a command, and the line
`look:` below it says what to look at in its output. `try:` is one thing for the student to do, with
the command that shows it. A line that begins with a space continues the line above.
"""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from ctxembed.errors import UsageError

FOLDER = Path(__file__).parent / "chapters"
PROGRAM = "ctxembed"


@dataclass(frozen=True)
class Page:
    """The state of the page of explore that shows a chapter; None and "" leave it as it is."""

    sentences: Sequence[str] = ()
    model: str | None = None  # a bundled model, if it is not the one that answers without -m
    vectors: str | None = None  # a bundled worked example
    weights: str | None = None  # a bundled example of weights given by hand
    attention: str | None = None
    general: str | None = None  # the kind of general attention
    head: str = "mean"
    encoding: str = "none"
    over: str | None = None  # the sentence to attend to
    axes: Sequence[tuple[str, str]] = ()  # a name, and its words separated by commas
    open: str = ""  # the panel that the chapter speaks of


@dataclass(frozen=True)
class Step:
    """A command, and what to look at in its output."""

    command: str  # as it is typed, without ctxembed
    look: str

    @property
    def line(self) -> str:
        """The command as it is typed."""
        return f"{PROGRAM} {self.command}"

    @property
    def arguments(self) -> list[str]:
        """The command's arguments, the first is its name."""
        return shlex.split(self.command)


@dataclass(frozen=True)
class Chapter:
    """One chapter: what it says, the commands that show it, and one thing to try."""

    number: int
    title: str
    short: str  # in one sentence
    text: str
    steps: Sequence[Step]
    task: Step  # look is what the student is asked to do
    page: Page
    in_demo: bool


def count_chapters() -> int:
    """Return the number of chapters."""
    return len([*FOLDER.glob("[0-9][0-9].txt")])


def load_chapters() -> list[Chapter]:
    """Return all chapters in their order."""
    return [load_chapter(number) for number in sorted(map(_number, FOLDER.glob("[0-9][0-9].txt")))]


def _number(path: Path) -> int:
    return int(path.stem)


@cache
def load_chapter(number: int) -> Chapter:
    """Return a chapter by its number, from 1."""
    path = FOLDER / f"{number:02}.txt"
    if not path.is_file():
        raise UsageError(f"no chapter {number}: there are {count_chapters()}. Try: ctxembed lesson")
    return parse_chapter(number, path.read_text(encoding="utf-8"))


def parse_chapter(number: int, source: str) -> Chapter:
    """Return the chapter that a text describes.

    >>> steps = "$ ctxembed info\\nlook: C.\\n\\ntry: D?\\n$ ctxembed info"
    >>> parse_chapter(1, f"title: A\\nin short: B.\\n\\nText.\\n\\n{steps}").steps
    [Step(command='info', look='C.')]
    """
    head, _, body = source.partition("\n\n")
    fields: dict[str, list[str]] = {}
    for line in head.splitlines():
        name, value = line.split(": ", 1)
        fields.setdefault(name, []).append(value)
    *steps, task = _read_steps(body)
    return Chapter(
        number, fields.pop("title")[0], fields.pop("in short")[0],
        _flow(re.split(r"^(?:\$|try:) ", body, maxsplit=1, flags=re.M)[0]),
        steps, task, in_demo=bool(fields.pop("demo", None)), page=_read_page(fields),
    )  # fmt: skip


def _read_steps(body: str) -> Iterator[Step]:
    """Yield the commands of a chapter, the one to try last."""
    for command, look in re.findall(rf"^\$ {PROGRAM} (.+)\nlook: (.+(?:\n .+)*)", body, flags=re.M):
        yield Step(command, _flow(look))
    ((text, command),) = re.findall(rf"^try: (.+(?:\n .+)*)\n\$ {PROGRAM} (.+)", body, flags=re.M)
    yield Step(command, _flow(text))


def _read_page(fields: Mapping[str, Sequence[str]]) -> Page:
    """Return the state of the page from the fields that are left."""
    fields = dict(fields)
    axes = [axis.partition("=") for axis in fields.pop("axis", ())]
    sentences = tuple(fields.pop("sentence", ()))
    single = {name: value[0] for name, value in fields.items()}
    named = tuple((name, words) for name, _, words in axes)
    return Page(sentences, axes=named, **single)


def _flow(text: str) -> str:
    """Return text on one line."""
    return " ".join(text.split())
