"""Where does a word occur, in which sense, and how clearly?"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatch
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.axes import Axes, axis_cosines, known_axes
from ctxembed.context.hits import Hits, find_each, find_hits
from ctxembed.context.occurrences import AT_ONCE, around, corpus_of, read, sample
from ctxembed.context.representations import Ours, Representations, representations_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import bundled_name, on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.original import find_changed
from ctxembed.word_senses.assign import current_senses, judge
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_map import draw_map, map_senses
from ctxembed.word_senses.sense_space import evidence

KWIC = (
    Column("word", "what was asked for", "aside"),
    Column("file", "the file of the corpus", "label"),
    Column("line", "the line on which the sentence begins"),
    Column("left", "what stands before it", "text"),
    Column("hit", "the occurrence, as it was written", "keyword"),
    Column("right", "what stands behind it", "text"),
    Column("sense", "number of the sense; empty where none are known"),
    Column(
        "margin",
        "distance to the border of the next sense, in standard deviations of one word's"
        " occurrences; empty where there is one sense",
    ),
)
AXIS = Column("AXIS...", "cosine of the contextual vector with the axis")
Line = tuple[Any, ...]
AT = {column.name: place for place, column in enumerate(KWIC)}
WIDTH = 60


@on_model(*KWIC, AXIS)
def kwic(
    model: Model,
    words: str | Sequence[str],
    *,
    axes: Axes | None = None,
    where: Mapping[str, str] | None = None,
    sort: str = "position",
    attention: str | None = None,
    width: int = WIDTH,
    number: int | None = None,
    most: int | None = None,
    seed: int = 1,
    progress: Progress = SILENT,
) -> Table:
    """List the occurrences of words, several words in a row or patterns, with their senses.

    where: only rows with this sense, file (* stands for any letters), or word to the left or right.
    most: so many, drawn at random; number: only the first rows.
    Senses are those saved for a word; they are looked for where the request needs them.
    """
    axes, told = known_axes(model, axes, KWIC)
    where = _read_where(model, where or {})
    found, unknown = find_all(model, words)
    notes = [*told, *_about_text(model)]
    needs = "sense" in where or sort in ("sense", "margin")
    representations, split = representations_of(model), model.vocabulary.tokenizer.words
    parts = []
    for hits in found:
        places = hits.places
        if most is not None:
            places = sample(places, most, np.random.default_rng(seed))
        notes.append(tell_count(model, hits, len(places)))
        known, more = find_known_senses(representations, hits, attention, needs, seed, progress)
        notes += more
        if known is not None and "sense" in where:
            _check_sense(where["sense"], hits.asked, known.number)
        parts.append(_Part(representations, hits, places, known, attention, axes, width))

    def rows() -> Iterator[tuple[Cell, ...]]:
        for part in parts:
            kept = (line for line in part.lines() if _fits(line, where, split))
            lines = kept if sort == "position" else _sorted(kept, sort, split)
            yield from islice(lines, number)

    chart = parts[0].draw(seed) if len(parts) == 1 else None
    return Table((*KWIC, *AXIS.each(axes)), rows, notes, unknown, chart)


def find_all(model: Model, asked: str | Sequence[str]) -> tuple[list[Hits], list[str]]:
    """Find all that is asked for, and say what is unknown."""
    words = [asked] if isinstance(asked, str) else asked
    return find_each(words, lambda word: find_hits(model, word))


def tell_count(model: Model, hits: Hits, shown: int) -> str:
    """Say how often it occurs, and in how many documents: one alone is no trend."""
    total, documents = len(hits.places), corpus_of(model).count_documents(hits.places)
    drawn = f", {shown} of them drawn" if shown < total else ""
    times = "occurrence" if total == 1 else "occurrences"
    where = "document" if documents == 1 else "documents"
    return f"{hits.asked}: {total} {times} in {documents} {where}{drawn}"


def _read_where(model: Model, where: Mapping[str, str]) -> dict[str, str]:
    """Check --where; words are written as the model writes them."""
    for name in where:
        if name not in ("sense", "file", "left", "right"):
            raise UsageError(f"--where {name}: give sense=N, file=NAME, left=WORD or right=WORD")
    sides, normalise = ("left", "right"), model.vocabulary.tokenizer.normalise
    return {name: normalise(value) if name in sides else value for name, value in where.items()}


def _fits(line: Line, where: Mapping[str, str], split: Callable[[str], list[str]]) -> bool:
    """Tell whether a row is as --where asks."""

    def fits(name: str, value: str) -> bool:
        cell = line[AT[name]]
        if name == "sense":
            return str(cell) == value
        return any(fnmatch(word, value) for word in ([cell] if name == "file" else split(cell)))

    return all(fits(name, value) for name, value in where.items())


def _check_sense(value: str, word: str, number: int) -> None:
    if not value.isdigit() or not 1 <= int(value) <= number:
        senses = "one sense" if number == 1 else f"senses 1 to {number}"
        raise UsageError(f"--where sense={value}: {word} has {senses} here")


def _about_text(model: Model) -> list[str]:
    """Say where what is shown may differ from what the files say now."""
    index = corpus_of(model)
    if index.original is None:
        return [
            "this model keeps no text: bare words are shown; train again to quote it as written"
        ]
    if bundled_name(model.path):
        return []
    with (model.files / "model.json").opened() as (_, told):
        changed = list(find_changed(index.files, model.path.parent, told.st_mtime))
    more = f", and so have {len(changed) - 1} more files" if len(changed) > 1 else ""
    return [f"{name} {what}{more}: the text as it was read is shown" for name, what in changed[:1]]


def find_known_senses(
    representations: Representations,
    hits: Hits,
    attention: str | None,
    asked: bool,
    seed: int,
    progress: Progress,
) -> tuple[SavedSenses | None, list[str]]:
    """Return the senses saved for a word, or look for them if the request needs them."""
    word = hits.asked
    if "*" in word or not representations.model.vocabulary.parts(word):
        if asked:
            raise UsageError(f"{word!r}: senses are told of words with a vector, not of a pattern")
        return None, []
    name = f'"{word}"' if " " in word else word
    path = representations.model.path
    where = f" -m {bundled_name(path) or path}"
    saved = current_senses(representations.model, word, attention)
    if saved is not None:
        return saved, []
    if not asked:
        return None, [f"no senses are saved for {word}: ctxembed senses {name}{where} finds them"]
    found = find_senses(representations, word, attention=attention, seed=seed, progress=progress)
    made, n = found.clustering, len(found.places)
    number = "1 sense" if made.number == 1 else f"{made.number} senses"
    told = f"{number} found in {n} occurrences; ctxembed senses {name}{where} keeps them"
    return found.senses, [told]


@dataclass(frozen=True)
class _Part:
    """What is listed for one of the words."""

    representations: Representations
    hits: Hits
    places: NDArray[np.int64]
    known: SavedSenses | None
    attention: str | None
    axes: Axes
    width: int

    @property
    def name(self) -> str:
        """Which attention gives the vectors."""
        known = self.known.attention if self.known else self.representations.default()
        return self.attention or known

    def lines(self) -> Iterator[Line]:
        """Read occurrences a chunk at a time, in the order of the text."""
        index, size = corpus_of(self.representations.model), self.hits.size
        for first in range(0, len(self.places), AT_ONCE):
            chunk = self.places[first : first + AT_ONCE]
            senses, margins = judge_at(self.representations, self.known, chunk, size)
            on_axes = self._on_axes(chunk)
            sentences = index.sentence_of(chunk).tolist()
            for number, place in enumerate(chunk.tolist()):
                left, hit, right = around(index, place, self.width, size)
                file, line = index.place(sentences[number])
                margin = float(margins[number])
                yield (
                    self.hits.asked, file, line, left.strip(), hit, right.strip(),
                    int(senses[number]) + 1 if self.known else None,
                    None if np.isnan(margin) else margin,
                    *map(float, on_axes[number]),
                )  # fmt: skip

    def _on_axes(self, places: NDArray[np.int64]) -> Floats:
        """Return (n, axes) the cosines of occurrences with the axes."""
        on_axes = np.zeros((len(places), len(self.axes)))
        if self.axes:
            model, way = self.representations.model, self.representations.get(self.name)
            for batch in read(model, places, size=self.hits.size):
                on_axes[batch.rows] = axis_cosines(model, way.embed(batch), self.axes, way.alone)
        return on_axes

    def draw(self, seed: int) -> Chart | None:
        """Draw the occurrences of a word, coloured by sense."""
        ways, word = self.representations, self.hits.asked
        if "*" in word or not ways.model.vocabulary.parts(word):
            return None

        def points() -> Table:
            if self.known:
                return map_senses(ways, self.known, seed)
            found = find_senses(ways, word, attention=self.attention, seed=seed)
            made = map_senses(ways, found.senses, seed)
            made.notes.append("the senses were found to be drawn, and are not saved")
            return made

        return draw_map(word, self.name, points)


def judge_at(
    representations: Representations,
    known: SavedSenses | None,
    places: NDArray[np.int64],
    size: int = 1,
) -> tuple[NDArray[np.intp], Floats]:
    """Return (n,) the sense of each occurrence from 0, and (n,) how clearly it has it."""
    senses, margins = np.zeros(len(places), np.intp), np.full(len(places), np.nan, np.float32)
    if known:
        clues: Ours = evidence(representations, known.attention)
        for batch in read(representations.model, places, size=size):
            judged = judge(clues.embed(batch), known.weights, known.bias)
            senses[batch.rows], margins[batch.rows] = judged
    return senses, margins


def _sorted(lines: Iterable[Line], sort: str, split: Callable[[str], list[str]]) -> list[Line]:
    """Sort by sense (the clearest first), margin (the least clear first), left or right word."""

    def key(line: Line) -> Any:
        sense, margin = line[AT["sense"]], line[AT["margin"]]
        if sort in ("sense", "margin"):  # one sense has no margins
            return (sense, -(margin or 0.0)) if sort == "sense" else margin or 0.0
        words = split(line[AT[sort]])  # the nearest word first; punctuation is none
        return words[::-1] if sort == "left" else words

    return sorted(lines, key=key)
