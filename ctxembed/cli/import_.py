"""ctxembed import"""

import click

from ctxembed.cli.command import answer, command, output_options, progress
from ctxembed.cli.train import PROPERTIES


@command(
    "import",
    columns=PROPERTIES,
    examples=[
        (
            "Vectors go out and come in again",
            "ctxembed export vectors.vec && ctxembed import vectors.vec -o imported",
        ),
        (
            "The 1,000 most frequent words only",
            "ctxembed export all.txt -q && ctxembed import all.txt --limit 1000 -o top",
        ),
    ],
    see_also=["export", "train", "info"],
    details="""Reads word2vec's text and binary formats, GloVe's text (no first line with sizes),
fastText's .vec, packed (.gz .bz2 .xz .zst) or not, - for stdin; a numpy array (.npy) with its words
beside it in .vocab.txt, in a vocab.txt or in --vocab, one a line; gensim's KeyedVectors
(.kv). Which text or binary format it is, is found out from the file.

A .kv file is a pickle, and a pickle can run anything. Only what KeyedVectors consist of is read
from it (words, numbers, counts); a file that asks for more is refused.

A word that comes twice keeps its first vector; rows with NaN or infinity and rows without a word
are left out; all are counted. Anything else that is wrong stops the import, names the line or the
byte, and leaves nothing behind.

Files of vectors seldom carry counts. Then they are estimated by Zipf's law from the order of the
words, which most programs write by falling frequency: attention needs to know which words are
frequent. Capitals matter if more than one word in a hundred has some.

An imported model has no corpus: compare and explain work on it at once, commands that look for
occurrences do not.""",
)
@click.argument("file")
@click.option(
    "-o",
    "--output",
    default="ctxembed-model",
    show_default=True,
    metavar="DIR",
    help="Where the model goes.",
)
@click.option("--force", is_flag=True, help="Replace the model that is there.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N words.")
@click.option("--vocab", metavar="FILE", help="The words of a .npy file, one a line.")
@click.option("--encoding", default="utf-8", show_default=True, help="Encoding of the words.")
@click.option(
    "--errors",
    type=click.Choice(["strict", "replace"]),
    default="strict",
    show_default=True,
    help="What to do with a byte that can't be decoded.",
)
@output_options
def command_(
    file: str,
    output: str,
    force: bool,
    limit: int | None,
    vocab: str | None,
    encoding: str,
    errors: str,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Make a model of vectors from word2vec, GloVe, fastText, gensim or numpy."""
    import codecs

    from ctxembed.errors import UsageError
    from ctxembed.make.import_ import import_

    try:
        codecs.lookup(encoding)
    except LookupError:
        raise UsageError(f"unknown encoding {encoding!r}; try utf-8 or latin-1") from None
    table = import_(
        file,
        output,
        vocabulary=vocab,
        limit=limit,
        encoding=encoding,
        errors=errors,
        force=force,
        progress=progress(quiet),
    )
    answer(table, form, precision, no_header, quiet)
