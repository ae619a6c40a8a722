"""The senses of a word on two sides: their shares, what marks them, which are new or lost."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import quote, read_windows
from ctxembed.context.representations import Representations
from ctxembed.stats.vectors import Floats
from ctxembed.text.tokenizer import MANY
from ctxembed.word_senses.alignment import Aligned
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.discover import WINDOW, choose_examples, choose_markers
from ctxembed.word_senses.sense_space import classify_at, current_senses

SAME_SENSE = 0.7  # share of a cluster, and of a saved sense, that both have, to have one name
ABSENT, PRESENT = 0.01, 0.05  # shares of a sense in one corpus and the other, for new and lost
MIN_NEW = 5  # occurrences of a new or lost sense
MARKERS, EXAMPLES = 6, 2  # of each sense that are described


@dataclass(frozen=True)
class Split:
    """The distance of two mean vectors in two parts, and the share of each sense."""

    from_shares: float
    from_senses: float
    shares: Floats  # (2, k) in each corpus, the largest sense first
    order: Sequence[int] = ()  # (k,) the label of each sense


@dataclass(frozen=True)
class SideSense:
    """A sense of a word that is compared on two sides."""

    name: str  # that the first model has for it; empty if none
    counts: tuple[int, int]
    shares: tuple[float, float]
    change: str  # new, lost or empty
    markers: Sequence[str]
    examples: tuple[Sequence[str], Sequence[str]]  # quotes of each side

    @property
    def title(self) -> str:
        """Its name, or else its first markers."""
        return self.name or ", ".join(self.markers[:2])


def split_distance(x: Floats, y: Floats, labels: NDArray[np.intp]) -> Split:
    """Return |mean y - mean x| split into what sense shares explain, and the senses themselves.

    With shares p and q and sense means m and n, the difference of the means is exactly
    Σ (q - p) (m + n) / 2  +  Σ (p + q) / 2 (n - m); each part is measured along the whole.
    A sense that one corpus lacks adds to the first part only. labels (n + m,).

    >>> x, y = np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([[1.0, 0], [0, 1], [0, 1]])
    >>> parts = split_distance(x, y, np.array([0, 0, 1, 0, 1, 1]))
    >>> round(parts.from_shares, 6), round(parts.from_senses, 6)
    (0.471405, 0.0)
    """
    of_x, of_y = labels[: len(x)], labels[len(x) :]
    k = int(labels.max()) + 1
    shares = np.array([np.bincount(of, minlength=k) / len(of) for of in (of_x, of_y)])  # (2, k)
    order = np.argsort(-shares.sum(axis=0), kind="stable")  # the largest sense first
    by_shares = np.zeros(x.shape[1])
    for sense in order:
        some = (v[of == sense] for v, of in ((x, of_x), (y, of_y)))
        means = [vectors.mean(axis=0) for vectors in some if len(vectors)]
        by_shares += (shares[1, sense] - shares[0, sense]) * sum(means) / len(means)
    whole = y.mean(axis=0) - x.mean(axis=0)
    length = float(np.linalg.norm(whole))
    along = float(by_shares @ whole) / length if length else 0.0
    return Split(along, length - along, shares[:, order], order.tolist())


def describe_senses(
    aligned: Aligned, word: int, vectors: Floats, labels: NDArray[np.intp], names: Sequence[str],
    split: Split, most: int, seed: int,
) -> list[SideSense]:  # fmt: skip
    """Return the senses of a word in the order of a split, from the labels of its occurrences.

    vectors (n + m, d) and labels (n + m,) of the two sides, as word_vectors draws them.
    """
    drawn = draw_positions(aligned, word, most, seed)
    bounds = [slice(0, len(drawn[0])), slice(len(drawn[0]), None)]
    markers = _mark_senses(aligned, word, drawn, [labels[bound] for bound in bounds])
    described = []
    for place, sense in enumerate(split.order):
        counts, quotes = list[int](), list[list[str]]()
        for side, positions, bound in zip(aligned.sides, drawn, bounds, strict=True):
            mine = labels[bound] == sense
            best = choose_examples(side.index, positions[mine], 1, vectors[bound][mine], EXAMPLES)
            quotes.append([quote(side.index, at) for at in best])
            counts.append(int(mine.sum()))
        shares = float(split.shares[0, place]), float(split.shares[1, place])
        both = (counts[0], counts[1]), shares
        described.append(
            SideSense(
                names[sense],
                *both,
                describe_change(*both),
                markers[sense][:MARKERS],
                (quotes[0], quotes[1]),
            )
        )
    return described


def describe_change(counts: tuple[int, int], shares: tuple[float, float]) -> str:
    """Return whether a sense is new, lost or neither.

    >>> describe_change((0, 9), (0.0, 0.2)), describe_change((80, 1), (0.8, 0.01))
    ('new', 'lost')
    >>> describe_change((0, 4), (0.0, 0.2)), describe_change((20, 40), (0.2, 0.4))
    ('', '')
    """
    for name, before, after in (("new", 0, 1), ("lost", 1, 0)):
        present = shares[after] >= PRESENT and counts[after] >= MIN_NEW
        if present and shares[before] <= ABSENT:
            return name
    return ""


def label_both(
    aligned: Aligned, word: int, senses: int | None, most: int, seed: int
) -> tuple[NDArray[np.intp], list[str]]:
    """Return the sense (n + m,) of each occurrence of two sides, and the names (k,) of the senses.

    If both sides are documents of one model that has saved senses for the word, these are taken;
    a number of senses, or other sides: all occurrences are clustered together.
    """
    saved = current_senses(aligned.a, aligned.a.vocabulary.words[int(aligned.rows_a[word])])
    own = list[NDArray[np.intp]]()  # the saved sense of each occurrence in the model that has them
    drawn = draw_positions(aligned, word, most, seed)
    if saved is not None:
        for side, positions in zip(aligned.sides, drawn, strict=True):
            if side.model is aligned.a or aligned.is_one_model:
                representations = Representations.of(side.model)
                own.append(classify_at(representations, saved, positions)[0])
        if senses is None and aligned.is_one_model:
            present, labels = np.unique(np.concatenate(own), return_inverse=True)
            return labels.ravel(), [saved.names[sense] for sense in present.tolist()]
    both = np.concatenate(
        [aligned.embed(side, word, drawn[side], aligned.common) for side in (0, 1)]
    )
    if senses is not None:
        senses = min(senses, len(np.unique(both.round(6), axis=0)))
    labels = cluster(both, aligned.space, senses).labels
    if saved is None:
        return labels, [""] * (int(labels.max()) + 1)
    return labels, _name_clusters(labels, np.concatenate(own), saved.names)


def draw_positions(
    aligned: Aligned, word: int, most: int, seed: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the positions of the occurrences of both sides that word_vectors draws."""
    rng = np.random.default_rng(seed)
    return aligned.positions(0, word, most, rng), aligned.positions(1, word, most, rng)


def _name_clusters(
    labels: NDArray[np.intp], saved: NDArray[np.intp], names: Sequence[str]
) -> list[str]:
    """Return for each cluster the name of the saved sense that is nearly the same; else "".

    labels: (n,) the clusters; saved: (m,) the saved senses of the first m of these occurrences.
    """
    known, chosen = labels[: len(saved)], list[str]()
    for label in range(int(labels.max()) + 1):
        inside = np.bincount(saved[known == label], minlength=len(names))
        sense = int(inside.argmax())
        needed = SAME_SENSE * max(inside.sum(), np.count_nonzero(saved == sense))
        chosen.append(names[sense] if inside[sense] > needed else "")
    return chosen


def _mark_senses(
    aligned: Aligned, word: int, drawn: Sequence[NDArray[np.int64]],
    labels: Sequence[NDArray[np.intp]],
) -> list[list[str]]:  # fmt: skip
    """Return the words that mark each sense, among those that both vocabularies have."""
    if aligned.common:  # one vocabulary
        rows = np.arange(len(aligned.a.counts))
        total, own = aligned.a.counts + aligned.b.counts, int(aligned.rows_a[word])
        numbers: Sequence[NDArray[np.intp]] = (rows, rows)
    else:
        rows, total, own, numbers = aligned.rows_a, aligned.counts.sum(axis=0), word, aligned.shared
    senses = max(int(side.max(initial=0)) for side in labels) + 1
    counts = np.zeros((senses, len(rows)))
    for side, number, positions, of in zip(aligned.sides, numbers, drawn, labels, strict=True):
        for batch in read_windows(side.model, positions, reach=WINDOW):
            ids = number[batch.ids]
            seen = batch.mask & (ids >= 0)
            owners = np.broadcast_to(of[batch.rows, None], ids.shape)
            np.add.at(counts, (owners[seen], ids[seen]), 1)
    counts[:, own] = 0
    every = aligned.a.vocabulary.words
    words = [every[row] for row in rows.tolist()]
    frequency = total / max(1, aligned.a.tokens + aligned.b.tokens)
    return choose_markers(counts, total, words, frequency * (len(every) > MANY))
