"""Occurrences from the index against reading the sentences one by one."""

from pathlib import Path

import numpy as np
import pytest

from ctxembed.context import occurrences
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import ModelError
from ctxembed.model.model import Model
from ctxembed.storage.folder import Folder
from tests.conftest import TEXT, WORDS


def by_hand(word: str, reach: int) -> list[tuple[list[str], int]]:
    """List the windows around a word: known words, and where the target stands."""
    matches = []
    for line in TEXT:
        words = line.split()
        for position, other in enumerate(words):
            if other == word:
                left = [w for w in words[max(0, position - reach) : position] if w in WORDS]
                right = [w for w in words[position + 1 : position + 1 + reach] if w in WORDS]
                matches.append(([*left, word, *right], len(left)))
    return matches


@pytest.mark.parametrize("word", ["the", "apple", "bank", "river", "sweet"])
@pytest.mark.parametrize("reach", [1, 2, 32])
def test_windows(model: Model, word: str, reach: int) -> None:
    assert model.index
    expected = by_hand(word, reach)
    seen = []
    for batch in occurrences.read_windows(
        model, model.index.positions(model.vocabulary.row(word)), reach
    ):
        assert batch.ids[~batch.mask].sum() == 0
        for ids, mask, target, row in zip(
            batch.ids, batch.mask, batch.targets, batch.rows, strict=True
        ):
            assert ([model.vocabulary.words[i] for i in ids[mask]], target) == expected[row]
            seen.append(int(row))
    assert sorted(seen) == list(range(len(expected)))


def test_small_batches_give_the_same(model: Model, monkeypatch: pytest.MonkeyPatch) -> None:
    assert model.index
    positions = np.arange(10)  # any place that holds a known word will do
    whole = vectors_at(model, Representations(model).get("general"), positions)
    monkeypatch.setattr(occurrences, "CHUNK_SIZE", 3)
    monkeypatch.setattr(occurrences, "WORDS_PER_BATCH", 2)
    pieces = vectors_at(model, Representations(model).get("general"), positions)
    np.testing.assert_allclose(pieces, whole, atol=1e-6)


@pytest.mark.parametrize("name", ["static", "bag", "general"])
def test_batched_vectors_match_one_by_one(model: Model, name: str) -> None:
    assert model.index
    representation = Representations(model).get(name)
    for word in WORDS:
        singly = [
            Occurrence(
                np.array([model.vocabulary.row(w) for w in words], np.int32),
                range(position, position + 1),
            )
            for words, position in by_hand(word, 32)
        ]
        positions = model.index.positions(model.vocabulary.row(word))
        np.testing.assert_allclose(
            vectors_at(model, representation, positions), representation.vectors(singly), atol=1e-6
        )


def test_a_word_alone_keeps_its_vector(model: Model) -> None:
    batch = occurrences.Windows(
        np.array([[3]], np.int32), np.array([[True]]), np.array([0]), np.array([0])
    )
    for name in ("static", "bag", "general"):
        np.testing.assert_allclose(
            Representations(model).get(name).embed(batch), model.vectors[[3]]
        )


def test_sample_is_sorted_seeded_and_without_repeats() -> None:
    positions = np.arange(0, 1000, 7)
    one, two = (
        occurrences.sample_positions(positions, 20, np.random.default_rng(5)) for _ in range(2)
    )
    np.testing.assert_array_equal(one, two)
    assert len(set(one.tolist())) == 20
    assert set(one.tolist()) <= set(positions.tolist())
    assert (np.diff(one) > 0).all()


def test_a_model_without_corpus_says_so(tmp_path: Path, model: Model) -> None:
    bare = Model(tmp_path, model.meta, Folder(tmp_path, ""))
    with pytest.raises(ModelError, match="has no corpus"):
        occurrences.corpus_of(bare)
