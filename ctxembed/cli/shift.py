"""ctxembed shift"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, expand_stdin
from ctxembed.errors import UsageError
from ctxembed.queries.shift import shift
from ctxembed.table import Table


@command("shift", shift)
@options.argument("model_a", metavar="A")
@options.argument("model_b", metavar="B", required=False)
@options.argument("word", nargs=-1)
@options.by
@options.cluster
@options.flag("--joint", "A and B are texts or folders: train one space for both, then compare.")
@options.value("--save", "With --joint: keep the model in this new directory.", metavar="DIR")
@options.force
@options.choice(
    "--sort", ["excess", "effect", "static"],
    "Rank by excess over words of the same frequency, by effect, or by static vectors alone.",
)  # fmt: skip
@options.flag("--by-sense", "List the senses of each word: shares, markers, two examples a side.")
@options.number("Number of words to print, without WORD.", 20)
@options.flag("--function-words", "Test function words such as of and they, and numbers, too.")
@options.integer(
    "--min-count", "Leave out words that occur fewer times; default 5, or 20 without WORD."
)
@options.senses("-k --senses", "Number of senses of a word.")
@options.integer("--max most", "Use at most N occurrences per corpus.", min=10, default=1000)
@options.stopwords
@options.permutations
@options.seed()
@options.document
@options.batch()
def command_(
    model_a: str, model_b: str | None, word: tuple[str, ...], joint: bool, save: str | None,
    force: bool, document: str, **values: Any,
) -> Table:  # fmt: skip
    """Measure how the use of words differs between two corpora; - reads words from stdin."""
    by = values["by"]
    if by is not None and model_b is not None:  # one model, and B is the first word
        word, model_b = (model_b, *word), None
    words = expand_stdin(word)
    if not joint:
        if save or document != "auto":
            raise UsageError("--save and --document need --joint")
        return shift(model_a, model_b, words, progress=bars(), **values)
    if model_b is None or by or values["cluster"]:
        raise UsageError("--joint takes two texts or folders, without --by and --cluster")
    from ctxembed.training.joint import train_joint

    seed = values["seed"]
    with train_joint(
        model_a, model_b, save=save, force=force, document=document, seed=seed, progress=bars()
    ) as sides:
        table = shift(sides[0].model, None, words, sides=sides, progress=bars(), **values)
    words_read = sum(side.model.tokens for side in sides)
    table.notes.insert(0, f"one space for both corpora, {words_read} words")
    return table
