"""ctxembed export"""

import io
import sys
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_model
from ctxembed.output.safe import safe
from ctxembed.progress import SILENT
from ctxembed.static.vector_files import write_vectors
from ctxembed.table import Table
from ctxembed.training.export import export, take_most_frequent


class Screen(io.BytesIO):
    """A terminal: it gets text that is safe to show, where a pipe gets the bytes."""

    def write(self, data: Any) -> int:
        """Show the words of a vector file."""
        sys.stdout.write(safe(bytes(data).decode("utf-8", "replace")))
        return len(data)


@command("export", export)
@options.argument("file")
@options.number("Only the N most frequent words; default all, or 10,000 for the projector.")
@options.flag("--force", "Replace a FILE.vocab.txt that has no FILE.npy beside it.")
@options.model
def command_(file: str, number: int | None, force: bool, model: str | None) -> Table | None:
    """Export static vectors for word2vec, gensim, fastText or numpy."""
    opened = open_model(model)
    if file == "-":
        stream = Screen() if sys.stdout.isatty() else sys.stdout.buffer
        words, vectors, _ = take_most_frequent(opened, number)
        write_vectors(stream, words, vectors, SILENT, binary=False)
        sys.stdout.buffer.flush()
        return None
    return export(opened, file, number=number, force=force, progress=bars())
