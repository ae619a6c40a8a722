"""Figures as the one table that every benchmark prints."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ctxembed.evaluation.metrics import Figure, mean_figure, paired_p
from ctxembed.evaluation.published import PUBLISHED
from ctxembed.table import Cell, Chart, Column, Table

EVALUATE = (
    Column("set", "the file, word, band or section; mean where several are averaged", "label"),
    Column("metric", "what is measured", "label"),
    Column(
        "representation", "random, most frequent, static, bag, general, learned or a name", "label"
    ),
    Column("value", "the figure; 1 is best"),
    Column("low", "lower end of its 95 % interval, from 1,000 resamples of the items"),
    Column("high", "upper end"),
    Column("p_bag", "two-sided p of a paired bootstrap test against the bag", "chance"),
    Column("items", "how many items were asked about"),
    Column("missing", "how many of them hold a target without a vector", "aside"),
)
SOURCE = Column(
    "source", "with --published: measured here, or where the figure was published", "aside"
)

FIGURES = Chart(
    "dots",
    ["value"],
    label=["representation"],
    panel=["set", "metric"],
    low="low",
    high="high",
    title="each figure with its 95 % interval",
)


@dataclass
class Scores:
    """The figures of one set: a file, a word, a section."""

    name: str
    items: int
    figures: dict[str, dict[str, Figure]] = field(default_factory=dict)  # metric -> way -> figure
    missing: dict[str, int] = field(default_factory=dict)  # way -> items it has no vector for

    def add(self, way: str, figures: Mapping[str, Figure], missing: int) -> None:
        """Take what one representation scored."""
        self.missing[way] = missing
        for metric, figure in figures.items():
            self.figures.setdefault(metric, {})[way] = figure


def average(name: str, sets: Sequence[Scores]) -> Scores:
    """Average sets; one without a figure (a single sense has no pairs) is left out of it."""
    made = Scores(name, sum(scores.items for scores in sets))
    for metric, by_way in sets[0].figures.items():
        made.figures[metric] = {}
        for way in by_way:
            figures = [scores.figures[metric][way] for scores in sets]
            there = [figure for figure in figures if not np.isnan(figure.value)]
            made.figures[metric][way] = mean_figure(there or figures[:1])
    for way in sets[0].missing:
        made.missing[way] = sum(scores.missing[way] for scores in sets)
    return made


def tabulate(
    kind: str, sets: Iterable[Scores], *, published: bool = False, notes: Sequence[str] = ()
) -> Table:
    """List each figure with its interval, and its paired test against the bag."""
    sets = list(sets)
    rows: list[tuple[Cell, ...]] = []
    for scores in sets:
        for metric, by_way in scores.figures.items():
            bag = by_way.get("bag")
            for way, figure in by_way.items():
                if np.isnan(figure.value):
                    continue
                p = paired_p(figure, bag) if bag is not None and way != "bag" else None
                value = (figure.value, *figure.interval(), p)
                rows.append((scores.name, metric, way, *value, scores.items, scores.missing[way]))
    missing = max((number for scores in sets for number in scores.missing.values()), default=0)
    told = list(notes)
    if missing:
        told.append(f"{missing} items hold a word that is not in the vocabulary")
    if not published:
        return Table(EVALUATE, rows, told, chart=FIGURES)
    literature = PUBLISHED.get(kind, ())
    if not literature:
        told.append(f"no published figures for {kind}")
    for source in dict.fromkeys(line[4] for line in literature):
        names = ", ".join(line[2] for line in literature if line[4] == source)
        told.append(f"published: {names}: {source}")
    rows = [(*row, "measured here") for row in rows]
    rows += [(*line[:4], None, None, None, None, None, line[4]) for line in literature]
    return Table((*EVALUATE, SOURCE), rows, told, chart=FIGURES)
