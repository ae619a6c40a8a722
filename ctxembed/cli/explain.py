"""ctxembed explain"""

from collections.abc import Iterable
from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.answer import printing
from ctxembed.cli.command import ask, command
from ctxembed.errors import UsageError
from ctxembed.table import Table


@command(
    "explain",
    examples="""# What makes apple a company here?
ctxembed explain "[Apple] launched a new phone"
# The textbook's attention, every matrix
ctxembed explain "phone fruit" --vectors phone-fruit --steps
# The notes' hand-picked weights as a recipe
ctxembed explain --weights money-bank --recipe
# Do the numbers add up?
ctxembed explain "[bank] of the river" --head each --check > rows.tsv""",
    see_also=["compare", "contextualize", "positions"],
    details="""General attention has no parameters. textbook takes the raw dot product of the static
vectors, as in the first lesson: a vector's product with itself is the largest, softmax saturates
on it, and the word hardly moves. scaled divides by the root of the dimension, which softens that.
cosine compares vectors of length 1 with a temperature of 6, leaves the word out of its own weights
and mixes it back with a share of 0.3, damps frequent words by a/(a+p), and lets each head look less
far than the one before, by a fixed decay for each word of distance.

random is an untrained layer of W_Q, W_K, W_V and W_O, to show what learning starts from.

Matrices by hand: a JSON file for --vectors may hold w_q, w_k, w_v and w_o. A matrix such as
[[2, 0], [0, 2]] changes a vector's magnitude, [[0, 1], [-1, 0]] turns it by a right angle
(examples: scaling, rotation).

newValue += value * similarity(query, key), over all keys, is the loop form of the same sum.""",
)
@click.argument("sentence", required=False)
@options.word
@options.layer
@click.option(
    "--head",
    default="mean",
    show_default=True,
    metavar="N|mean|each",
    help="One head, the mean of all, or each.",
)
@click.option("--over", metavar="SENTENCE", help="Look at this other sentence: cross-attention.")
@options.choice(
    "--encoding", ["none", "sinusoidal"], help="Add sine waves for the place of each word."
)
@click.option("--steps", is_flag=True, help="Print each matrix in full.")
@click.option("--recipe", is_flag=True, help="Print the target as a sum.")
@click.option(
    "--check",
    is_flag=True,
    help="Recompute the output from the rows; fail if they don't add up.",
)
@click.option("--weights", metavar="FILE", help="Hand-picked weights instead of computed ones.")
@options.source
def command_(sentence: str | None, weights: str | None, **asked: Any) -> Table | Iterable[Table]:
    """Show why a word gets its vector in a sentence: score, scale, softmax, weighted sum.

    The target is marked in the sentence, [apple], or given by --word; else every word is one.
    """
    steps, recipe, check = (asked[name] for name in ("steps", "recipe", "check"))
    if recipe and asked["head"] == "each":
        raise UsageError("--recipe is written for one head, or for the mean of all")
    if steps + recipe + check > 1:
        raise UsageError("give one of --steps, --recipe and --check")
    how = printing()
    digits = 2 if how.precision is None else how.precision
    if weights is not None:
        from ctxembed.ask.illustrate import explain_weights

        if sentence or asked["over"] is not None or steps or check:
            raise UsageError("--weights is a whole table; it goes with --word and --recipe only")
        return explain_weights(weights, asked["word"], recipe=recipe, digits=digits)
    if not sentence:
        raise UsageError('which sentence? ctxembed explain "[Apple] launched a new phone"')
    table = ask(sentence, digits=digits, **asked)
    if not steps or how.chosen not in ("table", "markdown"):
        return table
    from ctxembed.ask.steps import lay_out

    return lay_out(table)
