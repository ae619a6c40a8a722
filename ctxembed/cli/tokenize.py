"""ctxembed tokenize"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.queries.tokenize import tokenize
from ctxembed.table import Table


@command("tokenize", tokenize)
@options.argument("text", metavar="FILE|TEXT|-")
@options.choice(
    "--unit", ["sentence", "word", "subword", "character"], "What a token is.", default="word"
)
@options.integer("--pieces", "Number of subwords to learn.", min=10, max=10**6, default=1000)
@options.choice(
    "--per", ["token", "sentence"], "Print one row for each token, or for each sentence."
)
@options.value("-m --model", "Tokenize as this model does.", metavar="DIR")
@options.lines
@options.language
@options.text
def command_(text: str, model: str | None, **values: Any) -> Table:
    """Split a text into sentences, words, subwords or characters."""
    return tokenize(text, model=None if model is None else open_model(model), **values)
