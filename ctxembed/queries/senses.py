"""Answer `senses`: the senses of a word, and its static vector as a weighted sum of them."""

import pickle
from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from ctxembed.context.nearest import nearest
from ctxembed.context.occurrences import corpus_of, quote, text_around
from ctxembed.context.parse import Written
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError, ModelError, UsageError
from ctxembed.model.bundled import on_model, open_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, save_senses
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.define import open_definitions
from ctxembed.static.engine import cores
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Column, Table
from ctxembed.text.processes import in_processes
from ctxembed.word_senses.cluster import MAX_SENSES
from ctxembed.word_senses.definitions import UNSURE, Definitions
from ctxembed.word_senses.discover import find_senses
from ctxembed.word_senses.sense_map import draw_map, map_senses
from ctxembed.word_senses.sense_space import current_senses
from ctxembed.word_senses.sense_test import BAR, SenseTest, open_test
from ctxembed.word_senses.supervised import transfer_senses

SENSES = (
    Column("word", "the word", "aside"),
    Column("sense", "number of the sense, 1 for the most frequent", "label"),
    Column("share", "its share of the occurrences", "share", group=("word",)),
    Column("count", "how many of those looked at have it"),
    Column("mix", "its weight in the static vector: static ≈ Σ mix · sense, all of length 1"),
    Column("nearest", "words nearest to what its contexts add to the word's own vector", "long"),
    Column("markers", "context words that tell it from the other senses and from the corpus",
           "long"),
    Column("examples", "occurrences nearest to its centre, without those that say nearly the same",
           "long", between=" | "),
    Column("residual", "length of what the mix leaves over of the static vector, whose length is 1",
           "aside"),
    Column("mean_cosine", "cosine of the mean of all occurrences with the static vector", "aside"),
)  # fmt: skip
NAME = Column("name", "the name that --name gave it", "label")
DEFINED = (
    Column("sense_key", "with --define: the sense of the dictionary that fits it", "aside"),
    Column("definition", "with --define: what the dictionary says of it; empty if none fits",
           "long"),
    Column("sure", "with --define: the mean probability of this definition in its contexts"),
)  # fmt: skip
NUMBERS = (
    Column("word", "the word", "label"), Column("k", "with --all-k: a number of senses"),
    Column("score", "with --all-k: how far apart the nearest two of them lie, mean of the"
           " resamples; 1 is what makes two senses"),
    Column("agreement", "with --all-k: how far the resamples agree on k senses (adjusted Rand)"),
    Column("chosen", "with --all-k: yes for the number that was taken", "label"),
)  # fmt: skip
MIN_AGREEMENT = 0.5  # agreement of resamples below which a split is doubtful
SAVE_EVERY = 50  # words
MANY_WORDS = 200  # of --top, that are worth other processes, which have to start
BLOCK = 4  # words that a process takes at once
SIDE = 200  # characters on each side of an example that is defined


@dataclass(frozen=True)
class Mixture:
    """The senses of a word, and its static vector written as a weighted sum of them."""

    senses: SavedSenses
    was_saved: bool  # whether the model had these senses already
    weights: Floats  # (k,) static ≈ weights @ senses, all of length 1
    residual: float  # length of what the sum leaves over
    mean_cosine: float  # of the mean of all occurrences with the static vector


@on_model(*SENSES[:2], NAME, *SENSES[2:], *DEFINED, *NUMBERS[1:])
def senses(
    model: Model, words: str | Sequence[str] = (), *, k: int | None = None,
    attention: str | None = None, most: int = 10_000, number: int = 6, examples: int = 3,
    seed: int = 1, min_score: float | None = None, save: bool = False, again: bool = False,
    top: int | None = None, min_count: int | None = None, all_k: bool = False,
    names: Mapping[int, str] | None = None, define: bool = False,
    source: Model | str | Path | None = None, progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the senses of words, found in up to `most` occurrences of each.

    k: the number of senses; None chooses it, with a score of at least min_score (default 1).
    top: instead of words, take the `top` most ambiguous words of the model that have more than one
    sense, among those that occur min_count times.
    save: write the senses into the model. Saved senses are the answer unless again or save is set.
    all_k: return how well each number of senses does, instead of the senses.
    names: write these names of the senses of one word, by number, into the model.
    define: add the definition that fits each sense.
    source: take the senses that are saved in this model, instead of finding them.
    """
    if bool(words) == (top is not None):
        raise UsageError("give words, or --top N for as many as have more than one sense")
    if save or names:
        refuse_bundled(model.path)
    if names and not isinstance(words, str) and len(words) != 1:
        raise UsageError("--name names the senses of one word; give one word")
    representations = Representations.of(model)
    name = attention or representations.default()
    known, notes, unknown = model.vocabulary.keep_known(words) if words else ([], [], [])
    alone = len(known) + len(unknown) == 1

    finder = Finder(name, k, most, seed, min_score, again or save or source is not None)

    def mix(result: SavedSenses, was_saved: bool) -> Mixture:
        old = current_senses(model, result.word, name) if save else None
        if old is not None and list(old.counts) == list(result.counts):  # the same senses again
            result = result.rename(dict(enumerate(old.names, 1)))
        result = _name_senses(result, names) if names else result
        static = model.vector(result.word, representations.get(name).inputs)
        return Mixture(result, was_saved, *unmix(static, result.vectors, result.shares))

    results: Iterator[Result]
    if source is not None:
        results = _take_each(source, representations, known, name, most, seed)
    elif top is None:
        shown = progress if alone else SILENT
        results = (finder.try_(representations, word, shown) for word in dict.fromkeys(known))
    else:
        from ctxembed.queries.ambiguity import ambiguous_words

        words = list(ambiguous_words(representations, name, progress, min_count))
        results = _find_many(representations, finder, words)
    mixtures: list[Mixture] = []
    interrupted = False
    outer, total = SILENT if alone else progress, len(known) if top is None else top
    with outer.stage("senses", total, "words") as stage:  # one bar at a time
        try:
            for answer in results:
                if isinstance(answer, CtxembedError):
                    if alone or (isinstance(answer, ModelError) and model.index is not None):
                        raise answer
                    (notes if model.index is not None else unknown).append(str(answer))
                    continue
                mixture = mix(*answer)
                if top is not None and mixture.senses.number < 2:
                    continue
                mixtures.append(mixture)
                stage.advance()
                if save and len(mixtures) % SAVE_EVERY == 0:  # an interrupted run keeps these
                    save_senses(model, *(item.senses for item in mixtures[-SAVE_EVERY:]))
                if len(mixtures) == top:
                    break
        except KeyboardInterrupt:
            if not mixtures:
                raise
            interrupted = True
            notes.append(f"interrupted: the senses of {len(mixtures)} of {total} words")
        finally:
            if isinstance(results, Generator):
                results.close()  # its processes end
    if model.index is None and not mixtures and unknown:
        raise ModelError("\n".join(unknown))
    if alone:
        notes += [note for mixture in mixtures for note in _notes(mixture, model.index is not None)]
    if (save or names) and mixtures:
        path = save_senses(model, *(mixture.senses for mixture in mixtures))
        notes.append(f"{len(mixtures)} saved in {path}")
    if all_k:
        return _tabulate_numbers([mixture.senses for mixture in mixtures], notes, unknown)
    rows = [row for item in mixtures for row in _rows(representations, item, number, examples)]
    columns: tuple[Column, ...] = SENSES
    if not alone:
        columns = (replace(SENSES[0], role="label"), *SENSES[1:])
    if define:
        columns = (*columns, *DEFINED)
        definitions = open_definitions(model)
        defined = [cells for item in mixtures for cells in _define(definitions, item.senses)]
        rows = [(*row, *cells) for row, cells in zip(rows, defined, strict=True)]
    if any(any(item.senses.names) for item in mixtures):
        columns = (*columns[:2], NAME, *columns[2:])
        own = [name or None for item in mixtures for name in item.senses.names]
        rows = [(*row[:2], name, *row[2:]) for row, name in zip(rows, own, strict=True)]
    chart = None
    if alone and mixtures and model.index is not None:
        result = mixtures[0].senses
        points = partial(map_senses, representations, result, seed)
        chart = draw_map(result.word, result.attention, points)
    table = Table(columns, rows, notes, unknown, chart)
    table.interrupted = interrupted
    if model.index is None:
        table.no_picture = (
            "This model has no text, so there are no occurrences of its senses to draw."
            " Choose one with its text (-m everyday), or -f tsv."
        )
    elif not alone:
        table.no_picture = "The picture of senses shows one word. Give one word, or -f tsv."
    return table


@dataclass(frozen=True)
class Finder:
    """Finds the senses of a word, or takes those that are saved where they are the same."""

    attention: str
    k: int | None
    most: int
    seed: int
    min_score: float | None
    again: bool  # whether saved senses are left alone

    def load(self, model: Model, word: str) -> SavedSenses | None:
        """Return the saved senses of a word, if they are what these options would find."""
        if self.again or model.whole:
            return None
        saved = current_senses(model, word, self.attention)
        if saved is None:
            return None
        facts = saved.facts
        same = (facts.get("most"), facts.get("seed")) == (self.most, self.seed)
        same &= self.min_score in (None, facts.get("min_score", 1.0))
        same &= self.k in (None, saved.number)
        # Of earlier versions, whose bar was another one.
        by_rule = {facts.get("k"), facts.get("min_score"), self.k, self.min_score} == {None}
        same &= not (by_rule and "probability" not in facts and model.index is not None)
        return saved if same else None

    def try_(
        self, representations: Representations, word: str, progress: Progress = SILENT
    ) -> "Result":
        """Return the senses of a word and whether they were saved, or the error."""
        try:
            saved = self.load(representations.model, word)
            return saved or find_senses(
                representations, word, k=self.k, attention=self.attention, most=self.most,
                seed=self.seed, min_score=self.min_score, progress=progress,
            ), saved is not None  # fmt: skip
        except CtxembedError as error:
            return error


Result = tuple[SavedSenses, bool] | CtxembedError


def _find_many(
    representations: Representations, finder: Finder, words: Sequence[str]
) -> Iterator[Result]:
    """Yield the senses of each word, on all processors where there are many words."""
    model = representations.model
    if model.whole is not None or len(words) < MANY_WORDS:
        yield from (finder.try_(representations, word) for word in words)
        return
    calibration = SenseTest.of(representations, finder.attention).calibration()
    find = partial(_find_block, pickle.dumps((model, finder.attention, calibration)), finder)
    blocks = [words[first : first + BLOCK] for first in range(0, len(words), BLOCK)]
    with closing(in_processes(find, blocks, cores())) as results:
        for some in results:
            yield from some


def _find_block(pickled: bytes, finder: Finder, words: Sequence[str]) -> list[Result]:
    representations = open_test(pickled).reader.representations
    return [finder.try_(representations, word) for word in words]


def _take_each(
    source: Model | str | Path, representations: Representations, words: Sequence[str],
    attention: str, most: int, seed: int,
) -> Iterator[Result]:  # fmt: skip
    """Yield the senses of each word that another model has saved."""
    for word in dict.fromkeys(words):
        try:
            yield _take(source, representations, word, attention, most, seed), False
        except CtxembedError as error:
            yield error


def _take(
    source: Model | str | Path, representations: Representations, word: str, attention: str,
    most: int, seed: int,
) -> SavedSenses:  # fmt: skip
    """Return the senses of a word that another model has saved, in this model."""
    other = open_model(source)
    senses = current_senses(other, word)
    if senses is None:
        raise UsageError(f"{other.path} has no saved senses of {word}; save them there first")
    return transfer_senses(
        Representations.of(other), senses, representations, attention, most, seed
    )


def _rows(
    representations: Representations, mixture: Mixture, number: int, examples: int
) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each sense of a word."""
    item, model = mixture.senses, representations.model
    near = _nearest(representations, item, number)
    size = int(item.facts.get("size", 1))  # words of it
    for sense, share in enumerate(item.shares.tolist()):
        positions = item.examples[sense][:examples] if model.index is not None else ()
        quotes = [quote(corpus_of(model), at, size=size) for at in positions]
        yield (
            item.word, sense + 1, share, int(item.counts[sense]), float(mixture.weights[sense]),
            [other for other, _ in near[sense]], list(item.markers[sense][:number]), quotes,
            mixture.residual, mixture.mean_cosine,
        )  # fmt: skip


def _name_senses(senses: SavedSenses, names: Mapping[int, str]) -> SavedSenses:
    """Return the senses with names by number; raise UsageError for a number that is too high."""
    for number in names:
        if not 1 <= number <= senses.number:
            raise UsageError(f"--name {number}=...: {senses.word} has senses 1 to {senses.number}")
    named = senses.rename(names)
    given = [name for name in named.names if name]
    if len(set(given)) < len(given) or any(name.isdecimal() for name in given):
        raise UsageError("--name: names must differ from each other, and be no numbers")
    return named


def _define(definitions: Definitions, senses: SavedSenses) -> Iterator[tuple[Cell, ...]]:
    """Yield key, definition and probability of what fits each sense; None where nothing does.

    The contexts are the examples of a sense, where the model has its corpus, and its markers.
    """
    model, size = definitions.representations.model, int(senses.facts.get("size", 1))
    tokenizer = model.vocabulary.tokenizer
    for sense in range(senses.number):
        texts = [("", senses.word, " ".join(senses.markers[sense]))]
        if model.index is not None:
            texts += [text_around(model.index, at, SIDE, size) for at in senses.examples[sense]]
        items, total = [], dict[str, float]()
        for before, word, after in texts:
            left, own, right = (tokenizer.words(text) for text in (before, word, after))
            written = Written([*left, *own, *right], range(len(left), len(left) + len(own)))
            occurrence = definitions.find_occurrence(before, word, after)
            items.append(occurrence._replace(written=written))
        ranked = definitions.rank(items)
        known = {choice.sense.key: choice.sense for choices in ranked for choice in choices}
        for choice in (choice for choices in ranked for choice in choices):
            key = choice.sense.key
            total[key] = total.get(key, 0.0) + choice.sure / len(ranked)
        best = max(total, key=lambda key: total[key], default=None)
        fits = best is not None and total[best] >= UNSURE
        yield (best, known[best].definition, total[best]) if best and fits else (None, None, None)


def _tabulate_numbers(words: Sequence[SavedSenses], notes: list[str], unknown: list[str]) -> Table:
    """Return a row for each number of senses: its score and the agreement of resamples."""
    rows: list[tuple[Cell, ...]] = []
    for item in words:
        pairs = zip(item.facts["scores"], item.facts["agreements"], strict=True)
        for k, (score, agreement) in enumerate([(None, None), *pairs], 1):
            rows.append((item.word, k, score, agreement, "yes" if item.number == k else "no"))
    if fixed := [item.word for item in words if item.facts.get("k") is not None]:
        notes.append(f"the number of senses was set by --k, not by the score: {', '.join(fixed)}")
    return Table(NUMBERS, rows, notes, unknown)


def unmix(static: Floats, vectors: Floats, shares: Floats) -> tuple[Floats, float, float]:
    """Return the weights (k,) with which sense vectors (k, d) add up to a static vector, nearly.

    Also the length of what the sum leaves over (the static vector has length 1), and the cosine of
    the static vector with the mean of the senses, weighted by their shares (k,).

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
    representations: Representations, item: SavedSenses, number: int
) -> list[list[tuple[str, float]]]:
    """Return for each sense the words nearest to its part orthogonal to the word's own vector."""
    model = representations.model
    space, rows = representations.get(item.attention).inputs, model.vocabulary.parts(item.word)
    own = unit(model.vector(item.word, space)).astype(np.float64)
    across = item.vectors - (item.vectors @ own)[:, None] * own
    min_count = min(max(50, 1e-5 * model.tokens), int(model.counts[rows].min()) // 4)
    rare = np.flatnonzero(model.counts < min_count).tolist()  # noisy vectors
    return nearest(model, across.astype(np.float32), number, [[*rows, *rare]] * len(across), space)


def _notes(mixture: Mixture, has_text: bool) -> Iterator[str]:
    """Yield notes on the static vector as a mix, the occurrences read, and how sure it is."""
    item, facts, weights = mixture.senses, mixture.senses.facts, mixture.weights
    numbered = enumerate(weights[:MAX_SENSES], 1)
    signed = (f"{'-' if w < 0 else '+'} {abs(w):.2f}·s{sense}" for sense, w in numbered)
    mix = " ".join(signed).removeprefix("+ ") + (" + …" if len(weights) > MAX_SENSES else "")
    mean = f"the mean of its occurrences has cosine {mixture.mean_cosine:.3f}"
    left = f"{mixture.residual:.2f} of its length left over"
    yield f"{item.word} ≈ {mix}, {left}; {mean} with the static vector"
    looked, total = sum(item.counts), facts["total"]
    if looked < total:
        yield f"{looked} of {total} occurrences looked at ({looked / total:.1%})" + (
            "; --max takes more" if has_text else ""
        )
    if facts["stability"] is not None:
        sure = facts["stability"] >= MIN_AGREEMENT
        doubt = "" if sure else ", little: other text may split otherwise"
        agree = f"the senses of resamples agree to {facts['stability']:.2f} (adjusted Rand){doubt}"
        yield f"{agree}; --all-k has every number of senses"
    if (chance := facts.get("probability")) is not None:
        doubt = "; unsure, --k sets the number" if chance[1] <= BAR <= chance[2] else ""
        interval = f"{chance[0]:.2f} ({chance[1]:.2f} to {chance[2]:.2f})"
        yield f"the probability of two senses or more is {interval}{doubt}"
    elif facts["k"] is None and item.number == 1:
        one = f"one sense: a split comes to {max(facts['scores'], default=0.0):.2f} of the distance"
        yield f"{one} that makes two; --k 2 splits it anyway, --min-score takes less for enough"
    if not has_text:
        yield "no text in this model, so no examples: these senses were saved when it had one"
    elif mixture.was_saved:
        yield "saved before; --again computes them again"
