"""ctxembed evaluate"""

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, command
from ctxembed.table import Table


@command(
    examples="""# Which of two merged words stood here? The model's own corpus is asked
ctxembed evaluate pseudowords --pairs 2 -m everyday
# Ratings of pairs of words
printf 'apple pear 8\\napple bank 1\\nmoney bank 7\\n' | ctxembed evaluate similarity -""",
    picture="a dot for each figure, with its interval",
    see_also=["compare", "contextualize", "import"],
    details="""In detail:

similarity FILE...: word1 word2 score, between spaces, tabs or commas (WordSim-353, SimLex-999, MEN,
RG-65). Spearman's correlation of cosine and score. A pair with an unknown word takes no part, and
is counted as missing.

wic DATA GOLD: Word in Context. The answer is 'the same' above a cosine, which --train DATA GOLD
fits; without it, above the median. A pair with an unknown target gets the most frequent answer.

scws FILE: Stanford's contextual word similarity (ratings.txt): Spearman in context, and out of it.

senses DIR|FILE...: labelled occurrences, in CoarseWSD-20's layout (a folder a word with
train.data.txt, train.gold.txt, test.data.txt, test.gold.txt) or as lines 'label TAB sentence with
[target]', one file a word, scored in five folds.

pseudowords [CORPUS...]: no labels are needed. Pairs of words of about one frequency are merged, and
each occurrence asks which of the two stood there. On the model's own corpus, or on another one.
Bands of frequency (how often both words occur) show accuracy, their mean every metric.

analogies FILE: Google's questions, by section; accuracy counts a question with an unknown word as
wrong, accuracy_known leaves it out.

substitution DATA GOLD [--candidates FILE]: SemEval-2007 task 10 and CoInCo, as in Melamud's lexsub:
lines 'target.pos TAB id TAB place TAB words', 'target.pos id :: substitute count;...' and
'target.pos::a;b;c'. The target's lemma is asked about in its sentence, since people gave lemmas;
substitutes of several words take no part. gap is the generalised average precision of the
candidates; for words that each row proposes by itself, p_at_1, p_at_3 and r_at_10, best and oot of
the task, one and ten guesses. Rows rank by cosine, balAdd by the cosine with the target and the
mean cosine with the output vectors of five words to either side (Melamud et al. 2015); substitutes
is what that command answers. No row may answer with a form of the target. Targets with saved senses
are scored once more by themselves.

For senses and pseudowords the metrics are: auc, how likely two occurrences of one sense are more
alike than two of different senses (at most 1,000 occurrences); accuracy, recall and f1 (both macro)
of the nearest sense centroid; neighbor, the accuracy of the nearest training occurrence; v_measure
of k-means with the true number of senses; spliced, the accuracy when only three words to either
side of the target are kept, and the three to either side of another sense's target are put before
or behind them; spliced_wide, the same with six. An occurrence whose target is unknown gets the most
frequent answer of the training items, and takes no part in auc and v_measure.

p_bag: if a representation were no better and no worse than the bag, resamples of the items would
turn the sign of their difference about this often, both directions counted. It assumes that the
items are independent of each other: several of one document or one word make it too small. It is no
smaller than 2 in 1,001, as there are 1,000 resamples; low and high are the middle 95 % of them.

A file has at most 50,000 lines (100,000 analogies), and a word 20,000 occurrences of 100 labels:
all of them are kept in memory and resampled.

--encoder puts the token vectors of a transformer beside ours: a directory with a Hugging Face
model, or the name of an installed package that holds one. Subwords are averaged; nothing is
downloaded. It sees the words of a sentence as they are in the file, unknown ones too.

random is a random vector for each occurrence. most frequent always gives the most frequent answer
of the training items. A word's form that is unknown is looked up by the lemma that wic and scws
give.""",
)
@options.argument(
    "kind",
    metavar="KIND",
    type=click.Choice(
        ["similarity", "wic", "scws", "senses", "pseudowords", "analogies", "substitution"]
    ),
)
@options.argument("file", nargs=-1)
@options.value("--train", "Files that fit wic's threshold.", metavar="DATA GOLD", nargs=2)
@options.value("--candidates", "Words that substitution ranks; else no gap.", metavar="FILE")
@options.integer("--pairs", "Pseudowords in each band of frequency.", most=1000, default=20)
@options.encoder
@options.flag("--by-word", "All figures of each word and band.")
@options.flag("--published", "Add figures from the literature.")
@options.seed()
@options.model
def command_(kind: str, file: tuple[str, ...], **asked: object) -> Table:
    """Score static, bag, general and learned vectors side by side on a benchmark.

    \b
    KIND, and the files it takes:
      similarity FILE...        pairs of words that people rated
      wic DATA GOLD             does a word mean the same in two sentences?
      scws FILE                 pairs of words rated in their paragraphs
      senses DIR|FILE...        occurrences labelled with their sense
      pseudowords [CORPUS...]   which of two merged words stood here? No labels
      analogies FILE            a is to b as c is to what?
      substitution DATA GOLD    which words did people put in its place?
    """
    return ask(kind, file, **asked)
