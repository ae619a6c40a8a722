"""A wordnet of another language: the files wn-data-XXX.tab of the Open Multilingual Wordnet.

A line has a synset of WordNet 3.0 and a word of the language: 08420278-n<tab>fra:lemma<tab>banque.
Definitions and relations come from the bundled dictionary, or from lines with def and exe.
"""

import re
from collections import defaultdict

from ctxembed.errors import CorpusError
from ctxembed.text.lines import every_line
from ctxembed.word_senses.dictionary import PARTS, Dictionary, Sense, base_forms

SUFFIX = ".tab"
FORMAT = "write OFFSET-PART<tab>LANGUAGE:lemma<tab>WORD, as 08420278-n<tab>fra:lemma<tab>banque"
MAX_LINES = 2_000_000
SYNSET = re.compile(r"\d{8}-[nvars]")


class MultilingualWordnet:
    """Words of a language with the synsets of the bundled dictionary."""

    def __init__(self, name: str, dictionary: Dictionary) -> None:
        self.dictionary = dictionary
        self.words: defaultdict[int, list[str]] = defaultdict(list)  # of each synset
        self.synsets: defaultdict[str, list[int]] = defaultdict(list)  # of each lemma
        self.names: dict[int, str] = {}  # 08420278-n
        self.texts: defaultdict[tuple[int, str], list[str]] = defaultdict(list)
        for number, line in enumerate(every_line(name), 1):
            if line.startswith("#") or not line.strip():
                continue
            cells = [cell.strip() for cell in line.split("\t")] + [""] * 3
            synset, kind = cells[:2]
            text = next((cell for cell in reversed(cells[2:]) if cell), "")  # def: a number first
            if not SYNSET.fullmatch(synset) or not kind or not text or number > MAX_LINES:
                raise CorpusError(f"{name}: line {number}: {FORMAT}")
            own = dictionary.find_synset(synset[-1].replace("s", "a"), int(synset[:8]))
            if own is not None:  # not in WordNet 3.0
                self.names[own] = synset
                self._add(own, kind.rpartition(":")[2], text)
        if not self.synsets:
            raise CorpusError(f"{name}: no word has a synset of WordNet 3.0; {FORMAT}")

    def _add(self, synset: int, kind: str, text: str) -> None:
        if kind == "lemma":
            plain = " ".join(text.replace("_", " ").split())
            lemma = "_".join(plain.lower().split())
            if synset not in self.synsets[lemma]:
                self.words[synset].append(plain)
                self.synsets[lemma].append(synset)
        else:  # def, exe
            self.texts[synset, kind].append(text)

    def look_up(self, word: str, part: str | None = None) -> list[Sense]:
        """Return the senses of all lemmas that a word may be a form of; none if unknown."""
        senses: dict[str, Sense] = {}
        for own in PARTS if part is None else (part,):
            for name in base_forms(word, own):
                every = [self._make_sense(name, synset) for synset in self.synsets.get(name, ())]
                senses |= {sense.key: sense for sense in every if sense.part == own}
        return sorted(senses.values(), key=lambda sense: -sense.count)

    def sample(self, number: int) -> list[Sense]:
        """Return the first senses."""
        pairs = [(name, synset) for name, own in self.synsets.items() for synset in own]
        return [self._make_sense(name, synset) for name, synset in pairs[:number]]

    def _make_sense(self, name: str, number: int) -> Sense:
        """Return a sense; the words related to it in this language stand for an example."""
        synset, lemma = self.dictionary.synset(number), name.replace("_", " ")
        others = (self.words.get(other, ()) for other in self.dictionary.neighbors(number))
        related = [lemma, *self.words[number], *(word for words in others for word in words)]
        definitions = self.texts.get((number, "def"), [synset.definition])
        examples = [*self.texts.get((number, "exe"), ()), " ".join(dict.fromkeys(related))]
        count = float(sum(count for _, _, count in synset.words))  # of the English words
        key = f"{name}%{self.names[number]}"
        words = self.words[number]
        return Sense(lemma, synset.part, key, definitions[0], examples, words, count)
