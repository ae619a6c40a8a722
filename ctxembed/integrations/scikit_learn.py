"""ContextVectorizer: a scikit-learn transformer from sentences to contextual vectors."""

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_representation
from ctxembed.errors import UnknownWordError, UsageError
from ctxembed.model.bundled import open_model
from ctxembed.queries.vectorize import encode
from ctxembed.stats.vectors import Floats

if TYPE_CHECKING:
    from ctxembed.model.model import Model


class ContextVectorizer(TransformerMixin, BaseEstimator):
    """Turn sentences with a marked target, `the [bank] of the river`, into contextual vectors.

    A sentence with several marked targets gives their mean, one without any the mean of its words.

    model: a path, english, everyday, or None for the model that a command would use.
    attention: static, bag, general, learned or another name; None for the model's own choice.
    unknown: zeros gives a sentence without known words a vector of zeros, error raises.

    >>> vectorizer = ContextVectorizer("everyday", attention="general")
    >>> vectorizer.fit_transform(["the [bank] of the river", "money in the [bank]"]).shape
    (2, 64)
    """

    def __init__(
        self,
        model: "Model | str | Path | None" = None,
        attention: str | None = None,
        unknown: str = "zeros",
    ) -> None:
        self.model = model
        self.attention = attention
        self.unknown = unknown

    def fit(self, X: Iterable[str], y: Any = None) -> "ContextVectorizer":
        """Open the model and check the options; nothing is learned from the sentences."""
        _list_sentences(X)
        if self.unknown not in ("zeros", "error"):
            raise UsageError(f"unknown={self.unknown!r}: choose zeros or error")
        self.model_ = open_model(self.model)
        choice = choose_representation(Representations.of(self.model_), self.attention, None)
        self.n_features_out_ = choice.dim
        return self

    def transform(self, X: Iterable[str]) -> Floats:
        """Return (n, d) the contextual vector of each sentence."""
        check_is_fitted(self, "model_")
        lines = _list_sentences(X)
        vectors = encode(self.model_, lines, self.attention)
        missing = np.isnan(vectors).any(axis=1)
        if self.unknown == "error" and missing.any():
            line = int(missing.argmax())
            text = lines[line] if len(lines[line]) <= 60 else f"{lines[line][:59]}…"
            raise UnknownWordError(
                f"sentence {line + 1}, {text!r}: its target is not in the vocabulary"
            )
        vectors[missing] = 0
        return vectors

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """Return the names of the columns: d1, d2 and so on."""
        check_is_fitted(self, "model_")
        return np.array([f"d{i}" for i in range(1, self.n_features_out_ + 1)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        """Say what the input is, for scikit-learn: texts, and no state that depends on them."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.transformer_tags.preserves_dtype = []
        tags.no_validation = True
        return tags


def _list_sentences(X: Iterable[str]) -> list[str]:
    """Return the sentences of a list, an array or a column of a data frame."""
    if isinstance(X, str):
        raise ValueError("Give a list of sentences, not one string.")
    lines = list(X)
    if wrong := next((line for line in lines if not isinstance(line, str)), None):
        kind = type(wrong).__name__
        raise ValueError(f"Give a list of sentences; one of them is of the type {kind}.")
    return lines
