"""ctxembed contextualize"""

from collections.abc import Iterator
from typing import TypeVar

import click

from ctxembed.cli.command import (
    answer,
    command,
    note,
    open_readings,
    output_options,
)
from ctxembed.cli.sentence import general_option, open_context, source_options

T = TypeVar("T")


@command(
    "contextualize",
    columns={
        "sentence": "number of the line, from 1",
        "target": "the word; apple:2 is the second apple of the sentence",
        "position": "its place, from 1; unknown words are not counted",
        "d1, d2, ...": "its vector, in tsv, csv and tables",
        "vector": "its vector as a list, in json and jsonl",
    },
    examples=[
        ("Vectors of the marked words", "ctxembed contextualize sentences.txt -f jsonl"),
        (
            "Every word of every line, as numpy arrays",
            "ctxembed contextualize sentences.txt --all -o vectors.npz",
        ),
        ("From a pipe", "echo 'the [bank] of the river' | ctxembed contextualize -"),
    ],
    see_also=["compare", "vector"],
    details="""With -o FILE.npz the file holds vectors (n, d), sentence, target and position; a .npy
file holds the vectors alone. Both are written as they come and appear whole at the end.

--encoder gives a transformer's vectors of the same targets; it reads the words that the model
knows, so that both see the same sentence.""",
)
@click.argument("file")
@click.option("--all", "every_word", is_flag=True, help="Every known word is a target.")
@click.option(
    "--attention",
    metavar="NAME",
    help="static, bag, general, learned or a name; learned where the model has it.",
)
@general_option
@click.option(
    "--encoder",
    metavar="DIR",
    help="A local Hugging Face model instead; needs ctxembed[transformers].",
)
@click.option("-o", "--output", metavar="FILE", help="Write a .npz or .npy file.")
@source_options
@output_options
def command_(
    file: str,
    every_word: bool,
    attention: str | None,
    general: str | None,
    encoder: str | None,
    output: str | None,
    vectors: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Print contextual vectors for many sentences, one a line, their targets marked with [ ]."""
    import sys
    from pathlib import Path

    from ctxembed.ask.contextualize import (
        Skipped,
        as_table,
        contextualize,
        labelled,
    )
    from ctxembed.errors import UnknownWordError, UsageError

    if output is not None and Path(output).suffix not in (".npz", ".npy"):
        raise UsageError(f"-o {output}: the name must end in .npz or .npy")
    context, kind = open_context(model_dir, vectors, general, quiet)
    name = attention or ("general" if general else context.default())
    if general and name != "general":
        raise UsageError("--general goes with --attention general")
    if encoder and (attention or general):
        raise UsageError("give --encoder or an attention, not both")
    readings = open_readings([encoder] if encoder else [], context.model)
    way = readings[0] if readings else context.get(name, kind)
    skipped = Skipped()
    chunks = contextualize(
        context.model,
        way,
        _lines(file),
        every_word=every_word,
        skipped=skipped,
    )
    dim = readings[0].dim if readings else context.model.dim
    if output is not None:
        from ctxembed.output.arrays import write_vectors

        number = write_vectors(Path(output), labelled(chunks), dim)
        note(f"{number} vectors of {dim} numbers written to {output}", quiet)
    else:
        lists = (form or ("table" if sys.stdout.isatty() else "tsv")) in ("json", "jsonl")
        answer(as_table(_begun(chunks), dim, lists=lists), form, precision, no_header, quiet)
    if skipped.words:
        common = sorted(skipped.words, key=lambda word: -skipped.words[word])[:8]
        number = sum(skipped.words.values())
        what = "word that is" if number == 1 else "words that are"
        note(
            f"skipped {number} {what} not in the vocabulary:"
            f" {', '.join(common)}{' …' if len(skipped.words) > 8 else ''}",
            quiet,
        )
    for line, reason in skipped.sentences[:5]:
        note(f"line {line}: {reason}")
    if skipped.sentences:
        number = len(skipped.sentences)
        raise UnknownWordError(f"{number} {'line has' if number == 1 else 'lines have'} no vector")


def _lines(file: str) -> Iterator[str]:
    """Yield every line, empty ones too: they count."""
    import sys

    from ctxembed.errors import CorpusError, read_failure

    try:
        with sys.stdin.buffer if file == "-" else open(file, "rb") as stream:
            for number, raw in enumerate(stream, 1):
                try:
                    yield raw.decode("utf-8").strip()
                except UnicodeDecodeError:
                    raise CorpusError(f"{file}: line {number} is not utf-8 text") from None
    except OSError as error:
        raise CorpusError(read_failure(file, error)) from None


def _begun(chunks: Iterator[T]) -> Iterator[T]:
    """Make the first chunk now, so that a mistake is told before anything is printed."""
    from itertools import chain

    first = next(chunks, None)
    return chunks if first is None else chain([first], chunks)
