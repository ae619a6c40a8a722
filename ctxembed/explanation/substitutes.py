"""Rank the words that could replace a target in its sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
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
SPARE = 64  # words that may be in the sentence of a target, and are left out then
MAX_KEPT = 20_000  # words whose nearest words are kept
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

        Forms of the target and of words of its sentence are left out. senses: as assign_each
        returns them, if they are known already. related: for each target the rows of words that a
        dictionary relates to its senses here, with the probability of the senses.
        """
        model = representations.model
        space = model.centred_space
        if senses is None:
            senses = assign_each(representations, items)
        own = unit(np.array([space[item.own].mean(axis=0) for item in items], np.float32))
        meant = own.copy()
        for row, sense in enumerate(senses):
            if sense is not None:
                meant[row] = unit(own[row] + SENSE_STEP * sense.direction)
        if model.is_worked_example:  # it has a few words: those of the sentence are named too
            every = np.arange(len(model.vocabulary.words), dtype=np.intp)
            pools = [np.setdiff1d(every, item.own) for item in items]
            return cls(model, items, own, meant, pools, related)
        near_words = _near_words(representations, items, own, number_near + FORMS, min_count)
        fitting_words = _fitting_words(model, items, contextual, number_near + FORMS, min_count)
        pools = []
        for number, item in enumerate(items):
            near = _without_forms(model, item, near_words[number], number_near)
            fitting = fitting_words[number]
            words = [row for row in (related[number] if related else ()) if row not in item.ids]
            words = [row for row in words if model.seen[row] >= min_count]
            pool = [*near, *fitting, *_without_forms(model, item, words)]
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

    @cached_property
    def _usual_frame(self) -> Floats:
        """(2 K,) the mean frame of frequent words."""
        frames = self.model.frames
        assert frames is not None
        return np.asarray(frames[:FREQUENT].mean(axis=0))


def assign_sense(representations: Representations, item: Occurrence) -> AssignedSense | None:
    """Return the sense of a target in its sentence, if several are saved for the word."""
    return assign_each(representations, [item])[0]


def assign_each(
    representations: Representations, items: Sequence[Occurrence]
) -> list[AssignedSense | None]:
    """Return the sense of each target in its sentence, where several are saved for the word."""
    model, assigned = representations.model, list[AssignedSense | None]([None] * len(items))
    if model.is_worked_example:
        return assigned
    saved: dict[int, SavedSenses | None] = {}  # by word
    by_attention: dict[str, list[tuple[int, SavedSenses]]] = {}
    for row, item in enumerate(items):
        if len(item.target) != 1 or len(item.ids) == 1:
            continue  # a word without context
        word = int(item.own[0])
        if word not in saved:
            saved[word] = _several_senses(model, word)
        if (senses := saved[word]) is not None:
            by_attention.setdefault(senses.attention, []).append((row, senses))
    if by_attention:
        from ctxembed.word_senses.sense_space import classify, sense_representation  # start-up time

        for attention, pairs in by_attention.items():
            representation = sense_representation(representations, attention)
            vectors = representation.vectors([items[row] for row, _ in pairs])
            for (row, senses), vector in zip(pairs, vectors, strict=True):
                (label,), (margin,) = classify(vector[None], senses.weights, senses.bias)
                assigned[row] = AssignedSense(senses, int(label), float(margin))
    return assigned


def _several_senses(model: Model, word: int) -> SavedSenses | None:
    """Return the senses of a word if several are saved, of an attention as it is now."""
    name = model.vocabulary.words[word]
    saved = saved_senses(model, name)
    if saved is None or saved.number < 2:
        return None
    from ctxembed.word_senses.sense_space import current_senses  # start-up time

    return None if current_senses(model, name) is None else saved


def _near_words(
    representations: Representations, items: Sequence[Occurrence], own: Floats, number: int,
    min_count: int,
) -> list[list[int]]:  # fmt: skip
    """Return the rows nearest to the vectors `own` (n, d) of targets, without their sentences.

    The words near a word are kept, with some more than are wanted: one may be in a sentence.
    """
    model, kept = representations.model, representations.near
    keys = [(*item.own.tolist(), -number, -min_count) for item in items]
    new = {key: row for row, key in enumerate(keys) if key not in kept}
    rows = list(new.values())
    nearest = nearest_rows(
        model, own[rows], number + SPARE, (), model.centred_space, min_count=min_count
    )
    if len(kept) + len(new) > MAX_KEPT:
        kept.clear()
    found = {key: [row for row, _ in near] for key, near in zip(new, nearest, strict=True)}
    kept |= found
    answers = []
    for row, (key, item) in enumerate(zip(keys, items, strict=True)):
        own_ids = set(item.ids.tolist())
        near = [word for word in (found.get(key) or kept[key]) if word not in own_ids]
        if len(near) < number and len(own_ids) > SPARE:
            (pairs,) = nearest_rows(
                model, own[row : row + 1], number, [[*own_ids]], model.centred_space,
                min_count=min_count,
            )  # fmt: skip
            near = [word for word, _ in pairs]
        answers.append(near[:number])
    return answers


def _fitting_words(
    model: Model, items: Sequence[Occurrence], contextual: Floats, number: int, min_count: int
) -> list[list[int]]:
    """Return FITTING rows near the contextual vector (n, d) of each target.

    number: of rows that are read where forms of other words take more than FORMS of the first ones.
    """
    queries, words = np.nan_to_num(contextual), list[list[int]]([[]] * len(items))
    some = list(range(len(items)))
    for wanted in (FITTING + FORMS, number):
        exclude = [items[row].ids.tolist() for row in some]
        nearest = nearest_rows(
            model, queries[some], wanted, exclude, model.centred_space, min_count=min_count
        )
        for row, near in zip(some, nearest, strict=True):
            rows = [word for word, _ in near]
            words[row] = _without_forms(model, items[row], rows, FITTING)
        some = [row for row in some if len(words[row]) < FITTING]
        if not some:
            break
    return words


def _without_forms(
    model: Model, item: Occurrence, near: Sequence[int], number: int | None = None
) -> list[int]:
    """Return the first rows that are no genitive, no number and no form of the sentence's words.

    The target may be a number itself: then numbers stay.
    """
    vocabulary = model.vocabulary
    own = vocabulary.spell(item.own.tolist())
    words = {*own, *(w for w in vocabulary.spell(item.ids.tolist()) if len(w) >= MIN_LETTERS)}
    genitive, begins = own[-1].endswith(GENITIVE), {word[:STEM] for word in words}
    numbers = not any(map(str.isalpha, own[-1]))
    kept = []
    for row, word in zip(near, vocabulary.spell(near), strict=True):
        start, is_genitive, is_number = _describe_word(word)
        if (is_genitive and not genitive) or (is_number and not numbers):
            continue
        if start not in begins or not any(same_stem(word, other) for other in words):
            kept.append(row)
            if len(kept) == number:
                break
    return kept


@lru_cache(1 << 16)
def _describe_word(word: str) -> tuple[str, bool, bool]:
    """Return a word's first letters, and whether it is a genitive or has no letter."""
    return word[:STEM], word.endswith(GENITIVE), not any(map(str.isalpha, word))


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
    shared = 0
    while shared < len(shortest) and shortest[shared] == longest[shared]:
        shared += 1
    whole = shared == len(shortest)
    return shared >= STEM and (whole or (shared > STEM and len(longest) - shared <= 3))
