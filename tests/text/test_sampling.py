"""Sampling by hashing: what is kept, without bias to any word."""

from pathlib import Path

import numpy as np

from ctxembed.text.corpus import Corpus
from ctxembed.text.sampling import (
    INDEXED,
    TRAINED,
    Plan,
    count_file,
    draw_file,
    hash_numbers,
    write_sampled,
)
from ctxembed.text.tokenizer import Tokenizer


def corpus(path: Path, lines: list[str]) -> Corpus:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return Corpus([str(path)], lines=True)


def test_random_numbers_depend_on_file_offset_and_seed() -> None:
    positions = np.arange(100_000)
    one, other, again = (
        hash_numbers("a", positions, 1),
        hash_numbers("b", positions, 1),
        hash_numbers("a", positions, 2),
    )
    for numbers in (one, other, again):
        assert abs(numbers.mean() - 0.5) < 4 * np.sqrt(1 / 12 / len(positions))
        assert numbers.min() >= 0
        assert numbers.max() < 1
        filled = np.bincount((numbers * 100).astype(int), minlength=100)
        assert ((filled - 1000) ** 2 / 1000).sum() < 160  # chi squared, 99 degrees: p < 1e-4
    for one_, other_ in ((one, other), (one, again), (one[:-1], one[1:])):
        assert abs(np.corrcoef(one_, other_)[0, 1]) < 0.015
    np.testing.assert_array_equal(hash_numbers("a", positions[500:600], 1), one[500:600])


def test_a_file_is_counted_word_by_word_in_order_of_appearance(tmp_path: Path) -> None:
    counted = count_file(corpus(tmp_path / "a", ["b a b", "c a"]), Tokenizer())
    assert counted.words == ["b", "a", "c"]
    assert counted.counts.tolist() == [2, 2, 1]
    assert counted.first.tolist() == [0, 1, 3]
    assert counted.sentences == 2


def test_rare_words_keep_all_their_sentences_and_frequent_ones_a_share(tmp_path: Path) -> None:
    lines = [f"the {'pear' if n % 100 == 0 else 'stone'} number" for n in range(20_000)]
    text = corpus(tmp_path / "a", lines)
    words, counts = ["the", "number", "stone", "pear"], np.array([20_000, 20_000, 19_800, 200])
    plan = Plan(words, counts, per_word=500, share=0.1, seed=3)
    parts = list(draw_file(text, Tokenizer(), plan))
    kept = np.concatenate([part.numbers[part.drawn_for & INDEXED > 0] for part in parts])
    pears = np.count_nonzero(kept % 100 == 0)
    assert pears == 200
    stones = len(kept) - pears
    assert abs(stones - 500) < 5 * np.sqrt(500)
    even = sum(int(np.count_nonzero(part.drawn_for & TRAINED)) for part in parts)
    assert abs(even - 2000) < 5 * np.sqrt(2000 * 0.9)


def test_listed_occurrences_are_within_binomial_bounds_and_not_beside_rare_words(
    tmp_path: Path,
) -> None:
    lines = [f"the {'pear' if n % 100 == 0 else 'stone'} zz{n} number" for n in range(20_000)]
    text = corpus(tmp_path / "a", lines)
    words, counts = ["the", "number", "stone", "pear"], np.array([20_000, 20_000, 19_800, 200])
    plan = Plan(words, counts, per_word=500, share=1.0, seed=3)
    (tmp_path / "index").mkdir()
    (tmp_path / "even").mkdir()
    drawn = ((0, part) for part in draw_file(text, Tokenizer(), plan))
    sampled = write_sampled(
        drawn, [str(tmp_path / "a")], plan, "line", tmp_path / "index", tmp_path / "even"
    )
    starts = np.load(tmp_path / "index" / "starts.npy")
    listed = np.diff(starts)
    assert listed[3] == 200
    for number in listed[:3]:
        assert abs(number - 500) < 5 * np.sqrt(500)
    ids = np.load(tmp_path / "index" / "ids.npy")
    positions = np.load(tmp_path / "index" / "positions.npy")
    the = positions[starts[0] : starts[1]]
    assert (ids[the] == 0).all()
    # one sentence in a hundred has a pear; among all kept ones it is nearly one in three
    beside = np.count_nonzero(ids[the + 1] == 3)
    assert beside < 5 + 5 * np.sqrt(5)
    assert np.count_nonzero(ids == 3) == 200
    assert sampled.by_file == [len(np.load(tmp_path / "index" / "offsets.npy")) - 1]
    assert sampled.trained.tolist() == counts.tolist()
    rare = (tmp_path / "index" / "rare.txt").read_text(encoding="utf-8").split()
    first = ids[2]
    assert rare[first - 4] == lines[np.load(tmp_path / "index" / "lines.npy")[0] - 1].split()[2]
