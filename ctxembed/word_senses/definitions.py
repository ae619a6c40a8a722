"""Choose the definition that fits a target in its sentence, and say how sure the choice is.

    score = text + examples + prior                  sure = P(part of speech) · softmax(score)

text: cosines of the target's vector with three vectors of a sense: the word in its definition and
examples, the words of its definition, and the words of its neighbours' definitions; each for
attention and for the bag. examples: how much nearer the mean of the sense's labelled occurrences is
than that of all the lemma's (labelled.py). prior: logarithms of how often the sense was labelled
and of its share of the uses of today, and for a proper noun, whether the target has a capital.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, groupby
from typing import NamedTuple

import numpy as np

from ctxembed.attention.scores import softmax
from ctxembed.context.parse import Occurrence, Written
from ctxembed.context.representations import Representations
from ctxembed.stats.vectors import Floats, unit
from ctxembed.text.tokenizer import INNER
from ctxembed.word_senses.dictionary import PARTS, Dictionary, Sense, SenseSource
from ctxembed.word_senses.grammar_words import leave_out_grammar
from ctxembed.word_senses.labelled import LabelledSenses, Means, centre, near_words
from ctxembed.word_senses.parts_of_speech import PartsOfSpeech

Weights = Mapping[str, Sequence[float]]  # by part of speech
# For a model without labelled occurrences: three weights of attention, three of the bag, the
# examples, the count in SemCor, the share of the uses of today. Fitted by conditional logit on
# SemCor. A model with labelled occurrences has weights of its own (corpora/fit_senses.py).
WITHOUT_EXAMPLES: Weights = {
    "n": (2.01, 2.70, 3.27, 0.91, 1.38, 2.39, 0.0, 0.45, 0.42),
    "v": (1.40, 2.44, 3.11, 1.33, 1.25, 1.74, 0.0, 0.70, 0.56),
    "a": (2.37, 3.86, 2.15, 1.27, 0.88, 2.40, 0.0, 0.57, 0.44),
    "r": (2.18, 1.05, 0.0, 0.68, 1.10, 0.37, 0.0, 0.94, 0.27),
}
CAPITAL = {True: 2.0, False: -2.5}  # added for a proper noun, if the target has a capital or not
UNSEEN = 0.3  # added to the count of a sense
COUNTED = 0.3  # occurrences that one of 100 uses counts as, where parts of speech are compared
SIF = 1e-3  # a word of this frequency counts half: a / (a + frequency)
ASIDE = 0.5  # weight of the words of examples and synonyms beside those of a definition
WORDS_AT_ONCE = 1 << 12  # of texts that are summed
SAMPLE = 240  # senses that give the means of a model without labelled occurrences
CERTAIN = 0.99  # no printed probability is higher
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
    text: Floats | None = None  # (d,) of the best sense by `main`, as Definitions.text returns it
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
        self.entries: dict[str, list[Sense]] = {}
        self.rows: dict[str, int | None] = {}  # of words
        self.text_rows: dict[int, list[int]] = {}  # by synset: of the words of its text
        self.related: dict[str, list[tuple[int, float]]] = {}  # by sense key, set by related_words
        self.parts: dict[str, dict[str, float]] = {}  # by word, see part_shares

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
        if any(sense.share for sense in senses):
            counts = np.array([sense.share + UNSEEN for sense in senses])
        shares = counts / counts.sum() if senses else counts
        choices = [Choice(sense, float(share)) for sense, share in zip(senses, shares, strict=True)]
        return sorted(choices, key=lambda choice: -choice.sure)

    def part_shares(self, word: str) -> dict[str, float]:
        """Return how often a word has each part of speech, as shares; none without an entry."""
        if (shares := self.parts.get(word)) is None:
            shares = self.parts[word] = {}
            for choice in self.entry(word):
                shares[choice.sense.part] = shares.get(choice.sense.part, 0.0) + choice.sure
        return shares

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
        attention, bag = centre(attention, self.means.attention), centre(bag, self.means.bag)
        targets = np.stack([attention, bag], axis=1)[:, None]
        projected: Sequence[Floats | None] = [None] * len(items)
        if self.labelled:
            near = near_words(self.representations.model, items)
            projected = list(self.labelled.project(attention, bag, near))
        rows = zip(items, targets, projected, strict=True)
        return [self._score(item, target, part, own)[0] for item, target, own in rows]

    def rank_by(
        self, items: Sequence[Occurrence], vectors: Floats, parts: Sequence[str | None]
    ) -> list[list[list[Choice]]]:
        """Return the senses of each target by each of its vectors (n, R, d) alone.

        parts: the part of speech of each target, if it is known.
        """
        centred = centre(vectors, self.means.bag)
        targets = zip(items, np.stack([centred, centred], axis=2), parts, strict=True)
        return [self._score(item, target, part) for item, target, part in targets]

    def text(self, sense: Sense) -> Floats:
        """Return (d,) the mean of the vectors of a sense's texts, each of length 1."""
        return np.asarray(unit(self._sense_vectors([sense])[0, 0]).mean(axis=0))

    def _score(
        self, item: Occurrence, targets: Floats, part: str | None, projected: Floats | None = None
    ) -> list[list[Choice]]:
        """Return the senses of a target, the best first, by each of its vectors (R, 2, d).

        The two are those of attention and of the bag. projected: (k,) as labelled senses are.
        """
        assert item.written is not None
        written = item.written
        senses = leave_out_grammar(self.senses(written_target(written), part), written)
        if not senses:
            return [[] for _ in targets]
        vectors = self._sense_vectors(senses).swapaxes(0, 1)  # (2, k, 3, d)
        cosines = vectors.reshape(2, -1, vectors.shape[3]) @ targets.transpose(1, 2, 0)
        cosines = cosines.reshape(2, len(senses), 3, -1).transpose(3, 1, 0, 2)  # (R, k, 2, 3)
        cosines = cosines.reshape(len(targets), len(senses), 6)
        weights = WITHOUT_EXAMPLES
        if projected is not None and self.labelled is not None:
            weights = self.labelled.weights
        counts, choices = count_senses(senses), [list[Choice]() for _ in targets]
        parts = self._part_probabilities(written, senses, counts)
        for own, group in groupby(range(len(senses)), key=lambda i: senses[i].part):
            rows, w = list(group), np.array(weights[own])
            text = cosines[:, rows] @ w[:6]  # (R, k)
            examples = np.zeros(text.shape)
            if projected is not None:
                examples += w[6] * self._examples([senses[i] for i in rows], projected)
            prior = log_frequencies([senses[i] for i in rows], counts[rows]) @ w[7:]
            if written.capital is not None:
                proper = np.array([is_proper(senses[i]) for i in rows])
                prior += CAPITAL[written.capital] * proper
            sure = parts[own] * softmax(text + examples + prior)
            prior = np.broadcast_to(prior, text.shape)
            scored = np.stack([sure, text, examples, prior], axis=2).tolist()
            for by, fours in zip(choices, scored, strict=True):
                by += [Choice(senses[i], *four) for i, four in zip(rows, fours, strict=True)]
        return [sorted(by, key=lambda choice: -choice.sure) for by in choices]

    def _examples(self, senses: Sequence[Sense], projected: Floats) -> Floats:
        """Return (n,) how much nearer each sense's labelled mean is than that of all."""
        assert self.labelled is not None
        sums, counts = self.labelled.find(senses)
        nearer = unit(sums) @ projected - unit(sums.sum(axis=0)) @ projected
        return np.where(counts > 0, nearer * counts / (counts + 1), 0.0)

    def _part_probabilities(
        self, written: Written, senses: Sequence[Sense], counts: Floats
    ) -> dict[str, float]:
        """Return the probability of each part of speech: by counts and four neighbouring words."""
        totals: dict[str, float] = {}
        if senses[0].part == senses[-1].part:  # they are sorted by part of speech
            return {senses[0].part: 1.0}
        for sense, count in zip(senses, counts.tolist(), strict=True):
            totals[sense.part] = totals.get(sense.part, 0) + count + COUNTED * sense.share
        scores = [math.log(total + UNSEEN) for total in totals.values()]
        if self.bundled and (fitted := PartsOfSpeech.of(self.bundled)):
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
        contextual = [one.vectors(known) for one in (self.attention, self.bag)]
        sums = [*contextual, *self.text_vectors(senses)]
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
            means, (definition, neighbors) = self.means, self.text_vectors(new)
            definition = centre(definition, means.definition)
            neighbors = centre(neighbors, means.neighbors)
            attention, bag = self._own_vectors(new)
            by_attention = (centre(attention, means.attention), definition, neighbors)
            by_bag = (centre(bag, means.bag), definition, neighbors)
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

    def text_vectors(self, senses: Sequence[Sense]) -> tuple[Floats, Floats]:
        """Return (k, d) sums of the words of each sense's definition, and of its neighbours'."""
        texts: list[tuple[list[int], list[float]]] = []
        for sense in senses:
            rows = self.find_rows(sense.definition)
            aside = self.find_rows("\n".join((*sense.examples, *sense.words)))
            own = [*rows, *aside], [1.0] * len(rows) + [ASIDE] * len(aside)
            others = own  # in a dictionary without relations, the definition stands for both
            if self.bundled and sense.synset >= 0:
                near = map(self._find_text, self.bundled.neighbors(sense.synset))
                rows = list(chain.from_iterable(near))
                others = rows, [1.0] * len(rows)
            texts += [own, others]
        sums = self._sum_words(texts)
        return sums[::2], sums[1::2]

    def _find_text(self, synset: int) -> list[int]:
        """Return the rows of the words of a synset's text."""
        if (rows := self.text_rows.get(synset)) is None:
            assert self.bundled is not None
            rows = self.text_rows[synset] = self.find_rows(self.bundled.text(synset))
        return rows

    def _sum_words(self, texts: Sequence[tuple[list[int], list[float]]]) -> Floats:
        """Return (n, d) sums of vectors of length 1, times their weights; frequent words less."""
        model, frequency = self.representations.model, self.representations.frequency
        sums = np.zeros((len(texts), model.dim), np.float32)
        known = [number for number, (rows, _) in enumerate(texts) if rows]
        ends = np.cumsum([len(texts[number][0]) for number in known])
        for _, group in groupby(range(len(known)), key=lambda i: ends[i] // WORDS_AT_ONCE):
            numbers = [known[i] for i in group]
            rows = np.concatenate([texts[number][0] for number in numbers])
            weights = np.concatenate([texts[number][1] for number in numbers])
            distinct, at = np.unique(rows, return_inverse=True)
            damped = (weights * SIF / (SIF + frequency[rows])).astype(np.float32)
            words = damped[:, None] * model.space[distinct][at]
            starts = np.cumsum([0, *(len(texts[number][0]) for number in numbers[:-1])])
            sums[numbers] = np.add.reduceat(words, starts, axis=0)
        return sums

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


def log_frequencies(senses: Sequence[Sense], counts: Floats) -> Floats:
    """Return (k, 2) logarithms of how often each sense was labelled, and of its share today."""
    shares = np.array([sense.share for sense in senses])
    return np.stack([np.log(counts + UNSEEN), np.log(shares + 1)], axis=1)


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
    lowered = text.lower() if text.isascii() else ""
    for word in (sense.lemma, *sense.words):
        stem = word if len(word) < 4 or " " in word else word.removesuffix("e").removesuffix("y")
        if lowered and stem.isascii() and stem.lower() not in lowered:
            continue  # sooner than by a pattern
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
    """Return the target as it was written, but for a genitive: bank's is bank."""
    words = " ".join(written.words[written.target.start : written.target.stop])
    return words.replace(f" {INNER}", "").removesuffix("'s").removesuffix("’s")


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
    >>> describe_choice([Choice(senses[0], 1.0)])
    ['a slope, its only sense in the dictionary']
    """
    best = printed_choices(choices)
    if len(choices) == 1:  # nothing was chosen
        return [f"{best[0].sense.definition}, its only sense in the dictionary"]
    first, *others = [
        f"{choice.sense.definition}, {min(choice.sure, CERTAIN):.2f}" for choice in best
    ]
    sure = choices[0].sure >= UNSURE
    start = [f"{first} sure"] if sure else ["not sure", f"  perhaps {first}"]
    return [*start, *(f"  or {other}" for other in others)]
