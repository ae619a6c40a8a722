"""ctxembed ablate"""

from ctxembed.cli import options
from ctxembed.cli.command import ask, command, expand_stdin
from ctxembed.table import Table


@command(
    examples="""# Which word makes apple a company?
ctxembed ablate "[Apple] launched a new phone while I was eating an orange" --axis
  taste=fruit,sweet,juice --axis technology=phone,company,software
# Does the weight explain anything, over many sentences?
ctxembed ablate - < sentences.txt | tail -n +2 | cut -f1,2,7 | uniq""",
    picture="bars of weight and change for each word removed",
    see_also=["explain", "compare"],
    details="""The word is deleted, so the words behind it move one place nearer, and the layer is
run again. A weight says how much of a word flows in; the change says what would be missing. They
differ where another word says the same (high weight, small change), or where a word pulls away from
all the others (low weight, large change).

The rank correlation is Spearman's, equal values sharing their mean rank; it is empty where all
weights or all changes are equal. Over five words, chance alone gives 0.9 or -0.9 or beyond in one
order out of twelve: ask about many sentences before you believe it. The note on stderr calls 0.7
and more a yes, 0.3 and more a part, and is silent on the meaning of fewer than five words.

An attention that looks at the target itself gives it part of the weight; the target has no row, so
then the weights printed sum to less than 1.""",
)
@options.argument("sentence", nargs=-1, required=True)
@options.word
@options.axis
@options.layer
@options.source
def command_(sentence: tuple[str, ...], **asked: object) -> Table:
    """Remove each context word in turn and see how the target's vector changes; - reads stdin.

    The target is marked in the sentence, [apple], or given by --word; else each content word is
    one.
    """
    return ask(expand_stdin(sentence, numbered=True), **asked)
