"""ctxembed kwic"""

from collections.abc import Iterable
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.kwic import kwic
from ctxembed.table import Table


def _read_where(_: object, __: object, conditions: Iterable[str]) -> dict[str, str]:
    """Return conditions such as `--where sense=2` as values by column."""
    parsed: dict[str, str] = {}
    for text in conditions:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise UsageError(f"--where {text!r}: write sense=N, file=NAME, left=WORD or right=WORD")
        parsed[name.strip()] = value.strip()
    return parsed


@command("kwic", kwic)
@options.argument("words", nargs=-1, required=True, metavar="WORD...|-")
@options.axis
@options.value(
    "--where", "Print only rows with this sense, file, or word to the left or right.",
    metavar="COLUMN=VALUE", multiple=True, callback=_read_where,
)  # fmt: skip
@options.choice("--sort", ["position", "sense", "margin", "left", "right"], "Order of the rows.")
@options.integer("--width", "Number of characters on each side.", min=0, max=10_000, default=60)
@options.number("Print at most N rows of each word.")
@options.integer("--max most", "Use at most N occurrences, drawn at random.")
@options.occurrences
@options.batch()
def command_(words: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """List the occurrences of words in the corpus, with their senses."""
    return kwic(open_model(model), expand_stdin(words), progress=bars(), **values)
