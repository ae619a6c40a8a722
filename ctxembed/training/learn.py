"""Learn attention for a model, from its own corpus."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import start
from ctxembed.attention.terms.walls import count_heights
from ctxembed.attention.terms.word_bias import word_features
from ctxembed.attention.training.learning import Report, Settings, learn
from ctxembed.attention.training.pseudowords import split
from ctxembed.errors import CorpusError
from ctxembed.model.attentions import Saved, check_free, save_attention
from ctxembed.model.bundled import on_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.storage.arrays import load
from ctxembed.table import PROPERTIES, Cell, Chart, Table
from ctxembed.text.corpus import as_corpus
from ctxembed.text.index import Index
from ctxembed.training.index_ import read_for

HELD_OUT = 0.05  # of the corpus, at its end
FEWEST_STEPS, MOST_STEPS, WORDS_A_STEP = 200, 4000, 180  # a small corpus is soon learned
FIGURES = {"loss": "loss", "pseudowords": "plain", "spliced": "spliced"}  # of a Score
WALLS = 20_000_000  # words that are enough to count the height of each


def begin(
    model: Model, index: Index | None, rng: np.random.Generator, heads: int = 4, reach: int = 24
) -> Layer:
    """Make the layer that learning starts from; without a corpus, no word is a wall."""
    features = word_features(np.asarray(model.vectors), np.asarray(model.seen))
    heights = np.zeros(len(features), np.float32)
    if index is not None:
        heights = count_heights(index.ids, index.offsets, len(features), WALLS)
    return start(model.dim, rng, features, heights, heads=heads, reach=reach)


@on_model(*PROPERTIES)
def learn_attention(
    model: Model,
    /,
    name: str = "learned",
    *,
    corpus: str | Sequence[str] = (),
    positions: str = "learned",
    epochs: float | None = None,
    seed: int = 1,
    progress: Progress = SILENT,
    **given: Any,
) -> Table:
    """Learn attention for a model from its corpus, or another one, and save it under a name.

    positions: "learned" or "decay". An epoch is a thousand batches. `given` are fields of
    attention.learning.Settings, such as heads and minutes.
    """
    refuse_bundled(model.path)
    check_free(model, name, task=False)
    given |= {"positions": positions == "learned"}
    if epochs is not None:
        given["steps"] = max(1, round(1000 * epochs))
    if not corpus:
        if model.index is None:
            raise CorpusError(f"{model.path} has no corpus to learn from; give one with --corpus")
        return _learn_on(model, model.index, name, seed, progress, given)
    with tempfile.TemporaryDirectory() as work:
        counted, _, _ = read_for(model, as_corpus(corpus), Path(work), progress)
        index = Index(Path(work), model.vocabulary.words, counted.files)
        return _learn_on(model, index, name, seed, progress, given)


def _learn_on(
    model: Model, index: Index, name: str, seed: int, progress: Progress, given: dict[str, Any]
) -> Table:
    """Learn W_Q, W_K, W_V, W_O and the biases on pseudowords, and save them under a name.

    An interrupt keeps what was validated.
    """
    size = min(MOST_STEPS, max(FEWEST_STEPS, len(index.ids) // WORDS_A_STEP))
    chosen = {"steps": size} | {key: value for key, value in given.items() if value is not None}
    settings = Settings(**chosen)
    begun = time.perf_counter()
    x = np.ascontiguousarray(model.centred)
    positions, starts = (load(index.folder / f"{file}.npy") for file in ("positions", "starts"))
    seen, held_out = split(index.ids, index.offsets, positions, starts, HELD_OUT)

    def first(rng: np.random.Generator) -> Layer:
        return begin(model, index, rng, settings.heads, settings.reach)

    report: Report | None = None
    curve: list[tuple[Cell, ...]] = []
    done, interrupted = 0.0, False
    try:
        with progress.stage("attention", 100, "%") as stage:
            for report in learn(x, first, seen, held_out, settings, seed):
                stage.advance(100 * (report.done - done))
                done, loss, best = report.done, report.loss, report.best_score
                stage.say(
                    f"loss {loss:.3f}, pseudowords {best.plain:.3f}, spliced {best.spliced:.3f}"
                )
                curve.append((report.step, loss, best.loss))
    except KeyboardInterrupt:
        if report is None or report.step == 0 or report.best_score is report.first:
            raise
        interrupted = True
    assert report is not None
    seconds = time.perf_counter() - begun
    saved = _saved(report, settings, seed)
    save_attention(model, name, saved)
    if interrupted:
        progress.note(f"interrupted; {name} is what was validated up to step {report.step}")
        raise KeyboardInterrupt
    return _table(name, saved, report, curve, seconds)


def _saved(report: Report, settings: Settings, seed: int) -> Saved:
    told = {key: value for key, value in asdict(settings).items() if value is not None}
    told |= {f"weight_{key}": value for key, value in told.pop("weights").items()}
    return Saved(
        report.best,
        settings={**told, "seed": seed, "steps_taken": report.step, "ended": report.why},
        figures={
            f"{figure}{when}": round(getattr(score, part), 4)
            for figure, part in FIGURES.items()
            for when, score in (("_before", report.first), ("", report.best_score))
        },
    )


def _table(
    name: str, saved: Saved, report: Report, curve: list[tuple[Cell, ...]], seconds: float
) -> Table:
    rows: list[tuple[str, Cell]] = [
        ("attention", name),
        ("heads", saved.layer.heads),
        ("own_share", saved.layer.own),
        ("steps", report.step),
        ("ended", report.why),
        *saved.figures.items(),
        ("learning_seconds", f"{seconds:.2f}"),
    ]
    notes = []
    if report.best_score is report.first:
        notes.append(
            "learning did not improve on the start, which is general attention that looks twice;"
            " that was kept"
        )
    chart = Chart(
        "lines",
        ["loss", "held_out_loss"],
        "step",
        title=f"{name}: loss on pseudowords, and the least so far on held-out ones",
        of=lambda: Table(("step", "loss", "held_out_loss"), curve),
    )
    return Table(PROPERTIES, rows, notes, chart=chart)
