"""Static against contextual: what does this word mean here?"""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from ctxembed.analysis.axes import Axes, axis_cosines
from ctxembed.analysis.context import Context, Occurrence, Parsed, Representation, vectors_at
from ctxembed.analysis.explain import name_targets
from ctxembed.analysis.neighbors import nearest
from ctxembed.analysis.occurrences import corpus_of, sample
from ctxembed.model import Floats, unit
from ctxembed.table import Cell, Table
from ctxembed.text.function_words import is_content

if TYPE_CHECKING:
    from ctxembed.analysis.encoder import Reading

PAIRS = 200  # occurrences sampled for the baseline of random pairs
ALIKE = 0.95  # cosine above which attention says no more than the bag


def compare(
    context: Context,
    sentences: Sequence[Parsed],
    representations: Mapping[str, Representation],
    *,
    encoders: "Sequence[Reading]" = (),
    axes: Axes | None = None,
    number: int = 4,
    seed: int = 1,
) -> Table:
    """Put each target's vectors side by side, a row for each representation.

    An encoder's vectors live in a space of their own: its lone words stand for static ones there.
    """
    model, axes = context.model, axes or {}
    targets = [
        (place, name, item)
        for place, parsed in enumerate(sentences, 1)
        for name, item in zip(name_targets(parsed), parsed.occurrences, strict=True)
    ]
    items = [item for _, _, item in targets]
    vectors = {name: way.vectors(items) for name, way in representations.items()}
    several = len(sentences) > 1
    columns = ["sentence", "target", "position", "representation", "cos_static", *axes]
    columns += ["cos_first", "cos_random"] if several else []
    own = [item.ids[item.target.start : item.target.stop].tolist() for item in items]
    seen: dict[tuple[int, ...], int] = {}
    firsts = [seen.setdefault(tuple(ids), row) for row, ids in enumerate(own)]
    spaces = {name: way.inputs for name, way in representations.items()}
    on_axes = {n: axis_cosines(model, made, axes, spaces[n]) for n, made in vectors.items()}
    random = _Random(context, representations, seed) if several else None
    others = [(way, way.vectors(items)) for way in encoders]

    def rows() -> Iterator[tuple[Cell, ...]]:
        for row, (sentence, target, item) in enumerate(targets):
            for name, made in vectors.items():
                vector, space = made[row], spaces[name]
                cells: list[Cell] = [sentence, target, item.target.start + 1, name]
                cells.append(_cosine(vector, space[own[row]].mean(axis=0)))
                cells += map(float, on_axes[name][row])
                if random is not None:
                    cells += [_cosine(vector, made[firsts[row]]), random.cosine(name, item)]
                (found,) = nearest(model, vector, number, [own[row]], space)
                yield (*cells, " ".join(word for word, _ in found))
            for way, made in others:
                vector, alone = made[row], way.lone(own[row]).mean(axis=0)
                cells = [sentence, target, item.target.start + 1, way.name, _cosine(vector, alone)]
                cells += (
                    _cosine(
                        vector, unit(way.lone([model.row(word) for word in words])).mean(axis=0)
                    )
                    for words in axes.values()
                )
                cells += [_cosine(vector, made[firsts[row]]), None] if several else []
                yield (*cells, None)

    return Table((*columns, "nearest"), rows(), notes=_verdict(vectors, on_axes))


def content_only(context: Context, parsed: Parsed) -> Parsed:
    """Keep the targets that are content words; all of them where none is."""

    def content(item: Occurrence, counted: bool) -> bool:
        row = item.ids[item.target.start]
        frequency = float(context.frequency[row]) if counted else 0.0
        return len(item.target) > 1 or is_content(parsed.words[item.target.start], frequency)

    for counted in (True, False):  # in a small corpus every word is frequent
        kept = [item for item in parsed.occurrences if content(item, counted)]
        if kept:
            return Parsed(parsed.words, kept, parsed.unknown)
    return parsed


def _cosine(one: Floats, other: Floats) -> float:
    return float(np.clip(unit(one).astype(np.float64) @ unit(other), -1, 1))


class _Random:
    """The baseline: mean cosine of random pairs of occurrences of the same word in the corpus."""

    def __init__(
        self, context: Context, representations: Mapping[str, Representation], seed: int
    ) -> None:
        self.context, self.representations = context, representations
        self.rng = np.random.default_rng(seed)
        self.known: dict[tuple[str, int], float | None] = {}

    def cosine(self, name: str, item: Occurrence) -> float | None:
        """Return the baseline for a target of one word that the corpus has at least twice."""
        word = int(item.ids[item.target.start])
        if len(item.target) > 1 or self.context.model.index is None:
            return None
        if (name, word) not in self.known:
            places = sample(corpus_of(self.context.model).positions(word), PAIRS, self.rng)
            self.known[name, word] = None
            if len(places) > 1:
                made = vectors_at(self.context.model, self.representations[name], places)
                total, n = unit(made).sum(axis=0, dtype=np.float64), len(made)
                # Σ over pairs of u·v = |Σ u|² - n, over n(n-1) ordered pairs
                self.known[name, word] = float((total @ total - n) / (n * (n - 1)))
        return self.known[name, word]


def _verdict(vectors: Mapping[str, Floats], on_axes: Mapping[str, Floats]) -> list[str]:
    """Say so where attention gives no other answer than the plain mean of the context."""
    if "bag" not in vectors:
        return []
    notes = []
    for name, made in vectors.items():
        if name in ("static", "bag"):
            continue
        if on_axes[name].shape[1] > 1:
            if (on_axes[name].argmax(1) == on_axes["bag"].argmax(1)).all():
                notes.append(f"{name} adds nothing over the bag here: the same axis is nearest")
        elif all(_cosine(a, b) >= ALIKE for a, b in zip(made, vectors["bag"], strict=True)):
            notes.append(
                f"{name} adds nothing over the bag here: the cosine of the two is over {ALIKE}"
            )
    return notes
