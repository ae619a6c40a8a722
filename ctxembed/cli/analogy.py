"""ctxembed analogy"""

import click

from ctxembed.cli.command import answer, command, model_option, open_model, output_options


@command(
    "analogy",
    columns={
        "rank": "1 for the best answer",
        "word": "the word found",
        "cosine": "cosine of its vector with b - a + c, each of length 1",
    },
    examples=[("Dog is to puppy as cat is to what?", "ctxembed analogy dog puppy cat")],
    see_also=["neighbors", "similarity"],
)
@click.argument("a")
@click.argument("b")
@click.argument("c")
@click.option(
    "-n",
    "number",
    type=click.IntRange(1),
    default=5,
    show_default=True,
    metavar="N",
    help="How many answers.",
)
@model_option
@output_options
def command_(
    a: str,
    b: str,
    c: str,
    number: int,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Answer: A is to B as C is to what? The three words themselves are left out."""
    from ctxembed.ask.neighbors import analogy

    model = open_model(model_dir, quiet)
    answer(analogy(model, a, b, c, number), form, precision, no_header, quiet)
