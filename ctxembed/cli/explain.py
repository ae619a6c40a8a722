"""ctxembed explain"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.answer import printing, width
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.errors import UsageError
from ctxembed.table import Table


@command(
    examples="""# What makes apple a company here?
ctxembed explain "[Apple] launched a new phone"
# Every step of one head, to be checked by hand
ctxembed explain "[Apple] launched a new phone" --head 2 --sort weight
# The textbook's attention, every matrix
ctxembed explain "phone fruit" --vectors phone-fruit --steps
# The notes' hand-picked weights as a recipe
ctxembed explain --weights money-bank --recipe
# Do the numbers add up?
ctxembed explain "[bank] of the river" --head each --check > rows.tsv""",
    picture="the sentence with its words shaded and arcs as wide as the weights; with --head "
    "each, and where every word is a target, a heat map",
    see_also=["compare", "contextualize", "positions"],
    details="""Each head has its own steps: score times scale, and what the terms of the attention
add, make the sum, and the softmax of the sums the weights. --head N shows them; on a terminal the
equation stands above them. The mean over heads is a mean of weights only, as no softmax made it.

A recipe writes the target as a sum that makes 1: general attention mixes the vectors themselves, so
that its numbers are the whole truth. An attention with matrices turns what it mixes: there the word
itself has the share of the output that it brings, and the others share the rest by their weights.

--steps abbreviates large matrices on a terminal; they are whole in json, tsv, csv and in -o
FILE.npz, an array for each under its name (E, Q_1, weights_1, output).

Without a marked target, each content word is one: no English function word, and no word that makes
up more than one percent of the corpus. A word that the model does not know has a row without
numbers.

General attention has no parameters. textbook takes the raw dot product of the static
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
@options.argument("sentence", nargs=-1)
@options.word
@options.layer
@options.value(
    "--head", "One head, the mean of all, or each.", metavar="N|mean|each", default="mean"
)
@options.value("--over", "Look at this other sentence: cross-attention.", metavar="SENTENCE")
@options.choice("--encoding", ["none", "sinusoidal"], "Add sine waves for the place of each word.")
@options.choice("--sort", ["position", "weight"], "In which order the words stand.")
@options.integer("--top", "Only the heaviest words.")
@options.flag("--steps", "Print each matrix under its formula.")
@options.flag("--recipe", "Print the target as a sum.")
@options.flag("--check", "Recompute the output from the rows; fail if they don't add up.")
@options.value("--weights", "Hand-picked weights instead of computed ones.", metavar="FILE")
@options.source
def command_(
    sentence: tuple[str, ...], weights: str | None, **asked: Any
) -> Table | Iterable[Table]:
    """Show why a word gets its vector in a sentence: score, scale, softmax, weighted sum.

    The target is marked in the sentence, [apple], or given by --word; - reads sentences from stdin.
    """
    steps, recipe, check = (asked[name] for name in ("steps", "recipe", "check"))
    if recipe and asked["head"] == "each":
        raise UsageError("--recipe is written for one head, or for the mean of all")
    if steps + recipe + check > 1:
        raise UsageError("give one of --steps, --recipe and --check")
    if (steps or recipe) and (asked["top"] or asked["sort"] == "weight"):
        raise UsageError(
            "--sort and --top are for the words of a target, without --steps, --recipe"
        )
    how = printing()
    digits = 2 if how.precision is None else how.precision
    if weights is not None:
        from ctxembed.queries.explain import explain_weights

        if sentence or asked["over"] is not None or steps or check:
            raise UsageError("--weights is a whole table; it goes with --word and --recipe only")
        return explain_weights(weights, asked["word"], recipe=recipe, digits=digits)
    if not any(sentence):
        raise UsageError('which sentence? ctxembed explain "[Apple] launched a new phone"')
    table = ask(expand_stdin(sentence, numbered=True), digits=digits, **asked)
    if how.file_ is not None and Path(how.file_).suffix == ".npz":
        from ctxembed.explanation.matrices import StepTable
        from ctxembed.output.arrays import write_matrices

        if not isinstance(table, StepTable):
            raise UsageError(f"-o {how.file_}: arrays are for --steps")
        write_matrices(Path(how.file_), {step.title: step.values for step in table.steps})
        told = f"{len(table.steps)} matrices written to {how.file_}"
        return Table((), (), [*table.notes, told])
    if how.chosen not in ("table", "markdown"):
        return table
    if steps:
        from ctxembed.explanation.matrices import StepTable, lay_out

        assert isinstance(table, StepTable)
        return lay_out(table, width(), 4 if how.precision is None else how.precision)
    if "sum" not in table.names:
        return table
    from ctxembed.explanation.head_tables import lay_out_heads

    return lay_out_heads(table)
