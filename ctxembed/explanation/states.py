"""Explain a recurrent network for one target: what each step keeps, and what is left in the end."""

from collections.abc import Iterator

import numpy as np

from ctxembed.attention.recurrent import read_sentences, read_with_shares
from ctxembed.context.networks import READ, RecurrentRepresentation
from ctxembed.context.parse import Parsed
from ctxembed.context.sentences import list_targets
from ctxembed.table import Column, Row

READINGS = ("forward", "backward")
STATES = (
    Column("reading", "of a recurrent network: forward, or backward from the end", "label"),
    Column("kept", "of a recurrent network: how much of the state stays, mean of the update gate"),
    Column("comes_in", "of a recurrent network: the part of the new state that is new, by length"),
    Column("left", "of a recurrent network: share of the word in the output, by leaving it out"),
)


def trace_states(
    representation: RecurrentRepresentation, parsed: Parsed
) -> Iterator[tuple[int, str, list[Row]]]:
    """Yield sentence, target, and a row for each step of both readings, in the order of reading.

    A row is reading, token, position, kept, comes_in, left; the target ends both readings. The row
    "own" is what the target adds to the output without being read.
    """
    for sentence, name, item in list_targets([parsed]):
        near, first = item.clip(READ), max(0, item.target.start - READ)
        tokens, positions = parsed.tokens(item)
        (x,), _, (target,), _ = representation.prepare([near])
        x = x.astype(np.float64)
        read = read_sentences(representation.network, x[None], np.array([target]))
        _, (shares,) = read_with_shares(representation.network, x[None], np.array([target]))
        stays = np.linalg.norm(read.kept * read.states[:-1], axis=3)  # (S, 2, 1)
        enters = np.linalg.norm((1 - read.kept) * read.new, axis=3)
        steps, rows = len(read.kept), list[Row]()
        for r, reading in enumerate(READINGS):
            for s in np.flatnonzero(read.there[:, r, 0]).tolist():
                at = int(target) + (s - steps + 1) * (1 if r == 0 else -1)
                kept, new = float(read.kept[s, r].mean()), float(enters[s, r, 0])
                comes_in = new / (new + float(stays[s, r, 0]) or 1.0)
                cells = (tokens[first + at], positions[first + at])
                rows.append((reading, *cells, kept, comes_in, float(shares[r, at])))
        own = representation.network.own * float(x[target] @ read.output[0])
        length = float(read.output[0] @ read.output[0]) or 1.0
        rows.append(("own", name, None, None, None, own / length))
        yield sentence, name, rows
