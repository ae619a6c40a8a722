"""ctxembed predict"""

import click

from ctxembed.cli.command import (
    answer,
    command,
    expand_stdin,
    model_option,
    note,
    open_model,
    output_options,
    stdin_lines,
)


@command(
    "predict",
    columns={
        "sentence": "number of the sentence, from 1",
        "target": "the marked word or words",
        "label": "the label given",
        "probability": "how sure it is, by the softmax over the labels",
        "like": "the expression of the task whose vector is nearest to the target's",
        "cos_like": "and its cosine; far below 0.8 the task never saw such an expression",
        "gloss": "what the label means for this expression, where the task file says so",
    },
    examples=[
        (
            "Label a sentence",
            "ctxembed fit idioms.tsv --name idioms -q > fitted.txt && ctxembed"
            ' predict "The exam was a [piece of cake]" --attention idioms',
        ),
    ],
    see_also=["fit", "compare", "explain"],
)
@click.argument("sentence", nargs=-1)
@click.option("--attention", metavar="NAME", help="A task; the only one the model has.")
@model_option
@output_options
def command_(
    sentence: tuple[str, ...],
    attention: str | None,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Label the marked targets of sentences by a fitted task; without any, reads stdin."""
    from ctxembed.ask.contextualize import Skipped
    from ctxembed.ask.predict import choose, predict
    from ctxembed.errors import UnknownWordError

    model = open_model(model_dir, quiet)
    skipped = Skipped()
    lines = stdin_lines() if sentence in ((), ("-",)) else expand_stdin(sentence)
    table = predict(model, choose(model, attention), lines, skipped)
    answer(table, form, precision, no_header, quiet)
    if skipped.words:
        few = sorted(skipped.words, key=lambda word: -skipped.words[word])[:8]
        more = " …" if len(skipped.words) > 8 else ""
        note(f"skipped, not in the vocabulary: {', '.join(few)}{more}", quiet)
    for line, reason in skipped.sentences[:5]:
        note(f"sentence {line}: {reason}")
    if skipped.sentences:
        raise UnknownWordError(f"{len(skipped.sentences)} sentences have no label")
