"""Everyday sentences: which of two named axes is nearer, for every representation of a model.

    python bench/everyday.py MODEL [--part choose|once|later|heldout]

bench/everyday.tsv was written by people who saw no model: 600 sentences over 132 ambiguous words,
half of them plain, half with a clause about the other sense before or behind. `choose` is for
choosing attention, `once` is to be looked at once; `later` has 60 other words, on which the weights
of substitutes were chosen; `heldout` is tests/heldout.tsv, whose words `everyday` knows. Prints a
row for each representation with 95 % intervals.
"""

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

from ctxembed.context.nearest import axis_cosines
from ctxembed.context.parse import parse
from ctxembed.context.representation import Representation
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import corpora_directory, open_model
from ctxembed.model.model import Model
from ctxembed.training.fit import wilson

PARTS = ("choose", "once", "later")
SENTENCES = Path(__file__).parent / "everyday.tsv"
HELDOUT = Path(__file__).parent.parent / "tests" / "heldout.tsv"


def read_rows(path: Path = SENTENCES) -> list[dict[str, str]]:
    """Read a table with a header."""
    header, *lines = path.read_text(encoding="utf-8").splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def held_out() -> list[dict[str, str]]:
    """Read tests/heldout.tsv as bench/everyday.tsv is: two axes a sentence, and which is right."""
    axes: defaultdict[str, list[str]] = defaultdict(list)
    for row in read_rows(corpora_directory() / "senses.tsv"):
        axes[row["word"]].append(f"{row['sense']}={row['axis']}")
    return [
        {
            "kind": "distractor" if row["distractor"] == "yes" else "plain",
            "gold": row["sense"],
            "axis_a": axes[row["word"]][0],
            "axis_b": axes[row["word"]][1],
            "sentence": row["sentence"],
        }
        for row in read_rows(HELDOUT)
    ]


def score(
    model: Model, representation: Representation, rows: list[dict[str, str]]
) -> dict[str, list[bool]]:
    """Tell of each plain and each distracted sentence whether the right axis is nearer."""
    hits: dict[str, list[bool]] = {"plain": [], "distractor": []}
    for row in rows:
        pairs = (row[axis].split("=") for axis in ("axis_a", "axis_b"))
        axes = {label: model.vocabulary.sort_known(words.split(","))[0] for label, words in pairs}
        vector = representation.vectors(parse(model, row["sentence"]).occurrences[:1])
        nearest = int(np.argmax(axis_cosines(model, vector, axes, representation.alone)[0]))
        hits[row["kind"]].append(list(axes)[nearest] == row["gold"])
    return hits


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="A directory, english or everyday.")
    parser.add_argument("--part", choices=(*PARTS, "heldout"), default="choose")
    options = parser.parse_args()
    model = open_model(options.model)
    rows = [row for row in read_rows() if row["part"] == options.part]
    rows = held_out() if options.part == "heldout" else rows
    unknown = [word for row in rows for word in parse(model, row["sentence"]).unknown.values()]
    print(f"# {len(rows)} sentences; {len(unknown)} unknown words: {' '.join(unknown[:20])}")
    print("representation\tkind\tright\tof\tshare\tlow\thigh")
    every = Representations.of(model)
    for name in every.names():
        for kind, right in score(model, every.get(name), rows).items():
            low, high = wilson(sum(right), len(right))
            share = sum(right) / len(right)
            print(f"{name}\t{kind}\t{sum(right)}\t{len(right)}\t{share:.3f}\t{low:.3f}\t{high:.3f}")


if __name__ == "__main__":
    main()
