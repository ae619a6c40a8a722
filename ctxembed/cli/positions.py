"""ctxembed positions"""

import click

from ctxembed.cli.command import answer, command, model_option, open_model, output_options


@command(
    "positions",
    columns={
        "position": "a place, from 0",
        "d1, d2, ...": "its encoding: sine in odd columns, cosine in even ones",
        "p0, p1, ...": "with --dot: the dot product with each place",
        "distance": "with --attention: how far to the right of the target a word stands",
        "head_1, head_2, ...": "with --attention: what is added to its scaled score",
    },
    examples=[
        ("Four places in six dimensions", "ctxembed positions --length 4 --dim 6"),
        ("How it falls off with distance", "ctxembed positions --length 6 --dim 64 --dot"),
        ("What a learned attention makes of distance", "ctxembed positions --attention learned"),
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
@click.option(
    "--attention",
    metavar="NAME",
    help="Print the bias by distance of an attention instead, head by head.",
)
@model_option
@click.option("--dot", is_flag=True, help="The dot product of each place with each.")
@output_options
def command_(
    length: int,
    dim: int,
    dot: bool,
    attention: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Print the sine-wave encoding of positions, how alike they are, or what distance means."""
    from ctxembed.ask.positions import bias_by_distance, positions

    if attention is not None:
        table = bias_by_distance(open_model(model_dir, quiet), attention)
    else:
        table = positions(length, dim, dot=dot)
    answer(table, form, precision, no_header, quiet)
