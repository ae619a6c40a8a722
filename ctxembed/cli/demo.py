"""ctxembed demo"""

import os
import shlex
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import click

from ctxembed.cli.answer import QUIET
from ctxembed.cli.command import command

AXES = "--axis taste=fruit,sweet,juice --axis technology=phone,company,software"
PLACES = "--axis restaurant=waiter,menu,food --axis computer=computer,network,data"
SENTENCE = "[Apple] launched a new phone while I was eating an [orange]"
KITCHEN = "--axis kitchen=sugar,butter,bread --axis study=easy,exam,problem"
CAKE = "Solving problems like these is a [piece of cake]"
EATEN = "The waiter brought a [piece of cake]"
TWICE = "[Apple] launched a new phone while I was eating an [apple]"

# What is told, then the command that shows it. {corpora} is a folder.
STORY = (
    (
        "Four sentences, three about the fruit and one about the company. Word2vec needs far more: "
        "its vectors are noise here, and train says so.",
        "train {corpora}/apple.txt -o four --static-only",
    ),
    (
        "The bundled model has read 360,000 words of everyday English in which apple is mostly a "
        "fruit. Its one vector is the average of all that, made once and used for every sentence.",
        f"show apple --occurrences 4 {AXES}",
    ),
    (
        "Turn the corpus round, three apples out of four from the company, and the same word lands "
        "elsewhere: the vector says more about the data than about any sentence.",
        "train {corpora}/technology.txt --lines -o twin --static-only --epochs 12 --dim 32",
    ),
    ("", f"show apple --occurrences 0 -m twin {AXES}"),
    (
        "Now a sentence. The static apple is a fruit, whatever stands beside it. The bag (the mean "
        "of the context) and general attention look at orange and eating too. Learned attention "
        "must see that launched and phone are the words that matter for apple, and must leave "
        "orange a fruit.",
        f'compare "{SENTENCE}" {AXES} -n 2',
    ),
    ("What apple looks at, word by word:", f'explain "{SENTENCE.replace("[orange]", "orange")}"'),
    (
        "The same word twice in one sentence must come out as two things.",
        f'compare "{TWICE}" {AXES} -n 2',
    ),
    (
        "Money bank and river bank: one static vector, two contextual ones. cos_first is the "
        "cosine with the bank of the first sentence, cos_random what to expect of any two banks.",
        'compare "money [bank] grows" "river [bank] flows" -n 1',
    ),
    ("As a recipe:", 'explain "money [bank] grows" --recipe'),
    ("", 'explain "river [bank] flows" --recipe'),
    (
        "A server carries plates, or it crashes.",
        f'compare "[Server], can I have the check?" {PLACES} -n 1',
    ),
    ("", f'compare "Looks like I just crashed the [server]" {PLACES} -n 1'),
    (
        "Last, a purpose. No corpus says that a piece of cake is easy; labelled sentences do. fit "
        "learns attention for the task on half of the bundled idioms, and is asked about the half "
        "it never saw. (The bundled model stays as it is: this is a copy of it.)",
        "fit {corpora}/idioms.tsv --name idioms -m copy",
    ),
    (
        "Before and after: cake leaves the kitchen.",
        f'compare "{CAKE}" {KITCHEN} --attention general,learned,idioms -n 1 -m copy',
    ),
    ("", f'predict "{CAKE}" "{EATEN}" --attention idioms -m copy'),
)


@command(
    "demo",
    examples="""# The story in one run
ctxembed demo""",
    see_also=["compare", "explain", "show"],
    params=[QUIET],
    output="Several tables on standard output, each below the command that printed it.",
    details="""Every step is the real output of the command above it. It always asks the bundled
model; what it trains on the way goes into a temporary directory.""",
)
def command_() -> None:
    """Tell the story of the averaged word, each step with the command that shows it."""
    from ctxembed.store import places

    os.environ["CTXEMBED_MODEL"] = str(places.bundled_model().resolve())
    if not sys.stdout.isatty():
        os.environ["COLUMNS"] = "80"
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(places.bundled_model().resolve(), Path(work) / "copy")
        os.chdir(work)
        try:
            for number, text, line in _steps():
                if number:
                    click.echo(f"\n{number}. " + click.wrap_text(text, 76, "", "   ") + "\n")
                click.echo(f"$ ctxembed {line.format(corpora='corpora')}\n")
                _run(shlex.split(line.format(corpora=places.corpora().resolve())))
                click.echo()
        finally:
            os.chdir(here)


def _steps() -> Iterator[tuple[int, str, str]]:
    number = 0
    for text, line in STORY:
        number += bool(text)
        yield number if text else 0, text, line


def _run(arguments: list[str]) -> None:
    """Run a command as a person would, with tables whatever stdout is."""
    from ctxembed.cli.main import cli

    sys.stdout.flush()
    cli.main([*arguments, "-f", "table"], standalone_mode=False)
    sys.stdout.flush()
