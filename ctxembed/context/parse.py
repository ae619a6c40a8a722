"""A sentence as a model sees it: the rows of its words, and where its targets stand."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.model import Model
from ctxembed.text.index import Ids
from ctxembed.text.tokenizer import INNER, parse_marked

LONGEST = 10_000  # words of a sentence
LOOKS = 1_000_000  # targets times words: each target looks at every word


@dataclass(frozen=True)
class Written:
    """A target in a sentence as it was written, words that the model does not know too."""

    words: Sequence[str]
    target: range


class Occurrence(NamedTuple):
    """A target in a sentence, as rows of the vocabulary; unknown words are left out."""

    ids: Ids  # (T,)
    target: range  # where the target stands in ids; several words are one target; none: unknown
    written: Written | None = None  # for those who read words, not rows
    place: int | None = None  # of the target among the words as written, unknown ones too

    @property
    def own(self) -> Ids:
        """The rows of the target itself."""
        return self.ids[self.target.start : self.target.stop]

    @property
    def position(self) -> int:
        """Its place in the sentence as it was written, from 1."""
        return 1 + (self.target.start if self.place is None else self.place)


@dataclass(frozen=True)
class Parsed:
    """A sentence as the model sees it."""

    words: list[str]  # known words, in its spelling
    occurrences: list[Occurrence]  # one a target
    unknown: dict[int, str] = field(default_factory=dict)  # words left out, by their places
    forms: dict[str, str] = field(default_factory=dict)  # words taken in another form
    number: int = 1  # of the sentence among those asked about

    @property
    def positions(self) -> list[int]:
        """Where each known word stands among the words as written, from 1."""
        places = range(len(self.words) + len(self.unknown))
        return [place + 1 for place in places if place not in self.unknown]


def parse(model: Model, sentence: str, word: str | None = None, number: int = 1) -> Parsed:
    """Read a sentence with its targets in brackets, or `word` (apple, apple:2) as the target.

    Without either, every known word is a target.
    """
    brackets = sentence.count("[") + sentence.count("]")
    if brackets and 2 * len(re.findall(r"\[[^\[\]]*\w[^\[\]]*\]", sentence)) != brackets:
        raise UsageError(f"{_short(sentence)}: mark a target as [word], one pair of brackets each")
    marked = parse_marked(sentence, model.vocabulary.tokenizer)
    if len(marked.words) > LONGEST:
        raise UsageError(
            f"{_short(sentence)}: a sentence of {len(marked.words):,} words; {LONGEST:,} are the"
            " most, so give it in pieces"
        )
    rows: dict[int, int] = {}
    unknown: dict[int, str] = {}
    forms: dict[str, str] = {}
    for place, written in enumerate(marked.words):
        row = model.vocabulary.find(written)
        if row is None and (row := model.vocabulary.find_form(written)) is not None:
            forms[written] = model.vocabulary.words[row]
        if row is None:
            unknown[place] = written
        else:
            rows[place] = row
    new = {place: known for known, place in enumerate(rows)}  # place among the known words
    ids = np.array(list(rows.values()), np.int32)
    asked = marked.targets if word is None else [_named(marked.words, word, model)]
    occurrences = []
    for span in asked or _whole_words(marked.words, model):
        there = [place for place in span if place in new]
        if there:  # a span, or a word in smaller units, is known by any of its parts
            target = range(new[there[0]], new[there[-1]] + 1)
            occurrences.append(Occurrence(ids, target, place=there[0]))
        elif asked:
            raise UnknownWordError(model.vocabulary.unknown(marked.words[span.start]))
    if not occurrences:
        raise UnknownWordError(f"no word of {_short(sentence)} is in the vocabulary")
    check_work(len(occurrences), len(ids), LOOKS)
    return Parsed(model.vocabulary.spell(rows.values()), occurrences, unknown, forms, number)


def check_work(targets: int, words: int, most: int, power: int = 1) -> None:
    """Refuse more targets than anybody waits for, in a sentence where each looks at every word."""
    if targets * words**power > most:
        raise UsageError(
            f"{targets:,} targets in a sentence of {words:,} words; mark at most"
            f" {max(1, most // words**power):,} of them with [ ], or shorten it"
        )


def _whole_words(units: Sequence[str], model: Model) -> list[range]:
    """Put the pieces of each word together; any other unit stands alone."""
    if model.vocabulary.tokenizer.unit != "subword":
        return [range(place, place + 1) for place in range(len(units))]
    inner = [unit.startswith(INNER) for unit in units]
    starts = [place for place, goes_on in enumerate(inner) if not (place and goes_on)]
    return [range(*ends) for ends in pairwise([*starts, len(units)])]


def _short(sentence: str) -> str:
    return repr(sentence if len(sentence) <= 60 else f"{sentence[:59]}…")


def _named(words: Sequence[str], name: str, model: Model) -> range:
    """Find `apple`, or the second one as `apple:2`; it may be of several units."""
    wanted, _, number = name.partition(":")
    units = tuple(model.vocabulary.tokenizer.words(wanted))
    whole = {span.stop for span in _whole_words(words, model)}
    places = [
        place
        for place in range(len(words))
        if units
        and tuple(words[place : place + len(units)]) == units
        and place + len(units) in whole
    ]
    if number and not number.isdigit():
        raise UsageError(f"--word {name}: write WORD or WORD:N")
    nth = int(number or 1)
    if not places:
        raise UsageError(f"--word {name}: not in the sentence")
    if not 1 <= nth <= len(places):
        times = "once" if len(places) == 1 else f"{len(places)} times"
        raise UsageError(f"--word {name}: the sentence has it {times}")
    return range(places[nth - 1], places[nth - 1] + len(units))
