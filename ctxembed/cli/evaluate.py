"""ctxembed evaluate"""

from typing import Any

import click

from ctxembed.cli import options
from ctxembed.cli.command import bars, command, open_model
from ctxembed.evaluation.evaluate import KINDS, evaluate
from ctxembed.evaluation.reach import measure_speed
from ctxembed.table import Table


@command("evaluate", evaluate, speed=measure_speed)
@options.argument("kind", metavar="KIND", type=click.Choice(list(KINDS)))
@options.argument("file", nargs=-1)
@options.value("--train", "Files to fit the threshold of wic on.", metavar="DATA GOLD", nargs=2)
@options.value("--candidates", "Words to rank for substitution; needed for gap.", metavar="FILE")
@options.integer(
    "--pairs", "Number of pseudowords in each band of frequency.", max=1000, default=20
)
@options.value(
    "--dictionary dictionaries",
    "The senses of definitions, as for define: your own instead of english.",
    multiple=True,
    metavar="FILE|english",
)
@options.flag("--calibration", "Of definitions: how often answers are right, by how sure.")
@options.encoder
@options.flag("--by-word", "Print all metrics of each word and band.")
@options.flag("--speed", "With reach: milliseconds for a target as its sentence grows.")
@options.flag("--published", "Add published results from the literature.")
@options.reading
@options.seed()
@options.model
def command_(kind: str, file: tuple[str, ...], model: str | None, **values: Any) -> Table:
    """Score static, bag, general and learned vectors on a benchmark.

    \b
    KIND, and the files it takes:
      similarity FILE...        pairs of words that people rated
      wic DATA GOLD             does a word mean the same in two sentences?
      scws FILE                 pairs of words rated in their paragraphs
      senses DIR|FILE...        occurrences labelled with their sense
      pseudowords [CORPUS...]   which of two merged words was here? No labels
      analogies FILE            a is to b as c is to what?
      substitution DATA GOLD    which words did people write instead?
      reach [CORPUS...]         pseudowords, as the deciding words move away
      definitions FILE...       which sense of the dictionary is it here?
    """
    return evaluate(open_model(model), kind, file, progress=bars(), **values)
