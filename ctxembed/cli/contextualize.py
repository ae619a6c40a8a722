"""ctxembed contextualize"""

from pathlib import Path
from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.answer import printing
from ctxembed.cli.command import Lines, ask, command
from ctxembed.errors import UsageError
from ctxembed.table import Table


@command(
    "contextualize",
    examples="""# Vectors of the marked words
ctxembed contextualize sentences.txt -f jsonl
# Every word of every line, as numpy arrays
ctxembed contextualize sentences.txt --all -o vectors.npz
# From a pipe
echo 'the [bank] of the river' | ctxembed contextualize -""",
    see_also=["compare", "vector"],
    details="""With -o FILE.npz the file holds vectors (n, d), sentence, target and position; a .npy
file holds the vectors alone. Both are written as they come and appear whole at the end.

--encoder gives a transformer's vectors of the same targets; it reads the words that the model
knows, so that both see the same sentence.""",
)
@click.argument("file")
@click.option("--all", "every_word", is_flag=True, help="Every known word is a target.")
@options.attention("static, bag, general, learned or a name; learned where the model has it.")
@options.general
@click.option(
    "--encoder",
    metavar="DIR",
    help="A local Hugging Face model instead; needs ctxembed[transformers].",
)
@click.option("-o", "--output", "file_", metavar="FILE", help="Write a .npz or .npy file.")
@options.source
def command_(file: str, **asked: Any) -> Table:
    """Print contextual vectors for many sentences, one a line, their targets marked with [ ]."""
    output = printing().file_
    if output is not None and Path(output).suffix not in (".npz", ".npy"):
        raise UsageError(f"-o {output}: the name must end in .npz or .npy")
    return ask(Lines(file), **asked)
