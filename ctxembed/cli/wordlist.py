"""ctxembed wordlist"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.queries.wordlist import MAX_LENGTH, wordlist
from ctxembed.table import Table


@command("wordlist", wordlist)
@options.number("Number of words.", default=50)
@options.integer("--length", "Number of words in a row.", max=MAX_LENGTH, default=1)
@options.value("--layer", "Lemmas (lemma) or parts of speech (pos) in place of words.",
               metavar="NAME")  # fmt: skip
@options.integer("--min-count", "Leave out what occurs fewer times.", default=1)
@options.flag("--content", "Leave out function words.")
@options.where
@options.model
def command_(model: str | None, where: tuple[str, ...], **values: Any) -> Table:
    """List the most frequent words of the corpus, or sequences of words."""
    return wordlist(open_model(model, where=where), **values)
