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
    aligned: Aligned, word: int, vectors: Floats, labels: NDArray[np.intp], split: Split, most: int,
    seed: int,
) -> list[SideSense]:  # fmt: skip
    """Return the senses of a word in the order of a split, from the labels of its occurrences.

    vectors (n + m, d) and labels (n + m,) of the two sides, as word_vectors draws them.
    """
    rng = np.random.default_rng(seed)
    drawn = [aligned.positions(side, word, most, rng) for side in (0, 1)]
    bounds = [slice(0, len(drawn[0])), slice(len(drawn[0]), None)]
    names = _name_senses(aligned, word, labels[bounds[0]], drawn[0])
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
                names[sense] if names else "",
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


def cluster_both(aligned: Aligned, x: Floats, y: Floats, senses: int | None) -> NDArray[np.intp]:
    """Return the sense (n + m,) of each occurrence of two sides, clustered together."""
    both = np.concatenate([x, y])
    if senses is not None:
        senses = min(senses, len(np.unique(both.round(6), axis=0)))
    return cluster(both, aligned.space, senses).labels


def _name_senses(
    aligned: Aligned, word: int, labels: NDArray[np.intp], positions: NDArray[np.int64]
) -> list[str]:
    """Return the name of the saved sense that most occurrences of each sense here have.

    labels: (n,) of the occurrences in the first model. No names if it has none for the word.
    """
    model, row = aligned.a, int(aligned.rows_a[word])
    saved = current_senses(model, model.vocabulary.words[row])
    if saved is None or not any(saved.names):
        return []
    own, _ = classify_at(Representations.of(model), saved, positions)
    number = int(labels.max(initial=0)) + 1
    votes = [np.bincount(own[labels == label], minlength=saved.number) for label in range(number)]
    return [
        saved.names[int(some.argmax())] if 2 * some.max() > some.sum() else "" for some in votes
    ]


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
