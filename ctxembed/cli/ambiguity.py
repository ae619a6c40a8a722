"""ctxembed ambiguity"""

import click

from ctxembed.cli.command import (
    answer,
    attention_option,
    command,
    expand_stdin,
    known_words,
    model_option,
    open_model,
    output_options,
    progress,
    seed_option,
)


@command(
    "ambiguity",
    columns={
        "word": "the word",
        "count": "how often it occurs",
        "self_similarity": "mean cosine of two of its occurrences, over that of random pairs of"
        " different words; low: used in many ways",
        "low": "lower end of its 95 % bootstrap interval",
        "high": "upper end",
        "static_variance": "share of its contextual vectors that lies along the static vector",
        "senses": "2 where its occurrences fall into two groups or more, else 1",
        "verdict": "static-ok, needs-context or too-rare",
        "property": "with --summary: words, words_VERDICT, text_judged, text_needs_context,"
        " content_text_needs_context, and the ends of their intervals, _low and _high",
        "value": "with --summary: its value",
    },
    examples=[
        ("Which words need their context most?", "ctxembed ambiguity -n 20"),
        ("Two words", "ctxembed ambiguity apple bank"),
        ("How much of my text needs context?", "ctxembed ambiguity --summary"),
    ],
    see_also=["senses", "kwic", "compare"],
    details="""Up to 100 occurrences of each word, drawn at random, or 1000 of words given by
name, are made contextual as `senses` does it. Words are read a batch at a time, each occurrence
list once: memory does not grow with the corpus.

A word needs its context where its self-similarity over the baseline is below --threshold, or where
its occurrences fall into two groups: they spread at least as wide as those of the usual word, and
two random halves of them, each cut in two, agree on the groups (adjusted Rand index 0.5), twice.
It is too rare below 20 occurrences. `senses` looks closer at one word and may disagree.

The threshold comes from the model, for each attention: 200 words are drawn at random, and each two
of them made one; it lies halfway between the mean self-similarity of the words and that of the
pairs. Give your own to be stricter (higher) or laxer.

--summary weighs words by how often they occur: the share of the running text judged that needs
context, of all words and of content words alone. Its interval takes the upper and the lower end of
every word's self-similarity.""",
)
@click.argument("word", nargs=-1)
@click.option(
    "-n", "number", type=click.IntRange(1), metavar="N", help="Only the first so many rows."
)
@click.option(
    "--min-count",
    type=click.IntRange(1),
    default=100,
    show_default=True,
    metavar="N",
    help="Without words: those that occur so often.",
)
@click.option(
    "--threshold",
    type=float,
    metavar="X",
    help="Self-similarity below which a word needs its context; told by the model if not given.",
)
@click.option("--summary", is_flag=True, help="The share of the text that needs context.")
@attention_option
@seed_option
@model_option
@output_options
def command_(
    word: tuple[str, ...],
    number: int | None,
    min_count: int,
    threshold: float | None,
    summary: bool,
    attention: str | None,
    seed: int,
    model_dir: str | None,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Tell which words need their context and for which the static vector does; - reads stdin.

    Without words, all that occur often enough, those that need it most first.
    """
    from ctxembed.ask.ambiguity import ambiguity

    wanted = expand_stdin(word) if word else []
    model = open_model(model_dir, quiet)
    known, incomplete = known_words(model, wanted) if wanted else ([], False)
    table = ambiguity(
        model,
        known,
        min_count=min_count,
        attention=attention,
        threshold=threshold,
        most=number,
        summary=summary,
        seed=seed,
        progress=progress(quiet),
    )
    answer(table, form, precision, no_header, quiet, incomplete=incomplete)
