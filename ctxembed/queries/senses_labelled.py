"""Answer `senses --labels`: senses trained on labels, or compared with them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.hits import Hits, find_hits
from ctxembed.context.occurrences import corpus_of, text_around
from ctxembed.context.representations import Representations
from ctxembed.errors import CorpusError, UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, save_senses
from ctxembed.stats.agreement import cohen_kappa, precision_recall
from ctxembed.stats.k_means import Labels
from ctxembed.table import Cell, Column, Table
from ctxembed.text.tables import Row, TableFile
from ctxembed.word_senses.sense_space import classify_at, current_senses, make_space
from ctxembed.word_senses.supervised import (
    check_names,
    cross_validate,
    learn_senses,
    occurrence_vectors,
)

SENSES_LABELLED = (
    Column("word", "the word", "aside"),
    Column("label", "with --labels: a label of the file, the most frequent first", "label"),
    Column("labelled", "with --labels: occurrences that have it in the file"),
    Column("assigned", "with --labels: those of the labelled occurrences that get this sense"),
    Column("precision", "with --labels: share of those assigned that have the label"),
    Column("recall", "with --labels: share of those with the label that are assigned"),
    Column("f1", "with --labels: the harmonic mean of the two"),
)  # fmt: skip
MIN_PER_LABEL = 2
WRITE = "write document (or file), line and label in columns, as kwic prints them, with a label"


@dataclass(frozen=True)
class Labelled:
    """Occurrences of a word with labels."""

    positions: NDArray[np.int64]  # (n,)
    documents: NDArray[np.int64]  # (n,)
    labels: Labels  # (n,) rows of names
    names: Sequence[str]  # the most frequent first
    missing: int  # rows of the file that are about no occurrence


@on_model(*SENSES_LABELLED)
def senses_labelled(
    model: Model, words: str | Sequence[str], labels: str, *, attention: str | None = None,
    most: int = 10_000, seed: int = 1, save: bool = False,
) -> Table:  # fmt: skip
    """Return how well senses agree with labels; save: train them on all labels and save them.

    labels: a table with document (or file), line and label, and hit, left as kwic prints them.
    Saved senses are compared with the labels; without any, or with save, the figures are of senses
    trained on the other documents (five parts).
    """
    if not isinstance(words, str) and len(words) != 1:
        raise UsageError("--labels is of one word; give one word")
    word = words if isinstance(words, str) else words[0]
    representations, hits = Representations.of(model), find_hits(model, word)
    name = attention or representations.default()
    known = find_labelled(model, hits, TableFile(labels))
    check_names(known.names)
    notes = [f"{known.missing} rows of {labels} are about no occurrence of {hits.query}"]
    notes = notes if known.missing else []
    saved = None if save else current_senses(model.whole or model, hits.query, attention)
    if saved is not None:
        answers = match_senses(representations, saved, hits, known)
        notes.append(f"the saved senses of {hits.query} are compared; --save trains new ones")
    else:
        rare = Counter(known.labels.tolist())
        if len(known.names) < 2 or min(rare.values()) < MIN_PER_LABEL:
            few = f"at least two labels with {MIN_PER_LABEL} occurrences each are needed"
            raise UsageError(f"{labels}: {few} to train; label more lines")
        vectors = occurrence_vectors(representations, name, known.positions, hits.size)
        space = make_space(representations, name)
        answers = cross_validate(
            space, vectors, vectors, known.labels, known.documents, len(known.names)
        )
        notes.append("figures are of senses trained on other documents, in five parts")
        if save:
            senses = learn_senses(
                representations, hits, vectors, known.labels, known.names, name, most, seed
            )
            notes.append(
                f"{hits.query}: {senses.number} senses saved in {save_senses(model, senses)}"
            )
    rows = list[tuple[Cell, ...]]()
    figures = precision_recall(known.labels, answers, len(known.names))
    for label, (precision, recall, f1) in enumerate(figures):
        size, assigned = int((known.labels == label).sum()), int((answers == label).sum())
        rows.append((hits.query, known.names[label], size, assigned, precision, recall, f1))
    agree = float((known.labels == answers).mean())
    kappa = cohen_kappa(known.labels, answers)
    largest = max(int(row[2]) if isinstance(row[2], int) else 0 for row in rows) / len(known.labels)
    notes.insert(0, f"{hits.query}: {len(known.labels)} labelled occurrences, {agree:.1%} agree,"
                    f" κ {kappa:.2f}; the most frequent label alone {largest:.1%}")  # fmt: skip
    return Table(SENSES_LABELLED, rows, notes)


def find_labelled(model: Model, hits: Hits, table: TableFile) -> Labelled:
    """Return the occurrences that the rows of a table are about.

    Of several on one line, the row's text to the left decides, or else the order of the rows.
    """
    index = corpus_of(model)
    documents = index.document_of(hits.positions)
    sentences = index.sentence_of(hits.positions)
    ids = index.metadata.columns.get("document")
    on_line = defaultdict[tuple[str, str], list[int]](list)
    for number, (document, sentence) in enumerate(zip(documents, sentences, strict=True)):
        file, line = index.source_of(int(sentence))
        for name in {file} if ids is None else {file, str(ids.cell(int(document)))}:
            on_line[name, str(line)].append(number)
    rows, labels, missing = list[int](), list[str](), 0
    for number, cells in table.rows():
        key = next((key for key in ("document", "file") if cells.get(key)), None)
        if key is None or "line" not in cells or "label" not in cells:
            raise CorpusError(f"{table.name}: line {number}: a column is missing; {WRITE}")
        label = " ".join(cells["label"].split())
        if not label:
            continue  # not yet labelled
        free = [row for row in on_line[cells[key], cells["line"].strip()] if row not in rows]
        row = _choose(model, hits, free, cells)
        if row is None:
            missing += 1
        else:
            rows.append(row)
            labels.append(label)
    if not rows:
        raise CorpusError(f"{table.name}: no row is about an occurrence of {hits.query}; {WRITE}")
    names = [name for name, _ in Counter(labels).most_common()]
    numbers = np.array([names.index(label) for label in labels])
    return Labelled(hits.positions[rows], documents[rows], numbers, names, missing)


def _choose(model: Model, hits: Hits, rows: Sequence[int], cells: Row) -> int | None:
    """Return the first occurrence on the line with the row's words before it; None if none is."""
    left = model.vocabulary.tokenizer.words(cells.get("left", ""))[-3:]
    if not left:
        return next(iter(rows), None)
    for row in rows:
        before, _, _ = text_around(corpus_of(model), int(hits.positions[row]), 60, hits.size)
        if model.vocabulary.tokenizer.words(before)[-len(left) :] == left:
            return row
    return None


def match_senses(
    representations: Representations, senses: SavedSenses, hits: Hits, known: Labelled
) -> Labels:
    """Return the label (n,) of each occurrence's sense: its name, or what most of them have."""
    assigned, _ = classify_at(representations, senses, known.positions, hits.size)
    answers = np.full(len(assigned), -1)
    for sense in range(senses.number):
        mine = assigned == sense
        if senses.names[sense] in known.names:
            answers[mine] = list(known.names).index(senses.names[sense])
        elif mine.any() and not senses.names[sense]:
            answers[mine] = np.bincount(known.labels[mine]).argmax()
    return answers
