"""ctxembed compare"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# Is it the fruit or the company?
ctxembed compare "[Apple] launched a new phone while I was eating an orange" --axis
  taste=fruit,sweet,juice --axis technology=phone,company,software
# One word, two sentences
ctxembed compare "She put money in the [bank]" "They sat on the river [bank]"
# For a script
ctxembed compare "[Apple] launched a phone" | awk -F'\\t' '$4=="general"{print $2,$5}'""",
    picture="the sentence with arcs, and each representation on the axes, an arrow from "
    "static to contextual",
    see_also=["substitutes", "explain", "senses", "contextualize"],
    details="""A line for each target says what it means here: like which words (see substitutes),
because of which context words, with their shares of the vector (see explain), and in which of the
senses that are saved in the model (senses --save). Where static, bag or general see another meaning
than attention does, the next line says so: another axis is nearest, or, without axes, no substitute
is the same. A script finds the same in the columns like, because, sense and sense_share.

The bag is the plain mean of the context's static vectors, the baseline that every
attention stands beside; where attention gives no other answer, a note on stderr says so.

--encoder adds a transformer's vectors. They live in a space of their own: cos_static and the axes
are then taken with its vectors of lone words, and like stays empty.

Without a marked target, each content word is one: no English function word, and no word that makes
up more than one percent of the corpus.""",
)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.axis
@options.attention(
    "Which attentions stand beside static and bag; all the model has.", metavar="NAME,..."
)
@options.general
@options.encoder
@options.number("How many words that could stand in its place.", 3, most=100)
@options.integer("--min-count", "Leave out words that are rarer than this.", default=1)
@options.source
def command_(sentence: tuple[str, ...], attention: str | None, **asked: object) -> Table:
    """Compare a word's static vector with its vectors in sentences; - reads sentences from stdin.

    A target is marked in its sentence, [apple], or given by --word.
    """
    return ask(expand_stdin(sentence, numbered=True), attention=attention or (), **asked)
