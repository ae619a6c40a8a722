"""ctxembed vectorize"""

from pathlib import Path
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.errors import UsageError
from ctxembed.model.bundled import find_example
from ctxembed.queries.vectorize import COUNTED, count_words, each_sentence, vectorize
from ctxembed.table import Table
from ctxembed.text.tokenizer import Tokenizer

METHODS = (*COUNTED, "static", "bag", "general", "learned")


@command("vectorize", vectorize)
@options.argument("text", metavar="FILE|-")
@options.choice("--method", METHODS, "How to turn a sentence into a vector.", default="bow")
@options.word_list("--columns", "The words to count, in this order.")
@options.flag("--sparse", "Print one row for each number that is not zero.")
@options.value("-o --output", "Write a file of numpy arrays.", metavar="FILE.npz")
@options.text
@options.source
def command_(
    text: str, method: str, output: str | None, tokenizer: str, cased: bool, vectors: str | None,
    model: str | None, **values: Any,
) -> Table:  # fmt: skip
    """Turn sentences into word counts, TF-IDF or mean vectors; each line is a sentence."""
    if output is not None and Path(output).suffix != ".npz":
        raise UsageError(f"-o {output}: the name must end in .npz")
    if method not in COUNTED and (values["columns"] or values["sparse"]):
        raise UsageError(f"--columns and --sparse are for {', '.join(COUNTED)}")
    text = text if text == "-" else str(find_example(text))
    words = Tokenizer(tokenizer, cased)
    opened = None if method in COUNTED else open_model(model, vectors)
    if output is not None and opened is None:
        from ctxembed.output.arrays import write_sparse

        sentences = each_sentence(text, values["encoding"], values["errors"])
        counts = count_words(sentences, method, words, values["columns"])
        write_sparse(Path(output), counts.matrix, counts.rows, counts.columns)
        rows, dim = counts.matrix.shape
    else:
        table = vectorize(text, method, model=opened, tokenizer=words, **values)
        if output is None:
            return table
        from ctxembed.output.arrays import write_table

        rows, dim = write_table(Path(output), table)
    return Table((), (), [f"{rows} rows of {dim} numbers written to {output}"])
