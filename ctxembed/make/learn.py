"""Learn attention for a model, from its own corpus."""

import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.attention.learning import NothingToLearn, Report, Settings, learn
from ctxembed.attention.pseudowords import split
from ctxembed.attention.starts import start
from ctxembed.attention.terms.walls import count_heights
from ctxembed.attention.terms.word_bias import word_features
from ctxembed.errors import CorpusError, CtxembedError
from ctxembed.progress import SILENT, Progress
from ctxembed.static.engine import cores
from ctxembed.store.attentions import Saved, check_free, save_attention
from ctxembed.store.model import Model
from ctxembed.store.places import on_model, refuse_bundled
from ctxembed.table import PROPERTIES, Cell, Chart, Table
from ctxembed.text.build_index import build, renumber_for, write_occurrences
from ctxembed.text.corpus import as_corpus
from ctxembed.text.index import Index
from ctxembed.text.npy import load
from ctxembed.text.phrases import Phrases, join_known

HELD_OUT = 0.05  # of the corpus, at its end
FEWEST_STEPS, MOST_STEPS, WORDS_A_STEP = 200, 4000, 180  # a small corpus is soon learned
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
    progress: Progress = SILENT,
    **given: Any,
) -> Table:
    """Learn attention for a model from its corpus, or another one, and save it under a name.

    positions: "learned" or "decay". An epoch is a thousand batches. `given` are a seed and fields
    of the layer's Settings, such as heads and minutes.
    """
    refuse_bundled(model.path)
    given |= {"positions": positions == "learned", "progress": progress}
    if epochs is not None:
        given["steps"] = max(1, round(1000 * epochs))
    if corpus:
        return learn_from(model, corpus, name, **given)
    return learn_on(model, name, **given)


def learn_on(
    model: Model,
    name: str = "learned",
    *,
    index: Index | None = None,
    seed: int = 1,
    progress: Progress = SILENT,
    **given: Any,
) -> Table:
    """Learn W_Q, W_K, W_V, W_O and the biases on pseudowords, and save them under a name.

    `given` are fields of attention.learn.Settings. An interrupt keeps what was validated.
    """
    check_free(model, name, task=False)
    corpus = index or model.index
    if corpus is None:
        raise CorpusError(f"{model.path} has no corpus to learn from; give one with --corpus")
    size = min(MOST_STEPS, max(FEWEST_STEPS, len(corpus.ids) // WORDS_A_STEP))
    chosen = {"steps": size} | {key: value for key, value in given.items() if value is not None}
    settings = Settings(**chosen)
    begun = time.perf_counter()
    x = np.ascontiguousarray(model.centred)
    seen, held_out = split(
        corpus.ids,
        corpus.offsets,
        load(corpus.folder / "positions.npy"),
        load(corpus.folder / "starts.npy"),
        HELD_OUT,
    )

    def first(rng: np.random.Generator) -> Layer:
        return begin(model, corpus, rng, settings.heads, settings.reach)

    report: Report | None = None
    curve: list[tuple[Cell, ...]] = []
    interrupted = False
    try:
        for latest in _shown(learn(x, first, seen, held_out, settings, seed), progress):
            report = latest
            curve.append((latest.step, latest.loss, latest.best_score.loss))
    except NothingToLearn as nothing:
        raise NothingLearned(
            f"there is nothing to learn attention from: {nothing}."
            " General attention answers in its place"
        ) from None
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


class NothingLearned(CtxembedError):
    """The corpus is too small to learn attention from; the model answers without it."""

    exit_code = CorpusError.exit_code


def _shown(reports: Iterator[Report], progress: Progress) -> Iterator[Report]:
    with progress.stage("attention", 100, "%") as stage:
        done = 0.0
        for report in reports:
            stage.advance(100 * (report.done - done))
            done = report.done
            best = report.best_score
            stage.say(
                f"loss {report.loss:.3f}, pseudowords {best.plain:.3f}, spliced {best.spliced:.3f}"
            )
            yield report


def _saved(report: Report, settings: Settings, seed: int) -> Saved:
    first, score = report.first, report.best_score
    told = {key: value for key, value in asdict(settings).items() if value is not None}
    told |= {f"weight_{key}": value for key, value in told.pop("weights").items()}
    return Saved(
        report.best,
        "centred",
        settings={**told, "seed": seed, "steps_taken": report.step, "ended": report.why},
        figures={
            "loss_before": round(first.loss, 4),
            "loss": round(score.loss, 4),
            "pseudowords_before": round(first.plain, 4),
            "pseudowords": round(score.plain, 4),
            "spliced_before": round(first.spliced, 4),
            "spliced": round(score.spliced, 4),
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


def learn_from(
    model: Model, names: str | Sequence[str], name: str, progress: Progress, **settings: Any
) -> Table:
    """Learn from a corpus that the model was not trained on: its words become the model's rows."""
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        counted = build(as_corpus(names), model.tokenizer, folder, cores(), progress)
        if isinstance(model.tokenizer, Phrases):
            counted = join_known(folder, counted, model.tokenizer)
        rows = [model.find(word) for word in counted.types]
        counts = renumber_for(folder, rows, len(model.vocab))
        write_occurrences(folder, counts)
        index = Index(folder, model.vocab, counted.files)
        return learn_on(model, name, index=index, progress=progress, **settings)
