"""Answer `evaluate`: score every representation of a model on the same benchmark items."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

import numpy as np

from ctxembed.context.representation import Representation
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import open_encoders
from ctxembed.errors import UsageError
from ctxembed.evaluation.analogies import analogies
from ctxembed.evaluation.calibration import CALIBRATION, tabulate_calibration
from ctxembed.evaluation.definitions import definitions
from ctxembed.evaluation.figures import EVALUATE, SOURCE, Scores, average, tabulate
from ctxembed.evaluation.items import RandomVectors, Reader
from ctxembed.evaluation.pseudowords import Text, merge_words, other_text, own_text
from ctxembed.evaluation.reach import (
    DISTANCE,
    KEPT,
    ReachResult,
    build_words,
    measure_reach,
    measure_speed,
)
from ctxembed.evaluation.senses import read_labelled, score_senses
from ctxembed.evaluation.similarity import context_free, scws, similarity
from ctxembed.evaluation.substitution import substitution
from ctxembed.evaluation.wic import wic
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.table import Table
from ctxembed.text.corpus import Corpus
from ctxembed.text.lines import Decoding

KINDS: dict[str, tuple[str, int, float]] = {  # the files of each, their least and largest number
    "similarity": ("FILE...", 1, inf), "wic": ("DATA GOLD", 2, 2), "scws": ("FILE", 1, 1),
    "senses": ("DIR|FILE...", 1, inf), "pseudowords": ("[CORPUS...]", 0, inf),
    "analogies": ("FILE", 1, 1), "substitution": ("DATA GOLD", 2, 2),
    "reach": ("[CORPUS...]", 0, inf), "definitions": ("FILE.tsv|DATA.xml GOLD...", 1, inf),
}  # fmt: skip


@on_model(*EVALUATE, SOURCE, DISTANCE, *KEPT, *CALIBRATION[1:4])
def evaluate(
    model: Model, kind: str, files: str | Sequence[str] = (), *,
    train: tuple[str, str] | None = None, candidates: str | None = None,
    encoders: Sequence[Representation | str] = (), pairs: int = 20, by_word: bool = False,
    dictionaries: Sequence[str] = (), calibration: bool = False, published: bool = False,
    speed: bool = False, encoding: str = "utf-8", errors: str = "strict", seed: int = 1,
    progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Return the figures of a benchmark, one of KINDS, for each representation.

    calibration: of definitions, how often answers are right, by how sure they are, instead.
    """
    files = [files] if isinstance(files, str) else files
    only = {
        "train": (train, "wic"), "candidates": (candidates, "substitution"),
        "dictionary": (dictionaries, "definitions"), "calibration": (calibration, "definitions"),
        "speed": (speed, "reach"),
    }  # fmt: skip
    _check(kind, files, only)
    reader = Reader(model, Decoding(encoding, errors))
    known, chance = Representations.of(model), RandomVectors(np.random.default_rng([seed, 1]))
    own = (known.get(name) for name in known.names())
    scored: list[Representation] = [chance, *own, *open_encoders(encoders, model)]
    notes: list[str] = []
    sets: list[Scores]
    if kind == "reach":
        if speed:
            return measure_speed(model, scored[1:], seed).to_table()
        return _reach(reader, files, scored, pairs, seed, progress).to_table()
    if kind == "similarity":
        sets = [similarity(reader, file, context_free(model, scored), seed) for file in files]
    elif kind == "wic":
        sets = [wic(reader, files, train, scored, seed)]
        if not train:
            notes.append("the threshold is the median cosine; --train DATA GOLD fits it")
    elif kind == "scws":
        sets = scws(reader, files[0], scored, seed)
    elif kind == "senses":
        words = [word for file in files for word in read_labelled(reader, Path(file))]
        numbered = enumerate(words)
        sets = [score_senses(word, scored, (seed, number), progress) for number, word in numbered]
        if len(sets) > 1:
            sets = [*(sets if by_word else ()), average("mean", sets)]
            if not by_word:
                notes.append(f"the mean of {len(words)} words; --by-word prints each of them")
    elif kind == "pseudowords":
        sets = _pseudowords(reader, files, scored, pairs, by_word, seed, progress)
    elif kind == "substitution":
        sets, notes = substitution(reader, files, candidates, scored, seed, progress)
    elif kind == "definitions":
        sets, calibrations, notes = definitions(reader, files, dictionaries, seed, progress)
        if calibration:
            return tabulate_calibration(calibrations, notes)
    else:
        sets = analogies(reader, files[0], seed, progress)
    return tabulate(kind, sets, published=published, notes=notes)


def _check(kind: str, files: Sequence[str], only: Mapping[str, tuple[object, str]]) -> None:
    """Raise UsageError for a wrong kind, number of files, or option; only: options of one kind."""
    if kind not in KINDS:
        raise UsageError(f"no benchmark {kind!r}; there are {', '.join(KINDS)}")
    names, min_files, max_files = KINDS[kind]
    if not min_files <= len(files) <= max_files:
        raise UsageError(f"write: ctxembed evaluate {kind} {names}")
    for option, (value, own) in only.items():
        if value and kind != own:
            raise UsageError(f"--{option} is for {own}, not for {kind}")


def _pseudowords(
    reader: Reader, files: Sequence[str], scored: Sequence[Representation], pairs: int,
    by_word: bool, seed: int, progress: Progress,
) -> list[Scores]:  # fmt: skip
    """Return the scores of pseudowords: the mean of each frequency band, and of all."""
    text = _read_text(reader, files, progress)
    bands: dict[str, list[Scores]] = {}
    merged = list(merge_words(reader.model, text, pairs, np.random.default_rng(seed)))
    with progress.stage("pseudowords", len(merged), "pair") as stage:
        for number, (band, word) in enumerate(merged):
            bands.setdefault(band, []).append(score_senses(word, scored, (seed, number), SILENT))
            stage.advance()
    every = [scores for words in bands.values() for scores in words]
    averages = [average(band, words) for band, words in bands.items()]
    if not by_word:
        for scores in averages:  # one figure a band is enough to read; the mean has them all
            scores.figures = {"accuracy": scores.figures["accuracy"]}
    return [*(every if by_word else ()), *averages, average("mean", every)]


def _reach(
    reader: Reader, files: Sequence[str], scored: Sequence[Representation], pairs: int, seed: int,
    progress: Progress,
) -> ReachResult:  # fmt: skip
    """Return the accuracy on pseudowords by distance of the deciding words."""
    model, rng = reader.model, np.random.default_rng(seed)
    if not files and model.index is None:
        note = "the model has no text: the deciding words are words near one of the two"
        result = measure_reach(model, list(build_words(model, pairs, rng)), scored, seed, progress)
        return replace(result, notes=[note])
    merged = merge_words(model, _read_text(reader, files, progress), pairs, rng)
    return measure_reach(model, [word for _, word in merged], scored, seed, progress)


def _read_text(reader: Reader, files: Sequence[str], progress: Progress) -> Text:
    """Return the text in files, or the model's own."""
    if not files:
        return own_text(reader.model)
    corpus = Corpus(files, reader.decoding.encoding, reader.decoding.errors)
    return other_text(reader.model, corpus, progress)
