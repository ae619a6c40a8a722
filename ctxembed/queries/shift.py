"""How does a word's meaning differ between two corpora?"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.columns import COUNTS, WORD
from ctxembed.model.bundled import as_model, on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.permutation_test import Dealt, Documents, adjust, by_document, deal, interval
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table, round_to_total
from ctxembed.word_senses.alignment import Aligned, align
from ctxembed.word_senses.cluster import cluster

SHIFT = (
    Column(
        "rank",
        "1 has moved most: by effect among those whose q_value is at most 0.05, or --by static",
    ),
    WORD,
    *COUNTS,
    Column("documents_a", "in how many documents of the first corpus, of those looked at", "aside"),
    Column("documents_b", "and of the second", "aside"),
    Column("static", "distance: 1 - cosine of its two static vectors after alignment", "aside"),
    Column(
        "distance",
        "length of the difference of its mean contextual vectors in the two corpora",
        "aside",
    ),
    Column(
        "chance",
        "the same for documents dealt out to the corpora at random: the baseline",
        "aside",
    ),
    Column("effect", "distance beyond chance, in spreads of one occurrence; 0 is no difference"),
    Column("low", "lower end of its 95 % bootstrap interval"),
    Column("high", "upper end"),
    Column(
        "p_value",
        "share of random deals of whole documents with at least this difference",
        "chance",
    ),
    Column(
        "q_value",
        "p_value adjusted for all words tested: among the words up to this one, the share that are"
        " false alarms is expected to be at most this",
        "chance",
    ),
    Column(
        "from_shares", "the part of distance that comes from other shares of the senses", "aside"
    ),
    Column("from_senses", "the rest: the senses themselves are used in other contexts", "aside"),
    Column("shares_a", "percent of each sense in the first corpus, the largest first", "text"),
    Column("shares_b", "and in the second", "text"),
)
DOTS = Chart(
    "dots",
    ["effect"],
    label=["word"],
    low="low",
    high="high",
    title="how far the words have moved, in spreads of one occurrence",
)
SHARES = Chart(
    "bars",
    ["percent"],
    label=["corpus"],
    series=["sense"],
    panel=["word"],
    stacked=True,
    domain=(0, 100),
    title="percent of each sense in the two corpora",
)
FEWEST = 5  # occurrences in each corpus; below this nothing can be said
LEAST = 2  # documents in each corpus; below this nothing can be tested
OFTEN = 20  # of a word that nobody asked for: with fewer, no p-value is small enough to tell
SIGNIFICANT = 0.05  # q_value up to which a word has moved


@on_model(*SHIFT)
def shift(
    model_a: Model,
    model_b: Model | str | Path,
    words: str | Sequence[str] = (),
    *,
    min_count: int | None = None,
    by: str = "effect",
    number: int = 20,
    senses: int | None = None,
    function_words: bool = False,
    most: int = 1000,
    permutations: int = 999,
    seed: int = 1,
    progress: Progress = SILENT,
) -> Table:
    """Measure how far words have shifted, the words given or those that shifted most.

    senses=None finds how many each word has.
    """
    b = as_model(model_b)
    aligned, a = align(model_a, b, FEWEST if min_count is None else min_count), model_a
    known, unknown = aligned.keep_known([words] if isinstance(words, str) else words)
    everything = [
        word
        for word in range(len(aligned.rows_a))
        if function_words or by == "static" or aligned.is_content(word)
    ]
    least = np.minimum(a.counts[aligned.rows_a], b.counts[aligned.rows_b])
    often = [word for word in everything if min_count is not None or least[word] >= OFTEN]
    static = sorted(everything, key=lambda word: -round(float(aligned.distances[word]), 9))
    tested = known or (static[:number] if by == "static" else often or everything)
    results: dict[int, Dealt] = {}
    with progress.stage("testing", len(tested), "words") as stage:
        for word in tested:
            made = _test(aligned, word, most, permutations, seed)
            if made is not None:
                results[word] = made
            stage.advance()
    adjusted = adjust(np.array([made.p_value for made in results.values()]))
    q_values = dict(zip(results, adjusted.tolist(), strict=True))

    def order(word: int) -> tuple[Cell, ...]:
        if word not in results:
            return 2, 0.0, 0.0
        found = results[word]
        if q_values[word] <= SIGNIFICANT:
            return 0, -found.effect, found.p_value
        return 1, found.p_value, -found.effect

    ranked = static if by == "static" else sorted(tested, key=order)
    rank = {word: place for place, word in enumerate(ranked, 1)}
    shown = known or ranked[:number]
    rows: list[tuple[Cell, ...]] = []
    for word in shown:
        row_a, row_b = aligned.rows_a[word], aligned.rows_b[word]
        counts = (a.vocabulary.words[row_a], int(a.counts[row_a]), int(b.counts[row_b]))
        told = _describe(aligned, word, results.get(word), q_values.get(word), senses, most, seed)
        moved = float(aligned.distances[word])
        rows.append((rank.get(word), *counts, *told[:2], moved, *told[2:]))
    notes = list(_notes(aligned, [str(row[1]) for row in rows if row[9] is None], q_values))
    if by != "static" and not known and 0 < len(often) < len(everything):
        notes.append(
            f"{len(everything) - len(often)} words that a corpus has fewer than {OFTEN} times were"
            " not tested; --min-count tests rarer ones"
        )
    names = [model.path.name for model in (a, b)]
    return Table(SHIFT, rows, notes, unknown, [DOTS, replace(SHARES, of=_shares(rows, names))])


def _occurrences(
    aligned: Aligned, word: int, most: int, seed: int
) -> tuple[Floats, Floats, Documents] | None:
    """Return the vectors of a word in both corpora, and by document; None where there are few."""
    rng = np.random.default_rng(seed)
    (x, of_x), (y, of_y) = (aligned.vectors(side, word, most, rng) for side in (0, 1))
    if min(len(x), len(y)) < FEWEST:
        return None
    return x, y, by_document(x, of_x, y, of_y)


def _test(aligned: Aligned, word: int, most: int, permutations: int, seed: int) -> Dealt | None:
    """Test a word; None where it stands in too few occurrences or documents."""
    found = _occurrences(aligned, word, most, seed)
    if found is None:
        return None
    x, y, documents = found
    if min(documents.first, len(documents.counts) - documents.first) < LEAST:
        return None
    return deal(x, y, documents, permutations, np.random.default_rng(seed))


def _describe(
    aligned: Aligned,
    word: int,
    tested: Dealt | None,
    q_value: float | None,
    senses: int | None,
    most: int,
    seed: int,
) -> tuple[Cell, ...]:
    """Return documents, distance, chance, effect, its interval, p, q, the split and the shares."""
    found = _occurrences(aligned, word, most, seed)
    if found is None:
        return (None,) * 13
    x, y, documents = found
    of_b = len(documents.counts) - documents.first
    labels = group(np.concatenate([x, y]), aligned, senses)
    from_shares, from_senses, shares = split(x, y, labels)
    told = (" ".join(round_to_total((100 * side).tolist(), 0)) for side in shares)
    if tested is None:
        distance = float(np.linalg.norm(y.mean(axis=0) - x.mean(axis=0)))
        tests: tuple[Cell, ...] = (distance, *(None,) * 6)
    else:
        low, high = interval(documents, tested, np.random.default_rng(seed))
        tests = (
            tested.distance, tested.chance, tested.effect, low, high, tested.p_value, q_value
        )  # fmt: skip
    return (documents.first, of_b, *tests, from_shares, from_senses, *told)


def split(x: Floats, y: Floats, labels: NDArray[np.intp]) -> tuple[float, float, Floats]:
    """Split |mean y - mean x| into what sense shares explain and what the senses themselves do.

    With shares p and q and sense means m and n, the difference of the means is exactly
    Σ (q - p) (m + n) / 2  +  Σ (p + q) / 2 (n - m); each part is measured along the whole.
    A sense that one corpus lacks has not changed: all it does is a matter of shares.

    >>> x, y = np.array([[1.0, 0], [1, 0], [0, 1]]), np.array([[1.0, 0], [0, 1], [0, 1]])
    >>> shares, senses, _ = split(x, y, np.array([0, 0, 1, 0, 1, 1]))
    >>> round(shares, 6), round(senses, 6)
    (0.471405, 0.0)
    """
    of_x, of_y = labels[: len(x)], labels[len(x) :]
    k = int(labels.max()) + 1
    shares = np.array([np.bincount(of, minlength=k) / len(of) for of in (of_x, of_y)])  # (2, k)
    order = np.argsort(-shares.sum(axis=0), kind="stable")  # the largest sense first
    by_shares = np.zeros(x.shape[1])
    for sense in order:
        m, n = (
            v[of == sense].mean(axis=0) if (of == sense).any() else None
            for v, of in ((x, of_x), (y, of_y))
        )
        middle = m if n is None else n if m is None else (m + n) / 2
        assert middle is not None
        by_shares += (shares[1, sense] - shares[0, sense]) * middle
    whole = y.mean(axis=0) - x.mean(axis=0)
    length = float(np.linalg.norm(whole))
    along = float(by_shares @ whole) / length if length else 0.0
    return along, length - along, shares[:, order]


def group(vectors: Floats, aligned: Aligned, senses: int | None) -> NDArray[np.intp]:
    """Return the sense (n,) of each vector (n, d), in as many senses as given or as there are."""
    if senses is not None:
        senses = min(senses, len(np.unique(vectors.round(6), axis=0)))
    return cluster(vectors, aligned.space, senses).labels


def _shares(rows: Sequence[Sequence[Cell]], names: Sequence[str]) -> Callable[[], Table]:
    """List the shares of the senses, one a row, as the columns shares_a and shares_b have them."""
    found: list[tuple[Cell, ...]] = [
        (row[1], name, sense, int(percent))
        for row in rows
        for name, shares in zip(names, row[-2:], strict=True)
        for sense, percent in enumerate(str(shares or "").split(), 1)
    ]
    return lambda: Table(("word", "corpus", "sense", "percent"), found)


def _notes(aligned: Aligned, untested: Sequence[str], q_values: dict[int, float]) -> Iterator[str]:
    shared = f"{len(aligned.rows_a)} shared words"
    ready = aligned.ready
    yield (
        f"aligned on {shared}" if ready is None else f"{shared}, one table, {ready.name} attention"
    )
    if q_values:
        number = sum(q <= SIGNIFICANT for q in q_values.values())
        doubt = ", of which about one in twenty may be a false alarm" if number else ""
        yield (
            f"{len(q_values)} words were tested by dealing out documents: {number} have a q_value"
            f" up to {SIGNIFICANT}{doubt}"
        )
    if untested:
        yield (
            f"fewer than {FEWEST} occurrences or {LEAST} documents in a corpus, no test:"
            f" {', '.join(untested)}"
        )
