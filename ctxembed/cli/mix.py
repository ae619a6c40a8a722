"""ctxembed mix"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_corpus
from ctxembed.errors import UsageError
from ctxembed.table import Table
from ctxembed.text.languages import check_language
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.mix import mix


@command("mix", mix)
@options.argument("corpora", nargs=-1, metavar="[A B]")
@options.value(
    "--word", "The word to follow; default apple for the bundled corpora.", metavar="WORD"
)
@options.axis
@options.value(
    "--probe probes",
    "A sentence with the word; may be repeated.",
    metavar="SENTENCE",
    multiple=True,
)
@options.integer("--steps", "Number of mixtures, from 0 to 100 %.", min=2, max=101, default=11)
@options.integer("--seeds", "Number of models for each mixture.", max=100, default=3)
@options.seed("First seed.")
@options.integer(
    "--words", "Number of words in a mixture; default as many as the smaller corpus has."
)
@options.integer("--dim", "Dimension of the vectors; default as in train.", max=10000)
@options.integer("--epochs", "Passes over each mixture; default as in train.", max=1000)
@options.integer("--workers", "Number of processes; default all processors.", max=256)
@options.language
@options.corpus
def command_(
    corpora: tuple[str, ...], word: str | None, language: str, lines: bool, tokenizer: str,
    cased: bool, encoding: str, errors: str, **values: Any,
) -> Table:  # fmt: skip
    """Train on mixtures of two corpora and follow a word's vector from one to the other."""
    if len(corpora) not in (0, 2):
        raise UsageError("mix takes two corpora, or none for the bundled ones")
    a, b = [open_corpus([name], encoding, errors, lines) for name in corpora] or (None, None)
    words = Tokenizer(tokenizer, cased, language=check_language(language))
    return mix(a, b, word, tokenizer=words, progress=bars(), **values)
