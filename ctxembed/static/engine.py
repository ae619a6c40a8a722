"""Choose the engine that trains static vectors, and fit its settings to the corpus."""

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

# The `train` of an engine: from an index and the counts of its words to vectors (V, d), and output
# vectors where there are any.
Train = Callable[[Index, NDArray[np.int64], EngineSettings, Progress], tuple[Floats, Floats | None]]
# Settings by corpus size in words, interpolated over the logarithm of the size.
WORDS = (1e4, 1e5, 4e5, 2e6, 1e7, 1e8)
FITTING = {
    "dim": (25, 50, 64, 84, 100, 100),
    # Measured together (bench/README.md): up to 3 million words, these take 55 to 65 % of the
    # epochs that the rate before, 0.025, took to about the same quality. With 100 million,
    # 0.025 is the better rate.
    "epochs": (100, 34, 15, 10, 6, 5),
    "rate": (0.025, 0.05, 0.055, 0.045, 0.035, 0.025),
    "min_count": (1, 3, 5, 5, 5, 10),
    "window": (5, 5, 5, 10, 10, 10),
    "log_sample": (-3, -4, -4, -4, -4, -4.7),
}
MAX_SINGLE_WORKER = 1_000_000  # words up to which one worker is enough, and a run can be repeated


def fit_settings(tokens: int, **chosen: Any) -> EngineSettings:
    """Return settings for a corpus of this size in words; `chosen` overrides them."""
    size = math.log(max(1, tokens))
    fit = {name: float(np.interp(size, np.log(WORDS), v)) for name, v in FITTING.items()}
    chosen = {name: value for name, value in chosen.items() if value is not None}
    if chosen.get("hierarchical_softmax"):
        chosen.setdefault("negative", 0)
    fitted: dict[str, Any] = {
        "sample": float(f"{10 ** fit.pop('log_sample'):.2g}"),
        "workers": 1 if tokens <= MAX_SINGLE_WORKER else cores(),
        "rate": float(f"{fit.pop('rate'):.2g}"),
        **{name: round(value) for name, value in fit.items()},
    }
    return EngineSettings(**fitted | chosen)


def cores() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def choose(wanted: str, hierarchical: bool) -> tuple[str, Train, str | None]:
    """Return an engine's name, its train function and a note; auto: own if numba is installed."""
    from ctxembed.static import gensim_engine

    if wanted == "gensim" or (wanted == "auto" and hierarchical):
        gensim_engine.require_gensim()
        return "gensim", gensim_engine.train, None
    if hierarchical:
        raise UsageError("only gensim has --hierarchical-softmax; leave --engine own out")
    try:
        from ctxembed.static import own_engine
    except ImportError as error:
        if wanted == "own":
            problem = f"--engine own needs numba ({error}); install it with: pip install numba"
            raise UsageError(problem) from None
        gensim_engine.require_gensim()
        note = f"trained by gensim, which takes longer: {error}; pip install numba helps"
        return "gensim", gensim_engine.train, note
    return "own", own_engine.train, None
