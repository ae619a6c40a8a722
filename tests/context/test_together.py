"""Learned attention chooses words, an encoder reads them: the vector recomputed another way."""

import numpy as np
import pytest

from ctxembed.context.networks import CHOSEN, OWN_SHARE, EncoderRepresentation, Together
from ctxembed.context.occurrences import read_windows
from ctxembed.context.parse import Occurrence, parse
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import open_model
from ctxembed.stats.vectors import unit

LONG = (
    "while my mother drank a cup of tea in the kitchen the [apple] company launched a new phone in"
    " the store and the dog chased the cat"
)


@pytest.fixture(scope="module")
def every() -> Representations:
    return Representations.of(open_model("everyday"))


def together(every: Representations) -> tuple[Together, Attention, EncoderRepresentation]:
    both = every.get("together")
    assert isinstance(both, Together)
    return both, both.attention, both.encoder


@pytest.mark.parametrize("sentence", [LONG, "the [apple] pie", "[apple]", "a [new phone] in town"])
def test_the_encoder_reads_the_words_with_the_largest_weights(
    every: Representations, sentence: str
) -> None:
    both, attention, encoder = together(every)
    (item,) = parse(every.model, sentence).occurrences
    (trace,) = attention.run([item]).traces
    weights = trace.weights.mean(axis=0)
    start, size = item.target.start, len(item.target)
    others = [i for i in np.argsort(-weights, kind="stable") if i != start][:CHOSEN]
    # A target of several words is one token of the trace.
    before = [item.ids[i] for i in sorted(others) if i < start]
    after = [item.ids[i + size - 1] for i in sorted(others) if i > start]
    chosen = Occurrence.join(np.array(before), item.own, np.array(after))
    expected = unit(encoder.vectors([chosen])) + OWN_SHARE * unit(attention.vectors([item]))
    np.testing.assert_allclose(both.vectors([item]), expected, atol=1e-5)
    np.testing.assert_allclose(both.run([item]).vectors, expected, atol=1e-5)


def test_words_that_are_not_chosen_have_no_part(every: Representations) -> None:
    both, attention, encoder = together(every)
    (item,) = parse(every.model, LONG).occurrences
    read = both.vectors([item]) - OWN_SHARE * unit(attention.vectors([item]))
    whole = unit(encoder.vectors([item]))
    assert len(item.ids) > CHOSEN + 1 and not np.allclose(read, whole, atol=1e-3)


def test_occurrences_of_the_corpus_as_sentences(every: Representations) -> None:
    both, _, _ = together(every)
    index = every.model.index
    assert index is not None
    row = every.model.vocabulary.row("apple")
    for batch in read_windows(every.model, index.positions(row)[:5], 12):
        for vector, ids, mask, target in zip(
            both.embed(batch), batch.ids, batch.mask, batch.targets, strict=True
        ):
            known = np.flatnonzero(mask)
            place = int(np.searchsorted(known, target))
            item = Occurrence(ids[known], range(place, place + 1))
            np.testing.assert_allclose(both.vectors([item])[0], vector, atol=1e-5)
