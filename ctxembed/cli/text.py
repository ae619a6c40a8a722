"""What the commands about text have in common: a file, the text itself, or stdin."""

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from ctxembed.cli.command import F, _stack

if TYPE_CHECKING:
    from ctxembed.text.corpus import Block


def text_options(function: F) -> F:
    """Add the options that say how text is read."""
    return _stack(
        function,
        click.option(
            "--tokenizer",
            type=click.Choice(["word", "whitespace"]),
            default="word",
            show_default=True,
            help="whitespace is for text that is tokenised already.",
        ),
        click.option("--cased", is_flag=True, help="Keep capitals; Apple and apple are two words."),
        click.option(
            "--encoding", default="utf-8", show_default=True, help="Encoding of the file."
        ),
        click.option(
            "--errors",
            type=click.Choice(["strict", "replace"]),
            default="strict",
            show_default=True,
            help="What to do with a byte that can't be decoded.",
        ),
    )


def read_blocks(source: str, encoding: str, errors: str, lines: bool) -> Iterator["Block"]:
    """Give a file's text, stdin's for `-`, or the argument itself where it names no file."""
    from ctxembed.errors import UsageError
    from ctxembed.text.corpus import Block, Corpus

    if not source.strip():
        raise UsageError("nothing to do: the text is empty")
    names_file = len(source.split()) == 1 and (os.sep in source or os.path.splitext(source)[1])
    if source == "-" or names_file or os.path.exists(source):
        corpus = Corpus([source], encoding=encoding, errors=errors, lines=lines)
        return (block for block, _ in corpus.blocks())
    return iter([Block(0, 1, source.encode("utf-8", "surrogatepass"), wrapped=not lines)])
