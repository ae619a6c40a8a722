"""CBOW and skip-gram. The only file that imports gensim."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import CorpusError, CtxembedError
from ctxembed.progress import Progress
from ctxembed.static.space import Floats


@dataclass(frozen=True)
class Settings:
    """What word2vec is told; gensim's names are in the comments."""

    algorithm: str  # sg: "cbow" or "skipgram"
    dim: int  # vector_size
    window: int
    epochs: int
    min_count: int
    negative: int  # 0 with hierarchical softmax
    hierarchical_softmax: bool  # hs
    sample: float
    workers: int
    seed: int


SIZES = (10_000, 100_000, 1_000_000)  # words; settings change above each


def fit_settings(tokens: int, *, workers: int | None = None, **given: Any) -> Settings:
    """Fill in what the user left open, to fit the size of the corpus.

    A small corpus gets more epochs, a lower min-count and fewer dimensions; one worker too, since
    there is little to gain and a run that can be repeated to lose.
    """
    size = sum(tokens > most for most in SIZES)
    chosen: dict[str, Any] = {
        "algorithm": "skipgram",
        "dim": (25, 50, 64, 100)[size],
        "window": 5,
        "epochs": (100, 50, 30, 10)[size],
        "min_count": (1, 2, 5, 5)[size],
        "negative": 5,
        "hierarchical_softmax": False,
        "sample": (0.0, 1e-3, 1e-4, 1e-5)[size],
        "seed": 1,
        "workers": workers or (1 if size < 3 else cores()),
    }
    chosen |= {name: value for name, value in given.items() if value is not None}
    if chosen["hierarchical_softmax"] and given.get("negative") is None:
        chosen["negative"] = 0
    return Settings(**chosen)


def cores() -> int:
    """Count the processors that this process may use."""
    import os

    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def train(
    text: Path,
    words: list[str],
    counts: NDArray[np.int64],
    sentences: int,
    settings: Settings,
    progress: Progress,
) -> tuple[Floats, Floats | None]:
    """Return the vectors, and word2vec's output vectors where there are any, row by word.

    `text` holds exactly `words`, one sentence a line of at most 10,000 of them.
    """
    import logging
    import os

    from gensim.models import Word2Vec
    from gensim.models.callbacks import CallbackAny2Vec

    logging.getLogger("gensim").setLevel(logging.ERROR)
    tokens = int(counts.sum())
    if settings.hierarchical_softmax and len(words) < 2:
        raise CorpusError("one word makes no tree; leave --hierarchical-softmax out")
    died: list[Exception] = []

    class Watched(Word2Vec):  # type: ignore[misc]
        """gensim waits for ever for a thread that has died; here it is told, and so are we."""

        def _worker_loop_corpusfile(self, *given: Any, **more: Any) -> None:
            try:
                super()._worker_loop_corpusfile(*given, **more)
            except Exception as error:
                died.append(error)
                (more.get("progress_queue") or given[4]).put(None)  # this thread has ended

    model = Watched(
        sg=int(settings.algorithm == "skipgram"),
        vector_size=settings.dim,
        window=settings.window,
        min_count=1,
        negative=settings.negative,
        hs=int(settings.hierarchical_softmax),
        sample=settings.sample,
        workers=settings.workers,
        seed=settings.seed,
        epochs=settings.epochs,
        sorted_vocab=0,  # rows are in our order already
    )
    model.build_vocab_from_freq(
        dict(zip(words, counts.tolist(), strict=True)), corpus_count=sentences
    )
    with progress.stage("word2vec", tokens * settings.epochs, "word") as stage:

        class Tell(CallbackAny2Vec):  # type: ignore[misc]
            def on_epoch_end(self, model: Any) -> None:
                if died:
                    raise CtxembedError(f"word2vec cannot be trained: {died[0]}")
                stage.advance(tokens)

        model.train(
            corpus_file=os.fsencode(text),  # gensim takes a string for UTF-8
            total_words=tokens,
            # Each worker compares its own sentences with this number to lower its learning rate.
            total_examples=max(1, sentences // settings.workers),
            epochs=settings.epochs,
            callbacks=[Tell()],
        )
    output = model.syn1neg if settings.negative else None
    return model.wv.vectors, output


def save_keyed_vectors(
    file: IO[bytes], words: Sequence[str], counts: NDArray[np.int64], vectors: Floats
) -> None:
    """Write gensim's own KeyedVectors, which KeyedVectors.load opens."""
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(vectors.shape[1])
    keyed.add_vectors(list(words), np.array(vectors))
    keyed.expandos["count"] = np.array(counts)  # `extras=` of add_vectors fails in gensim 4.4
    keyed.save(file)
