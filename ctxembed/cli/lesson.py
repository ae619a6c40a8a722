"""ctxembed lesson"""

import sys

import click

from ctxembed.cli import chapters, options
from ctxembed.cli.command import command
from ctxembed.cli.printing import write_file
from ctxembed.errors import UsageError
from ctxembed.lesson.chapter import count_chapters, load_chapter, load_chapters


@command("lesson")
@options.argument("chapter", nargs=-1, type=options.Number(int, 1, 99), metavar="[CHAPTER]...")
@options.flag("--quiz", "Leave out some numbers of the output and ask for them.")
@options.value(
    "--sheet", "Print exercises and their answers for a class, as Markdown or LaTeX.",
    type=click.Choice(["markdown", "latex"]),
)  # fmt: skip
@options.seed("With --quiz and --sheet: another seed leaves out other numbers.")
@options.value("-o --output", "With --sheet: write it to a file.", metavar="FILE")
def command_(
    chapter: tuple[int, ...], quiz: bool, sheet: str | None, seed: int, output: str | None
) -> None:
    """Teach contextual embeddings in chapters, with a quiz and exercise sheets."""
    if quiz and sheet:
        raise UsageError("give --quiz or --sheet, not both")
    if (quiz or sheet) and not chapter:
        raise UsageError("name a chapter: ctxembed lesson 8 --quiz")
    if output is not None and not sheet:
        raise UsageError("-o needs --sheet")
    if not chapter:
        return _list_chapters()
    loaded = [load_chapter(number) for number in chapter]
    if sheet:
        from ctxembed.cli.sheet import make_sheet

        text = make_sheet(loaded, seed, sheet)
        if output is None:
            return click.echo(text)
        return write_file(output, [text])
    for one in loaded:
        if quiz:
            from ctxembed.cli.quiz import ask

            ask(one, seed)
        else:
            chapters.tell(one, f"{one.number}. {one.title}")
    last = loaded[-1].number
    if quiz:
        click.echo(f"Other numbers: ctxembed lesson {last} --quiz --seed {seed + 1}")
    elif last < count_chapters():
        click.echo(f"Quiz: ctxembed lesson {last} --quiz   Next: ctxembed lesson {last + 1}")
    sys.stdout.flush()


def _list_chapters() -> None:
    """Print the number, title and short text of each chapter."""
    for one in load_chapters():
        click.echo(f"{one.number:>2}. {one.title}\n    {one.short}")
    click.echo("\nRead one: ctxembed lesson 1")
