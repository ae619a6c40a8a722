"""Choose the definition that fits a target in its sentence, and say how sure the choice is.

    score = text + examples + prior                  sure = P(part of speech) · softmax(score)

text: cosines of the target's vector with three vectors of a sense: the word in its definition and
examples, the words of its definition, and the words of its neighbours' definitions; each for
attention and for the bag. examples: how much nearer the mean of the sense's labelled occurrences is
than that of all the lemma's. prior: the logarithm of how often the sense was labelled, and for a
proper noun, whether the target has a capital.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from typing import NamedTuple

import numpy as np

from ctxembed.attention.scores import softmax
from ctxembed.context.parse import Occurrence, Written
from ctxembed.context.representations import Representations
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.tokenizer import INNER
from ctxembed.word_senses.dictionary import PARTS, Dictionary, Sense, SenseSource
from ctxembed.word_senses.labelled import LabelledSenses, Means
from ctxembed.word_senses.parts_of_speech import PartsOfSpeech

Weights = Mapping[str, Sequence[float]]  # by part of speech
# Fitted by conditional logit on SemCor, each document left out in turn, and on the examples of
# WordNet (40 % of the weight for nouns, 25 for adjectives, 10 for the others). Three weights of
# attention, three of the bag, the examples, the prior.
WEIGHTS: Weights = {
    "n": (0.11, 2.93, 2.70, 0.85, 1.60, 2.12, 6.03, 0.41),
    "v": (0.18, 1.67, 1.80, 0.77, 0.96, 1.83, 6.14, 0.78),
    "a": (0.95, 2.96, 2.96, 0.62, 1.49, 1.34, 5.43, 0.64),
    "r": (0.77, 0.72, 0.71, 0.22, 1.86, 0.56, 7.41, 0.67),
}
WITHOUT_EXAMPLES: Weights = {  # for a model without labelled occurrences
    "n": (0.99, 1.15, 1.64, 1.04, 1.61, 2.91, 0.0, 0.49),
    "v": (0.74, 1.16, 1.71, 0.84, 0.92, 2.25, 0.0, 0.83),
    "a": (1.88, 1.49, 2.06, 1.09, 1.20, 1.72, 0.0, 0.67),
    "r": (1.28, 1.22, 0.41, 0.23, 1.75, 0.75, 0.0, 0.77),
}
CAPITAL = {True: 2.0, False: -2.5}  # added for a proper noun, if the target has a capital or not
UNSEEN = 0.3  # added to the count of a sense
SIF = 1e-3  # a word of this frequency counts half: a / (a + frequency)
ASIDE = 0.5  # weight of the words of examples and synonyms beside those of a definition
SAMPLE = 240  # senses that give the means of a model without labelled occurrences
SURE, UNSURE = 0.6, 0.4  # below: name the second definition too; the three best


class Choice(NamedTuple):
    """A sense of a target, and its score."""

    sense: Sense
    sure: float  # probability; those of all senses sum to 1
    text: float | None = None  # parts of the score; None without a sentence
    examples: float | None = None
    prior: float | None = None


@dataclass(frozen=True)
class Decision:
    """The senses of a target, ranked by each representation; none without an entry."""

    choices: Mapping[str, Sequence[Choice]] = field(default_factory=dict)
    direction: Floats | None = None  # (d,) as Definitions.direction returns it
    related: Mapping[int, float] = field(default_factory=dict)  # as related_words returns it


@dataclass(eq=False)
class Definitions:
    """The senses of dictionaries, with vectors of one model."""

    representations: Representations
    sources: Sequence[SenseSource]

    def __post_init__(self) -> None:
        self.attention = self.representations.get(self.representations.answer())
        self.bag = self.representations.get("bag")
        self.bundled = next((s for s in self.sources if isinstance(s, Dictionary)), None)
        self.labelled = LabelledSenses.open(self.representations.model, self.attention.name)
        self.known: dict[str, Floats] = {}  # by sense key: (2, 3, d), see _sense_vectors
        self.sums: dict[str, Floats | None] = {}  # by sense key: of its labelled occurrences
        self.entries: dict[str, list[Sense]] = {}
        self.rows: dict[str, int | None] = {}  # of words

    def senses(self, word: str, part: str | None = None) -> list[Sense]:
        """Return the senses of a word, by part of speech; those of the first dictionary first."""
        if (senses := self.entries.get(word)) is None:
            senses = [sense for source in self.sources for sense in source.look_up(word)]
            senses.sort(key=lambda sense: list(PARTS).index(sense.part))  # stable
            self.entries[word] = senses
        return [sense for sense in senses if part in (None, sense.part)]

    def entry(self, word: str, part: str | None = None) -> list[Choice]:
        """Return the senses of a word without a sentence: how probable each is."""
        senses = self.senses(word, part)
        counts = count_senses(senses) + UNSEEN
        shares = counts / counts.sum() if senses else counts
        return [Choice(sense, float(share)) for sense, share in zip(senses, shares, strict=True)]

    def rank(
        self,
        items: Sequence[Occurrence],
        part: str | None = None,
        vectors: tuple[Floats, Floats] | None = None,
    ) -> list[list[Choice]]:
        """Return the senses of each target, the most probable first; none without an entry.

        items: with the words as written. part: n, v, a or r if the part of speech is known.
        vectors: (n, d) of attention and of the bag, if they are known already.
        """
        words = {(written_target(item.written), part) for item in items if item.written}
        self._add_vectors([sense for word in words for sense in self.senses(*word)])
        attention, bag = vectors or (self.attention.vectors(items), self.bag.vectors(items))
        attention, bag = _centre(attention, self.means.attention), _centre(bag, self.means.bag)
        both = zip(items, np.stack([attention, bag], axis=1), strict=True)
        return [self._score(item, target, part) for item, target in both]

    def rank_by(
        self, items: Sequence[Occurrence], vectors: Floats, parts: Sequence[str | None]
    ) -> list[list[Choice]]:
        """Return the senses of each target by one vector (n, d) alone, such as its static vector.

        parts: the part of speech of each target, if it is known.
        """
        centred = _centre(vectors, self.means.bag)
        targets = zip(items, np.stack([centred, centred], axis=1), parts, strict=True)
        return [self._score(item, target, part, WITHOUT_EXAMPLES) for item, target, part in targets]

    def direction(self, choices: Sequence[Choice]) -> Floats:
        """Return (d,) from the mean of a word's senses to those that are probable here."""
        senses = self._sense_vectors([choice.sense for choice in choices])[:, 0, 1:].sum(axis=1)
        sure = np.array([choice.sure for choice in choices], np.float32)
        return np.asarray(sure @ unit(senses) - unit(senses).mean(axis=0))

    def _score(
        self, item: Occurrence, target: Floats, part: str | None, weights: Weights | None = None
    ) -> list[Choice]:
        """Return the senses of a target, the best first; target: (2, d), attention and bag."""
        assert item.written is not None
        written = item.written
        senses = self.senses(written_target(written), part)
        if not senses:
            return []
        cosines = np.einsum("krsd,rd->krs", self._sense_vectors(senses), target)
        weights = weights or (WEIGHTS if self.labelled else WITHOUT_EXAMPLES)
        counts, choices = count_senses(senses), []
        parts = self._part_probabilities(written, senses, counts)
        for own, group in groupby(range(len(senses)), key=lambda i: senses[i].part):
            rows, w = list(group), np.array(weights[own])
            text = cosines[rows].reshape(-1, 6) @ w[:6]
            examples = np.zeros(len(rows))
            if w[6]:
                examples = w[6] * self._examples([senses[i] for i in rows], target[0])
            prior = w[7] * np.log(counts[rows] + UNSEEN)
            if written.capital is not None:
                proper = np.array([is_proper(senses[i]) for i in rows])
                prior += CAPITAL[written.capital] * proper
            sure = parts[own] * softmax(text + examples + prior)
            scored = np.stack([sure, text, examples, prior], axis=1).tolist()
            choices += [Choice(senses[i], *four) for i, four in zip(rows, scored, strict=True)]
        return sorted(choices, key=lambda choice: -choice.sure)

    def _examples(self, senses: Sequence[Sense], attention: Floats) -> Floats:
        """Return (k,) how much nearer each sense's labelled mean is than that of all."""
        assert self.labelled is not None
        for sense in senses:
            if sense.key not in self.sums:
                self.sums[sense.key] = self.labelled.sum_of(sense)
        nearer = np.zeros(len(senses))
        rows = [row for row, sense in enumerate(senses) if self.sums[sense.key] is not None]
        if rows:
            sums = np.array([self.sums[senses[row].key] for row in rows])
            counts = np.array([senses[row].count for row in rows])
            near = unit(sums) @ attention - attention @ unit(sums.sum(axis=0))
            nearer[rows] = near * counts / (counts + 1)
        return nearer

    def _part_probabilities(
        self, written: Written, senses: Sequence[Sense], counts: Floats
    ) -> dict[str, float]:
        """Return the probability of each part of speech: by counts and four neighbouring words."""
        totals: dict[str, float] = {}
        for sense, count in zip(senses, counts.tolist(), strict=True):
            totals[sense.part] = totals.get(sense.part, 0) + count
        scores = [math.log(total + UNSEEN) for total in totals.values()]
        if len(totals) > 1 and self.bundled and (fitted := PartsOfSpeech.of(self.bundled)):
            scores = fitted.scores(written, totals)
        return dict(zip(totals, softmax(np.array(scores)).tolist(), strict=True))

    @cached_property
    def means(self) -> Means:
        """The means of all vectors: bundled, or of a sample of the senses."""
        if self.labelled:
            return self.labelled.means
        senses = [sense for source in self.sources for sense in source.sample(SAMPLE)]
        occurrences, _ = self._occurrences(senses)
        known = [item for item in occurrences if item.target]
        texts = [self._texts(sense) for sense in senses]
        contextual = [one.vectors(known) for one in (self.attention, self.bag)]
        sums = [*contextual, *(np.array([two[side] for two in texts]) for side in (0, 1))]
        dim = self.representations.model.dim
        return Means(*(mean_direction(np.asarray(x).reshape(-1, dim)) for x in sums))

    def _sense_vectors(self, senses: Sequence[Sense]) -> Floats:
        """Return (k, 2, 3, d) vectors of senses: three for attention, three for the bag.

        The word in its texts, its definition, its neighbours; zeros where there is no text.
        """
        self._add_vectors(senses)
        return np.stack([self.known[sense.key] for sense in senses])

    def _add_vectors(self, senses: Iterable[Sense]) -> None:
        """Compute the vectors of senses that are not known yet."""
        new = list({sense.key: sense for sense in senses if sense.key not in self.known}.values())
        if new:
            means, texts = self.means, [self._texts(sense) for sense in new]
            definition = _centre(np.array([own for own, _ in texts]), means.definition)
            neighbors = _centre(np.array([others for _, others in texts]), means.neighbors)
            attention, bag = self._own_vectors(new)
            by_attention = (_centre(attention, means.attention), definition, neighbors)
            by_bag = (_centre(bag, means.bag), definition, neighbors)
            vectors = np.stack(
                [np.stack(three, axis=1) for three in (by_attention, by_bag)], axis=1
            )
            self.known |= {sense.key: own for sense, own in zip(new, vectors, strict=True)}

    def _own_vectors(self, senses: Sequence[Sense]) -> list[Floats]:
        """Return (k, d) of attention and of the bag: sums over the word in each sense's texts."""
        occurrences, rows = self._occurrences(senses)
        both = []
        for representation in (self.attention, self.bag):
            vectors = unit(np.nan_to_num(representation.vectors(occurrences)))
            sums = np.zeros((len(senses), self.representations.model.dim), np.float32)
            np.add.at(sums, rows, vectors)
            both.append(sums)
        return both

    def _occurrences(self, senses: Sequence[Sense]) -> tuple[list[Occurrence], list[int]]:
        """Return each sense's word in its definition and examples, and the row of the sense."""
        occurrences, rows = [], []
        for row, sense in enumerate(senses):
            texts = [("", sense.lemma, sense.definition)]
            texts += [split for text in sense.examples if (split := mark_word(text, sense))]
            for before, word, after in texts:
                occurrences.append(self.find_occurrence(before, word, after))
                rows.append(row)
        return occurrences, rows

    def _texts(self, sense: Sense) -> tuple[Floats, Floats]:
        """Return the vectors of the words of a sense's definition, and of its neighbours."""
        own = [(sense.definition, 1.0), ("\n".join((*sense.examples, *sense.words)), ASIDE)]
        others = own  # in a dictionary without relations, the definition stands for both
        if self.bundled and sense.synset >= 0:
            near = map(self.bundled.text, self.bundled.neighbors(sense.synset))
            others = [("\n".join(near), 1.0)]
        return self._sum_words(own), self._sum_words(others)

    def _sum_words(self, texts: Iterable[tuple[str, float]]) -> Floats:
        """Return (d,) the sum of the words' vectors of length 1; frequent words count less."""
        rows, weights = [], []
        for text, weight in texts:
            own = self.find_rows(text)
            rows += own
            weights += [weight] * len(own)
        if not rows:
            return np.zeros(self.representations.model.dim, np.float32)
        frequency = self.representations.frequency[rows]
        damped = np.array(weights, np.float32) * SIF / (SIF + frequency)
        total: Floats = damped @ self.representations.model.space[rows]
        return total

    def find_occurrence(self, before: str, word: str, after: str) -> Occurrence:
        """Return a word between two texts as rows of the vocabulary."""
        sides = self.find_rows(before), self.find_rows(word), self.find_rows(after)
        return Occurrence.join(*sides)

    def find_rows(self, text: str) -> list[int]:
        """Return the rows of the known words of a text."""
        vocabulary = self.representations.model.vocabulary
        rows = []
        for word in vocabulary.tokenizer.words(text):
            if word not in self.rows:
                row = vocabulary.find(word)
                self.rows[word] = vocabulary.find_form(word) if row is None else row
            if (own := self.rows[word]) is not None:
                rows.append(own)
        return rows


def count_senses(senses: Sequence[Sense]) -> Floats:
    """Return (k,) how often each sense was labelled; where it is unknown, as the rarest of them."""
    fewest = min((sense.count for sense in senses if not math.isnan(sense.count)), default=1.0)
    counts = [fewest if math.isnan(sense.count) else sense.count for sense in senses]
    return np.array(counts, float)


def is_proper(sense: Sense) -> bool:
    """Return whether the dictionary writes the lemma of a sense with a capital.

    >>> words = ("turkey", "Turkey")
    >>> [is_proper(Sense("turkey", "n", "", "", (), words, 0, place=i)) for i in (0, 1)]
    [False, True]
    """
    return sense.words[sense.place][:1].isupper()


def mark_word(text: str, sense: Sense) -> tuple[str, str, str] | None:
    """Return the text before, the word and the text after it; a synonym is replaced by the word.

    >>> sense = Sense("apple", "n", "", "", (), ("apple", "fruit"), 0)
    >>> mark_word("two apples a day", sense), mark_word("eat fruit", sense)
    (('two ', 'apples', ' a day'), ('eat ', 'apple', ''))
    """
    for word in (sense.lemma, *sense.words):
        stem = word if len(word) < 4 or " " in word else word.removesuffix("e").removesuffix("y")
        if match := re.search(rf"\b{re.escape(stem)}\w{{0,3}}\b", text, re.IGNORECASE):
            own = match[0] if word == sense.lemma else sense.lemma
            return text[: match.start()], own, text[match.end() :]
    return None


def mean_direction(vectors: Floats) -> Floats:
    """Return (d,) the mean of vectors (n, d), each of length 1 first; zeros are left out."""
    known = vectors[np.abs(np.nan_to_num(vectors)).sum(axis=1) > 0]
    if not len(known):
        return np.zeros(vectors.shape[1], np.float32)
    mean: Floats = unit(known).mean(axis=0)
    return mean


def written_target(written: Written) -> str:
    """Return the target as it was written."""
    words = written.words[written.target.start : written.target.stop]
    return " ".join(words).replace(f" {INNER}", "")


def printed_choices(choices: Sequence[Choice]) -> Sequence[Choice]:
    """Return the definitions to print: the best if sure, else the two or three best."""
    sure = choices[0].sure if choices else 0.0
    return choices[: 3 if sure < UNSURE else 2 if sure < SURE else 1]


def describe_choice(choices: Sequence[Choice]) -> list[str]:
    """Return the definition in lines: one if sure, with the second or the three best if not.

    >>> texts = ("a slope", "a company", "a row")
    >>> senses = [Sense("bank", "n", "", text, (), (), 0) for text in texts]
    >>> for shares in ((0.9, 0.1, 0), (0.55, 0.45, 0), (0.35, 0.33, 0.32)):
    ...     describe_choice([Choice(*pair) for pair in zip(senses, shares, strict=True)])
    ['a slope, 0.90 sure']
    ['a slope, 0.55 sure', '  or a company, 0.45']
    ['not sure', '  perhaps a slope, 0.35', '  or a company, 0.33', '  or a row, 0.32']
    """
    best = printed_choices(choices)
    first, *others = [f"{choice.sense.definition}, {choice.sure:.2f}" for choice in best]
    sure = choices[0].sure >= UNSURE
    start = [f"{first} sure"] if sure else ["not sure", f"  perhaps {first}"]
    return [*start, *(f"  or {other}" for other in others)]


def _centre(vectors: Floats, mean: Floats) -> Floats:
    """Return vectors (..., d) of length 1 minus their mean, of length 1; zeros stay zeros."""
    vectors = np.nan_to_num(vectors)
    known = np.abs(vectors).sum(axis=-1, keepdims=True) > 0
    centred: Floats = np.where(known, unit(unit(vectors) - mean), 0).astype(np.float32)
    return centred
