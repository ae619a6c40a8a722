"""What every engine is told."""

from dataclasses import dataclass

LEAST_RATE = 1e-4  # where the rate ends, having fallen in a line


@dataclass(frozen=True)
class EngineSettings:
    """What word2vec is told."""

    engine: str  # "own" or "gensim"
    algorithm: str  # "cbow" or "skipgram"
    dim: int
    window: int
    epochs: int
    min_count: int
    negative: int  # 0 with hierarchical softmax
    hierarchical_softmax: bool
    sample: float
    rate: float
    workers: int
    seed: int
