"""Everyday sentences over homonyms: is the definition that `define` chooses the right one?

    python -m bench.homonyms [MODEL] [--part choose|once] [--show]

bench/homonyms.tsv was written and labelled without sight of an answer: 320 sentences over 140
words, with the sense keys that are right and those that are doubtful. `choose` is for choosing
settings, `once` is to be looked at rarely. Sure: 0.6 or more. --show prints what is not right.
"""

import argparse
from collections import Counter
from pathlib import Path

import ctxembed
from bench.everyday import read_rows
from ctxembed.model.bundled import open_model
from ctxembed.queries.define import open_definitions
from ctxembed.training.fit import wilson
from ctxembed.word_senses.definitions import SURE

SENTENCES = Path(__file__).parent / "homonyms.tsv"
PARTS = ("choose", "once")
VERDICTS = ("right", "doubtful", "wrong")


def judge(row: dict[str, str], key: str) -> str:
    """Return whether a sense key is right, doubtful or wrong for a sentence."""
    return next((verdict for verdict in VERDICTS[:2] if key in row[verdict].split()), "wrong")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", default="english", help="A directory, or english.")
    parser.add_argument("--part", choices=PARTS, default="choose")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    model = open_model(options.model)
    rows = [row for row in read_rows(SENTENCES) if row["part"] == options.part]
    ranked = ctxembed.define(model, [row["sentence"] for row in rows], number=1).records()
    answers: dict[str, list[str]] = {"define": [], "sure": [], "most frequent": []}
    for row, answer in zip(rows, ranked, strict=True):
        verdict = judge(row, str(answer["sense_key"]))
        answers["define"].append(verdict)
        answers["sure"] += [verdict] if float(answer["sure"]) >= SURE else []
        (frequent, *_) = open_definitions(model).entry(str(answer["target"]))
        answers["most frequent"].append(judge(row, frequent.sense.key))
        if options.show and verdict != "right":
            print(verdict, f"{answer['sure']:.2f}", row["sentence"], answer["definition"], sep="\t")
    print("answer\tsentences\tright\tdoubtful\twrong\tshare right\tlow\thigh")
    for name, verdicts in answers.items():
        counts, number = Counter(verdicts), len(verdicts)
        low, high = wilson(counts["right"], number)
        shares = f"{counts['right'] / number:.3f}\t{low:.3f}\t{high:.3f}"
        print(name, number, *(counts[one] for one in VERDICTS), shares, sep="\t")


if __name__ == "__main__":
    main()
