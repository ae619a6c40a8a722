"""The sentence beside an answer: how much each of its words weighs for each target."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from ctxembed.context.columns import POSITION, SENTENCE
from ctxembed.context.parse import Parsed
from ctxembed.context.representations import Attention
from ctxembed.explanation.explained_target import (
    TARGET,
    TOKEN,
    WEIGHT,
    draw_tokens,
    explain_targets,
)
from ctxembed.table import Cell, Chart, Table

WEIGHTS = (SENTENCE, TARGET, TOKEN, POSITION, replace(WEIGHT, group=("sentence", "target")))


def draw_sentences(attention: Attention, read: Sequence[Parsed]) -> Chart:
    """Describe each target's sentence with its words shaded by their weights, mean over heads."""

    def rows() -> Iterator[tuple[Cell, ...]]:
        for parsed in read:
            for item in explain_targets(attention, parsed):
                weights, seen = item.weights.mean(axis=0), item.seen.max(axis=0)
                for place, token in enumerate(item.tokens):
                    weight = float(weights[place]) if seen[place] else None
                    yield item.sentence, item.target, token, item.positions[place], weight

    which = ["sentence", "target"]
    return draw_tokens(f"{attention.name} attention", which, lambda: Table(WEIGHTS, rows))
