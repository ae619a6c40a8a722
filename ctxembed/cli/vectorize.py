"""ctxembed vectorize"""

from pathlib import Path

from ctxembed.cli import options
from ctxembed.cli.command import command, open_model
from ctxembed.errors import UsageError
from ctxembed.table import Table

COUNTS = ("one-hot", "bow", "tfidf")


@command(
    examples="""# How often each word is in each sentence
ctxembed vectorize sentences.txt
# The columns you want, in your order
printf 'mat cat mat\\ncat rat rat\\n' | ctxembed vectorize - --columns mat,rat,cat
# TF-IDF, only what is not zero
ctxembed vectorize corpus.txt --method tfidf --sparse | head -n 4
# For scipy.sparse.load_npz
ctxembed vectorize corpus.txt --method tfidf -o tfidf.npz
# The mean of the words' vectors
ctxembed vectorize sentences.txt --method static""",
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
@options.argument("text", metavar="FILE|-")
@options.choice(
    "--method",
    [*COUNTS, "static", "bag", "general", "learned"],
    "How a sentence becomes numbers.",
    default="bow",
)
@options.word_list("--columns", "The words to count, in this order.")
@options.flag("--sparse", "A line for each number that is not zero.")
@options.value("-o --output", "Write a file of arrays.", metavar="FILE.npz")
@options.text
@options.source
def command_(
    text: str,
    method: str,
    columns: list[str],
    sparse: bool,
    output: str | None,
    tokenizer: str,
    cased: bool,
    vectors: str | None,
    model: str | None,
    **how: str,  # encoding, errors
) -> Table:
    """Turn sentences, one a line, into counts of their words or the mean of their vectors."""
    from ctxembed.queries.vectorize import count_words, each_sentence, vectorize
    from ctxembed.text.tokenizer import Tokenizer

    if output is not None and Path(output).suffix != ".npz":
        raise UsageError(f"-o {output}: the name must end in .npz")
    if method not in COUNTS and (columns or sparse):
        raise UsageError(f"--columns and --sparse are for {', '.join(COUNTS)}")
    words = Tokenizer(tokenizer, cased)
    opened = None if method in COUNTS else open_model(model, vectors)
    if output is not None and opened is None:
        from ctxembed.output.arrays import write_sparse

        made = count_words(each_sentence(text, **how), method, words, columns)
        write_sparse(Path(output), made.matrix, made.rows, made.columns)
        rows, dim = made.matrix.shape
    else:
        table = vectorize(
            text, method, columns=columns, sparse=sparse, model=opened, tokenizer=words, **how
        )
        if output is None:
            return table
        from ctxembed.output.arrays import write_table

        rows, dim = write_table(Path(output), table)
    return Table((), (), [f"{rows} rows of {dim} numbers written to {output}"])
