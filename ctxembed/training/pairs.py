"""Show on one sentence what CBOW and skip-gram train on, and what one update changes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import cast

import numpy as np

from ctxembed.errors import UsageError
from ctxembed.static.pairs import ALGORITHMS, Pair, apply_update, compute_update, list_pairs
from ctxembed.stats.vectors import Floats
from ctxembed.table import Chart, Column, Row, Table, answers
from ctxembed.text.tokenizer import Tokenizer

MAX_WORDS = 200  # of a sentence
MAX_DRAWN = 100  # words of a sentence that fit a picture
RATE = 0.025
PAIR = (
    Column("algorithm", "cbow or skipgram", "label"),
    Column("pair", "its number, for --update"),
    Column("input", "the word that predicts; in cbow the mean of all context words", "label"),
    Column("output", "the word to be predicted: label 1", "label"),
    Column("negatives", "random words that should not be predicted: label 0", "text"),
)
UPDATE = (
    Column("vector", "with --update: which of its two vectors, output or input; or mean", "label"),
    Column("word", "with --update: the word, or the words of the mean", "label"),
    Column("label", "of an output: 1, or 0 for a negative"),
    Column("score", "of an output: x·c, the input vector times the output vector"),
    Column("sigmoid", "of an output: 1 / (1 + exp(-score)), the predicted label"),
    Column("error", "of an output: sigmoid less label"),
    Column("before", "its numbers before the update: before_1, before_2, ...", "vector"),
    Column("gradient", "of the loss by these numbers", "vector"),
    Column("after", "before less rate times gradient", "vector"),
)


@answers(*PAIR, *UPDATE)
def training_pairs(
    sentence: str,
    *,
    update: int | None = None,
    algorithm: str | None = None,
    dim: int = 2,
    window: int = 2,
    negative: int = 2,
    rate: float = RATE,
    seed: int = 1,
    tokenizer: Tokenizer | None = None,
) -> Table:
    """List the pairs that CBOW and skip-gram, or one of them, make of a sentence.

    update: the number of a pair; what one step on it does to each vector instead. The vectors of
    `dim` numbers are random, from the seed.
    """
    tokens = (tokenizer or Tokenizer()).words(sentence)
    if not 2 <= len(tokens) <= MAX_WORDS:
        raise UsageError(f"--pairs needs a sentence of 2 to {MAX_WORDS} words, not {len(tokens)}")
    words = list(dict.fromkeys(tokens))
    ids = [words.index(token) for token in tokens]
    pairs = [
        pair
        for number, name in enumerate(ALGORITHMS)
        if algorithm in (None, name)
        for pair in list_pairs(ids, name, window, negative, np.random.default_rng([seed, number]))
    ]
    notes = []
    if len(words) <= negative:
        notes.append(f"{len(words)} different words: no more than {len(words) - 1} negatives")
    if update is not None:
        if not 1 <= update <= len(pairs):
            raise UsageError(f"--update {update}: the pairs are 1 to {len(pairs)}")
        vectors, outputs = start_vectors(len(words), dim, seed)
        return _tabulate_update(pairs[update - 1], words, vectors, outputs, rate, notes)
    rows = [
        (
            pair.algorithm, number, _name_inputs(pair, words), words[pair.output],
            [words[i] for i in pair.negatives],
        )
        for number, pair in enumerate(pairs, 1)
    ]  # fmt: skip
    notes.append("--update N shows what pair N does to the vectors")
    chart = Chart(
        "heat", ["label"], "output", ["input"], panel=["algorithm"], domain=(0, 1),
        title="label of input and output", of=lambda: _label_pairs(pairs, words),
    )  # fmt: skip
    return Table(PAIR, rows, notes, chart=chart if len(tokens) <= MAX_DRAWN else None)


def start_vectors(words: int, dim: int, seed: int) -> tuple[Floats, Floats]:
    """Return random vectors and output vectors (V, d), of one digit: easy to check by hand."""
    start = np.random.default_rng(seed).integers(-9, 10, (2, words, dim)) / 10
    return start[0], start[1]


def _label_pairs(pairs: list[Pair], words: list[str]) -> Table:
    """Return a row for each input with each word, its label or None, for the picture."""
    labels: dict[tuple[str, str], dict[int, int]] = {}
    for pair in pairs:
        by_output = labels.setdefault((pair.algorithm, _name_inputs(pair, words)), {})
        for word in pair.negatives:
            by_output.setdefault(word, 0)
        by_output[pair.output] = 1  # even if it is a negative of another pair
    rows = [
        (*key, word, by_output.get(i))
        for key, by_output in labels.items()
        for i, word in enumerate(words)
    ]
    return Table((PAIR[0], PAIR[2], PAIR[3], UPDATE[2]), rows)


def _name_inputs(pair: Pair, words: list[str]) -> str:
    return " ".join(words[i] for i in pair.inputs)


def _tabulate_update(
    pair: Pair, words: list[str], vectors: Floats, outputs: Floats, rate: float, notes: list[str]
) -> Table:
    """Return a row for each vector of a pair: first its outputs, then its inputs."""
    step = compute_update(pair, vectors, outputs)
    new_vectors, new_outputs = apply_update(pair, step, vectors, outputs, rate)
    rows: list[Row] = []
    for j, word in enumerate([pair.output, *pair.negatives]):
        label, error = int(j == 0), float(step.errors[j])
        numbers = outputs[word], step.by_outputs[j] + 0.0, new_outputs[word]  # no -0.0
        known = label, float(step.scores[j]), error + label, error
        rows.append(("output", words[word], *known, *numbers))
    empty = (None,) * 4
    if pair.algorithm == "cbow":
        mean = step.x, step.by_input, new_vectors[pair.inputs].mean(axis=0)
        rows.append(("mean", _name_inputs(pair, words), *empty, *mean))
    for word in dict.fromkeys(pair.inputs):
        gradient = pair.inputs.count(word) * step.by_input
        rows.append(("input", words[word], *empty, vectors[word], gradient, new_vectors[word]))
    after = compute_update(pair, new_vectors, new_outputs)
    notes = [
        *notes,
        f"{pair.algorithm}, rate {rate:g}: the loss of this pair goes from {step.loss:.4f} to"
        f" {after.loss:.4f}",
    ]
    parts = range(1, len(step.x) + 1)
    columns = [
        replace(c, parts=[f"{c.name}_{i}" for i in parts]) if c.role == "vector" else c
        for c in UPDATE
    ]
    chart = Chart(
        "bars", ["gradient"], label=["vector", "word"], panel=["dimension"],
        title=f"{pair.algorithm}: gradient; each number moves by -{rate:g} times it",
        of=lambda: _list_gradients(rows),
    )  # fmt: skip
    return Table(columns, rows, notes, chart=chart)


def _list_gradients(rows: Sequence[Row]) -> Table:
    """Return a row for each number of each vector, for the picture."""
    lines: list[Row] = []
    for row in rows:
        numbered = enumerate(cast(Floats, row[7]).tolist(), 1)
        lines += [(row[0], row[1], f"number {i}", gradient) for i, gradient in numbered]
    return Table((UPDATE[0], UPDATE[1], "dimension", "gradient"), lines)


def lay_out_update(table: Table, rate: float) -> Iterator[Table]:
    """Yield two tables: the scores and errors of the outputs, and every vector before and after."""
    rows, columns = list(table.rows), table.columns
    outputs = [row[1:6] for row in rows if row[0] == "output"]
    title = "score = x·c; sigmoid = 1 / (1 + exp(-score)); error = sigmoid - label"
    charts = [replace(chart, of=chart.of or (lambda: table)) for chart in table.charts]
    yield Table(columns[1:6], outputs, table.notes, chart=charts, title=title)
    title = (
        f"gradient by c = error x, by x = the sum of error c; after = before - {rate:g} gradient"
    )
    kept = [0, 1, *range(6, len(columns))]
    vectors = [[row[i] for i in kept] for row in rows]
    yield Table([columns[i] for i in kept], vectors, title=title)
