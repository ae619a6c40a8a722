"""The words of a model, found as people write them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from ctxembed.errors import UnknownWordError
from ctxembed.storage.folder import Folder
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.word_list import read_lines

FIX = "train the model again"
MAX_SCANS = 40  # words looked up one by one; after that a dictionary of all words is built


@dataclass(eq=False)
class Vocabulary:
    """Words in a fixed order, and the tokenizer that splits text into such words."""

    words: Sequence[str]  # the most frequent first; the position of a word is its row
    tokenizer: Tokenizer
    _lookups: int = 0  # words looked up one by one so far

    @classmethod
    def open(cls, meta: Mapping[str, Any], files: Folder) -> "Vocabulary":
        """Read vocab.txt and the tokenizer of a model."""
        words = read_lines(files / "vocab.txt")
        if len(words) != meta["vocabulary"]:
            expected = f"size {len(words)}, expected {meta['vocabulary']}"
            raise files.damage("vocab.txt", expected)
        return cls(words, open_tokenizer(meta, files))

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def rows(self) -> dict[str, int]:
        """Row of each word; once it exists, `words` is a list too."""
        self.words = list(self.words)
        return dict(zip(self.words, range(len(self.words)), strict=True))

    def spell(self, rows: Iterable[int]) -> list[str]:
        """Return the words of rows."""
        return [self.words[row] for row in rows]

    def find(self, word: str) -> int | None:
        """Return the row of a word, or None."""
        row = self._look_up(word)
        if row is None:
            row = self._look_up(self.tokenizer.normalise(word))
        if row is None and " " in word and len(words := self.tokenizer.words(word)) == 1:
            row = self._look_up(words[0])  # a phrase
        return row

    def _look_up(self, word: str) -> int | None:
        self._lookups += 1
        if self._lookups > MAX_SCANS:
            return self.rows.get(word)
        try:
            return self.words.index(word)  # frequent words stand in front
        except ValueError:
            return None

    def find_form(self, word: str) -> int | None:
        """Return the row of a word that is not in the vocabulary in another form, or None."""
        if self.tokenizer.unit != "word":  # its pieces stand for it
            return None
        from ctxembed.text.forms import other_forms

        forms = dict.fromkeys(map(self.tokenizer.normalise, other_forms(word)))
        return next((row for form in forms if (row := self._look_up(form)) is not None), None)

    def parts(self, word: str) -> list[int]:
        """Return the rows a word is made of: its own, or those of its smaller units, or none.

        Several words are made of each of them, if all are known.
        """
        row = self.find(word)
        if row is not None:
            return [row]
        if self.tokenizer.unit == "word":
            words = self.tokenizer.words(word) if " " in word else []
            rows = [found for part in words if (found := self.find(part)) is not None]
            return rows if len(rows) == len(words) else []
        return [self.rows[unit] for unit in self.tokenizer.words(word) if unit in self.rows]

    def spelling(self, word: str) -> str:
        """Return a word as the vocabulary has it, or would have it."""
        row = self.find(word)
        return self.tokenizer.normalise(word) if row is None else self.words[row]

    def row(self, word: str) -> int:
        """Return the row of a word that must be there."""
        row = self.find(word)
        if row is None:
            raise UnknownWordError(self.unknown(word))
        return row

    def unknown(self, word: str) -> str:
        """Say that a word is unknown, and which known ones are spelt alike."""
        from difflib import get_close_matches

        wanted = self.tokenizer.normalise(word)
        # difflib alone would take a second for 100,000 words.
        near = [w for w in self.words if abs(len(w) - len(wanted)) <= 2 and w[:1] == wanted[:1]]
        close = get_close_matches(wanted, near[:20000], n=5, cutoff=0.7)
        hint = f"; close known words: {', '.join(close)}" if close else ""
        return f"{word!r} is not in the vocabulary{hint}"

    def sort_known(self, words: Iterable[str]) -> tuple[list[str], list[str]]:
        """Split words into those with a vector, as the vocabulary spells them, and the others."""
        looked = [(word, self.parts(word)) for word in words]
        known = [self.spelling(word) for word, parts in looked if parts]
        return known, [word for word, parts in looked if not parts]

    def keep_known(self, words: str | Iterable[str]) -> tuple[list[str], list[str], list[str]]:
        """Return the words with a vector, what to note, and what to say of words without one.

        A word that is there in another form is taken in that one. No known word is an error.
        """
        taken = [words] if isinstance(words, str) else list(words)
        found = {word: self.find_form(word) for word in taken if not self.parts(word)}
        forms = {word: self.words[row] for word, row in found.items() if row is not None}
        known, unknown = self.sort_known(forms.get(word, word) for word in taken)
        told = [self.unknown(word) for word in unknown]
        if not known:
            raise UnknownWordError("\n".join(told) or "no word was given")
        return known, tell_forms(forms), told


def tell_forms(forms: Mapping[str, str]) -> list[str]:
    """Say which words were found in another form.

    >>> tell_forms({"nail": "nails"})
    ['not in the vocabulary, taken in another form: nail as nails']
    """
    told = ", ".join(f"{word} as {form}" for word, form in forms.items())
    return [f"not in the vocabulary, taken in another form: {told}"] if told else []


def open_tokenizer(meta: Mapping[str, Any], files: Folder) -> Tokenizer:
    """Make the tokeniser that a model's description tells of."""
    try:
        told = {"rules": 1, **meta["tokenizer"]}  # what older models don't tell
        if meta.get("phrases"):
            from ctxembed.text.phrases import FILE, open_phrases

            return open_phrases(told, files / FILE)
        if told.get("unit", "word") == "word":
            return Tokenizer(**told)
        from ctxembed.text.subword import open_units

        return open_units(told, files)
    except TypeError:
        raise files.damage("model.json", "tokenizer") from None
