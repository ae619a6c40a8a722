"""A model directory: open it, and read its words, vectors, corpus and attentions."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property, partial
from pathlib import Path
from typing import Any, ClassVar
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, Replaced, UnknownWordError, UsageError
from ctxembed.model.vocabulary import FIX, Vocabulary, open_tokenizer
from ctxembed.static.frames import Frames
from ctxembed.static.space import Quantized, Space, Vectors, mean_of
from ctxembed.stats.vectors import Floats, unit
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Folder, Part, open_failure
from ctxembed.storage.locks import hold
from ctxembed.storage.manifest import (
    OpenedAttentions,
    apply_manifest,
    manifest_checksum,
    open_attentions,
    read_json,
)
from ctxembed.table import look_up
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import Tokenizer

FORMAT = 2  # 1: 32 bits a number, no rules and no language of the tokenizer
OPEN_ATTEMPTS = 8  # a directory may be replaced while it is opened
KINDS = {"vocabulary": int, "dim": int, "tokens": int, "tokenizer": dict}  # what model.json needs


@dataclass(eq=False)
class Model:
    """Static vectors, the corpus they come from, and the attentions learned on them."""

    path: Path
    meta: dict[str, Any]  # model.json
    files: Folder  # all opened at one moment
    opened_attentions: OpenedAttentions = field(default_factory=dict)  # name -> its description
    senses: tuple[int, Any] | None = None  # the saved senses, and when they were written
    representations: Any = None  # set by context.representations.Representations.of
    whole: "Model | None" = None  # of a selection of documents: the model with all of them

    opened: ClassVar["WeakSet[Model]"] = WeakSet()  # all that are in use

    @classmethod
    def open(cls, path: str | Path) -> "Model":
        """Return the model in a directory, all its files opened; arrays are mapped when used."""
        folder = Path(path)
        for _ in range(OPEN_ATTEMPTS):
            with suppress(Replaced):
                model = cls._open(folder)
                if model.files.is_current():
                    cls.opened.add(model)
                    return model
        raise Replaced(f"{folder}: replaced repeatedly while it was opened. Run this command later")

    @classmethod
    def _open(cls, folder: Path) -> "Model":
        try:
            files = Folder(folder, FIX)
            part = files / "model.json"
            if not part.exists():
                raise FileNotFoundError if files.is_current() else Replaced
        except (FileNotFoundError, NotADirectoryError):
            if folder.exists():
                problem = "not a model; give the directory that ctxembed train wrote"
            else:
                problem = f"no such model; train one with: ctxembed train CORPUS -o {folder}"
            raise ModelError(f"{folder}: {problem}") from None
        except OSError as error:
            raise open_failure(folder, error, FIX) from None
        meta = read_json(part, FORMAT)
        for name, kind in KINDS.items():
            if not isinstance(meta.get(name), kind):
                raise files.damage(part.name, f"{name} is missing or wrong")
        apply_manifest(part, meta)
        return cls(folder, meta, files, open_attentions(files))

    @classmethod
    def from_vectors(cls, name: str, words: Sequence[str], vectors: Floats) -> "Model":
        """Return a model in memory of a few vectors (V, d), as in a worked example."""
        meta = {"vocabulary": len(words), "dim": vectors.shape[1], "tokens": len(words)}
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
        return self._read_vectors(self.files / "vectors.npy")

    def dequantize(self) -> None:
        """Keep vectors of 8 bits as float32 in memory: faster for many queries."""
        if isinstance(self.vectors, Quantized):
            self.vectors = np.asarray(self.vectors)

    @cached_property
    def mean(self) -> Floats:
        """(d,) mean of the static vectors; a shrunk copy keeps that of its original."""
        part = self.files / "mean.npy"
        return self._shaped(part, load(part), self.dim) if part.exists() else mean_of(self.vectors)

    @cached_property
    def units(self) -> Floats:
        """(V, d) static vectors of length 1."""
        return unit(self.vectors[:])

    @cached_property
    def centred(self) -> Floats:
        """(V, d) static vectors minus their mean, of length 1."""
        return unit(self.vectors[:] - self.mean)

    @cached_property
    def space(self) -> Space:
        """`units`, computed for the rows that are read."""
        return Space(self.vectors)

    @cached_property
    def centred_space(self) -> Space:
        """`centred`, computed for the rows that are read."""
        return Space(self.vectors, self.mean)

    @cached_property
    def output(self) -> Vectors | None:
        """(V, d) output vectors of word2vec, or None."""
        part = self.files / "output.npy"
        return self._read_vectors(part) if part.exists() else None

    @cached_property
    def frames(self) -> Frames | None:
        """(F, 2 K) counts of the words directly beside the frequent words, or None."""
        part = self.files / "frames.npy"
        if not part.exists():
            return None
        frames: Frames = load(part)
        rows, width = frames.shape if frames.ndim == 2 else (0, 1)
        if rows > len(self.vocabulary) or width % 2 or width > 2 * len(self.vocabulary):
            raise self.files.damage(part.name, f"shape {frames.shape}")
        return frames

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(V,) how often each word occurs."""
        part = self.files / "counts.npy"
        counts: NDArray[Any] = self._shaped(part, load(part), self.meta["vocabulary"])
        if counts.dtype.kind != "i":
            raise self.files.damage(part.name, f"{counts.dtype.name} numbers, not counts")
        return counts.astype(np.int64, copy=False)

    @cached_property
    def seen(self) -> NDArray[np.int64]:
        """(V,) how often each word occurs in the text that the vectors were trained on."""
        part, words = self.files / "seen.npy", self.meta["vocabulary"]
        return self._shaped(part, load(part), words) if part.exists() else self.counts

    @property
    def seen_tokens(self) -> int:
        """Number of words in the text that the vectors were trained on."""
        return int(self.meta.get("seen_tokens", self.tokens))

    @property
    def is_worked_example(self) -> bool:
        """Whether it was built from a few vectors in memory, without a directory."""
        return "format" not in self.meta

    @property
    def dim(self) -> int:
        """Length of a vector."""
        return int(self.meta["dim"])

    @property
    def tokens(self) -> int:
        """Number of words in the corpus, rare ones too."""
        return int(self.meta["tokens"])

    @cached_property
    def index(self) -> Index | None:
        """The corpus, or None (an imported model has none)."""
        folder, files = self.files / "index", self.meta.get("files", [])
        if not folder.is_dir():
            return None
        tokenizer = partial(open_tokenizer, self.meta, self.files)
        return Index(folder, self.vocabulary.words, files, tokenizer)

    def vector(self, word: str, space: Vectors | Space | None = None) -> Floats:
        """Return (d,) the vector of a word, the mean of its parts, here or in another space."""
        parts = self.vocabulary.parts(word)
        if not parts:
            raise UnknownWordError(self.vocabulary.unknown(word))
        return np.asarray((self.vectors if space is None else space)[parts].mean(axis=0))

    @property
    def fingerprint(self) -> str | None:
        """Checksum of its words, counts and vectors; None in a model of an early version."""
        checksum: str | None = self.meta.get("fingerprint")
        return checksum

    def __repr__(self) -> str:
        return f"<Model {self.path.name}: {self.meta['vocabulary']:,} words, {self.dim} dimensions>"

    def __len__(self) -> int:
        return int(self.meta["vocabulary"])

    def __iter__(self) -> Iterator[str]:
        return iter(self.vocabulary.words)

    def __contains__(self, word: str) -> bool:
        return bool(self.vocabulary.parts(word))

    def __getitem__(self, words: str | Sequence[str]) -> Floats:
        """Return (d,) the static vector of a word, or (n, d) those of several."""
        if isinstance(words, str):
            return self.vector(words)
        return np.array([self.vector(word) for word in words])

    def most_similar(
        self, positive: str | Sequence[str], topn: int = 10, *,
        negative: str | Sequence[str] = (), **options: Any,
    ) -> list[tuple[str, float]]:  # fmt: skip
        """Return the words nearest to a word, or to a sum of words minus others, with cosines.

        options: those of neighbors, min_count and raw.
        """
        table = look_up("combine")(self, positive, negative, topn, **options)
        return list(zip(table["word"], table["cosine"], strict=True))

    def similarity(self, one: str, other: str) -> float:
        """Return the cosine of two static vectors."""
        return float(unit(self[one]) @ unit(self[other]))

    def encode(self, sentences: str | Sequence[str], attention: str | None = None) -> Floats:
        """Return (n, d) the contextual vectors of sentences, as ctxembed.encode does."""
        vectors: Floats = look_up("encode")(self, sentences, attention)
        return vectors

    def __reduce__(self) -> Any:
        """Pickle its path, which must lead to this model where it is read; no vectors."""
        if self.whole is not None:
            raise TypeError("documents of a model cannot be pickled; pickle the Model")
        if self.is_worked_example:
            name = str(self.path.resolve() if self.path.exists() else self.path)
            return Model.from_vectors, (name, list(self.vocabulary.words), self.vectors[:])
        return _reopen, (os.path.abspath(self.path), manifest_checksum(self.meta))

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close its files; vectors that were read stay valid, other questions are refused."""
        if self.is_worked_example:
            return
        for folder in self.folders():
            folder.close()
        for name in list(vars(self)):
            if isinstance(getattr(Model, name, None), cached_property):
                delattr(self, name)
        self.senses = self.representations = None

    def check_unchanged(self, target: str | Path | None = None) -> None:
        """Refuse to go on if another model has replaced this one since it was opened.

        target: where a model is to be written; elsewhere than here, nothing is refused.
        """
        if target is not None and os.path.realpath(target) != os.path.realpath(self.path):
            return
        if self.whole is not None:
            raise UsageError(
                "nothing is saved with --where; leave it out, or index these documents"
            )
        if Model.open(self.path).meta != self.meta:
            raise ModelError(
                f"{self.path}: replaced by another model meanwhile; nothing was saved, run this"
                " command again"
            )

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Let no other process change or replace this model; refuse one that was replaced."""
        with hold(self.path):
            self.check_unchanged()  # not before: another run may have held the model until now
            yield

    def check_fingerprint(self, path: object, fingerprint: object, fix: str) -> None:
        """Refuse a file that was written for a model with another fingerprint."""
        if fingerprint is not None and fingerprint != self.fingerprint:
            raise ModelError(f"{path}: made for another model than {self.path}; {fix}")

    def size(self) -> int:
        """Return the bytes of its files and those of its attentions."""
        return sum(folder.size() for folder in self.folders())

    def folders(self) -> list[Folder]:
        """List its directory and those of its opened attentions."""
        return [self.files, *(part.folder for part in self.opened_attentions.values() if part)]

    def attentions(self) -> list[str]:
        """List the attentions learned for this model."""
        return sorted(self.opened_attentions)

    def _read_vectors(self, part: Part) -> Vectors:
        array = load(part)
        if array.dtype.kind != "f" and array.dtype != np.int8:
            raise self.files.damage(part.name, f"{array.dtype.name} numbers, not vectors")
        vectors: Vectors = Quantized(array) if array.dtype == np.int8 else array
        self._shaped(part, vectors, self.meta["vocabulary"], self.dim)
        # With a checksum this is known, without reading a large file each time.
        if self.files.listed is None:
            sizes: Floats = vectors.scales if isinstance(vectors, Quantized) else vectors
            if not (np.isfinite(sizes.sum()) or np.isfinite(sizes).all()):
                raise self.files.damage(part.name, "not a number")
        return vectors

    def _shaped(self, part: Part, array: Any, *shape: int) -> Any:
        """Return an array that was read from a file; refuse one of another shape."""
        if array.shape != shape:
            raise self.files.damage(part.name, f"shape {array.shape}, expected {shape}")
        return array


def _reopen(path: str, checksum: str) -> Model:
    """Return the model that was pickled; refuse another one in its place."""
    model = Model.open(path)
    if manifest_checksum(model.meta) != checksum:
        raise ModelError(f"{path}: not the model that was pickled; open it by its path")
    return model
