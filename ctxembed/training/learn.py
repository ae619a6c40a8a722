"""Learn attention for a model, from its own corpus."""

import tempfile
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import starting_layer
from ctxembed.attention.recurrent import AnyLayer, Recurrent, random_recurrent
from ctxembed.attention.terms import count_heights, word_features
from ctxembed.attention.training.learning import Report, Settings, learn
from ctxembed.attention.training.objective import Weights
from ctxembed.attention.training.pseudowords import split_corpus
from ctxembed.errors import CorpusError, UsageError
from ctxembed.model.attentions import Saved, check_free, save_attention
from ctxembed.model.bundled import on_model, refuse_bundled
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.storage.arrays import load
from ctxembed.table import PROPERTIES, Cell, Chart, Table
from ctxembed.text.corpus import Corpus, as_corpus
from ctxembed.text.index import Index
from ctxembed.training.checkpoints import open_checkpoint
from ctxembed.training.index_ import index_corpus

if TYPE_CHECKING:
    from ctxembed.training.learn_encoder import EncoderLearned

STARTING_LAYER = "general attention with two looks"
RECURRENT_RATE = 4e-3  # Adam's, chosen on held-out pseudowords
# Filler has walls too: without a least weight, and more spliced sentences, far contexts would teach
# to look past clauses.
FAR = {"far": 0.15, "spliced": 4, "min_wall": 0.75, "weights": Weights(spliced=6.0)}
HELD_OUT = 0.05  # of the corpus, at its end
MIN_STEPS, MAX_STEPS, WORDS_PER_STEP = 200, 4000, 180  # a small corpus needs fewer steps
FIGURES = {"loss": "loss", "pseudowords": "plain", "spliced": "spliced"}  # fields of a Score
HEIGHT_WORDS = 20_000_000  # enough words to count the wall height of each


@dataclass(frozen=True)
class LearnResult:
    """A learned attention and how learning went."""

    name: str
    saved: Saved
    report: Report  # the last one
    seconds: float

    def summary(self) -> dict[str, Cell]:
        """Return the size, steps, why learning ended, validation figures and seconds, by name."""
        layer = self.saved.layer
        assert isinstance(layer, Layer | Recurrent)
        return {
            **({"state": layer.size} if isinstance(layer, Recurrent) else {"heads": layer.heads}),
            "own_share": layer.own, "steps": self.report.step, "ended": self.report.why,
            **self.saved.figures, "learning_seconds": f"{self.seconds:.2f}",
        }  # fmt: skip

    def to_table(self) -> Table:
        """Return a row for each property, with the loss as its picture."""
        title = f"{self.name}: loss on pseudowords, and the least so far on held-out ones"
        curve = Table(("step", "loss", "held_out_loss"), self.report.curve)
        chart = Chart("lines", curve.names[1:], "step", title=title, of=lambda: curve)
        start = "a random network" if self.saved.kind == "recurrent" else STARTING_LAYER
        kept = f"no improvement on the start, {start}; the start was kept"
        rows = [("attention", self.name), *self.summary().items()]
        return Table(PROPERTIES, rows, [] if self.report.improved else [kept], chart=chart)


@on_model(*PROPERTIES)
def learn_attention(model: Model, /, name: str | None = None, **options: Any) -> Table:
    """Learn attention, a recurrent network or an encoder for a model and return a summary.

    name: default "learned", "recurrent" or "encoder". options: those of learn_model.
    """
    layer = options.get("layer", "attention")
    name = name or ("learned" if layer == "attention" else layer)
    return learn_model(model, name, **options).to_table()


def initial_layer(
    model: Model, index: Index | None, rng: np.random.Generator, heads: int = 4, reach: int = 24
) -> Layer:
    """Return the layer that learning starts from; without a corpus, all wall heights are 0."""
    features = word_features(np.asarray(model.vectors), np.asarray(model.seen))
    heights = np.zeros(len(features), np.float32)
    if index is not None:
        heights = count_heights(index.ids, index.offsets, len(features), HEIGHT_WORDS)
    return starting_layer(model.dim, rng, features, heights, heads=heads, reach=reach)


def learn_model(
    model: Model, /, name: str = "learned", *, layer: str = "attention",
    corpus: Corpus | str | Sequence[str] = (), positions: str = "learned", far: bool = False,
    epochs: float | None = None, seed: int = 1, again: bool = False, progress: Progress = SILENT,
    layers: int | None = None, heads: int | None = None, quick: bool = False, **options: Any,
) -> "LearnResult | EncoderLearned":  # fmt: skip
    """Learn a layer for a model from its corpus, or another one, and save it under a name.

    A run that was interrupted is continued by the next one with the same settings, unless `again`.

    layer: "attention", "recurrent" or "encoder". positions: of attention, "learned" or "decay".
    far: of attention, learn also from contexts far from their target.
    epochs: thousands of batches; of an encoder, passes over the corpus. layers: of an encoder.
    heads: default 4, of an encoder 8. quick: end where held-out pseudowords gain little more.
    options: fields of Settings in attention.training.learning, or hidden_words; such as minutes.
    """
    refuse_bundled(model.path)
    check_free(model, name, task=False, kind=layer)
    if layer == "recurrent" and heads is not None:
        raise UsageError("--heads is of --layer attention and encoder; leave it out")
    if layer != "attention" and (far or positions != "learned"):
        raise UsageError("--positions and --far are of --layer attention; leave them out")
    if layer == "encoder" and quick:
        raise UsageError("--quick is of --layer attention and recurrent; leave it out")
    if layer != "encoder" and layers is not None:
        raise UsageError("--layers is of --layer encoder; leave it out")
    with tempfile.TemporaryDirectory() as work:
        index = model.index
        if corpus:
            counted, _, _ = index_corpus(model, as_corpus(corpus), Path(work), progress)
            index = Index(Path(work), model.vocabulary.words, counted.files)
        if index is None:
            raise CorpusError(f"{model.path} has no corpus to learn from; give one with --corpus")
        if layer == "encoder":
            from ctxembed.training.learn_encoder import learn_encoder

            size: dict[str, Any] = {"layers": layers, "heads": heads}
            return learn_encoder(
                model, index, name, seed, again, progress, epochs=epochs, **size, **options
            )
        options |= {"positions": positions == "learned", "heads": heads, "quick": quick}
        options |= FAR if far else {}
        if epochs is not None:
            options["steps"] = max(1, round(1000 * epochs))
        return _learn_on(model, index, name, layer, seed, again, progress, options)


def _learn_on(
    model: Model,
    index: Index,
    name: str,
    layer: str,
    seed: int,
    again: bool,
    progress: Progress,
    options: dict[str, Any],
) -> LearnResult:
    """Learn on pseudowords and save under a name; after an interrupt, the best validated layer."""
    steps = min(MAX_STEPS, max(MIN_STEPS, len(index.ids) // WORDS_PER_STEP))
    options = {key: value for key, value in options.items() if value is not None}
    rate = {"rate": RECURRENT_RATE} if layer == "recurrent" else {}
    settings, started = Settings(**{"steps": steps, **rate, **options}), time.perf_counter()
    x = np.ascontiguousarray(model.centred)
    positions, starts = (load(index.folder / f"{file}.npy") for file in ("positions", "starts"))
    seen, held_out = split_corpus(index.ids, index.offsets, positions, starts, HELD_OUT)

    def first(rng: np.random.Generator) -> AnyLayer:
        if layer == "recurrent":
            return random_recurrent(model.dim, rng)
        return initial_layer(model, index, rng, settings.heads, settings.reach)

    depends = {"layer": layer, "seed": seed, **asdict(settings)}
    checkpoint = open_checkpoint(model, index, name, depends, again, progress)
    report, done, interrupted = None, 0.0, False
    try:
        with progress.stage(layer, 100, "%") as stage:
            for report in learn(x, first, seen, held_out, settings, seed, checkpoint):
                best = report.best_score
                stage.advance(100 * (report.done - done))
                right = f"pseudowords {best.plain:.3f}, spliced {best.spliced:.3f}"
                stage.say(f"loss {report.loss:.3f}, {right}")
                done = report.done
    except KeyboardInterrupt:
        if report is None or not report.improved:
            raise
        interrupted = True
    assert report is not None
    seconds = time.perf_counter() - started + report.earlier
    kept = {key: value for key, value in asdict(settings).items() if value is not None}
    kept |= {f"weight_{key}": value for key, value in kept.pop("weights").items()}
    figures = {
        f"{figure}{when}": round(getattr(score, part), 4)
        for figure, part in FIGURES.items()
        for when, score in (("_before", report.first), ("", report.best_score))
    }
    if layer == "recurrent":
        kept = {key: value for key, value in kept.items() if key not in ("heads", "positions")}
    kept |= {"seed": seed, "steps_taken": report.step, "ended": report.why}
    saved = Saved(report.best, settings=kept, figures=figures)
    save_attention(model, name, saved)
    if interrupted:
        progress.note(f"interrupted; {name} is the best layer up to step {report.step}")
        raise KeyboardInterrupt
    checkpoint.remove()
    return LearnResult(name, saved, report, seconds)
