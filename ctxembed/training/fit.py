"""Fit attention to a labelled task, and say what it is worth on sentences it never saw."""

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.layer import Layer
from ctxembed.attention.terms import Distance
from ctxembed.attention.training.fitting import Epoch, FitSettings, add_heads, fit, logits
from ctxembed.attention.training.learning import Examples, attend_examples
from ctxembed.attention.training.task_head import find_expressions
from ctxembed.context.labelled import Item, Task, as_examples, read_task
from ctxembed.context.representations import Static
from ctxembed.errors import CorpusError, CtxembedError
from ctxembed.model.attentions import Saved, check_free, load_attention, save_attention
from ctxembed.model.bundled import example, on_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.stats.vectors import Floats, unit
from ctxembed.table import Cell, Chart, Column, Table
from ctxembed.training.learn import begin

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
    epochs: list[tuple[float, ...]]  # number, loss, loss and accuracy on the held-out part
    best: int  # number of the epoch that fitting went back to
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
    epochs: list[tuple[float, ...]] = []
    best: Epoch | None = None
    start = add_heads(ready.layer.only(ready.used), np.random.default_rng(seed))
    with progress.stage("fit", 2 * settings.epochs, "epochs") as stage:
        rng = np.random.default_rng(seed)
        for epoch in fit(start, labels, ready.x, anchors, one, other, settings, rng):
            stage.advance()
            stage.say(f"loss {epoch.loss:.3f}, held out {epoch.held_out_accuracy:.3f}")
            best = epoch if epoch.best else best
            losses = epoch.loss, epoch.held_out_loss, epoch.held_out_accuracy
            epochs.append((epoch.number, *losses))
        if best is None:
            raise CtxembedError("no loss is a number: the model's vectors are too large to fit")
        given = logits(best.layer, best.task_head, ready.x, anchors, other).argmax(axis=1)
        stage.advance(settings.epochs - len(epochs))
        anchors = find_expressions(ready.examples.own[both])[0]
        all_of_it, rng = ready.examples.take(both), np.random.default_rng(seed)
        again = fit(start, labels, ready.x, anchors, all_of_it, None, settings, rng)
        for last in again:
            stage.advance()
            if last.number == best.number:
                break
        stage.advance(settings.epochs - best.number)
    return Fitted(last.layer, last.task_head, anchors, epochs, best.number, given)


def centroids(ready: Prepared, seen: Rows, asked: Rows, labels: int) -> Rows:
    """Label by the nearest mean of an expression's vectors under the start, before any fitting."""
    some = ready.examples
    units = np.zeros_like(some.own)
    layer = ready.layer.only(ready.used)
    for rows in np.array_split(np.arange(len(some)), -(-len(some) // 256)):
        units[rows] = unit(attend_examples(layer, ready.x, some.take(rows)).output[:, 0])
    anchors, group = find_expressions(some.own[seen])
    sums = np.zeros((len(anchors) + 1, labels, units.shape[1]), units.dtype)
    np.add.at(sums, (group, some.label[seen]), units[seen])  # in the last one, of no expression
    means = unit(sums[:-1])  # (A, C, d)
    means = np.where(np.abs(means).sum(axis=2, keepdims=True) > 0, means, unit(sums.sum(axis=0)))
    nearest = (unit(some.own[asked]) @ anchors.T).argmax(axis=1)  # (n,)
    cosines = (means[nearest] @ units[asked][:, :, None])[:, :, 0]  # (n, C)
    return np.asarray(cosines.argmax(axis=1))


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
    measured_on, seen, asked, labelled = "held-out part", train[one], train[other], fitted.given
    if len(test):  # what the file sets aside is seen once, here
        measured_on, seen, asked = "test", train, test
        some = ready.examples.take(test)
        made = logits(fitted.layer, fitted.task_head, ready.x, fitted.anchors, some)
        labelled = made.argmax(axis=1)
    right = ready.examples.label[asked]
    figures = measure(right, labelled, centroids(ready, seen, asked, len(task.labels)))
    summary: list[tuple[str, Cell]] = [
        ("attention", name),
        ("start", ready.origin),
        ("labels", ", ".join(task.labels)),
        ("sentences", len(task.items)),
        ("expressions", len({item.expression for item in task.items})),
        ("split", by),
        ("epochs", len(fitted.epochs)),
        ("best_epoch", fitted.best),
        ("measured_on", f"{measured_on}, {len(right)} sentences"),
        *figures.items(),
    ]
    saved = Saved(
        replace(ready.layer, heads=fitted.layer.heads).updated(fitted.layer.parameters()),
        settings={**asdict(settings), "seed": seed, "start": ready.origin},
        figures=figures,
        task=_describe(task, ready.examples, fitted.anchors),
        task_head={"head": fitted.task_head, "anchors": fitted.anchors},
    )
    save_attention(model, name, saved)
    summary.append(("fitting_seconds", f"{time.perf_counter() - begun:.2f}"))
    sampled = f"of {task.lines} sentences a sample of {len(task.items)} was used"
    told = [sampled] if task.lines > len(task.items) else [], task.left_out
    title = f"{name}: the loss of each epoch"
    curve = Chart("lines", ["loss", "held_out_loss"], "epoch", title=title)
    passes = [(*row, "yes" if row[0] == fitted.best else "no") for row in fitted.epochs]
    epochs = Table(EPOCHS, passes, *told, chart=curve)
    if report == "epochs":
        return epochs
    if report == "confusion":
        columns = (CONFUSION[0], *CONFUSION[1].each(task.labels))
        square = Chart("heat", range(1, len(columns)), label=["label"], title="labels given")
        times = np.zeros((len(task.labels), len(task.labels)), np.int64)
        np.add.at(times, (right, labelled), 1)
        rows = zip(task.labels, *times.T.tolist(), strict=True)
        return Table(columns, rows, *told, chart=square)
    return Table(SUMMARY, summary, *told, chart=replace(curve, of=lambda: epochs))


def measure(right: Rows, given: Rows, before: Rows) -> dict[str, float]:
    """Return accuracies of labels given after and before, and the interval of the one after."""
    hits, number = int((right == given).sum()), len(right)
    low, high = wilson(hits, number)
    most = float(np.bincount(right).max() / number)
    told = {"most_frequent_label": most, "accuracy_before": float((before == right).mean())}
    told |= {"accuracy": hits / number, "low": low, "high": high}
    return {key: round(value, 4) for key, value in told.items()}


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


def _describe(task: Task, examples: Examples, anchors: Floats) -> dict[str, Any]:
    """Name what the labels of a task are, its expressions, and what each label means for them."""
    names: list[str] = [""] * len(anchors)
    glosses: list[dict[str, str]] = [{} for _ in anchors]
    nearest = (unit(examples.own) @ anchors.T).argmax(axis=1)
    for item, row in zip(task.items, nearest, strict=True):
        if not item.test:
            names[row] = names[row] or item.expression
            glosses[row].setdefault(item.label, item.gloss)
    return {"labels": task.labels, "expressions": names, "glosses": glosses}
