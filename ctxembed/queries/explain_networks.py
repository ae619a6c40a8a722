"""Explain a recurrent network by its steps, and an encoder by what a target saw in the end."""

from collections.abc import Iterator
from dataclasses import replace
from typing import cast

import numpy as np

from ctxembed.context.columns import POSITION, SHADED, TOKEN, WEIGHT
from ctxembed.context.networks import READ, EncoderRepresentation, RecurrentRepresentation
from ctxembed.context.parse import check_work
from ctxembed.context.sentences import Sentences
from ctxembed.explanation.blocks import trace_rollout
from ctxembed.explanation.matrices import STEPS
from ctxembed.explanation.recipe import RECIPE, SENTENCE, TARGET, write_recipe
from ctxembed.explanation.states import STATES, trace_states
from ctxembed.table import Chart, Row, Table
from ctxembed.text.tokenizer import number_repeats

HEAD = STEPS[1]
MAX_READ = 10_000_000  # words, to leave each out: targets times the square of the words
RECURRENT = (
    "each word: state = kept · state + (1 - kept) · new, from both ends to the target",
    "left: share of the word in the output, lost if the word is left out",
)
HIDDEN = "the target itself is hidden from the encoder: only its place is seen"


def explain_states(
    network: RecurrentRepresentation, read: Sentences, sort: str, top: int | None
) -> Table:
    """Return a row for each step of both readings: what is kept, what comes in, what is left."""
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), min(len(parsed.words), 2 * READ + 1), MAX_READ, 2)

    def rows() -> Iterator[Row]:
        for parsed in read.parsed:
            for sentence, target, steps in trace_states(network, parsed):
                most = sorted(steps, key=lambda row: -abs(cast(float, row[-1])))
                kept = {id(row) for row in most[:top]}
                about = (sentence, target) if read.several else (target,)
                for row in most if sort == "weight" else steps:
                    if id(row) in kept:
                        yield (*about, *row)

    labels = (SENTENCE, TARGET) if read.several else (TARGET,)
    panel = [column.name for column in labels]
    title = f"{network.name}: share of each word left at the target"
    chart = Chart("bars", ["left"], label=["reading", "token"], panel=panel, title=title)
    columns = (*labels, STATES[0], TOKEN, POSITION, *STATES[1:])
    return Table(columns, rows, [*read.notes, *RECURRENT], read.unknown, chart=chart)


def explain_rollout(
    encoder: EncoderRepresentation, read: Sentences, sort: str, top: int | None, digits: int | None
) -> Table:
    """Return a row for each word that a target saw in the end, or each target as a sum of them."""
    for parsed in read.parsed:
        check_work(len(parsed.occurrences), min(len(parsed.words), 2 * READ + 1), MAX_READ, 2)
    labels = (SENTENCE, TARGET) if read.several else (TARGET,)

    def rows() -> Iterator[Row]:
        for parsed in read.parsed:
            for target, tokens, positions, seen in trace_rollout(encoder, parsed):
                about = (parsed.number, target) if read.several else (target,)
                if digits is not None:
                    names = number_repeats(tokens)
                    yield *about, write_recipe(target, names, seen.tolist(), digits)
                    continue
                order = np.argsort(-seen, kind="stable")[:top]
                for i in order if sort == "weight" else sorted(order):
                    yield *about, "rollout", tokens[i], positions[i], float(seen[i])

    layers = len(encoder.encoder.blocks)
    notes = [*read.notes, HIDDEN, f"rollout over {layers} layers; --layer N shows one of them"]
    if digits is not None:
        return Table((*labels, RECIPE), rows, notes, read.unknown)
    panel = [column.name for column in labels]
    title = f"{encoder.name}: what the target saw in the end"
    chart = replace(SHADED, y=["weight"], panel=panel, title=title, note="")
    return Table((*labels, HEAD, TOKEN, POSITION, WEIGHT), rows, notes, read.unknown, chart=chart)
