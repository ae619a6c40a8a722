"""How good the bundled English model is, beside the same model with 32 bits a number.

    python -m bench.english DATA [MODEL...]

DATA is the folder of benchmarks (similarity/, analogies/, coarsewsd20/, wic/); without a MODEL,
english is measured. A row for each figure of each representation, a column for each model.
"""

import argparse
from pathlib import Path

import ctxembed
from bench.everyday import held_out, read_rows, score
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.text.tokenizer import is_content

Figures = dict[tuple[str, str, str], float]  # benchmark, figure, representation


def from_files(model: Model, data: Path) -> Figures:
    """Score the benchmarks that `ctxembed evaluate` knows."""
    dev, train = ([str(data / "wic" / part / f"{part}.{kind}.txt") for kind in ("data", "gold")]
                  for part in ("dev", "train"))  # fmt: skip
    similarity = [str(file) for file in sorted((data / "similarity").glob("*.txt"))]
    tables = (
        ctxembed.evaluate(model, "similarity", similarity),
        ctxembed.evaluate(model, "analogies", str(data / "analogies" / "questions-words.txt")),
        ctxembed.evaluate(model, "senses", str(data / "coarsewsd20")),
        ctxembed.evaluate(model, "wic", dev, train=(train[0], train[1])),
    )
    return {
        (str(row["set"]), str(row["metric"]), str(row["representation"])): float(row["value"])
        for table in tables
        for row in table.records()
        if row["value"] is not None
    }


def from_sentences(model: Model, name: str, rows: list[dict[str, str]]) -> Figures:
    """Score everyday sentences, and count the content words that the model does not know."""
    every = Representations.of(model)
    figures: Figures = {}
    for representation in every.names():
        for kind, right in score(model, every.get(representation), rows).items():
            figures[name, kind, representation] = sum(right) / len(right)
    words = unknown = 0
    for row in rows:
        parsed = parse(model, row["sentence"])
        known = [
            word
            for word in parsed.words
            if is_content(word, every.frequency[model.vocabulary.row(word)])
        ]
        missed = [word for word in parsed.unknown.values() if is_content(word, 0)]
        words, unknown = words + len(known) + len(missed), unknown + len(missed)
    figures[name, "unknown content words", ""] = unknown / words
    return figures


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("data", type=Path)
    parser.add_argument("models", nargs="*", default=["english"])
    options = parser.parse_args()
    results = []
    for name in options.models:
        model = ctxembed.open(name)
        everyday = [row for row in read_rows() if row["part"] == "choose"]
        results.append(
            from_files(model, options.data)
            | from_sentences(model, "everyday", everyday)
            | from_sentences(model, "heldout", held_out())
        )
    print("benchmark", "figure", "representation", *options.models, "difference", sep="\t")
    for key, value in results[0].items():
        values = [figures.get(key, float("nan")) for figures in results]
        difference = f"{value - values[-1]:+.4f}" if len(values) > 1 else ""
        print(*key, *(f"{value:.4f}" for value in values), difference, sep="\t")


if __name__ == "__main__":
    main()
