"""ctxembed contextualize"""

from pathlib import Path
from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import Lines, bars, batch_decoding, command, open_model
from ctxembed.cli.printing import ARRAYS, printing
from ctxembed.errors import UsageError
from ctxembed.queries.contextualize import contextualize
from ctxembed.table import Table


@command("contextualize", contextualize)
@options.argument("files", nargs=-1, required=True, metavar="FILE")
@options.flag("--all every_word", "Make every known word a target.")
@options.attention("static, bag, general, learned or a name; default learned if the model has it.")
@options.general
@options.value(
    "--encoder", "Use a local Hugging Face model; needs ctxembed[transformers].", metavar="DIR"
)
@options.value("-o --output file_", "Write a .npz, .npy or .parquet file.", metavar="FILE")
@options.on_spark
@options.source
@options.batch()
def command_(
    files: tuple[str, ...], encoder: str | None, on: str | None, vectors: str | None,
    model: str | None, **values: Any,
) -> Table:  # fmt: skip
    """Print the contextual vectors of marked words in many sentences, one sentence per line."""
    output = printing().file_
    if on:
        from ctxembed.training.contextualize_on_spark import contextualize_on_spark

        if output is not None or len(files) < 2 or "-" in files:
            raise UsageError("--on spark reads files and writes a folder: give IN... OUT.parquet")
        if encoder:
            raise UsageError("--encoder cannot be used with --on spark")
        opened = open_model(model, vectors)
        values |= batch_decoding()
        return contextualize_on_spark(opened, files[:-1], files[-1], progress=bars(), **values)
    if len(files) > 1:
        raise UsageError("give one file, or - for stdin; several need --on spark")
    if output is not None and Path(output).suffix not in ARRAYS:
        raise UsageError(f"-o {output}: the name must end in .npz, .npy or .parquet")
    return contextualize(
        open_model(model, vectors), Lines(files[0], pauses=True), encoder=encoder, **values
    )
