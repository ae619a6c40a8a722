"""A small copy of a model to give away: 8 bits a number, and none of its text."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from ctxembed.model.attentions import Saved, digest, load_attention, save_attention
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses, save_senses
from ctxembed.model.write import write_files
from ctxembed.static.frames import narrow_frames
from ctxembed.storage.atomic import written_whole
from ctxembed.table import PROPERTIES, Cell, Table

BESIDE = 30  # words of a frame: many words with a short one say more than few with a long one
MARKERS = 8  # of each sense, words that name it
DIGITS = 4  # of what is told about them
# What writing says anew.
MADE = ("format", "version", "vocabulary", "dim", "fingerprint", "contents", "generation")


@on_model(*PROPERTIES)
def shrink(
    model: Model,
    output: str | Path,
    *,
    words: int | None = None,
    about: str | None = None,
    frames: int = 0,
    without: Mapping[str, Sequence[int]] | None = None,
    force: bool = False,
) -> Table:
    """Copy vectors, attentions and saved senses, not the corpus; the most frequent `words` only.

    frames: of how many words what stands beside them comes along, for substitutes.
    without: by word, which saved senses stay behind, from 1; all where none is named.
    """
    kept = min(words or len(model.vocabulary), len(model.vocabulary))
    meta = {name: value for name, value in model.meta.items() if name not in MADE}
    meta |= {"about": about} if about else {}
    meta["dropped_words"] = meta.get("dropped_words", 0) + len(model.vocabulary) - kept
    meta["files"] = [{**file, "name": Path(file["name"]).name} for file in meta.get("files", [])]
    with written_whole(Path(output), replace=force) as folder:
        counts = np.array(model.seen[:kept])
        fits = counts.max(initial=0) < 2**31
        short = counts.astype(np.int32) if fits else counts
        vectors = model.vectors[:kept]
        write_files(folder, model.vocabulary.words[:kept], short, vectors, None, meta, small=True)
        np.save(folder / "mean.npy", np.asarray(model.mean))  # what attention was learned with
        if model.frames is not None and frames:
            np.save(folder / "frames.npy", narrow_frames(model.frames[: min(frames, kept)], BESIDE))
        small = Model.open(folder)
        copy_attentions(model, small)
        senses = _copy_senses(model, small, without or {})
        size = sum(item.stat().st_size for item in folder.rglob("*") if item.is_file())
    rows: list[tuple[str, Cell]] = [
        ("words", kept),
        ("dim", model.dim),
        ("senses", senses),
        ("share_of_text", float(counts.sum()) / max(1, model.seen_tokens)),
        ("bytes", size),
        ("model", str(output)),
    ]
    return Table(PROPERTIES, rows)


def copy_attentions(model: Model, copy: Model) -> None:
    """Give a copy of a model, perhaps of its first words only, the attentions of the model."""
    for name in model.attentions():
        save_attention(copy, name, _cut(load_attention(model, name), len(copy.vocabulary)))


def _copy_senses(model: Model, copy: Model, without: Mapping[str, Sequence[int]]) -> int:
    """Keep senses, but not where in the corpus they are; return of how many words."""
    kept = []
    for item in open_senses(model).values():
        some = item.without(without.get(item.word, [0]))
        if some.number and copy.vocabulary.find(item.word) is not None:
            facts = {name: _rounded(value) for name, value in item.facts.items()}
            facts["layer"] = digest(copy, item.attention)
            markers = [words[:MARKERS] for words in some.markers]
            empty = [[] for _ in some.counts]  # type: list[list[int]]
            kept.append(replace(some, markers=markers, examples=empty, facts=facts))
    if kept:
        save_senses(copy, *kept)
    return len(kept)


def _rounded(value: Any) -> Any:
    """Leave out the digits of numbers, and of lists of them, that tell nothing."""
    if isinstance(value, list):
        return [_rounded(item) for item in value]
    return round(value, DIGITS) if isinstance(value, float) else value


def _cut(saved: Saved, words: int) -> Saved:
    """Let an attention know of the first words only."""
    terms = tuple(
        term if term.words is None else replace(term, words=term.words[:words])
        for term in saved.layer.terms
    )
    return replace(saved, layer=replace(saved.layer, terms=terms))
