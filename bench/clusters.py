"""False alarms of shift where speakers are divided at random: documents and speakers permuted.

    python bench/clusters.py MODEL [--documents 150] [--tested 200] [--splits 2]

MODEL is an index whose documents stand in the order of the text. So many documents in a row are
one speaker: they resemble each other. Speakers are divided at random into two groups, so nothing
differs; at a nominal 5 %, 5 % of the words should have p up to 0.05.
"""

import argparse
import os
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from ctxembed.context.occurrences import corpus_of
from ctxembed.context.sides import Side
from ctxembed.model.model import Model
from ctxembed.model.selection import select_documents
from ctxembed.word_senses.alignment import align_sides
from ctxembed.word_senses.shift_tests import run_permutation_test

OCCURRENCES, PERMUTATIONS = 300, 199  # of a word in each group


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--documents", type=int, default=150, help="of one speaker")
    parser.add_argument("--tested", type=int, default=200, help="words of each split")
    parser.add_argument("--splits", type=int, default=2)
    options = parser.parse_args()
    model = Model.open(options.model)
    speakers = np.arange(len(corpus_of(model).documents) - 1) // options.documents
    print("split\twords\tdocuments permuted\tspeakers permuted")
    for split in range(1, options.splits + 1):
        rng = np.random.default_rng(split)
        first = (rng.random(speakers.max() + 1) < 0.5)[speakers]
        a, b = select_documents(model, first), select_documents(model, ~first)
        rates = []
        for of_a, of_b in ((None, None), (speakers[first], speakers[~first])):
            sides = Side(a, "a", of_a), Side(b, "b", of_b, int(first.sum()))
            aligned = align_sides(sides, 20)
            words = [word for word in range(len(aligned.rows_a)) if aligned.is_content(word)]
            words = np.random.default_rng(3).permutation(words)[: options.tested].tolist()
            tests = [
                run_permutation_test(aligned, word, OCCURRENCES, PERMUTATIONS, 1) for word in words
            ]
            p_values = np.array([test.p_value for test in tests if test is not None])
            rates.append(np.mean(p_values <= 0.05))
        print(f"{split}\t{len(p_values)}\t{rates[0]:.3f}\t{rates[1]:.3f}", flush=True)


if __name__ == "__main__":
    main()
