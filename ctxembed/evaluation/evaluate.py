"""A claim about embeddings is worth its benchmark: every representation on the same items."""

from collections.abc import Sequence
from math import inf
from pathlib import Path

import numpy as np

from ctxembed.context.representations import Representation
from ctxembed.context.sentences import open_encoders
from ctxembed.errors import UsageError
from ctxembed.evaluation.analogies import analogies
from ctxembed.evaluation.figures import EVALUATE, SOURCE, Scores, average, tabulate
from ctxembed.evaluation.items import list_scored
from ctxembed.evaluation.pseudowords import merge_words, other_text, own_text
from ctxembed.evaluation.scws import scws
from ctxembed.evaluation.senses import read_labelled, score
from ctxembed.evaluation.similarity import similarity, without_context
from ctxembed.evaluation.substitution import substitution
from ctxembed.evaluation.wic import wic
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.table import Table
from ctxembed.text.corpus import Corpus

KINDS: dict[str, tuple[str, int, float]] = {  # the files each takes, at least and at most so many
    "similarity": ("FILE...", 1, inf),
    "wic": ("DATA GOLD", 2, 2),
    "scws": ("FILE", 1, 1),
    "senses": ("DIR|FILE...", 1, inf),
    "pseudowords": ("[CORPUS...]", 0, inf),
    "analogies": ("FILE", 1, 1),
    "substitution": ("DATA GOLD", 2, 2),
}


@on_model(*EVALUATE, SOURCE)
def evaluate(
    model: Model,
    kind: str,
    files: str | Sequence[str] = (),
    *,
    train: tuple[str, str] | None = None,
    candidates: str | None = None,
    encoders: Sequence[Representation | str] = (),
    pairs: int = 20,
    by_word: bool = False,
    published: bool = False,
    seed: int = 1,
    progress: Progress = SILENT,
) -> Table:
    """Score a benchmark: similarity, wic, scws, senses, pseudowords, analogies, substitution."""
    files = [files] if isinstance(files, str) else files
    _check(kind, files, train, candidates)
    scored = list_scored(model, seed, open_encoders(encoders, model))
    notes: list[str] = []
    sets: list[Scores]
    if kind == "similarity":
        lone = without_context(model, scored)
        sets = [similarity(model, file, lone, seed) for file in files]
    elif kind == "wic":
        sets = [wic(model, (files[0], files[1]), train, scored, seed)]
        if not train:
            notes.append("the threshold is the median cosine; --train DATA GOLD fits it")
    elif kind == "scws":
        sets = scws(model, files[0], scored, seed)
    elif kind == "senses":
        labelled = [word for file in files for word in read_labelled(model, Path(file))]
        sets = [
            score(word, scored, (seed, number), progress) for number, word in enumerate(labelled)
        ]
        if len(sets) > 1:
            sets = [*(sets if by_word else ()), average("mean", sets)]
            if not by_word:
                notes.append(f"the mean of {len(labelled)} words; --by-word prints each of them")
    elif kind == "pseudowords":
        sets = _pseudowords(model, files, scored, pairs, by_word, seed, progress)
    elif kind == "substitution":
        asked = (files[0], files[1])
        sets, notes = substitution(model, asked, candidates, scored, seed, progress)
    else:
        sets = analogies(model, files[0], seed, progress)
    return tabulate(kind, sets, published=published, notes=notes)


def _check(kind: str, files: Sequence[str], train: object, candidates: object) -> None:
    if kind not in KINDS:
        raise UsageError(f"no benchmark {kind!r}; there are {', '.join(KINDS)}")
    names, least, most = KINDS[kind]
    if not least <= len(files) <= most:
        raise UsageError(f"write: ctxembed evaluate {kind} {names}")
    if train and kind != "wic":
        raise UsageError(f"--train is for wic, not for {kind}")
    if candidates and kind != "substitution":
        raise UsageError(f"--candidates is for substitution, not for {kind}")


def _pseudowords(
    model: Model,
    files: Sequence[str],
    scored: Sequence[Representation],
    pairs: int,
    by_word: bool,
    seed: int,
    progress: Progress,
) -> list[Scores]:
    text = other_text(model, Corpus(files), progress) if files else own_text(model)
    bands: dict[str, list[Scores]] = {}
    merged = list(merge_words(model, text, pairs, np.random.default_rng(seed)))
    with progress.stage("pseudowords", len(merged), "pair") as stage:
        for number, (band, word) in enumerate(merged):
            scores = score(word, scored, (seed, number), SILENT)
            bands.setdefault(band, []).append(scores)
            stage.advance()
    every = [scores for words in bands.values() for scores in words]
    averages = [average(band, words) for band, words in bands.items()]
    if not by_word:
        for scores in averages:  # one figure a band is enough to read; the mean has them all
            scores.figures = {"accuracy": scores.figures["accuracy"]}
    return [*(every if by_word else ()), *averages, average("mean", every)]
