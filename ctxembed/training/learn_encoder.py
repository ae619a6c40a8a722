"""Learn an encoder for a model: it predicts words of its corpus that are hidden or averaged."""

import json
import time
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ctxembed.attention.encoder import MAX_LAYERS, Encoder, random_encoder
from ctxembed.attention.training.hidden_words import Report, Settings, State, learn
from ctxembed.attention.training.pseudowords import split_corpus
from ctxembed.errors import UsageError
from ctxembed.model.attentions import Saved, save_attention
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.storage.arrays import load
from ctxembed.table import PROPERTIES, Cell, Chart, Table
from ctxembed.text.index import Index
from ctxembed.training.checkpoints import open_checkpoint

WORDS, PASSES = 40_000_000, 10  # read at most; of a small corpus, so many times all of it
LAYERS, HEADS = 2, 8
FIGURES = {"loss": "loss", "hidden_words": "hidden", "averaged_words": "averaged"}  # of a Score
WIDTH = 128  # of the blocks
MAX_HELD_OUT, HELD_OUT = 500_000, 0.05  # words, and share of the corpus, at its end


@dataclass(frozen=True)
class EncoderLearned:
    """A learned encoder and how learning went."""

    name: str
    saved: Saved
    report: Report  # the last one
    curve: list[tuple[int, float, float]]  # step, loss, least held-out loss so far
    seconds: float

    def summary(self) -> dict[str, Cell]:
        """Return the size, words, why learning ended, validation figures and seconds, by name."""
        layer, report = self.saved.layer, self.report
        size = layer.size if isinstance(layer, Encoder) else {}
        return {
            **size, "steps": report.step, "words": report.words, "ended": report.why,
            **self.saved.figures, "learning_seconds": f"{self.seconds:.2f}",
        }  # fmt: skip

    def to_table(self) -> Table:
        """Return a row for each property, with the loss as its picture."""
        title = f"{self.name}: loss on words of the corpus, and the least so far on held-out ones"
        curve = Table(("step", "loss", "held_out_loss"), self.curve)
        chart = Chart("lines", curve.names[1:], "step", title=title, of=lambda: curve)
        kept = "no improvement on the start, a random encoder; the start was kept"
        rows = [("attention", self.name), *self.summary().items()]
        return Table(PROPERTIES, rows, [] if self.report.improved else [kept], chart=chart)


def learn_encoder(
    model: Model, index: Index, name: str, seed: int, again: bool, progress: Progress, *,
    layers: int | None = None, heads: int | None = None, epochs: float | None = None,
    **options: Any,
) -> EncoderLearned:  # fmt: skip
    """Learn an encoder on an index and save it under a name; after an interrupt, the best so far.

    epochs: passes over the corpus. options: fields of attention.training.hidden_words.Settings.
    """
    layers, heads = layers or LAYERS, heads or HEADS
    if layers > MAX_LAYERS or WIDTH % heads:
        raise UsageError(f"an encoder has 1 to {MAX_LAYERS} layers, and its heads divide {WIDTH}")
    tokens = len(index.ids)
    words = max(1, round(epochs * tokens)) if epochs is not None else min(WORDS, PASSES * tokens)
    options = {key: value for key, value in options.items() if value is not None}
    settings, started = Settings(**{"words": words, **options}), time.perf_counter()
    x = np.ascontiguousarray(model.centred)
    positions, starts = (load(index.folder / f"{file}.npy") for file in ("positions", "starts"))
    held_out_share = min(HELD_OUT, MAX_HELD_OUT / max(1, tokens))
    seen, held_out = split_corpus(index.ids, index.offsets, positions, starts, held_out_share)
    rng = np.random.default_rng(seed)
    depends = {"layer": "encoder", "layers": layers, "heads": heads, "seed": seed}
    checkpoint = open_checkpoint(model, index, name, depends | asdict(settings), again, progress)
    state = State.start(random_encoder(model.dim, layers, rng, WIDTH, heads), rng)
    if earlier := checkpoint.load():
        state.restore(earlier["arrays"], json.loads(str(earlier["numbers"])))
    report, curve, done, interrupted = None, list[tuple[int, float, float]](), 0.0, False
    try:
        with progress.stage("encoder", 100, "%") as stage:
            for report in learn(x, state, seen, held_out, settings, seed):
                best = report.best_score
                stage.advance(100 * (report.done - done))
                right = f"hidden {best.hidden:.3f}, averaged {best.averaged:.3f}"
                stage.say(f"loss {report.loss:.3f}, {right}")
                curve.append((report.step, report.loss, best.loss))
                done = report.done
                numbers = json.dumps(state.numbers())
                checkpoint.save({"step": state.step, "arrays": state.arrays(), "numbers": numbers})
    except KeyboardInterrupt:
        if report is None or not report.improved:
            raise
        interrupted = True
    assert report is not None
    seconds = time.perf_counter() - started
    kept = {key: value for key, value in asdict(settings).items() if value is not None}
    kept |= {"seed": seed, "steps_taken": report.step, "words_read": report.words}
    kept |= {"ended": report.why or "interrupted"}
    figures = {
        f"{figure}{when}": round(float(getattr(score, part)), 4)
        for figure, part in FIGURES.items()
        for when, score in (("_before", report.first), ("", report.best_score))
    }
    saved = Saved(report.best, settings=kept, figures=figures)
    save_attention(model, name, saved)
    if interrupted:
        progress.note(f"interrupted; {name} is the best encoder up to step {report.step}")
        raise KeyboardInterrupt
    checkpoint.remove()
    return EncoderLearned(name, saved, report, curve, seconds)
