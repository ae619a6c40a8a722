"""ctxembed similarity"""

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
    "similarity",
    columns={
        "word": "a word",
        "WORD...": "its cosine with each of the words, a column under each one's name",
        "AXIS...": "its cosine with each axis",
        "word1, word2, cosine": "the columns with --pairs",
    },
    examples=[
        ("All against all", "ctxembed similarity apple pear phone"),
        ("One row a pair", "ctxembed similarity apple pear phone --pairs"),
        (
            "Words in sentences beside plain words",
            'ctxembed similarity "[Apple] launched a phone" "an [apple] pie" company pear',
        ),
    ],
    see_also=["neighbors", "show"],
)
@click.argument("word", nargs=-1, required=True)
@click.option("--pairs", is_flag=True, help="One row for each two words.")
@axis_option
@click.option(
    "--attention",
    metavar="NAME",
    help="For sentences: learned, general or a name; learned where the model has it.",
)
@model_option
@output_options
def command_(
    word: tuple[str, ...],
    pairs: bool,
    axes: tuple[str, ...],
    attention: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Print the cosine of each word with each other; - reads words from stdin.

    A sentence with a marked target, "an [apple] pie", stands for that word's contextual vector.
    """
    from ctxembed.ask.similarity import similarity

    named = parse_axes(axes)
    wanted = expand_stdin(word)
    model = open_model(model_dir, quiet)
    plain = [text for text in wanted if "[" not in text]
    incomplete = bool(plain) and known_words(model, plain)[1]
    kept = [text for text in wanted if "[" in text or model.parts(text)]
    table = similarity(model, kept, pairs=pairs, axes=named, attention=attention)
    answer(table, form, precision, no_header, quiet, incomplete=incomplete)
