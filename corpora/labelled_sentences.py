"""Sentences whose words were labelled with WordNet's senses, and sentences written for senses."""

import lzma
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ctxembed.context.parse import Written
from ctxembed.model.bundled import open_model
from ctxembed.text.tokenizer import parse_marked
from ctxembed.word_senses.sense_file import ADDED, SenseFile

TOKENIZER = open_model("english").vocabulary.tokenizer
WRITTEN = "written"  # the source of sentences that were written for senses
KINDS = "?nvara"  # parts of speech by the number in a sense key; 5 is an adjective too


@dataclass(frozen=True)
class Labelled:
    """A sentence with a labelled target."""

    source: str  # its document, or WRITTEN
    lemma: str
    part: str  # n, v, a or r
    keys: list[str]  # sense keys, mostly one
    written: Written

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
