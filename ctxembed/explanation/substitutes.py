"""Rank the words that could replace a target in its sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import exp

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.nearest import nearest_rows
from ctxembed.context.parse import Occurrence
from ctxembed.context.representation import ModelRepresentation
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import SavedSenses, saved_senses
from ctxembed.static.frames import affinity
from ctxembed.stats.vectors import Floats, unit

NEAR = 70  # candidates near the target
FITTING = 40  # candidates near its contextual vector, for a rare sense
FORMS = 30  # forms of the words of a sentence that may be among its candidates
FREQUENT = 5000  # words whose mean is the usual frame
SENSE_STEP = 2.0  # how far a word with saved senses is moved towards its sense here
MIN_LETTERS = 4  # of a word of the sentence whose forms are left out too
STEM = 3  # first letters that forms of one word share
GENITIVE = ("'s", "’s")
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Weights:
    """The weight of each measure; chosen on sentences of CoInCo and bench/everyday.tsv."""

    near: float = 1.0  # cosine with the static vector, moved towards the target's sense
    frame: float = 1.0  # words that occur beside both words elsewhere
    often: float = 0.5  # log frequency
    slot: float = 0.5  # how usual the word is between the words before and after the target
    context: float = 1.0  # cosine with the contextual vector
    sense: float = 5.0  # probability of the dictionary's senses that the word belongs to


PROPOSED = Weights()
CHOSEN = Weights(near=0.5, frame=0.25, slot=1.0, context=1.5)  # to rank candidates of the user
# Of words that explain the meaning; chosen on the part `choose` of bench/everyday.tsv.
NAMED_NEAR = 150  # candidates near the target: the first ones are mostly of its frequent sense
CONTEXT, RELATED, SENSE = 4.0, 4.0, 2.0  # weights beside the cosine with the target, which has 1
MIN_COSINE = 0.1  # a lower one counts as this
MIN_NEAR = 0.05  # cosine with the target of a word that no dictionary relates to it
MIN_RELATED = 0.1  # probability of the senses of a related word
SURE_RELATED = 0.36  # the same, of a word that is named in any context
MIN_CONTEXT = 0.3  # cosine with the contextual vector


@dataclass(frozen=True)
class Ranking:
    """Words, and how well each fits the target (n, 2): as a word, and in this context."""

    rows: Rows  # (n,)
    fits: Floats  # (n, 2)

    def best(self, number: int) -> Iterator[tuple[int, Floats]]:
        """Yield the rows of the best words, each with the two parts of its score."""
        for i in np.argsort(-self.fits.sum(axis=1), kind="stable")[:number]:
            yield int(self.rows[i]), self.fits[i]


@dataclass(frozen=True)
class AssignedSense:
    """The saved sense of a target in its sentence."""

    saved: SavedSenses
    label: int  # from 0
    margin: float  # distance to the border of the next sense

    @property
    def share(self) -> float:
        """Confidence: 1 is certain, 0.5 is on the border."""
        return 1 / (1 + exp(-self.margin))

    @property
    def direction(self) -> Floats:
        """(d,) from the other senses to this one, scaled by the confidence."""
        senses = unit(self.saved.vectors)
        others = np.delete(senses, self.label, axis=0).mean(axis=0)
        return np.asarray((2 * self.share - 1) * (senses[self.label] - unit(others)))


@dataclass(frozen=True)
class SubstituteRanker:
    """Targets and the candidates of each: the nearest words, which also set the scale of scores."""

    model: Model
    items: Sequence[Occurrence]
    own: Floats  # (n, d) the static vector
    meant: Floats  # (n, d) the same, moved towards its sense
    pools: Sequence[Rows]
    related: Sequence[Mapping[int, float]] = ()

    @classmethod
    def of(
        cls,
        representations: Representations,
        items: Sequence[Occurrence],
        contextual: Floats,
        min_count: int = 1,
        senses: Sequence[AssignedSense | None] | None = None,
        related: Sequence[Mapping[int, float]] = (),
        number_near: int = NEAR,
    ) -> "SubstituteRanker":
        """Find candidates: words near each target, and words near its contextual vector (n, d).

        Forms of the target and of words of its sentence are left out. senses: as assign_sense
        returns them, if they are known already. related: for each target the rows of words that a
        dictionary relates to its senses here, with the probability of the senses.
        """
        model = representations.model
        space = model.centred_space
        if senses is None:
            senses = [assign_sense(representations, item) for item in items]
        own = unit(np.array([space[item.own].mean(axis=0) for item in items], np.float32))
        meant = own.copy()
        for row, sense in enumerate(senses):
            if sense is not None:
                meant[row] = unit(own[row] + SENSE_STEP * sense.direction)
        queries = np.concatenate([own, np.nan_to_num(contextual)])
        exclude = [item.ids.tolist() for item in items] * 2
        nearest = nearest_rows(
            model, queries, number_near + FORMS, exclude, space, min_count=min_count
        )
        pools = []
        for number, item in enumerate(items):
            near, fitting = (
                _without_forms(model, item, [row for row, _ in nearest[i]])
                for i in (number, len(items) + number)
            )
            words = [row for row in (related[number] if related else ()) if row not in item.ids]
            words = [row for row in words if model.seen[row] >= min_count]
            pool = [*near[:number_near], *fitting[:FITTING], *_without_forms(model, item, words)]
            pools.append(np.array(list(dict.fromkeys(pool)), np.intp))
        return cls(model, items, own, meant, pools, related)

    def rank(
        self,
        number: int,
        representation: ModelRepresentation | None,
        vector: Floats | None,
        candidates: Rows | None = None,
        weights: Weights | None = None,
    ) -> Ranking:
        """Rank the candidates found for a target, or the given ones, by its vector (d,).

        Every measure but the probability of a sense is in standard deviations over the candidates
        found, so that measures can be added, and a given candidate's score does not depend on the
        other given ones.
        """
        item, pool, model = self.items[number], self.pools[number], self.model
        rows = np.concatenate([pool, [] if candidates is None else candidates]).astype(np.intp)
        weights = weights or (PROPOSED if candidates is None else CHOSEN)
        static = (self.own if representation is None else self.meant)[number]
        word = [
            (weights.near, model.centred_space[rows] @ static),
            (weights.often, np.log(np.maximum(model.seen[rows], 1))),
        ]
        context = []
        frames = model.frames
        if frames is not None and max(item.own[0], item.own[-1]) < len(frames):
            half = frames.shape[1] // 2
            # before a span occurs what is before its first word, after it what is after its last
            own = np.concatenate([frames[item.own[0]][:half], frames[item.own[-1]][half:]])
            word.append((weights.frame, affinity(frames, own, rows, self._usual_frame)))
            if representation is not None:
                known = rows < len(frames)
                slot = np.where(known, 0.0, np.nan)
                for position, first in ((item.target.start - 1, 0), (item.target.stop, half)):
                    if 0 <= position < len(item.ids) and item.ids[position] < half:
                        slot[known] += frames[rows[known], first + int(item.ids[position])]
                context.append((weights.slot, slot))
        kept = (np.arange(len(rows)) < len(pool)) == (candidates is None)
        if representation is not None and vector is not None:
            cosines = unit(representation.alone(rows.tolist())) @ unit(vector)
            context.append((weights.context, cosines))
        fits = np.zeros((len(rows), 2))
        for column, measures in enumerate((word, context)):
            for weight, values in measures:
                fits[:, column] += weight * _standardize(values, len(pool))
        if self.related and representation is not None:
            related = self.related[number]
            fits[:, 1] += [weights.sense * related.get(row, 0.0) for row in rows.tolist()]
        return Ranking(rows[kept], fits[kept])

    def name(
        self,
        number: int,
        representation: ModelRepresentation | None,
        vector: Floats,
        sense: Floats | None = None,
    ) -> list[int]:
        """Return the rows of words that explain what a target means here, the best first.

            log cos(word, target) + 4 log cos(word, context) + 4 related + 2 cos(word, sense)

        A sum of logarithms, so that a word has to be near to both. representation: None to leave
        context out; sense: (d,) the direction to the sense that a dictionary chooses.
        """
        rows, model = self.pools[number], self.model
        near = model.centred_space[rows] @ self.own[number]
        if representation is None:
            return [int(row) for row in rows[np.argsort(-near, kind="stable")]]
        probable = self.related[number] if self.related else {}
        related = np.array([probable.get(row, 0.0) for row in rows.tolist()])
        cosines = unit(representation.alone(rows.tolist())) @ unit(vector)
        kept = (related >= SURE_RELATED) | (near >= MIN_NEAR) & (cosines >= MIN_CONTEXT)
        kept |= (related >= MIN_RELATED) & (cosines >= MIN_CONTEXT)
        # The words of a sense that is sure need not fit the context: it has decided already.
        cosines = np.where(related >= SURE_RELATED, np.maximum(cosines, MIN_CONTEXT), cosines)
        if model.is_worked_example:  # it has few words to choose among
            kept[:] = True
        near = np.where(related >= MIN_RELATED, np.maximum(near, MIN_CONTEXT), near)
        scores = np.log(np.maximum(near, MIN_COSINE)) + RELATED * related
        scores += CONTEXT * np.log(np.maximum(cosines, MIN_COSINE))
        if sense is not None:
            scores += SENSE * (model.centred_space[rows] @ sense)
        best = np.argsort(-scores, kind="stable")
        return [int(row) for row in rows[best[kept[best]]]]

    @cached_property
    def _usual_frame(self) -> Floats:
        """(2 K,) the mean frame of frequent words."""
        frames = self.model.frames
        assert frames is not None
        return np.asarray(frames[:FREQUENT].mean(axis=0))


def assign_sense(representations: Representations, item: Occurrence) -> AssignedSense | None:
    """Return the sense of a target in its sentence, if several are saved for the word."""
    model = representations.model
    if len(item.target) != 1 or len(item.ids) == 1 or model.is_worked_example:
        return None  # a word without context
    word = model.vocabulary.words[int(item.own[0])]
    saved = saved_senses(model, word)
    if saved is None or saved.number < 2:
        return None
    from ctxembed.word_senses.sense_space import assign_senses, current_senses  # start-up time

    if current_senses(model, word) is None:  # their attention has been learned again since
        return None
    (label,), (margin,) = assign_senses(representations, saved, [item])
    return AssignedSense(saved, int(label), float(margin))


def _without_forms(model: Model, item: Occurrence, near: Sequence[int]) -> list[int]:
    """Return the rows without genitives, numbers, and forms of the target and its sentence's words.

    The target may be a number itself: then numbers stay.
    """
    vocabulary = model.vocabulary
    own = vocabulary.spell(item.own.tolist())
    words = {*own, *(w for w in vocabulary.spell(item.ids.tolist()) if len(w) >= MIN_LETTERS)}
    genitive, begins = own[-1].endswith(GENITIVE), {word[:STEM] for word in words}
    numbers = not any(map(str.isalpha, own[-1]))
    return [
        row
        for row, word in zip(near, vocabulary.spell(near), strict=True)
        if (genitive or not word.endswith(GENITIVE))
        and (numbers or any(map(str.isalpha, word)))
        and not (word[:STEM] in begins and any(same_stem(word, other) for other in words))
    ]


def _standardize(values: Floats, pool: int) -> Floats:
    """Return values (n,) in standard deviations from the mean of the first `pool`; 0 for NaN."""
    known = values[:pool][~np.isnan(values[:pool])].astype(np.float64)
    spread = float(known.std()) if len(known) else 0.0
    if not spread > 1e-9:
        return np.zeros(len(values))
    return np.asarray(np.nan_to_num((values - known.mean()) / spread))


def same_stem(one: str, other: str) -> bool:
    """Return whether two words of similar meaning look like forms of one: bank, banks, banking.

    >>> same_stem("bank", "banking"), same_stem("launched", "launches"), same_stem("pear", "peach")
    (True, True, False)
    """
    shortest, longest = sorted((one, other), key=len)
    if longest == f"{shortest[:-1]}ing":  # fire, firing
        return True
    differ = (i for i, letter in enumerate(shortest) if longest[i] != letter)
    shared = next(differ, len(shortest))
    whole = shared == len(shortest)
    return shared >= STEM and (whole or (shared > STEM and len(longest) - shared <= 3))
