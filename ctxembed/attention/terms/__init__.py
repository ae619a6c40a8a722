"""Score terms: what raises or lowers a score beside q·k. A new one is a file and a line here."""

from ctxembed.attention.terms.distance import Distance
from ctxembed.attention.terms.term import Seen, Term
from ctxembed.attention.terms.walls import Walls
from ctxembed.attention.terms.word_bias import WordBias

TERMS: dict[str, type[Term]] = {term.name: term for term in (Distance, WordBias, Walls)}

__all__ = ["TERMS", "Distance", "Seen", "Term", "Walls", "WordBias"]
