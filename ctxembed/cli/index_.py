"""ctxembed index"""

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_corpus, open_model
from ctxembed.table import Table
from ctxembed.training.index_ import index


@command("index", index)
@options.argument("corpus", nargs=-1, required=True)
@options.output
@options.force
@options.document
@options.metadata
@options.lines
@options.reading
@options.model
def command_(
    corpus: tuple[str, ...], output: str, force: bool, document: str, meta: str | None,
    text_column: str | None, document_tag: str | None, lines: bool,
    encoding: str, errors: str, model: str | None,
) -> Table:  # fmt: skip
    """Add a corpus to the vectors of a model; the result is a new model."""
    texts = open_corpus(
        corpus,
        encoding,
        errors,
        lines,
        document,
        meta=meta,
        text_column=text_column,
        document_tag=document_tag,
    )
    return index(open_model(model), texts, output, force=force, progress=bars())
