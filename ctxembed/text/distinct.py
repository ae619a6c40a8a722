"""Which words does a block of bytes hold? All of them at once, each distinct one numbered.

Split and a dictionary would make an object of every word; here a word of up to 16 bytes is two
numbers, and numpy compares them all together.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

WIDE = 16  # bytes of a word that are compared; a longer one always counts as new
_LOW_BYTES = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)
_NEVER = np.uint64(2**64 - 1)  # no UTF-8 text has these bytes
_SPREAD = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)  # odd, their bits mixed


@dataclass(frozen=True)
class Chunks:
    """Runs of bytes between separators."""

    starts: NDArray[np.int64]  # (n,) where each begins
    ids: NDArray[np.int32]  # (n,) its number, by first appearance
    types: list[str]  # the distinct ones by number; a long one may be there twice
    marked: NDArray[np.intp]  # those that are long or hold a byte that the caller asked for


def find_chunks(data: bytes, marks: NDArray[np.bool_]) -> Chunks:
    """Find the runs between NUL bytes in UTF-8 text, and those with a byte in `marks` (256,).

    >>> found = find_chunks(b"to\\0be\\0\\0or\\0not\\0to\\0be", np.arange(256) == ord("n"))
    >>> found.types, found.ids.tolist(), found.starts.tolist(), found.marked.tolist()
    (['to', 'be', 'or', 'not'], [0, 1, 2, 3, 0, 1], [0, 3, 7, 10, 14, 17], [3])
    """
    inside = np.frombuffer(b"\0" + data + b"\0", np.uint8) != 0
    edges = np.flatnonzero(inside[1:] != inside[:-1])
    starts = edges[0::2]
    sizes = edges[1::2] - starts
    eights = np.ndarray((len(data) + 8,), "<u8", data + bytes(WIDE), strides=(1,))
    low = eights[starts] & _LOW_BYTES[np.minimum(sizes, 8)]
    high = np.zeros_like(low)
    more = np.flatnonzero(sizes > 8)
    high[more] = eights[starts[more] + 8] & _LOW_BYTES[np.minimum(sizes[more] - 8, 8)]
    long = more[sizes[more] > WIDE]
    low[long], high[long] = long, _NEVER
    first = _first_alike(low, high)
    new = first == np.arange(len(first))
    rank = np.cumsum(new, dtype=np.int32) - np.int32(1)
    letters = np.zeros((int(new.sum()), WIDE + 1), np.uint8)
    letters[:, :8] = low[new].astype("<u8")[:, None].view(np.uint8)
    letters[:, 8:WIDE] = high[new].astype("<u8")[:, None].view(np.uint8)
    letters[rank[long], :WIDE] = 0
    marked = np.asarray(marks[letters].any(axis=1))
    marked[rank[long]] = True
    letters[:, WIDE] = ord("\n")
    types = letters[letters != 0].tobytes().decode("utf-8", "surrogatepass").split("\n")[:-1]
    for place in long:
        text = data[starts[place] : starts[place] + sizes[place]]
        types[rank[place]] = text.decode("utf-8", "surrogatepass")
    return Chunks(starts, rank[first], types, np.flatnonzero(marked))


def _first_alike(low: NDArray[np.uint64], high: NDArray[np.uint64]) -> NDArray[np.intp]:
    """Return (n,) for each pair of numbers the first one that is the same."""
    bits = max(10, len(low).bit_length())
    slots = np.empty(1 << bits, np.intp)
    mixed = low * _SPREAD[0] + high * _SPREAD[1]
    first = np.arange(len(low))
    left, its_low, its_high = first, low, high
    while len(left):
        # The first to come takes a slot, those alike follow it, the others try another slot.
        slot = (mixed >> np.uint64(64 - bits)).astype(np.intp)
        slots[slot[::-1]] = left[::-1]
        found = slots[slot]
        other = (low[found] != its_low) | (high[found] != its_high)
        first[left] = np.where(other, left, found)
        left, its_low, its_high = left[other], its_low[other], its_high[other]
        mixed = (mixed[other] ^ (mixed[other] >> np.uint64(29))) * _SPREAD[1]
    return first
