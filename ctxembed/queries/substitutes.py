"""Rank the words that could replace each target in its sentence."""

from collections.abc import Iterator, Sequence

import numpy as np

from ctxembed.context.columns import SENTENCE, TARGET
from ctxembed.context.nearest import BATCH_SIZE
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import read_sentences
from ctxembed.errors import UsageError
from ctxembed.explanation.substitutes import SubstituteRanker
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.define import find_related, list_written
from ctxembed.stats.threads import one_thread
from ctxembed.table import Cell, Chart, Column, Table

SUBSTITUTES = (
    SENTENCE,
    TARGET,
    Column("rank", "1 for the best"),
    Column("substitute", "a word that could stand in its place", "label"),
    Column("score", "fits_word + fits_context: weighted measures in standard deviations"),
    Column("fits_word", "near its static vector or saved sense, used beside like words, frequent"),
    Column(
        "fits_context",
        "near its contextual vector, usual beside the words here, of its sense",
    ),
)


@on_model(*SUBSTITUTES)
def substitutes(
    model: Model, sentences: str | Sequence[str], *, word: str | None = None,
    candidates: Sequence[str] = (), attention: str | None = None, number: int = 10,
    min_count: int = 1,
) -> Table:  # fmt: skip
    """Rank the words that could replace each target, or the given candidates."""
    representations, words = Representations.of(model), model.vocabulary.words
    read = read_sentences(representations, sentences, word)
    representation = representations.get(attention or representations.answer())
    chosen, notes, unknown = None, list[str](), list[str]()
    if candidates:
        known, notes, unknown = model.vocabulary.keep_known(candidates)
        rows_or_none = [model.vocabulary.find(name) for name in dict.fromkeys(known)]
        chosen = np.array([row for row in rows_or_none if row is not None], np.intp)
        if not len(chosen):
            raise UsageError("--candidates: none of these words has a vector of its own")
    targets = read.targets()
    written = [target.item for parsed in read.parsed for target in list_written(parsed)]

    def rows() -> Iterator[tuple[Cell, ...]]:
        for first in range(0, len(targets), BATCH_SIZE):
            block = targets[first : first + BATCH_SIZE]
            items = [item for _, _, item in block]
            vectors = representation.vectors(items)
            related = find_related(model, written[first : first + BATCH_SIZE])
            ranker = SubstituteRanker.of(
                representations, items, vectors, min_count, related=related
            )
            for i, (sentence, name, _) in enumerate(block):
                with one_thread():
                    ranking = ranker.rank(i, representation, vectors[i], chosen)
                for rank, (row, fits) in enumerate(ranking.best(number), 1):
                    yield sentence, name, rank, words[row], float(fits.sum()), *map(float, fits)

    fits, panel = ["fits_word", "fits_context"], ["sentence", "target"]
    title = "words that could stand in its place"
    chart = Chart("bars", fits, label=["substitute"], panel=panel, title=title)
    return Table(SUBSTITUTES, rows, [*notes, *read.notes], [*unknown, *read.unknown], chart=chart)
