"""Which words does a block of bytes hold? All of them at once, each distinct one numbered.

Split and a dictionary would make an object of every word; here a word of up to 16 bytes is one or
two numbers, and numpy compares them all together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDE = 16  # bytes of a word that are compared; a longer one always counts as new
_LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd, their bits mixed


@dataclass(frozen=True)
class Chunks:
    """Runs of bytes between separators."""

    starts: NDArray[np.int64]  # (n,) where each begins, from the second byte
    first: NDArray[np.int64]  # (n,) which one was the first alike
    new: NDArray[np.int64]  # (types,) those that were the first; a long one always is
    text: bytes  # the types, a line break behind each
    ends: NDArray[np.int64]  # (types,) where in the text each ends, behind its line break


def find_chunks(data: NDArray[np.uint8]) -> Chunks:
    """Find the runs between NUL bytes; one is before the first of them, WIDE behind the last.

    >>> found = find_chunks(np.frombuffer(b"\\0to\\0be\\0\\0or\\0to" + bytes(WIDE), np.uint8))
    >>> found.starts.tolist(), found.first.tolist(), found.new.tolist()
    ([0, 3, 7, 10], [0, 1, 2, 0], [0, 1, 2])
    >>> found.text, found.ends.tolist()
    (b'to\\nbe\\nor\\n', [3, 6, 9])
    """
    inside = data != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts = edges[0::2].copy()
    sizes = edges[1::2] - starts
    data = data[1:]
    eights = np.ndarray((len(data) - 7,), "<u8", data, strides=(1,))
    low = eights[starts] & _LOW_BYTES.take(sizes, mode="clip")
    more = np.flatnonzero(sizes > 8)
    more, long = more[sizes[more] <= WIDE], more[sizes[more] > WIDE]
    both = low[more], eights[starts[more] + 8] & _LOW_BYTES[sizes[more] - 8]
    low[more] = low[long] = 0  # as no short one is
    first = _first_alike(low)
    first[more] = more[_first_alike(*both)]
    first[long] = long
    new = np.flatnonzero(first == np.arange(len(first)))
    each = sizes[new] + 1
    ends = np.cumsum(each)
    text = data[np.repeat(starts[new] - ends + each, each) + np.arange(each.sum())]
    text[ends - 1] = ord("\n")
    return Chunks(starts, first, new, text.tobytes(), ends)


def _first_alike(*keys: NDArray[np.uint64]) -> NDArray[np.int64]:
    """Return (n,) for each row of keys, each (n,), the first one that is the same."""
    bits = max(10, len(keys[0]).bit_length())
    slots = np.empty(1 << bits, np.int64)
    mixed = keys[0] * _SPREAD[0]
    if len(keys) > 1:
        mixed += keys[1] * _SPREAD[1]
    first = left = np.arange(len(mixed))
    its_keys = list(keys)
    while len(left):
        # The first to come takes a slot, those alike follow it, the others try another slot.
        slot = (mixed >> np.uint64(64 - bits)).view(np.int64)
        slots[slot[::-1]] = left[::-1]
        found = slots.take(slot)
        other = keys[0].take(found) != its_keys[0]
        for key, its in zip(keys[1:], its_keys[1:], strict=True):
            other |= key.take(found) != its
        if first is left:  # all of them: no need to copy
            first = found
        else:
            first[left] = found
        again = np.flatnonzero(other)
        left, its_keys = left[again], [key[again] for key in its_keys]
        mixed = (mixed[again] ^ (mixed[again] >> np.uint64(29))) * _SPREAD[1]
    return first
