"""ctxembed tokenize"""

import click

from ctxembed.cli.command import answer, command, open_model, output_options
from ctxembed.cli.text import read_blocks, text_options


@command(
    "tokenize",
    columns={
        "sentence": "number of the sentence, from 1",
        "token": "the token; ## marks a subword that goes on with a word",
        "tokens": "the tokens of the sentence, with --per sentence",
        "start": "character of the text at which it begins, from 0",
        "end": "character behind it",
    },
    examples=[
        ("Words", 'ctxembed tokenize "Don\'t panic: it is state-of-the-art."'),
        ("Sentences of a file", "ctxembed tokenize corpus.txt --unit sentence"),
        (
            "Subwords, 50 of them learned from the file",
            "ctxembed tokenize corpus.txt --unit subword --pieces 50 | head -n 5",
        ),
        (
            "One sentence a line",
            "ctxembed tokenize - --per sentence --no-header < corpus.txt | cut -f2",
        ),
        ("With offsets, for another program", "ctxembed tokenize corpus.txt -f jsonl | head -n 3"),
    ],
    see_also=["train", "vectorize"],
    details="""A sentence is found as train finds it. A word is a run of letters, digits and marks
of any script; an apostrophe or a hyphen inside belongs to it. A character is anything but a space,
with its combining marks. A subword is a piece of a word by byte-pair encoding: the pieces that
occur together most often are merged until there are as many as asked for.

start and end count characters, not bytes; a byte order mark is not counted, and a line break of
Windows counts as one. text[start:end] is the token as it was written, before capitals became small.

A subword model brings its own pieces: -m MODEL tokenises exactly as the model was trained.""",
)
@click.argument("text", metavar="FILE|TEXT|-")
@click.option(
    "--unit",
    type=click.Choice(["sentence", "word", "subword", "character"]),
    default="word",
    show_default=True,
    help="What a token is.",
)
@click.option(
    "--pieces",
    type=click.IntRange(10, 1_000_000),
    default=1000,
    show_default=True,
    metavar="N",
    help="How many subwords to learn from the text.",
)
@click.option(
    "--per",
    type=click.Choice(["token", "sentence"]),
    default="token",
    show_default=True,
    help="What gets a line.",
)
@click.option("-m", "--model", "model_dir", metavar="DIR", help="Tokenise as this model does.")
@click.option("--lines", is_flag=True, help="Each line is one sentence already.")
@text_options
@output_options
def command_(
    text: str,
    unit: str,
    pieces: int,
    per: str,
    model_dir: str | None,
    lines: bool,
    tokenizer: str,
    cased: bool,
    encoding: str,
    errors: str,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Split a text into sentences, words, subwords or characters."""
    from ctxembed.ask.tokenize import make_tokenizer, tokenize

    blocks = read_blocks(text, encoding, errors, lines)
    if model_dir is None:
        kept = list(blocks) if unit == "subword" else []  # read twice, as a pipe cannot be
        blocks = iter(kept) if kept else blocks
        chosen = make_tokenizer(unit, kept, kind=tokenizer, cased=cased, pieces=pieces)
    else:
        chosen = open_model(model_dir, quiet).tokenizer
    table = tokenize(blocks, chosen, lines=lines, per_sentence=per == "sentence")
    answer(table, form, precision, no_header, quiet)
