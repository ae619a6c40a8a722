"""ctxembed vectorize"""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import click

from ctxembed.cli.command import answer, command, note, output_options
from ctxembed.cli.sentence import open_context, source_options
from ctxembed.cli.text import read_blocks, text_options

COUNTS = ("one-hot", "bow", "tfidf")


@command(
    "vectorize",
    columns={
        "sentence": "number of the sentence, from 1",
        "word": "the word: one-hot has a row a word; with --sparse, the column of the number",
        "WORD...": "one-hot, bow and tfidf: a column a word, under its name",
        "d1, d2, ...": "the other methods: the numbers of the vector",
        "value": "the number, with --sparse",
        "column": "with --sparse and one-hot, the column of the number",
    },
    examples=[
        ("How often each word is in each sentence", "ctxembed vectorize sentences.txt"),
        (
            "The columns you want, in your order",
            "printf 'mat cat mat\\ncat rat rat\\n' | ctxembed vectorize - --columns mat,rat,cat",
        ),
        (
            "TF-IDF, only what is not zero",
            "ctxembed vectorize corpus.txt --method tfidf --sparse | head -n 4",
        ),
        ("For scipy.sparse.load_npz", "ctxembed vectorize corpus.txt --method tfidf -o tfidf.npz"),
        ("The mean of the words' vectors", "ctxembed vectorize sentences.txt --method static"),
    ],
    see_also=["tokenize", "ladder", "contextualize"],
    details="""Each line is one sentence; ctxembed tokenize --unit sentence finds them in a text.

one-hot, bow (bag of words) and tfidf count words and need no model. They are scikit-learn's
CountVectorizer and TfidfVectorizer with their defaults (smoothed idf, rows of length 1, columns in
alphabetical order) on the words that ctxembed tokenize finds; a single letter is a word too.

static, bag, general and learned take the mean of the vectors of a sentence's words; for bag,
general and learned these are vectors in context. A sentence without a known word has no row.

With -o FILE.npz counts are written as scipy.sparse.load_npz reads them, with two more arrays, rows
and columns, that name them; vectors as the arrays sentence and vectors (n, d).""",
)
@click.argument("text", metavar="FILE|-")
@click.option(
    "--method",
    type=click.Choice([*COUNTS, "static", "bag", "general", "learned"]),
    default="bow",
    show_default=True,
    help="How a sentence becomes numbers.",
)
@click.option("--columns", metavar="WORD,...", help="The words to count, in this order.")
@click.option("--sparse", is_flag=True, help="A line for each number that is not zero.")
@click.option("-o", "--output", metavar="FILE.npz", help="Write a file of arrays.")
@text_options
@source_options
@output_options
def command_(
    text: str,
    method: str,
    columns: str | None,
    sparse: bool,
    output: str | None,
    tokenizer: str,
    cased: bool,
    encoding: str,
    errors: str,
    vectors: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Turn sentences, one a line, into counts of their words or the mean of their vectors."""
    from ctxembed.ask.tokenize import sentences
    from ctxembed.ask.vectorize import sentence_vectors, vector_table, vectorize
    from ctxembed.errors import UsageError
    from ctxembed.text.tokenizer import Tokenizer

    if output is not None and Path(output).suffix != ".npz":
        raise UsageError(f"-o {output}: the name must end in .npz")
    if method not in COUNTS and (columns or sparse):
        raise UsageError(f"--columns and --sparse are for {', '.join(COUNTS)}")
    blocks = read_blocks(text, encoding, errors, True)
    texts = (sentence for sentence, _ in sentences(blocks, True))
    if method in COUNTS:
        wanted = [word.strip() for word in (columns or "").split(",") if word.strip()]
        made = vectorize(texts, method, Tokenizer(tokenizer, cased), wanted)
        if output is None:
            table = made.triples() if sparse else made.table()
            answer(table, form, precision, no_header, quiet)
            return
        from ctxembed.output.arrays import write_sparse

        write_sparse(Path(output), made.matrix, made.rows, made.columns)
        _tell(output, made.matrix.shape, quiet)
        return
    context, _ = open_context(model_dir, vectors, None, quiet)
    chunks = sentence_vectors(context.model, context.get(method), texts)
    dim = context.model.dim
    if output is None:
        answer(vector_table(chunks, dim), form, precision, no_header, quiet)
        return
    from ctxembed.output.arrays import write_vectors

    _tell(output, (write_vectors(Path(output), _labelled(chunks), dim), dim), quiet)


def _labelled(chunks: Iterable[tuple[list[int], Any]]) -> Iterator[tuple[dict[str, Any], Any]]:
    for numbers, found in chunks:
        yield {"sentence": numbers}, found


def _tell(output: str, shape: Any, quiet: bool) -> None:
    note(f"{shape[0]} rows of {shape[1]} numbers written to {output}", quiet)
