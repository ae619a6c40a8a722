"""gensim's KeyedVectors, read without running what a pickle asks to be run."""

import pickle
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, read_failure
from ctxembed.storage.arrays import map_array

# All that a KeyedVectors file needs. Whatever else a pickle names is refused, not imported.
_NUMPY = {
    (f"numpy.{core}", name)
    for core in ("core.multiarray", "_core.multiarray", "core.numeric", "_core.numeric")
    for name in ("_reconstruct", "_frombuffer", "scalar")
} | {("numpy", "ndarray"), ("numpy", "dtype"), ("_codecs", "encode")}
_GENSIM = {
    ("gensim.models.keyedvectors", name)
    for name in ("KeyedVectors", "Word2VecKeyedVectors", "EuclideanKeyedVectors", "Vocab")
}


class _Plain:
    """Stands for any gensim object: attributes, no behaviour."""


class _Reader(pickle.Unpickler):
    def find_class(self, module: str, name: str) -> Any:
        if (module, name) in _GENSIM:
            return _Plain
        if (module, name) in _NUMPY:
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"it asks for {module}.{name}")


def read_keyed_vectors(
    path: Path,
) -> tuple[list[str], NDArray[np.float32], NDArray[np.int64] | None]:
    """Return words, vectors (V, d) and, where the file has them, counts (V,)."""
    try:
        with path.open("rb") as file:
            state = vars(_Reader(file).load())
    except OSError as error:
        raise ModelError(read_failure(path, error)) from None
    except Exception as error:  # a damaged pickle raises anything
        raise ModelError(
            f"{path}: not read as gensim's KeyedVectors ({error}); open it with gensim where you"
            " trust it, and save it by .wv.save_word2vec_format('vectors.bin', binary=True)"
        ) from None
    words = state.get("index_to_key", state.get("index2word"))
    vectors = state.get("vectors", state.get("syn0"))
    if vectors is None:  # large arrays lie beside the file
        beside = Path(f"{path}.vectors.npy")
        try:
            vectors = map_array(beside)
        except (OSError, ValueError) as error:
            raise ModelError(f"{beside}: cannot be read, and {path} needs it: {error}") from None
    if not isinstance(words, list) or getattr(vectors, "ndim", 0) != 2:
        raise ModelError(f"{path}: no words and vectors in it")
    if len(words) != len(vectors):
        raise ModelError(f"{path}: {len(words)} words, but {len(vectors)} vectors")
    return [str(word) for word in words], vectors, _counts(state, words)


def _counts(state: dict[str, Any], words: list[str]) -> NDArray[np.int64] | None:
    expandos, old = state.get("expandos"), state.get("vocab")
    found = expandos.get("count") if isinstance(expandos, dict) else None
    if found is None and isinstance(old, dict):  # gensim 3
        found = [getattr(old.get(word), "count", 0) for word in words]
    try:
        counts = np.asarray(found, np.int64)
    except (TypeError, ValueError, OverflowError):
        return None  # no counts, whatever it is
    sound = counts.shape == (len(words),) and counts.min(initial=0) >= 0 and counts.any()
    return counts if sound else None
