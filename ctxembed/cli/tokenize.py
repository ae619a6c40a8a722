"""ctxembed tokenize"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.table import Table


@command(
    examples="""# Words
ctxembed tokenize "Don't panic: it is state-of-the-art."
# Sentences of a file
ctxembed tokenize corpus.txt --unit sentence
# Subwords, 50 of them learned from the file
ctxembed tokenize corpus.txt --unit subword --pieces 50 | head -n 5
# One sentence a line
ctxembed tokenize - --per sentence --no-header < corpus.txt | cut -f2
# With offsets, for another program
ctxembed tokenize corpus.txt -f jsonl | head -n 3""",
    see_also=["train", "vectorize"],
    details="""A sentence is found as train finds it. A word is a run of letters, digits and marks
of any script; an apostrophe or a hyphen inside belongs to it, and a point or comma between digits:
$3.50 has the word 3.50. A character is anything but a space,
with its combining marks. A subword is a piece of a word by byte-pair encoding: the pieces that
occur together most often are merged until there are as many as asked for.

start and end count characters, not bytes; a byte order mark is not counted, and a line break of
Windows counts as one. text[start:end] is the token as it was written, before capitals became small.

A subword model brings its own pieces: -m MODEL tokenises exactly as the model was trained.""",
)
@options.argument("text", metavar="FILE|TEXT|-")
@options.choice(
    "--unit", ["sentence", "word", "subword", "character"], "What a token is.", default="word"
)
@options.integer(
    "--pieces", "How many subwords to learn from the text.", least=10, most=1_000_000, default=1000
)
@options.choice("--per", ["token", "sentence"], "What gets a line.")
@options.value("-m --model", "Tokenise as this model does.", metavar="DIR")
@options.lines
@options.language
@options.text
def command_(model: str | None, **asked: Any) -> Table:
    """Split a text into sentences, words, subwords or characters."""
    from ctxembed.queries.tokenize import tokenize

    return tokenize(**asked, model=None if model is None else open_model(model))
