"""ctxembed senses"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    "senses",
    examples="""# How many meanings does bank have here?
ctxembed senses bank
# Two senses, whatever the data say
ctxembed senses apple --k 2
# Many words from a pipe
printf 'apple\\nbank\\n' | ctxembed senses - -f tsv""",
    picture="a map of the occurrences in two dimensions, coloured by sense",
    see_also=["kwic", "ambiguity", "show", "compare"],
    details="""Occurrences come from the corpus in the model; their context reaches 32 words to
either side within the sentence. Their contextual vectors are placed in a space in which one step in
any direction is the usual spread of one word's occurrences, measured over 200 words drawn at random
(within-class covariance normalisation), reduced to 10 principal directions, and clustered by
k-means. Attention weighs three times as evenly for this as it does for a single sentence, and
learned attention looks farther: over many occurrences all evidence counts. A sense's own vector is
the mean of up to 1000 of its contextual vectors, made by the attention as it is.

--k auto takes the largest number of senses, up to 6, that come out the same from two random halves
of the occurrences (adjusted Rand index 0.6; for more than two senses 0.9), of which each two are
separated 1.3 times (for more than two senses 1.6 times) as clearly as one normal cloud of the same
shape cut in two, and each hold 3 % of the occurrences. A word has one sense if there is no such
number, or if its occurrences spread less than those of the usual word of the model: their variance
in the space above is below the mean of the 200 words. These numbers were chosen on pseudowords, two
words merged into one, other than those of the figures in bench/README.md.

A sense here is a way of being used: a word with one meaning and two very different topics may get
two, and two meanings that share their contexts get one.""",
)
@click.argument("word", nargs=-1)
@options.senses("--k", help="How many senses to find.")
@options.attention()
@options.integer(
    "--max",
    "most",
    help="Look at so many occurrences, drawn at random.",
    least=20,
    default=10_000,
)
@options.number("How many nearest words and markers.", 6)
@options.seed()
@click.option("--save", is_flag=True, help="Find them anew and keep them, for kwic and compare.")
@click.option("--again", is_flag=True, help="Find them anew, though the model has kept some.")
@options.integer("--top", help="Instead of words: so many that have more than one sense.")
@options.model
def command_(word: tuple[str, ...], save: bool, **asked: Any) -> Table:
    """Take a word's average apart: find its senses among its occurrences in the corpus.

    Below the table stands the static vector as a mix of the senses. - reads words from stdin.
    """
    return ask(expand_stdin(word) if word else [], writes=save, save=save, **asked)
