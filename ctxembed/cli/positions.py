"""ctxembed positions"""

import click

from ctxembed.cli.command import answer, command, output_options


@command(
    "positions",
    columns={
        "position": "a place, from 0",
        "d1, d2, ...": "its encoding: sine in odd columns, cosine in even ones",
        "p0, p1, ...": "with --dot: the dot product with each place",
    },
    examples=[
        ("Four places in six dimensions", "ctxembed positions --length 4 --dim 6"),
        ("How it falls off with distance", "ctxembed positions --length 6 --dim 64 --dot"),
    ],
    see_also=["explain"],
    details="""Self-attention alone knows no order. The encoding gives each place p sine waves of
falling frequency, sin(p / 10000^(2i/d)) and cos of the same, added to the word's vector. The dot
product of two places depends on their distance only, and falls off with it.""",
)
@click.option(
    "--length",
    type=click.IntRange(1, 10000),
    default=8,
    show_default=True,
    metavar="N",
    help="How many places.",
)
@click.option(
    "--dim",
    type=click.IntRange(1, 10000),
    default=8,
    show_default=True,
    metavar="N",
    help="How many dimensions.",
)
@click.option("--dot", is_flag=True, help="The dot product of each place with each.")
@output_options
def command_(
    length: int,
    dim: int,
    dot: bool,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Print the sine-wave encoding of positions, or how alike the positions are."""
    from ctxembed.analysis.positions import positions

    answer(positions(length, dim, dot=dot), form, precision, no_header, quiet)
