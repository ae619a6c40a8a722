"""ctxembed mix"""

import click

from ctxembed.cli.command import (
    answer,
    axis_option,
    command,
    note,
    output_options,
    parse_axes,
    progress,
)
from ctxembed.cli.train import corpus_options


@command(
    "mix",
    columns={
        "representation": "static, or bag or general for a probe sentence",
        "probe": "number of the probe sentence, from 1; a note names it",
        "share": "share of the second corpus in the mixture, 0 to 1",
        "AXIS...": "cosine with each of the two axes, mean over seeds",
        "difference": "first axis minus second: above 0 the word is nearer to the first",
        "low, high": "95 % interval of the difference over seeds; empty for one seed",
    },
    examples=[
        (
            "Three mixtures of the bundled twins, one seed, in a hurry",
            "ctxembed mix --steps 3 --seeds 1 --words 30000",
        ),
        (
            "Two corpora of your own",
            "ctxembed mix corpus.txt corpus.txt.gz --word apple --axis fruit=sweet,fruit"
            ' --axis firm=phone,new --probe "a sweet [apple]" --steps 2 --seeds 2',
        ),
    ],
    see_also=["shift", "compare", "train"],
    details="""Each mixture holds whole sentences drawn at random from the two corpora, as many
words as the smaller one has (or --words), to within a sentence. With one seed, the sentences of a
larger share contain those of a smaller one. Every model is made from nothing with one worker, so
the same seed gives the same answer, however many processes work on it.

Models do not share their directions, so vectors of two models cannot be compared as they are. What
can be compared is where a vector lies between the axes of its own model: the cosine with the first
axis minus the cosine with the second.

static is the vector that word2vec learned for the word. general is the word in a probe sentence by
attention without parameters; 0.3 of it is the static vector, so it travels a little too. bag is the
plain mean of the probe's other words, the baseline: it travels only as far as they do. The notes
say whether static crosses over, and how many of the probes stay on their side in every mixture; a
probe whose words say little or point both ways may well cross.

Without corpora, the bundled twins are mixed: two corpora of everyday sentences, alike but for
apple, which is a fruit in three quarters of its sentences in the first and a company in three
quarters in the second.""",
)
@click.argument("corpora", nargs=-1, metavar="[A B]")
@click.option("--word", metavar="WORD", help="The word to follow; apple for the bundled twins.")
@axis_option
@click.option(
    "--probe",
    "probes",
    multiple=True,
    metavar="SENTENCE",
    help="A sentence with the word, the same for every model; may be given several times.",
)
@click.option(
    "--steps",
    type=click.IntRange(2, 101),
    default=11,
    show_default=True,
    metavar="N",
    help="How many mixtures; 11 is 0, 10, ... 100 percent.",
)
@click.option(
    "--seeds",
    type=click.IntRange(1, 100),
    default=3,
    show_default=True,
    metavar="N",
    help="How many models for each mixture.",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**31),
    default=1,
    show_default=True,
    metavar="N",
    help="The first of the seeds.",
)
@click.option(
    "--words",
    type=click.IntRange(1),
    metavar="N",
    help="Words in a mixture; as many as the smaller corpus has.",
)
@click.option(
    "--dim", type=click.IntRange(1, 10000), metavar="N", help="Length of a vector; as train."
)
@click.option(
    "--epochs", type=click.IntRange(1), metavar="N", help="Passes over each mixture; as train."
)
@click.option(
    "--workers", type=click.IntRange(1, 256), metavar="N", help="Processes; all processors."
)
@corpus_options
@output_options
def command_(
    corpora: tuple[str, ...],
    word: str | None,
    axes: tuple[str, ...],
    probes: tuple[str, ...],
    steps: int,
    seeds: int,
    seed: int,
    words: int | None,
    dim: int | None,
    epochs: int | None,
    workers: int | None,
    lines: bool,
    tokenizer: str,
    cased: bool,
    encoding: str,
    errors: str,
    form: str | None,
    precision: int | None,
    no_header: bool,
    quiet: bool,
) -> None:
    """Train on mixtures of two corpora: how far does a word's vector follow their balance?

    Follows the static vector of --word from one --axis to the other, and its contextual vectors in
    the --probe sentences. Without corpora, mixes the bundled twins, fruit and technology.
    """
    from ctxembed.ask import mix as analysis
    from ctxembed.errors import UsageError
    from ctxembed.store.places import corpora as bundled
    from ctxembed.text.corpus import Corpus
    from ctxembed.text.tokenizer import Tokenizer

    named = parse_axes(axes)
    if not corpora:
        corpora = tuple(str(bundled() / name) for name in analysis.TWINS)
        word = word or analysis.WORD
        if word == analysis.WORD:  # its axes and probes are known
            named = named or dict(analysis.AXES)
            probes = probes or analysis.PROBES
    if len(corpora) != 2:
        raise UsageError("mix takes two corpora, or none for the bundled twins")
    if not word:
        raise UsageError("which word? give --word WORD")
    if corpora == ("-", "-"):
        raise UsageError("stdin can be one of the two corpora, not both")
    sources = [Corpus([name], encoding, errors, lines) for name in corpora]
    for source in sources:
        for name in source.skipped:
            note(f"{name}: skipped, not a text file", quiet)
    table = analysis.mix(
        sources[0],
        sources[1],
        word,
        named,
        probes,
        steps=steps,
        seeds=seeds,
        seed=seed,
        words=words,
        dim=dim,
        epochs=epochs,
        tokenizer=Tokenizer(tokenizer, cased),
        workers=workers,
        progress=progress(quiet),
    )
    answer(table, form, precision, no_header, quiet)
