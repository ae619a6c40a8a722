"""Word sense induction on SemEval-2010 task 14: V-measure, paired F, their geometric mean.

    python bench/induction.py MODEL FOLDER [--k N] [--attention NAME]

MODEL is an index over any text with the vectors that are tested (the text says how far apart the
senses of a word lie); FOLDER has texts.tsv.xz and gold.key. The contexts of each word are clustered
as `senses` clusters occurrences. Nothing is chosen on these words: the number of senses and all
settings come from pseudowords of other text (bench/senses.py --tune).
"""

import argparse
import lzma
import os
from collections import defaultdict
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.metrics import v_measure_score
from sklearn.metrics.cluster import pair_confusion_matrix

from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.word_senses.cluster import cluster
from ctxembed.word_senses.sense_space import SenseSpace, make_space

BRACKETS = str.maketrans("[]", "()")
PUBLISHED = {"PolyLM small": 48.4, "PolyLM base": 51.6, "BERT-large": 53.6, "before them": 24.6}


def read_texts(folder: Path) -> dict[str, dict[str, str]]:
    """Return the marked sentence of each instance, by word."""
    texts: dict[str, dict[str, str]] = defaultdict(dict)
    with lzma.open(folder / "texts.tsv.xz", "rt", encoding="utf-8") as file:
        for line in file:
            word, instance, around, rest = line.rstrip("\n").split("\t")[:4]
            words, lemma = around.translate(BRACKETS).split(), word.split(".")[0]
            places = [i for i, other in enumerate(words) if other == lemma]
            if places:  # the words around the target: it is in their middle
                place = min(places, key=lambda i: abs(i - len(words) // 2))
                words[place] = f"[{lemma}]"
            else:
                words.append(f"[{lemma}]")
            texts[word][instance] = f"{' '.join(words)} {rest.translate(BRACKETS)}"
    return texts


def read_key(folder: Path) -> dict[str, dict[str, str]]:
    """Return the sense of each instance, by word."""
    gold: dict[str, dict[str, str]] = defaultdict(dict)
    for line in (folder / "gold.key").read_text(encoding="utf-8").splitlines():
        word, instance, sense = line.split()[:3]
        gold[word][instance] = sense
    return gold


def paired_f(gold: list[str], found: list[int]) -> float:
    """Return the F-score of the pairs of instances that share a sense."""
    (_, wrong), (missed, right) = pair_confusion_matrix(gold, found)
    return float(2 * right / max(1, 2 * right + wrong + missed))


def group(vectors: Floats, space: SenseSpace, k: int | None) -> list[int]:
    """Return the cluster of each vector: k of them, or fewer where one would be empty."""
    if len(vectors) < 2:
        return [0] * len(vectors)
    try:
        return [int(label) for label in cluster(vectors, space, k).labels]
    except CtxembedError:
        return group(vectors, space, (k or 2) - 1)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--k", type=int, help="so many senses for every word")
    parser.add_argument("--attention")
    options = parser.parse_args()
    model = Model.open(options.model)
    representations = Representations.of(model)
    space = make_space(representations, options.attention or representations.default())
    texts, gold = read_texts(options.folder), read_key(options.folder)
    scores = []
    for word, senses in gold.items():
        items = [(parse(model, text), instance)
                 for instance, text in texts[word].items() if instance in senses]  # fmt: skip
        known = [
            (p.occurrences[0], i) for p, i in items if p.occurrences and p.occurrences[0].target
        ]
        vectors = space.representation.vectors([item for item, _ in known])
        labels = group(vectors, space, options.k)
        of = {instance: label for (_, instance), label in zip(known, labels, strict=False)}
        found = [of.get(instance, 0) for instance in senses]
        truth = list(senses.values())
        pair = v_measure_score(truth, found), paired_f(truth, found)
        scores.append((*pair, len(set(found)), len(set(truth))))
    v, f, k, true_k = (100 * np.array(scores) / [1, 1, 100, 100]).mean(axis=0)
    print(f"{len(scores)} words, {k:.2f} senses each (gold {true_k:.2f})")
    print(f"V-measure {v:.1f}, paired F {f:.1f}, geometric mean {np.sqrt(v * f):.1f}")
    print("published: " + ", ".join(f"{name} {value}" for name, value in PUBLISHED.items()))


if __name__ == "__main__":
    main()
