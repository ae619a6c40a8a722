"""How good: every representation on CoarseWSD-20, Word in Context and pseudowords.

    python bench/quality.py MODEL DATA [--encoder DIR] [--pairs N]

DATA holds coarsewsd20/, wic/train and wic/dev. Prints one Markdown table, the time of each part,
and the time of the CoarseWSD part as a multiple of bare contextualising of the same sentences.
"""

import argparse
import os
import time
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from ctxembed.context.encoder import Encoder
from ctxembed.context.representation import Representation
from ctxembed.context.representations import Representations
from ctxembed.evaluation.evaluate import evaluate
from ctxembed.model.model import Model
from ctxembed.queries.contextualize import contextual_vectors
from ctxembed.table import Table

SENSES = ("accuracy", "recall", "auc", "neighbor", "v_measure", "spliced", "spliced_wide")


def sentences(folder: Path) -> list[str]:
    """Read CoarseWSD-20's sentences with their targets in brackets."""
    sentences = []
    for path in sorted(folder.glob("*/*.data.txt")):
        for line in path.read_text(encoding="utf-8").splitlines():
            position, _, text = line.partition("\t")
            words = text.split()
            words[int(position)] = f"[{words[int(position)]}]"
            sentences.append(" ".join(words))
    return sentences


def figures(table: Table, name: str) -> dict[tuple[str, str], tuple[float, ...]]:
    """Pick the rows of one set: (metric, representation) -> value, low, high."""
    return {
        (str(row["metric"]), str(row["representation"])): (
            *(float(str(row[column])) for column in ("value", "low", "high")),
        )
        for row in table.records()
        if row["set"] == name
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("data", type=Path)
    parser.add_argument("--encoder", action="append", default=[])
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()
    model = Model.open(options.model)
    encoders: list[Representation] = [
        Encoder.open(path, model.vocabulary.words) for path in options.encoder
    ]
    coarse, wic = options.data / "coarsewsd20", options.data / "wic"

    lines = sentences(coarse)
    bare, whole = [], []
    for _ in range(3):  # interleaved
        begun = time.process_time()
        for _ in contextual_vectors(
            model, Representations(model).get(Representations(model).default()), lines
        ):
            pass
        bare.append(time.process_time() - begun)
        begun = time.process_time()
        senses = evaluate(model, "senses", [str(coarse)])
        whole.append(time.process_time() - begun)
    times = {"senses (without encoder)": sorted(whole)[1]}
    results = {}
    for part, files, name in (
        ("senses", [coarse], "mean"),
        ("wic", [wic / "dev/dev.data.txt", wic / "dev/dev.gold.txt"], "dev"),
        ("pseudowords", [], "mean"),
    ):
        begun = time.perf_counter()
        train = (str(wic / "train/train.data.txt"), str(wic / "train/train.gold.txt"))
        table = (
            senses
            if part == "senses" and not encoders
            else evaluate(
                model,
                part,
                [str(file) for file in files],
                train=train if part == "wic" else None,
                encoders=encoders,
                pairs=options.pairs,
            )
        )
        results[part] = figures(table, name)
        times[f"{part} (wall)"] = time.perf_counter() - begun
    columns = [
        *(("senses", metric) for metric in SENSES),
        ("wic", "accuracy"),
        *(("pseudowords", metric) for metric in ("accuracy", "spliced_wide")),
    ]
    print("| | " + " | ".join(f"{part} {metric}" for part, metric in columns) + " |")
    print("|---" * (len(columns) + 1) + "|")
    names = dict.fromkeys(name for _, name in results["senses"])
    for name in sorted(names, key=lambda n: n not in ("random", "most frequent", "static")):
        cells = []
        for part, metric in columns:
            figure = results[part].get((metric, name))
            cells.append(
                f"{figure[0]:.3f} ({figure[1]:.3f}-{figure[2]:.3f})" if figure is not None else ""
            )
        print(f"| {name} | " + " | ".join(cells) + " |")
    print()
    for name, seconds in times.items():
        print(f"{name}: {seconds:.1f} s")
    ratio = sorted(whole)[1] / sorted(bare)[1]
    print(f"bare contextualising of {len(lines)} sentences: {sorted(bare)[1]:.1f} s CPU")
    print(f"evaluate senses / contextualize, CPU time, median of 3: {ratio:.2f}")


if __name__ == "__main__":
    main()
