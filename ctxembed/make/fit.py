"""Fit attention to a labelled task, and say what it is worth on sentences it never saw."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.fitting import (
    Epoch,
    Examples,
    FitSettings,
    add_heads,
    attend_examples,
    fit,
    logits,
)
from ctxembed.attention.layer import Layer
from ctxembed.attention.task_head import find_expressions
from ctxembed.attention.terms import Distance
from ctxembed.context.representations import Static
from ctxembed.errors import CorpusError
from ctxembed.make.labelled import Item, Task, as_examples, read_task
from ctxembed.make.learn import begin
from ctxembed.progress import SILENT, Progress
from ctxembed.static.space import Floats, unit
from ctxembed.store.attentions import Saved, check_free, load_attention, save_attention
from ctxembed.store.model import Model
from ctxembed.store.places import example, on_model, refuse_bundled
from ctxembed.table import Cell, Chart, Column, Table

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
class Fitted:
    """A fitted task: layer and head, and how it went."""

    layer: Layer  # for the words of the task
    task_head: Floats
    anchors: Floats  # (A, d)
    epochs: list[Epoch]
    before: float  # accuracy on the held-out part by nearest centroid, before fitting
    given: Rows  # labels given to the held-out part by what was fitted without it


@dataclass(frozen=True)
class Prepared:
    """A task ready to fit: its sentences as arrays, its words, where to begin."""

    examples: Examples
    x: Floats  # (words of the task, d)
    origin: str  # learned, or general
    layer: Layer  # for the whole vocabulary, before fitting
    used: NDArray[np.int32]  # the words of the task


def prepare(model: Model, items: Sequence[Item], labels: Sequence[str], seed: int) -> Prepared:
    """Lay a task out; only its own words are kept in memory.

    It starts from learned attention, or near general attention where the model has none.
    """
    origin, layer = "general", None
    if "learned" in model.attentions():
        saved = load_attention(model, "learned").layer
        if saved.w_q is not None and saved.term(Distance) is not None:
            origin, layer = "learned", saved
    layer = layer or begin(model, model.index, np.random.default_rng(seed))
    used = np.unique(np.concatenate([item.occurrence.ids for item in items]))
    space = model.centred_space
    own = Static("static", space).vectors([item.occurrence for item in items])
    return Prepared(as_examples(items, labels, used, own), space[used], origin, layer, used)


def fit_examples(
    ready: Prepared,
    seen: Rows,
    held_out: Rows,
    labels: int,
    settings: FitSettings,
    seed: int,
    progress: Progress = SILENT,
) -> Fitted:
    """Fit on one part, stop where the other no longer gains, then fit again on both as long."""
    both = np.sort(np.concatenate([seen, held_out]))
    anchors = find_expressions(ready.examples.own[seen])[0]
    one, other = ready.examples.take(seen), ready.examples.take(held_out)
    epochs: list[Epoch] = []
    best: Epoch | None = None
    start = add_heads(ready.layer.only(ready.used), np.random.default_rng(seed))
    with progress.stage("fit", 2 * settings.epochs, "epochs") as stage:
        rng = np.random.default_rng(seed)
        runs = fit(start, labels, ready.x, anchors, one, other, settings, rng)
        for epoch in runs:
            stage.advance()
            stage.say(f"loss {epoch.loss:.3f}, held out {epoch.held_out_accuracy:.3f}")
            best = epoch if epoch.best else best
            epochs.append(replace(epoch, layer=start, task_head=np.zeros(0)))
        assert best is not None
        given = logits(best.layer, best.task_head, ready.x, anchors, other).argmax(axis=1)
        stage.advance(settings.epochs - len(epochs))
        anchors = find_expressions(ready.examples.own[both])[0]
        all_of_it, rng = ready.examples.take(both), np.random.default_rng(seed)
        again = fit(start, labels, ready.x, anchors, all_of_it, None, settings, rng)
        for epoch in again:
            stage.advance()
            last = epoch
            if epoch.number == best.number:
                break
        stage.advance(settings.epochs - last.number)
    before = float((centroids(ready, seen, held_out, labels) == other.label).mean())
    return Fitted(last.layer, last.task_head, anchors, epochs, before, given)


def centroids(ready: Prepared, seen: Rows, asked: Rows, labels: int) -> Rows:
    """Label by the nearest mean of an expression's vectors under the start, before any fitting."""
    some = ready.examples
    units = np.zeros_like(some.own)
    layer = ready.layer.only(ready.used)
    for rows in np.array_split(np.arange(len(some)), -(-len(some) // 256)):
        output = attend_examples(layer, ready.x, some.take(rows)).output[:, 0]
        units[rows] = unit(output)
    anchors, group = find_expressions(some.own[seen])
    shared = _means(units[seen], some.label[seen], labels)
    means = np.stack(
        [
            _means(units[seen[group == a]], some.label[seen[group == a]], labels)
            for a in range(len(anchors))
        ]
    )  # (A, C, d)
    means = np.where(np.abs(means).sum(axis=2, keepdims=True) > 0, means, shared)
    own = unit(some.own[asked]) @ anchors.T  # (n, A)
    return np.asarray(
        (means[own.argmax(axis=1)] @ units[asked][:, :, None])[:, :, 0].argmax(axis=1)
    )


def _means(units: Floats, label: Rows, labels: int) -> Floats:
    sums = np.zeros((labels, units.shape[1]), units.dtype)
    np.add.at(sums, label, units)
    return unit(sums)


def split(items: Sequence[Item], by: str, rng: np.random.Generator) -> tuple[Rows, Rows]:
    """Choose the held-out part: a fifth of each label's sentences, or of the expressions."""
    if by == "expression":
        names = sorted({item.expression for item in items})
        if len(names) < 2:
            raise CorpusError(f"there is one expression only, {names[0]!r}; split by sentence")
        number = max(1, round(HELD_OUT * len(names)))
        chosen = set(rng.permutation(np.array(names, object))[:number])
        out = np.array([item.expression in chosen for item in items])
    else:
        out = np.zeros(len(items), bool)
        labels = np.array([item.label for item in items])
        for label in sorted(set(labels)):
            rows = rng.permutation(np.flatnonzero(labels == label))
            out[rows[: max(1, round(HELD_OUT * len(rows)))]] = True
    return np.flatnonzero(~out), np.flatnonzero(out)


@on_model(*SUMMARY, *EPOCHS, *CONFUSION)
def fit_task(
    model: Model,
    /,
    file: str,
    name: str = "task",
    *,
    by: str = "sentence",
    report: str = "summary",
    seed: int = 1,
    progress: Progress = SILENT,
    **given: Any,
) -> Table:
    """Fit a task, save it as an attention, and tell how it went: summary, epochs or confusion.

    `given` are fields of attention.fitting.FitSettings.
    """
    refuse_bundled(model.path)
    check_free(model, name, task=True)
    begun = time.perf_counter()
    settings = FitSettings(**{key: value for key, value in given.items() if value is not None})
    task = read_task(model, file if file == "-" else str(example(file)), seed)
    ready = prepare(model, task.items, task.labels, seed)
    train = np.flatnonzero([not item.test for item in task.items])
    test = np.flatnonzero([item.test for item in task.items])
    one, other = split([task.items[row] for row in train], by, np.random.default_rng(seed))
    fitted = fit_examples(
        ready, train[one], train[other], len(task.labels), settings, seed, progress
    )
    if len(test):  # what the file sets aside is seen once, here
        asked_of = ready.examples.take(test)
        made = logits(fitted.layer, fitted.task_head, ready.x, fitted.anchors, asked_of)
        before = centroids(ready, train, test, len(task.labels))
        right = ready.examples.label[test]
        asked = Asked("test", right, made.argmax(axis=1), float((before == right).mean()))
    else:
        right = ready.examples.label[train[other]]
        asked = Asked("held-out part", right, fitted.given, fitted.before)
    summary: list[tuple[str, Cell]] = [
        ("attention", name),
        ("start", ready.origin),
        ("labels", ", ".join(task.labels)),
        ("sentences", len(task.items)),
        ("expressions", len({item.expression for item in task.items})),
        ("split", by),
        ("epochs", len(fitted.epochs)),
        ("best_epoch", _best(fitted.epochs)),
        ("measured_on", f"{asked.name}, {len(asked.right)} sentences"),
        *asked.figures().items(),
    ]
    save_attention(model, name, _saved(ready, fitted, task, settings, seed, asked))
    summary.append(("fitting_seconds", f"{time.perf_counter() - begun:.2f}"))
    told = _sampled(task), _left_out(task)
    title = f"{name}: the loss of each epoch"
    curve = Chart("lines", ["loss", "held_out_loss"], "epoch", title=title)
    epochs = Table(EPOCHS, list(_epochs(fitted)), *told, chart=curve)
    if report == "epochs":
        return epochs
    if report == "confusion":
        columns = (CONFUSION[0], *CONFUSION[1].each(task.labels))
        square = Chart("heat", range(1, len(columns)), label=["label"], title="labels given")
        return Table(columns, asked.confusion(task.labels), *told, chart=square)
    return Table(SUMMARY, summary, *told, chart=replace(curve, of=lambda: epochs))


@dataclass(frozen=True)
class Asked:
    """Labels given to sentences that were not fitted to, beside the right ones."""

    name: str
    right: Rows
    given: Rows
    before: float

    def figures(self) -> dict[str, float]:
        """Return accuracies, and the 95 % interval of the one after fitting."""
        hits = int((self.right == self.given).sum())
        low, high = wilson(hits, len(self.right))
        most = float(np.bincount(self.right).max() / len(self.right))
        after = {"accuracy": hits / len(self.right), "low": low, "high": high}
        told = {"most_frequent_label": most, "accuracy_before": self.before, **after}
        return {key: round(value, 4) for key, value in told.items()}

    def confusion(self, labels: Sequence[str]) -> Iterator[tuple[Cell, ...]]:
        """Yield a row for each right label: how often each label was given."""
        for row, label in enumerate(labels):
            number = np.bincount(self.given[self.right == row], minlength=len(labels))
            yield (label, *number.tolist())


def wilson(hits: int, number: int, z: float = 1.96) -> tuple[float, float]:
    """Return Wilson's 95 % interval of a share.

    >>> low, high = wilson(8, 10)
    >>> round(low, 3), round(high, 3)
    (0.49, 0.943)
    """
    share, square = hits / number, z * z
    middle = (share + square / (2 * number)) / (1 + square / number)
    half = z * np.sqrt(share * (1 - share) / number + square / (4 * number**2))
    half /= 1 + square / number
    return float(middle - half), float(middle + half)


def _best(epochs: Sequence[Epoch]) -> int:
    return max(epoch.number for epoch in epochs if epoch.best)


def _epochs(fitted: Fitted) -> Iterator[tuple[Cell, ...]]:
    best = _best(fitted.epochs)
    for e in fitted.epochs:
        kept = "yes" if e.number == best else "no"
        yield e.number, e.loss, e.held_out_loss, e.held_out_accuracy, kept


def _saved(
    ready: Prepared, fitted: Fitted, task: Task, settings: FitSettings, seed: int, asked: Asked
) -> Saved:
    whole = replace(ready.layer, heads=fitted.layer.heads).updated(fitted.layer.parameters())
    names: list[str] = [""] * len(fitted.anchors)
    glosses: list[dict[str, str]] = [{} for _ in fitted.anchors]
    nearest = (unit(ready.examples.own) @ fitted.anchors.T).argmax(axis=1)
    for item, row in zip(task.items, nearest, strict=True):
        if not item.test:
            names[row] = names[row] or item.expression
            glosses[row].setdefault(item.label, item.gloss)
    told = {"labels": task.labels, "expressions": names, "glosses": glosses}
    return Saved(
        whole,
        "centred",
        settings={**asdict(settings), "seed": seed, "start": ready.origin},
        figures=asked.figures(),
        task=told,
        task_head={"head": fitted.task_head, "anchors": fitted.anchors},
    )


def _left_out(task: Task) -> list[str]:
    told = [f"line {line}: left out: {reason}" for line, reason in task.unknown]
    if task.left_out > len(task.unknown):
        told.append(f"{task.left_out} lines are left out in all")
    return told


def _sampled(task: Task) -> list[str]:
    if task.lines <= len(task.items):
        return []
    return [f"of {task.lines} sentences a sample of {len(task.items)} was used"]
