"""ctxembed senses"""

from collections.abc import Iterable
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.senses import senses
from ctxembed.queries.senses_by import senses_by
from ctxembed.queries.senses_labelled import senses_labelled
from ctxembed.table import Table

BY = ("k", "min_score", "attention", "most", "seed")  # options that --by takes
NOT_BY = ("source", "names", "define", "again", "top", "min_count", "all_k")


def _read_names(_: object, __: object, names: Iterable[str]) -> dict[int, str]:
    """Return names such as `--name 2=river` by number."""
    parsed: dict[int, str] = {}
    for text in names:
        number, equals, name = text.partition("=")
        if not equals or not number.strip().isdecimal():
            raise UsageError(f"--name {text!r}: write N=NAME, such as 2=river")
        parsed[int(number)] = " ".join(name.split())
    return parsed


@command("senses", senses, by=senses_by, labels=senses_labelled)
@options.argument("word", nargs=-1)
@options.senses("--k", "Number of senses.")
@options.real(
    "--min-score", "Let the score alone choose: the least one of a number of senses.", max=100
)
@options.attention()
@options.integer("--max most", "Use at most N random occurrences.", min=20, default=10_000)
@options.number("Number of nearest words and markers.", 6)
@options.seed()
@options.flag("--save", "Compute the senses again and save them, for kwic and compare.")
@options.word_list("--names names_in_order", "Names of the senses in order, such as money,river.")
@options.value(
    "--labels",
    "Compare the senses with labelled occurrences, a table as kwic prints it and a column label;"
    " with --save, train senses on them.",
    metavar="FILE",
)  # fmt: skip
@options.value(
    "--from source", "Take the senses that are saved in this model; with --save, save them.",
    metavar="MODEL",
)  # fmt: skip
@options.value(
    "--name names", "Name a sense in the model; may be repeated. N= takes its name away.",
    metavar="N=NAME", multiple=True, callback=_read_names,
)  # fmt: skip
@options.flag("--define", "Find the definition that fits each sense.")
@options.flag("--again", "Compute the senses again, even if they are saved.")
@options.integer("--top", "Instead of words: the N most ambiguous words.")
@options.integer("--min-count", "With --top: leave out words that occur fewer times.")
@options.flag("--all-k", "Print the score of each number of senses, up to 6.")
@options.value("--by", "The share of each sense by this column of the metadata.", metavar="COLUMN")
@options.real("--bin", "With --by: the size of a period, such as 10 years.", max=1e9)
@options.value(
    "--cluster", "With --by: resample and permute by this column, such as speaker.",
    metavar="COLUMN",
)  # fmt: skip
@options.where
@options.model
@options.batch()
def command_(
    word: tuple[str, ...], by: str | None, bin: float | None, cluster: str | None, save: bool,
    where: tuple[str, ...], labels: str | None, names_in_order: list[str], model: str | None,
    **values: Any,
) -> Table:  # fmt: skip
    """Find the senses of a word among its occurrences in the corpus; - reads words from stdin."""
    if names_in_order:
        if values["names"]:
            raise UsageError("give --name or --names, not both")
        values["names"] = dict(enumerate(names_in_order, 1))
    if labels is not None:
        if by or any(values[name] for name in (*NOT_BY, "source")):
            raise UsageError("--labels takes --save, --attention, --max and --seed only")
        opened = open_model(model, writes=save, where=where)
        kept = {name: values[name] for name in ("attention", "most", "seed")}
        return senses_labelled(opened, expand_stdin(word), labels, save=save, **kept)
    if by is not None:
        refused = [name for name in NOT_BY if values[name]] + ["save"] * save
        if refused:
            raise UsageError(f"--{refused[0].replace('_', '-')} cannot be used with --by")
        if not word:
            raise UsageError("--by needs a word")
        kept = {name: values[name] for name in BY if values[name] is not None}
        opened = open_model(model, where=where)
        table = senses_by(
            opened, expand_stdin(word), by, bin=bin, cluster=cluster, progress=bars(), **kept
        )
        return table
    if bin is not None or cluster is not None:
        raise UsageError("--bin and --cluster need --by COLUMN")
    opened = open_model(model, writes=save or bool(values["names"]), where=where)
    return senses(opened, expand_stdin(word), save=save, progress=bars(), **values)
