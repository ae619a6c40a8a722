"""Rank the words that could replace a target in its sentence."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
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
from ctxembed.static.space import Space
from ctxembed.stats.vectors import Floats, unit
from ctxembed.word_senses.related import RELATED

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
# Of words that explain the meaning; chosen on the part `choose` of bench/everyday.tsv.
NAMED_NEAR = 150  # candidates near the target: the first ones are mostly of its frequent sense
CONTEXT, PROBABLE = 4.0, 4.0  # weights beside the cosine with the target, which has 1
MIN_COSINE = 0.1  # a lower one counts as this
MIN_NEAR = 0.05  # cosine with the target of a word that no dictionary relates to it
MIN_RELATED = 0.1  # probability of the senses of a related word
SURE_RELATED = 0.36  # the same, of a word that is named in any context
MIN_CONTEXT = 0.3  # cosine with the contextual vector
# Of words that explain a definition: weights of a logistic regression on 3,900 words for 285
# sentences of bench/homonyms.tsv, each of which a reader called good or not.
SENSE_NEAR, SENSE_TEXT, SENSE_CONSTANT = 0.8, 6.6, -3.6
SENSE_KINDS = (2.8, 1.8, 1.5)  # a synonym; of a related synset; of the same kind
FAMILIAR, RARE, COMMON = 1.4e-6, 0.48, -0.18  # a frequency; slopes of its log below and above
NAMED, NAMED_ALONE = (
    0.0,
    -1.1,
)  # least scores: as likely good as not; one in four, if none is better


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
class Pool:
    """The candidates of a target, and what does not depend on the representation."""

    rows: Rows  # (n,)
    words: Floats  # (n, d) vectors
    near: Floats  # (n,) cosines with the target
    related: Floats  # (n,) probability of the dictionary's senses of a word

    def cosines(
        self, representations: Sequence[ModelRepresentation | None], vectors: Floats
    ) -> Floats:
        """Return (R, n) the cosines of vectors (R, d) with the words without a sentence."""
        cosines, known = np.zeros((len(vectors), len(self.rows))), dict[int, Floats]()
        units = unit(vectors)
        for row, one in enumerate(representations):
            if one is not None:
                if id(one.inputs) not in known:
                    words = one.alone(self.rows)
                    # those of a Space have length 1
                    known[id(one.inputs)] = words if isinstance(one.inputs, Space) else unit(words)
                cosines[row] = known[id(one.inputs)] @ units[row]
        return cosines


@dataclass(frozen=True)
class SubstituteRanker:
    """Targets and the candidates of each: the nearest words, which also set the scale of scores."""

    model: Model
    items: Sequence[Occurrence]
    own: Floats  # (n, d) the static vector
    meant: Floats  # (n, d) the same, moved towards its sense
    pools: Sequence[Rows]
    related: Sequence[Mapping[int, float]] = ()
    last: dict[int, Pool] = field(default_factory=dict, init=False)  # set by _pool

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

    def name(
        self,
        number: int,
        representations: Sequence[ModelRepresentation | None],
        vectors: Floats,
    ) -> list[list[int]]:
        """Return the rows of words that explain what a target means, by each of its vectors (R, d).

            log cos(word, target) + 4 log cos(word, context) + 4 related

        A sum of logarithms, so that a word has to be near to both. The best come first.
        representations: None to leave context out.
        """
        pool = self._pool(number)
        rows, related, cosines = pool.rows, pool.related, pool.cosines(representations, vectors)
        if self.model.is_worked_example:
            return [
                self._name_moved(number, None if one is None else row)
                for one, row in zip(representations, cosines, strict=True)
            ]
        sure, likely = related >= SURE_RELATED, related >= MIN_RELATED
        kept = sure | (likely | (pool.near >= MIN_NEAR)) & (cosines >= MIN_CONTEXT)
        # The words of a sense that is sure need not fit the context: it has decided already.
        cosines = np.where(sure, np.maximum(cosines, MIN_CONTEXT), cosines)
        near = np.where(likely, np.maximum(pool.near, MIN_CONTEXT), pool.near)
        scores = CONTEXT * np.log(np.maximum(cosines, MIN_COSINE))  # (R, n)
        scores += np.log(np.maximum(near, MIN_COSINE)) + PROBABLE * related
        for row, representation in enumerate(representations):
            if representation is None:
                scores[row], kept[row] = pool.near, True
        best = np.argsort(np.where(kept, -scores, np.inf), axis=1, kind="stable")
        ends = np.count_nonzero(kept, axis=1).tolist()
        return [rows[own[:end]].tolist() for own, end in zip(best, ends, strict=True)]

    def name_sense(self, number: int, text: Floats, sure: float) -> Iterator[int]:
        """Yield the rows of words that explain a definition, the best first; none if none fits.

        text: (d,) of the definition; sure: its probability. Words that a reader accepts more often
        than not, or else one that comes near to it.
        """
        rows, scores = self._pool(number).rows, self.score_sense(number, text, sure)
        order = np.argsort(-scores, kind="stable")
        least = NAMED if len(order) and scores[order[0]] > NAMED else NAMED_ALONE
        kept = order[scores[order] > least]
        yield from rows[kept if least == NAMED else kept[:1]].tolist()

    def score_sense(self, number: int, text: Floats, sure: float) -> Floats:
        """Return (n,) the score of each candidate as a word that explains a definition.

            .8 cos(word, target) + 6.6 cos(word, text) + kind of relation + frequency - 3.6

        The logarithm of the odds that a reader accepts the word. Context has no part in it: it has
        decided the definition.
        """
        pool, model = self._pool(number), self.model
        related = pool.related / sure
        kinds = np.select([related >= 1, related >= RELATED, related > 0], SENSE_KINDS)
        familiar = np.log(np.maximum(model.seen[pool.rows], 1) / model.seen_tokens / FAMILIAR)
        scores: Floats = SENSE_CONSTANT + SENSE_NEAR * pool.near + kinds
        scores += SENSE_TEXT * (unit(model.space[pool.rows]) @ text)
        scores += np.where(familiar < 0, RARE, COMMON) * familiar
        return scores

    def _pool(self, number: int) -> "Pool":
        """Return the candidates of a target; they are kept until those of another are wanted."""
        if number not in self.last:
            rows = self.pools[number]
            words = self.model.centred_space[rows]
            probable = self.related[number] if self.related else {}
            related = np.array([probable.get(row, 0.0) for row in rows.tolist()])
            self.last.clear()
            self.last[number] = Pool(rows, words, words @ self.own[number], related)
        return self.last[number]

    def _name_moved(self, number: int, cosines: Floats | None) -> list[int]:
        """Return the words of a worked example that context moved a target towards, nearest first.

        cosines: with the contextual vector; None for the words near to the static vector. An
        example has a few words: the most similar ones may be words that the target moved away from.
        """
        rows, vectors = self.pools[number], self.model.vectors
        near = unit(vectors[rows]) @ unit(vectors[self.items[number].own].mean(axis=0))
        order = np.argsort(-(near if cosines is None else cosines), kind="stable")
        return [int(rows[i]) for i in order if cosines is None or cosines[i] > near[i]]

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
