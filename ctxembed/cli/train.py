"""ctxembed train"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
from click.core import ParameterSource

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_corpus, open_model
from ctxembed.cli.printing import ARRAYS, STDOUT, Printing, printing
from ctxembed.errors import UsageError
from ctxembed.table import Table
from ctxembed.text.languages import check_language
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.pairs import RATE, lay_out_update, training_pairs
from ctxembed.training.train import train

OF_PAIRS = {"algorithm", "dim", "window", "negative", "rate", "seed"}  # options of --pairs
FIXED = {"tokenizer", "cased", "language", "unit", "phrases", "pieces", "on"}  # by --from
GIVEN = (ParameterSource.COMMANDLINE, ParameterSource.ENVIRONMENT)
OF_TEXT = {"tokenizer", "cased", "language"}


@command("train", train, pairs=training_pairs)
@options.argument("corpus", nargs=-1)
@options.output
@options.force
@options.choice(
    "--engine", ["auto", "own", "gensim"], "Engine that trains the vectors; auto prefers own."
)
@options.value(
    "--algorithm",
    "Algorithm of word2vec; default skipgram.",
    type=click.Choice(["cbow", "skipgram"]),
)
@options.integer("--dim", "Dimension of the vectors.", max=10000)
@options.integer("--window", "Number of words on each side.", max=1000)
@options.integer("--epochs", "Passes over the corpus.", max=1000)
@options.integer("--min-count", "Leave out words that occur fewer times.")
@options.integer("--negative", "Number of negative samples for each word; default 5.", max=1000)
@options.flag("--hierarchical-softmax", "Use hierarchical softmax instead of negative samples.")
@options.real(
    "--sample",
    "Downsample words above this frequency; 0 downsamples none.",
    max=1,
    above=False,
    metavar="P",
)
@options.real("--rate", "First learning rate; it falls to 0.0001.", max=1, metavar="R")
@options.integer("--workers", "Number of threads; only 1 is reproducible.", max=256)
@options.seed()
@options.value(
    "--from start", "Go on with the vectors of this model; its words are kept.", metavar="MODEL"
)
@options.value(
    "--pairs", "Train nothing; list the pairs that CBOW and skip-gram make of this sentence.",
    metavar="SENTENCE",
)  # fmt: skip
@options.integer("--update", "With --pairs: what training on pair N does to each vector.")
@options.flag("--static-only", "Do not learn attention.")
@options.integer("--senses", "Also find and save the senses of the N most ambiguous words.")
@options.choice("--unit", ["word", "subword", "character"], "Unit that gets a vector.")
@options.integer("--pieces", "Number of subwords; default a third of the words.", min=10, max=10**6)
@options.flag("--phrases", "Join words that form a phrase, as new_york.")
@options.on_spark
@options.integer(
    "--per-word", "With --on spark: occurrences of each word; default 1000.", max=10**9
)
@options.integer(
    "--train-words", "With --on spark: words to train on; default 50000000.", max=10**9
)
@options.document
@options.metadata
@options.flag("--no-text", "Keep no copy of the text in the model.")
@options.language
@options.corpus
def command_(
    corpus: tuple[str, ...], pairs: str | None, update: int | None, output: str,
    static_only: bool, senses: int | None, unit: str, pieces: int | None, phrases: bool,
    on: str | None, per_word: int | None,
    train_words: int | None, document: str, meta: str | None,
    text_column: str | None, document_tag: str | None, no_text: bool, language: str,
    lines: bool, tokenizer: str, cased: bool, encoding: str, errors: str,
    hierarchical_softmax: bool, **values: Any,
) -> Table | Iterable[Table]:  # fmt: skip
    """Train word vectors and attention on a corpus."""
    if pairs is not None:
        _print_to(output)
        splits = Tokenizer(tokenizer, cased, language=check_language(language))
        chosen = {name: values[name] for name in OF_PAIRS if values[name] is not None}
        table = training_pairs(pairs, update=update, tokenizer=splits, **chosen)
        if update is None or printing().chosen not in ("table", "markdown"):
            return table
        return lay_out_update(table, chosen.get("rate", RATE))
    if update is not None:
        raise UsageError("--update needs --pairs")
    if printing().draws:
        raise UsageError("train has no picture without --pairs. Choose another -f.")
    if not corpus:
        raise UsageError("give a corpus: ctxembed train corpus.txt")
    if hierarchical_softmax and values["negative"]:
        raise UsageError("give --negative or --hierarchical-softmax, not both")
    if (start := values["start"]) is not None:
        context = click.get_current_context()
        own = {name for name in FIXED if context.get_parameter_source(name) in GIVEN}
        if own:
            raise UsageError(f"--{min(own)} cannot be used with --from: the model has it already")
        values["start"] = open_model(start)
    if senses and no_text:
        raise UsageError("--senses needs the text that --no-text leaves out")
    if not on and (per_word is not None or train_words is not None):
        raise UsageError("--per-word and --train-words need --on spark")
    split = {"unit": unit != "word", "pieces": pieces is not None, "phrases": phrases}
    if on and (refused := [name for name, used in split.items() if used]):
        raise UsageError(f"--{refused[0]} cannot be used with --on spark")
    if on and (meta or text_column or document_tag):
        raise UsageError("--on spark reads plain text, without metadata")
    texts = open_corpus(
        corpus, encoding, errors, lines, document, True, meta, text_column, document_tag
    )
    values |= {
        "tokenizer": None
        if start
        else Tokenizer(tokenizer, cased, language=check_language(language)),
        "hierarchical_softmax": hierarchical_softmax or None,
        "attention": not static_only,
        "progress": bars(),
    }
    if on:
        values.pop("start")
        from ctxembed.training.train_on_spark import PER_WORD, TRAIN_WORDS, train_on_spark

        sampled = PER_WORD if per_word is None else per_word
        read = TRAIN_WORDS if train_words is None else train_words
        result = train_on_spark(texts, output, per_word=sampled, train_words=read, **values)
        table = result.to_table()
    else:
        values |= {"unit": unit, "pieces": pieces, "phrases": phrases, "text": not no_text}
        table = train(texts, output, **values)
    if senses:
        from ctxembed.queries.senses import senses as find_senses

        table.notes += find_senses(output, top=senses, save=True, progress=bars()).notes
    return table


def _print_to(output: str) -> None:
    """Take -o as the file of a table; refuse a corpus and what --pairs has no use for."""
    context = click.get_current_context()
    kept = {"pairs", "update", "output", *OF_PAIRS, *OF_TEXT, *Printing.__dataclass_fields__}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not ParameterSource.COMMANDLINE:
            continue
        if parameter.name not in kept:
            name = "a corpus" if isinstance(parameter, click.Argument) else parameter.opts[-1]
            raise UsageError(f"--pairs trains nothing: {name} cannot be used with it")
        if parameter.name == "output" and output not in STDOUT:
            if Path(output).suffix in ARRAYS:
                raise UsageError(f"-o {output}: --pairs writes no arrays; choose .json or .tsv")
            context.obj = replace(context.obj, file_=output)
