"""ctxembed ladder"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    "ladder",
    examples="""# Two words with something in common
ctxembed ladder apple orange
# One word in two sentences
ctxembed ladder apple apple --sentences 'an apple a day' 'the new apple phone'
# The vectors of the lecture notes
ctxembed ladder king queen --vectors king-queen-cricket""",
    picture="a bar for each rung",
    see_also=["vectorize", "compare", "similarity"],
    details="""The rungs, from the bottom: one-hot has a place for each word, so that any two words
are equally far apart. bow counts the words of each word's sentence, tfidf lets rare words count
more (scikit-learn's formula, over the sentences of the model's corpus): they see only shared words.
static is the word's one vector, averaged over the corpus. bag is the mean of the words around it;
general and learned attention weigh these words: they see the sentence.

Without --sentences the first sentence of the corpus with the first word is taken, and the last one
with the second; both are printed as notes. Mark a target with [ ] where a sentence has it
twice.""",
)
@click.argument("word1")
@click.argument("word2")
@click.option("--sentences", nargs=2, metavar="A B", help="The sentences in which the words stand.")
@options.source
def command_(**asked: Any) -> Table:
    """Compare two words under every representation, from one-hot to learned attention."""
    return ask(**asked)
