"""ctxembed show"""

import click

from ctxembed.cli.command import (
    answer,
    axis_option,
    command,
    expand_stdin,
    known_words,
    model_option,
    open_model,
    output_options,
    parse_axes,
)


@command(
    "show",
    columns={
        "word": "the word",
        "property": "count, share, composed, norm, nearest, axis NAME or occurrence",
        "value": "its value; share is the part of all words in the corpus that are this one,"
        " composed are the subwords or characters of a word that has no vector of its own",
    },
    examples=[
        ("The averaged apple", "ctxembed show apple"),
        (
            "Where it lies between two named directions",
            "ctxembed show apple --axis taste=fruit,sweet,juice"
            " --axis technology=phone,company,software",
        ),
    ],
    see_also=["neighbors", "similarity", "vector"],
)
@click.argument("word", nargs=-1, required=True)
@axis_option
@click.option(
    "-n",
    "nearest",
    type=click.IntRange(0, 1000),
    default=8,
    show_default=True,
    metavar="N",
    help="How many nearest words.",
)
@click.option(
    "--occurrences",
    type=click.IntRange(0, 1000),
    default=3,
    show_default=True,
    metavar="N",
    help="How many occurrences from the corpus, spread evenly over it.",
)
@model_option
@output_options
def command_(
    word: tuple[str, ...],
    axes: tuple[str, ...],
    nearest: int,
    occurrences: int,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Show a word's one averaged vector as a person wants it.

    How often the word occurs, its nearest words, where it lies on the named axes, and a few of the
    occurrences that went into the average.
    """
    from ctxembed.ask.show import show

    named = parse_axes(axes)
    wanted = expand_stdin(word)
    model = open_model(model_dir, quiet)
    known, incomplete = known_words(model, wanted)
    table = show(model, known, axes=named, nearest=nearest, occurrences=occurrences)
    answer(table, form, precision, no_header, quiet, incomplete=incomplete)
