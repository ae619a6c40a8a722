"""Test many words for a shift between two corpora, each with as few permutations as settle it."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from ctxembed.progress import SILENT, Progress
from ctxembed.stats.many_tests import SIGNIFICANT, are_settled
from ctxembed.stats.permutation_test import (
    PermutationResult,
    Units,
    continue_test,
    start_test,
    sum_by_unit,
)
from ctxembed.stats.vectors import Floats
from ctxembed.word_senses.alignment import Aligned

MIN_OCCURRENCES = 5  # in each corpus, to measure a word
MIN_DOCUMENTS = 2  # in each corpus, to test a word

ROUNDS = (1, 10, 100)  # times the number of permutations, for words that are not settled before
FEW = 100  # permutations that estimate the square of a distance by chance
MAX_THREADS = 4


def word_vectors(
    aligned: Aligned, word: int, most: int, seed: int
) -> tuple[Floats, Floats, Units] | None:
    """Return a word's vectors (n, d), (m, d) and their sums; None if occurrences are too few."""
    rng = np.random.default_rng(seed)
    (x, units_x), (y, units_y) = (aligned.vectors(side, word, most, rng) for side in (0, 1))
    if min(len(x), len(y)) < MIN_OCCURRENCES:
        return None
    return x, y, sum_by_unit(x, units_x, y, units_y)


def run_permutation_test(
    aligned: Aligned, word: int, most: int, permutations: int, seed: int,
    before: PermutationResult | None = None,
) -> PermutationResult | None:  # fmt: skip
    """Return the test of a word, up to so many permutations; None where documents are too few.

    before: a test of the word that is continued.
    """
    vectors = word_vectors(aligned, word, most, seed)
    if vectors is None:
        return None
    x, y, units = vectors
    paired = units.number - units.first - units.second
    if min(units.first, units.second) + paired < MIN_DOCUMENTS:
        return None
    test = before or start_test(x, y, units)
    return continue_test(test, units, permutations, np.random.default_rng([seed, word, test.done]))


def test_words(
    aligned: Aligned, words: Sequence[int], most: int, permutations: int, seed: int,
    progress: Progress = SILENT,
) -> dict[int, PermutationResult]:  # fmt: skip
    """Return the tests of words, without those that are too rare.

    All words get `permutations`; those whose q-value more could move across 0.05 get ten and a
    hundred times as many. Fewer are made where 20 have as large a difference.
    """
    tests: dict[int, PermutationResult] = {}
    left = list(words)
    for times in ROUNDS:
        number = times * (permutations + 1) - 1
        name = "testing" if times == 1 else "testing again"
        tests |= _test_each(aligned, left, tests, most, number, seed, progress, name)
        left = unsettled(tests)
        if not left:
            break
    return tests


def estimate_chance(
    aligned: Aligned, words: Sequence[int], most: int, seed: int, progress: Progress = SILENT
) -> dict[int, PermutationResult]:
    """Return tests of words by few permutations: how far they moved, and what chance adds."""
    return _test_each(aligned, words, {}, most, FEW, seed, progress, "comparing with")


def _test_each(
    aligned: Aligned, words: Sequence[int], tests: Mapping[int, PermutationResult], most: int,
    number: int, seed: int, progress: Progress, name: str,
) -> dict[int, PermutationResult]:  # fmt: skip
    """Return new or continued tests of words, computed on several threads."""

    def run(word: int) -> PermutationResult | None:
        return run_permutation_test(aligned, word, most, number, seed, tests.get(word))

    done: dict[int, PermutationResult] = {}
    with (
        progress.stage(name, len(words), "words") as stage,
        ThreadPoolExecutor(min(MAX_THREADS, os.cpu_count() or 1)) as threads,
    ):
        for word, test in zip(words, threads.map(run, words), strict=True):
            if test is not None:
                done[word] = test
            stage.advance()
    return done


def unsettled(tests: dict[int, PermutationResult]) -> list[int]:
    """Return the words whose q-value more permutations could move across 0.05."""
    draws = [(t.beyond, t.stopped_at or t.done) for t in tests.values()]
    beyond, done = np.array(draws, np.float64).reshape(-1, 2).T
    settled = are_settled(beyond, done, SIGNIFICANT)
    pairs = zip(tests.items(), settled.tolist(), strict=True)
    return [word for (word, test), sure in pairs if not (sure or test.stopped_at or test.complete)]
