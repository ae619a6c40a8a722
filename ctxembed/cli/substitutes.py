"""ctxembed substitutes"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# What could stand here instead?
ctxembed substitutes "[Apple] launched a new phone while I was eating an [orange]" -n 3
# Which of these words fits best?
ctxembed substitutes "[Apple] launched a new phone" --candidates pear,company,river
# For a script
printf 'bank of the river\\nthe bank lends money\\n' | ctxembed substitutes - --word bank -n 1""",
    picture="bars of what each score is made of",
    see_also=["compare", "neighbors", "explain"],
    details="""Proposed are the words nearest to the target's static vector and those between it and
its contextual vector, without its own forms (words that share their first letters with it) and the
words of the sentence. The context then chooses among them. A word's score is a sum of measures,
each in standard deviations from the mean of the words proposed, so that 0 is no better than they
are on average, and so that the score of a given candidate does not depend on the others.

fits_word: how near it lies to the target's static vector (without what all vectors share), moved
towards its sense here where senses are saved; how much alike the words are that stand directly
before and behind each of them in the corpus, which keeps a verb for a verb and a plural for a
plural; the logarithm of its count, which weighs half.

fits_context: how near it lies to the target's contextual vector; how usual it is beside the word
that stands directly before the target here, and the one behind it, which weighs half.

Context chooses well and proposes badly. Where --candidates are given, all that is left is to
choose: the static vector weighs half, words beside it elsewhere a quarter, those beside it here 1,
and the contextual vector 1.5. For the words that `compare` names, which are to say what is meant
rather than what could be written, the contextual vector weighs 2.5.

What stands beside words is counted by train. A model without that (an imported one) goes without,
and its substitutes may be of another form than the target.""",
)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.word_list("--candidates", "Rank these words instead of proposing some.")
@options.attention("Whose vector is the context's: learned, general, bag or a name.")
@options.number("How many substitutes.", 10, most=200)
@options.integer("--min-count", "Leave out words that are rarer than this.", default=1)
@options.model
def command_(sentence: tuple[str, ...], **asked: object) -> Table:
    """Rank the words that could stand in a target's place; - reads sentences from stdin.

    A target is marked in its sentence, [apple], or given by --word.
    """
    return ask(expand_stdin(sentence, numbered=True), **asked)
