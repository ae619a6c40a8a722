"""ctxembed explain"""

import sys

import click

from ctxembed.cli.command import answer, command, note, output_options
from ctxembed.cli.sentence import attention_options, open_source, source_options


@command(
    "explain",
    columns={
        "target": "the word explained; apple:2 is the second apple of the sentence",
        "head": "a number, mean over all heads, or own for what the word itself brings",
        "token": "a word of the sentence",
        "position": "its place, from 1; unknown words are not counted",
        "score": "q·k, or the cosine of the two",
        "scaled": "score times the scale, plus the biases of distance and word",
        "weight": "softmax of scaled; the weights of one head sum to 1",
        "contribution": "share of the output along its own direction; all of them sum to 1",
        "recipe": "with --recipe: the target as a sum of its context",
        "step, row, column, value": "with --steps in tsv, csv and json: a row a number",
    },
    examples=[
        ("What makes apple a company here?", 'ctxembed explain "[Apple] launched a new phone"'),
        (
            "The textbook's attention, every matrix",
            'ctxembed explain "phone fruit" --vectors phone-fruit --steps',
        ),
        (
            "The notes' hand-picked weights as a recipe",
            "ctxembed explain --weights money-bank --recipe",
        ),
        (
            "Do the numbers add up?",
            'ctxembed explain "[bank] of the river" --head each --check > rows.tsv',
        ),
    ],
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
@click.option("--word", metavar="WORD[:N]", help="The target, where none is marked with [ ].")
@attention_options
@click.option(
    "--head",
    default="mean",
    show_default=True,
    metavar="N|mean|each",
    help="One head, the mean of all, or each.",
)
@click.option("--over", metavar="SENTENCE", help="Look at this other sentence: cross-attention.")
@click.option(
    "--encoding",
    type=click.Choice(["none", "sinusoidal"]),
    default="none",
    show_default=True,
    help="Add sine waves for the place of each word.",
)
@click.option("--steps", "all_steps", is_flag=True, help="Print each matrix in full.")
@click.option("--recipe", "as_recipe", is_flag=True, help="Print the target as a sum.")
@click.option(
    "--check",
    "checked",
    is_flag=True,
    help="Recompute the output from the rows; fail if they don't add up.",
)
@click.option("--weights", metavar="FILE", help="Hand-picked weights instead of computed ones.")
@source_options
@output_options
def command_(
    sentence: str | None,
    word: str | None,
    attention: str | None,
    general: str | None,
    heads: int,
    seed: int,
    head: str,
    over: str | None,
    encoding: str,
    all_steps: bool,
    as_recipe: bool,
    checked: bool,
    weights: str | None,
    vectors: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Show why a word gets its vector in a sentence: score, scale, softmax, weighted sum.

    The target is marked in the sentence, [apple], or given by --word; else every word is one.
    """
    from ctxembed.ask import explain as analysis
    from ctxembed.ask.steps import steps, tidy
    from ctxembed.cli.sentence import tell_unknown
    from ctxembed.context.representations import parse
    from ctxembed.errors import UsageError

    if as_recipe and head == "each":
        raise UsageError("--recipe is written for one head, or for the mean of all")
    if sum((all_steps, as_recipe, checked)) > 1:
        raise UsageError("give one of --steps, --recipe and --check")
    if weights is not None:
        from ctxembed.ask.illustrate import explain_weights

        if sentence or over is not None or all_steps or checked:
            raise UsageError("--weights is a whole table; it goes with --word and --recipe only")
        table = explain_weights(weights, word, as_recipe, 2 if precision is None else precision)
        answer(table, form, precision, no_header, quiet)
        return
    if not sentence:
        raise UsageError('which sentence? ctxembed explain "[Apple] launched a new phone"')
    source = open_source(model_dir, vectors, attention, general, heads, seed, quiet)
    parsed = parse(source.model, sentence, word)
    other = parse(source.model, over) if over is not None else None
    if head not in ("mean", "each"):
        analysis.pick_head(head, source.attention.layer.heads)
    tell_unknown([parsed, *([other] if other else [])], quiet)
    if all_steps:
        matrices = steps(source.attention, parsed, over=other, encoding=encoding)
        if form in (None, "table", "markdown") and (form or sys.stdout.isatty()):
            for matrix in matrices:
                answer(matrix.table(), form, precision, no_header, quiet)
                click.echo()
            return
        answer(tidy(matrices), form, precision, no_header, quiet)
        return
    explained = analysis.explain_targets(source.attention, parsed, over=other, encoding=encoding)
    if as_recipe:
        table = analysis.recipe(explained, head, 2 if precision is None else precision)
    elif checked:
        kept = list(explained)
        analysis.check(list(analysis.explain(iter(kept), "each").rows), kept)
        table = analysis.explain(iter(kept), head)
    else:
        table = analysis.explain(explained, head)
    answer(table, form, precision, no_header, quiet)
    if checked:
        number = len(parsed.occurrences)
        rows = "the rows add up" if number == 1 else f"the rows of all {number} targets add up"
        note(f"checked: {rows}", quiet)
    if source.attention.layer.heads > 1 and head == "mean" and not as_recipe:
        note(
            f"{source.attention.layer.heads} heads: score, scaled and weight are their means;"
            " --head each shows all",
            quiet,
        )
