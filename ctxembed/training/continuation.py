"""Continue the training of a model with more text: its words begin where they were."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, UsageError
from ctxembed.model.bundled import ModelLike, bundled_name, open_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.text.tokenizer import Tokenizer

RATE = 0.025  # a higher one would undo what was learned
KEPT = ("algorithm", "window", "negative")  # settings that go on unless others are given


@dataclass(frozen=True)
class Continuation:
    """A model that goes on being trained."""

    model: Model

    @classmethod
    def of(cls, model: ModelLike) -> "Continuation":
        """Return the continuation of a model; raise an error if it cannot go on."""
        opened = open_model(model)
        name = bundled_name(opened.path) or opened.path
        if opened.output is None:
            missing = "has no output vectors of word2vec, which training needs"
            raise ModelError(f"{name}: {missing}. Take a model that ctxembed train wrote")
        if type(opened.vocabulary.tokenizer) is not Tokenizer:
            raise UsageError(f"{name}: only models of words go on, without --unit and --phrases")
        return cls(opened)

    @property
    def tokenizer(self) -> Tokenizer:
        """The tokenizer of the model, which splits the new text too."""
        return self.model.vocabulary.tokenizer

    def fit(self, chosen: dict[str, Any]) -> dict[str, Any]:
        """Return the settings that were chosen, completed by those of the model."""
        if chosen.get("dim") not in (None, self.model.dim):
            has = f"the model has {self.model.dim} dimensions"
            raise UsageError(f"--dim {chosen['dim']}: {has}; leave --dim out with --from")
        if chosen.get("hierarchical_softmax"):
            raise UsageError("--hierarchical-softmax cannot be used with --from")
        given = {name: value for name, value in chosen.items() if value is not None}
        before = self.model.meta.get("word2vec", {})
        kept = {name: before[name] for name in KEPT if before.get(name)}
        return {"rate": RATE, **kept, **given, "dim": self.model.dim}

    def place(self, vectors: Floats, outputs: Floats, words: Sequence[str]) -> None:
        """Write the model's vectors and output vectors (V, d) into the rows of its words."""
        found = [self.model.vocabulary.rows.get(word, -1) for word in words]
        rows = np.array(found, np.intp)
        known = rows >= 0
        assert self.model.output is not None
        vectors[known] = self.model.vectors[rows[known]]
        outputs[known] = self.model.output[rows[known]]

    def seen(self, words: Sequence[str], counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return (V,) how often each word was read, then and now."""
        rows = [self.model.vocabulary.rows.get(word, -1) for word in words]
        before = np.append(self.model.seen, 0)[rows]
        return np.asarray(counts + before, np.int64)

    def describe(self) -> dict[str, Any]:
        """Return what model.json says about where training began."""
        name = bundled_name(self.model.path) or self.model.path.name
        return {"continued_from": {"name": name, "fingerprint": self.model.fingerprint}}
