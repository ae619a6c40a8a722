"""Which words could stand in this word's place, here?"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.columns import SENTENCE, TARGET
from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Ours, Representations, representations_of
from ctxembed.context.sentences import read_sentences
from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, saved_senses
from ctxembed.queries.neighbors import AT_ONCE, nearest_rows
from ctxembed.static.frames import affinity
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table

NEAR = 130  # words near the target that are looked at: context chooses well and proposes badly
BETWEEN = 100  # and words between the target and its contextual vector, where a rare sense lies
FORMS = 60  # forms of the target itself that may be among them
USUAL = 5000  # frequent words that make the usual frame
APART = 2.0  # how far a word with saved senses is moved from the others towards the one it has here
LONGER = 4  # letters of a word of the sentence whose forms are left out too
STEM = 3  # first letters that forms of one word share
GENITIVE = ("'s", "’s")
Rows = NDArray[np.intp]
SUBSTITUTES = (
    SENTENCE,
    TARGET,
    Column("rank", "1 for the best"),
    Column("substitute", "a word that could stand in its place", "label"),
    Column("score", "fits_word + fits_context"),
    Column(
        "fits_word",
        "how near it lies to the static vector or its saved sense, how alike the words beside both"
        " are, and how frequent it is, in standard deviations, each with its weight",
    ),
    Column(
        "fits_context",
        "how near it lies to the contextual vector, and how usual it is beside the target's"
        " neighbours here, in the same way",
    ),
)


@dataclass(frozen=True)
class Weights:
    """How much each measure counts; chosen on sentences of CoInCo and bench/everyday.tsv."""

    near: float = 1.0  # to the static vector, or to the sense that is meant
    frame: float = 1.0  # what stands beside the words elsewhere
    often: float = 0.5  # how frequent they are
    slot: float = 0.5  # how usual beside the words that stand here
    context: float = 1.0  # near to the contextual vector


PROPOSED = Weights()  # context proposes badly
GIVEN = Weights(near=0.5, frame=0.25, slot=1.0, context=1.5)  # and chooses well among given words
NAMED = Weights(context=2.5)  # for words that say what is meant, not what could be written


@on_model(*SUBSTITUTES)
def substitutes(
    model: Model,
    sentences: str | Sequence[str],
    *,
    word: str | None = None,
    candidates: Sequence[str] = (),
    attention: str | None = None,
    number: int = 10,
    min_count: int = 1,
) -> Table:
    """Rank the words that could stand in each target's place, or the given candidates."""
    representations = representations_of(model)
    read = read_sentences(representations, sentences, word)
    way = representations.get(attention or representations.default())
    given, told, unknown = None, list[str](), list[str]()
    if candidates:
        known, told, unknown = model.vocabulary.keep_known(candidates)
        found = [model.vocabulary.find(name) for name in dict.fromkeys(known)]
        given = np.array([row for row in found if row is not None], np.intp)
        if not len(given):
            raise UsageError(
                "--candidates: give words that the model has a vector of their own for"
            )
    targets = read.targets()

    def rows() -> Iterator[tuple[Cell, ...]]:
        for first in range(0, len(targets), AT_ONCE):
            block = targets[first : first + AT_ONCE]
            items = [item for _, _, item in block]
            made = way.vectors(items)
            judge = Judge.of(representations, items, made, min_count)
            for row, (sentence, name, _) in enumerate(block):
                rated = judge.rate(row, way, made[row], given)
                for rank, (found, fits) in enumerate(rated.best(number), 1):
                    total = float(fits.sum())
                    yield (
                        sentence,
                        name,
                        rank,
                        model.vocabulary.words[found],
                        total,
                        *map(float, fits),
                    )

    chart = Chart(
        "bars",
        ["fits_word", "fits_context"],
        label=["substitute"],
        panel=["sentence", "target"],
        title="words that could stand in its place",
    )
    return Table(SUBSTITUTES, rows, [*told, *read.notes], [*unknown, *read.unknown], chart=chart)


@dataclass(frozen=True)
class Rated:
    """Words, and how well each fits the target (n, 2): as a word, and in this context."""

    rows: Rows  # (n,)
    fits: Floats  # (n, 2)

    def best(self, number: int) -> Iterator[tuple[int, Floats]]:
        """Yield the rows of the best words with what their score is made of."""
        for place in np.argsort(-self.fits.sum(axis=1), kind="stable")[:number]:
            yield int(self.rows[place]), self.fits[place]


@dataclass(frozen=True)
class Here:
    """The saved sense that a target has here."""

    saved: SavedSenses
    label: int  # from 0
    margin: float  # distance to the border of the next sense

    @property
    def share(self) -> float:
        """How sure: 1 is certain, 0.5 is on the border."""
        return 1 / (1 + exp(-self.margin))

    @property
    def towards(self) -> Floats:
        """(d,) the way from the other senses to this one, as far as it is sure."""
        senses = unit(self.saved.vectors)
        others = np.delete(senses, self.label, axis=0).mean(axis=0)
        return np.asarray((2 * self.share - 1) * (senses[self.label] - unit(others)))


@dataclass(frozen=True)
class Judge:
    """Targets, and the words nearest to each: these are proposed, and all are measured by them."""

    model: Model
    items: Sequence[Occurrence]
    senses: Sequence[Here | None]  # of targets with more than one saved sense
    own: Floats  # (n, d) the static vector
    meant: Floats  # (n, d) the same, moved towards its sense
    pools: Sequence[Rows]

    @classmethod
    def of(
        cls,
        representations: Representations,
        items: Sequence[Occurrence],
        contextual: Floats,
        min_count: int = 1,
    ) -> "Judge":
        """Look up the words nearest to each target, and those between it and its contextual vector.

        contextual: (n, d). Neither forms of the target nor words of its sentence are proposed.
        """
        model = representations.model
        space = model.centred_space
        senses = [sense_of(representations, item) for item in items]
        own = unit(np.array([space[item.own].mean(axis=0) for item in items], np.float32))
        meant = own.copy()
        for row, here in enumerate(senses):
            if here is not None:
                meant[row] = unit(own[row] + APART * here.towards)
        asked = np.concatenate([own, own + unit(np.nan_to_num(contextual))])
        without, most = [item.ids.tolist() for item in items] * 2, NEAR + FORMS
        found = nearest_rows(model, asked, most, without, space, min_count=min_count)
        near = [[row for row, _ in best] for best in found]
        pools = []
        for item, *both in zip(items, near[: len(items)], near[len(items) :], strict=True):
            close, between = (_no_forms(model, item, rows) for rows in both)
            pool = dict.fromkeys([*close[:NEAR], *between[:BETWEEN]])
            pools.append(np.array(list(pool), np.intp))
        return cls(model, items, senses, own, meant, pools)

    def rate(
        self,
        number: int,
        way: Ours | None,
        vector: Floats | None,
        given: Rows | None = None,
        weights: Weights | None = None,
    ) -> Rated:
        """Rate the words proposed for a target, or given ones, in the context that `way` sees.

        Every measure is taken in standard deviations over the words proposed, so that the measures
        can be added, and so that a given word's score does not depend on what else is given.
        """
        pool = self.pools[number]
        rows = np.concatenate([pool, [] if given is None else given]).astype(np.intp)
        fits = np.zeros((len(rows), 2))
        weights = weights or (PROPOSED if given is None else GIVEN)
        for column, weight, measured in self._measures(number, rows, way, vector, weights):
            fits[:, column] += weight * _standard(measured, len(pool))
        kept = slice(None, len(pool)) if given is None else slice(len(pool), None)
        return Rated(rows[kept], fits[kept])

    @cached_property
    def _usual(self) -> Floats:
        """(2 K,) the frame of the usual word; the same for all targets and representations."""
        frames = self.model.frames
        assert frames is not None
        return np.asarray(frames[:USUAL].mean(axis=0))

    def _measures(
        self,
        number: int,
        rows: Rows,
        way: Ours | None,
        vector: Floats | None,
        weights: Weights,
    ) -> Iterator[tuple[int, float, Floats]]:
        """Yield what counts for which part, with which weight, for each word (n,)."""
        item = self.items[number]
        static = (self.own if way is None else self.meant)[number]
        yield 0, weights.near, self.model.centred_space[rows] @ static
        yield 0, weights.often, np.log(np.maximum(self.model.seen[rows], 1))
        frames = self.model.frames
        if frames is not None and max(item.own[0], item.own[-1]) < len(frames):
            half = frames.shape[1] // 2
            # a span has before it what its first word has, and behind it what its last one has
            own = np.concatenate([frames[item.own[0]][:half], frames[item.own[-1]][half:]])
            yield 0, weights.frame, affinity(frames, own, rows, self._usual)
            if way is not None:
                there = rows < len(frames)
                slot = np.full(len(rows), np.nan)
                slot[there] = sum(
                    (frames[rows[there], column] for column in _beside(item, half)), np.zeros(1)
                )
                yield 1, weights.slot, slot
        if way is not None and vector is not None:
            yield 1, weights.context, unit(way.alone(rows.tolist())) @ unit(vector)


def sense_of(representations: Representations, item: Occurrence) -> Here | None:
    """Return the sense that a target has here, where several are saved for the word."""
    model = representations.model
    if len(item.target) != 1 or len(item.ids) == 1 or model.by_hand:
        return None  # of a word without context nothing can be told
    word = model.vocabulary.words[int(item.own[0])]
    saved = saved_senses(model, word)
    if saved is None or saved.number < 2:
        return None
    from ctxembed.word_senses.assign import current_senses, sense_here  # start-up counts

    if current_senses(model, word) is None:  # their attention has been learned anew since
        return None
    (label,), (margin,) = sense_here(representations, saved, [item])
    return Here(saved, int(label), float(margin))


def _no_forms(model: Model, item: Occurrence, near: Sequence[int]) -> list[int]:
    """Leave out forms of the target and of its sentence's words, and a genitive where it is none.

    What attention looked at lies near its vector, and launch or launches tell nothing of apple.
    """
    own = model.vocabulary.words[int(item.own[-1])]
    there = {*(model.vocabulary.words[row] for row in item.own), *_longer(model, item)}
    genitive = own.endswith(GENITIVE)
    begins = {word[:STEM] for word in there}
    return [
        row
        for row, word in zip(near, model.vocabulary.spell(near), strict=True)
        if (genitive or not word.endswith(GENITIVE))
        and not (word[:STEM] in begins and any(same_stem(word, other) for other in there))
    ]


def _longer(model: Model, item: Occurrence) -> Iterator[str]:
    """Yield the words of a sentence that are long enough to be told from others by their stem."""
    return (word for word in model.vocabulary.spell(item.ids.tolist()) if len(word) >= LONGER)


def _beside(item: Occurrence, words: int) -> Iterator[int]:
    """Yield the columns of a frame that the words directly before and behind a target have."""
    for place, first in ((item.target.start - 1, 0), (item.target.stop, words)):
        if 0 <= place < len(item.ids) and item.ids[place] < words:
            yield first + int(item.ids[place])


def _standard(measured: Floats, pool: int) -> Floats:
    """Express measures (n,) in standard deviations from the mean of the first ones; NaN is 0."""
    there = measured[:pool][~np.isnan(measured[:pool])].astype(np.float64)
    spread = float(there.std()) if len(there) else 0.0
    if not spread > 1e-9:
        return np.zeros(len(measured))
    return np.asarray(np.nan_to_num((measured - there.mean()) / spread))


def same_stem(one: str, other: str) -> bool:
    """Tell whether two words of near meaning look like forms of one: bank, banks, banking.

    >>> same_stem("bank", "banking"), same_stem("launched", "launches"), same_stem("pear", "peach")
    (True, True, False)
    """
    shortest, longest = sorted((one, other), key=len)
    differ = (i for i, letter in enumerate(shortest) if longest[i] != letter)
    shared = next(differ, len(shortest))
    whole = shared == len(shortest)
    return shared >= STEM and (whole or (shared > STEM and len(longest) - shared <= 3))
