"""Answer `collocates --nearest`: the words nearest to the mean of a word's contexts, on two sides.

As the package conText does (Rodriguez, Spirling and Stewart 2023), with ctxembed's own vectors.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import find_each
from ctxembed.context.sides import choose_sides, describe_repeats
from ctxembed.model.bundled import ModelLike, on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.many_tests import benjamini_hochberg
from ctxembed.stats.permutation_test import Units
from ctxembed.stats.vectors import unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.word_senses.alignment import Aligned, align_sides
from ctxembed.word_senses.shift_tests import MIN_OCCURRENCES, word_vectors

WORD = Column("word", "what was asked for", "aside")
NEAREST = (
    WORD,
    Column("neighbor", "with --nearest: a word near to the mean context of a group", "label"),
    Column("cosine_a", "with --nearest: its cosine with the mean contextual vector of the first"
           " group"),
    Column("cosine_b", "with --nearest: and of the second"),
    Column("ratio", "with --nearest: cosine_a over cosine_b; 1 is as near to both"),
    Column("ratio_p", "with --nearest: share of permutations of whole documents in which the ratio"
           " is at least as far from 1", "chance"),
    Column("ratio_q", "with --nearest: ratio_p adjusted for all neighbors listed", "chance"),
)  # fmt: skip
BARS = Chart(
    "bars", ["cosine_a", "cosine_b"], label=["neighbor"], panel=["word"],
    title="words nearest to the mean context in the first and in the second group, by cosine",
)  # fmt: skip
BATCH_SIZE = 200  # permutations computed together
FLOOR = 0.01  # a smaller cosine counts as this much


@on_model(*NEAREST)
def nearest_by(
    model: Model, words: str | Sequence[str], by: str | None = None, other: ModelLike = None, *,
    cluster: str | None = None, number: int = 10, min_count: int = 3, function_words: bool = False,
    stopwords: str | None = None, most: int = 1000, permutations: int = 999, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the words nearest to the mean contextual vector of words in each of two groups.

    by, other, cluster: as in collocates_by. number: words of each group.
    """
    sides = choose_sides(model, other, by, cluster)
    aligned = align_sides(sides, min_count, stopwords)
    known, unknown = find_each(words, aligned.find)
    notes, rows = [] if cluster else describe_repeats(sides), list[tuple[Cell, ...]]()
    candidates = np.array(
        [i for i in range(len(aligned.rows_a)) if function_words or aligned.is_content(i)], np.intp
    )
    for word in known:
        name = aligned.a.vocabulary.words[aligned.rows_a[word]]
        vectors = word_vectors(aligned, word, most, seed)
        if vectors is None:
            notes.append(f"{name}: fewer than {MIN_OCCURRENCES} occurrences in a group")
            continue
        some, units = candidates[candidates != word], vectors[2]
        if not len(some):
            notes.append(f"{name}: no other word occurs {min_count} times in both groups;"
                         " --min-count takes rarer ones")  # fmt: skip
            continue
        rows += [(name, *row) for row in _compare(aligned, some, units, number, permutations, seed)]
    columns = NEAREST if len(known) < 2 else (replace(WORD, role="label"), *NEAREST[1:])
    return Table(columns, rows, notes, unknown, BARS)


def _compare(
    aligned: Aligned, candidates: NDArray[np.intp], units: Units, number: int, permutations: int,
    seed: int,
) -> list[tuple[Cell, ...]]:  # fmt: skip
    """Return a row for each word near to the mean of a side, those nearer to the first at the top.

    units: the documents or clusters in which the word occurs, with the sums of its vectors.
    """
    attention = aligned.compared or aligned.attention
    rows = aligned.rows_a[candidates] if aligned.common else candidates
    words = unit(attention.alone(rows.tolist())).astype(np.float64)  # (n, d)
    means = units.sums.sum(axis=1) / units.counts.sum(axis=1)[:, None]  # (2, d)
    cosines = unit(means) @ words.T  # (2, n)
    near = np.unique(np.argsort(-cosines, axis=1, kind="stable")[:, :number])
    cosines, words = cosines[:, near], words[near]
    ratios = np.log(np.maximum(cosines[0], FLOOR) / np.maximum(cosines[1], FLOOR))
    beyond, rng, done = np.zeros(len(near)), np.random.default_rng(seed), 0
    while done < permutations:
        size = min(BATCH_SIZE, permutations - done)
        sides = units.means(units.permute(size, rng))
        a, b = (np.maximum(unit(side) @ words.T, FLOOR) for side in sides)  # (size, k)
        beyond += (np.abs(np.log(a / b)) >= np.abs(ratios) - 1e-9).sum(axis=0)
        done += size
    p_values = (1 + beyond) / (1 + done)
    q_values = benjamini_hochberg(p_values)
    every = aligned.a.vocabulary.words
    return [
        (
            every[aligned.rows_a[candidates[near[i]]]], float(cosines[0, i]), float(cosines[1, i]),
            float(np.exp(ratios[i])), float(p_values[i]), float(q_values[i]),
        )
        for i in np.argsort(-ratios, kind="stable").tolist()
    ]  # fmt: skip
