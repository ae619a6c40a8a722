"""ctxembed ambiguity"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.cli.numbers import Real
from ctxembed.table import Table


@command(
    "ambiguity",
    examples="""# Which words need their context most?
ctxembed ambiguity -n 20
# Two words
ctxembed ambiguity apple bank
# How much of my text needs context?
ctxembed ambiguity --summary""",
    picture="a dot for each word, with its interval",
    see_also=["senses", "kwic", "compare"],
    details="""Up to 100 occurrences of each word, drawn at random, or 1000 of words given by
name, are made contextual as `senses` does it. Words are read a batch at a time, each occurrence
list once: memory does not grow with the corpus.

A word needs its context where its self-similarity over the baseline is below --threshold, or where
its occurrences fall into two groups: they spread at least as wide as those of the usual word, and
two random halves of them, each cut in two, agree on the groups (adjusted Rand index 0.5), twice.
It is too rare below 20 occurrences. `senses` looks closer at one word and may disagree.

The threshold comes from the model, for each attention: 200 words are drawn at random, and each two
of them made one; it lies halfway between the mean self-similarity of the words and that of the
pairs. Give your own to be stricter (higher) or laxer.

--summary weighs words by how often they occur: the share of the running text judged that needs
context, of all words and of content words alone. Its interval takes the upper and the lower end of
every word's self-similarity.""",
)
@click.argument("word", nargs=-1)
@options.number("Only the first so many rows.")
@options.integer("--min-count", help="Without words: those that occur so often.", default=100)
@click.option(
    "--threshold",
    type=Real(-2, 2),
    metavar="X",
    help="Self-similarity below which a word needs its context; told by the model if not given.",
)
@click.option("--summary", is_flag=True, help="The share of the text that needs context.")
@options.attention()
@options.seed()
@options.model
def command_(word: tuple[str, ...], **asked: Any) -> Table:
    """Tell which words need their context and for which the static vector does; - reads stdin.

    Without words, all that occur often enough, those that need it most first.
    """
    return ask(expand_stdin(word) if word else [], **asked)
