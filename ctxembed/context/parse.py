"""Parse a sentence into the vocabulary rows of its words and the positions of its targets."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.text.index import Ids
from ctxembed.text.tokenizer import INNER, find_capitals, parse_marked

MAX_WORDS = 10_000  # in a sentence
MAX_PAIRS = 1_000_000  # targets times words: each target attends to every word
Rows = Sequence[int] | NDArray[np.integer[Any]]  # of the vocabulary
BATCH = 1 << 12  # words run through a layer at once: their vectors stay in the processor's cache
PADDED, SPARE = 1.5, 4  # sentences of up to so many times the words, and so many more, together


@dataclass(frozen=True)
class Written:
    """A target in a sentence as it was written, including words unknown to the model."""

    words: Sequence[str]
    target: range
    capital: bool | None = None  # whether the target begins with one; None where it says nothing


class Occurrence(NamedTuple):
    """A target in a sentence, as rows of the vocabulary; unknown words are left out."""

    ids: Ids  # (T,)
    target: range  # positions of the target in ids; several words are one target; empty if unknown
    written: Written | None = None  # for representations that read words, not rows
    first: int | None = None  # position of the target among the words as written, from 0

    @classmethod
    def join(
        cls, before: Rows, own: Rows, after: Rows, written: Written | None = None
    ) -> "Occurrence":
        """Return the target `own` between the words before and after it, all as rows."""
        ids = np.concatenate([before, own, after]).astype(np.int32)
        return cls(ids, range(len(before), len(before) + len(own)), written)

    @property
    def own(self) -> Ids:
        """The rows of the target itself."""
        return self.ids[self.target.start : self.target.stop]

    @property
    def position(self) -> int:
        """The position of the target in the sentence as it was written, from 1."""
        return 1 + (self.target.start if self.first is None else self.first)

    def clip(self, reach: int) -> "Occurrence":
        """Return the target with at most `reach` words on either side."""
        start, stop = self.target.start, self.target.stop
        before, after = self.ids[max(0, start - reach) : start], self.ids[stop : stop + reach]
        return Occurrence.join(before, self.own, after)


@dataclass(frozen=True)
class Parsed:
    """A sentence as the model sees it."""

    words: list[str]  # known words, in the model's spelling
    occurrences: list[Occurrence]  # one for each target
    unknown: dict[int, str] = field(default_factory=dict)  # words left out, by position from 0
    forms: dict[str, str] = field(default_factory=dict)  # words replaced by another form
    number: int = 1  # of the sentence in the input
    replaced: dict[int, str] = field(default_factory=dict)  # those words, by position in `words`
    capitals: Sequence[bool | None] = ()  # as find_capitals returns them

    def written(self, item: Occurrence) -> str | None:
        """Return a target as it was written if another form of it was taken, else None."""
        if not any(position in self.replaced for position in item.target):
            return None
        return " ".join(self.replaced.get(i, self.words[i]) for i in item.target)

    def tokens(self, item: Occurrence) -> tuple[list[str], list[int]]:
        """Return the words and their positions from 1, a target of several words as one token."""
        start, stop = item.target.start, item.target.stop
        words, positions = self.words[:], self.positions
        words[start:stop], positions[start + 1 : stop] = [" ".join(words[start:stop])], []
        return words, positions

    @property
    def positions(self) -> list[int]:
        """The position of each known word among the words as written, from 1."""
        number = len(self.words) + len(self.unknown)
        return [position + 1 for position in range(number) if position not in self.unknown]


def parse(model: Model, sentence: str, word: str | None = None, number: int = 1) -> Parsed:
    """Parse a sentence; targets are in brackets, or `word` (apple, apple:2), or all known words."""
    short = repr(sentence if len(sentence) <= 60 else f"{sentence[:59]}…")
    brackets = sentence.count("[") + sentence.count("]")
    if brackets and 2 * len(re.findall(r"\[[^\[\]]*\w[^\[\]]*\]", sentence)) != brackets:
        raise UsageError(f"{short}: mark a target as [word], one pair of brackets each")
    marked = parse_marked(sentence, model.vocabulary.tokenizer)
    if len(marked.words) > MAX_WORDS:
        length = f"a sentence of {len(marked.words):,} words; at most {MAX_WORDS:,} are read"
        raise UsageError(f"{short}: {length}. Split it")
    rows, unknown, forms = dict[int, int](), dict[int, str](), dict[str, str]()
    replaced: dict[int, str] = {}
    for position, written in enumerate(marked.words):
        row = model.vocabulary.find(written)
        if row is None and (row := model.vocabulary.find_form(written)) is not None:
            forms[written] = model.vocabulary.words[row]
            replaced[len(rows)] = written
        if row is None:
            unknown[position] = written
        else:
            rows[position] = row
    new = {position: known for known, position in enumerate(rows)}  # among the known words
    ids = np.array(list(rows.values()), np.int32)
    marked_spans = marked.targets if word is None else [_find_named(marked.words, word, model)]
    occurrences = []
    for span in marked_spans or _whole_words(marked.words, model):
        known = [position for position in span if position in new]
        if known:  # a span, or a word in smaller units, is known by any of its parts
            target = range(new[known[0]], new[known[-1]] + 1)
            occurrences.append(Occurrence(ids, target, first=known[0]))
        elif marked_spans:
            # Similar words are found when the message is printed: most lines of many are not.
            raise UnknownWordError(partial(model.vocabulary.unknown, marked.words[span.start]))
    if not occurrences:
        raise UnknownWordError(f"no word of {short} is in the vocabulary")
    check_work(len(occurrences), len(ids), MAX_PAIRS)
    words = model.vocabulary.spell(rows.values())
    capitals = find_capitals(sentence, model.vocabulary.tokenizer)
    return Parsed(words, occurrences, unknown, forms, number, replaced, capitals)


def check_work(targets: int, words: int, limit: int, power: int = 1) -> None:
    """Refuse a sentence in which targets × words ** power is over the limit."""
    if targets * words**power > limit:
        fix = f"mark at most {max(1, limit // words**power):,} of them with [ ], or shorten it"
        raise UsageError(f"{targets:,} targets in a sentence of {words:,} words; {fix}")


def _whole_words(units: Sequence[str], model: Model) -> list[range]:
    """Return the span of each word: its subwords together, any other unit alone."""
    if model.vocabulary.tokenizer.unit != "subword":
        return [range(position, position + 1) for position in range(len(units))]
    starts = [i for i, unit in enumerate(units) if not (i and unit.startswith(INNER))]
    return [range(*ends) for ends in pairwise([*starts, len(units)])]


def _find_named(words: Sequence[str], name: str, model: Model) -> range:
    """Return the span of `apple`, or of the second one for `apple:2`; it may have several units."""
    wanted, _, number = name.partition(":")
    units = tuple(model.vocabulary.tokenizer.words(wanted))
    size, ends = len(units), {span.stop for span in _whole_words(words, model)}
    equal = (i for i in range(len(words)) if units and tuple(words[i : i + size]) == units)
    starts = [start for start in equal if start + size in ends]
    if number and not re.fullmatch("[0-9]{1,9}", number):  # what isdigit accepts, int may not
        raise UsageError(f"--word {name[:60]}: write WORD or WORD:N")
    nth = int(number or 1)
    if not starts:
        raise UsageError(f"--word {name}: not in the sentence")
    if not 1 <= nth <= len(starts):
        times = "once" if len(starts) == 1 else f"{len(starts)} times"
        raise UsageError(f"--word {name}: the sentence has it {times}")
    return range(starts[nth - 1], starts[nth - 1] + size)


def collapse(
    occurrences: Sequence[Occurrence],
) -> tuple[Ids, NDArray[np.intp], NDArray[np.bool_] | None]:
    """Return ids (B, T) with each target as one word, the positions (B,) of the targets, and (B, T)
    which words are there: None where all sentences have one length.
    """
    rows = [np.delete(o.ids, o.target[1:]) if len(o.target) > 1 else o.ids for o in occurrences]
    targets = np.array([o.target.start for o in occurrences], np.intp)
    lengths = np.array([len(own) for own in rows])
    if not len(rows) or lengths.min() == lengths.max():
        return np.array(rows, np.int32), targets, None
    mask = np.arange(lengths.max()) < lengths[:, None]
    ids = np.zeros(mask.shape, np.int32)
    ids[mask] = np.concatenate(rows)
    return ids, targets, mask


def batches(occurrences: Sequence[Occurrence]) -> Iterator[list[int]]:
    """Yield the numbers of known occurrences whose sentences are about as long, a few at a time."""
    lengths = {
        row: len(item.ids) - len(item.target) + 1
        for row, item in enumerate(occurrences)
        if item.target
    }
    batch: list[int] = []
    for row in sorted(lengths, key=lengths.__getitem__):
        if batch and (
            (len(batch) + 1) * lengths[row] > BATCH
            or lengths[row] > PADDED * lengths[batch[0]] + SPARE
        ):
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
