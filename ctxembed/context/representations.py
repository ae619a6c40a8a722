"""Words in their sentences: the vectors every other analysis asks about."""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Attended, Layer, attend
from ctxembed.attention.starts import general, random_layer
from ctxembed.context.occurrences import Places, Windows, read
from ctxembed.errors import ModelError, UnknownWordError, UsageError
from ctxembed.static.space import Floats, Space, Vectors
from ctxembed.store.attentions import load_attention, written_at
from ctxembed.store.model import Model
from ctxembed.text.index import Ids
from ctxembed.text.tokenizer import INNER, parse_marked

LONGEST = 10_000  # words of a sentence
LOOKS = 4_000_000  # targets times words: each target looks at every word
BATCH = 1 << 12  # words run through a layer at once: their vectors stay near the processor


@dataclass(frozen=True)
class Written:
    """A target in a sentence as it was written, words that the model does not know too."""

    words: Sequence[str]
    target: range


@dataclass(frozen=True)
class Occurrence:
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


class Representation(Protocol):
    """Anything that gives an occurrence a vector."""

    @property
    def name(self) -> str:
        """What its rows are called."""

    @property
    def dim(self) -> int:
        """Length of a vector."""

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, dim) vectors of targets; NaN where it has none."""

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, dim) vectors of words of the vocabulary, without a sentence."""


@dataclass(frozen=True)
class Ours:
    """A representation made of the model's own vectors."""

    name: str
    inputs: Vectors | Space  # (V, d) each word as this representation takes it

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.inputs.shape[1])

    def alone(self, rows: Sequence[int]) -> Floats:
        """Return (n, d) vectors of words of the vocabulary, without a sentence."""
        return self.inputs[np.asarray(rows, np.intp)]

    def vectors(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) vectors of targets; NaN where the target is unknown."""
        known = [row for row, item in enumerate(occurrences) if len(item.target)]
        if len(known) == len(occurrences):
            return self.vectors_of_known(occurrences)
        vectors = np.full((len(occurrences), self.dim), np.nan, np.float32)
        if known:
            vectors[known] = self.vectors_of_known([occurrences[row] for row in known])
        return vectors

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) vectors of targets that the model knows."""
        raise NotImplementedError

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) vectors of the targets of a batch from the corpus."""
        raise NotImplementedError


@dataclass(frozen=True)
class Attention(Ours):
    """A layer and the table of what each word brings to it."""

    layer: Layer

    def attend(self, occurrences: Sequence[Occurrence]) -> Attended:
        """Run the layer on occurrences whose sentences have one length, targets only."""
        ids, places = collapse(occurrences)
        x = self.inputs[ids]  # (B, T, d)
        for row, item in enumerate(occurrences):
            if len(item.target) > 1:  # a span asks with the mean of its words
                x[row, places[row]] = self.inputs[item.own].mean(axis=0)
        return attend(self.layer, x, ids, queries=places)

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) contextual vectors of the targets of a batch."""
        mask = None if batch.mask.all() else batch.mask
        x = self.inputs[batch.ids]  # (B, T, d)
        return attend(self.layer, x, batch.ids, mask=mask, queries=batch.targets).output[:, 0]

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) contextual vectors, in batches of sentences of one length."""
        vectors = np.zeros((len(occurrences), self.dim), self.alone(()).dtype)
        for rows in batches(occurrences):
            vectors[rows] = self.attend([occurrences[row] for row in rows]).output[:, 0]
        return vectors


def collapse(occurrences: Sequence[Occurrence]) -> tuple[Ids, NDArray[np.intp]]:
    """Return ids (B, T) with each span as one word, and the places (B,) of the targets."""
    ids = [
        o.ids
        if len(o.target) == 1
        else np.concatenate([o.ids[: o.target.start + 1], o.ids[o.target.stop :]])
        for o in occurrences
    ]
    return np.array(ids, np.int32), np.array([o.target.start for o in occurrences], np.intp)


def batches(occurrences: Sequence[Occurrence]) -> Iterator[list[int]]:
    """Group occurrences by the length of their sentences, no group larger than memory likes."""
    by_length: defaultdict[int, list[int]] = defaultdict(list)
    for row, item in enumerate(occurrences):
        by_length[len(item.ids) - len(item.target) + 1].append(row)
    for length, rows in sorted(by_length.items()):
        step = max(1, BATCH // length)
        for first in range(0, len(rows), step):
            yield rows[first : first + step]


class Bag(Ours):
    """The baseline: the plain mean of the context, the target left out."""

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d); a target without context keeps its static vector."""
        rows = np.arange(len(batch.ids))
        look = batch.mask.copy()
        look[rows, batch.targets] = ~(batch.mask.sum(axis=1) > 1)
        weights = look / look.sum(axis=1, keepdims=True, dtype=np.float32)  # (B, T)
        return np.asarray((weights[:, None] @ self.inputs[batch.ids])[:, 0], np.float32)

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d); a target without context keeps its static vector."""
        vectors = np.zeros((len(occurrences), self.inputs.shape[1]), np.float32)
        ids: Ids | None = None
        for row, item in enumerate(occurrences):
            if item.ids is not ids:  # a sentence is summed once for all its targets
                ids = item.ids
                total = self.inputs[ids].sum(axis=0, dtype=np.float64)
            target = self.inputs[item.own]
            others = len(item.ids) - len(item.target)
            if others:
                vectors[row] = (total - target.sum(axis=0, dtype=np.float64)) / others
            else:
                vectors[row] = target.mean(axis=0)
        return vectors


class Static(Ours):
    """The baseline that knows no context: one vector a word."""

    def embed(self, batch: Windows) -> Floats:
        """Return (B, d) the static vectors of the targets."""
        return self.inputs[batch.ids[np.arange(len(batch.ids)), batch.targets]]

    def vectors_of_known(self, occurrences: Sequence[Occurrence]) -> Floats:
        """Return (n, d) the mean of each target's static vectors."""
        vectors = np.zeros((len(occurrences), self.inputs.shape[1]), np.float32)
        by_size: defaultdict[int, list[int]] = defaultdict(list)
        for row, item in enumerate(occurrences):
            by_size[len(item.target)].append(row)
        for rows in by_size.values():
            ids = np.array([occurrences[row].own for row in rows])  # (n, words)
            vectors[rows] = self.inputs[ids].mean(axis=1)
        return vectors


def vectors_at(model: Model, representation: Ours, places: Places) -> Floats:
    """Return (n, d) vectors of the words at these places of the corpus."""
    vectors = np.empty((len(places), model.dim), np.float32)
    for batch in read(model, places):
        vectors[batch.rows] = representation.embed(batch)
    return vectors


@dataclass(frozen=True)
class Representations:
    """A model's representations of a word in a sentence, by name; each is made once."""

    model: Model
    made: dict[tuple[int, str, str, int, int], Ours] = field(default_factory=dict)

    @cached_property
    def frequency(self) -> Floats:
        """(V,) each word's share of the corpus."""
        return (self.model.seen / max(1, self.model.seen_tokens)).astype(np.float32)

    def inputs(self, kind: str) -> Vectors | Space:
        """(V, d) static vectors as a layer wants them: raw, unit, or centred."""
        if kind == "raw":
            return self.model.vectors
        return self.model.space if kind == "unit" else self.model.centred_space

    def names(self) -> list[str]:
        """List the representations a result stands beside: the baselines, then what was learned."""
        return ["static", "bag", "general", *self.model.attentions()]

    def default(self) -> str:
        """Name the attention that is used unless another is asked for."""
        return "learned" if "learned" in self.model.attentions() else "general"

    def get(self, name: str, kind: str = "cosine", heads: int = 4, seed: int = 1) -> Ours:
        """Return a representation: static, bag, general (of a kind), learned, or a name.

        kind: textbook, scaled or cosine; cosine:3 has a temperature of 3.
        """
        kind, _, temperature = (kind if name == "general" else "").partition(":")
        # An attention may be learned again meanwhile.
        asked = (written_at(self.model, name), name, kind, heads, seed)
        if asked not in self.made:
            self.made[asked] = self._make(*asked[1:])
        made = self.made[asked]
        if temperature and isinstance(made, Attention):
            return replace(made, layer=replace(made.layer, scale=read_temperature(temperature)))
        return made

    def _make(self, name: str, kind: str, heads: int, seed: int) -> Ours:
        if name in ("static", "bag"):
            return (Static if name == "static" else Bag)(name, self.model.vectors)
        if name == "general":
            layer = general(kind, self.model.dim, heads, self.frequency)
            if layer.unit:
                return Attention(name, self.inputs("unit"), layer)
        elif name == "random":
            layer = random_layer(self.model.dim, heads, np.random.default_rng(seed))
        elif name in self.model.attentions():
            saved = load_attention(self.model, name)
            return Attention(name, self.inputs(saved.inputs), saved.layer)
        else:
            known = ", ".join(["general", *self.model.attentions()])
            raise ModelError(f"{self.model.path}: no attention {name!r}; it has {known}")
        return Attention(name, self.inputs("raw"), layer)


def read_temperature(text: str) -> float:
    """Read what general attention multiplies its scores by."""
    try:
        temperature = float(text)
    except ValueError:
        temperature = -1.0
    if not 0 <= temperature <= 1000:
        raise UsageError(f"--general: a temperature of {text!r}; give a number from 0 to 1000")
    return temperature


@lru_cache(maxsize=4)
def representations_of(model: Model) -> Representations:
    """Return the representations of an opened model, the same for everybody who asks."""
    return Representations(model)


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


def parse(model: Model, sentence: str, word: str | None = None) -> Parsed:
    """Read a sentence with its targets in brackets, or `word` (apple, apple:2) as the target.

    Without either, every known word is a target.
    """
    if len(re.findall(r"\[[^\[\]]*\w[^\[\]]*\]", sentence)) * 2 != len(
        re.findall(r"[\[\]]", sentence)
    ):
        raise UsageError(f"{_short(sentence)}: mark a target as [word], one pair of brackets each")
    marked = parse_marked(sentence, model.tokenizer)
    if len(marked.words) > LONGEST:
        raise UsageError(
            f"{_short(sentence)}: a sentence of {len(marked.words):,} words; {LONGEST:,} are the"
            " most, so give it in pieces"
        )
    rows, unknown, forms = dict[int, int](), dict[int, str](), dict[str, str]()
    for place, written in enumerate(marked.words):
        row = model.find(written)
        if row is None and (row := model.find_form(written)) is not None:
            forms[written] = model.vocab[row]
        if row is None:
            unknown[place] = written
        else:
            rows[place] = row
    known = list(rows)
    new = {place: number for number, place in enumerate(known)}  # place among the known words
    ids = np.array([rows[place] for place in known], np.int32)
    spans = list(marked.targets)
    if word is not None:
        spans = [_named(marked.words, word, model)]
    elif not spans:
        spans = [span for span in _whole_words(marked.words, model) if any(p in new for p in span)]
    occurrences = []
    for span in spans:
        there = [new[place] for place in span if place in new]
        if not there:  # a span, or a word in smaller units, is known by any of its parts
            raise UnknownWordError(model.unknown(marked.words[span.start]))
        first = next(place for place in span if place in new)
        occurrences.append(Occurrence(ids, range(there[0], there[-1] + 1), place=first))
    if not occurrences:
        raise UnknownWordError(f"no word of {_short(sentence)} is in the vocabulary")
    check_work(len(occurrences), len(ids), LOOKS)
    return Parsed([model.vocab[i] for i in ids], occurrences, unknown, forms)


def check_work(targets: int, words: int, most: int, power: int = 1) -> None:
    """Refuse more targets than anybody waits for, in a sentence where each looks at every word."""
    if targets * words**power > most:
        raise UsageError(
            f"{targets:,} targets in a sentence of {words:,} words; mark at most"
            f" {max(1, most // words**power):,} of them with [ ], or shorten it"
        )


def _whole_words(units: Sequence[str], model: Model) -> list[range]:
    """Put the pieces of each word together; any other unit stands alone."""
    inner = [model.tokenizer.unit == "subword" and unit.startswith(INNER) for unit in units]
    starts = [place for place, goes_on in enumerate(inner) if not (place and goes_on)]
    return [range(*ends) for ends in pairwise([*starts, len(units)])]


def _short(sentence: str) -> str:
    return repr(sentence if len(sentence) <= 60 else f"{sentence[:59]}…")


def _named(words: Sequence[str], name: str, model: Model) -> range:
    """Find `apple`, or the second one as `apple:2`; it may be of several units."""
    wanted, _, number = name.partition(":")
    units = tuple(model.tokenizer.words(wanted))
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
