"""ctxembed train"""

from typing import Any

import click

from ctxembed.cli.command import (
    F,
    _stack,
    answer,
    command,
    note,
    output_options,
    progress,
    seed_option,
)
from ctxembed.cli.text import text_options

PROPERTIES = {"property": "what is told", "value": "its value"}


def corpus_options(function: F) -> F:
    """Add the options that say how a corpus is read."""
    return _stack(
        text_options(function),
        click.option("--lines", is_flag=True, help="Each line is one sentence already."),
    )


@command(
    "train",
    columns=PROPERTIES,
    examples=[
        ("Train on one file, with settings that fit its size", "ctxembed train corpus.txt"),
        (
            "Skip-gram, 100 dimensions, into a directory of its own",
            "ctxembed train corpus.txt --algorithm skipgram --dim 100 -o books",
        ),
        ("From a pipe", "zcat corpus.txt.gz | ctxembed train - -o piped"),
        (
            "Vectors for pieces of words, so that any word has one",
            "ctxembed train corpus.txt --unit subword --pieces 60 -o pieces",
        ),
    ],
    see_also=["info", "show", "neighbors"],
    details="""The corpus is read once: split into sentences and words, counted, and written as an
index of where each word occurs. Then gensim trains word2vec on it.

A line of a text that was broken to a width (most lines equally long, the next one going on with a
small letter) is joined with the next; otherwise each line ends a sentence. A blank line always
does. With --lines nothing is split or joined. A sentence of more than 1,000 words is split there.

What is not given fits the corpus: up to 10,000 words get 25 dimensions, 100 epochs and every word;
up to 100,000 words 50 dimensions, 50 epochs and words that occur twice; up to a million 64
dimensions, 30 epochs and words that occur five times; larger ones 100 dimensions and 10 epochs.
The more text, the more its frequent words are thinned out. Up to a million words one worker is
used, else all processors. The same seed, corpus and ONE worker give the same bytes; more workers do
not, and train says so.

With --unit subword the words are divided into byte-pair pieces, learned from the corpus and kept in
the model as subword.json; with --unit character into all that is no space. A word that has no
vector of its own is then the mean of its parts, in every command, and show says of which. Every
unit is kept unless --min-count says otherwise.

The model is written beside its place and moved there when it is whole: interrupting train leaves
the earlier model, or none.""",
)
@click.argument("corpus", nargs=-1, required=True)
@click.option(
    "-o",
    "--output",
    default="ctxembed-model",
    show_default=True,
    metavar="DIR",
    help="Where the model goes.",
)
@click.option("--force", is_flag=True, help="Replace the model that is there.")
@click.option(
    "--engine",
    type=click.Choice(["auto", "own", "gensim"]),
    default="auto",
    show_default=True,
    help="What trains; auto is ctxembed's own wherever it can run.",
)
@click.option("--algorithm", type=click.Choice(["cbow", "skipgram"]), help="skipgram unless given.")
@click.option("--dim", type=click.IntRange(1, 10000), metavar="N", help="Length of a vector.")
@click.option(
    "--window", type=click.IntRange(1, 1000), metavar="N", help="Words to either side; 5."
)
@click.option("--epochs", type=click.IntRange(1), metavar="N", help="Passes over the corpus.")
@click.option(
    "--min-count", type=click.IntRange(1), metavar="N", help="Leave out words rarer than this."
)
@click.option(
    "--negative", type=click.IntRange(1, 1000), metavar="N", help="Negative samples a word; 5."
)
@click.option(
    "--hierarchical-softmax", is_flag=True, help="A tree of words instead of negative samples."
)
@click.option(
    "--sample",
    type=click.FloatRange(0, 1),
    metavar="P",
    help="Thin out words more frequent than this share of the corpus; 0 keeps all.",
)
@click.option(
    "--rate",
    type=click.FloatRange(0, 1, min_open=True),
    metavar="R",
    help="How far a step goes at first; it falls to 0.0001 in a line.",
)
@click.option(
    "--workers", type=click.IntRange(1, 256), metavar="N", help="Threads; one is repeatable."
)
@seed_option
@click.option("--static-only", is_flag=True, help="Don't learn attention afterwards.")
@click.option(
    "--unit",
    type=click.Choice(["word", "subword", "character"]),
    default="word",
    show_default=True,
    help="What gets a vector; with subwords and characters any word has one.",
)
@click.option(
    "--pieces",
    type=click.IntRange(10, 1_000_000),
    metavar="N",
    help="How many subwords to learn; a third as many as there are words.",
)
@corpus_options
@output_options
def command_(
    corpus: tuple[str, ...],
    output: str,
    force: bool,
    tokenizer: str,
    cased: bool,
    encoding: str,
    errors: str,
    lines: bool,
    static_only: bool,
    negative: int | None,
    hierarchical_softmax: bool,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
    **settings: Any,
) -> None:
    """Train word vectors on a corpus: text files, folders, packed files (.gz .bz2 .xz .zst) or -.

    Prints a summary of what was read, chosen and made.
    """
    from ctxembed.errors import UsageError
    from ctxembed.make.train import train
    from ctxembed.text.corpus import Corpus
    from ctxembed.text.tokenizer import Tokenizer

    if hierarchical_softmax and negative:
        raise UsageError("give --negative or --hierarchical-softmax, not both")
    source = Corpus(corpus, encoding=encoding, errors=errors, lines=lines)
    for name in source.skipped[:3]:
        note(f"{name}: skipped, not a text file", quiet)
    if len(source.skipped) > 3:
        note(f"{len(source.skipped) - 3} more files skipped, not text", quiet)
    table = train(
        source,
        output,
        tokenizer=Tokenizer(tokenizer, cased),
        force=force,
        attention=not static_only,
        progress=progress(quiet),
        negative=negative,
        hierarchical_softmax=hierarchical_softmax or None,
        **settings,
    )
    answer(table, form, precision, no_header, quiet)
