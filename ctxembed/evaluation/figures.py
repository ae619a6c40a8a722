"""The scores of a benchmark, and the one table that every benchmark prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ctxembed.evaluation.metrics import Figure, mean_figure, paired_p
from ctxembed.table import Cell, Chart, Column, Table

EVALUATE = (
    Column("set", "the file, word, band or section; mean where several are averaged", "label"),
    Column("metric", "what is measured", "label"),
    Column("representation", "random, most frequent, static, bag, general, learned or a name",
           "label"),
    Column("value", "the figure; 1 is best"),
    Column("low", "lower end of its 95 % interval, from 1,000 resamples of the items"),
    Column("high", "upper end"),
    Column("p_bag", "two-sided p of a paired bootstrap test against the bag", "chance"),
    Column("items", "how many items were asked about"),
    Column("missing", "how many of them hold a target without a vector", "aside"),
)  # fmt: skip
SOURCE = Column("source", "with --published: measured here, or where the figure was published",
                "aside")  # fmt: skip
FIGURES = Chart(
    "dots", ["value"], label=["representation"], panel=["set", "metric"], low="low", high="high",
    title="each figure with its 95 % interval",
)  # fmt: skip


@dataclass
class Scores:
    """The figures of one set: a file, a word or a section."""

    name: str
    items: int
    figures: dict[str, dict[str, Figure]] = field(default_factory=dict)  # by metric, representation
    missing: dict[str, int] = field(default_factory=dict)  # by representation: items without vector

    def add(self, representation: str, figures: Mapping[str, Figure], missing: int) -> None:
        """Add the figures of one representation."""
        self.missing[representation] = missing
        for metric, figure in figures.items():
            self.figures.setdefault(metric, {})[representation] = figure


def average(name: str, sets: Sequence[Scores]) -> Scores:
    """Return the mean of sets; a set whose figure is NaN is left out of that figure."""
    mean = Scores(name, sum(scores.items for scores in sets))
    for metric, by_representation in sets[0].figures.items():
        mean.figures[metric] = {}
        for key in by_representation:
            figures = [scores.figures[metric][key] for scores in sets]
            numbers = [figure for figure in figures if not np.isnan(figure.value)]
            mean.figures[metric][key] = mean_figure(numbers or figures[:1])
    for key in sets[0].missing:
        mean.missing[key] = sum(scores.missing[key] for scores in sets)
    return mean


def tabulate(
    kind: str, sets: Sequence[Scores], *, published: bool = False, notes: Sequence[str] = ()
) -> Table:
    """Return a row for each figure: its interval, and its paired test against the bag."""
    rows: list[tuple[Cell, ...]] = []
    for scores in sets:
        for metric, by_representation in scores.figures.items():
            bag = by_representation.get("bag")
            for key, figure in by_representation.items():
                if np.isnan(figure.value):
                    continue
                p = paired_p(figure, bag) if bag is not None and key != "bag" else None
                value = (figure.value, *figure.interval(), p)
                rows.append((scores.name, metric, key, *value, scores.items, scores.missing[key]))
    missing = max((number for scores in sets for number in scores.missing.values()), default=0)
    notes = list(notes)
    if missing:
        notes.append(f"{missing} items hold a word that is not in the vocabulary")
    if not published:
        return Table(EVALUATE, rows, notes, chart=FIGURES)
    rows = [(*row, "measured here") for row in rows]
    sources: dict[str, list[str]] = {}
    # figures from the literature: other models, larger corpora, sometimes other splits
    for line in Path(__file__).with_name("published.tsv").read_text("utf-8").splitlines()[1:]:
        benchmark, name, metric, key, number, source = line.split("\t")
        if benchmark == kind:
            sources.setdefault(source, []).append(key)
            rows.append((name, metric, key, float(number), *[None] * 5, source))
    notes += [f"published: {', '.join(names)}: {source}" for source, names in sources.items()]
    if not sources:
        notes.append(f"no published figures for {kind}")
    return Table((*EVALUATE, SOURCE), rows, notes, chart=FIGURES)
