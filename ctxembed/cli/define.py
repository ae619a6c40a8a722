"""ctxembed define"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import command, expand_stdin, open_model
from ctxembed.cli.pipes import answer_pipe, reads_pipe
from ctxembed.queries.define import define
from ctxembed.table import Table


@command("define", define)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.value(
    "--part",
    "Part of speech of the targets: noun, verb, adjective or adverb.",
    type=click.Choice(["n", "v", "a", "r"]),
)
@options.number("Number of senses; default all, or 1 where no target is marked.")
@options.value(
    "--dictionary dictionaries",
    "Your own senses instead of the bundled dictionary, english; may be repeated.",
    multiple=True,
    metavar="FILE|english",
)
@options.model
@options.batch()
def command_(sentence: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """Define a word in its sentence: rank its senses in a dictionary."""
    opened = open_model(model)
    if reads_pipe(sentence):
        return answer_pipe(lambda sentences: define(opened, sentences, **values))
    return define(opened, expand_stdin(sentence, numbered=True), **values)
