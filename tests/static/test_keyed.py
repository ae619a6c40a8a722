"""KeyedVectors of gensim that somebody made by hand: what is no count is none."""

from typing import Any

import numpy as np
import pytest

from ctxembed.static.keyed import _counts


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
    found = _counts({"expandos": expandos}, ["a", "b"])
    assert (None if found is None else found.tolist()) == counts
