"""ctxembed ladder"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# Two words with something in common
ctxembed ladder apple orange
# One word, the two sentences of the corpus in which it is least alike
ctxembed ladder bank bank
# In sentences of your own
ctxembed ladder apple apple --sentences 'an apple a day' 'the new apple phone'
# The vectors of the lecture notes
ctxembed ladder king queen --vectors king-queen-cricket""",
    picture="a bar for each rung",
    see_also=["vectorize", "compare", "similarity"],
    details="""The rungs, from the bottom: one-hot has a place for each word, so that any two words
are equally far apart. bow counts the words of each word's sentence, tfidf lets rare words count
more (scikit-learn's formula, over the sentences of the model's corpus): they see only shared words.
static is the word's one vector, averaged over the corpus. bag is the mean of the words around it;
general and learned attention weigh these words: they see the sentence.

Without --sentences two are chosen among 200 of the corpus for each word, and printed as notes:
those in which the two words are most alike in context, less what the sentences share in words; for
one word, those in which it is least alike. They show what context can do, not what it does on
average. Mark a target with [ ] where a sentence has it twice.""",
)
@options.argument("word1")
@options.argument("word2")
@options.value("--sentences", "The sentences in which the words stand.", metavar="A B", nargs=2)
@options.source
def command_(**asked: object) -> Table:
    """Compare two words under every representation, from one-hot to learned attention."""
    return ask(**asked)
