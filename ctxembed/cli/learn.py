"""ctxembed learn"""

from collections.abc import Iterable
from typing import Any

import click
from click.core import ParameterSource

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_corpus, open_model
from ctxembed.cli.printing import note, printing, write_file
from ctxembed.errors import UsageError
from ctxembed.table import Table
from ctxembed.training.learn import learn_attention
from ctxembed.training.watch import read_steps, watch, with_matrices

WATCHED = ("vectors", "show", "sentence", "rate", "save")  # options that go with --watch
OF_BOTH = ("watch", "epochs", "seed")
SHOWN = "0,1,last"


@command("learn", learn_attention, watch=watch)
@options.choice(
    "--layer", ["attention", "recurrent", "encoder"],
    "Kind of layer: attention, a GRU, or a Transformer encoder.",
)  # fmt: skip
@options.value(
    "--name", "Name under which the layer is saved; default learned, recurrent or encoder."
)
@options.real(
    "--epochs",
    "Maximum number of epochs; default 0.2 to 4, by the size of the corpus; 400 with --watch.",
    max=1000,
)
@options.flag("--quick", "End where held-out pseudowords gain little more: half the time.")
@options.real("--minutes", "Maximum time in minutes.", max=1440)
@options.integer("--layers", "Number of layers of an encoder, 1 to 4; default 2.", max=4)
@options.integer("--heads", "Number of heads; default 4, of an encoder 8.", max=64)
@options.choice("--positions", ["learned", "decay"], "Bias by distance: learned, or fixed.")
@options.flag("--far", "Learn to use words far from the target, behind others that say little.")
@options.seed()
@options.flag("--again", "Start from the beginning, though an interrupted run could go on.")
@options.value(
    "--corpus", "Learn from this text, not from the model's corpus.", metavar="FILE", multiple=True
)
@options.flag("--watch", "Train a worked example and print every number; needs no model.")
@options.value(
    "--vectors", "With --watch: a JSON file of vectors and sentences; default apple.",
    metavar="FILE",
)  # fmt: skip
@options.value(
    "--show", f"With --watch: print every step of these epochs; default {SHOWN} in a table.",
    metavar="N,...,last",
)  # fmt: skip
@options.integer("--sentence", "With --watch: number of the sentence whose steps are printed.")
@options.real("--rate", "With --watch: learning rate; default 1.", max=1000, metavar="R")
@options.value(
    "--save", "With --watch: write the vectors and trained matrices, for --vectors.",
    metavar="FILE.json",
)  # fmt: skip
@options.reading
@options.model
def command_(
    name: str | None,
    model: str | None,
    corpus: tuple[str, ...],
    encoding: str,
    errors: str,
    **values: Any,
) -> Table | Iterable[Table]:
    """Learn attention for a model from its corpus, without labels."""
    watched = {key: values.pop(key) for key in WATCHED}
    if values.pop("watch"):
        _refuse_others()
        return _watch(**watched, epochs=values["epochs"], seed=values["seed"])
    if alone := [key for key in WATCHED if watched[key] is not None]:
        raise UsageError(f"--{alone[0]} goes with --watch")
    opened = open_model(model, writes=True)
    text = open_corpus(corpus, encoding, errors, lines=False) if corpus else ()
    return learn_attention(opened, name, corpus=text, progress=bars(), **values)


def _refuse_others() -> None:
    """Refuse options of learning on a corpus."""
    context = click.get_current_context()
    for key in context.params:
        chosen = context.get_parameter_source(key) is ParameterSource.COMMANDLINE
        if chosen and key not in (*WATCHED, *OF_BOTH):
            raise UsageError(f"--{key} cannot be used with --watch")


def _watch(
    vectors: str | None, show: str | None, sentence: int | None, rate: float | None,
    save: str | None, epochs: float | None, seed: int,
) -> Table | Iterable[Table]:  # fmt: skip
    """Return the table by epoch; the steps of chosen epochs as well, in a table or if --show."""
    if epochs is not None and not epochs.is_integer():
        raise UsageError(f"--epochs {epochs:g}: a whole number with --watch")
    given = {"epochs": None if epochs is None else int(epochs), "sentence": sentence, "rate": rate}
    chosen: dict[str, Any] = {key: value for key, value in given.items() if value is not None}
    table = watch("apple" if vectors is None else vectors, seed=seed, **chosen)
    steps = read_steps(SHOWN if show is None else show, len(table.epochs) - 1)
    if save is not None:
        from ctxembed.static.worked_example import write_example

        write_file(save, [write_example(with_matrices(table))], "--save")
        note(f"the trained matrices are in {save}; ask: ctxembed explain --vectors {save}")
    if printing().chosen in ("table", "markdown"):
        digits = 4 if printing().precision is None else printing().precision
        return table.pages(steps, digits or 0)
    return table.numbers(steps) if show is not None and not printing().draws else table
