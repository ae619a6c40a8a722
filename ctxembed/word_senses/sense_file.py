"""A dictionary in a file: a sense a line, WORD<tab>PART<tab>LABEL<tab>DEFINITION<tab>EXAMPLE..."""

import math
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace

from ctxembed.errors import CorpusError
from ctxembed.model.bundled import corpora_directory
from ctxembed.text.lines import every_line
from ctxembed.word_senses.dictionary import (
    PARTS,
    Dictionary,
    Sense,
    SenseSource,
    base_forms,
    number_key,
)
from ctxembed.word_senses.multilingual import SUFFIX, MultilingualWordnet

BUNDLED = "english"  # names the dictionary that comes with ctxembed
ADDED = "senses_of_today.tsv"  # added to WordNet
HEADER = ["word", "part", "label", "definition"]
FORMAT = "write WORD<tab>PART<tab>LABEL<tab>DEFINITION<tab>EXAMPLE..., PART one of n, v, a, r"
MAX_SENSES = 200_000


class SenseFile:
    """The senses in a file; how often each occurs is unknown, but for shares of another one."""

    def __init__(self, name: str, shares: Dictionary | None = None) -> None:
        self.entries: defaultdict[str, list[Sense]] = defaultdict(list)  # without shares
        self.shares = shares
        keys: set[str] = set()
        for number, line in enumerate(every_line(name), 1):
            cells = [cell.strip() for cell in line.rstrip("\r\n").split("\t")]
            if cells[:4] == HEADER or not line.strip() or line.startswith("#"):
                continue
            word, part, label, definition = (*cells, "", "", "", "")[:4]
            if not (word and label and definition) or (part or "n") not in PARTS:
                raise CorpusError(f"{name}: line {number}: {FORMAT}")
            lemma = "_".join(word.lower().split())
            key = f"{lemma}%{label}"
            if key in keys or len(keys) == MAX_SENSES:
                wrong = f"a second {key}" if key in keys else f"more than {MAX_SENSES:,} senses"
                raise CorpusError(f"{name}: line {number}: {wrong}")
            keys.add(key)
            examples = [text for text in cells[4:] if text]
            plain = lemma.replace("_", " ")
            fields = (plain, part or "n", key, definition, examples, [word], math.nan)
            self.entries[lemma].append(Sense(*fields))
        if not keys:
            raise CorpusError(f"{name}: no senses; {FORMAT}")

    def look_up(self, word: str, part: str | None = None) -> list[Sense]:
        """Return the senses of all lemmas that a word may be a form of; none if unknown."""
        senses: dict[str, Sense] = {}
        for own in PARTS if part is None else (part,):
            for name in base_forms(word, own):
                entry = self.entries.get(name, ())
                senses |= {sense.key: sense for sense in entry if sense.part == own}
        if self.shares is None:
            return list(senses.values())
        return [replace(s, share=self.shares.share(number_key(s.key))) for s in senses.values()]

    def sample(self, number: int) -> list[Sense]:
        """Return the first senses."""
        return [sense for senses in self.entries.values() for sense in senses][:number]


def open_sources(names: Sequence[str] = ()) -> list[SenseSource]:
    """Open dictionaries: files, or english for the bundled one, which is the default.

    A file wn-data-XXX.tab is a wordnet of another language.
    """
    sources: list[SenseSource] = []
    for name in dict.fromkeys(names or (BUNDLED,)):
        if name == BUNDLED:
            dictionary = Dictionary.open()
            sources += [dictionary, SenseFile(str(corpora_directory() / ADDED), dictionary)]
        elif name.endswith(SUFFIX):
            sources.append(MultilingualWordnet(name, Dictionary.open()))
        else:
            sources.append(SenseFile(name))
    return sources
