"""ctxembed ablate"""

import click

from ctxembed.cli.command import (
    answer,
    axis_option,
    command,
    expand_stdin,
    output_options,
    parse_axes,
)
from ctxembed.cli.sentence import attention_options, open_source, parse_all, source_options


@command(
    "ablate",
    columns={
        "sentence": "number of the sentence, from 1",
        "target": "the word whose vector is watched; apple:2 is the second apple of the sentence",
        "removed": "the context word that is taken away",
        "position": "its place, from 1; unknown words are not counted",
        "weight": "its attention weight before, mean over heads; one target's weights sum to 1",
        "change": "1 - cosine of the target's vectors with the word and without it",
        "AXIS...": "cosine with the axis without the word minus the one with it",
        "spearman": "rank correlation of weight and change over the words of this target",
    },
    examples=[
        (
            "Which word makes apple a company?",
            'ctxembed ablate "[Apple] launched a new phone while I was eating an orange"'
            " --axis taste=fruit,sweet,juice --axis technology=phone,company,software",
        ),
        (
            "Does the weight explain anything, over many sentences?",
            "ctxembed ablate - < sentences.txt | tail -n +2 | cut -f1,2,7 | uniq",
        ),
    ],
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
@click.argument("sentence", nargs=-1, required=True)
@click.option("--word", metavar="WORD[:N]", help="The target, where none is marked with [ ].")
@axis_option
@attention_options
@source_options
@output_options
def command_(
    sentence: tuple[str, ...],
    word: str | None,
    axes: tuple[str, ...],
    attention: str | None,
    general: str | None,
    heads: int,
    seed: int,
    vectors: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Remove each context word in turn and see how the target's vector changes; - reads stdin.

    The target is marked in the sentence, [apple], or given by --word; else each content word is
    one.
    """
    from ctxembed.ask.ablate import ablate

    named = parse_axes(axes)
    texts = expand_stdin(sentence)
    source = open_source(model_dir, vectors, attention, general, heads, seed, quiet)
    parsed = parse_all(source.context, texts, word, quiet)
    answer(ablate(source.model, source.attention, parsed, named), form, precision, no_header, quiet)
