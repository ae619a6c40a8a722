"""ctxembed demo"""

import os
import shlex
import shutil
import sys
import tempfile
from pathlib import Path

import click

from ctxembed.cli.answer import QUIET
from ctxembed.cli.command import command

# What is told, then the commands that show it; tests/cli/test_demo.py reads each claim from the
# numbers. {corpora} is a folder, the others are below.
STORY = """Four sentences, three about the fruit and one about the company. Word2vec needs far more:
its vectors are noise here, and train says so.
$ train {corpora}/apple.txt -o four --static-only

The small bundled model everyday has read 360,000 words of simple English in which apple is mostly a
fruit. Its one vector is the average of all that, made once and used for every sentence: of the two
axes, taste is the nearer one.
$ show apple --occurrences 4 {axes}

Turn the corpus round, three apples out of four from the company, and the same word lands elsewhere:
now technology is the nearer axis. (Compare the two axes within a model: cosines of one model and
another cannot be compared.) The vector says more about the data than about any sentence.
$ train {corpora}/technology.txt --lines -o twin --static-only --epochs 12 --dim 32
$ show apple --occurrences 0 -m twin {axes}

Now a sentence. The static apple is nearer to taste, whatever stands beside it. The bag (the mean of
the context) mixes both clauses: it calls the orange technology too. General attention has no
parameters, and its apple is hardly more one than the other. Learned attention looks at launched and
phone for apple, and leaves orange a fruit: technology well before taste for the one, taste well
before technology for the other.
$ compare "[Apple] launched a new phone while I was eating an [orange]" {axes} -n 2

What apple looks at, word by word: the words of its own clause bring nearly all of it, eating and
orange next to nothing.
$ explain "[Apple] launched a new phone while I was eating an orange"

The same word twice in one sentence. Static and bag have one vector for both; learned attention
makes technology of the first and taste of the second.
$ compare "[Apple] launched a new phone while I was eating an [apple]" {axes} -n 2

Money bank and river bank: one static vector, two contextual ones. cos_first is the cosine with the
bank of the first sentence, cos_random the mean for any two banks of the corpus: these two are
farther apart than that, and each is like another word.
$ compare "money [bank] grows" "river [bank] flows" -n 1

As a recipe, the word itself included: money weighs most in the one, river in the other.
$ explain "money [bank] grows" --recipe
$ explain "river [bank] flows" --recipe

A server carries plates, or it crashes. The static one leans to the computer both times; the learned
one is nearer to the restaurant in the first sentence, to the computer in the second.
$ compare "[Server], can I have the check?" {places} -n 1
$ compare "Looks like I just crashed the [server]" {places} -n 1

Last, a purpose. No corpus says that a piece of cake is easy; labelled sentences do. fit learns
attention for the task on half of the bundled idioms, and is asked about the half it never saw: it
is right more often than before. (The bundled model stays as it is: this is a copy of it.)
$ fit {corpora}/idioms.tsv --name idioms -m copy

Before, the phrase lies as near to the kitchen as to the exam (static). With the attention of the
task the kitchen is gone, and study is far the nearer axis. predict knows which cake is eaten.
$ compare "{cake}" {kitchen} --attention general,learned,idioms -n 1 -m copy
$ predict "{cake}" "She ate a [piece of cake] with her tea" --attention idioms -m copy"""
TYPE = """Now yours. Without -m a model answers that has read 52 million words of English; type:

$ ctxembed compare "The [bat] flew out of the cave at dusk"
$ ctxembed compare "The [mouse] ate the cheese while I fixed the keyboard"
$ ctxembed explain "We sat on the [bank] and watched the boats" --sort weight"""
WORDS = {
    "axes": "--axis taste=fruit,sweet,juice --axis technology=phone,company,software",
    "places": "--axis restaurant=waiter,menu,food --axis computer=computer,network,data",
    "kitchen": "--axis kitchen=sugar,butter,bread --axis study=easy,exam,problem",
    "cake": "Solving problems like these is a [piece of cake]",
}


@command(
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
    from ctxembed.cli.main import cli
    from ctxembed.model import bundled as places

    model, folder = places.bundled_model("everyday").resolve(), places.corpora().resolve()
    os.environ["CTXEMBED_MODEL"] = str(model)
    if not sys.stdout.isatty():
        os.environ["COLUMNS"] = "80"
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as work:
        shutil.copytree(model, Path(work) / "copy")
        os.chdir(work)
        try:
            for number, part in enumerate(STORY.split("\n\n"), 1):
                text, *lines = part.split("\n$ ")
                told = text.replace("\n", " ")
                click.echo(f"\n{number}. " + click.wrap_text(told, 76, "", "   ") + "\n")
                for line in lines:
                    click.echo(f"$ ctxembed {line.format(corpora='corpora', **WORDS)}\n")
                    sys.stdout.flush()
                    arguments = shlex.split(line.format(corpora=folder, **WORDS))
                    cli.main([*arguments, "-f", "table"], standalone_mode=False)
                    sys.stdout.flush()
                    click.echo()
        finally:
            os.chdir(here)
    click.echo(f"\n{TYPE}")
