"""Where does a word occur, in which sense, and how clearly?"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.ask.find_senses import current_senses, find_senses
from ctxembed.ask.induce import evidence, judge
from ctxembed.ask.sense_map import draw_map, map_senses
from ctxembed.context.axes import Axes, axis_cosines, known_axes
from ctxembed.context.occurrences import AT_ONCE, Places, around, corpus_of, read, sample
from ctxembed.context.representations import Ours, Representations, representations_of
from ctxembed.errors import UsageError
from ctxembed.progress import Progress
from ctxembed.static.space import Floats
from ctxembed.store.model import Model
from ctxembed.store.places import on_model
from ctxembed.store.sense_store import SavedSenses
from ctxembed.table import Cell, Column, Table

KWIC = (
    Column("file", "the file of the corpus", "label"),
    Column("line", "the line on which the sentence begins"),
    Column("left", "the words before it", "text"),
    Column("word", "the word", "keyword"),
    Column("right", "the words behind it", "text"),
    Column("sense", "number of the sense; empty where none are known"),
    Column(
        "margin",
        "distance to the border of the next sense, in standard deviations of one word's"
        " occurrences; empty where there is one sense",
    ),
)
AXIS = Column("AXIS...", "cosine of the contextual vector with the axis")


@on_model(*KWIC, AXIS)
def kwic(
    model: Model,
    word: str,
    *,
    axes: Axes | None = None,
    sense: int | None = None,
    sort: str = "position",
    attention: str | None = None,
    side: int = 8,
    most: int | None = None,
    seed: int = 1,
    progress: Progress | None = None,
) -> Table:
    """List a word's occurrences with their sense; rows are a stream unless they are sorted.

    Senses are those saved for the word; they are looked for where the request needs them.
    """
    representations = representations_of(model)
    axes, told = known_axes(model, axes)
    row = model.row(word)
    places = corpus_of(model).positions(row)
    if most is not None:
        places = sample(places, most, np.random.default_rng(seed))
    asked = sense is not None or sort in ("sense", "margin")
    known, notes = _senses(representations, word, attention, asked, seed, progress)
    if sense is not None and known is not None and not 1 <= sense <= len(known.shares):
        raise UsageError(f"--sense {sense}: {word} has {len(known.shares)} here")
    name = attention or (known.attention if known else representations.default())
    way = representations.get(name)

    def rows() -> Iterator[tuple[Cell, ...]]:
        lines = _lines(representations, places, way, known, axes, side)
        if sense is not None:
            lines = (line for line in lines if line[5] == sense)
        return lines if sort == "position" else iter(_sorted(lines, sort))

    def points() -> Table:
        found = known or find_senses(representations, word, attention=attention, seed=seed).senses
        made = map_senses(representations, found, seed)
        if known is None:
            made.notes.append("the senses were found to be drawn, and are not saved")
        return made

    chart = draw_map(model.vocab[row], name, points)
    return Table((*KWIC, *AXIS.each(axes)), rows, [*told, *notes], chart=chart)


def _senses(
    representations: Representations,
    word: str,
    attention: str | None,
    asked: bool,
    seed: int,
    progress: Progress | None,
) -> tuple[SavedSenses | None, list[str]]:
    """Return the senses saved for a word, or look for them if the request needs them."""
    saved = current_senses(representations.model, word, attention)
    if saved is not None:
        return saved, []
    if not asked:
        return None, [f"no senses are saved for {word}: ctxembed senses {word} --save finds them"]
    found = find_senses(representations, word, attention=attention, seed=seed, progress=progress)
    made, n = found.clustering, len(found.places)
    number = "1 sense" if made.number == 1 else f"{made.number} senses"
    told = f"{number} found in {n} occurrences; ctxembed senses {word} --save keeps them"
    return found.senses, [told]


def _lines(
    representations: Representations,
    places: Places,
    way: Ours,
    known: SavedSenses | None,
    axes: Axes,
    side: int,
) -> Iterator[tuple[Cell, ...]]:
    """Read occurrences a chunk at a time, in the order of the text."""
    model, index = representations.model, corpus_of(representations.model)
    clues = evidence(representations, known.attention) if known else None
    for first in range(0, len(places), AT_ONCE):
        chunk = places[first : first + AT_ONCE]
        on_axes = np.zeros((len(chunk), len(axes)))
        labels: NDArray[np.intp] = np.zeros(len(chunk), np.intp)
        margins: Floats = np.full(len(chunk), np.nan, np.float32)
        if known or axes:
            for batch in read(model, chunk):
                if axes:
                    made = way.embed(batch)
                    on_axes[batch.rows] = axis_cosines(model, made, axes, way.alone)
                if known and clues is not None:
                    labels[batch.rows], margins[batch.rows] = judge(
                        clues.embed(batch), known.weights, known.bias
                    )
        for number, place in enumerate(chunk.tolist()):
            left, word, right = around(index, place, side)
            file, line = index.place(int(index.sentence_of(np.array([place]))[0]))
            sense = int(labels[number]) + 1 if known else None
            margin = float(margins[number])
            cells: tuple[Cell, ...] = (file, line, left, word, right, sense)
            yield (*cells, None if np.isnan(margin) else margin, *map(float, on_axes[number]))


def _sorted(lines: Iterable[tuple[Cell, ...]], sort: str) -> list[tuple[Cell, ...]]:
    """Sort by sense (the clearest first), margin (the least clear first), left or right word."""

    def key(line: tuple[Any, ...]) -> Any:
        _, _, left, _, right, sense, margin = line[: len(KWIC)]
        if sort in ("sense", "margin"):  # one sense has no margins
            return (sense, -(margin or 0.0)) if sort == "sense" else margin or 0.0
        return left.split()[::-1] if sort == "left" else right.split()  # the nearest word first

    return sorted(lines, key=key)
