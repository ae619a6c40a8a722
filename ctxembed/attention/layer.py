"""The parameters of an attention layer: matrices, score terms, and how much of the word stays."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.terms import Term
from ctxembed.stats.vectors import Floats

MATRICES = ("w_q", "w_k", "w_v", "w_o", "b_q")
Parameters = Mapping[str, Floats]
Gradients = dict[str, Floats]
T = TypeVar("T", bound=Term)


@dataclass(frozen=True)
class Layer:
    """The numbers of a layer. Without matrices and terms it is the textbook's attention."""

    heads: int = 1
    w_q: Floats | None = None  # (H, d or 2d, dk)
    w_k: Floats | None = None  # (H, d, dk)
    w_v: Floats | None = None  # (H, d, dv)
    w_o: Floats | None = None  # (H, dv, d)
    b_q: Floats | None = None  # (H, dk) added to every query
    scale: float = 1.0  # what q·k is multiplied by
    unit: bool = False  # words are compared at length 1: without matrices, scores are cosines
    skip_self: bool = False  # a word is left out of its own weights
    own: float = 0.0  # how much of the word itself stays
    share: float = 1.0  # how much of the context comes in
    looks_twice: bool = False  # the queries of the other heads include the first head's result
    terms: tuple[Term, ...] = ()

    def parameters(self) -> Gradients:
        """Return the arrays that can be learned, by name."""
        named = {name: getattr(self, name) for name in MATRICES}
        named["own"] = np.array([self.own], np.float32 if self.w_q is None else self.w_q.dtype)
        named |= {term.name: term.by_head for term in self.terms}
        return {name: array for name, array in named.items() if array is not None}

    def updated(self, parameters: Parameters) -> "Layer":
        """Return a copy of the layer with these parameters replaced."""
        new: dict[str, Any] = dict(parameters)
        own = float(new.pop("own")[0]) if "own" in new else self.own
        terms = tuple(replace(t, by_head=new.pop(t.name, t.by_head)) for t in self.terms)
        return replace(self, own=own, terms=terms, **new)

    def term(self, kind: type[T]) -> T | None:
        """Return the term of a kind, if the layer has one."""
        return next((term for term in self.terms if isinstance(term, kind)), None)

    def only(self, rows: NDArray[Any]) -> "Layer":
        """Return the layer for a vocabulary of these rows, in this order."""
        terms = (t if t.words is None else replace(t, words=t.words[rows]) for t in self.terms)
        return replace(self, terms=tuple(terms))

    def some_heads(self, heads: slice) -> "Layer":
        """Return the layer with only these heads."""
        by_head = {k: part for k, part in self.parameters().items() if len(part) == self.heads}
        cut = self.updated({name: part[heads] for name, part in by_head.items()})
        return replace(cut, heads=len(range(self.heads)[heads]), looks_twice=False)
