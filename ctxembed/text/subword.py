"""Units smaller than a word: byte-pair pieces learned from a corpus, and characters."""

import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from ctxembed.errors import CorpusError, CtxembedError, ModelError
from ctxembed.storage.folder import Folder
from ctxembed.text.tokenizer import INNER, Tokenizer

FILE = "subword.json"  # in a model directory; the format of the tokenizers library
_START, _UNSEEN = "▁", "<unk>"  # the library's input: a mark before each word; its unknown letter
LONGEST = 1000  # letters of a word that are looked at together
LETTERS = 100_000  # letters of a word that can be divided at all
_REPEAT = 10_000  # words handed over at once
KEPT, USUAL = 20_000, 40  # words that are remembered with their pieces, and their letters at most


@dataclass(frozen=True)
class Characters(Tokenizer):
    """Every character that is no space, combining marks with the letter before them."""

    unit: str = "character"

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each character and where it begins and ends.

        >>> list(Characters().tokens("Hi!"))
        [('h', 0, 1), ('i', 1, 2), ('!', 2, 3)]
        """
        start = 0
        for word in text.split() if len(text) > LETTERS else ():
            check_letters(word)
        for end in range(1, len(text) + 1):
            space = text[start].isspace()
            if end < len(text) and not space and unicodedata.category(text[end])[0] == "M":
                continue
            if not space:
                yield self.normalise(text[start:end]), start, end
            start = end


@dataclass(frozen=True)
class Subwords(Tokenizer):
    """Words, and of each word its pieces."""

    unit: str = "subword"
    learned: str = field(default="", repr=False)  # what `learn` returned

    @cached_property
    def _known(self) -> dict[str, list[str]]:
        """The pieces of words that were divided before."""
        return {}

    @cached_property
    def _library(self) -> Any:
        from tokenizers import Tokenizer as Library

        return Library.from_str(self.learned)

    def tokens(self, text: str) -> Iterator[tuple[str, int, int]]:
        """Yield each piece and where it begins and ends; an unseen letter is a piece."""
        spans = list(super().tokens(text))
        for (_, start, end), pieces in zip(
            spans, self.pieces([word for word, _, _ in spans]), strict=True
        ):
            # A letter may become two when it is made small (İ): lead back to where it was.
            letters: Sequence[int] = range(start, end)
            if not text[start:end].isascii():
                letters = [place for place in letters for _ in self.normalise(text[place])]
            place, begin = 0, start
            for piece in pieces:
                place += len(piece.removeprefix(INNER) if place else piece)
                stop = letters[place] if place < len(letters) else end
                yield piece, begin, stop
                begin = stop

    def pieces(self, words: Sequence[str]) -> Iterator[list[str]]:
        """Yield the pieces of each word, which put together are the word."""
        for first in range(0, len(words), _REPEAT):
            some = words[first : first + _REPEAT]
            made = {word: self._known.get(word) for word in some if len(word) <= LONGEST}
            if new := [word for word, known in made.items() if known is None]:
                made |= self._divide(new)
            for word in some:
                pieces = made.get(word)
                yield self._long(word) if pieces is None else pieces

    def _divide(self, words: Sequence[str]) -> dict[str, list[str]]:
        """Let the library divide words, and remember the usual ones: most words come again."""
        made = {}
        marked = [_START + word for word in words]
        for word, divided in zip(marked, self._library.encode_batch(marked), strict=True):
            found = (word[begin:end].removeprefix(_START) for begin, end in divided.offsets)
            made[word.removeprefix(_START)] = [
                INNER + piece if number else piece
                for number, piece in enumerate(piece for piece in found if piece)
            ]
        if len(self._known) > KEPT:
            self._known.clear()
        self._known.update((word, made[word]) for word in words if len(word) <= USUAL)
        return made

    def _long(self, word: str) -> list[str]:
        """Return the pieces of a word that may be very long: the time is that of its parts."""
        check_letters(word)
        parts = [word[at : at + LONGEST] for at in range(0, len(word), LONGEST)]
        made: list[str] = []
        for first, *rest in self.pieces(parts):
            made += [INNER + first if made else first, *rest]
        return made


def check_letters(word: str) -> None:
    """Refuse a word that is too long to be divided."""
    if len(word) > LETTERS:
        raise CorpusError(
            f"{word[:20]!r}…: a word of {len(word):,} letters; at most {LETTERS:,} can be divided"
        )


def learn(counted: Iterable[tuple[str, int]], size: int) -> str:
    """Learn `size` byte-pair pieces from words and how often each occurs."""
    from tokenizers import Tokenizer as Library
    from tokenizers import models, pre_tokenizers, trainers

    library = Library(models.BPE(unk_token=_UNSEEN))
    library.pre_tokenizer = pre_tokenizers.CharDelimiterSplit(" ")  # words hold no space
    trainer = trainers.BpeTrainer(
        vocab_size=size, min_frequency=2, show_progress=False, special_tokens=[_UNSEEN]
    )
    library.train_from_iterator(_repeat(counted), trainer)
    return str(library.to_str())


def _repeat(counted: Iterable[tuple[str, int]]) -> Iterator[str]:
    """Yield each word as often as it occurs: the library counts for itself."""
    for word, count in counted:
        if len(word) > LONGEST:  # whatever it is, it is no word to learn from
            continue
        for done in range(0, count, _REPEAT):
            yield f"{_START}{word} " * min(_REPEAT, count - done)


def open_units(told: dict[str, Any], folder: Folder) -> Tokenizer:
    """Make the tokeniser of smaller units that a model's description tells of."""
    unit = told["unit"]
    if unit == "character":
        return Characters(**told)
    if unit != "subword":
        raise ModelError(f"{folder.path}: unknown unit {unit!r}; upgrade ctxembed")
    path = folder / FILE
    try:
        made = Subwords(**told, learned=path.read_text(encoding="utf-8"))
        made.words("a")
    except CtxembedError:
        raise
    except Exception as error:  # the library raises no other kind
        raise ModelError(f"{path}: damaged ({error}); train the model again") from None
    return made
