"""ctxembed demo"""

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from ctxembed.cli.command import command

# A paragraph of text and the commands that show it; tests/cli/test_demo.py reads each claim from
# the numbers. {corpora} is a folder, the other names are in WORDS.
STORY, TYPE = (
    (Path(__file__).parent / "help" / name).read_text(encoding="utf-8").strip()
    for name in ("demo_story.txt", "demo_end.txt")
)
WORDS = {
    "axes": "--axis taste=fruit,sweet,juice --axis technology=phone,company,software",
    "server": "--axis restaurant=waiter,menu,food --axis computer=computer,network,data",
    "kitchen": "--axis kitchen=sugar,butter,bread --axis study=easy,exam,problem",
    "cake": "Solving problems like these is a [piece of cake]",
}


@command("demo")
def command_() -> None:
    """Show the idea in eleven steps, each with its command and output."""
    from ctxembed.cli.main import cli
    from ctxembed.model.bundled import bundled_model, corpora_directory

    model, corpora = bundled_model("everyday").resolve(), corpora_directory().resolve()
    os.environ["CTXEMBED_MODEL"] = str(model)
    if not sys.stdout.isatty():
        os.environ["COLUMNS"] = "80"
    here = Path.cwd()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as work:  # Windows: still mapped
        shutil.copytree(model, Path(work) / "copy")
        os.chdir(work)
        try:
            for number, step in enumerate(STORY.split("\n\n"), 1):
                text, *lines = step.split("\n$ ")
                text = click.wrap_text(text.replace("\n", " "), 76, "", "   ")
                click.echo(f"\n{number}. {text}\n")
                for line in lines:
                    click.echo(f"$ ctxembed {line.format(corpora='corpora', **WORDS)}\n")
                    sys.stdout.flush()
                    arguments = shlex.split(line.format(corpora=corpora.as_posix(), **WORDS))
                    cli.main([*arguments, "-f", "table"], standalone_mode=False)
                    sys.stdout.flush()
                    click.echo()
        finally:
            os.chdir(here)
    click.echo(f"\n{TYPE}")
