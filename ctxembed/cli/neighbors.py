"""ctxembed neighbors"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# The ten nearest words
ctxembed neighbors apple
# Only the words
ctxembed neighbors apple -n 3 --no-header | cut -f2""",
    picture="a bar for each word found",
    see_also=["similarity", "show"],
    details="""A vector that was learned from few occurrences is near to some words by chance, and
most words are rare. So neighbours are ranked by their cosine times 1 - exp(-n / k): n is how often
the neighbour occurs, k a fiftieth of the square root of the corpus's words (20 for a million). The
cosine that is printed is the cosine. With --raw nothing but the cosine counts. An imported model
does not know how often its words occur, and is ranked so too.""",
)
@options.argument("word", nargs=-1, required=True)
@options.number("How many for each word.", 10)
@options.ranking
@options.model
def command_(word: tuple[str, ...], **asked: object) -> Table:
    """Find the words whose static vectors lie nearest by cosine; - reads words from stdin."""
    return ask(expand_stdin(word), **asked)
