"""A model directory: open it, ask it for words and vectors."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, Replaced, UnknownWordError
from ctxembed.model.vocabulary import FIX, Vocabulary, open_tokenizer
from ctxembed.static.frames import Frames
from ctxembed.static.quantized import Small
from ctxembed.static.space import Space, Vectors, mean_of
from ctxembed.stats.vectors import Floats, unit
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Folder, open_failure
from ctxembed.storage.manifest import TRIES, Held, believe, hold_attentions, read_format, read_json
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import Tokenizer

FORMAT = 2  # 1: 32 bits a number, no rules and no language of the tokenizer


@dataclass(eq=False)
class Model:
    """Static vectors, the corpus they come from, and the attentions learned on them."""

    path: Path
    meta: dict[str, Any]
    files: Folder  # all opened at one moment
    held: Held = field(default_factory=dict)  # the attentions learned for it, opened
    senses: tuple[int, Any] | None = None  # the saved senses, and when they were written

    opened: ClassVar["WeakSet[Model]"] = WeakSet()  # all that are in use

    @classmethod
    def open(cls, path: str | Path) -> "Model":
        """Open a model directory: all its files, so that none comes from what replaces it.

        Arrays are mapped when they are first used.
        """
        folder = Path(path)
        for _ in range(TRIES):
            with suppress(Replaced):
                opened = cls._open(folder)
                if opened.files.in_place():
                    cls.opened.add(opened)
                    return opened
        raise Replaced(f"{folder}: replaced again and again; run this command later")

    @classmethod
    def _open(cls, folder: Path) -> "Model":
        try:
            files = Folder(folder, FIX)
            part = files / "model.json"
            if not part.exists():
                raise FileNotFoundError if files.in_place() else Replaced
        except (FileNotFoundError, NotADirectoryError):
            if folder.exists():
                raise ModelError(
                    f"{folder}: not a model; give the directory that ctxembed train wrote"
                ) from None
            raise ModelError(
                f"{folder}: no such model; train one with: ctxembed train CORPUS -o {folder}"
            ) from None
        except OSError as error:
            raise open_failure(folder, error, FIX) from None
        meta = read_json(part)
        version = read_format(part, meta)
        if version > FORMAT:
            raise ModelError(
                f"{folder}: made by ctxembed {meta.get('version', '?')} in format {version}; this"
                f" one reads up to {FORMAT}. Upgrade with: pip install --upgrade ctxembed"
            )
        for name, kind in {"vocabulary": int, "dim": int, "tokens": int, "tokenizer": dict}.items():
            if not isinstance(meta.get(name), kind):
                raise ModelError(f"{part}: damaged ({name} is missing or wrong); {FIX}")
        believe(part, meta)
        return cls(folder, meta, files, hold_attentions(files))

    @classmethod
    def given(cls, name: str, words: Sequence[str], vectors: Floats) -> "Model":
        """Make a model in memory from a few vectors, as a class writes them on the board."""
        meta = {
            "vocabulary": len(words),
            "dim": vectors.shape[1],
            "tokens": len(words),
            "tokenizer": Tokenizer().told(),
        }
        model = cls(Path(name), meta, Folder(Path(name), FIX, on_disk=False))
        model.vocabulary = Vocabulary(list(words), Tokenizer())
        model.vectors, model.mean = vectors, mean_of(vectors)
        model.counts = model.seen = np.ones(len(words), np.int64)
        model.output = model.frames = model.index = None
        return model

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """Its words, and the tokenizer that splits text into such words."""
        return Vocabulary.open(self.meta, self.files)

    @cached_property
    def vectors(self) -> Vectors:
        """(V, d) static vectors."""
        return self._finite("vectors.npy")

    def widen(self) -> None:
        """Keep vectors of 8 bits as numbers to calculate with: worth it where much is asked."""
        if isinstance(self.vectors, Small):
            self.vectors = np.asarray(self.vectors)

    @cached_property
    def mean(self) -> Floats:
        """(d,) what all static vectors share; a small copy has that of its original."""
        if not (self.files / "mean.npy").exists():
            return mean_of(self.vectors)
        return self._array("mean.npy", self.dim)

    @cached_property
    def units(self) -> Floats:
        """(V, d) static vectors of length 1."""
        return unit(self.vectors[:])

    @cached_property
    def centred(self) -> Floats:
        """(V, d) static vectors without what they all share, of length 1."""
        return unit(self.vectors[:] - self.mean)

    @cached_property
    def space(self) -> Space:
        """`units`, made row by row."""
        return Space(self.vectors)

    @cached_property
    def centred_space(self) -> Space:
        """`centred`, made row by row."""
        return Space(self.vectors, self.mean)

    @cached_property
    def output(self) -> Vectors | None:
        """(V, d) word2vec's output vectors, where there are any."""
        return self._finite("output.npy") if (self.files / "output.npy").exists() else None

    @cached_property
    def frames(self) -> Frames | None:
        """(F, 2 K) what stands directly beside the frequent words, where it was counted."""
        if not (self.files / "frames.npy").exists():
            return None
        frames: Frames = load(self.files / "frames.npy")
        rows, width = frames.shape if frames.ndim == 2 else (0, 1)
        if rows > len(self.vocabulary) or width % 2 or width > 2 * len(self.vocabulary):
            self._expect("frames.npy", frames.shape, "(words, twice as many as are frequent)")
        return frames

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(V,) how often each word occurs."""
        counts = self._array("counts.npy", self.meta["vocabulary"])
        if counts.dtype.kind != "i":
            raise self.files.damage("counts.npy", f"{counts.dtype.name} is no kind of count")
        return counts.astype(np.int64, copy=False)

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """(V,) how often each word occurs in the text that the vectors were made from."""
        if not (self.files / "seen.npy").exists():
            return self.counts
        return self._array("seen.npy", self.meta["vocabulary"])

    @property
    def seen_tokens(self) -> int:
        """Words in the text that the vectors were made from."""
        return int(self.meta.get("seen_tokens", self.tokens))

    @property
    def by_hand(self) -> bool:
        """Whether its vectors were given by hand, and it is no directory."""
        return "format" not in self.meta

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.meta["dim"])

    @property
    def tokens(self) -> int:
        """Words in the corpus, rare ones too."""
        return int(self.meta["tokens"])

    @cached_property
    def index(self) -> Index | None:
        """The corpus, where the model has it (an imported model has none)."""
        folder = self.files / "index"
        files = self.meta.get("files", [])
        if not folder.is_dir():
            return None
        return Index(
            folder, self.vocabulary.words, files, partial(open_tokenizer, self.meta, self.files)
        )

    def vector(self, word: str, space: Vectors | Space | None = None) -> Floats:
        """Return (d,) the vector of a word, the mean of its parts, here or in another space."""
        parts = self.vocabulary.parts(word)
        if not parts:
            raise UnknownWordError(self.vocabulary.unknown(word))
        return np.asarray((self.vectors if space is None else space)[parts].mean(axis=0))

    @property
    def fingerprint(self) -> str | None:
        """What tells this model from any other; None where it was written before there was one."""
        found = self.meta.get("fingerprint")
        return None if found is None else str(found)

    def check_unchanged(self) -> None:
        """Refuse to go on if another model has taken this one's place since it was opened."""
        if Model.open(self.path).meta != self.meta:
            raise ModelError(
                f"{self.path}: replaced by another model meanwhile; nothing was saved, run this"
                " command again"
            )

    def check_made_for(self, place: object, fingerprint: object, fix: str) -> None:
        """Refuse what was made for another model; what was made before fingerprints may pass."""
        if fingerprint is not None and fingerprint != self.fingerprint:
            raise ModelError(f"{place}: made for another model than {self.path}; {fix}")

    def size(self) -> int:
        """Count the bytes of its files and those of its attentions."""
        inner = (part.folder for part in self.held.values() if part)
        return self.files.size() + sum(folder.size() for folder in inner)

    def attentions(self) -> list[str]:
        """List the attentions learned for this model."""
        return sorted(self.held)

    def _finite(self, name: str) -> Vectors:
        array = load(self.files / name)
        if array.dtype.kind != "f" and array.dtype != np.int8:
            raise self.files.damage(name, f"{array.dtype.name} is no kind of vector")
        vectors: Vectors = Small(array) if array.dtype == np.int8 else array
        self._expect(name, vectors.shape, (self.meta["vocabulary"], self.dim))
        # A checksum says as much, and says it without reading a large file each time.
        if self.files.listed is None:
            sizes: Floats = vectors.scales if isinstance(vectors, Small) else vectors
            if not (np.isfinite(sizes.sum()) or np.isfinite(sizes).all()):
                raise self.files.damage(name, "not a number")
        return vectors

    def _array(self, name: str, length: int) -> NDArray[Any]:
        array: NDArray[Any] = load(self.files / name)
        self._expect(name, array.shape, (length,))
        return array

    def _expect(self, name: str, shape: object, expected: object) -> None:
        if shape != expected:
            raise self.files.damage(name, f"size {shape}, expected {expected}")
