"""A list of words in a file, one a line."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.errors import ModelError
from ctxembed.storage.folder import Part, open_path
from ctxembed.text.lines import decode


class WordList(Sequence[str]):
    """Words one a line, each decoded when it is asked for: a question needs a few of many.

    >>> words = WordList("an\\napple\\ncafé\\n".encode())
    >>> len(words), words[-1], words.index("apple"), words == ["an", "apple", "café"]
    (3, 'café', 1, True)
    """

    def __init__(self, text: bytes) -> None:
        self.text = text
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
        self.ends = np.concatenate([[-1], ends])  # (V+1,) where each word ends, one before it

    def __len__(self) -> int:
        return len(self.ends) - 1

    def __getitem__(self, at: Any) -> Any:
        """Return a word, or the list of those of a slice."""
        if isinstance(at, slice):
            return [self[row] for row in range(*at.indices(len(self)))]
        row = range(len(self))[at]
        return self.text[self.ends[row] + 1 : self.ends[row + 1]].decode()

    def __iter__(self) -> Iterator[str]:
        return iter(self.text.decode().split("\n")[:-1])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def index(self, word: Any, start: int = 0, stop: int | None = None) -> int:
        """Return the first row of a word; frequent ones stand in front."""
        line = word.encode("utf-8", "surrogatepass") + b"\n"
        place = -1 if self.text.startswith(line) else self.text.find(b"\n" + line)
        if "\n" in word or (place < 0 and not self.text.startswith(line)):
            raise ValueError(f"{word!r} is not in the list")
        return int(np.searchsorted(self.ends, place))


def read_lines(place: Path | Part) -> WordList:
    """Read a word list, one word a line."""
    path = open_path(place) if isinstance(place, Path) else place
    raw = path.read_bytes()
    decode(raw, f"{path}: damaged", hint="; train the model again", kind=ModelError)
    if raw and not raw.endswith(b"\n"):
        raise ModelError(f"{path}: damaged (its last line is cut); train the model again")
    return WordList(raw)


def write_lines(path: Path, lines: Sequence[str]) -> None:
    """Write a word list, one word a line."""
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")
