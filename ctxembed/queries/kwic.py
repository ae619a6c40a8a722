"""Answer `kwic`: the occurrences of a word in context, with the sense of each."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.dispersion import draw_dispersion
from ctxembed.context.hits import Hits, find_each_length
from ctxembed.context.nearest import Axes, axis_cosines, known_axes
from ctxembed.context.occurrences import (
    CHUNK_SIZE,
    corpus_of,
    sample_positions,
    text_around,
)
from ctxembed.context.patterns import is_pattern
from ctxembed.context.representation import vectors_at
from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.bundled import bundled_name, on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses
from ctxembed.model.selection import matching_documents
from ctxembed.progress import SILENT, Progress
from ctxembed.table import Cell, Column, Table
from ctxembed.text.metadata import Mask, compare_texts
from ctxembed.text.original import find_changed
from ctxembed.text.where import Comparison, Condition, Joined, conjuncts, join_conditions, names_in
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_map import draw_map, map_senses
from ctxembed.word_senses.sense_space import classify_at, current_senses

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
DOCUMENT = Column("document", "with metadata: the id of the document", "label")
METADATA = Column(
    "METADATA...", "a column of the corpus's metadata, each under its own name", "label"
)
NAME = Column("sense_name", "the name of the sense, where senses --name gave one", "label")
AXIS = Column("AXIS...", "cosine of the contextual vector with the axis")
Line = tuple[Any, ...]
COLUMN = {column.name: number for number, column in enumerate(KWIC)}
WIDTH = 60
BESIDE = {f"{side}{at}": (side, at) for side in "lr" for at in range(1, 6)}  # l1: one to the left
ON_ROWS = ("sense", "left", "right", *BESIDE)  # on a row; all other conditions are on its document
SHOWN = 3  # columns of metadata in a table; other formats have all
Where = str | Sequence[str] | Mapping[str, str]


@on_model(*KWIC[:3], DOCUMENT, METADATA, *KWIC[3:], NAME, AXIS)
def kwic(
    model: Model, words: str | Sequence[str], *, axes: Axes | None = None,
    where: Where = (), sort: str = "position", attention: str | None = None,
    width: int = WIDTH, number: int | None = None, most: int | None = None, seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return a row for each occurrence of words, phrases or patterns, with its sense.

    where: conditions on the documents, such as "year>=1945"; or keep rows with this sense, or this
    word to the left or right, such as "sense=2".
    most: draw so many occurrences at random; number: keep the first rows of each word.
    Senses are those saved for a word; they are found only where `where` or `sort` needs them.
    """
    axes, notes = known_axes(model, axes, KWIC)
    rows_where, chosen = _split_where(model, where)
    metadata = corpus_of(model).metadata
    matches, unknown = find_each_length(model, words)
    notes += _text_notes(model)
    needed = any(item.name == "sense" for item in rows_where) or sort in ("sense", "margin")
    representations, split = Representations.of(model), model.vocabulary.tokenizer.words
    parts = []
    for hits in matches:
        hits = _in_documents(model, hits, chosen)
        positions = hits.positions
        if most is not None:
            positions = sample_positions(positions, most, np.random.default_rng(seed))
        notes.append(describe_count(model, hits, len(positions)))
        senses, more = find_known_senses(representations, hits, attention, needed, seed, progress)
        notes += more
        kept = [_number_senses(hits.query, item, senses) for item in rows_where]
        name = attention or (senses.attention if senses else representations.default())
        parts.append((kept, (hits, positions, senses, name)))
    named = any(own and any(own.names) for _, (_, _, own, _) in parts)

    def rows() -> Iterator[tuple[Cell, ...]]:
        for kept, part in parts:
            read = _lines(representations, *part, axes, width, named)
            matching = (line for line in read if all(_matches(line, item, split) for item in kept))
            lines = matching if sort == "position" else _sorted(matching, sort, split)
            printed = False
            for line in islice(lines, number):
                printed = True
                cells, document = line[:-1], line[-1]
                yield (*cells[:3], *metadata.cells(document), *cells[3:])
            if kept and not printed:
                conditions = " and ".join(f"{c.name}{c.operator}{','.join(c.values)}" for c in kept)
                notes.append(f"{part[0].query}: no occurrence has {conditions}")

    def map_points() -> Table:
        if senses:
            return map_senses(representations, senses, seed)
        unsaved = find_senses(representations, word, attention=attention, seed=seed)
        table = map_senses(representations, unsaved, seed)
        table.notes.append("these senses are not saved")
        return table

    charts = [draw_dispersion(corpus_of(model), [hits for _, (hits, *_) in parts])]
    if len(matches) == 1 and _has_vector(model, word := matches[0].query):
        charts = [draw_map(word, name, map_points), *charts]
    columns = (*_columns(metadata.names if metadata.columns else None, named), *AXIS.each(axes))
    return Table(columns, rows, notes, unknown, charts)


def describe_count(model: Model, hits: Hits, shown: int) -> str:
    """Return a note: how often a word occurs, and in how many documents."""
    total, documents = len(hits.positions), corpus_of(model).count_documents(hits.positions)
    drawn = f", {shown} of them drawn" if shown < total else ""
    where = f"{documents} document{'s' * (documents != 1)}"
    missing = "" if total else _describe_missing(model, hits.query)
    return f"{hits.query}: {total} occurrence{'s' * (total != 1)} in {where}{drawn}{missing}"


def _describe_missing(model: Model, query: str) -> str:
    """Return which words of a query are nowhere in the corpus, though they have vectors."""
    rows = {word: model.vocabulary.find(word) for word in re.split(r"[\s|]+", query)}
    index = corpus_of(model)
    missing = [w for w, row in rows.items() if row is not None and not len(index.positions(row))]
    return f"; the corpus has no {' and no '.join(missing)}" if missing else ""


def _split_where(model: Model, where: Where) -> tuple[list[Comparison], Mask | None]:
    """Return the conditions on rows, and which documents (D,) meet the others; None for all."""
    if isinstance(where, Mapping):
        condition: Condition | None = Joined(
            "and", tuple(Comparison(name, "=", (value,)) for name, value in where.items())
        )
    else:
        condition = join_conditions(where)
    on_rows, on_documents = list[Comparison](), list[Condition]()
    normalise = model.vocabulary.tokenizer.normalise
    for part in conjuncts(condition):
        if isinstance(part, Comparison) and part.name.lower() in BESIDE:
            part = replace(part, name=part.name.lower())
        if names_in(part).isdisjoint(ON_ROWS):
            on_documents.append(part)
            continue
        if not isinstance(part, Comparison) or part.operator not in ("=", "!="):
            alone = "sense, left, right, l1 and r1 take = or !=, and are joined to others by and"
            raise UsageError(f"--where: {alone}")
        words = part.values if part.name == "sense" else tuple(map(normalise, part.values))
        on_rows.append(replace(part, values=words))
    if not on_documents:
        return on_rows, None
    condition = on_documents[0] if len(on_documents) == 1 else Joined("and", tuple(on_documents))
    return on_rows, matching_documents(corpus_of(model), condition)


def _columns(metadata: Sequence[str] | None, named: bool) -> Iterator[Column]:
    """Yield the columns; metadata: its columns, None for a corpus without."""
    for column in KWIC:
        is_file = metadata is not None and column.name == "file"  # the document's id says it
        yield replace(column, role="aside") if is_file else column
        if column.name == "line" and metadata is not None:
            yield DOCUMENT
            for number, own in enumerate(METADATA.each(metadata)):
                yield own if number < SHOWN else replace(own, role="aside")
    if named:
        yield NAME


def _in_documents(model: Model, hits: Hits, chosen: Mask | None) -> Hits:
    """Return the occurrences in the chosen documents."""
    if chosen is None:
        return hits
    return replace(
        hits, positions=hits.positions[chosen[corpus_of(model).document_of(hits.positions)]]
    )


def _number_senses(word: str, condition: Comparison, senses: SavedSenses | None) -> Comparison:
    """Return a condition on the sense with numbers in the place of names; others as they are."""
    if senses is None or condition.name != "sense":
        return condition
    numbers = [senses.number_of(value) for value in condition.values]
    if None in numbers:
        known = "one sense" if senses.number == 1 else f"senses 1 to {senses.number}"
        unknown = condition.values[numbers.index(None)]
        raise UsageError(f"--where sense={unknown}: {word} has {known} here")
    return replace(condition, values=tuple(map(str, numbers)))


def _matches(line: Line, condition: Comparison, split: Callable[[str], list[str]]) -> bool:
    """Return whether a row matches a condition on rows."""
    if condition.name in BESIDE:  # l1 is the word before, r2 the second after
        side, at = BESIDE[condition.name]
        near = split(str(line[COLUMN["left" if side == "l" else "right"]]))
        near = near[::-1] if side == "l" else near
        words = near[at - 1 : at]
    else:
        cell = str(line[COLUMN[condition.name]])
        words = split(cell) if condition.name in ("left", "right") else [cell]
    found = any(compare_texts(word, "=", value) for word in words for value in condition.values)
    return found == (condition.operator == "=")


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
    return not is_pattern(word) and bool(model.vocabulary.parts(word))


def find_known_senses(
    representations: Representations, hits: Hits, attention: str | None, needed: bool, seed: int,
    progress: Progress,
) -> tuple[SavedSenses | None, list[str]]:  # fmt: skip
    """Return the senses saved for a word, or find them if they are needed; and notes."""
    word = hits.query
    if not len(hits.positions) and not needed:
        return None, []
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
    """Yield a row for each occurrence, in the order of the text; its last cell is the document."""
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
        documents = index.document_of(chunk)
        for number, position in enumerate(chunk.tolist()):
            left, hit, right = text_around(index, position, width, size)
            margin = float(margins[number])
            yield (
                hits.query, *index.source_of(sentences[number]), left.strip(), hit, right.strip(),
                int(labels[number]) + 1 if senses else None, None if np.isnan(margin) else margin,
                *([senses.names[labels[number]] or None if senses else None] if named else []),
                *map(float, on_axes[number]), int(documents[number]),
            )  # fmt: skip


def _sorted(lines: Iterable[Line], sort: str, split: Callable[[str], list[str]]) -> list[Line]:
    """Sort by sense (largest margin first), margin (smallest first), left or right word."""

    def sort_key(line: Line) -> Any:
        sense, margin = line[COLUMN["sense"]], line[COLUMN["margin"]]
        if sort in ("sense", "margin"):  # one sense has no margins
            return (sense, -(margin or 0.0)) if sort == "sense" else margin or 0.0
        words = split(line[COLUMN[sort]])  # the nearest word first
        return words[::-1] if sort == "left" else words

    return sorted(lines, key=sort_key)
