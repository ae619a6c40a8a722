"""word2vec's inner loop, compiled by numba; only own_engine imports it.

The context words of a centre (M of them) are trained together: against the centre and against a
few random words, the same for all of them. Their pairs are three small products that stay within
the processor's cache, where a draw for each pair would wait for memory:

    scores    S = X C^T     (M, J)  X: vectors of the context words, C: output vectors
    outputs   C += G^T X            G = rate * (label - sigmoid(S)), label 1 for the centre
    vectors   X += G C

All compiled code is in this file, because numba's cache on disk is renewed only if it changes.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba
import numpy as np

from ctxembed.stats.vectors import Floats

Function = TypeVar("Function", bound=Callable[..., Any])
Ids = Any  # numba knows the types; all arrays are (n,) unless it says otherwise
State = Any  # a uint64

TOGETHER = 6  # outputs scored together: the centre and the usual five negatives
WORDS = 16  # of a window trained together, at most
STEP = 0.41  # words trained together times the rate; more moves an output vector too far
LANES = 8  # vectors are padded to a multiple, so that no element is handled alone

f32 = np.float32
u64 = np.uint64
OPTIONS: Any = {"nogil": True, "fastmath": True, "error_model": "numpy"}
# Inlines a function into the loop that calls it.
part: Callable[[Function], Function] = numba.njit(forceinline=True, **OPTIONS)


def compiled(function: Function) -> Function:
    """Compile a function when it is first called, and cache the code on disk where possible."""
    try:
        return cast(Function, numba.njit(cache=True, **OPTIONS)(function))
    except RuntimeError:  # neither the package nor the user's cache can be written
        return cast(Function, numba.njit(**OPTIONS)(function))


@part
def next_random(x: State) -> State:
    """Return the random state after x, never 0: Marsaglia's xorshift."""
    x ^= x << u64(13)
    x ^= x >> u64(7)
    x ^= x << u64(17)
    return x


@part
def random_below(x: State, n: int) -> Any:
    """Return an integer from 0 to n-1 made of the random state x."""
    return np.int64((x * u64(2685821657736338717) >> u64(32)) * u64(n) >> u64(32))


@part
def subsample(ids: Ids, first: int, last: int, keep: Ids, kept: Ids, x: State) -> Any:
    """Copy the words of a sentence that have a vector and are kept; return their number."""
    n = 0
    for position in range(first, last):
        word = ids[position]
        if word < len(keep):
            x = next_random(x)
            if np.uint32(x >> u64(32)) <= keep[word]:
                kept[n] = word
                n += 1
    return n, x


@part
def context_words(kept: Ids, n: int, i: int, reach: int, words: Ids) -> int:
    """Copy the words at most `reach` positions away from position i; return their number."""
    m = 0
    for position in range(max(0, i - reach), min(n, i + reach + 1)):
        if position != i:
            words[m] = kept[position]
            m += 1
    return m


@part
def draw_negatives(chance: Ids, other: Ids, outs: Ids, negative: int, x: State) -> State:
    """Fill outs[1:] with negative samples by the alias table; return the new random state."""
    for j in range(1, negative + 1):
        x = next_random(x)
        word = random_below(x, len(chance))
        outs[j] = word if np.uint32(x) <= chance[word] else other[word]
    return x


@part
def copy_outputs(outputs: Floats, outs: Ids, n: int, c: Floats) -> None:
    """Copy n output vectors into c (J, d), as they are before they move."""
    for j in range(n):
        row = outputs[outs[j]]
        for k in range(len(row)):
            c[j, k] = row[k]


@part
def dot_products(x: Floats, c: Floats, s: Floats) -> None:
    """Write c (J, d) @ x (d,) into s (J,)."""
    for j in range(0, len(s), TOGETHER):
        c0, c1, c2, c3, c4, c5 = c[j], c[j + 1], c[j + 2], c[j + 3], c[j + 4], c[j + 5]
        s0 = s1 = s2 = s3 = s4 = s5 = f32(0)
        for k in range(len(x)):
            s0 += x[k] * c0[k]
            s1 += x[k] * c1[k]
            s2 += x[k] * c2[k]
            s3 += x[k] * c3[k]
            s4 += x[k] * c4[k]
            s5 += x[k] * c5[k]
        s[j], s[j + 1], s[j + 2], s[j + 3], s[j + 4], s[j + 5] = s0, s1, s2, s3, s4, s5


@part
def apply_sigmoid(s: Floats, n: int) -> None:
    """Replace n scores by their sigmoid, to 1e-6: tanh(x/2) as a quotient of polynomials."""
    for i in range(n):
        x = min(max(s[i] * f32(0.5), f32(-7.9)), f32(7.9))
        y = x * x
        p = f32(-2.76076847742355e-16)
        p = p * y + f32(2.00018790482477e-13)
        p = p * y + f32(-8.60467152213735e-11)
        p = p * y + f32(5.12229709037114e-08)
        p = p * y + f32(1.48572235717979e-05)
        p = p * y + f32(6.37261928875436e-04)
        p = p * y + f32(4.89352455891786e-03)
        q = f32(1.19825839466702e-06)
        q = q * y + f32(1.18534705686654e-04)
        q = q * y + f32(2.26843463243900e-03)
        q = q * y + f32(4.89352518554385e-03)
        s[i] = f32(0.5) + f32(0.5) * x * p / q


@part
def scores_to_gradients(s: Floats, n: int, width: int, outs: Ids, negative: int, rate: Any) -> None:
    """Replace scores (n * width,) by rate * (label - sigmoid); 0 where a negative is the centre."""
    apply_sigmoid(s, n * width)
    for i in range(n * width):
        s[i] *= -rate
    for m in range(0, n * width, width):
        s[m] += rate
        for j in range(1, width):
            if j > negative or outs[j] == outs[0]:
                s[m + j] = f32(0)


@part
def add_context_vectors(c: Floats, vectors: Floats, words: Ids, n: int, g: Floats, j: int) -> None:
    """Add to c (d,) the sum of g[m, j] times the vector of word m, for n words."""
    m = 0
    while m + 4 <= n:
        x0, x1 = vectors[words[m]], vectors[words[m + 1]]
        x2, x3 = vectors[words[m + 2]], vectors[words[m + 3]]
        g0, g1, g2, g3 = g[m, j], g[m + 1, j], g[m + 2, j], g[m + 3, j]
        for k in range(len(c)):
            c[k] += g0 * x0[k] + g1 * x1[k] + g2 * x2[k] + g3 * x3[k]
        m += 4
    while m + 2 <= n:
        x0, x1 = vectors[words[m]], vectors[words[m + 1]]
        g0, g1 = g[m, j], g[m + 1, j]
        for k in range(len(c)):
            c[k] += g0 * x0[k] + g1 * x1[k]
        m += 2
    if m < n:
        x0, g0 = vectors[words[m]], g[m, j]
        for k in range(len(c)):
            c[k] += g0 * x0[k]


@part
def add_output_vectors(x: Floats, c: Floats, g: Floats) -> None:
    """Add g (J,) @ c (J, d) to x (d,)."""
    for j in range(0, len(g), TOGETHER):
        c0, c1, c2, c3, c4, c5 = c[j], c[j + 1], c[j + 2], c[j + 3], c[j + 4], c[j + 5]
        g0, g1, g2, g3, g4, g5 = g[j], g[j + 1], g[j + 2], g[j + 3], g[j + 4], g[j + 5]
        for k in range(len(x)):
            x[k] += g0 * c0[k] + g1 * c1[k] + g2 * c2[k] + g3 * c3[k] + g4 * c4[k] + g5 * c5[k]


@compiled
def train(
    ids: Ids, bounds: Ids,  # (tokens,), and (S+1,) where each sentence begins in them
    keep: Ids,  # (V,) a word stays if 32 random bits are no more than this
    chance: Ids, other: Ids,  # (V,) the same for rows of the alias table; the other word of a row
    vectors: Floats, outputs: Floats,  # (V, d)
    state: Ids, status: Ids,  # (1,) of the random numbers; (2,) whether to stop, words done
    skipgram: bool, window: int, negative: int,
    rate: float, slope: float,  # in the first sentence, and its decrease with each sentence
) -> None:  # fmt: skip
    """Train the vectors and output vectors in place on some sentences."""
    dim = vectors.shape[1]
    longest = 0
    for s in range(len(bounds) - 1):
        longest = max(longest, bounds[s + 1] - bounds[s])
    kept = np.empty(longest, np.int32)
    context = np.empty(min(2 * window, longest), np.int32)
    width = (negative + TOGETHER) // TOGETHER * TOGETHER  # J, padded
    outs = np.zeros(width, np.int32)
    c = np.zeros((width, dim), np.float32)
    flat = np.zeros(WORDS * width, np.float32)
    g = flat.reshape(WORDS, width)
    hidden = np.zeros((2, dim), np.float32)  # CBOW: the mean of the context words, and its error
    first_row = np.zeros(1, np.int32)
    x = state[0]
    for s in range(len(bounds) - 1):
        n, x = subsample(ids, bounds[s], bounds[s + 1], keep, kept, x)
        now = f32(rate - slope * s)
        batch = max(1, min(WORDS, int(STEP / max(now, f32(1e-9)))))
        for i in range(n):
            if status[0] != 0:
                return
            x = next_random(x)
            many = context_words(kept, n, i, 1 + random_below(x, window), context)
            if many == 0:
                continue
            outs[0] = kept[i]
            x = draw_negatives(chance, other, outs, negative, x)
            if skipgram:
                for first in range(0, many, batch):
                    words = context[first : min(many, first + batch)]
                    copy_outputs(outputs, outs, negative + 1, c)
                    for m in range(len(words)):
                        dot_products(vectors[words[m]], c, g[m])
                    scores_to_gradients(flat, len(words), width, outs, negative, now)
                    for j in range(negative + 1):
                        add_context_vectors(outputs[outs[j]], vectors, words, len(words), g, j)
                    for m in range(len(words)):
                        add_output_vectors(vectors[words[m]], c, g[m])
            else:
                mean, error = hidden[0], hidden[1]
                for k in range(dim):
                    mean[k] = error[k] = f32(0)
                for m in range(many):
                    row = vectors[context[m]]
                    for k in range(dim):
                        mean[k] += row[k]
                for k in range(dim):
                    mean[k] /= f32(many)
                copy_outputs(outputs, outs, negative + 1, c)
                dot_products(mean, c, g[0])
                scores_to_gradients(flat, 1, width, outs, negative, now)
                for j in range(negative + 1):
                    add_context_vectors(outputs[outs[j]], hidden, first_row, 1, g, j)
                add_output_vectors(error, c, g[0])
                for m in range(many):
                    row = vectors[context[m]]
                    for k in range(dim):
                        row[k] += error[k]
        status[1] += bounds[s + 1] - bounds[s]
    state[0] = x
