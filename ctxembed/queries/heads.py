"""Measure what each head of an attention looks at, over sentences of a corpus.

Each sentence is followed by another one, as a clause about something else: a word's own clause is
the sentence that it comes from.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice, pairwise

import numpy as np

from ctxembed.context.parse import Occurrence, Parsed, parse
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention
from ctxembed.errors import UsageError
from ctxembed.model.bundled import corpora_directory, on_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.tokenizer import is_content

SENTENCES = 400  # measured
MIN_WORDS = 6  # of a sentence, so that there is a choice
NEAR = 2  # words to either side that are near
MIN_LEAD = 0.1  # above the mean of the other heads; less is no difference
EVEN = "even"  # the row of a head that has the same weight for each word
PROPERTIES = {
    "near": f"on words at most {NEAR} words away",
    "clause": "on words of its own sentence, not of the one that was added",
    "similar": "on the more similar half of the words, by the cosine of static vectors",
    "content": "on content words, which are no function words such as the and of",
}
HEADS = (
    Column("head", f"its number; {EVEN}: a head with the same weight for each word", "label"),
    *(Column(name, f"share of its weight {meaning}") for name, meaning in PROPERTIES.items()),
    Column("part", "mean part of the contextual vectors that comes from this head"),
    Column("looks_at", "what it has most above the other heads; * if nothing by 0.1", "text"),
)
WORDING = {
    "near": "near words", "clause": "same clause", "similar": "similar words",
    "content": "content words",
}  # fmt: skip


@dataclass
class Shares:
    """The shares of the weights of each head, and of even weights, summed over targets."""

    heads: int
    targets: int = 0
    sums: Floats = field(init=False)  # (H + 1, properties), the last row is of even weights
    parts: Floats = field(init=False)  # (H,)

    def __post_init__(self) -> None:
        self.sums = np.zeros((self.heads + 1, len(PROPERTIES)))
        self.parts = np.zeros(self.heads)

    def add(self, weights: Floats, parts: Floats, has: Floats, context: Floats) -> None:
        """Add a target: weights (H, T), parts (H,), properties (P, T), and what is context (T,)."""
        even = context / context.sum()
        self.sums += np.vstack([weights, even]) @ has.T
        self.parts += parts
        self.targets += 1


@on_model(*HEADS)
def heads(model: Model, *, attention: str | None = None) -> Table:
    """Return the share of each head's weight that lies on near, similar and other words.

    They are measured on sentences of the model's corpus, or of the bundled one if it has no text.
    """
    representations = Representations.of(model)
    chosen = choose_attention(representations, attention, None)
    shares = Shares(chosen.layer.heads)
    for sentence, added in pairwise(_sentences(model)):
        _measure(representations, chosen, sentence, added, shares)
    if not shares.targets:
        raise UsageError("no sentence of the corpus has words of this model to measure")
    means = shares.sums / shares.targets
    rows = [*_rows(means, shares.parts / shares.targets)]
    source = "its corpus" if model.index is not None else "the bundled corpus everyday"
    notes = [
        f"{shares.targets} content words in sentences of {source}; after each sentence another one"
        " was added, as a clause about something else"
    ]
    title = f"{chosen.name} attention: where the weights of each head lie"
    chart = Chart("heat", [*PROPERTIES], label=["head"], domain=(0, 1), title=title)
    return Table(HEADS, rows, notes, chart=chart)


def _rows(means: Floats, parts: Floats) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each head, and one for even weights."""
    *each, even = means
    for at, share in enumerate(each):
        others = np.delete(means[:-1], at, axis=0) if len(each) > 1 else even[None]
        lead = share - others.mean(axis=0)
        best = int(lead.argmax())
        name = WORDING[[*PROPERTIES][best]] if lead[best] >= MIN_LEAD else "*"
        yield str(at + 1), *share.tolist(), float(parts[at]), name
    yield EVEN, *even.tolist(), None, None


def _sentences(model: Model) -> Iterator[Parsed]:
    """Yield sentences of the model's corpus, or of the bundled one, evenly spread."""
    texts: Sequence[str]
    if (index := model.index) is not None:
        chosen = np.linspace(0, len(index.offsets) - 2, 4 * SENTENCES).astype(int)
        texts = [" ".join(index.words(index.sentence(int(i)))) for i in chosen]
    else:
        lines = (corpora_directory() / "everyday.txt").read_text(encoding="utf-8").splitlines()
        texts = lines[:: max(1, len(lines) // (4 * SENTENCES))]
    long = (parse(model, text) for text in texts if len(text.split()) >= MIN_WORDS)
    yield from islice((parsed for parsed in long if len(parsed.words) >= MIN_WORDS), SENTENCES)


def _measure(
    representations: Representations, attention: Attention, sentence: Parsed, added: Parsed,
    shares: Shares,
) -> None:  # fmt: skip
    """Add the weights of each content word of a sentence that is followed by another one."""
    own = [item for item in sentence.occurrences if len(item.target) == 1]
    words, size = [*sentence.words, *added.words], len(sentence.words)
    ids = np.concatenate([own[0].ids, added.occurrences[0].ids]) if own else np.array([], int)
    items = [Occurrence(ids, item.target) for item in own]
    vectors = unit(np.asarray(representations.model.vectors[ids]))
    content = [
        is_content(word, float(representations.frequency[row]))
        for word, row in zip(words, ids, strict=bool(own))
    ]
    places = np.arange(len(ids))
    for item, trace in zip(items, attention.run(items).traces, strict=True):
        at = item.target.start
        cosines, context = vectors @ vectors[at], places != at
        has = np.array([
            np.abs(places - at) <= NEAR,
            places < size,
            cosines > np.median(cosines[context]),
            content,
        ], np.float64)  # fmt: skip
        parts = trace.contributions.sum(axis=1)
        shares.add(trace.weights.astype(np.float64), parts, has, context.astype(np.float64))
