"""ctxembed learn"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_corpus, open_model
from ctxembed.table import Table
from ctxembed.training.learn import learn_attention


@command("learn", learn_attention)
@options.choice("--layer", ["attention", "recurrent"], "Kind of layer: attention, or a GRU.")
@options.value("--name", "Name under which the layer is saved; default learned, or recurrent.")
@options.integer("--heads", "Number of heads.", max=64, default=4)
@options.choice("--positions", ["learned", "decay"], "Bias by distance: learned, or fixed.")
@options.real(
    "--epochs", "Maximum number of epochs; default 0.2 to 4, by the size of the corpus.", max=1000
)
@options.real("--minutes", "Maximum time in minutes.", max=1440)
@options.seed()
@options.value(
    "--corpus", "Learn from this text, not from the model's corpus.", metavar="FILE", multiple=True
)
@options.reading
@options.model
def command_(
    name: str | None,
    model: str | None,
    corpus: tuple[str, ...],
    encoding: str,
    errors: str,
    **values: Any,
) -> Table:
    """Learn attention for a model from its corpus, without labels."""
    opened = open_model(model, writes=True)
    text = open_corpus(corpus, encoding, errors, lines=False) if corpus else ()
    return learn_attention(opened, name, corpus=text, progress=bars(), **values)
