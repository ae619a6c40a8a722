"""What went into the average: the senses of a word, and the static vector as their mix."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial

import numpy as np

from ctxembed.context.occurrences import quote
from ctxembed.context.representations import Representations, representations_of
from ctxembed.errors import CtxembedError, ModelError, UsageError
from ctxembed.model.bundled import bundled_name, on_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, save_senses
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.neighbors import nearest
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Column, Table
from ctxembed.word_senses.cluster import MOST
from ctxembed.word_senses.discover import find_senses, kept_senses
from ctxembed.word_senses.sense_map import draw_map, map_senses

SENSES = (
    Column("word", "the word", "aside"),
    Column("sense", "number of the sense, 1 for the most frequent", "label"),
    Column("share", "its share of the occurrences", "share", group=("word",)),
    Column("count", "how many of those looked at have it"),
    Column("mix", "its weight in the static vector: static ≈ Σ mix · sense, all of length 1"),
    Column("nearest", "words nearest to what its contexts add to the word's own vector", "long"),
    Column(
        "markers", "context words that tell it from the other senses and from the corpus", "long"
    ),
    Column(
        "examples",
        "occurrences nearest to its centre, without those that say nearly the same",
        "long",
        between=" | ",
    ),
    Column(
        "residual",
        "length of what the mix leaves over of the static vector, whose length is 1",
        "aside",
    ),
    Column("mean_cosine", "cosine of the mean of all occurrences with the static vector", "aside"),
)
NUMBERS = (
    Column("word", "the word", "label"),
    Column("k", "with --all-k: a number of senses"),
    Column(
        "score",
        "with --all-k: how far apart the nearest two of them lie, mean of the resamples; 1 is what"
        " makes two senses",
    ),
    Column("agreement", "with --all-k: how far the resamples agree on k senses (adjusted Rand)"),
    Column("chosen", "with --all-k: yes for the number that was taken", "label"),
)
STEADY = 0.5  # agreement of resamples below which a split is doubtful
AT_ONCE = 50  # words after which what was found is written down


@on_model(*SENSES, *NUMBERS[1:])
def senses(
    model: Model,
    words: str | Sequence[str] = (),
    *,
    k: int | None = None,
    attention: str | None = None,
    most: int = 10_000,
    number: int = 6,
    examples: int = 3,
    seed: int = 1,
    min_score: float | None = None,
    save: bool = False,
    again: bool = False,
    top: int | None = None,
    min_count: int | None = None,
    all_k: bool = False,
    progress: Progress = SILENT,
) -> Table:
    """Take words' averages apart; k=None finds how many senses each has.

    top: instead of words, so many that have more than one sense, found among all of the model, or
    among those that occur min_count times.
    min_score: that a number of senses needs, 1 where none is given.
    What was found before answers again, unless `again` or `save` is asked for. all_k: how well each
    number of senses does, instead of the senses.
    """
    if bool(words) == (top is not None):
        raise UsageError("give words, or --top N for as many as have more than one sense")
    if save:
        refuse_bundled(model.path)
    representations = representations_of(model)
    name = attention or representations.default()
    known, notes, unknown = model.vocabulary.keep_known(words) if words else ([], [], [])
    alone = len(known) + len(unknown) == 1

    def found() -> Iterator[tuple[SavedSenses, bool]]:
        """Yield the senses of each word, and whether they were known before."""
        if top is not None:
            from ctxembed.queries.ambiguity import ambiguous_words

            candidates: Iterator[str] = ambiguous_words(
                representations, name, seed, progress, min_count
            )
        else:
            candidates = iter(dict.fromkeys(known))
        several = 0
        for word in candidates:
            kept = None
            if not (again or save):
                kept = kept_senses(model, word, name, k, most, seed, min_score)
            try:
                made = kept or find_senses(
                    representations, word, k=k, attention=name, most=most, seed=seed,
                    min_score=min_score, progress=progress if alone else SILENT,
                ).senses  # fmt: skip
            except CtxembedError as error:
                if alone or (isinstance(error, ModelError) and model.index is not None):
                    raise
                (notes if model.index is not None else unknown).append(str(error))
                continue
            several += made.number > 1
            if top is None or made.number > 1:
                yield made, kept is not None
            if several == top:
                break

    rows: list[tuple[Cell, ...]] = []
    new: list[SavedSenses] = []
    shown: list[SavedSenses] = []
    total = top if top is not None else len(known)
    outer = SILENT if alone else progress  # one bar at a time
    with outer.stage("senses", total, "words") as stage:
        for item, before in found():
            shown.append(item)
            mine, told = _rows(representations, item, number, examples)
            rows += mine
            if alone:
                notes += told
                if before:
                    notes.append("as found before; --again looks anew")
            if not before:
                new.append(item)
                if save and len(new) % AT_ONCE == 0:
                    save_senses(model, *new[-AT_ONCE:])
            stage.advance()
    if model.index is None and not shown and unknown:
        raise ModelError("\n".join(unknown))
    if save and new:
        notes.append(f"{len(new)} saved in {save_senses(model, *new)}")
    elif new and not (k or attention or min_score) and not bundled_name(model.path):
        with suppress(CtxembedError, OSError):  # a model that cannot be written to still answers
            save_senses(model, *new)
    if all_k:
        given = [item.word for item in shown if item.facts.get("k") is not None]
        if given:
            notes.append(
                f"as many senses as were asked for, whatever their score: {', '.join(given)}"
            )
        return Table(NUMBERS, [row for item in shown for row in _numbers(item)], notes, unknown)
    columns = SENSES if alone else (replace(SENSES[0], role="label"), *SENSES[1:])
    chart = None
    if alone and shown and model.index is not None:
        points = partial(map_senses, representations, shown[0], seed)
        chart = draw_map(shown[0].word, shown[0].attention, points)
    return Table(columns, rows, notes, unknown, chart)


def _rows(
    representations: Representations, found: SavedSenses, number: int, examples: int
) -> tuple[list[tuple[Cell, ...]], list[str]]:
    """Return a row a sense, and what to say of the word."""
    model = representations.model
    static = model.vector(found.word, representations.get(found.attention).inputs)
    weights, residual, mean_cosine = unmix(static, found.vectors, found.shares)
    near = _nearest(representations, found, number)
    size = int(found.facts.get("size", 1))  # words of it
    rows: list[tuple[Cell, ...]] = []
    for sense, share in enumerate(found.shares):
        quotes = (
            [quote(model.index, place, size=size) for place in found.examples[sense][:examples]]
            if (model.index is not None)
            else []
        )
        rows.append(
            (
                found.word,
                sense + 1,
                float(share),
                int(found.counts[sense]),
                float(weights[sense]),
                [other for other, _ in near[sense]],
                list(found.markers[sense][:number]),
                quotes,
                residual,
                mean_cosine,
            )
        )
    return rows, _notes(found, weights, residual, mean_cosine)


def _numbers(found: SavedSenses) -> Iterator[tuple[Cell, ...]]:
    """Yield how well each number of senses does."""
    facts = found.facts
    yield found.word, 1, None, None, "yes" if found.number == 1 else "no"
    for k, (score, agree) in enumerate(zip(facts["scores"], facts["agreements"], strict=True), 2):
        yield found.word, k, score, agree, "yes" if found.number == k else "no"


def unmix(static: Floats, vectors: Floats, shares: Floats) -> tuple[Floats, float, float]:
    """Write a static vector as a sum of sense vectors (k, d), as nearly as can be.

    Returns the weights (k,), the share of its length that is left over, and the cosine of the
    mean of the senses, weighted by how often they occur, with the static vector.

    >>> weights, left, cosine = unmix(np.array([3.0, 4.0]), np.eye(2), np.array([0.5, 0.5]))
    >>> weights.round(6).tolist(), round(left, 6), round(cosine, 2)
    ([0.6, 0.8], 0.0, 0.99)
    """
    target = unit(static).astype(np.float64)
    basis = unit(vectors).astype(np.float64)
    weights, *_ = np.linalg.lstsq(basis.T, target, rcond=None)
    left = float(np.linalg.norm(target - weights @ basis))
    mean = unit(shares @ vectors.astype(np.float64))
    return weights, left, float(np.clip(mean @ target, -1, 1))


def _nearest(
    representations: Representations, found: SavedSenses, number: int
) -> list[list[tuple[str, float]]]:
    """Find the words nearest to what the context adds: the part across the word's own vector."""
    model = representations.model
    space, rows = representations.get(found.attention).inputs, model.vocabulary.parts(found.word)
    own = unit(model.vector(found.word, space)).astype(np.float64)
    across = found.vectors - (found.vectors @ own)[:, None] * own
    least = min(max(50, 1e-5 * model.tokens), int(model.counts[rows].min()) // 4)
    rare = np.flatnonzero(model.counts < least).tolist()  # noisy, and few know them
    return nearest(model, across.astype(np.float32), number, [[*rows, *rare]] * len(across), space)


def _notes(found: SavedSenses, weights: Floats, residual: float, cosine: float) -> list[str]:
    """Say how the static vector is made of the senses, and what was looked at."""
    mix = " ".join(
        f"{'-' if weight < 0 else '+'} {abs(weight):.2f}·s{sense}"
        for sense, weight in enumerate(weights[:MOST], 1)
    ).removeprefix("+ ")
    mix += " + …" if len(weights) > MOST else ""
    notes = [
        f"{found.word} ≈ {mix}, {residual:.2f} of its length left over;"
        f" the mean of its occurrences has cosine {cosine:.3f} with the static vector"
    ]
    looked, total = sum(found.counts), found.facts["total"]
    if looked < total:
        notes.append(
            f"{looked} of {total} occurrences looked at ({looked / total:.1%}); --max takes more"
        )
    facts = found.facts
    if facts["stability"] is not None:
        doubt = "" if facts["stability"] >= STEADY else ", little: other text may split otherwise"
        notes.append(
            f"the senses of resamples agree to {facts['stability']:.2f} (adjusted Rand){doubt};"
            " --all-k has every number of senses"
        )
    elif facts["k"] is None:
        notes.append(
            f"one sense: a split comes to {max(facts['scores'], default=0.0):.2f} of the distance"
            " that makes two; --k 2 splits it anyway, --min-score takes less for enough"
        )
    return notes
