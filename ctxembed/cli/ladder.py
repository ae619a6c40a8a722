"""ctxembed ladder"""

import click

from ctxembed.cli.command import answer, command, output_options
from ctxembed.cli.sentence import open_context, source_options


@command(
    "ladder",
    columns={
        "representation": "one-hot, bow, tfidf, static, bag, general, and each learned attention",
        "dim": "length of a vector",
        "zeros": "share of the numbers of both vectors that are zero",
        "cosine": "cosine of the two vectors",
        "tells": "what the cosine can tell apart",
    },
    examples=[
        ("Two words with something in common", "ctxembed ladder apple orange"),
        (
            "One word in two sentences",
            "ctxembed ladder apple apple --sentences 'an apple a day' 'the new apple phone'",
        ),
        (
            "The vectors of the lecture notes",
            "ctxembed ladder king queen --vectors king-queen-cricket",
        ),
    ],
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
@source_options
@output_options
def command_(
    word1: str,
    word2: str,
    sentences: tuple[str, str] | None,
    vectors: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Compare two words under every representation, from one-hot to learned attention."""
    from ctxembed.ask.ladder import ladder

    context, _ = open_context(model_dir, vectors, None, quiet)
    answer(ladder(context, (word1, word2), sentences or ()), form, precision, no_header, quiet)
