"""Explain an encoder for one target: the attention of one block, or what it saw in the end."""

from collections.abc import Iterator

import numpy as np

from ctxembed.attention.attend import attend
from ctxembed.context.networks import READ, EncoderRepresentation
from ctxembed.context.parse import Occurrence, Parsed
from ctxembed.context.sentences import list_targets
from ctxembed.explanation.explanation import Explanation
from ctxembed.stats.vectors import Floats


def trace_block(
    representation: EncoderRepresentation, parsed: Parsed, number: int
) -> Iterator[Explanation]:
    """Yield the explanation of each target: the attention of the block with this number, from 1.

    Its output is what attention adds to the target in this block, before the feed-forward.
    """
    layer = representation.encoder.blocks[number - 1].as_layer()
    for _, name, item in list_targets([parsed]):
        x, ids, target, _ = representation.prepare([item.clip(READ)])
        y = representation.encode(x.astype(np.float64), target).steps[number - 1].y  # (1, T, D)
        inputs = np.concatenate([y, np.ones((*y.shape[:2], 1))], axis=2)
        attended = attend(layer, inputs, ids, queries=target)
        unknown = {i + 1: word for i, word in parsed.unknown.items()}
        yield Explanation(
            parsed.number, name, int(target[0]), *_near(parsed, item, y.shape[1]), unknown, attended
        )


def trace_rollout(
    representation: EncoderRepresentation, parsed: Parsed
) -> Iterator[tuple[str, list[str], list[int], Floats]]:
    """Yield each target with its words, their positions, and how much of each it saw in the end.

    The parts (T,) sum to 1.
    """
    for _, name, item in list_targets([parsed]):
        x, _, target, _ = representation.prepare([item.clip(READ)])
        (seen,) = representation.encode(x.astype(np.float64), target).rollout()
        yield name, *_near(parsed, item, len(seen)), seen


def _near(parsed: Parsed, item: Occurrence, length: int) -> tuple[list[str], list[int]]:
    """Return the words that the encoder reads, and their positions from 1."""
    tokens, positions = parsed.tokens(item)
    near = slice(first := max(0, item.target.start - READ), first + length)
    return tokens[near], positions[near]
