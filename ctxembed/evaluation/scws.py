"""Stanford's contextual word similarity: two words, each in its paragraph, rated by people."""

import math
from collections.abc import Sequence

from ctxembed.context.parse import Occurrence
from ctxembed.context.representations import Representation
from ctxembed.errors import CorpusError
from ctxembed.evaluation.figures import Scores
from ctxembed.evaluation.items import MOST, Reader
from ctxembed.evaluation.similarity import rank, without_context
from ctxembed.model.model import Model
from ctxembed.text.lines import numbered_lines


def scws(model: Model, path: str, ways: Sequence[Representation], seed: int) -> list[Scores]:
    """Score ratings.txt in context, and the same pairs as lone words."""
    reader = Reader(model)
    inside: tuple[list[Occurrence], list[Occurrence]] = ([], [])
    alone: tuple[list[Occurrence], list[Occurrence]] = ([], [])
    ratings = []
    for number, line in numbered_lines(path, MOST):
        parts = line.split("\t")
        try:
            ratings.append(float(parts[7]))
            if not math.isfinite(ratings[-1]):
                raise ValueError
            for which in (0, 1):
                word = parts[1 + 2 * which]
                inside[which].append(_find(reader, parts[5 + which], word))
                alone[which].append(reader.item([word], range(1)))
        except (IndexError, ValueError):
            raise CorpusError(
                f"{path}: line {number}: expected id, word, tag, word, tag, two texts with"
                " <b> word </b>, and the mean rating, between tabs"
            ) from None
    if not ratings:
        raise CorpusError(f"{path}: empty")
    lone = without_context(model, ways)
    return [
        rank("in context", *inside, ratings, ways, seed),
        rank("out of context", *alone, ratings, lone, seed),
    ]


def _find(reader: Reader, text: str, lemma: str) -> Occurrence:
    words = text.split()
    first, last = words.index("<b>"), words.index("</b>")
    del words[last], words[first]
    return reader.item(words, range(first, last - 1), lemma)
