"""CBOW and skip-gram by gensim, and its file format. The only file that imports gensim."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError, CtxembedError, UsageError
from ctxembed.progress import Progress
from ctxembed.static.settings import FINAL_RATE, EngineSettings
from ctxembed.stats.vectors import Floats
from ctxembed.text.build_index import sentence_chunks
from ctxembed.text.index import Index


def require_gensim() -> None:
    """Raise UsageError if gensim is missing: Python 3.14 has no wheel of it."""
    try:
        import gensim  # noqa: F401
    except ImportError:
        install = "Install it with: pip install 'ctxembed[gensim]' (Python 3.14: with a C compiler)"
        raise UsageError(f"gensim is missing. {install}") from None


def train(
    index: Index, counts: NDArray[np.int64], settings: EngineSettings, progress: Progress
) -> tuple[Floats, Floats | None]:
    """Return the vectors (V, d), and word2vec's output vectors if there are any."""
    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    logging.getLogger("gensim").setLevel(logging.ERROR)
    words, tokens, sentences = index.vocab, int(counts.sum()), len(index.offsets) - 1
    if settings.hierarchical_softmax and len(words) < 2:
        raise CorpusError("one word makes no tree; leave --hierarchical-softmax out")
    errors: list[Exception] = []

    class Watched(Word2Vec):  # type: ignore[misc]
        """Ends when a worker thread fails; gensim would wait for it for ever."""

        def _worker_loop_corpusfile(self, *args: Any, **kwargs: Any) -> None:
            try:
                super()._worker_loop_corpusfile(*args, **kwargs)
            except Exception as error:
                errors.append(error)
                (kwargs.get("progress_queue") or args[4]).put(None)  # this thread has ended

    model = Watched(
        sg=int(settings.algorithm == "skipgram"), hs=int(settings.hierarchical_softmax),
        vector_size=settings.dim, window=settings.window, negative=settings.negative,
        alpha=settings.rate, min_alpha=min(settings.rate, FINAL_RATE), sample=settings.sample,
        seed=settings.seed, workers=settings.workers, epochs=settings.epochs,
        min_count=1, sorted_vocab=0,  # rows are in our order already
    )  # fmt: skip
    frequencies = dict(zip(words, counts.tolist(), strict=True))
    model.build_vocab_from_freq(frequencies, corpus_count=sentences)
    assert isinstance(index.folder, Path)  # a model that is being written
    text = index.folder / "text"  # of at most 1,000 words a line; gensim reads no more than 10,000
    write_sentences(index.folder, words, text)
    with progress.stage("word2vec", tokens * settings.epochs, "word") as stage:

        class Advance(CallbackAny2Vec):  # type: ignore[misc]
            def on_epoch_end(self, model: Any) -> None:
                if errors:
                    raise CtxembedError(f"word2vec cannot be trained: {errors[0]}")
                stage.advance(tokens)

        model.train(
            corpus_file=os.fsencode(text),  # gensim takes a string for UTF-8
            total_words=tokens,
            # Each worker compares its own sentences with this number to lower its learning rate.
            total_examples=max(1, sentences // settings.workers),
            epochs=settings.epochs,
            callbacks=[Advance()],
        )
    text.unlink()
    return model.wv.vectors, model.syn1neg if settings.negative else None


def write_sentences(folder: Path, words: Sequence[str], target: Path) -> None:
    """Write the sentences of the index in a folder to a text file, one a line, known words only."""
    table = np.array([*(word + " " for word in words), "\n"], dtype=object)
    with target.open("w", encoding="utf-8", newline="\n") as file:
        for chunk, bounds in sentence_chunks(folder, 1 << 18):
            chunk[chunk >= len(words)] = -1
            chunk = np.insert(chunk, bounds[1:], len(words))  # a line break after each
            file.write("".join(table[chunk[chunk >= 0]]))


def save_keyed_vectors(
    file: IO[bytes], words: Sequence[str], counts: NDArray[np.int64], vectors: Floats
) -> None:
    """Write gensim's own KeyedVectors, which KeyedVectors.load opens."""
    require_gensim()
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(list(words), np.array(vectors))
    keyed.expandos["count"] = np.array(counts)  # `extras=` of add_vectors fails in gensim 4.4
    keyed.save(file)
