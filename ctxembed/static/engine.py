"""What trains static vectors: which engine, and what it is told where the user leaves it open."""

import math
import os
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import UsageError
from ctxembed.progress import Progress
from ctxembed.static.settings import EngineSettings
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Index

# What an engine's file exports as `train`: given an index and how often each of its words occurs,
# it returns the vectors (V, d), row i for word i, and the output vectors where there are any.
Train = Callable[[Index, NDArray[np.int64], EngineSettings, Progress], tuple[Floats, Floats | None]]
# What fits a corpus: words, and what is told there; in between it follows the logarithm of words.
WORDS = (1e4, 1e5, 4e5, 2e6, 1e7, 1e8)
FITTING = {
    "dim": (25, 50, 64, 84, 100, 100),
    "epochs": (100, 50, 30, 18, 10, 5),
    "min_count": (1, 3, 5, 5, 5, 10),
    "window": (5, 5, 5, 10, 10, 10),
    "log_sample": (-3, -4, -4, -4, -4, -4.7),
}
ALONE = 1_000_000  # words up to which one worker is enough, and a run can be repeated


def fit_settings(tokens: int, **given: Any) -> EngineSettings:
    """Fill in what the user left open, to fit the size of the corpus.

    A small corpus gets more epochs, a lower min-count and fewer dimensions; one worker too, since
    there is little to gain and a run that can be repeated to lose.
    """
    fit = {
        name: float(np.interp(math.log(max(1, tokens)), np.log(WORDS), values))
        for name, values in FITTING.items()
    }
    given = {name: value for name, value in given.items() if value is not None}
    if given.get("hierarchical_softmax"):
        given.setdefault("negative", 0)
    fitted: dict[str, Any] = {
        "sample": float(f"{10 ** fit.pop('log_sample'):.2g}"),
        "workers": 1 if tokens <= ALONE else cores(),
        **{name: round(value) for name, value in fit.items()},
    }
    return EngineSettings(**fitted | given)


def cores() -> int:
    """Count the processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose(
    wanted: str, hierarchical_softmax: bool, progress: Progress
) -> tuple[str, Train, str | None]:
    """Return an engine's name, what trains, and what the user should know.

    `wanted` is "own", "gensim" or "auto": our own wherever it can run.
    """
    from ctxembed.static import gensim_engine

    if wanted == "gensim" or (wanted == "auto" and hierarchical_softmax):
        return "gensim", gensim_engine.train, None
    if hierarchical_softmax:
        raise UsageError("only gensim has --hierarchical-softmax; leave --engine own out")
    try:
        from ctxembed.static import own_engine
    except ImportError as error:
        if wanted == "own":
            raise UsageError(
                f"--engine own needs numba ({error}); install it with: pip install numba"
            ) from None
        told = f"trained by gensim, which takes longer: {error}; pip install numba helps"
        return "gensim", gensim_engine.train, told
    own_engine.prepare(progress)
    return "own", own_engine.train, None
