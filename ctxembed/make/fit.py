"""Fit attention to a labelled task, and say what it is worth on sentences it never saw."""

import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ctxembed.attention.fitting import Epoch, Examples, Settings, add_heads, fit, logits
from ctxembed.attention.layer import Side
from ctxembed.attention.learning import with_blank
from ctxembed.attention.objective import normalise
from ctxembed.attention.task_head import find_expressions
from ctxembed.attention.trained import Parameters, Words, as_layer, forward, key_features, start
from ctxembed.errors import CorpusError
from ctxembed.make.labelled import Item, Task, as_examples, own_vectors, read_task
from ctxembed.make.learn import describe_words
from ctxembed.progress import Progress
from ctxembed.static.space import Floats
from ctxembed.store.attentions import Saved, check_free, load_attention, save_attention
from ctxembed.store.model import Model
from ctxembed.table import Cell, Table

HELD_OUT = 0.2
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Start:
    """Where fitting begins: parameters, and what they know about each word of the model."""

    name: str
    parameters: Parameters
    features: Floats  # (V, F)
    salience: Floats  # (V,)
    heights: Floats  # (V,)


@dataclass(frozen=True)
class Fitted:
    """A fitted task: parameters with their head, and how it went."""

    parameters: Parameters
    anchors: Floats  # (A, d)
    epochs: list[Epoch]
    before: float  # accuracy on the held-out part by nearest centroid, before fitting
    given: Rows  # labels given to the held-out part by what was fitted without it
    held_out: Rows


def begin(model: Model, seed: int) -> Start:
    """Start from learned attention, or near general attention where the model has none."""
    if "learned" in model.attentions():
        saved = load_attention(model, "learned")
        layer, side = saved.layer, saved.side
        if layer.near and side.key_bias is not None and side.key_bias.ndim == 2:
            parameters: dict[str, Any] = {
                **{key: getattr(layer, key) for key in ("w_q", "w_k", "w_v", "w_o", "b_q")},
                "b_f": np.eye(layer.heads),  # the bias learned for each word is its feature
                "position": layer.positions,
                "wall": layer.walls,
                "own": np.array([layer.own]),
            }
            ready = {key: np.array(a, np.float32) for key, a in parameters.items()}
            assert side.salience is not None and side.heights is not None
            return Start("learned", ready, side.key_bias, side.salience, side.heights)
    if model.index is not None:
        words = describe_words(model, model.index)
        features, heights = words.features, words.heights
    else:
        features = key_features(np.asarray(model.vectors), np.asarray(model.counts))
        heights = np.zeros(len(features), np.float32)
    parameters = start(model.dim, np.random.default_rng(seed))
    return Start("general", parameters, features, features[:, -1] + features[:, -2], heights)


@dataclass(frozen=True)
class Prepared:
    """A task ready to fit: its sentences as arrays, its words, where to begin."""

    examples: Examples
    table: Words  # (words of the task + 1, ...) the last one is no word
    begin: Parameters
    start: Start


def prepare(model: Model, items: Sequence[Item], labels: Sequence[str], seed: int) -> Prepared:
    """Lay a task out; only its own words are kept in memory."""
    origin = begin(model, seed)
    used = np.unique(np.concatenate([item.occurrence.ids for item in items]))
    space = model.centred_space
    table = with_blank(
        Words(space[used], origin.features[used], origin.salience[used], origin.heights[used])
    )
    own = own_vectors(space, [item.occurrence for item in items])
    parameters = add_heads(origin.parameters, np.random.default_rng(seed))
    return Prepared(as_examples(items, labels, used, own), table, parameters, origin)


def fit_examples(
    ready: Prepared,
    seen: Rows,
    held_out: Rows,
    labels: int,
    settings: Settings,
    seed: int,
    progress: Progress | None = None,
) -> Fitted:
    """Fit on one part, stop where the other no longer gains, then fit again on both as long."""
    progress = progress or Progress()
    both = np.sort(np.concatenate([seen, held_out]))
    anchors = find_expressions(ready.examples.own[seen])[0]
    one, other = ready.examples.take(seen), ready.examples.take(held_out)
    epochs: list[Epoch] = []
    best: Epoch | None = None
    with progress.stage("fit", 2 * settings.epochs, "epochs") as stage:
        runs = fit(
            _with_head(ready.begin, anchors, labels),
            *(ready.table, anchors, one, other, settings, np.random.default_rng(seed)),
        )
        for epoch in runs:
            stage.advance()
            stage.say(f"loss {epoch.loss:.3f}, held out {epoch.held_out_accuracy:.3f}")
            best = epoch if epoch.best else best
            epochs.append(replace(epoch, parameters={}))
        assert best is not None
        given = logits(best.parameters, ready.table, anchors, other).argmax(axis=1)
        stage.advance(settings.epochs - len(epochs))
        anchors = find_expressions(ready.examples.own[both])[0]
        again = fit(
            _with_head(ready.begin, anchors, labels),
            *(ready.table, anchors, ready.examples.take(both), None, settings),
            np.random.default_rng(seed),
        )
        for epoch in again:
            stage.advance()
            last = epoch
            if epoch.number == best.number:
                break
        stage.advance(settings.epochs - last.number)
    before = float((centroids(ready, seen, held_out, labels) == other.label).mean())
    return Fitted(last.parameters, anchors, epochs, before, given, held_out)


def _with_head(parameters: Parameters, anchors: Floats, labels: int) -> Parameters:
    shape = (1 + len(anchors), labels, 2 * anchors.shape[1] + 1)
    return {**parameters, "head": np.zeros(shape, np.float32)}


def centroids(ready: Prepared, seen: Rows, asked: Rows, labels: int) -> Rows:
    """Label by the nearest mean of an expression's vectors under the start, before any fitting."""
    some = ready.examples
    unit = np.zeros_like(some.own)
    for rows in np.array_split(np.arange(len(some)), -(-len(some) // 256)):
        part = some.take(rows)
        words = ready.table.take(part.ids)
        known = part.ids != part.blank
        plain = ready.start.parameters
        unit[rows] = normalise(forward(plain, words, part.own, part.target, known)[0])[0]
    anchors, group = find_expressions(some.own[seen])
    shared = _means(unit[seen], some.label[seen], labels)
    means = np.stack(
        [
            _means(unit[seen[group == a]], some.label[seen[group == a]], labels)
            for a in range(len(anchors))
        ]
    )  # (A, C, d)
    means = np.where(np.abs(means).sum(axis=2, keepdims=True) > 0, means, shared)
    own = normalise(some.own[asked])[0] @ anchors.T  # (n, A)
    return np.asarray((means[own.argmax(axis=1)] @ unit[asked][:, :, None])[:, :, 0].argmax(axis=1))


def _means(unit: Floats, label: Rows, labels: int) -> Floats:
    sums = np.zeros((labels, unit.shape[1]), unit.dtype)
    np.add.at(sums, label, unit)
    return normalise(sums)[0]


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


def fit_task(
    model: Model,
    file: str,
    name: str,
    *,
    by: str = "sentence",
    report: str = "summary",
    seed: int = 1,
    progress: Progress | None = None,
    **given: Any,
) -> Table:
    """Fit a task, save it as an attention, and tell how it went: summary, epochs or confusion.

    `given` are fields of attention.task.Settings.
    """
    check_free(model, name, task=True)
    begun = time.perf_counter()
    settings = Settings(**{key: value for key, value in given.items() if value is not None})
    task = read_task(model, file, seed)
    ready = prepare(model, task.items, task.labels, seed)
    train = np.flatnonzero([not item.test for item in task.items])
    test = np.flatnonzero([item.test for item in task.items])
    one, other = split([task.items[row] for row in train], by, np.random.default_rng(seed))
    fitted = fit_examples(
        ready, train[one], train[other], len(task.labels), settings, seed, progress
    )
    if len(test):  # what the file sets aside is seen once, here
        made = logits(fitted.parameters, ready.table, fitted.anchors, ready.examples.take(test))
        before = centroids(ready, train, test, len(task.labels))
        right = ready.examples.label[test]
        asked = Asked("test", right, made.argmax(axis=1), float((before == right).mean()))
    else:
        right = ready.examples.label[fitted.held_out]
        asked = Asked("held-out part", right, fitted.given, fitted.before)
    summary: list[tuple[str, Cell]] = [
        ("attention", name),
        ("start", ready.start.name),
        ("labels", ", ".join(task.labels)),
        ("sentences", len(task.items)),
        ("expressions", len(fitted.anchors)),
        ("split", by),
        ("epochs", len(fitted.epochs)),
        ("best_epoch", _best(fitted.epochs)),
        ("measured_on", f"{asked.name}, {len(asked.right)} sentences"),
        *asked.figures().items(),
    ]
    save_attention(model, name, _saved(ready, fitted, task, settings, seed, asked))
    summary.append(("fitting_seconds", f"{time.perf_counter() - begun:.2f}"))
    notes = _notes(task)
    if report == "epochs":
        return Table(
            ("epoch", "loss", "held_out_loss", "held_out_accuracy", "kept"), _epochs(fitted), notes
        )
    if report == "confusion":
        return Table(("label", *task.labels), asked.confusion(task.labels), notes)
    return Table(("property", "value"), summary, notes)


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
    ready: Prepared, fitted: Fitted, task: Task, settings: Settings, seed: int, asked: Asked
) -> Saved:
    p, origin = fitted.parameters, ready.start
    side = Side(origin.features @ p["b_f"].T, origin.salience, origin.heights)
    names: list[str] = [""] * len(fitted.anchors)
    glosses: list[dict[str, str]] = [{} for _ in fitted.anchors]
    nearest = (normalise(ready.examples.own)[0] @ fitted.anchors.T).argmax(axis=1)
    for item, row in zip(task.items, nearest, strict=True):
        if not item.test:
            names[row] = names[row] or item.expression
            glosses[row].setdefault(item.label, item.gloss)
    told = {"labels": task.labels, "expressions": names, "glosses": glosses}
    return Saved(
        as_layer(p),
        side,
        "centred",
        settings={**asdict(settings), "seed": seed, "start": origin.name},
        figures=asked.figures(),
        task=told,
        head={"head": p["head"], "anchors": fitted.anchors},
    )


def _notes(task: Task) -> list[str]:
    notes = [f"line {line}: left out: {reason}" for line, reason in task.unknown]
    if task.left_out > len(task.unknown):
        notes.append(f"{task.left_out} lines are left out in all")
    if task.lines > len(task.items):
        notes.append(f"of {task.lines} sentences a sample of {len(task.items)} was used")
    return notes
