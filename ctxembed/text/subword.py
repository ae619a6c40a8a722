"""Units smaller than a word: byte-pair pieces learned from a corpus, and characters."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ctxembed.errors import CorpusError, CtxembedError, ModelError
from ctxembed.storage.folder import Folder
from ctxembed.text.tokenizer import INNER, Tokenizer

FILE = "subword.json"  # in a model directory, in the format of the tokenizers library
_START, _UNSEEN = "▁", "<unk>"  # mark before each word; the library's unknown token
MAX_PART = 1000  # letters split together
MAX_LETTERS = 100_000  # letters of the longest word that is split
BATCH_SIZE = 10_000  # words passed to the library at once
CACHE_SIZE, MAX_CACHED = 20_000, 40  # cached words, and their longest length


@dataclass(frozen=True)
class Characters(Tokenizer):
    """A tokenizer of characters without spaces; a combining mark belongs to its letter."""

    unit: str = "character"

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each character with its start and end.

        >>> list(Characters().tokens("Hi!"))
        [('h', 0, 1), ('i', 1, 2), ('!', 2, 3)]
        """
        for word in text.split() if len(text) > MAX_LETTERS else ():
            check_letters(word)
        for start, end in letter_spans(text, self.rules):
            if not text[start].isspace():
                yield self.normalise(text[start:end]), start, end


def letter_spans(text: str, rules: int) -> Iterator[tuple[int, int]]:
    """Yield where each letter begins and ends, with its marks; Hangul may be in parts."""
    start = 0
    for end in range(1, len(text) + 1):
        if end < len(text) and not text[start].isspace():
            hangul = rules > 2 and "\u1160" <= text[end] <= "\u11ff"  # a vowel or final consonant
            if hangul or unicodedata.category(text[end])[0] == "M":
                continue
        yield start, end
        start = end


@dataclass(frozen=True)
class Subwords(Tokenizer):
    """A tokenizer of subwords (byte-pair encoding)."""

    unit: str = "subword"
    learned: str = field(default="", repr=False)  # what `learn` returned
    _cache: dict[str, list[str]] = field(default_factory=dict, repr=False, compare=False)

    @cached_property
    def _library(self) -> Any:
        from tokenizers import Tokenizer as Library

        return Library.from_str(self.learned)

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each subword with its start and end; an unseen letter is a subword."""
        spans = list(super().tokens(text))
        pieces_of_words = self.pieces([word for word, _, _ in spans])
        for (_, start, end), pieces in zip(spans, pieces_of_words, strict=True):
            # Lowercase may turn one letter into two (İ): map back to the original position.
            letters: Sequence[int] = range(start, end)
            if not text[start:end].isascii():
                letters = [at for i, j in letter_spans(text[start:end], self.rules)
                    for at in self._origins(text, start + i, start + j)]  # fmt: skip
            position, begin = 0, start
            for piece in pieces:
                position += len(piece.removeprefix(INNER) if position else piece)
                stop = letters[position] if position < len(letters) else end
                yield piece, begin, stop
                begin = stop

    def _origins(self, text: str, start: int, end: int) -> list[int]:
        """Return the position in the text of each normalised character of a letter with marks."""
        each = [i for i in range(start, end) for _ in self.normalise(text[i])]
        together = len(self.normalise(text[start:end]))
        return each if together == len(each) else [start] * together  # composed: é

    def pieces(self, words: Sequence[str]) -> Iterator[list[str]]:
        """Yield the pieces of each word; joined they are the word."""
        for first in range(0, len(words), BATCH_SIZE):
            some = words[first : first + BATCH_SIZE]
            pieces_of = {word: self._cache.get(word) for word in some if len(word) <= MAX_PART}
            if new := [word for word, known in pieces_of.items() if known is None]:
                pieces_of |= self._split(new)
            for word in some:
                pieces = pieces_of.get(word)
                yield self._split_long(word) if pieces is None else pieces

    def _split(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Split words with the library, and cache those of usual length."""
        pieces_of = {}
        marked = [_START + word for word in words]
        for word, encoded in zip(marked, self._library.encode_batch(marked), strict=True):
            parts = (word[begin:end].removeprefix(_START) for begin, end in encoded.offsets)
            pieces = [piece for piece in parts if piece]
            pieces[1:] = [INNER + piece for piece in pieces[1:]]
            pieces_of[word.removeprefix(_START)] = pieces
        if len(self._cache) > CACHE_SIZE:
            self._cache.clear()
        self._cache.update((word, pieces_of[word]) for word in words if len(word) <= MAX_CACHED)
        return pieces_of

    def _split_long(self, word: str) -> list[str]:
        """Return the pieces of a very long word, split part by part."""
        check_letters(word)
        parts = [word[at : at + MAX_PART] for at in range(0, len(word), MAX_PART)]
        pieces: list[str] = []
        for first, *rest in self.pieces(parts):
            pieces += [INNER + first if pieces else first, *rest]
        return pieces


def check_letters(word: str) -> None:
    """Raise an error if a word is too long to be split."""
    if len(word) > MAX_LETTERS:
        length = f"a word of {len(word):,} letters; at most {MAX_LETTERS:,} can be split"
        raise CorpusError(f"{word[:20]!r}…: {length}")


def learn(counted: Iterable[tuple[str, int]], size: int) -> str:
    """Learn `size` byte-pair pieces from words and their counts; return the library's JSON."""
    from tokenizers import Tokenizer as Library
    from tokenizers import models, pre_tokenizers, trainers

    library = Library(models.BPE(unk_token=_UNSEEN))
    library.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")  # words hold no space
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=[_UNSEEN]
    )
    texts = (  # each word as often as it occurs: the library counts again
        f"{_START}{word} " * min(BATCH_SIZE, count - done)
        for word, count in counted
        if len(word) <= MAX_PART  # longer ones are no natural words
        for done in range(0, count, BATCH_SIZE)
    )
    library.train_from_iterator(texts, trainer)
    return str(library.to_str())


def open_units(options: dict[str, Any], folder: Folder) -> Tokenizer:
    """Return the tokenizer of subwords or characters that model.json describes."""
    unit = options["unit"]
    if unit == "character":
        return Characters(**options)
    if unit != "subword":
        raise ModelError(f"{folder.path}: unknown unit {unit!r}; upgrade ctxembed")
    path = folder / FILE
    try:
        tokenizer = Subwords(**options, learned=path.read_text(encoding="utf-8"))
        tokenizer.words("a")
    except CtxembedError:
        raise
    except Exception as error:  # the library raises plain exceptions
        raise ModelError(f"{path}: damaged ({error}); train the model again") from None
    return tokenizer
