"""Answer `kwic`: the occurrences of a word in context, with the sense of each."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatch
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_each, find_hits
from ctxembed.context.nearest import Axes, axis_cosines, known_axes
from ctxembed.context.occurrences import (
    CHUNK_SIZE,
    corpus_of,
    read_windows,
    sample_positions,
    text_around,
)
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.bundled import bundled_name, on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats
from ctxembed.table import Cell, Column, Table
from ctxembed.text.original import find_changed
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_map import draw_map, map_senses
from ctxembed.word_senses.sense_space import classify, current_senses, sense_representation

KWIC = (
    Column("word", "what was asked for", "aside"),
    Column("file", "the file of the corpus", "label"),
    Column("line", "the line on which the sentence begins"),
    Column("left", "the text before it", "text"),
    Column("hit", "the occurrence, as it was written", "keyword"),
    Column("right", "the text after it", "text"),
    Column("sense", "number of the sense; empty where none are known"),
    Column("margin", "distance to the border of the next sense, in standard deviations of one"
           " word's occurrences; empty where there is one sense"),
)  # fmt: skip
NAME = Column("sense_name", "the name of the sense, where senses --name gave one", "label")
AXIS = Column("AXIS...", "cosine of the contextual vector with the axis")
Line = tuple[Any, ...]
COLUMN = {column.name: number for number, column in enumerate(KWIC)}
WIDTH = 60


@on_model(*KWIC, NAME, AXIS)
def kwic(
    model: Model, words: str | Sequence[str], *, axes: Axes | None = None,
    where: Mapping[str, str] | None = None, sort: str = "position", attention: str | None = None,
    width: int = WIDTH, number: int | None = None, most: int | None = None, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return a row for each occurrence of words, phrases or patterns, with its sense.

    where: keep rows with this sense, file (* matches any letters), or word to the left or right.
    most: draw so many occurrences at random; number: keep the first rows of each word.
    Senses are those saved for a word; they are found only where `where` or `sort` needs them.
    """
    axes, notes = known_axes(model, axes, KWIC)
    where, normalise = dict(where or {}), model.vocabulary.tokenizer.normalise
    for key, value in where.items():
        if key not in ("sense", "file", "left", "right"):
            raise UsageError(f"--where {key}: give sense=N, file=NAME, left=WORD or right=WORD")
        where[key] = normalise(value) if key in ("left", "right") else value
    matches, unknown = find_each(words, partial(find_hits, model))
    notes += _text_notes(model)
    needed = "sense" in where or sort in ("sense", "margin")
    representations, split = Representations.of(model), model.vocabulary.tokenizer.words
    parts = []
    for hits in matches:
        positions = hits.positions
        if most is not None:
            positions = sample_positions(positions, most, np.random.default_rng(seed))
        notes.append(describe_count(model, hits, len(positions)))
        senses, more = find_known_senses(representations, hits, attention, needed, seed, progress)
        notes += more
        kept = dict(where)
        if senses and "sense" in where:
            if (wanted := senses.number_of(where["sense"])) is None:
                known = "one sense" if senses.number == 1 else f"senses 1 to {senses.number}"
                raise UsageError(f"--where sense={where['sense']}: {hits.query} has {known} here")
            kept["sense"] = str(wanted)
        name = attention or (senses.attention if senses else representations.default())
        parts.append((kept, (hits, positions, senses, name)))
    named = any(own and any(own.names) for _, (_, _, own, _) in parts)

    def rows() -> Iterator[tuple[Cell, ...]]:
        for kept, part in parts:
            read = _lines(representations, *part, axes, width, named)
            matching = (line for line in read if _matches(line, kept, split))
            lines = matching if sort == "position" else _sorted(matching, sort, split)
            yield from islice(lines, number)

    def map_points() -> Table:
        if senses:
            return map_senses(representations, senses, seed)
        unsaved = find_senses(representations, word, attention=attention, seed=seed)
        table = map_senses(representations, unsaved, seed)
        table.notes.append("these senses are not saved")
        return table

    chart = None
    if len(matches) == 1 and _has_vector(model, word := matches[0].query):
        chart = draw_map(word, name, map_points)
    columns = (*KWIC, *([NAME] if named else []), *AXIS.each(axes))
    return Table(columns, rows, notes, unknown, chart)


def describe_count(model: Model, hits: Hits, shown: int) -> str:
    """Return a note: how often a word occurs, and in how many documents."""
    total, documents = len(hits.positions), corpus_of(model).count_documents(hits.positions)
    drawn = f", {shown} of them drawn" if shown < total else ""
    where = f"{documents} document{'s' * (documents != 1)}"
    return f"{hits.query}: {total} occurrence{'s' * (total != 1)} in {where}{drawn}"


def _matches(line: Line, where: Mapping[str, str], split: Callable[[str], list[str]]) -> bool:
    """Return whether a row matches --where."""
    for name, value in where.items():
        cell = str(line[COLUMN[name]])
        words = split(cell) if name in ("left", "right") else [cell]
        if not any(fnmatch(word, value) for word in words):
            return False
    return True


def _text_notes(model: Model) -> list[str]:
    """Return notes on where the text shown may differ from the files as they are now."""
    index = corpus_of(model)
    if index.original is None:
        return ["this model keeps no text: bare words are shown; train again to quote as written"]
    if bundled_name(model.path):
        return []
    written = (model.files / "model.json").status().st_mtime
    changed = list(find_changed(index.files, model.path.parent, written))
    more = f", and so have {len(changed) - 1} more files" if len(changed) > 1 else ""
    return [f"{name} {what}{more}: the text as it was read is shown" for name, what in changed[:1]]


def _has_vector(model: Model, word: str) -> bool:
    """Return whether a search is for known words, which have vectors, not for a pattern."""
    return "*" not in word and bool(model.vocabulary.parts(word))


def find_known_senses(
    representations: Representations, hits: Hits, attention: str | None, needed: bool, seed: int,
    progress: Progress,
) -> tuple[SavedSenses | None, list[str]]:  # fmt: skip
    """Return the senses saved for a word, or find them if they are needed; and notes."""
    word = hits.query
    if not _has_vector(representations.model, word):
        if needed:
            raise UsageError(f"{word!r}: senses need a word that has a vector, not a pattern")
        return None, []
    saved = current_senses(representations.model, word, attention)
    if saved is not None:
        return saved, []
    path, name = representations.model.path, f'"{word}"' if " " in word else word
    command = f"ctxembed senses {name} -m {bundled_name(path) or path} --save"
    if not needed:
        return None, [f"no senses are saved for {word}: {command} finds them"]
    senses = find_senses(representations, word, attention=attention, seed=seed, progress=progress)
    number = "1 sense" if senses.number == 1 else f"{senses.number} senses"
    return senses, [f"{number} found in {sum(senses.counts)} occurrences; {command} keeps them"]


def _lines(
    representations: Representations, hits: Hits, positions: NDArray[np.int64],
    senses: SavedSenses | None, attention: str, axes: Axes, width: int, named: bool,
) -> Iterator[Line]:  # fmt: skip
    """Yield a row for each occurrence of a word, in the order of the text."""
    model, size = representations.model, hits.size
    index = corpus_of(model)
    for first in range(0, len(positions), CHUNK_SIZE):
        chunk = positions[first : first + CHUNK_SIZE]
        labels, margins = classify_at(representations, senses, chunk, size)
        on_axes = np.zeros((len(chunk), len(axes)))
        if axes:
            representation = representations.get(attention)
            vectors = vectors_at(model, representation, chunk, size)
            on_axes = axis_cosines(model, vectors, axes, representation.alone)
        sentences = index.sentence_of(chunk).tolist()
        for number, position in enumerate(chunk.tolist()):
            left, hit, right = text_around(index, position, width, size)
            margin = float(margins[number])
            yield (
                hits.query, *index.source_of(sentences[number]), left.strip(), hit, right.strip(),
                int(labels[number]) + 1 if senses else None, None if np.isnan(margin) else margin,
                *([senses.names[labels[number]] or None if senses else None] if named else []),
                *map(float, on_axes[number]),
            )  # fmt: skip


def classify_at(
    representations: Representations, senses: SavedSenses | None, positions: NDArray[np.int64],
    size: int = 1,
) -> tuple[NDArray[np.intp], Floats]:  # fmt: skip
    """Return the sense (n,) of each occurrence, from 0, and its margin (n,)."""
    labels, margins = np.zeros(len(positions), np.intp), np.full(len(positions), np.nan, np.float32)
    if senses:
        representation = sense_representation(representations, senses.attention)
        for batch in read_windows(representations.model, positions, size=size):
            vectors = representation.embed(batch)
            labels[batch.rows], margins[batch.rows] = classify(vectors, senses.weights, senses.bias)
    return labels, margins


def _sorted(lines: Iterable[Line], sort: str, split: Callable[[str], list[str]]) -> list[Line]:
    """Sort by sense (largest margin first), margin (smallest first), left or right word."""

    def sort_key(line: Line) -> Any:
        sense, margin = line[COLUMN["sense"]], line[COLUMN["margin"]]
        if sort in ("sense", "margin"):  # one sense has no margins
            return (sense, -(margin or 0.0)) if sort == "sense" else margin or 0.0
        words = split(line[COLUMN[sort]])  # the nearest word first
        return words[::-1] if sort == "left" else words

    return sorted(lines, key=sort_key)
