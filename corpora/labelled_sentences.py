"""Sentences whose words were labelled with WordNet's senses, and sentences written for senses."""

import lzma
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from ctxembed.context.parse import Written
from ctxembed.model.bundled import open_model
from ctxembed.text.tokenizer import parse_marked
from ctxembed.word_senses.sense_file import ADDED, SenseFile

TOKENIZER = open_model("english").vocabulary.tokenizer
WRITTEN = "written"  # the source of sentences that were written for senses
BETWEEN = ("while", "and", "but", "because", "although", "as", "when", "")  # two spliced sentences
KINDS = "?nvara"  # parts of speech by the number in a sense key; 5 is an adjective too


@dataclass(frozen=True)
class Labelled:
    """A sentence with a labelled target."""

    source: str  # its document, or WRITTEN
    lemma: str
    part: str  # n, v, a or r
    keys: list[str]  # sense keys, mostly one
    written: Written
    pair: int = -1  # sentences that were spliced with each other have one number
    is_spliced: bool = False

    def sides(self) -> tuple[str, str, str]:
        """Return the text before the target, the target, and the text after it."""
        words, target = self.written.words, self.written.target
        parts = words[: target.start], words[target.start : target.stop], words[target.stop :]
        return " ".join(parts[0]), " ".join(parts[1]), " ".join(parts[2])


def label(source: str, lemma: str, part: str, keys: str, text: str) -> Labelled:
    """Return a sentence, its target in brackets, with its labels."""
    marked = parse_marked(text, TOKENIZER)
    target = marked.targets[0] if marked.targets else range(0)
    return Labelled(source, lemma, part, keys.split(), Written(marked.words, target))


def read_labelled(path: Path) -> Iterator[Labelled]:
    """Yield the labelled targets of SemCor, or of the words in WordNet's definitions."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            place, lemma, part, keys, text = line.rstrip("\n").split("\t")
            item = label(place.split(".")[0], lemma, part, keys, text)
            if item.written.target:
                yield item


def read_examples(path: Path) -> tuple[list[Labelled], dict[str, float]]:
    """Return the sentences written for senses, and the share of each sense, by sense key."""
    added = SenseFile(str(Path(__file__).parent / ADDED))
    parts = {sense.key: sense.part for entry in added.entries.values() for sense in entry}
    items, shares = list[Labelled](), dict[str, float]()
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            if not line.startswith("#"):
                key, share, *texts = line.rstrip("\n").split("\t")
                lemma, _, rest = key.partition("%")
                shares[key] = float(share)
                part = parts[key] if key in parts else KINDS[int(rest[0])]
                items += (label(WRITTEN, lemma, part, key, text) for text in texts)
    return [item for item in items if item.written.target], shares


def splice(items: Sequence[Labelled], rng: np.random.Generator) -> list[Labelled]:
    """Return the sentences, those of a lemma in pairs of two senses, and each pair spliced.

    A spliced sentence is one of a pair with the words of the other beside it, without the word
    itself: a distracting clause about another sense.
    """
    rows: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for row, item in enumerate(items):
        rows[item.lemma, item.part].append(row)
    joined, spliced = list(items), list[Labelled]()
    for own in rows.values():
        order = [own[i] for i in rng.permutation(len(own))]
        while order:
            first = order.pop()
            other = next((r for r in order if items[r].keys != items[first].keys), None)
            if other is None:
                continue
            order.remove(other)
            for row, beside in ((first, other), (other, first)):
                joined[row] = replace(items[row], pair=first)
                distractor = items[beside].written
                words = [w for i, w in enumerate(distractor.words) if i not in distractor.target]
                between = BETWEEN[rng.integers(len(BETWEEN))].split()
                spliced.append(_join(joined[row], between, words, before=bool(rng.integers(2))))
    return joined + spliced


def _join(item: Labelled, between: list[str], words: list[str], before: bool) -> Labelled:
    """Return a sentence with other words before or after it."""
    own, target = item.written.words, item.written.target
    added = [*words, *between] if before else [*between, *words]
    moved = len(added) if before else 0
    target = range(target.start + moved, target.stop + moved)
    written = Written([*added, *own] if before else [*own, *added], target)
    return replace(item, written=written, is_spliced=True)
