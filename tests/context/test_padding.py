"""Sentences of several lengths are read together: each keeps the vector and trace it has alone."""

import numpy as np
import pytest

from ctxembed.context.parse import BATCH, PADDED, SPARE, Occurrence, batches, collapse, parse
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import open_model

SENTENCES = (
    "[apple]",
    "the [apple] company launched a new phone",
    "we picked an [apple] from the old tree",
    "she drank a cup of tea in a [new phone] shop",
    "the dog chased the cat and the mouse through the garden to the [river]",
)


@pytest.fixture(scope="module")
def every() -> Representations:
    return Representations.of(open_model("everyday"))


@pytest.mark.parametrize("name", ["bag", "general", "learned", "recurrent", "encoder", "together"])
def test_together_as_alone(every: Representations, name: str) -> None:
    items = [item for text in SENTENCES for item in parse(every.model, text).occurrences]
    assert len(list(batches(items))) < len(items)
    representation = every.get(name)
    run, vectors = representation.run(items), representation.vectors(items)
    for row, item in enumerate(items):
        alone = representation.run([item])
        np.testing.assert_allclose(run.vectors[row], alone.vectors[0], atol=1e-5)
        np.testing.assert_allclose(vectors[row], alone.vectors[0], atol=1e-5)
        for own, expected in zip(run.traces[row : row + 1], alone.traces, strict=True):
            assert own.contributions.shape[1] == len(item.ids) - len(item.target) + 1
            np.testing.assert_allclose(own.weights, expected.weights, atol=1e-5)
            np.testing.assert_allclose(own.contributions, expected.contributions, atol=1e-4)
            assert own.own == pytest.approx(expected.own, abs=1e-4)


def test_attention_explains_the_whole_vector_of_a_padded_sentence(every: Representations) -> None:
    items = [item for text in SENTENCES for item in parse(every.model, text).occurrences]
    for trace in every.get("learned").run(items).traces:
        assert trace.contributions.sum() + trace.own == pytest.approx(1, abs=1e-5)


def test_padding() -> None:
    short = Occurrence(np.array([5, 6], np.int32), range(1, 2))
    phrase = Occurrence(np.array([1, 2, 3, 4], np.int32), range(0, 2))  # one token
    ids, targets, mask = collapse([short, phrase])
    assert mask is not None
    assert ids.tolist() == [[5, 6, 0], [1, 3, 4]] and targets.tolist() == [1, 0]
    assert mask.tolist() == [[True, True, False], [True, True, True]]
    assert collapse([short, short])[2] is None


def test_batches_are_of_similar_length_and_not_too_large() -> None:
    lengths = [2, 300, 3, 0, 4, 90, 2, 80, *[BATCH // 4] * 6, 2 * BATCH]
    items = [Occurrence(np.zeros(n, np.int32), range(0, min(n, 1))) for n in lengths]
    found = list(batches(items))
    assert sorted(row for batch in found for row in batch) == [0, 1, 2, *range(4, len(items))]
    for batch in found:
        own = [lengths[row] for row in batch]
        assert len(own) == 1 or len(own) * max(own) <= BATCH
        assert max(own) <= PADDED * min(own) + SPARE
    assert [0, 6, 2, 4] in found
