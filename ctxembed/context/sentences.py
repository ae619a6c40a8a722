"""Sentences of a query: their targets, what was left out of them, and the chosen attention."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ctxembed.context.networks import Together
from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representation import Attention, ModelRepresentation, Representation
from ctxembed.context.representations import Representations
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.model.vocabulary import describe_forms
from ctxembed.text.tokenizer import INNER, is_content, number_repeats

MAX_LINES = 20  # lines without an answer that are listed with their reasons
MAX_UNKNOWN = 8  # unknown words that are listed


class Target(NamedTuple):
    """A target in one of the sentences."""

    sentence: int  # its number, from 1
    name: str  # apple, or apple:2 for the second one
    item: Occurrence


@dataclass
class Skipped:
    """What could not be answered, collected while sentences are read."""

    words: Counter[str] = field(default_factory=Counter)
    forms: dict[str, str] = field(default_factory=dict)
    lines: list[tuple[int, object]] = field(default_factory=list)  # number and reason

    def add(self, parsed: Parsed) -> None:
        """Count the words that were left out of a sentence."""
        self.words.update(parsed.unknown.values())
        self.forms |= parsed.forms

    @property
    def notes(self) -> list[str]:
        """Notes on words that were left out, or replaced by another form."""
        common = [word for word, _ in self.words.most_common(MAX_UNKNOWN)]
        more = " …" if len(self.words) > MAX_UNKNOWN else ""
        left_out = [f"skipped, not in the vocabulary: {', '.join(common)}{more}"] if common else []
        return [*left_out, *describe_forms(self.forms)]

    @property
    def unknown(self) -> list[str]:
        """Messages on the lines without an answer, the first ones each with its reason."""
        lines = [f"line {number}: {reason}" for number, reason in self.lines[:MAX_LINES]]
        more = len(self.lines) - len(lines)
        return [*lines, f"and {more} more lines have no answer"] if more else lines


@dataclass(frozen=True)
class Sentences:
    """The sentences that have a target, and messages about the others."""

    parsed: list[Parsed]
    several: bool  # whether the input had more than one
    notes: list[str]
    unknown: list[str]

    def targets(self) -> list[Target]:
        """Return the targets of all sentences."""
        return list_targets(self.parsed)


def read_sentences(
    representations: Representations, sentences: str | Sequence[str], word: str | None
) -> Sentences:
    """Parse sentences; where no target is marked or named, each content word is one.

    Of several, one that cannot be parsed is reported by its number and the others are answered.
    """
    texts = [sentences] if isinstance(sentences, str) else sentences
    skipped = Skipped()

    def read(text: str, number: int = 1) -> Parsed:
        parsed = parse(representations.model, text, word, number)
        named = word is not None or "[" in text
        return parsed if named else content_only(representations, parsed)

    if len(texts) == 1:
        parsed = [read(texts[0])]
        skipped.add(parsed[0])
    else:
        parsed = list(read_each(enumerate(texts, 1), read, skipped))
    if not parsed:
        raise UnknownWordError("\n".join(skipped.unknown) or "nothing to do: all lines are empty")
    return Sentences(parsed, len(texts) > 1, skipped.notes, skipped.unknown)


def read_each(
    numbered: Iterable[tuple[int, str]], read: Callable[[str, int], Parsed], skipped: Skipped
) -> Iterator[Parsed]:
    """Yield sentences that can be parsed; add the others, except empty ones, to `skipped`."""
    for number, text in numbered:
        if text.strip():
            try:
                parsed = read(text, number)
            except (UnknownWordError, UsageError) as error:
                skipped.lines.append((number, error))
            else:
                skipped.add(parsed)
                yield parsed


def content_only(representations: Representations, parsed: Parsed) -> Parsed:
    """Return the sentence with only the targets that are content words; all if there are none."""

    def content(item: Occurrence, counted: bool) -> bool:
        start = item.target.start
        frequency = float(representations.frequency[item.ids[start]]) if counted else 0.0
        return len(item.target) > 1 or is_content(parsed.words[start], frequency)

    for counted in (True, False):  # in a small corpus every word is frequent
        if kept := [item for item in parsed.occurrences if content(item, counted)]:
            return replace(parsed, occurrences=kept)
    return parsed


def describe_skipped(sentences: Iterable[Parsed]) -> list[str]:
    """Return notes on context words that are unknown, or were replaced by another form."""
    skipped = Skipped()
    for parsed in sentences:
        skipped.add(parsed)
    return skipped.notes


def list_targets(sentences: Iterable[Parsed]) -> list[Target]:
    """Return the targets of sentences, named by their words: apple, apple:2, new york."""
    targets = []
    for parsed in sentences:
        numbered = number_repeats(parsed.words)
        for item in parsed.occurrences:
            start, size = item.target.start, len(item.target)
            name, words = numbered[start], parsed.words[start : start + size]
            if size > 1:
                before = sum(parsed.words[i : i + size] == words for i in range(start))
                name = " ".join(words).replace(f" {INNER}", "")  # subwords of one word
                name += f":{before + 1}" if before else ""
            targets.append(Target(parsed.number, name, item))
    return targets


def general_kind(model: Model, general: str | None) -> str:
    """Return the kind of general attention: by default textbook for a worked example."""
    return general or ("textbook" if model.is_worked_example else "cosine")


def choose_representation(
    representations: Representations, attention: str | None, general: str | None, *random: int
) -> ModelRepresentation:
    """Return the named representation, or the default: a worked example's own matrices, if any.

    random: heads and seed of the attention `random`.
    """
    if general and attention not in (None, "general"):
        raise UsageError("--general goes with --attention general")
    model = representations.model
    if model.is_worked_example and not general and attention in (None, "given"):
        from ctxembed.context.worked_example import worked_attention

        if (worked := worked_attention(model)) is not None:
            return worked
    default = "general" if general or model.is_worked_example else representations.default()
    return representations.get(attention or default, general_kind(model, general), *random)


def choose_attention(
    representations: Representations, attention: str | None, general: str | None, *random: int
) -> Attention:
    """Return the attention with this name, or the default: a worked example's own matrices."""
    chosen = choose_representation(representations, attention, general, *random)
    if not isinstance(chosen, Attention):
        both = isinstance(chosen, Together)
        choose = "; it joins learned and encoder, which can be named" if both else ""
        raise UsageError(f"--attention {chosen.name}: not an attention{choose}")
    return chosen


def open_encoders(encoders: Sequence[Representation | str], model: Model) -> list[Representation]:
    """Open transformers by directory or package; they read the words of the model's vocabulary."""
    if not encoders:
        return []
    from ctxembed.context.encoder import Encoder

    return [Encoder.open(e, model.vocabulary.words) if isinstance(e, str) else e for e in encoders]
