"""Figurative or literal? Task attention against its baselines, five-fold by sentence.

    python bench/idioms.py IDIOMS.tsv -m MODEL [--folds 5] [--only 5] [--seed 1]

IDIOMS.tsv has the columns idiom, label, token_marks, sentence (MAGPIE's). Prints accuracy and
macro-F1 with 95 % bootstrap intervals, then the same for idioms that no fold was fitted to, and
the median seconds of a fit. Needs scikit-learn. Marks are of tokens between spaces; the span from
the first marked one to the last is the target.
"""

import argparse
import os
import time
from collections import Counter
from collections.abc import Callable

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")

import numpy as np
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression

from ctxembed.attention.terms import REACH
from ctxembed.attention.training.fitting import FitSettings, task_logits
from ctxembed.context.labelled import Item
from ctxembed.context.parse import parse
from ctxembed.context.representation import Bag
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.stats.vectors import unit
from ctxembed.training.fit import Prepared, fit_examples, hold_out, prepare_task

Floats = NDArray[np.float32]
Rows = NDArray[np.intp]
Guess = Callable[[Rows, Rows], Rows]
RESAMPLES = 1000


def read_items(model: Model, path: str) -> tuple[list[Item], int]:
    """Read sentences; count those left out: no known target, or marks that do not fit."""
    items, lost = [], 0
    with open(path, encoding="utf-8") as file:
        next(file)
        for line in file:
            idiom, label, marks, sentence = line.rstrip("\n").split("\t")
            tokens = sentence.replace("[", "(").replace("]", ")").split()
            marked = [position for position, mark in enumerate(marks.split()) if mark == "1"]
            if len(marks.split()) != len(tokens) or not marked:
                lost += 1
                continue
            first, last = marked[0], marked[-1] + 1
            span = " ".join(tokens[first:last])
            text = " ".join([*tokens[:first], f"[{span}]", *tokens[last:]])
            try:
                (item,) = parse(model, text).occurrences
            except (CtxembedError, ValueError):
                lost += 1
                continue
            items.append(Item(label, item.clip(REACH), idiom))
    return items, lost


def make_folds(keys: list[str], number: int, rng: np.random.Generator) -> Rows:
    """Deal each key's rows out over the folds."""
    fold = np.zeros(len(keys), np.intp)
    names = np.array(keys)
    for key in sorted(set(keys)):
        rows = rng.permutation(np.flatnonzero(names == key))
        fold[rows] = (np.arange(len(rows)) + rng.integers(number)) % number
    return fold


def macro_f1(right: Rows, predicted: Rows) -> float:
    """Average F1 over the two labels."""
    both = []
    for label in (0, 1):
        hit = int(((right == label) & (predicted == label)).sum())
        both.append(2 * hit / max(1, int((right == label).sum() + (predicted == label).sum())))
    return float(np.mean(both))


class Bench:
    """The idioms, and everything that guesses their labels."""

    def __init__(self, model: Model, items: list[Item], seed: int) -> None:
        self.items, self.seed = items, seed
        self.labels = sorted({item.label for item in items})
        self.y = np.array([self.labels.index(item.label) for item in items], np.intp)
        self.idiom = np.array([item.expression for item in items])
        representations = Representations(model)
        occurrences = [item.occurrence for item in items]
        self.vectors = {"bag": unit(Bag("bag", model.centred_space).vectors(occurrences))}
        for name in ("general", *(n for n in model.attentions() if n == "learned")):
            self.vectors[name] = unit(representations.get(name).vectors(occurrences))
        self.ready: Prepared = prepare_task(model, items, self.labels, seed)
        self.seconds: list[float] = []

    def frequent(self, seen: Rows, test: Rows) -> Rows:
        """Give the idiom's most frequent label; over all idioms where it was never seen."""
        overall = Counter(self.y[seen].tolist())
        mine = {i: Counter(self.y[seen[self.idiom[seen] == i]].tolist()) for i in set(self.idiom)}
        frequent = [(mine[self.idiom[row]] or overall).most_common(1)[0][0] for row in test]
        return np.array(frequent, np.intp)

    def centroid(self, name: str) -> Guess:
        """Give the label of the nearest mean among the same idiom's vectors."""
        x = self.vectors[name]

        def guess(seen: Rows, test: Rows) -> Rows:
            predicted = np.zeros(len(test), np.intp)
            for idiom in set(self.idiom[test]):
                at = np.flatnonzero(self.idiom[test] == idiom)
                known = seen[self.idiom[seen] == idiom]
                known = known if len(known) else seen
                means = [x[known[self.y[known] == label]].mean(axis=0) for label in (0, 1)]
                predicted[at] = (x[test[at]] @ unit(np.stack(means)).T).argmax(axis=1)
            return predicted

        return guess

    def regression(self, seen: Rows, test: Rows) -> Rows:
        """Fit scikit-learn's logistic regression to the bag."""
        x = self.vectors["bag"]
        classifier = LogisticRegression(max_iter=2000).fit(x[seen], self.y[seen])
        return np.asarray(classifier.predict(x[test]), np.intp)

    def own_regression(self, seen: Rows, test: Rows) -> Rows:
        """The same, with the idiom known: a weight for each idiom beside the bag."""
        names = sorted(set(self.idiom[seen]))
        x = np.hstack([self.vectors["bag"], self.idiom[:, None] == np.array(names)])
        classifier = LogisticRegression(max_iter=2000).fit(x[seen], self.y[seen])
        return np.asarray(classifier.predict(x[test]), np.intp)

    def task(self, by: str) -> Guess:
        """Fit task attention; its held-out part comes out of the seen sentences."""

        def guess(seen: Rows, test: Rows) -> Rows:
            begun = time.perf_counter()
            rng = np.random.default_rng(self.seed)
            one, other = hold_out([self.items[row] for row in seen], by, rng)
            two = len(self.labels)
            fitted = fit_examples(self.ready, seen[one], seen[other], two, FitSettings(), self.seed)
            self.seconds.append(time.perf_counter() - begun)
            some = self.ready.examples.take(test)
            scores = task_logits(fitted.layer, fitted.task_head, self.ready.x, fitted.anchors, some)
            return np.asarray(scores.argmax(axis=1), np.intp)

        return guess


def report(title: str, right: Rows, guesses: dict[str, Rows], rng: np.random.Generator) -> None:
    """Print each row with its intervals, then the last against the best of the others."""
    draws = rng.integers(0, len(right), (RESAMPLES, len(right)))
    f1 = {}
    print(f"\n{title}, {len(right)} sentences\n")
    print(f"| {'':34} | accuracy             | macro-F1             |")
    print(f"|{'-' * 36}|{'-' * 22}|{'-' * 22}|")
    for name, predicted in guesses.items():
        hit = right == predicted
        scores = np.array([macro_f1(right[rows], predicted[rows]) for rows in draws])
        f1[name] = scores
        a, b = np.quantile(hit[draws].mean(axis=1), [0.025, 0.975])
        c, d = np.quantile(scores, [0.025, 0.975])
        print(
            f"| {name:34} | {hit.mean():.3f} ({a:.3f}-{b:.3f})  "
            f"| {macro_f1(right, predicted):.3f} ({c:.3f}-{d:.3f})  |",
            flush=True,
        )
    *others, mine = guesses
    best = max(others, key=lambda name: macro_f1(right, guesses[name]))
    gain = macro_f1(right, guesses[mine]) - macro_f1(right, guesses[best])
    a, b = np.quantile(f1[mine] - f1[best], [0.025, 0.975])
    print(f"\n{mine} over {best}: macro-F1 {gain:+.3f} ({a:+.3f} to {b:+.3f})", flush=True)


def main() -> None:
    """Run both experiments."""
    parser = argparse.ArgumentParser()
    parser.add_argument("idioms")
    parser.add_argument("-m", "--model", required=True)
    parser.add_argument("--folds", type=int, default=5)
    parser.add_argument("--only", type=int, help="stop after so many folds")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    model = Model.open(args.model)
    items, lost = read_items(model, args.idioms)
    bench = Bench(model, items, args.seed)
    print(f"{len(items)} sentences, {len(set(bench.idiom))} idioms; {lost} left out;", end=" ")
    print(f"task attention starts from {bench.ready.origin}", flush=True)
    rng = np.random.default_rng(args.seed)
    by_sentence = make_folds([i.expression + i.label for i in items], args.folds, rng)
    idioms = sorted(set(bench.idiom))
    deal = dict(zip(idioms, rng.permutation(len(idioms)) % args.folds, strict=True))
    by_idiom = np.array([deal[i] for i in bench.idiom], np.intp)
    centroids = {f"{name}, nearest centroid": bench.centroid(name) for name in bench.vectors}
    for title, fold, by in (
        ("By sentence", by_sentence, "sentence"),
        ("Idioms never seen", by_idiom, "expression"),
    ):
        methods: dict[str, Guess] = {"most frequent label of the idiom": bench.frequent}
        methods |= {**centroids, "logistic regression, bag": bench.regression}
        if by == "sentence":
            methods["logistic regression, bag and idiom"] = bench.own_regression
        methods["task attention"] = bench.task(by)
        guesses = {name: np.zeros(len(items), np.intp) for name in methods}
        folds = range(args.folds if args.only is None else args.only)
        for number in folds:
            seen, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
            for name, guess in methods.items():
                guesses[name][test] = guess(seen, test)
        done = np.isin(fold, folds)
        report(title, bench.y[done], {n: g[done] for n, g in guesses.items()}, rng)
    print(f"\nfit: {np.median(bench.seconds):.0f} s, the median of {len(bench.seconds)}")


if __name__ == "__main__":
    main()
