"""ctxembed shift"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# What differs most between two corpora?
ctxembed train corpus.txt -o a -q --static-only --dim 10 > a.tsv && ctxembed train corpus.txt.gz
  -o b -q --static-only --dim 10 --seed 2 > b.tsv && ctxembed shift a b -n 5
# Two corpora on vectors that have read neither
ctxembed index corpus.txt -m english -o c -q > c.tsv && ctxembed index corpus.txt.gz -m english
  -o d -q > d.tsv && ctxembed shift c d -n 5
# One word: other senses, or the same senses in other shares?
ctxembed train corpus.txt -o a -q --static-only --dim 10 > a.tsv && ctxembed shift a a apple""",
    picture="dots of distance beside chance, and the shares of the senses",
    see_also=["mix", "senses", "train"],
    details="""Alignment: the first model's static vectors (of length 1) are turned by the
orthogonal matrix that brings the words both models share nearest to the second model's (orthogonal
Procrustes, by a singular value decomposition). Words rarer than --min-count (5) in either corpus
take no part. Static vectors differ between any two models, also of the same corpus: read static
by its rank.

Contextual vectors: each occurrence (at most --max of them, drawn at random, in each corpus) is
represented by general attention, for both corpora over one table: the mean of the two aligned
static vectors of each shared word, weighed by how often each corpus has it. Two equal sentences
therefore get equal vectors, whichever corpus they stand in, and what differs is how the word is
used. Words that one of the corpora has fewer than 50 times are no context (the 1000 most frequent
always are): their vectors were learned from the very sentences that are compared, and would raise
false alarms. All are scaled to length 1. distance is the length of D, the
mean of the second corpus minus the mean of the first.

Best for two corpora of one language: give both the same ready vectors (`ctxembed index A -m english
-o a`, the same for B). They were learned from neither, so nothing needs aligning, every word is
context, and the attention that was learned with them is used: fewer false alarms, and more is found
(bench/README.md has both tables).

p_value: if the two corpora were one, and its documents had been dealt out to two piles at random, a
share p_value of the deals would show at least this difference. It assumes that documents are
independent of each other and that none is in both corpora: what a document is, `train --document`
says, and a book cut into paragraphs has p-values that are too small. (1 + deals with at least this
difference) / (1 + deals); a deal moves whole documents, and differences are compared as |D|² over
1/a + 1/b for a and b occurrences. Dealing ends with the twentieth deal that shows at least this
difference, and p_value is then 20 over the deals made (Besag and Clifford 1991), or after a hundred
times --permutations: a large p costs few deals, a small one is exact.

q_value: of all words whose q_value is at most 0.05, about one in twenty is expected to be a false
alarm, however many words were tested. It assumes what the p-values assume, and that they are not
against each other (Benjamini and Hochberg 1995); all words tested count, also those not shown.

effect is (|D|² less its mean over the deals)^½ in units of the spread of one occurrence about the
mean of its corpus; low and high are the ends of its 95 % interval, from 200 samples of the
documents of each corpus. Words are ranked by effect among those with a q_value up to 0.05, then by
p_value. Function words are left out unless --function-words is given, and words that a corpus has
fewer than 20 times unless --min-count asks for them: so few documents cannot give a p-value that
stands among thousands, and counting them in would hide others. Counts alone decide, so q_value
stays honest. A word given is always tested, and q_value is then over the words given; with --by
static over the words shown, which were chosen because they differ: too small for a claim. low is
cut off at 0, and the interval is wider than the test is strict: p_value decides.

The split: the occurrences of both corpora are clustered together into senses, as many as --senses
says, or found as `senses` finds them (its page has the criterion), so that their shares can change.
With one sense there are no shares that could: all of the distance is from_senses. With p and q the
share of a sense in the first and the second corpus, and m and n its mean vectors there, D is
exactly

  sum of (q - p) (m + n) / 2   (the shares)   +   sum of (p + q) / 2 (n - m)   (the senses)

from_shares and from_senses are the lengths of the two parts along D, and sum to distance; a part
that points the other way is negative. A sense that only one corpus has counts as a matter of
shares.

On a terminal, and in latex, counts, documents, static, distance, chance, from_shares and
from_senses are left out for want of room; other formats have them.""",
)
@options.argument("model_a")
@options.argument("model_b")
@options.argument("word", nargs=-1)
@options.choice(
    "--by",
    ["effect", "static"],
    "Rank by effect, which tests every shared word, or by static vectors alone.",
)
@options.number("How many words, where none is given.", 20)
@options.flag("--function-words", "Test words like of and they too.")
@options.integer(
    "--min-count", "Leave out words rarer than this in either corpus: 5, or 20 to test all words."
)
@options.senses("-k --senses", "How many senses a word is split into.")
@options.integer(
    "--max most", "Occurrences of a word looked at in each corpus.", least=10, default=1000
)
@options.integer(
    "--permutations",
    "Deal documents out so often; up to a hundred times that where p is small.",
    most=1000000,
    default=999,
)
@options.seed()
def command_(model_a: str, model_b: str, word: tuple[str, ...], **asked: object) -> Table:
    """Measure how words differ between two corpora: in their senses, or only in their shares.

    Takes two model directories. Without a WORD, ranks the words that moved most; - reads words
    from stdin.
    """
    return ask(model_a, model_b, expand_stdin(word), **asked)
