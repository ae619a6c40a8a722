"""ctxembed vector"""

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
    "vector",
    columns={"word": "the word", "d1, d2, ...": "the numbers of its vector"},
    examples=[
        ("The numbers behind a word", "ctxembed vector apple"),
        ("Words from a file", "ctxembed vector - < words.txt"),
    ],
    see_also=["show", "neighbors"],
)
@click.argument("word", nargs=-1, required=True)
@model_option
@output_options
def command_(
    word: tuple[str, ...],
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Print static vectors, one row a word; - reads words from stdin, one a line."""
    from ctxembed.ask.show import vector

    wanted = expand_stdin(word)
    model = open_model(model_dir, quiet)
    known, incomplete = known_words(model, wanted)
    answer(vector(model, known), form, precision, no_header, quiet, incomplete=incomplete)
