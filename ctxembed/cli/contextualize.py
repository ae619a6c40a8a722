"""ctxembed contextualize"""

from pathlib import Path

from ctxembed.cli import options
from ctxembed.cli.answer import ARRAYS, printing
from ctxembed.cli.command import Lines, ask, command
from ctxembed.errors import UsageError
from ctxembed.table import Table


@command(
    examples="""# Vectors of the marked words
ctxembed contextualize sentences.txt -f jsonl
# Every word of every line, as numpy arrays
ctxembed contextualize sentences.txt --all -o vectors.npz
# From a pipe
echo 'the [bank] of the river' | ctxembed contextualize -
# Files on a cluster's storage, by Spark
ctxembed contextualize --on spark shards/ vectors.parquet""",
    see_also=["compare", "vector"],
    details="""With -o FILE.npz the file holds vectors (n, d), sentence, target and position; a .npy
file holds the vectors alone; a .parquet file has them as rows (pip install 'ctxembed[spark]'). All
are written as they come and appear whole at the end.

With --on spark IN... OUT.parquet Spark reads files, one sentence a line, and writes a folder of
Parquet: file, sentence, target, position, vector, error. The model is sent to each executor once.
What is written stays: run it again after a failure and only the files that are missing are done. A
line or a file that cannot be used is a row with its error.

--encoder gives a transformer's vectors of the same targets; it reads the words that the model
knows, so that both see the same sentence.""",
)
@options.argument("files", nargs=-1, required=True, metavar="FILE")
@options.flag("--all every_word", "Every known word is a target.")
@options.attention("static, bag, general, learned or a name; learned where the model has it.")
@options.general
@options.value(
    "--encoder", "A local Hugging Face model instead; needs ctxembed[transformers].", metavar="DIR"
)
@options.value("-o --output file_", "Write a .npz, .npy or .parquet file.", metavar="FILE")
@options.on_spark
@options.source
def command_(files: tuple[str, ...], on: str | None, **asked: object) -> Table:
    """Print contextual vectors for many sentences, one a line, their targets marked with [ ]."""
    output = printing().file_
    if on:
        from ctxembed.training.contextualize_on_spark import contextualize_on_spark

        if output is not None or len(files) < 2 or "-" in files:
            raise UsageError("--on spark reads files and writes a folder: give IN... OUT.parquet")
        if asked.pop("encoder"):
            raise UsageError("--encoder does not go with --on spark")
        *read, written = files
        return ask(read, written, question=contextualize_on_spark, **asked)
    if len(files) > 1:
        raise UsageError("give one file, or - for stdin; several go with --on spark")
    if output is not None and Path(output).suffix not in ARRAYS:
        raise UsageError(f"-o {output}: the name must end in .npz, .npy or .parquet")
    return ask(Lines(files[0]), **asked)
