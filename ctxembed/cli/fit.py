"""ctxembed fit"""

import click

from ctxembed.cli.command import (
    answer,
    command,
    model_option,
    open_model,
    output_options,
    progress,
    seed_option,
)


@command(
    "fit",
    columns={
        "property, value": "with --report summary: what was fitted, and how well it does",
        "epoch": "with --report epochs: number of the pass over the sentences",
        "loss": "mean loss of the pass",
        "held_out_loss": "cross-entropy on the held-out part",
        "held_out_accuracy": "share of the held-out part that is labelled right",
        "kept": "yes for the epoch that fitting went back to",
        "label": "with --report confusion: the right label, and a column for each label given",
    },
    examples=[
        (
            "Idioms, figurative or literal",
            "ctxembed fit idioms.tsv --name idioms",
        ),
        (
            "Does it carry over to idioms it never saw?",
            "ctxembed fit idioms.tsv --name unseen --split expression",
        ),
    ],
    see_also=["predict", "compare", "explain", "learn"],
    details="""A task file has a label and a sentence a line, a tab between them, the target word or
words in brackets: figurative<tab>It was a [piece of cake]. With a first line of column names there
may be more: expression (what the target is a form of), half (sentences marked test are never fitted
to, and the accuracy is theirs), gloss (what the label means for this expression; predict prints
it).

Fitting starts from the model's learned attention, or near general attention where there is none,
and adds three plain heads: the whole sentence, the word to the left, the word to the right. W_Q,
W_K, W_V, W_O and the biases are pulled back to where they started; context words are hidden at
random. A fifth is held out: fitting stops when it no longer gains, and is then repeated on all
sentences for as many epochs. Static vectors stay as they are.

Accuracy before is that of the nearest mean of the same expression's vectors, under the attention
that fitting starts from. Of more than 50,000 sentences a random sample is used.""",
)
@click.argument("task")
@click.option("--name", default="task", show_default=True, help="Name of the attention.")
@click.option(
    "--split",
    type=click.Choice(["sentence", "expression"]),
    default="sentence",
    show_default=True,
    help="Hold out sentences, or expressions with all their sentences.",
)
@click.option(
    "--report",
    type=click.Choice(["summary", "epochs", "confusion"]),
    default="summary",
    show_default=True,
    help="What to print.",
)
@click.option("--epochs", type=click.IntRange(1, 1000), metavar="N", help="Passes at most; 30.")
@seed_option
@model_option
@output_options
def command_(
    task: str,
    name: str,
    split: str,
    report: str,
    epochs: int | None,
    seed: int,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Fit attention to a labelled task, and save it under a name; - reads the task from stdin."""
    from ctxembed.make.fit import fit_task
    from ctxembed.store import places

    model = open_model(model_dir, quiet, writes=True)
    table = fit_task(
        model,
        task if task == "-" else str(places.example(task)),
        name,
        by=split,
        report=report,
        seed=seed,
        epochs=epochs,
        progress=progress(quiet),
    )
    left_out = any("left out" in line for line in table.notes)
    answer(table, form, precision, no_header, quiet, incomplete=left_out)
