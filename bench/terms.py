"""Measure each term of learned attention: every figure with it, and without.

    python -m bench.terms DATA [MODEL] [--part choose|once|later]

Rows are static, bag, general, learned, and learned with one score term left out (nothing is learned
anew), and with twice the word's own share. DATA is the folder of benchmarks (coarsewsd20/, wic/,
scws/, lexsub/); the sentences are those of bench/everyday.tsv and tests/heldout.tsv. Values with
their 95 % intervals.
"""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bench.everyday import PARTS, SENTENCES, held_out, read_rows, score
from ctxembed.context.representation import Attention, Representation
from ctxembed.context.representations import Representations
from ctxembed.evaluation.figures import Scores, average, tabulate
from ctxembed.evaluation.items import Reader
from ctxembed.evaluation.senses import read_labelled, score_senses
from ctxembed.evaluation.similarity import scws
from ctxembed.evaluation.substitution import substitution
from ctxembed.evaluation.wic import wic
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.training.fit import wilson


def without_each(model: Model) -> list[Representation]:
    """List the representations, and learned attention without each of its terms."""
    representations = Representations.of(model)
    learned = representations.get("learned")
    assert isinstance(learned, Attention)
    chosen: list[Representation] = [
        representations.get(name) for name in ("static", "bag", "general", "learned")
    ]
    for term in learned.layer.terms:
        others = tuple(other for other in learned.layer.terms if other is not term)
        layer = replace(learned.layer, terms=others)
        chosen.append(replace(learned, name=f"learned, no {term.name}", layer=layer))
    layer = replace(learned.layer, own=2 * learned.layer.own)
    return [*chosen, replace(learned, name="learned, twice the own share", layer=layer)]


def from_files(model: Model, data: Path, representations: Sequence[Representation]) -> list[Scores]:
    """Score the labelled senses, pairs in context, rated pairs and substitutes."""
    reader = Reader(model)
    dev, train = (
        (
            str(data / "wic" / part / f"{part}.data.txt"),
            str(data / "wic" / part / f"{part}.gold.txt"),
        )
        for part in ("dev", "train")
    )
    words = read_labelled(reader, data / "coarsewsd20")
    by_word = [
        score_senses(word, representations, [1, number], Progress())
        for number, word in enumerate(words)
    ]
    rated = scws(reader, str(data / "scws" / "ratings.txt"), representations, 1)[:1]
    files = (str(data / "lexsub" / f"lst_trial.{part}") for part in ("preprocessed", "gold"))
    candidates = str(data / "lexsub" / "lst.candidates")
    ranked, _ = substitution(
        reader, (next(files), next(files)), candidates, representations, 1, Progress()
    )
    return [
        average("coarsewsd20", by_word),
        wic(reader, dev, train, representations, 1),
        *rated,
        ranked[0],
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("model", nargs="?", default="english")
    parser.add_argument("--part", choices=PARTS, default="choose")
    args = parser.parse_args()
    model = open_model(args.model)
    representations = without_each(model)
    print("set\tmetric\trepresentation\tvalue\tlow\thigh")
    everyday = [row for row in read_rows(SENTENCES) if row["part"] == args.part]
    for name, rows in ((f"everyday, {args.part}", everyday), ("heldout", held_out())):
        for representation in representations:
            for kind, hits in score(model, representation, rows).items():
                low, high = wilson(sum(hits), len(hits))
                value = sum(hits) / len(hits)
                print(f"{name}\t{kind}\t{representation.name}\t{value:.3f}\t{low:.3f}\t{high:.3f}")
    for row in tabulate("senses", from_files(model, args.data, representations)).records():
        cells = (f"{row[key]:.3f}" for key in ("value", "low", "high"))
        print(row["set"], row["metric"], row["representation"], *cells, sep="\t", flush=True)


if __name__ == "__main__":
    main()
