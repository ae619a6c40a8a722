"""Train W_Q, W_K, W_V on the few sentences of a worked example; show the numbers of every step."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ctxembed.attention.training.descent import LEARNED, Epoch, Example, descend, random_head
from ctxembed.context.parse import parse
from ctxembed.context.worked_example import open_worked_example
from ctxembed.errors import CorpusError, UsageError
from ctxembed.model.bundled import find_example
from ctxembed.static.worked_example import WorkedExample, read_vectors
from ctxembed.stats.vectors import Floats
from ctxembed.table import Chart, Column, Row, Table, answers, round_to_total
from ctxembed.text.tokenizer import number_repeats

MAX_DIM = 4  # every number is printed
MAX_EPOCHS, MAX_WORDS = 10_000, 1000  # of all sentences together
POINTS = 200  # of a line on a picture
COLOURS = 7  # lines that a picture can tell apart
EPOCHS = (
    Column("epoch", "updates so far; 0 is before the first"),
    Column("loss", "mean over the training sentences of |vector - wanted vector|²"),
)
MATRIX = Column("W_Q... W_K... W_V...", "the numbers of each matrix; w_q_12 is row 1, column 2")
VECTOR = Column("VECTOR_N...", "the target's vector in sentence N, a column for each dimension")
WEIGHTS = Column("WEIGHT_WORD...", "weights of the sentence of --sentence, a column for each word")
NUMBERS = (
    Column("step", "with --show: x q k v score scaled weight weighted output; a matrix", "label"),
    Column("row", "with --show: the word, or the number of the row", "label"),
    Column("column", "with --show: the dimension, from 1"),
    Column("value", "with --show: the number"),
)


@dataclass(frozen=True)
class Lesson:
    """A worked example with sentences to train on."""

    example: WorkedExample
    tokens: Sequence[Sequence[str]]  # of each sentence
    inputs: Sequence[Example]  # the same as vectors

    @property
    def dimensions(self) -> list[str]:
        """The names of the dimensions."""
        return self.example.dimensions or [f"d{i + 1}" for i in range(self.inputs[0].x.shape[1])]


@dataclass(frozen=True)
class Block:
    """Numbers of one step: a name, the names of its rows, and a row of numbers for each."""

    name: str
    rows: Sequence[str]
    values: Floats  # (rows, columns)


class WatchTable(Table):
    """A row for each epoch; `pages` has the same as tables that fit a page, steps included."""

    def __init__(self, lesson: Lesson, epochs: Sequence[Epoch], sentence: int, rate: float) -> None:
        self.lesson, self.epochs, self.sentence, self.rate = lesson, epochs, sentence, rate
        columns = [*EPOCHS, *self._matrix_columns(), *self._vector_columns(), self._weight_column()]
        super().__init__(columns, self._epoch_rows, [*self._describe()], chart=list(self._draw()))

    def _matrix_columns(self) -> list[Column]:
        dim = range(1, 1 + len(self.lesson.dimensions))
        parts = {name: [f"{name}_{i}{j}" for i in dim for j in dim] for name in LEARNED}
        return [Column(name, MATRIX.meaning, "vector", parts=parts[name]) for name in LEARNED]

    def _vector_columns(self) -> list[Column]:
        names = self.lesson.dimensions
        return [
            Column(f"vector_{n}", VECTOR.meaning, "vector", parts=[f"{name}_{n}" for name in names])
            for n in range(1, 1 + len(self.lesson.tokens))
        ]

    def _weight_column(self) -> Column:
        parts = [f"weight_{word}" for word in self.lesson.tokens[self.sentence]]
        return Column("weights", WEIGHTS.meaning, "vector", parts=parts)

    def _epoch_rows(self) -> Iterator[Row]:
        for epoch in self.epochs:
            matrices = [epoch.layer.parameters()[name].ravel() for name in LEARNED]
            vectors = [epoch.output(i) for i in range(len(self.lesson.tokens))]
            weights = epoch.results[self.sentence].weights[0, 0, 0]
            yield epoch.number, epoch.loss, *matrices, *vectors, weights

    def _describe(self) -> Iterator[str]:
        last = self.epochs[-1]
        before, after = f"{self.epochs[0].loss:.4f}", f"{last.loss:.4f}"
        yield f"loss {before} before training, {after} after {last.number} epochs"
        for i, (text, wanted) in enumerate(self.lesson.example.sentences):
            target = self.lesson.inputs[i].x[self.lesson.inputs[i].target]
            aim = "not trained on" if wanted is None else f"wanted {write_vector(wanted, 2)}"
            moved = f"{write_vector(target, 2)} -> {write_vector(last.output(i), 2)}"
            yield f"{i + 1}. {text}: {moved}, {aim}"

    def _draw(self) -> Iterator[Chart]:
        """Yield pictures by epoch: loss, the target's vector, the weights, each matrix."""
        kept = self.epochs[:: max(1, len(self.epochs) // POINTS)]

        def lines(title: str, columns: Sequence[str], rows: list[Sequence[float]]) -> Chart:
            numbered = [(epoch.number, *row) for epoch, row in zip(kept, rows, strict=True)]
            table = Table(("epoch", *columns), numbered)
            return Chart("lines", columns, "epoch", title=title, of=lambda: table)

        yield lines("loss", ["loss"], [[epoch.loss] for epoch in kept])
        columns = self._vector_columns()
        for i, (text, _) in enumerate(self.lesson.example.sentences):
            vectors = [epoch.output(i).tolist() for epoch in kept]
            yield lines(f"{i + 1}. {text}", columns[i].parts, vectors)
        weights = np.array([epoch.results[self.sentence].weights[0, 0, 0] for epoch in kept])
        heavy = np.sort(np.argsort(-weights[-1], kind="stable")[:COLOURS])
        names = [self._weight_column().parts[i] for i in heavy]
        title = f"largest weights in sentence {self.sentence + 1}"
        yield lines(title, names, weights[:, heavy].tolist())
        for column in self._matrix_columns():
            rows = [epoch.layer.parameters()[column.name].ravel().tolist() for epoch in kept]
            for first in range(0, len(column.parts), 4):
                part = slice(first, first + 4)
                yield lines(column.name.upper(), column.parts[part], [row[part] for row in rows])

    def numbers(self, steps: Sequence[int]) -> Table:
        """Return every number of the chosen epochs, a row for each."""

        def rows() -> Iterator[Row]:
            for step in steps:
                for block in self._blocks(self.epochs[step]):
                    for name, values in zip(block.rows, block.values.tolist(), strict=True):
                        for j, value in enumerate(values, 1):
                            yield step, block.name, name, j, value

        return Table((EPOCHS[0], *NUMBERS), rows, self.notes)

    def _blocks(self, epoch: Epoch) -> Iterator[Block]:
        """Yield the matrices, the forward pass of one sentence, loss, gradients and the update."""
        example, tokens = self.lesson.inputs[self.sentence], self.lesson.tokens[self.sentence]
        rows = [str(i + 1) for i in range(example.x.shape[1])]
        old, new = epoch.layer.parameters(), epoch.updated.parameters()
        for name in LEARNED:
            yield Block(name, rows, old[name][0])
        result = epoch.results[self.sentence]
        trace, weights = result.trace(), result.weights[0, 0, 0]
        yield Block("x", tokens, example.x)
        for role, name in zip("qkv", LEARNED, strict=True):
            yield Block(role, tokens, example.x @ old[name][0])
        yield Block("score", tokens, trace.scores[0, 0, 0][:, None])
        yield Block("scaled", tokens, trace.scaled[0, 0, 0][:, None])
        yield Block("weight", tokens, weights[:, None])
        yield Block("weighted", tokens, weights[:, None] * result.values[0, 0])
        yield Block("output", [tokens[example.target]], result.output[0])
        yield Block("loss", ["mean"], np.array([[epoch.loss]]))
        for name in LEARNED:
            yield Block(f"gradient_{name}", rows, epoch.gradients[name][0])
        for name in LEARNED:
            yield Block(f"updated_{name}", rows, new[name][0])

    def pages(self, steps: Sequence[int], digits: int) -> Iterator[Table]:
        """Yield tables for a page: three for each of the chosen epochs, then some by epoch."""
        for step in steps:
            blocks = {block.name: block for block in self._blocks(self.epochs[step])}
            yield from self._lay_out(step, blocks, digits)
        kept = [self.epochs[i] for i in _spread(len(self.epochs))]
        losses = [(e.number, e.loss) for e in kept]
        yield Table(EPOCHS, losses, self.notes, chart=self.charts, title="Loss by epoch")
        inputs = range(len(self.lesson.inputs))
        vectors: dict[str, list[Floats | None]] = {
            str(epoch.number): [epoch.output(i) for i in inputs] for epoch in kept
        }
        vectors["wanted"] = [example.wanted for example in self.lesson.inputs]
        sentences = [Column(f"sentence_{i + 1}") for i in inputs]
        for d, name in enumerate(self.lesson.dimensions):
            yield Table(
                (Column("epoch", role="label"), *sentences),
                [
                    (label, *(None if one is None else float(one[d]) for one in each))
                    for label, each in vectors.items()
                ],
                title=f"{name.capitalize()} of the target in each sentence by epoch",
            )
        chosen = {epoch.number for epoch in kept}
        rows = [row for row in self.rows if row[0] in chosen]
        for column in self._matrix_columns():
            at = self.names.index(column.name)
            yield Table(
                (EPOCHS[0], column), [(row[0], row[at]) for row in rows],
                title=f"{column.name.upper()} by epoch",
            )  # fmt: skip
        at = self.names.index("weights")
        fewer = [rows[0], *rows[:0:-2][::-1]]  # the first and every second one fit a page
        weights = np.array([row[at] for row in fewer])  # (epochs, T)
        yield Table(
            (Column("word", role="label"), *(Column(str(row[0]), role="share") for row in fewer)),
            [
                (word, *map(float, cells))
                for word, cells in zip(self.lesson.tokens[self.sentence], weights.T, strict=True)
            ],
            title=f"Weights in sentence {self.sentence + 1} by epoch",
        )

    def _lay_out(self, step: int, blocks: dict[str, Block], digits: int) -> Iterator[Table]:
        """Yield the forward pass of one epoch as two tables, and the update of its matrices."""
        example, tokens = self.lesson.inputs[self.sentence], self.lesson.tokens[self.sentence]
        target, text = tokens[example.target], self.lesson.example.sentences[self.sentence][0]
        word = Column("word", role="label")

        def texts(name: str) -> list[str]:
            return [write_vector(row, digits) for row in blocks[name].values]

        roles = [texts(name) for name in "xqkv"]
        title = f"Epoch {step}, forward: {text}\nq = x W_Q, k = x W_K, v = x W_V"
        named = [Column(name, role="text") for name in "xqkv"]
        yield Table((word, *named), list(zip(tokens, *roles, strict=True)), title=title)
        parts = [blocks[name].values[:, 0].tolist() for name in ("score", "scaled", "weight")]
        parts[2] = [*map(float, round_to_total(parts[2], digits))]  # as explain rounds weights
        rows: list[Row] = list(zip(tokens, *parts, texts("weighted"), strict=True))
        rows.append(("sum", None, None, 1.0, *texts("output")))
        wanted = ""
        if example.wanted is not None:
            wanted = f", wanted {write_vector(example.wanted, digits)}"
        size = example.x.shape[1]
        title = f"q of {target} · k, divided by √{size}, softmax, weight · v{wanted}"
        columns = ("score", "scaled", "weight", Column("weight_v", role="text"))
        yield Table((word, *columns), rows, title=title)
        rows = []
        for name in LEARNED:
            cells = [texts(f"{when}{name}") for when in ("", "gradient_", "updated_")]
            numbered = enumerate(zip(*cells, strict=True), 1)
            rows += [(f"{name.upper()} row {i}", *row) for i, row in numbered]
        loss = blocks["loss"].values[0, 0]
        title = f"Epoch {step}, backward: loss {loss:.{digits}f}"
        title += f"; updated = value - {self.rate:g} · gradient"
        named = [Column(name, role="text") for name in ("value", "gradient", "updated")]
        yield Table((Column("matrix", role="label"), *named), rows, title=title)


@answers(*EPOCHS, MATRIX, VECTOR, WEIGHTS, *NUMBERS)
def watch(
    name: str = "apple", *, seed: int = 1, rate: float = 1.0, epochs: int = 400,
    sentence: int | None = None,
) -> WatchTable:  # fmt: skip
    """Train W_Q, W_K, W_V of a worked example; return a row for each epoch, from 0.

    The matrices start from random numbers of the seed. sentence: the number of the one whose
    forward pass is shown, from 1; default one that is not trained on, else the first.
    """
    lesson = read_lesson(name)
    number = len(lesson.inputs)
    if sentence is None:
        unseen = (i for i, example in enumerate(lesson.inputs) if example.wanted is None)
        sentence = next(unseen, 0) + 1
    if not 1 <= sentence <= number:
        raise UsageError(f"--sentence {sentence}: {name} has sentences 1 to {number}")
    if not 1 <= epochs <= MAX_EPOCHS:
        raise UsageError(f"--epochs {epochs}: from 1 to {MAX_EPOCHS:,} can be watched")
    layer = random_head(len(lesson.dimensions), np.random.default_rng(seed))
    return WatchTable(lesson, list(descend(layer, lesson.inputs, rate, epochs)), sentence - 1, rate)


def read_lesson(name: str) -> Lesson:
    """Return the vectors and sentences of a file, of a bundled example, or of NAME-untrained."""
    example = read_vectors(find_example(name))
    beside = f"{name}-untrained"
    if not example.sentences and find_example(beside).is_file():
        name, example = beside, read_vectors(find_example(beside))
    if not any(wanted is not None for _, wanted in example.sentences):
        expected = '"sentences": [{"sentence": "An [apple] a day", "wanted": [0.9, 0.2]}]'
        raise CorpusError(f"{name}: no sentences to train on; write JSON with {expected}")
    if example.vectors.shape[1] > MAX_DIM:
        raise CorpusError(f"{name}: training is watched in at most {MAX_DIM} dimensions")
    model = open_worked_example(name)
    tokens, inputs = [], []
    for text, wanted in example.sentences:
        parsed = parse(model, text)
        if len(parsed.occurrences) != 1 or len(parsed.occurrences[0].target) != 1:
            raise CorpusError(f"{name}: {text!r}: mark one target word with [ ]")
        item = parsed.occurrences[0]
        tokens.append(number_repeats(parsed.words))
        inputs.append(Example(example.vectors[item.ids], item.target.start, wanted))
    if sum(map(len, tokens)) > MAX_WORDS:
        raise CorpusError(f"{name}: more than {MAX_WORDS} words in all sentences")
    return Lesson(example, tokens, inputs)


def read_steps(text: str, last: int) -> list[int]:
    """Return epochs from a list of their numbers: 0,1,last.

    >>> read_steps("0,1,last", 400)
    [0, 1, 400]
    """
    steps = []
    for part in map(str.strip, text.split(",")):
        if part != "last" and not (re.fullmatch("[0-9]{1,9}", part) and int(part) <= last):
            raise UsageError(f"--show {part[:40]!r}: give epochs from 0 to {last}, or last")
        steps.append(last if part == "last" else int(part))
    return steps


def with_matrices(table: WatchTable, *, trained: bool = True) -> WorkedExample:
    """Return the example with the matrices after training, or with those before it."""
    parameters = table.epochs[-1 if trained else 0].layer.parameters()
    matrices = {name: parameters[name][0] for name in LEARNED}
    return replace(table.lesson.example, matrices=matrices)


def write_vector(vector: Floats, digits: int) -> str:
    """Return a vector as text.

    >>> write_vector(np.array([0.3, 0.8]), 2)
    '[0.30 0.80]'
    """
    # + 0.0 turns -0.0 into 0.0
    return f"[{' '.join(f'{round(n, digits) + 0.0:.{digits}f}' for n in vector.tolist())}]"


def _spread(number: int) -> list[int]:
    """Return the epochs of a short table: closer together at the beginning.

    >>> _spread(401)
    [0, 1, 2, 5, 10, 20, 50, 100, 200, 400]
    """
    steps = {m * 10**p for p in range(5) for m in (1, 2, 5)}
    return sorted({0, number - 1} | {step for step in steps if step * 1.5 < number})
