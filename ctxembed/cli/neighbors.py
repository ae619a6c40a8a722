"""ctxembed neighbors"""

import click

from ctxembed.cli.command import (
    answer,
    command,
    expand_stdin,
    known_words,
    model_option,
    open_model,
    output_options,
)


@command(
    "neighbors",
    columns={
        "word": "the word asked about",
        "neighbor": "the word found",
        "cosine": "cosine of the two static vectors",
        "rank": "1 for the nearest",
    },
    examples=[
        ("The ten nearest words", "ctxembed neighbors apple"),
        ("Only the words", "ctxembed neighbors apple -n 3 --no-header | cut -f2"),
    ],
    see_also=["similarity", "show"],
)
@click.argument("word", nargs=-1, required=True)
@click.option(
    "-n",
    "number",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    metavar="N",
    help="How many for each word.",
)
@model_option
@output_options
def command_(
    word: tuple[str, ...],
    number: int,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Find the words whose static vectors lie nearest by cosine; - reads words from stdin."""
    from ctxembed.ask.neighbors import neighbors

    wanted = expand_stdin(word)
    model = open_model(model_dir, quiet)
    known, incomplete = known_words(model, wanted)
    answer(
        neighbors(model, known, number), form, precision, no_header, quiet, incomplete=incomplete
    )
