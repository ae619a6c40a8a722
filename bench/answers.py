"""Answers in words: do the words that compare names belong to the right meaning?

    python -m bench.answers MODEL [--part choose|once|later] [--show]

The sentences are those of bench/everyday.tsv. An answer counts as right where the first three words
that could stand in the target's place lie nearer to the axis of the right meaning than to the other
one, by their static vectors. A row for each representation with 95 % intervals; --show prints what
the model's own attention says of each sentence, for a person to read.
"""

import argparse

from bench.everyday import PARTS, read_rows
from ctxembed.context.nearest import axis_cosines
from ctxembed.model.bundled import open_model
from ctxembed.model.model import Model
from ctxembed.queries.compare import compare
from ctxembed.training.fit import wilson

WORDS = 3  # that are named


def right(model: Model, row: dict[str, str], like: list[str]) -> bool:
    """Tell whether the words named lie nearer to the right axis; not if there are none."""
    if not like:
        return False
    pairs = (row[axis].split("=") for axis in ("axis_a", "axis_b"))
    axes = {label: model.vocabulary.sort_known(words.split(","))[0] for label, words in pairs}
    named = model.centred_space[[model.vocabulary.row(word) for word in like]]
    cosines = axis_cosines(model, named.mean(axis=0), axes, model.centred_space.__getitem__)[0]
    return list(axes)[int(cosines.argmax())] == row["gold"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help="A directory, english or everyday.")
    parser.add_argument("--part", choices=PARTS, default="choose")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    model = open_model(options.model)
    results: dict[tuple[str, str], list[bool]] = {}
    for row in read_rows():
        if row["part"] == options.part:
            answer = compare(model, row["sentence"], number=WORDS).records()
            first = [cells for cells in answer if cells["target"] == answer[0]["target"]]
            for cells in first:
                assert isinstance(cells["like"], list)
                words = [str(word) for word in cells["like"]]
                hit = right(model, row, words)
                results.setdefault((str(cells["representation"]), row["kind"]), []).append(hit)
            if options.show:
                print("+" if hit else "-", row["gold"], *words, row["sentence"], sep="\t")
    print("representation\tkind\tright\tof\tshare\tlow\thigh")
    for key, hits in results.items():
        low, high = wilson(sum(hits), len(hits))
        share = sum(hits) / len(hits)
        print(*key, sum(hits), len(hits), f"{share:.3f}\t{low:.3f}\t{high:.3f}", sep="\t")


if __name__ == "__main__":
    main()
