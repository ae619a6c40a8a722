"""Sentences as a question gets them: their targets, and the attention that is asked for."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representations import Attention, Ours, Representation, Representations
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.model.vocabulary import tell_forms
from ctxembed.text.function_words import is_content
from ctxembed.text.tokenizer import INNER

NAMED = 20  # lines without an answer that are named with their reasons


class Target(NamedTuple):
    """A target among the sentences asked about."""

    sentence: int  # its number, from 1
    name: str  # apple, or apple:2 for the second one
    item: Occurrence


@dataclass
class Skipped:
    """What could not be answered, told at the end."""

    words: Counter[str] = field(default_factory=Counter)
    forms: dict[str, str] = field(default_factory=dict)
    lines: list[tuple[int, str]] = field(default_factory=list)  # number and reason

    def add(self, parsed: Parsed) -> None:
        """Count the words that were left out of a sentence."""
        if parsed.unknown:
            self.words.update(parsed.unknown.values())
        self.forms |= parsed.forms

    @property
    def notes(self) -> list[str]:
        """What to note: words that were left out, or taken in another form."""
        common = [word for word, _ in self.words.most_common(8)]
        more = " …" if len(self.words) > 8 else ""
        left_out = [f"skipped, not in the vocabulary: {', '.join(common)}{more}"] if common else []
        return [*left_out, *tell_forms(self.forms)]

    @property
    def unknown(self) -> list[str]:
        """What to say of the lines that have no answer."""
        told = [f"line {number}: {reason}" for number, reason in self.lines[:NAMED]]
        more = len(self.lines) - len(told)
        return [*told, f"and {more} more lines have no answer"] if more else told


@dataclass(frozen=True)
class Sentences:
    """The sentences that have a target, and what is to be told of the others."""

    parsed: list[Parsed]
    several: bool  # whether more than one was given
    notes: list[str]
    unknown: list[str]

    def targets(self) -> list[Target]:
        """List the targets of all sentences."""
        return list_targets(self.parsed)


def read_sentences(
    representations: Representations, sentences: str | Sequence[str], word: str | None
) -> Sentences:
    """Read sentences; where no target is marked or named, each content word is one.

    Of several, one that cannot be read is told by its number and the others are answered.
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
        raise UnknownWordError("\n".join(skipped.unknown) or "nothing to do: no line says anything")
    return Sentences(parsed, len(texts) > 1, skipped.notes, skipped.unknown)


def read_each(
    numbered: Iterable[tuple[int, str]], read: Callable[[str, int], Parsed], skipped: Skipped
) -> Iterator[Parsed]:
    """Yield the sentences that can be read; of the others it is noted why they cannot.

    Empty ones count, so that the numbers are those of a file's lines.
    """
    for number, text in numbered:
        if text.strip():
            try:
                parsed = read(text, number)
            except (UnknownWordError, UsageError) as error:
                skipped.lines.append((number, str(error)))
            else:
                skipped.add(parsed)
                yield parsed


def content_only(representations: Representations, parsed: Parsed) -> Parsed:
    """Keep the targets that are content words; all of them where none is."""

    def content(item: Occurrence, counted: bool) -> bool:
        row = item.ids[item.target.start]
        frequency = float(representations.frequency[row]) if counted else 0.0
        return len(item.target) > 1 or is_content(parsed.words[item.target.start], frequency)

    for counted in (True, False):  # in a small corpus every word is frequent
        kept = [item for item in parsed.occurrences if content(item, counted)]
        if kept:
            return replace(parsed, occurrences=kept)
    return parsed


def tell_skipped(sentences: Iterable[Parsed]) -> list[str]:
    """Name the context words that are unknown, or were taken in another form."""
    skipped = Skipped()
    for parsed in sentences:
        skipped.add(parsed)
    return skipped.notes


def list_targets(sentences: Iterable[Parsed]) -> list[Target]:
    """List the targets of sentences, each under its name."""
    return [
        Target(parsed.number, name, item)
        for parsed in sentences
        for name, item in zip(name_targets(parsed), parsed.occurrences, strict=True)
    ]


def name_targets(parsed: Parsed) -> list[str]:
    """Name each target: its words, and which one it is where the sentence has several."""
    alone, names = number_repeats(parsed.words), []
    for item in parsed.occurrences:
        start, size = item.target.start, len(item.target)
        if size == 1:
            names.append(alone[start])
            continue
        words = parsed.words[start : start + size]
        before = sum(parsed.words[i : i + size] == words for i in range(start))
        name = " ".join(words).replace(f" {INNER}", "")  # pieces of one word
        names.append(name + (f":{before + 1}" if before else ""))
    return names


def number_repeats(tokens: Sequence[str]) -> list[str]:
    """Tell repeated words apart.

    >>> number_repeats(["apple", "and", "apple"])
    ['apple', 'and', 'apple:2']
    """
    if len(set(tokens)) == len(tokens):
        return list(tokens)
    seen: Counter[str] = Counter()
    names = []
    for token in tokens:
        seen[token] += 1
        names.append(token if seen[token] == 1 else f"{token}:{seen[token]}")
    return names


def general_kind(model: Model, general: str | None) -> str:
    """Choose which attention without parameters: the textbook's for vectors given by hand."""
    return general or ("textbook" if model.by_hand else "cosine")


def choose_way(
    representations: Representations,
    attention: str | None,
    general: str | None,
    heads: int = 4,
    seed: int = 1,
) -> Ours:
    """Return what is asked for by its name, or as general attention, or the model's own."""
    if general and attention not in (None, "general"):
        raise UsageError("--general goes with --attention general")
    model = representations.model
    usual = "general" if general or model.by_hand else representations.default()
    return representations.get(attention or usual, general_kind(model, general), heads, seed)


def choose_attention(
    representations: Representations,
    attention: str | None,
    general: str | None,
    heads: int = 4,
    seed: int = 1,
) -> Attention:
    """Return the attention asked for: the one given by hand, a name, or the model's own."""
    model = representations.model
    if model.by_hand and not (attention or general):
        from ctxembed.context.worked_example import given_attention

        given = given_attention(model)
        if given is not None:
            return given
    chosen = choose_way(representations, attention, general, heads, seed)
    if not isinstance(chosen, Attention):
        raise UsageError(f"--attention {chosen.name}: not an attention")
    return chosen


def open_encoders(encoders: Sequence[Representation | str], model: Model) -> list[Representation]:
    """Open transformers by their places, to read what a model knows of a sentence."""
    if not encoders:
        return []
    from ctxembed.context.encoder import Encoder

    return [Encoder.open(e, model.vocabulary.words) if isinstance(e, str) else e for e in encoders]
