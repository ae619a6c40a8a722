"""ctxembed senses"""

import click

from ctxembed.cli.command import (
    answer,
    attention_option,
    command,
    model_option,
    number_or_auto,
    open_model,
    output_options,
    progress,
    seed_option,
)


@command(
    "senses",
    columns={
        "word": "the word",
        "sense": "number of the sense, 1 for the most frequent",
        "share": "its share of the occurrences",
        "count": "how many of those looked at have it",
        "mix": "its weight in the static vector: static ≈ Σ mix · sense, all of length 1",
        "nearest": "words nearest to what its contexts add to the word's own vector",
        "markers": "context words that tell it from the other senses and from the corpus",
        "examples": "occurrences nearest to its centre, without those that say nearly the same",
        "residual": "length of what the mix leaves over of the static vector, whose length is 1",
        "mean_cosine": "cosine of the mean of all occurrences with the static vector",
    },
    examples=[
        ("How many meanings does bank have here?", "ctxembed senses bank"),
        ("Two senses, whatever the data say", "ctxembed senses apple --k 2"),
    ],
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
@click.argument("word")
@click.option(
    "--k", default="auto", show_default=True, metavar="N|auto", help="How many senses to find."
)
@attention_option
@click.option(
    "--max",
    "most",
    type=click.IntRange(20),
    default=10_000,
    show_default=True,
    metavar="N",
    help="Look at so many occurrences, drawn at random.",
)
@click.option(
    "-n",
    "number",
    type=click.IntRange(1),
    default=6,
    show_default=True,
    metavar="N",
    help="How many nearest words and markers.",
)
@seed_option
@click.option("--save", is_flag=True, help="Keep the senses in the model, for kwic and compare.")
@model_option
@output_options
def command_(
    word: str,
    k: str,
    attention: str | None,
    most: int,
    number: int,
    seed: int,
    save: bool,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Take a word's average apart: find its senses among its occurrences in the corpus.

    Below the table stands the static vector as a mix of the senses.
    """
    wanted = number_or_auto("--k", k)
    from ctxembed.ask.senses import senses

    table = senses(
        open_model(model_dir, quiet, writes=save),
        word,
        k=wanted,
        attention=attention,
        most=most,
        number=number,
        seed=seed,
        save=save,
        progress=progress(quiet),
    )
    answer(table, form, precision, no_header, quiet)
