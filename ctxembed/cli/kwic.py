"""ctxembed kwic"""

from collections.abc import Iterable

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.errors import UsageError
from ctxembed.table import Table


def _read_where(_: object, __: object, conditions: Iterable[str]) -> dict[str, str]:
    """Read --where sense=2."""
    read: dict[str, str] = {}
    for text in conditions:
        name, equals, value = text.partition("=")
        if not equals or not value:
            raise UsageError(f"--where {text!r}: write sense=N, file=NAME, left=WORD or right=WORD")
        read[name.strip()] = value.strip()
    return read


@command(
    examples="""# Every bank in the corpus
ctxembed kwic bank -m everyday
# Words in a row, and * for any letters
ctxembed kwic "bank* of" --sort right -n 20 -m everyday
# The least clear cases first
ctxembed kwic bank --sort margin -m everyday | head
# One sense only, with its place on an axis
ctxembed kwic apple --where sense=1 --axis taste=fruit,sweet,juice -m everyday""",
    picture="a map of the occurrences in two dimensions, coloured by sense",
    see_also=["collocates", "senses", "show", "contextualize"],
    details="""The text is quoted as it was written, --width characters to either side, across
sentences but not into another document. The model has its own copy: where a file has moved or
changed since (its checksum tells), kwic says so and shows what was read. A model without the copy
shows the bare words of the sentence.

Words in a row stand in one sentence; punctuation may stand between them. A rare word has no vector
and is found all the same.

Senses are those that `ctxembed senses WORD --save` has kept in the model; they are
looked for at once where --where sense=N, --sort sense or --sort margin needs them. --where
file=NAME takes * for any letters; left=WORD and right=WORD ask for a word within what is shown.

Rows come in the order of the text, as they are read; any other order waits for the last one. `left`
and `right` sort by the nearest word first, `sense` by the clearest occurrence first, `margin` by
the least clear.""",
)
@options.argument("words", nargs=-1, required=True, metavar="WORD...|-")
@options.axis
@options.value(
    "--where",
    "Only rows with this sense, file, or word to the left or right.",
    metavar="COLUMN=VALUE",
    multiple=True,
    callback=_read_where,
)
@options.choice(
    "--sort", ["position", "sense", "margin", "left", "right"], "The order of the rows."
)
@options.integer("--width", "Characters to either side.", least=0, most=10_000, default=60)
@options.number("Only so many of the rows of each word.")
@options.integer("--max most", "So many occurrences, drawn at random.")
@options.occurrences
def command_(words: tuple[str, ...], **asked: object) -> Table:
    """List the occurrences of words in the corpus, as they were written, with their senses.

    WORD is a word, words in a row in quotes, or a pattern: bank, "New York", "bank* of".
    """
    return ask(expand_stdin(words), **asked)
