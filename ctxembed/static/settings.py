"""What every engine is told."""

from dataclasses import dataclass

LEAST_RATE = 1e-4  # where the rate ends, having fallen in a line


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """What word2vec is told; engine.fit_settings fits what has no default here."""

    engine: str = "own"  # or "gensim"
    algorithm: str = "skipgram"  # or "cbow"
    dim: int
    window: int
    epochs: int
    min_count: int
    negative: int = 5  # 0 with hierarchical softmax
    hierarchical_softmax: bool = False
    sample: float
    rate: float = 0.025
    workers: int
    seed: int = 1
