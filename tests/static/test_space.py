"""Vectors of 8 bits: their error is at most half a step, and they are used like an array."""

import numpy as np
import pytest

from ctxembed.static.space import BLOCK, Quantized, Space, mean_of, quantize
from ctxembed.stats.vectors import Floats


@pytest.fixture
def vectors() -> Floats:
    rows = np.random.default_rng(0).normal(0.3, 1, (BLOCK + 9, 7)).astype(np.float32)
    rows[5] = 0
    rows[6] *= 1e-20
    rows[7] *= 1e20
    return rows


def test_no_number_is_off_by_more_than_half_a_step(vectors: Floats) -> None:
    small = Quantized(quantize(vectors))
    step = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(small[:] - vectors) <= 0.5001 * step).all()
    assert small.numbers.min() == -127  # no -128: it has no counterpart
    assert quantize(vectors).nbytes == len(vectors) * (7 + 4)


def test_quantized_vectors_are_indexed_like_an_array(vectors: Floats) -> None:
    small = Quantized(quantize(vectors))
    whole = np.asarray(small)
    assert (small.shape, small.ndim, len(small), small.dtype) == (
        whole.shape, 2, len(whole), whole.dtype,
    )  # fmt: skip
    for rows in (3, -1, slice(2, 9, 3), [4, 4, 0], np.arange(6).reshape(2, 3), []):
        np.testing.assert_array_equal(small[rows], whole[rows])
    np.testing.assert_array_equal(small.take([[1, 2]], axis=0), whole.take([[1, 2]], axis=0))
    assert np.asarray(small, np.float64).dtype == np.float64


def test_a_space_of_quantized_vectors_equals_that_of_the_array(vectors: Floats) -> None:
    vectors[7] = 1
    small = Quantized(quantize(vectors))
    whole = small[:]
    np.testing.assert_allclose(mean_of(small), whole.mean(axis=0, dtype=np.float64), rtol=1e-5)
    for mean in (None, mean_of(small)):
        queries = Space(whole, mean)[np.arange(5)]
        np.testing.assert_array_equal(Space(small, mean)[np.arange(5)], queries)
        np.testing.assert_allclose(
            Space(small, mean).cosines(queries, 3, BLOCK + 5),
            Space(whole, mean).cosines(queries, 3, BLOCK + 5),
        )
