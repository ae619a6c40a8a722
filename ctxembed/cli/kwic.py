"""ctxembed kwic"""

import click

from ctxembed.cli.command import (
    answer,
    attention_option,
    axis_option,
    command,
    model_option,
    open_model,
    output_options,
    parse_axes,
    progress,
    seed_option,
)


@command(
    "kwic",
    columns={
        "file": "the file of the corpus",
        "line": "the line on which the sentence begins",
        "left": "the words before it",
        "word": "the word",
        "right": "the words behind it",
        "sense": "number of the sense; empty where none are known",
        "margin": "distance to the border of the next sense, in standard deviations of one word's"
        " occurrences; empty where there is one sense",
        "AXIS...": "cosine of the contextual vector with the axis",
    },
    examples=[
        ("Every bank in the corpus", "ctxembed kwic bank"),
        ("The least clear cases first", "ctxembed kwic bank --sort margin | head"),
        (
            "One sense only, with its place on an axis",
            "ctxembed kwic apple --sense 1 --axis taste=fruit,sweet,juice",
        ),
    ],
    see_also=["senses", "show", "contextualize"],
    details="""Senses are those that `ctxembed senses WORD --save` has kept in the model; they are
looked for at once where --sense, --sort sense or --sort margin needs them.

Rows come in the order of the text, as they are read; any other order waits for the last one. `left`
and `right` sort by the nearest word first, `sense` by the clearest occurrence first, `margin` by
the least clear.""",
)
@click.argument("word")
@axis_option
@click.option("--sense", type=click.IntRange(1), metavar="N", help="Only this sense.")
@click.option(
    "--sort",
    type=click.Choice(["position", "sense", "margin", "left", "right"]),
    default="position",
    show_default=True,
    help="The order of the rows.",
)
@click.option(
    "--side",
    type=click.IntRange(0, 1000),
    default=8,
    show_default=True,
    metavar="N",
    help="Words to either side.",
)
@click.option(
    "--max", "most", type=click.IntRange(1), metavar="N", help="So many, drawn at random."
)
@attention_option
@seed_option
@model_option
@output_options
def command_(
    word: str,
    axes: tuple[str, ...],
    sense: int | None,
    sort: str,
    side: int,
    most: int | None,
    attention: str | None,
    seed: int,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """List a word's occurrences in the corpus, its contexts to either side, and their senses."""
    from ctxembed.ask.kwic import kwic

    table = kwic(
        open_model(model_dir, quiet),
        word,
        axes=parse_axes(axes),
        sense=sense,
        sort=sort,
        attention=attention,
        side=side,
        most=most,
        seed=seed,
        progress=progress(quiet),
    )
    answer(table, form, precision, no_header, quiet)
