"""ctxembed senses"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# How many meanings does bank have here?
ctxembed senses bank
# Two senses, whatever the data say
ctxembed senses apple --k 2
# How sure is the number?
ctxembed senses bank --all-k
# Many words from a pipe
echo apple | ctxembed senses - -f tsv""",
    picture="a map of the occurrences in two dimensions, coloured by sense",
    see_also=["kwic", "ambiguity", "show", "compare"],
    details="""Occurrences come from the corpus in the model; their context reaches 32 words to
either side within the sentence. Attention weighs three times as evenly for this as it does for a
single sentence, and learned attention looks farther: over many occurrences all evidence counts.
Contextual vectors are placed in a space that tells words apart: 300 words are drawn from the model;
one step in any direction is the usual spread of one word's occurrences (within-class covariance
normalisation, mixed with an even spread), and the third of the directions is kept in which the
means of the words differ most. Of these, the 12 principal directions of the word's own occurrences
are looked at. Contexts that say nearly the same (cosine 0.95) count once.

--k auto: up to 2000 occurrences are looked at sixteen times, each time four fifths of them, at most
800, drawn at random and cut into 12 parts by k-means from another start. The two parts that lie
nearest are put together until one is left. The score of k senses is the squared distance of the
nearest two of them, mean of the sixteen, over 0.209 times that of two random words of the model, or
over 4.7 where that is more (in a corpus under a million words, two words may lie as near each other
as two topics of one); where one of two senses is small they must lie farther apart, and below 3 %
of the occurrences a group is no sense. The largest k whose score is 1 or more is taken (--min-score
takes less, or asks for more), at most 6 and beyond 2 at most one for each 25 occurrences, unless
--k gives it; --all-k prints every score, and how far the sixteen agree. The resamples are always
the same ones: --seed only chooses occurrences where there are more than --max. Each occurrence then
joins the sense it fits best, in 30 principal directions of the whole space. The number 0.209 was
chosen on pseudowords, words merged into one, other than those of the figures in bench/README.md.

What was found is kept in the model (senses.npz: centres, shares, markers, no sentence) and answers
the next time, also to compare and kwic; --again looks anew. What --k or --min-score found is kept
with --save only. --top 400 --save finds 400 words that have more than one sense, the most ambiguous
first, and keeps their senses: they work in a model without its corpus too.

A sense here is a way of being used: a word with one meaning and two very different topics may get
two, and two meanings that share their contexts get one.""",
)
@options.argument("word", nargs=-1)
@options.senses("--k", "How many senses to find.")
@options.real("--min-score", "Of a number of senses; 1 if none is given.", most=100)
@options.attention()
@options.integer(
    "--max most", "Look at so many occurrences, drawn at random.", least=20, default=10_000
)
@options.number("How many nearest words and markers.", 6)
@options.seed()
@options.flag("--save", "Find them anew and keep them, for kwic and compare.")
@options.flag("--again", "Find them anew, though the model has kept some.")
@options.integer("--top", "Instead of words: so many that have more than one sense.")
@options.integer("--min-count", "With --top: leave out words that are rarer than this.")
@options.flag("--all-k", "How well each number of senses does, up to 6.")
@options.model
def command_(word: tuple[str, ...], save: bool, **asked: object) -> Table:
    """Take a word's average apart: find its senses among its occurrences in the corpus.

    Below the table stands the static vector as a mix of the senses. WORD may be words in a row in
    quotes, "New York". - reads words from stdin.
    """
    return ask(expand_stdin(word), writes=save, save=save, **asked)
