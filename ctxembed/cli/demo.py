"""ctxembed demo"""

from pathlib import Path

import click

from ctxembed.cli import chapters
from ctxembed.cli.command import command
from ctxembed.lesson.chapter import load_chapters

END = (Path(__file__).parent / "help" / "demo_end.txt").read_text(encoding="utf-8").strip()


@command("demo")
def command_() -> None:
    """Show the idea in five chapters of the lesson, with their commands and output."""
    chosen = [chapter for chapter in load_chapters() if chapter.in_demo]
    for number, chapter in enumerate(chosen, 1):
        heading = f"{number}. {chapter.title} (chapter {chapter.number} of the lesson)"
        chapters.tell(chapter, heading, task=False)
    click.echo(END)
