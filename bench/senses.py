"""Senses and ambiguity against a truth: pseudowords, CoarseWSD, and the clock.

    python bench/senses.py MODEL [--coarsewsd FOLDER] [--attention NAME] [--tune] [--speed]

A pseudoword is two words of one meaning made one: their occurrences are put together, and both get
the vector that word2vec would give the merged word, the mean weighted by occurrences. Words are
split in two halves by a seed: thresholds are chosen on one (--tune), figures come from the other.
"""

import argparse
import os
import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import v_measure_score

from ctxembed.ask import ambiguity, induce
from ctxembed.ask.find_senses import find_senses
from ctxembed.ask.induce import SenseSpace, cluster, make_space
from ctxembed.context.occurrences import read, sample
from ctxembed.context.representations import Occurrence, Representations, parse, vectors_at
from ctxembed.progress import Progress
from ctxembed.static.k_means import find_centres, nearest
from ctxembed.static.space import unit
from ctxembed.store.model import Model

Floats = NDArray[np.float64]
Labels = NDArray[np.intp]

# Of one meaning, as far as a person can tell who has not looked at their contexts.
_LIST = """
violin piano guitar cathedral mosque synagogue hydrogen oxygen uranium copper lawyer physicist
painter sculptor philosopher poet novelist journalist photographer archbishop emperor democracy
socialism inflation unemployment taxation earthquake hurricane rainfall glacier elephant horse
salmon insects birds bacteria cancer surgeon hospital airport railway bicycle helicopter submarine
cavalry infantry artillery battalion tennis basketball baseball hockey wrestler goalkeeper
parliament constitution senator mayor treaty refugees algebra theorem geometry software website
cheese wheat rice coffee wine beer winter afternoon daughter nephew husband grandmother wedding
divorce funeral skull liver poetry opera ballet choir orchestra clothing leather furniture canal
lighthouse telescope pregnancy surgery nurse farmer slavery racism monarchy pottery monk priest
bishop mythology theology economics statistics mathematics physics chemistry linguistics grammar
vowel alphabet dictionary encyclopedia newspaper documentary comedian actress singer drummer
guitarist
"""
WORDS = _LIST.split()
RATIO = 3  # the rarer word of a pair has at least a third of the other's occurrences
MOST = 1000  # occurrences of each pseudoword
DRAWS = (3, 11, 12)  # seeds, each of which pairs the words anew


def halves(model: Model) -> tuple[list[str], list[str]]:
    """Split the words the corpus has often enough: for tuning, for the figures."""
    known = [word for word in WORDS if model.find(word) is not None]
    often = [word for word in known if model.counts[model.row(word)] >= 200]
    order = np.random.default_rng(7).permutation(len(often))
    return [often[i] for i in order[: len(often) // 2]], [
        often[i] for i in order[len(often) // 2 :]
    ]


def draw_pairs(model: Model, words: Sequence[str], number: int, seed: int) -> list[tuple[str, str]]:
    """Pair words at random, of about the same frequency."""
    left = [words[i] for i in np.random.default_rng(seed).permutation(len(words))]
    pairs: list[tuple[str, str]] = []
    while left and len(pairs) < number:
        one = left.pop(0)
        for other in left:
            a, b = (int(model.counts[model.row(word)]) for word in (one, other))
            if max(a, b) <= RATIO * min(a, b):
                left.remove(other)
                pairs.append((one, other))
                break
    return pairs


def merge(model: Model, space: SenseSpace, one: str, other: str) -> tuple[Floats, Labels]:
    """Return the vectors of a pseudoword's occurrences, and which word stood there."""
    assert model.index
    a, b = model.row(one), model.row(other)
    n, m = int(model.counts[a]), int(model.counts[b])
    inputs = np.array(space.way.inputs[np.arange(len(model.vocab))])
    merged = (n * model.vectors[a] + m * model.vectors[b]) / (n + m)
    if not np.allclose(inputs[a], model.vectors[a]):  # prepared as the attention wants it
        if not np.allclose(inputs[a], unit(model.vectors[a]), atol=1e-5):
            merged = merged - model.mean
        merged = unit(merged)
    inputs[[a, b]] = merged
    places = np.concatenate([model.index.positions(a), model.index.positions(b)])
    truth = np.repeat([0, 1], [n, m])
    chosen = np.sort(np.random.default_rng(1).permutation(n + m)[:MOST])
    made = vectors_at(model, replace(space.way, inputs=inputs), places[chosen])
    return made.astype(np.float64), truth[chosen]


def alone(model: Model, space: SenseSpace, word: str) -> Floats:
    """Return the vectors of a word's occurrences."""
    assert model.index
    places = sample(model.index.positions(model.row(word)), MOST, np.random.default_rng(1))
    return vectors_at(model, space.way, places).astype(np.float64)


def share_error(truth: Labels, found: Labels) -> float:
    """Return how far the shares of two senses are off, largest to largest."""
    true, made = (np.sort(np.bincount(x, minlength=2) / len(x)) for x in (truth, found))
    return float(abs(true[-1] - made[-1]))


def report(representations: Representations, name: str, words: Sequence[str], label: str) -> None:
    """Print what senses makes of pseudowords and of plain words."""
    model, space = representations.model, make_space(representations, name)
    draws = [draw_pairs(model, words, 20, seed) for seed in DRAWS]
    pairs = list(dict.fromkeys(pair for draw in draws for pair in draw))
    numbers, auto, given, errors = [], [], [], []
    for one, other in pairs:
        vectors, truth = merge(model, space, one, other)
        found = cluster(vectors, space, None)
        two = found if found.number == 2 else cluster(vectors, space, 2)
        numbers.append(found.number)
        auto.append(v_measure_score(truth, found.labels))
        given.append(v_measure_score(truth, two.labels))
        errors.append(share_error(truth, two.labels))
        print(
            f"  {one}+{other}: k {found.number}, V {auto[-1]:.2f}, k=2 {given[-1]:.2f}", flush=True
        )
    counted = {word: cluster(alone(model, space, word), space, None).number for word in words}
    right = [error for error, number in zip(errors, numbers, strict=True) if number == 2]
    print(f"{label}, {name}: {len(pairs)} pseudowords, {len(words)} words")
    print(f"  senses found in pseudowords: {np.bincount(numbers)[1:].tolist()} (one, two, ...)")
    print(f"  V-measure, --k auto: {np.mean(auto):.3f}; --k 2: {np.mean(given):.3f}")
    scores = dict(zip(pairs, auto, strict=True))
    each = [f"{np.mean([scores[pair] for pair in draw]):.3f}" for draw in draws]
    print(f"  --k auto, each draw of {len(draws[0])} pairs: {' '.join(each)}")
    print(
        f"  share off by, where two are found: mean {np.mean(right):.3f},"
        f" within 0.1: {np.mean(np.array(right) <= 0.1):.2f}; --k 2: mean {np.mean(errors):.3f}"
    )
    several = [f"{word} {number}" for word, number in counted.items() if number > 1]
    print(f"  one sense for {1 - len(several) / len(words):.2f} of the words; not: {several}")


def tune(representations: Representations, name: str, words: Sequence[str]) -> None:
    """Print width, and at k = 2 and 3 cleft and stability, for pseudowords and words."""
    model, space = representations.model, make_space(representations, name)
    rng = np.random.default_rng(0)
    sets: list[tuple[str, Floats]] = [
        (f"{a}+{b}", merge(model, space, a, b)[0])
        for a, b in draw_pairs(model, words, 20, DRAWS[0])
    ]
    sets += [(word, alone(model, space, word)) for word in words]
    for word, vectors in sets:
        placed = space.place(vectors)
        x = (placed - placed.mean(axis=0)) @ induce._principal(placed - placed.mean(axis=0))
        cells = [f"{space.width(placed):.2f}"]
        for k in (2, 3):
            labels = nearest(x, find_centres(x, k, 0, starts=4))
            groups = [x[labels == sense] for sense in range(k)]
            deep = min(induce.cleft(a, b, rng) for a, b in combinations(groups, 2))
            cells.append(f"{deep:.2f} {induce._stability(x, k, rng):.2f}")
        print(f"{word}\t" + "\t".join(cells), flush=True)


def coarsewsd(representations: Representations, name: str, folder: Path) -> None:
    """Cluster the sentences of each word, as many senses as the data set has."""
    model, space = representations.model, make_space(representations, name)
    scores = []
    for place in sorted(item for item in folder.iterdir() if item.is_dir()):
        occurrences: list[Occurrence] = []
        gold: list[int] = []
        for part in ("train", "test"):
            lines = (place / f"{part}.data.txt").read_text(encoding="utf-8").splitlines()
            labels = (place / f"{part}.gold.txt").read_text().split()
            for line, label in zip(lines, labels, strict=True):
                at, _, text = line.partition("\t")
                tokens = [token.replace("[", "(").replace("]", ")") for token in text.split(" ")]
                tokens[int(at)] = f"[{tokens[int(at)]}]"
                try:
                    found = parse(model, " ".join(tokens)).occurrences
                except Exception:
                    continue
                occurrences += found[:1]
                gold += [int(label)] * len(found[:1])
        truth = np.array(gold)
        vectors = space.way.vectors([_clip(item) for item in occurrences])
        made = cluster(vectors, space, len(set(gold))).labels
        scores.append((_accuracy(truth, made), v_measure_score(truth, made)))
        most = np.bincount(truth).max() / len(truth)
        print(
            f"  {place.name}: {len(truth)} sentences, {len(set(gold))} senses,"
            f" accuracy {scores[-1][0]:.3f} (most frequent sense {most:.3f}),"
            f" V {scores[-1][1]:.3f}",
            flush=True,
        )
    accuracy, v = np.mean(scores, axis=0)
    print(f"CoarseWSD, {name}, k given: accuracy {accuracy:.3f}, V-measure {v:.3f}")


def _clip(item: Occurrence, reach: int = 32) -> Occurrence:
    """Cut the sentence as the index does."""
    first = max(0, item.target.start - reach)
    ids = item.ids[first : item.target.stop + reach]
    return Occurrence(ids, range(item.target.start - first, item.target.stop - first))


def _accuracy(truth: Labels, made: Labels) -> float:
    """Return the share that is right under the best naming of the clusters."""
    table = np.zeros((truth.max() + 1, made.max() + 1))
    np.add.at(table, (truth, made), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(truth))


def rank(representations: Representations, name: str, words: Sequence[str], label: str) -> None:
    """Print whether ambiguity puts a pseudoword above the words it is made of."""
    model, space = representations.model, make_space(representations, name)
    rng = np.random.default_rng(0)
    draws = ambiguity._draws(ambiguity.EACH, rng)

    def look(vectors: Floats) -> ambiguity.Usage:
        some = unit(vectors[rng.permutation(len(vectors))[: ambiguity.EACH]].astype(np.float32))
        return ambiguity.describe(0, MOST, some, some[0], space, draws)

    above, merged, parts = [], [], []
    for one, other in draw_pairs(model, words, 20, DRAWS[0]):
        both = look(merge(model, space, one, other)[0])
        each = [look(alone(model, space, word)) for word in (one, other)]
        above += [both.similarity < item.similarity for item in each]
        merged.append(ambiguity.verdict(both, space.alike) == "needs-context")
        parts += [ambiguity.verdict(item, space.alike) == "static-ok" for item in each]
    print(
        f"{label}, {name}: ambiguity ranks the pseudoword above its part in {np.mean(above):.3f}"
        f" of {len(above)} cases; needs-context for {np.mean(merged):.2f} of the pseudowords,"
        f" static-ok for {np.mean(parts):.2f} of the parts"
    )


def speed_of_ambiguity(representations: Representations, name: str, words: int = 20_000) -> None:
    """Print the rate of ambiguity over many words beside that of contextualising alone."""
    model = representations.model
    assert model.index
    rows = list(range(min(words, len(model.vocab))))
    space = make_space(representations, name)
    rng = np.random.default_rng(1)
    few = rows[:: max(1, len(rows) // 1000)]
    places = [sample(model.index.positions(row), ambiguity.EACH, rng) for row in few]
    times: dict[str, list[float]] = {"contextualising": [], "ambiguity": []}
    for _ in range(3):
        begun = time.perf_counter()
        for first in range(0, len(places), 80):
            vectors_at(model, space.way, np.concatenate(places[first : first + 80]))
        times["contextualising"].append(time.perf_counter() - begun)
        begun = time.perf_counter()
        list(ambiguity.measure(model, space, few, 1, Progress()))
        times["ambiguity"].append(time.perf_counter() - begun)
    middle = {stage: float(np.median(taken)) for stage, taken in times.items()}
    number = sum(map(len, places))
    for stage, seconds in middle.items():
        print(f"  {stage}: {number / seconds:,.0f} occurrences a second")
    print(
        f"  ratio {middle['ambiguity'] / middle['contextualising']:.2f},"
        f" {len(few)} words of {len(rows)}"
    )
    begun = time.perf_counter()
    list(ambiguity.measure(model, space, rows, 1, Progress()))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"  all {len(rows)} words: {time.perf_counter() - begun:.1f} s, peak memory {peak:.0f} MB"
    )


def speed(
    representations: Representations, name: str, number: int = 10_000, rounds: int = 5
) -> None:
    """Print the stages of senses for a word with so many occurrences, medians."""
    model = representations.model
    assert model.index
    row = int(np.flatnonzero(model.counts >= number)[-1])
    word = model.vocab[row]
    places = sample(model.index.positions(row), number, np.random.default_rng(1))
    way = representations.get(name)
    space = make_space(representations, name)
    vectors = vectors_at(model, space.way, places)
    vectors_at(model, way, places)
    stages: dict[str, Callable[[], object]] = {
        "reading": lambda: list(read(model, places)),
        "reading and contextualising": lambda: vectors_at(model, way, places),
        "evidence": lambda: vectors_at(model, space.way, places),
        "the usual spread": lambda: make_space(representations, name),
        "clustering, k auto": lambda: cluster(vectors, space, None),
        "all of senses": lambda: find_senses(representations, word, attention=name, most=number),
    }
    taken: dict[str, list[float]] = {stage: [] for stage in stages}
    for _ in range(rounds):
        for stage, work in stages.items():
            begun = time.perf_counter()
            work()
            taken[stage].append(time.perf_counter() - begun)
    middle = {stage: float(np.median(times)) for stage, times in taken.items()}
    print(f"{word!r}, {len(places)} occurrences, {name}, medians of {rounds}:")
    for stage, seconds in middle.items():
        print(f"  {stage}: {seconds:.3f} s")
    base = middle["reading and contextualising"]
    ratio = middle["all of senses"] / base
    print(f"  all of senses is {ratio:.2f} times reading and contextualising")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    parser.add_argument("--coarsewsd", type=Path)
    parser.add_argument("--attention")
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--speed", action="store_true")
    given = parser.parse_args()
    representations = Representations(Model.open(given.model))
    name = given.attention or representations.default()
    tuning, reported = halves(representations.model)
    if given.tune:
        tune(representations, name, tuning)
        rank(representations, name, tuning, "tuning")
        report(representations, name, tuning, "tuning")
        return
    if given.speed:
        speed(representations, name)
        speed_of_ambiguity(representations, name)
        return
    rank(representations, name, reported, "report")
    report(representations, name, reported, "report")
    if given.coarsewsd:
        coarsewsd(representations, name, given.coarsewsd)


if __name__ == "__main__":
    main()
