"""ctxembed export"""

import io
import sys
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_model
from ctxembed.output.safe import safe
from ctxembed.table import Table


class Screen(io.BytesIO):
    """A terminal: it gets text that is safe to show, where a pipe gets the bytes."""

    def write(self, data: Any) -> int:
        """Show the words of a vector file."""
        sys.stdout.write(safe(bytes(data).decode("utf-8", "replace")))
        return len(data)


@command(
    examples="""# word2vec's text format, which most programs read
ctxembed export vectors.txt
# Its binary format
ctxembed export vectors.bin
# A numpy array, and its words in array.vocab.txt
ctxembed export array.npy
# Into a pipe
ctxembed export - | head -2""",
    see_also=["import", "vector"],
    details="""The end of the name says the format: .txt or .vec is word2vec's text (the number of
words and dimensions on the first line), .bin its binary, .npy a numpy array of float32 with the
words beside it in .vocab.txt, one a line, .kv gensim's KeyedVectors. A dash prints
word2vec's text.

Text has the shortest digits that give back the same float32: what import reads again is the same
to the bit.

A file is written beside its place and moved there when it is whole.""",
)
@options.argument("file")
@options.flag("--force", "Replace a file that is there.")
@options.model
def command_(file: str, force: bool, model: str | None) -> Table | None:
    """Write the static vectors to a file that word2vec, gensim, fastText or numpy can read."""
    from ctxembed.training.export import export, export_stream

    opened = open_model(model)
    if file == "-":
        export_stream(opened, Screen() if sys.stdout.isatty() else sys.stdout.buffer)
        sys.stdout.buffer.flush()
        return None
    return export(opened, file, force=force, progress=bars())
