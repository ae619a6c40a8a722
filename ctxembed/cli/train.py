"""ctxembed train"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import ask, bars, command, open_corpus
from ctxembed.table import Table


@command(
    examples="""# Train on one file, with settings that fit its size
ctxembed train corpus.txt
# Skip-gram, 100 dimensions, into a directory of its own
ctxembed train corpus.txt --algorithm skipgram --dim 100 -o books
# From a pipe
zcat corpus.txt.gz | ctxembed train - -o piped
# Vectors for pieces of words, so that any word of known letters has one
ctxembed train corpus.txt --unit subword --pieces 60 -o pieces
# A corpus on a cluster's storage, 500 occurrences of each word
spark-submit --master yarn $(which ctxembed) train --on spark shards/ -o big --per-word 500""",
    see_also=["info", "show", "neighbors"],
    details="""The corpus is read once: split into sentences and words, counted, and written as an
index of where each word occurs. Then word2vec is trained on it, by ctxembed's own
engine: all words of a window are trained against the same random words, which is several times as
fast as drawing new ones for each. It is compiled on first use, which takes some seconds once, and
needs numba; where that is missing gensim trains, and for --hierarchical-softmax too.

A line of a text that was broken to a width (most lines equally long, the next one going on with a
small letter) is joined with the next; otherwise each line ends a sentence. A blank line always
does. With --lines nothing is split or joined. A sentence of more than 1,000 words is split there.

A sentence ends at . ! ? and the marks of other scripts, unless a known abbreviation, an initial or
letters as in U.S. stand before the full stop. --language takes the abbreviations of that language
instead of the English ones; in German and Turkish a number of one or two digits with a full stop is
a rank (3. Oktober); in Turkish and Azeri I becomes ı, and İ i.

A packed copy of the text goes into the model, so that kwic, senses and show can quote it as it was
written, wherever its files are by then; it takes about half of the text's size. --no-text leaves it
out.

A document is what its author wrote in one go: shift, keywords and collocates count by documents,
since the sentences of one are not independent. It is a file where there are 20 or more, else a
block between blank lines where there are 20, else a line; --document says it otherwise, and takes a
regular expression too: a line that it matches from its first letter on begins a document.

What is not given fits the corpus, and changes little by little with its size: 10,000 words get 25
dimensions, 100 epochs and every word; 100,000 words 50 dimensions, 50 epochs and words that occur
three times; 400,000 words 64 dimensions, 30 epochs and words that occur five times; 2 million words
84 dimensions, 18 epochs and windows of 10 words instead of 5; 10 million words 100 dimensions and
10 epochs; 100 million words 5 epochs and words that occur ten times. Up to a million
words one worker is used, else all processors. The same seed, corpus and ONE worker give the same
bytes; more workers do not, and train says so.

With --unit subword the words are divided into byte-pair pieces, learned from the corpus and kept in
the model as subword.json; with --unit character into all that is no space. A word that has no
vector of its own is then the mean of its parts, in every command, and show says of which. Every
unit is kept unless --min-count says otherwise.

With --phrases two words that stand together far more often than chance would have it (normalised
pointwise mutual information of 0.6 or more, neither of them a function word) are one word,
new_york; a second look joins those with a third or fourth. They are kept in the model as
phrases.txt, and every command takes "New York" then.
With --on spark the files may lie on a cluster's storage, and Spark reads them with our own reader
and tokeniser, so that counts and vocabulary are those of a reading here. The index holds a sample:
a sentence is kept if its number, a hash of file, place and seed, is below --per-word divided by the
count of one of its words; of each word about --per-word occurrences are listed, drawn evenly.
Word2vec reads an even sample of --train-words words, and --min-count fits that sample. It keeps no
copy of the text. Every other command works on the model as on any other; info tells what was
sampled. The session is what
spark-submit or SPARK_REMOTE says, else all processors of this machine. A file that cannot be read
is named, and the others are used.

The model is written beside its place and moved there when it is whole: interrupting train leaves
the earlier model, or none.""",
)
@options.argument("corpus", nargs=-1, required=True)
@options.output
@options.force
@options.choice(
    "--engine",
    ["auto", "own", "gensim"],
    "What trains; auto is ctxembed's own wherever it can run.",
)
@options.value("--algorithm", "skipgram unless given.", type=click.Choice(["cbow", "skipgram"]))
@options.integer("--dim", "Length of a vector.", most=10000)
@options.integer("--window", "Words to either side.", most=1000)
@options.integer("--epochs", "Passes over the corpus.", most=1000)
@options.integer("--min-count", "Leave out words rarer than this.")
@options.integer("--negative", "Negative samples a word; 5.", most=1000)
@options.flag("--hierarchical-softmax", "A tree of words instead of negative samples.")
@options.real(
    "--sample",
    "Thin out words more frequent than this share of the corpus; 0 keeps all.",
    most=1,
    above=False,
    metavar="P",
)
@options.real(
    "--rate", "How far a step goes at first; it falls to 0.0001 in a line.", most=1, metavar="R"
)
@options.integer("--workers", "Threads; one is repeatable.", most=256)
@options.seed()
@options.flag("--static-only", "Don't learn attention afterwards.")
@options.integer("--senses", "Find and keep the senses of so many ambiguous words, too.")
@options.choice(
    "--unit",
    ["word", "subword", "character"],
    "What gets a vector; with subwords and characters any word of known letters.",
)
@options.integer(
    "--pieces",
    "How many subwords to learn; a third as many as there are words.",
    least=10,
    most=1_000_000,
)
@options.flag("--phrases", "Join words that go together to one, as new_york.")
@options.on_spark
@options.integer(
    "--per-word", "With --on spark: occurrences of each word in the index; 1000.", most=10**9
)
@options.integer(
    "--train-words", "With --on spark: words that word2vec reads; 50000000.", most=10**9
)
@options.document
@options.flag("--no-text", "Keep no copy of the text; a smaller model quotes bare words.")
@options.language
@options.corpus
def command_(
    corpus: tuple[str, ...],
    on: str | None,
    tokenizer: str,
    cased: bool,
    language: str,
    static_only: bool,
    no_text: bool,
    negative: int | None,
    hierarchical_softmax: bool,
    senses: int | None,
    **asked: Any,
) -> Table:
    """Train word vectors on a corpus: text files, folders, packed files (.gz .bz2 .xz .zst) or -.

    Prints a summary of what was read, chosen and made.
    """
    from ctxembed.errors import UsageError
    from ctxembed.text.languages import check_language
    from ctxembed.text.tokenizer import Tokenizer

    if hierarchical_softmax and negative:
        raise UsageError("give --negative or --hierarchical-softmax, not both")
    if senses and no_text:
        raise UsageError("--senses needs the text that --no-text leaves out")
    sampled = {name: asked.pop(name) for name in ("per_word", "train_words")}
    sampled = {name: number for name, number in sampled.items() if number is not None}
    if on:
        from ctxembed.training.train_on_spark import train_on_spark as question

        for name in ("unit", "pieces", "phrases"):
            if asked.pop(name, None) not in (None, False, "word"):
                raise UsageError(f"--{name} does not go with --on spark")
        asked |= {**sampled, "question": question}
    elif sampled:
        raise UsageError("--per-word and --train-words go with --on spark")
    else:
        asked["text"] = not no_text
    how = {name: asked.pop(name) for name in ("encoding", "errors", "lines", "document")}
    table = ask(
        open_corpus(corpus, **how),
        tokenizer=Tokenizer(tokenizer, cased, language=check_language(language)),
        attention=not static_only,
        negative=negative,
        hierarchical_softmax=hierarchical_softmax or None,
        **asked,
    )
    if senses:
        from ctxembed.queries.senses import senses as find

        found = find(asked["output"], top=senses, save=True, progress=bars())
        table.notes += found.notes
    return table
