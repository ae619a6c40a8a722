"""ctxembed senses"""

from collections.abc import Iterable
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.senses import senses
from ctxembed.table import Table


def _read_names(_: object, __: object, names: Iterable[str]) -> dict[int, str]:
    """Return names such as `--name 2=river` by number."""
    parsed: dict[int, str] = {}
    for text in names:
        number, equals, name = text.partition("=")
        if not equals or not number.strip().isdecimal():
            raise UsageError(f"--name {text!r}: write N=NAME, such as 2=river")
        parsed[int(number)] = " ".join(name.split())
    return parsed


@command("senses", senses)
@options.argument("word", nargs=-1)
@options.senses("--k", "Number of senses.")
@options.real("--min-score", "Minimum score of a number of senses; default 1.", max=100)
@options.attention()
@options.integer("--max most", "Use at most N random occurrences.", min=20, default=10_000)
@options.number("Number of nearest words and markers.", 6)
@options.seed()
@options.flag("--save", "Compute the senses again and save them, for kwic and compare.")
@options.value(
    "--name names", "Name a sense in the model; may be repeated. N= takes its name away.",
    metavar="N=NAME", multiple=True, callback=_read_names,
)  # fmt: skip
@options.flag("--define", "Find the definition that fits each sense.")
@options.flag("--again", "Compute the senses again, even if they are saved.")
@options.integer("--top", "Instead of words: the N most ambiguous words.")
@options.integer("--min-count", "With --top: leave out words that occur fewer times.")
@options.flag("--all-k", "Print the score of each number of senses, up to 6.")
@options.model
@options.batch()
def command_(word: tuple[str, ...], save: bool, model: str | None, **values: Any) -> Table:
    """Find the senses of a word among its occurrences in the corpus; - reads words from stdin."""
    opened = open_model(model, writes=save or bool(values["names"]))
    return senses(opened, expand_stdin(word), save=save, progress=bars(), **values)
