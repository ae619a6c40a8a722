"""ctxembed compare"""

import click

from ctxembed.cli.command import (
    answer,
    axis_option,
    command,
    encoder_option,
    expand_stdin,
    open_readings,
    output_options,
    parse_axes,
)
from ctxembed.cli.sentence import general_option, open_context, parse_all, source_options


@command(
    "compare",
    columns={
        "sentence": "number of the sentence, from 1",
        "target": "the word; apple:2 is the second apple of the sentence",
        "position": "its place, from 1; unknown words are not counted",
        "representation": "static, bag, general, learned or the name of an attention",
        "cos_static": "cosine with the word's static vector: how far context moved it",
        "AXIS...": "cosine with each axis, a column under each one's name",
        "cos_first": "with several sentences: cosine with the same target's first vector",
        "cos_random": "with several sentences: mean cosine of 200 of its occurrences, all pairs",
        "nearest": "the nearest words by static vectors, the target left out",
    },
    examples=[
        (
            "Is it the fruit or the company?",
            'ctxembed compare "[Apple] launched a new phone while I was eating an orange"'
            " --axis taste=fruit,sweet,juice --axis technology=phone,company,software",
        ),
        (
            "One word, two sentences",
            'ctxembed compare "She put money in the [bank]" "They sat on the river [bank]"',
        ),
        (
            "For a script",
            'ctxembed compare "[Apple] launched a phone" '
            "| awk -F'\\t' '$4==\"general\"{print $2,$5}'",
        ),
    ],
    see_also=["explain", "similarity", "contextualize"],
    details="""The bag is the plain mean of the context's static vectors, the baseline that every
attention stands beside; where attention gives no other answer, a note on stderr says so.

--encoder adds a transformer's vectors. They live in a space of their own: cos_static and the axes
are then taken with its vectors of lone words, and nearest stays empty.

Without a marked target, each content word is one: no English function word, and no word that makes
up more than one percent of the corpus.""",
)
@click.argument("sentence", nargs=-1, required=True)
@click.option("--word", metavar="WORD[:N]", help="The target, where none is marked with [ ].")
@axis_option
@click.option(
    "--attention",
    metavar="NAME,...",
    help="Which attentions stand beside static and bag; all the model has.",
)
@general_option
@encoder_option
@click.option(
    "-n",
    "number",
    type=click.IntRange(1, 100),
    default=4,
    show_default=True,
    metavar="N",
    help="How many nearest words.",
)
@source_options
@output_options
def command_(
    sentence: tuple[str, ...],
    word: str | None,
    axes: tuple[str, ...],
    attention: str | None,
    general: str | None,
    encoder: tuple[str, ...],
    number: int,
    vectors: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Compare a word's static vector with its vectors in sentences; - reads sentences from stdin.

    A target is marked in its sentence, [apple], or given by --word.
    """
    from ctxembed.ask.compare import compare

    named = parse_axes(axes)
    texts = expand_stdin(sentence)
    context, kind = open_context(model_dir, vectors, general, quiet)
    parsed = parse_all(context, texts, word, quiet)
    names = attention.split(",") if attention else context.names()[2:]
    ways = {name: context.get(name, kind) for name in ("static", "bag", *names)}
    readings = open_readings(encoder, context.model)
    table = compare(context, parsed, ways, encoders=readings, axes=named, number=number)
    answer(table, form, precision, no_header, quiet)
