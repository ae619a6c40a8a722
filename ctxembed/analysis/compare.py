"""Static against contextual: what does this word mean here?"""

from collections.abc import Mapping, Sequence

import numpy as np

from ctxembed.analysis.axes import Axes, axis_cosines
from ctxembed.analysis.context import Context, Occurrence, Parsed, Representation, vectors_at
from ctxembed.analysis.explain import name_targets
from ctxembed.analysis.neighbors import nearest
from ctxembed.analysis.occurrences import corpus_of, sample
from ctxembed.model import Floats, Model, unit
from ctxembed.table import Cell, Table
from ctxembed.text.function_words import is_content

PAIRS = 200  # occurrences sampled for the baseline of random pairs
ALIKE = 0.95  # cosine above which attention says no more than the bag


def compare(
    context: Context,
    sentences: Sequence[Parsed],
    representations: Mapping[str, Representation],
    *,
    axes: Axes | None = None,
    number: int = 4,
    seed: int = 1,
) -> Table:
    """Put each target's vectors side by side, a row for each representation."""
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
    rows: list[tuple[Cell, ...]] = []
    random = _Random(context, representations, seed) if several else None
    for row, (sentence, target, item) in enumerate(targets):
        first = _first(targets, row)
        own = item.ids[item.target.start : item.target.stop].tolist()
        for name, made in vectors.items():
            vector, space = made[row], representations[name].inputs
            cells: list[Cell] = [sentence, target, item.target.start + 1, name]
            cells.append(_cosine(vector, space[own].mean(axis=0)))
            if axes:
                cells += map(float, axis_cosines(model, vector, axes, space)[0])
            if random is not None:
                cells += [_cosine(vector, made[first]), random.cosine(name, item)]
            (found,) = nearest(model, vector, number, [own], space)
            rows.append((*cells, " ".join(word for word, _ in found)))
    notes = _verdict(model, vectors, representations, axes)
    return Table((*columns, "nearest"), rows, notes=notes)


def content_only(context: Context, parsed: Parsed) -> Parsed:
    """Keep the targets that are content words; all of them where none is."""
    kept = [
        item
        for item in parsed.occurrences
        if len(item.target) > 1
        or is_content(
            parsed.words[item.target.start],
            float(context.frequency[item.ids[item.target.start]]),
        )
    ]
    return Parsed(parsed.words, kept or parsed.occurrences, parsed.unknown)


def _cosine(one: Floats, other: Floats) -> float:
    return float(np.clip(unit(one).astype(np.float64) @ unit(other), -1, 1))


def _first(targets: Sequence[tuple[int, str, Occurrence]], row: int) -> int:
    """Find the first row with the same target words."""
    ids = [item.ids[item.target.start : item.target.stop].tolist() for _, _, item in targets]
    return ids.index(ids[row])


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


def _verdict(
    model: Model,
    vectors: Mapping[str, Floats],
    representations: Mapping[str, Representation],
    axes: Axes,
) -> list[str]:
    """Say so where attention gives no other answer than the plain mean of the context."""
    if "bag" not in vectors:
        return []
    notes = []
    nearest_axis = {
        name: axis_cosines(model, made, axes, representations[name].inputs).argmax(1)
        for name, made in vectors.items()
        if len(axes) > 1
    }
    for name, made in vectors.items():
        if name in ("static", "bag"):
            continue
        if nearest_axis:
            if (nearest_axis[name] == nearest_axis["bag"]).all():
                notes.append(f"{name} adds nothing over the bag here: the same axis is nearest")
        elif all(_cosine(a, b) >= ALIKE for a, b in zip(made, vectors["bag"], strict=True)):
            notes.append(
                f"{name} adds nothing over the bag here: the cosine of the two is over {ALIKE}"
            )
    return notes
