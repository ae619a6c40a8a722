"""ctxembed ambiguity"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# Which words need their context most?
ctxembed ambiguity -n 20 -m everyday
# Two words
ctxembed ambiguity apple bank -m everyday
# How much of my text needs context?
ctxembed ambiguity --summary -m everyday""",
    picture="a dot for each word, with its interval",
    see_also=["senses", "kwic", "compare"],
    details="""Up to 300 occurrences of each word, drawn at random, are made contextual and put
into senses as `senses` does it (its page has the criterion); where the model has kept the senses of
a word, their number is told. A word needs its context if it has more than one sense, and is too
rare below 20 occurrences. A word gets the same answer by name and in the list.

Content words come first, of these the words of several senses, those whose senses lie farthest
apart first; function words stand behind them. Words are read a batch at a time: memory does not
grow with the corpus.

--summary weighs words by how often they occur: the share of the running text judged that needs
context, of all words and of content words alone.

On a terminal, and in latex, static_variance is left out; other formats have it.""",
)
@options.argument("word", nargs=-1)
@options.number("Only the first so many rows.")
@options.integer("--min-count", "Without words: those that occur so often.", default=100)
@options.flag("--summary", "The share of the text that needs context.")
@options.occurrences
def command_(word: tuple[str, ...], **asked: object) -> Table:
    """Tell which words need their context and for which the static vector does; - reads stdin.

    Without words, all that occur often enough, those that need it most first. WORD may be words in
    a row in quotes, "New York".
    """
    return ask(expand_stdin(word), **asked)
