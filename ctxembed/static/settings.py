"""The settings of an engine."""

from dataclasses import dataclass

FINAL_RATE = 1e-4  # the learning rate falls linearly to this


@dataclass(frozen=True, kw_only=True)
class EngineSettings:
    """Settings of word2vec; engine.fit_settings fills in those without a default."""

    engine: str = "own"  # or "gensim"
    algorithm: str = "skipgram"  # or "cbow"
    dim: int
    window: int
    epochs: int
    min_count: int
    negative: int = 5  # 0 with hierarchical softmax
    hierarchical_softmax: bool = False
    sample: float
    rate: float = 0.025  # the first one
    workers: int
    seed: int = 1
