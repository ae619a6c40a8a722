"""The words of a model: look up a word in any spelling or form, suggest close known ones."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any
from unicodedata import normalize

from ctxembed.errors import UnknownWordError
from ctxembed.storage.folder import Folder
from ctxembed.text.lines import WordList, read_lines
from ctxembed.text.tokenizer import Tokenizer

FIX = "train the model again"
CLOSE = 0.7  # difflib's ratio of words with a similar spelling
MAX_HINTS = 20  # unknown words for which words of similar spelling are searched
MAX_FORMS = 20  # words in another form that a note lists
MAX_SCANS = 40  # words looked up in a list; after that a dictionary of all words is built
MAX_LOOKUPS = 2000  # the same, of a WordList, which has keys


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
            raise files.damage("vocab.txt", f"not {meta['vocabulary']} words, but {len(words)}")
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
        row = self._find_exact(word)
        if row is None:
            normal = self.tokenizer.normalise(word)
            row = self._find_exact(normal)
            if row is None and not normal.isascii():  # é may be one character, or e and its accent
                forms = (normalize(form, normal) for form in ("NFC", "NFD"))
                rows = (self._find_exact(form) for form in forms if form != normal)
                row = next((row for row in rows if row is not None), None)
        if row is None and " " in word and len(words := self.tokenizer.words(word)) == 1:
            row = self._find_exact(words[0])  # a phrase
        return row

    def _find_exact(self, word: str) -> int | None:
        self._lookups += 1
        if self._lookups > (MAX_LOOKUPS if isinstance(self.words, WordList) else MAX_SCANS):
            return self.rows.get(word)
        try:
            return self.words.index(word)  # frequent words come first
        except ValueError:
            return None

    def find_form(self, word: str) -> int | None:
        """Return the row of another form of a word (nails for nail), or None."""
        if self.tokenizer.unit != "word":  # its subwords represent it
            return None
        from ctxembed.text.tokenizer import other_forms

        forms = dict.fromkeys(map(self.tokenizer.normalise, other_forms(word)))
        return next((row for form in forms if (row := self._find_exact(form)) is not None), None)

    def parts(self, word: str) -> list[int]:
        """Return the row of a word, or those of its subwords or of its words; none if unknown."""
        row = self.find(word)
        if row is not None:
            return [row]
        if self.tokenizer.unit == "word":
            words = self.tokenizer.words(word) if " " in word else []
            rows = [row for part in words if (row := self.find(part)) is not None]
            return rows if len(rows) == len(words) else []
        return [self.rows[unit] for unit in self.tokenizer.words(word) if unit in self.rows]

    def spelling(self, word: str) -> str:
        """Return a word as the vocabulary has it, or would have it."""
        row = self.find(word)
        return self.tokenizer.normalise(word) if row is None else self.words[row]

    def row(self, word: str) -> int:
        """Return the row of a word; refuse an unknown one."""
        row = self.find(word)
        if row is None:
            raise UnknownWordError(self.unknown(word))
        return row

    def unknown(self, word: str, *, hint: bool = True) -> str:
        """Return the message for an unknown word, with known words of similar spelling."""
        if not hint:
            return f"{word!r} is not in the vocabulary"
        from difflib import get_close_matches

        wanted = self.tokenizer.normalise(word)
        # difflib alone would take a second for 100,000 words.
        same = self._by_letter.get(wanted[:1], [])
        near = [w for w in same if abs(len(w) - len(wanted)) <= 2][:20000]
        letters = Counter(wanted)
        # difflib's own first bound, by letters that both words have, in a tenth of its time
        near = [w for w in near if 2 * _count_shared(letters, w) >= CLOSE * len(wanted + w)]
        close = get_close_matches(wanted, near, n=5, cutoff=CLOSE)
        known = f"; close known words: {', '.join(close)}" if close else ""
        return f"{word!r} is not in the vocabulary{known}"

    @cached_property
    def _by_letter(self) -> dict[str, list[str]]:
        """The words by their first letter, the most frequent first."""
        words: dict[str, list[str]] = {}
        for word in self.words:
            words.setdefault(word[:1], []).append(word)
        return words

    def sort_known(self, words: Iterable[str]) -> tuple[list[str], list[str]]:
        """Split words into those with a vector, as the vocabulary spells them, and the others."""
        pairs = [(word, bool(self.parts(word))) for word in words]
        known = [self.spelling(word) for word, is_known in pairs if is_known]
        return known, [word for word, is_known in pairs if not is_known]

    def keep_known(self, words: str | Iterable[str]) -> tuple[list[str], list[str], list[str]]:
        """Return known words (one at least), notes on forms used, messages on unknown words."""
        words = [words] if isinstance(words, str) else list(words)
        rows = {word: self.find_form(word) for word in words if not self.parts(word)}
        forms = {word: self.words[row] for word, row in rows.items() if row is not None}
        known, unknown = self.sort_known(forms.get(word, word) for word in words)
        messages = [self.unknown(word, hint=i < MAX_HINTS) for i, word in enumerate(unknown)]
        if not known:
            raise UnknownWordError("\n".join(messages) or "no word was given")
        return known, describe_forms(forms), messages


def _count_shared(letters: Mapping[str, int], word: str) -> int:
    """Return how many letters of a word are among these, each at most as often as there."""
    return sum(min(number, word.count(letter)) for letter, number in letters.items())


def describe_forms(forms: Mapping[str, str]) -> list[str]:
    """Return a note on the words that were used in another form; none where there are none.

    >>> describe_forms({"nail": "nails"})
    ['not in the vocabulary, taken in another form: nail as nails']
    """
    pairs = ", ".join(f"{word} as {form}" for word, form in islice(forms.items(), MAX_FORMS))
    pairs += f" and {len(forms) - MAX_FORMS} more" if len(forms) > MAX_FORMS else ""
    return [f"not in the vocabulary, taken in another form: {pairs}"] if pairs else []


def open_tokenizer(meta: Mapping[str, Any], files: Folder) -> Tokenizer:
    """Return the tokenizer of a model's description."""
    try:
        options = {"rules": 1, **meta["tokenizer"]}  # older models have no rules
        if meta.get("phrases"):
            from ctxembed.text.phrases import FILE, open_phrases

            return open_phrases(options, files / FILE)
        if options.get("unit", "word") == "word":
            return Tokenizer(**options)
        from ctxembed.text.subword import open_units

        return open_units(options, files)
    except TypeError:
        raise files.damage("model.json", "tokenizer") from None
