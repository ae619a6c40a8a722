"""Senses and ambiguity against a truth: pseudowords, CoarseWSD, real words, seeds, the clock.

    python bench/senses.py MODEL [--coarsewsd FOLDER] [--attention NAME] [--tune]
    python bench/senses.py MODEL --seeds | --real | --speed | --labelled

A pseudoword is several words of one meaning made one: their occurrences are put together, and all
get the vector that word2vec would give the merged word, the mean weighted by occurrences. Words are
split in two halves by a seed: numbers are chosen on one (--tune), figures come from the other.
"""

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import v_measure_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from ctxembed.context.occurrences import sample_positions
from ctxembed.context.parse import Occurrence, parse
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.progress import SILENT
from ctxembed.queries.ambiguity import measure_usages
from ctxembed.stats.vectors import unit
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.evidence import OCCURRENCES as DRAWN_OCCURRENCES
from ctxembed.word_senses.evidence import measure_evidence
from ctxembed.word_senses.sense_space import SenseSpace, make_space
from ctxembed.word_senses.sense_test import SenseTest

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
# Words of several meanings, chosen before the tool was asked about them.
_REAL = """
bank plant apple spring seal mouse capital bow java mole trunk chair arm server orange crane bass
jaguar mercury match pitch bat cell star court race organ jam palm rock board
"""
REAL = _REAL.split()
# For --labelled: words of several senses (CoarseWSD's, and those a linguist named in political
# speeches), and words of one, chosen before the tool was asked about any of them.
_SEVERAL = """
apple arm bank bow chair java mole seal spring trunk interest duties charge party arms bill capital
balance plant depression trust relief union labor race notes
"""
_ONE = """
museum village teacher professor engineer mountain river lake island forest language religion prince
summer autumn morning mother brother wife bread milk tobacco cotton restaurant kitchen garden prison
murder election poverty disease vaccine lung brain patients medicine tuberculosis dinosaur railway
bishop
"""
DESIGNS = {  # occurrences of each word
    "two": (400, 400),
    "three": (300, 300, 300),
    "four": (250, 250, 250, 250),
    "0.9 / 0.1": (900, 100),
    "0.96 / 0.04": (960, 40),
}
DRAWN = 24  # pseudowords of each design
OCCURRENCES = 1000  # occurrences of an unmerged word


def halves(model: Model) -> tuple[list[str], list[str]]:
    """Split the words the corpus has often enough: for tuning, for the figures."""
    known = [word for word in WORDS if model.vocabulary.find(word) is not None]
    often = [word for word in known if model.counts[model.vocabulary.row(word)] >= 200]
    order = np.random.default_rng(7).permutation(len(often))
    return [often[i] for i in order[: len(often) // 2]], [
        often[i] for i in order[len(often) // 2 :]
    ]


def draw(
    model: Model, words: Sequence[str], sizes: Sequence[int], rng: np.random.Generator
) -> Iterator[list[str]]:
    """Draw words that occur often enough."""
    often = [
        word for word in words if model.counts[model.vocabulary.row(word)] >= min(900, max(sizes))
    ]
    for _ in range(DRAWN):
        yield [str(word) for word in rng.choice(often, len(sizes), replace=False)]


def merge(
    model: Model,
    space: SenseSpace,
    words: Sequence[str],
    sizes: Sequence[int],
    rng: np.random.Generator,
) -> tuple[Floats, Labels]:
    """Return the vectors of a pseudoword's occurrences, and which word stood there."""
    assert model.index
    rows = [model.vocabulary.row(word) for word in words]
    positions = [
        sample_positions(model.index.positions(r), n, rng) for r, n in zip(rows, sizes, strict=True)
    ]
    truth = np.repeat(np.arange(len(rows)), [len(some) for some in positions])
    inputs = np.array(space.representation.inputs[np.arange(len(model.vocabulary))])
    merged = np.average(model.vectors[rows], axis=0, weights=sizes)
    first = rows[0]
    if not np.allclose(inputs[first], model.vectors[first]):  # prepared as the attention wants it
        if not np.allclose(inputs[first], unit(model.vectors[first]), atol=1e-5):
            merged = merged - model.mean
        merged = unit(merged)
    inputs[rows] = merged
    vectors = vectors_at(
        model, replace(space.representation, inputs=inputs), np.concatenate(positions)
    )
    return vectors.astype(np.float64), truth


def teach(placed: Floats, truth: Labels) -> float:
    """Return the V of a classifier that has seen the truth elsewhere: what the vectors can tell."""
    classifier = LinearDiscriminantAnalysis(solver="lsqr", shrinkage="auto")
    folds = StratifiedKFold(5, shuffle=True, random_state=1)
    return float(v_measure_score(truth, cross_val_predict(classifier, placed, truth, cv=folds)))


def alone(model: Model, space: SenseSpace, word: str) -> Floats:
    """Return the vectors of a word's occurrences."""
    assert model.index
    positions = sample_positions(
        model.index.positions(model.vocabulary.row(word)), OCCURRENCES, np.random.default_rng(1)
    )
    return vectors_at(model, space.representation, positions).astype(np.float64)


def report(representations: Representations, name: str, words: Sequence[str], label: str) -> None:
    """Print what senses and ambiguity make of pseudowords and of plain words."""
    model, test = representations.model, SenseTest.of(representations, name)
    space, reader = test.reader.space, test.reader
    print(f"{label} half, {name}: {DRAWN} pseudowords of each kind, {len(words)} words")
    print("pseudoword\tright k\tk 1 2 3 4 5 6\tV auto\tV given\tV taught\tneeds-context")
    rng = np.random.default_rng(11)
    for design, sizes in DESIGNS.items():
        numbers, auto, fixed, taught, needs = [], [], [], [], []
        for drawn in draw(model, words, sizes, rng):
            vectors, truth = merge(model, space, drawn, sizes, rng)
            chosen = cluster(vectors, space, None)
            same = chosen.number == len(sizes)
            right_k = chosen if same else cluster(vectors, space, len(sizes))
            numbers.append(chosen.number)
            auto.append(v_measure_score(truth, chosen.labels))
            fixed.append(v_measure_score(truth, right_k.labels))
            taught.append(teach(space.project(vectors), truth))
            some = vectors[rng.permutation(len(vectors))[:DRAWN_OCCURRENCES]]
            merged = [model.vocabulary.row(word) for word in drawn]
            near = reader.near([(merged, sizes)])[0]
            evidence = measure_evidence(some, None, space, near)
            needs.append(test.judge(evidence).senses > 1)
        right = np.mean(np.array(numbers) == len(sizes))
        counts = " ".join(map(str, np.bincount(numbers, minlength=7)[1:]))
        print(
            f"{design}\t{right:.2f}\t{counts}\t{np.mean(auto):.3f}\t{np.mean(fixed):.3f}"
            f"\t{np.mean(taught):.3f}\t{np.mean(needs):.2f}",
            flush=True,
        )
    several, context = [], 0
    for word in words:
        vectors = alone(model, space, word)
        number = cluster(vectors, space, None).number
        several += [f"{word} {number}"] if number > 1 else []
        evidence_of = test.measure(word)
        context += evidence_of is not None and test.judge(evidence_of).senses > 1
    print(
        f"unmerged: one sense for {1 - len(several) / len(words):.2f}, static-ok for"
        f" {1 - context / len(words):.2f}; not one sense: {', '.join(several)}"
    )


def coarsewsd(representations: Representations, name: str, folder: Path) -> None:
    """Cluster the sentences of each word: as many senses as are found, and as the data set has."""
    model, space = representations.model, make_space(representations, name)
    print("CoarseWSD\tsentences\tmost frequent\tk found\tof\taccuracy\tV auto\tV given")
    scores = []
    for word_folder in sorted(item for item in folder.iterdir() if item.is_dir()):
        occurrences: list[Occurrence] = []
        gold: list[int] = []
        for part in ("train", "test"):
            lines = (word_folder / f"{part}.data.txt").read_text(encoding="utf-8").splitlines()
            labels = (word_folder / f"{part}.gold.txt").read_text().split()
            for line, label in zip(lines, labels, strict=True):
                at, _, text = line.partition("\t")
                tokens = [token.replace("[", "(").replace("]", ")") for token in text.split(" ")]
                tokens[int(at)] = f"[{tokens[int(at)]}]"
                try:
                    targets = parse(model, " ".join(tokens)).occurrences
                except Exception:
                    continue
                occurrences += targets[:1]
                gold += [int(label)] * len(targets[:1])
        truth = np.array(gold)
        vectors = space.representation.vectors([_clip(item) for item in occurrences])
        chosen = cluster(vectors, space, None)
        right_k = cluster(vectors, space, len(set(gold)))
        most = np.bincount(truth).max() / len(truth)
        v, fixed = (v_measure_score(truth, c.labels) for c in (chosen, right_k))
        scores.append((most, accuracy(truth, chosen.labels), v, fixed))
        print(
            f"{word_folder.name}\t{len(truth)}\t{most:.3f}\t{chosen.number}\t{len(set(gold))}"
            f"\t{scores[-1][1]:.3f}\t{v:.3f}\t{fixed:.3f}",
            flush=True,
        )
    print("mean\t\t{:.3f}\t\t\t{:.3f}\t{:.3f}\t{:.3f}".format(*np.mean(scores, axis=0)))


def _clip(item: Occurrence, reach: int = 32) -> Occurrence:
    """Cut the sentence as the index does."""
    first = max(0, item.target.start - reach)
    ids = item.ids[first : item.target.stop + reach]
    return Occurrence(ids, range(item.target.start - first, item.target.stop - first))


def accuracy(truth: Labels, labels: Labels) -> float:
    """Return the share that is right under the best naming of the clusters."""
    table = np.zeros((truth.max() + 1, labels.max() + 1))
    np.add.at(table, (truth, labels), 1)
    rows, columns = linear_sum_assignment(-table)
    return float(table[rows, columns].sum() / len(truth))


def seeds(representations: Representations, name: str, number: int = 8) -> None:
    """Print the number of senses of real words for several seeds, and for parts of the text."""
    model, changed = representations.model, np.zeros(2, int)
    print("word\tover seeds\tover as many draws of four fifths of its occurrences")
    for word in REAL:
        part = int(0.8 * min(10_000, model.counts[model.vocabulary.row(word)]))
        senses = [
            [
                find_senses(representations, word, attention=name, seed=seed, most=most)
                for seed in range(1, number + 1)
            ]
            for most in (10_000, part)
        ]
        numbers = [[item.number for item in some] for some in senses]
        changed += [len(set(some)) > 1 for some in numbers]
        print("\t".join([word, *(" ".join(map(str, some)) for some in numbers)]), flush=True)
    print(f"{changed[0]} of {len(REAL)} words change their number over {number} seeds,", end=" ")
    print(f"{changed[1]} over draws of four fifths")


def real(representations: Representations, name: str) -> None:
    """Print the senses of real words by their markers, for a person to read."""
    for word in REAL:
        senses = find_senses(representations, word, attention=name)
        for share, marks in zip(senses.shares, senses.markers, strict=True):
            print(f"{word}\t{senses.number}\t{share:.2f}\t{' '.join(marks[:7])}", flush=True)


def labelled(representations: Representations, name: str) -> None:
    """Print what ambiguity says of words whose number of senses a person has told."""
    right = []
    for label, words in (("several", _SEVERAL.split()), ("one", _ONE.split())):
        known = [word for word in words if word in representations.model]
        usages = [u for u in measure_usages(representations, name, known, SILENT) if u.senses]
        usages.sort(key=lambda usage: -usage.probability)
        flagged = sum(usage.senses > 1 for usage in usages)
        unsure = sum(usage.verdict == "unsure" for usage in usages)
        right.append((flagged if label == "several" else len(usages) - flagged) / len(usages))
        print(f"{label}: {flagged} of {len(usages)} get two senses or more, {unsure} are unsure")
        print("  " + " ".join(f"{u.word} {u.probability:.2f}" for u in usages), flush=True)
    print(f"balanced accuracy {np.mean(right):.3f}")


def speed(model: Path) -> None:
    """Print the processor time of `ctxembed senses WORD`, a process each, and of ambiguity."""
    for word in ("bank", "apple", "the"):
        begun = resource.getrusage(resource.RUSAGE_CHILDREN)
        command = [sys.executable, "-m", "ctxembed", "senses", word, "--again", "-q"]
        subprocess.run([*command, "-m", str(model)], check=True, stdout=subprocess.DEVNULL)
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken = ended.ru_utime + ended.ru_stime - begun.ru_utime - begun.ru_stime
        print(f"senses {word}: {taken:.2f} s of processor time")
    from ctxembed.progress import Progress

    representations = Representations(Model.open(model))
    often = np.flatnonzero(representations.model.counts >= 100)
    rows = often[:: max(1, len(often) // 500)].tolist()
    words = [representations.model.vocabulary.words[row] for row in rows]
    begun_at = time.process_time()
    list(measure_usages(representations, representations.default(), words, Progress()))
    each = (time.process_time() - begun_at) / len(rows)
    print(f"ambiguity: {1000 * each:.1f} ms a word, {each * len(often):.0f} s for {len(often)}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--coarsewsd", type=Path)
    parser.add_argument("--attention")
    for flag in ("--tune", "--seeds", "--real", "--speed", "--labelled"):
        parser.add_argument(flag, action="store_true")
    options = parser.parse_args()
    representations = Representations(Model.open(options.model))
    name = options.attention or representations.default()
    tuning, reported = halves(representations.model)
    if options.tune:
        report(representations, name, tuning, "choosing")
    elif options.seeds:
        seeds(representations, name)
    elif options.labelled:
        labelled(representations, name)
    elif options.real:
        real(representations, name)
    elif options.speed:
        speed(options.model)
    else:
        report(representations, name, reported, "reported")
        if options.coarsewsd:
            coarsewsd(representations, name, options.coarsewsd)


if __name__ == "__main__":
    main()
