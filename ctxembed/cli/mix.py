"""ctxembed mix"""

from typing import Any

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, open_corpus
from ctxembed.table import Table


@command(
    examples="""# Three mixtures of the bundled twins, one seed, in a hurry
ctxembed mix --steps 3 --seeds 1 --words 30000
# Two corpora of your own
ctxembed mix corpus.txt corpus.txt.gz --word apple --axis fruit=sweet,fruit --axis
  firm=phone,new --probe "a sweet [apple]" --steps 2 --seeds 2""",
    picture="a curve for each representation, with its interval",
    see_also=["shift", "compare", "train"],
    details="""Each mixture holds whole sentences drawn at random from the two corpora, as many
words as the smaller one has (or --words), to within a sentence. With one seed, the sentences of a
larger share contain those of a smaller one. Every model is made from nothing with one worker, so
the same seed gives the same answer, however many processes work on it.

Models do not share their directions, so vectors of two models cannot be compared as they are. What
can be compared is where a vector lies between the axes of its own model: the cosine with the first
axis minus the cosine with the second.

static is the vector that word2vec learned for the word. general is the word in a probe sentence by
attention without parameters; 0.3 of it is the static vector, so it travels a little too. bag is the
plain mean of the probe's other words, the baseline: it travels only as far as they do. The notes
say whether static crosses over, and how many of the probes stay on their side in every mixture; a
probe whose words say little or point both ways may well cross.

Without corpora, the bundled twins are mixed: two corpora of everyday sentences, alike but for
apple, which is a fruit in three quarters of its sentences in the first and a company in three
quarters in the second.""",
)
@options.argument("corpora", nargs=-1, metavar="[A B]")
@options.value("--word", "The word to follow; apple for the bundled twins.", metavar="WORD")
@options.axis
@options.value(
    "--probe probes",
    "A sentence with the word, the same for every model; may be given several times.",
    metavar="SENTENCE",
    multiple=True,
)
@options.integer(
    "--steps", "How many mixtures; 11 is 0, 10, ... 100 percent.", least=2, most=101, default=11
)
@options.integer("--seeds", "How many models for each mixture.", most=100, default=3)
@options.seed("The first of the seeds.")
@options.integer("--words", "Words in a mixture; as many as the smaller corpus has.")
@options.integer("--dim", "Length of a vector; as train.", most=10000)
@options.integer("--epochs", "Passes over each mixture; as train.", most=1000)
@options.integer("--workers", "Processes; all processors.", most=256)
@options.language
@options.corpus
def command_(
    corpora: tuple[str, ...], tokenizer: str, cased: bool, language: str, **asked: Any
) -> Table:
    """Train on mixtures of two corpora: how far does a word's vector follow their balance?

    Follows the static vector of --word from one --axis to the other, and its contextual vectors in
    the --probe sentences. Without corpora, mixes the bundled twins, fruit and technology.
    """
    from ctxembed.errors import UsageError
    from ctxembed.text.languages import check_language
    from ctxembed.text.tokenizer import Tokenizer

    if len(corpora) not in (0, 2):
        raise UsageError("mix takes two corpora, or none for the bundled twins")
    if corpora and not asked["word"]:
        raise UsageError("which word? give --word WORD")
    how = {name: asked.pop(name) for name in ("encoding", "errors", "lines")}
    opened = [open_corpus([name], **how) for name in corpora]
    return ask(
        *opened, **asked, tokenizer=Tokenizer(tokenizer, cased, language=check_language(language))
    )
