"""ctxembed collocates"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin, open_model
from ctxembed.errors import UsageError
from ctxembed.queries.collocates import collocates
from ctxembed.queries.collocates_by import collocates_by
from ctxembed.queries.nearest_by import nearest_by
from ctxembed.table import Table

OF_ONE = ("by_sense", "sort", "min_documents", "attention")  # options without --by
OF_TWO = ("by", "other", "cluster", "permutations")


@command("collocates", collocates, by=collocates_by, nearest=nearest_by)
@options.argument("words", nargs=-1, required=True, metavar="WORD...|-")
@options.flag("--by-sense", "List the collocates of each sense of the word.")
@options.by
@options.value(
    "--against other", "Compare with the collocates in another model.", metavar="DIR|NAME"
)
@options.cluster
@options.flag(
    "--nearest", "With --by or --against: the words nearest to the mean context of each group."
)
@options.integer("--window", "Number of words on each side.", max=1000, default=5)
@options.word_list("--position", "Only these places: L1 is right before the word, R1 after it.")
@options.number("Number of collocates of each word, sense or group.", default=20)
@options.choice(
    "--sort", ["log_likelihood", "log_ratio", "log_dice", "mi", "t_score", "count"],
    "Sort by this column.",
)  # fmt: skip
@options.integer("--min-count", "Leave out words that occur there fewer times.", default=3)
@options.integer("--min-documents", "Leave out words in fewer documents.", default=2)
@options.flag("--all function_words", "List function words too.")
@options.stopwords
@options.permutations
@options.where
@options.occurrences
@options.batch()
def command_(
    words: tuple[str, ...], where: tuple[str, ...], model: str | None, nearest: bool, **values: Any
) -> Table:
    """List the words that occur near a word more often than by chance."""
    opened, known = open_model(model, where=where), expand_stdin(words)
    if values["by"] is None and values["other"] is None:
        if nearest or values["cluster"]:
            raise UsageError("--nearest and --cluster need --by COLUMN=A,B or --against MODEL")
        own = {name: value for name, value in values.items() if name not in OF_TWO}
        return collocates(opened, known, progress=bars(), **own)
    if values["by_sense"]:
        raise UsageError("give --by-sense or --by, not both")
    both = {name: value for name, value in values.items() if name not in OF_ONE}
    if nearest:
        both = {name: both[name] for name in both if name not in ("window", "position")}
        return nearest_by(opened, known, progress=bars(), **both)
    return collocates_by(opened, known, progress=bars(), **both)
