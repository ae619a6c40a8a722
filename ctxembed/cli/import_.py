"""ctxembed import"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command
from ctxembed.table import Table
from ctxembed.training.import_ import import_


@command("import", import_)
@options.argument("file")
@options.output
@options.force
@options.integer("--limit", "Read only the first N words.")
@options.value("--vocab vocabulary", "The words of a .npy file, one per line.", metavar="FILE")
@options.value("--encoding", "Encoding of the words.", default="utf-8")
@options.errors
def command_(file: str, output: str, **values: Any) -> Table:
    """Import vectors from word2vec, GloVe, fastText, gensim or numpy."""
    return import_(file, output, progress=bars(), **values)
