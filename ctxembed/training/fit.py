"""Fit attention to a labelled task, and measure it on held-out sentences."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Layer
from ctxembed.attention.terms import Distance
from ctxembed.attention.training.fitting import Epoch, FitSettings, add_heads, fit, task_logits
from ctxembed.attention.training.learning import Examples, attend_examples
from ctxembed.attention.training.task_head import find_expressions
from ctxembed.context.labelled import Item, Task, as_examples, read_task
from ctxembed.context.representation import Static
from ctxembed.errors import CorpusError, CtxembedError
from ctxembed.model.attentions import Saved, check_free, load_attention, save_attention
from ctxembed.model.bundled import find_example, on_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.text.lines import Decoding
from ctxembed.training.learn import initial_layer

HELD_OUT = 0.2
SUMMARY = (
    Column("property", "with --report summary: what was fitted, and how well it does", "label"),
    Column("value", "with --report summary: its value"),
)
EPOCHS = (
    Column("epoch", "with --report epochs: number of the pass over the sentences", "label"),
    Column("loss", "mean loss of the pass"),
    Column("held_out_loss", "cross-entropy on the held-out part"),
    Column("held_out_accuracy", "share of the held-out part that is labelled right"),
    Column("kept", "yes for the epoch that fitting went back to", "label"),
)
CONFUSION = (
    Column("label", "with --report confusion: the right label", "label"),
    Column("LABEL...", "how often each label was given, a column under each one's name"),
)
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Prepared:
    """A task ready to fit: its sentences as arrays, its words, and the layer to start from."""

    examples: Examples
    x: Floats  # (words of the task, d)
    origin: str  # "learned" or "general"
    layer: Layer  # for the whole vocabulary, before fitting
    used: NDArray[np.int32]  # the words of the task


@dataclass(frozen=True)
class Fitted:
    """A fitted task: its layer and head, and the loss of each epoch."""

    layer: Layer  # for the words of the task
    task_head: Floats
    anchors: Floats  # (A, d)
    epochs: list[tuple[float, ...]]  # number, loss, loss and accuracy on the held-out part
    best: int  # number of the epoch that was kept
    predicted: Rows  # labels of the held-out part, by the layer fitted without it


def prepare_task(model: Model, items: Sequence[Item], labels: Sequence[str], seed: int) -> Prepared:
    """Return a task as arrays, and the layer to start from: learned, or near general attention."""
    origin = "learned" if "learned" in model.attentions() else "general"
    layer = load_attention(model, "learned").layer if origin == "learned" else Layer()
    if not isinstance(layer, Layer) or layer.w_q is None or layer.term(Distance) is None:
        origin = "general"
        layer = initial_layer(model, model.index, np.random.default_rng(seed))
    used = np.unique(np.concatenate([item.occurrence.ids for item in items]))
    space = model.centred_space
    own = Static("static", space).vectors([item.occurrence for item in items])
    return Prepared(as_examples(items, labels, used, own), space[used], origin, layer, used)


def fit_examples(
    ready: Prepared, seen: Rows, held_out: Rows, labels: int, settings: FitSettings, seed: int,
    progress: Progress = SILENT,
) -> Fitted:  # fmt: skip
    """Fit on `seen`, stop when `held_out` stops improving, then fit on both for as many epochs."""
    examples, x, epochs = ready.examples, ready.x, list[tuple[float, ...]]()
    best: Epoch | None = None
    start = add_heads(ready.layer.only(ready.used), np.random.default_rng(seed))
    with progress.stage("fit", 2 * settings.epochs, "epochs") as stage:
        part, checked = examples.take(seen), examples.take(held_out)
        anchors, rng = find_expressions(part.own)[0], np.random.default_rng(seed)
        for epoch in fit(start, labels, x, anchors, part, checked, settings, rng):
            stage.advance()
            stage.say(f"loss {epoch.loss:.3f}, held out {epoch.held_out_accuracy:.3f}")
            best = epoch if epoch.best else best
            epochs.append((epoch.number, epoch.loss, epoch.held_out_loss, epoch.held_out_accuracy))
        if best is None:
            raise CtxembedError("no loss is a number: the model's vectors are too large to fit")
        predicted = task_logits(best.layer, best.task_head, x, anchors, checked).argmax(axis=1)
        stage.advance(settings.epochs - len(epochs))
        part = examples.take(np.sort(np.concatenate([seen, held_out])))
        anchors, rng = find_expressions(part.own)[0], np.random.default_rng(seed)
        for last in fit(start, labels, x, anchors, part, None, settings, rng):
            stage.advance()
            if last.number == best.number:
                break
        stage.advance(settings.epochs - best.number)
    return Fitted(last.layer, last.task_head, anchors, epochs, best.number, predicted)


def nearest_label(ready: Prepared, seen: Rows, tested: Rows, labels: int) -> Rows:
    """Return labels (n,) of `tested`, by the nearest mean vector of each label, before fitting."""
    examples, layer = ready.examples, ready.layer.only(ready.used)
    units = np.zeros_like(examples.own)
    for rows in np.array_split(np.arange(len(units)), -(-len(units) // 256)):
        units[rows] = unit(attend_examples(layer, ready.x, examples.take(rows)).output[:, 0])
    anchors, group = find_expressions(examples.own[seen])
    sums = np.zeros((len(anchors) + 1, labels, units.shape[1]), units.dtype)
    np.add.at(sums, (group, examples.label[seen]), units[seen])  # the last row: no expression
    means = unit(sums[:-1])  # (A, C, d)
    means = np.where(np.abs(means).sum(axis=2, keepdims=True) > 0, means, unit(sums.sum(axis=0)))
    nearest = (unit(examples.own[tested]) @ anchors.T).argmax(axis=1)  # (n,)
    cosines = (means[nearest] @ units[tested][:, :, None])[:, :, 0]  # (n, C)
    return np.asarray(cosines.argmax(axis=1))


def hold_out(items: Sequence[Item], by: str, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Return the rows to fit and those held out: a fifth of each label, or of the expressions."""
    held_out = np.zeros(len(items), bool)
    if by == "expression":
        names = sorted({item.expression for item in items})
        if len(names) < 2:
            raise CorpusError(f"there is one expression only, {names[0]!r}; split by sentence")
        shuffled = rng.permutation(np.array(names, object)).tolist()
        chosen = shuffled[: max(1, round(HELD_OUT * len(names)))]
        held_out[:] = [item.expression in chosen for item in items]
    else:
        labels = np.array([item.label for item in items])
        for label in sorted(set(labels)):
            rows = rng.permutation(np.flatnonzero(labels == label))
            held_out[rows[: max(1, round(HELD_OUT * len(rows)))]] = True
    return np.flatnonzero(~held_out), np.flatnonzero(held_out)


@dataclass(frozen=True)
class FitResult:
    """A fitted task and how well it does on sentences it was not fitted to."""

    name: str
    origin: str  # the attention that fitting started from
    task: Task
    split: str
    fitted: Fitted
    measured_on: str
    right: Rows  # (n,) labels of the sentences it is measured on
    predicted: Rows  # (n,)
    figures: dict[str, float]
    seconds: float

    def to_table(self, report: str = "summary") -> Table:
        """Return the summary, the loss of each epoch, or the confusion matrix."""
        task, best, unknown = self.task, self.fitted.best, self.task.left_out
        sampled = f"of {task.lines} sentences a sample of {len(task.items)} was used"
        notes = [sampled] if task.lines > len(task.items) else []
        if report == "confusion":
            columns = (CONFUSION[0], *CONFUSION[1].each(task.labels))
            chart = Chart("heat", range(1, len(columns)), label=["label"], title="labels given")
            times = np.zeros((len(task.labels), len(task.labels)), np.int64)
            np.add.at(times, (self.right, self.predicted), 1)
            rows = zip(task.labels, *times.T.tolist(), strict=True)
            return Table(columns, rows, notes, unknown, chart)
        title = f"{self.name}: the loss of each epoch"
        curve = Chart("lines", ["loss", "held_out_loss"], "epoch", title=title)
        passes = [(*row, "yes" if row[0] == best else "no") for row in self.fitted.epochs]
        epochs = Table(EPOCHS, passes, notes, unknown, curve)
        if report == "epochs":
            return epochs
        summary: dict[str, Cell] = {
            "attention": self.name, "start": self.origin, "labels": ", ".join(task.labels),
            "sentences": len(task.items),
            "expressions": len({item.expression for item in task.items}),
            "split": self.split, "epochs": len(self.fitted.epochs), "best_epoch": best,
            "measured_on": f"{self.measured_on}, {len(self.right)} sentences",
            **self.figures, "fitting_seconds": f"{self.seconds:.2f}",
        }  # fmt: skip
        return Table(SUMMARY, summary.items(), notes, unknown, replace(curve, of=lambda: epochs))


@on_model(*SUMMARY, *EPOCHS, *CONFUSION)
def fit_task(
    model: Model, /, file: str, name: str = "task", *, report: str = "summary",
    by: str = "sentence", encoding: str = "utf-8", errors: str = "strict", seed: int = 1,
    progress: Progress = SILENT, **options: Any,
) -> Table:  # fmt: skip
    """Fit a task, save it as an attention, and return its summary, epochs or confusion.

    It is measured on the sentences that the file marks as test, else on the held-out part.
    by: "sentence" or "expression", what is held out.
    options: fields of attention.training.fitting.FitSettings.
    """
    settings = FitSettings(**{key: value for key, value in options.items() if value is not None})
    refuse_bundled(model.path)
    check_free(model, name, task=True)
    started = time.perf_counter()
    path = file if file == "-" else str(find_example(file))
    task = read_task(model, path, seed, decoding=Decoding(encoding, errors))
    ready, labels = prepare_task(model, task.items, task.labels, seed), len(task.labels)
    train = np.flatnonzero([not item.test for item in task.items])
    tested = np.flatnonzero([item.test for item in task.items])
    one, held_out = hold_out([task.items[row] for row in train], by, np.random.default_rng(seed))
    fitted = fit_examples(ready, train[one], train[held_out], labels, settings, seed, progress)
    if len(tested):
        measured_on, seen, part = "test", train, ready.examples.take(tested)
        logits = task_logits(fitted.layer, fitted.task_head, ready.x, fitted.anchors, part)
        predicted = logits.argmax(axis=1)
    else:
        measured_on, seen, tested = "held-out part", train[one], train[held_out]
        predicted = fitted.predicted
    right = ready.examples.label[tested]
    hits, number = int((right == predicted).sum()), len(right)
    low, high = wilson(hits, number)
    figures = {
        "most_frequent_label": float(np.bincount(right).max() / number),
        "accuracy_before": float((nearest_label(ready, seen, tested, labels) == right).mean()),
        "accuracy": hits / number, "low": low, "high": high,
    }  # fmt: skip
    figures = {key: round(value, 4) for key, value in figures.items()}
    layer = replace(ready.layer, heads=fitted.layer.heads).updated(fitted.layer.parameters())
    kept = {**asdict(settings), "seed": seed, "start": ready.origin}
    described = _describe(task, ready.examples, fitted.anchors)
    head = {"head": fitted.task_head, "anchors": fitted.anchors}
    saved = Saved(layer, settings=kept, figures=figures, task=described, task_head=head)
    save_attention(model, name, saved)
    seconds = time.perf_counter() - started
    result = FitResult(
        name, ready.origin, task, by, fitted, measured_on, right, predicted, figures, seconds
    )
    return result.to_table(report)


def wilson(hits: int, number: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of the proportion hits / number.

    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    share, square = hits / number, z * z
    middle = (share + square / (2 * number)) / (1 + square / number)
    half = z * np.sqrt(share * (1 - share) / number + square / (4 * number**2))
    half /= 1 + square / number
    return float(middle - half), float(middle + half)


def _describe(task: Task, examples: Examples, anchors: Floats) -> dict[str, Any]:
    """Return the labels of a task, its expressions, and the gloss of each label for them."""
    names: list[str] = [""] * len(anchors)
    glosses: list[dict[str, str]] = [{} for _ in anchors]
    nearest = (unit(examples.own) @ anchors.T).argmax(axis=1)
    for item, row in zip(task.items, nearest, strict=True):
        if not item.test:
            names[row] = names[row] or item.expression
            glosses[row].setdefault(item.label, item.gloss)
    return {"labels": task.labels, "expressions": names, "glosses": glosses}
