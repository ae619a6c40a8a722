"""Vectors of 8 bits: as near as 8 bits can be, and an array for whoever asks."""

import numpy as np
import pytest

from ctxembed.static.quantized import BLOCK, Small, narrow
from ctxembed.static.space import Space, mean_of
from ctxembed.stats.vectors import Floats


@pytest.fixture
def vectors() -> Floats:
    made = np.random.default_rng(0).normal(0.3, 1, (BLOCK + 9, 7)).astype(np.float32)
    made[5] = 0
    made[6] *= 1e-20
    made[7] *= 1e20
    return made


def test_no_number_is_off_by_more_than_half_a_step(vectors: Floats) -> None:
    small = Small(narrow(vectors))
    step = np.abs(vectors).max(axis=1, keepdims=True) / 127
    assert (np.abs(small[:] - vectors) <= 0.5001 * step).all()
    assert small.numbers.min() == -127  # no -128: it has no counterpart
    assert narrow(vectors).nbytes == len(vectors) * (7 + 4)


def test_it_is_indexed_as_the_array_it_stands_for(vectors: Floats) -> None:
    small = Small(narrow(vectors))
    whole = np.asarray(small)
    assert (small.shape, small.ndim, len(small), small.dtype) == (
        whole.shape, 2, len(whole), whole.dtype,
    )  # fmt: skip
    for rows in (3, -1, slice(2, 9, 3), [4, 4, 0], np.arange(6).reshape(2, 3), []):
        np.testing.assert_array_equal(small[rows], whole[rows])
    np.testing.assert_array_equal(small.take([[1, 2]], axis=0), whole.take([[1, 2]], axis=0))
    assert np.asarray(small, np.float64).dtype == np.float64


def test_a_space_over_it_is_the_space_over_the_array(vectors: Floats) -> None:
    vectors[7] = 1
    small = Small(narrow(vectors))
    whole = small[:]
    np.testing.assert_allclose(mean_of(small), whole.mean(axis=0, dtype=np.float64), rtol=1e-5)
    for mean in (None, mean_of(small)):
        asked = Space(whole, mean)[np.arange(5)]
        np.testing.assert_array_equal(Space(small, mean)[np.arange(5)], asked)
        np.testing.assert_allclose(
            Space(small, mean).cosines(asked, 3, BLOCK + 5),
            Space(whole, mean).cosines(asked, 3, BLOCK + 5),
        )
