"""ctxembed explain"""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.cli.printing import printing, width
from ctxembed.errors import UsageError
from ctxembed.queries.explain import explain, explain_weights
from ctxembed.table import Table


@command("explain", explain)
@options.argument("sentence", nargs=-1)
@options.word
@options.flag("--steps", "Print each matrix with its formula.")
@options.flag("--recipe", "Print the target as a weighted sum.")
@options.layer
@options.value(
    "--head", "Head N, the mean of all heads, or each head.", metavar="N|mean|each", default="mean"
)
@options.source
@options.choice("--sort", ["position", "weight"], "Order of the rows.")
@options.integer("--top", "Print only the N words with the largest weights.")
@options.integer("--layer", "Layer N of an encoder; without it, what the target saw in the end.")
@options.value(
    "--over", "Attend to the words of this other sentence (cross-attention).", metavar="SENTENCE"
)
@options.flag("--causal", "Attend to no later word, as a decoder does.")
@options.choice("--encoding", ["none", "sinusoidal"], "Add a sinusoidal position encoding.")
@options.flag("--matrices", "Print W_Q, W_K, W_V and W_O of the attention; needs no sentence.")
@options.flag("--check", "Recompute the output from the rows; fail if it differs.")
@options.value(
    "--weights", "Explain the weights in this file, instead of a model's.", metavar="FILE"
)
@options.draw
@options.batch("--input-encoding")
def command_(
    sentence: tuple[str, ...], word: str | None, weights: str | None, vectors: str | None,
    model: str | None, **values: Any,
) -> Table | Iterable[Table]:  # fmt: skip
    """Explain a word's vector in a sentence: scores, scaling, softmax, weighted sum."""
    steps, recipe, check = values["steps"], values["recipe"], values["check"]
    if recipe and values["head"] == "each":
        raise UsageError("--recipe is for one head, or for the mean of all heads")
    if values["matrices"] and (recipe or check):
        raise UsageError("--matrices goes with --steps, not with --recipe or --check")
    if steps + recipe + check > 1:
        raise UsageError("give one of --steps, --recipe and --check")
    if (steps or recipe or values["matrices"]) and (values["top"] or values["sort"] == "weight"):
        raise UsageError("--sort and --top cannot be used with --steps, --matrices or --recipe")
    output, form, precision = printing().file_, printing().chosen, printing().precision
    digits = 2 if precision is None else precision
    if weights is not None:
        refused = any(values[name] for name in ("steps", "check", "causal", "matrices"))
        if sentence or values["over"] is not None or refused:
            raise UsageError("--weights is a whole table; only --word and --recipe go with it")
        return explain_weights(weights, word, recipe=recipe, digits=digits)
    if not any(sentence) and (steps or not values["matrices"]):
        raise UsageError('give a sentence: ctxembed explain "[Apple] launched a new phone"')
    sentences = expand_stdin(sentence, numbered=True)
    table = explain(open_model(model, vectors), sentences, word=word, digits=digits, **values)
    from ctxembed.explanation.heads import lay_out_heads
    from ctxembed.explanation.matrices import StepTable, lay_out

    if output is not None and Path(output).suffix == ".npz":
        from ctxembed.output.arrays import write_matrices

        if not isinstance(table, StepTable):
            raise UsageError(f"-o {output}: arrays are for --steps and --matrices")
        write_matrices(Path(output), {step.title: step.values for step in table.steps})
        return Table((), (), [*table.notes, f"{len(table.steps)} matrices written to {output}"])
    if form not in ("table", "markdown"):
        return table
    if isinstance(table, StepTable):
        return lay_out(table, width(), 4 if precision is None else precision)
    return lay_out_heads(table) if "sum" in table.names else table
