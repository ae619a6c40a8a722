"""What a target means here, in words: like which words, because of which ones, in which sense."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from ctxembed.context.parse import Occurrence, Parsed
from ctxembed.context.representations import Attention, Ours, Representations
from ctxembed.context.sentences import Sentences, number_repeats
from ctxembed.explanation.explained_target import explain_targets
from ctxembed.queries.neighbors import AT_ONCE
from ctxembed.queries.substitutes import NAMED, Here, Judge
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Column
from ctxembed.text.function_words import is_content

REASONS = 3  # context words that are named
LEAST = 0.05  # share of the vector below which a word is no reason
ALIKE = 0.4  # cosine of the means of two answers' words from which they say the same
MARKERS = 3  # words that name a sense
MEANING = (
    Column("like", "words like it here: as substitutes ranks them, context weighing 2.5", "text"),
    Column("because", "the context words that make most of the vector, with their shares", "aside"),
    Column("sense", "the number of its sense here, where the model has saved senses", "aside"),
    Column("sense_share", "how sure: 1 is certain, 0.5 is halfway to the next sense", "aside"),
)
# Why a representation may see another meaning than attention does.
WHY = {
    "static": "what the word means most often",
    "bag": "another part of the sentence speaks of it",
    "general": "words like the target, wherever they stand, speak of it",
}


@dataclass(frozen=True)
class Sense:
    """Which of a word's saved senses it has."""

    number: int  # from 1
    of: int
    markers: Sequence[str]
    share: float  # how sure: 0.5 on the border to the next sense

    def __str__(self) -> str:
        named = ", ".join(self.markers[:MARKERS])
        return f"sense {self.number} of {self.of} ({named}), {self.share:.2f} sure"


@dataclass(frozen=True)
class Meaning:
    """What a target means here to one representation."""

    like: Sequence[str]
    because: str
    sense: Sense | None

    def cells(self) -> tuple[Cell, ...]:
        """Return it as the columns MEANING."""
        sense = (None, None) if self.sense is None else (self.sense.number, self.sense.share)
        return (list(self.like), self.because or None, *sense)

    def __str__(self) -> str:
        parts = [f"like {', '.join(self.like)}"] if self.like else ["like no word it knows"]
        parts += [f"because {self.because}"] if self.because else []
        parts += [str(self.sense)] if self.sense is not None else []
        return "; ".join(parts)


class Meanings:
    """The meanings of all targets of some sentences, worked out in blocks and kept."""

    def __init__(
        self,
        representations: Representations,
        read: Sentences,
        ways: Sequence[Ours],
        vectors: Mapping[str, Floats],
        number: int,
        min_count: int,
        main: str | None = None,
    ) -> None:
        self.representations, self.ways, self.vectors = representations, ways, vectors
        self.targets = [(parsed, item) for parsed in read.parsed for item in parsed.occurrences]
        self.number, self.min_count = number, min_count
        self.known: list[dict[str, Meaning]] = []
        self.main = main or representations.default()  # whose answer is told

    def at(self, row: int) -> dict[str, Meaning]:
        """Return what a target means to each representation."""
        while row >= len(self.known):
            first = len(self.known)
            block = self.targets[first : first + AT_ONCE]
            contextual = self.vectors[self.main][first : first + AT_ONCE]
            items = [item for _, item in block]
            judge = Judge.of(self.representations, items, contextual, self.min_count)
            for place, (parsed, item) in enumerate(block):
                self.known.append(
                    {
                        way.name: self._mean(judge, place, way, first + place, parsed, item)
                        for way in self.ways
                    }
                )
        return self.known[row]

    def _mean(
        self, judge: Judge, place: int, way: Ours, row: int, parsed: Parsed, item: Occurrence
    ) -> Meaning:
        seen = way if way.name != "static" else None  # which knows no context
        vector = None if seen is None else self.vectors[way.name][row]
        rated = judge.rate(place, seen, vector, weights=NAMED)
        vocab = self.representations.model.vocabulary.words
        like = [vocab[found] for found, _ in rated.best(self.number)]
        if not isinstance(way, Attention):
            return Meaning(like, "", None)
        return Meaning(like, self._because(way, parsed, item), _sense(judge.senses[place], way))

    def _because(self, way: Attention, parsed: Parsed, item: Occurrence) -> str:
        """Name the words that make most of the vector: those that carry content, if any does."""
        (told,) = explain_targets(way, replace(parsed, occurrences=[item]))
        parts, _ = told.contributions  # (H, T)
        frequency = self.representations.frequency
        start, stop = item.target.start, item.target.stop
        ids = [*item.ids[: start + 1], *item.ids[stop:]]  # a span is one word to attention
        named = [
            (share, word, is_content(token, float(frequency[row])))
            for place, (share, word, token, row) in enumerate(
                zip(parts.sum(axis=0), number_repeats(told.tokens), told.tokens, ids, strict=True)
            )
            if place != start and share >= LEAST
        ]
        best = [reason for reason in named if reason[2]] or named
        best.sort(key=lambda reason: -reason[0])
        return ", ".join(f"{word} {share:.2f}" for share, word, _ in best[:REASONS])

    def lines(self, names: Sequence[str], axes: Mapping[str, Sequence[str]]) -> Iterator[str]:
        """Tell each target's meaning, and which representations see another one.

        axes: for each representation, the axis nearest to each target; without axes, a meaning is
        another one where the words named lie apart.
        """
        for row, name in enumerate(names):
            meanings = self.at(row)
            yield f"{name}: {meanings[self.main]}"
            others = []
            for way in self.ways:
                if way.name in WHY and way.name != self.main:
                    other = self._other(meanings, axes, row, way.name)
                    others += [f"{way.name} says {other} ({WHY[way.name]})"] if other else []
            if others:
                yield f"  but {'; '.join(others)}"

    def _other(
        self,
        meanings: Mapping[str, Meaning],
        axes: Mapping[str, Sequence[str]],
        row: int,
        name: str,
    ) -> str | None:
        """Return what another representation says instead, if it does."""
        if axes:
            return axes[name][row] if axes[name][row] != axes[self.main][row] else None
        both = meanings[name].like, meanings[self.main].like
        if not all(both):
            return None
        model = self.representations.model
        one, other = (
            unit(model.centred_space[[model.vocabulary.row(word) for word in like]].mean(axis=0))
            for like in both
        )
        return None if one @ other >= ALIKE else f"like {', '.join(both[0])}"


def _sense(here: Here | None, way: Ours) -> Sense | None:
    """Tell the saved sense to the attention in whose space the senses lie."""
    if here is None or here.saved.attention != way.name:
        return None
    markers = here.saved.markers[here.label]
    return Sense(here.label + 1, here.saved.number, markers, here.share)
