"""Counts of gensim's KeyedVectors; wrong ones are ignored."""

from typing import Any

import numpy as np
import pytest

from ctxembed.static.vector_files import _stored_counts


@pytest.mark.parametrize(
    ("expandos", "counts"),
    [
        ({"count": np.array([3, 2])}, [3, 2]),
        (None, None),
        (3, None),
        ({"count": "many"}, None),
        ({"count": [2**70, 1]}, None),
        ({"count": [1, 2, 3]}, None),
        ({"count": None}, None),
    ],
)
def test_counts(expandos: Any, counts: list[int] | None) -> None:
    stored = _stored_counts({"expandos": expandos}, ["a", "b"])
    assert (None if stored is None else stored.tolist()) == counts
