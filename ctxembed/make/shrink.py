"""A small copy of a model to give away: 8 bits a number, and none of its text."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from ctxembed.store.attentions import Saved, load_attention, save_attention
from ctxembed.store.model import Model, write
from ctxembed.store.places import on_model
from ctxembed.store.whole import written_whole
from ctxembed.table import PROPERTIES, Cell, Table

# What writing says anew.
MADE = ("format", "version", "vocabulary", "dim", "fingerprint", "contents", "generation")


@on_model(*PROPERTIES)
def shrink(
    model: Model,
    output: str | Path,
    *,
    words: int | None = None,
    about: str | None = None,
    force: bool = False,
) -> Table:
    """Copy vectors and attentions, not the corpus; `words`: the most frequent ones only."""
    kept = min(words or len(model.vocab), len(model.vocab))
    meta = {name: value for name, value in model.meta.items() if name not in MADE}
    meta |= {"about": about} if about else {}
    meta["dropped_words"] = meta.get("dropped_words", 0) + len(model.vocab) - kept
    meta["files"] = [{**file, "name": Path(file["name"]).name} for file in meta.get("files", [])]
    with written_whole(Path(output), replace=force) as folder:
        counts = np.array(model.seen[:kept])
        write(folder, model.vocab[:kept], counts, model.vectors[:kept], None, meta, small=True)
        np.save(folder / "mean.npy", np.asarray(model.mean))  # what attention was learned with
        copy_attentions(model, Model.open(folder))
        size = sum(item.stat().st_size for item in folder.rglob("*") if item.is_file())
    rows: list[tuple[str, Cell]] = [
        ("words", kept),
        ("dim", model.dim),
        ("share_of_text", float(counts.sum()) / max(1, model.seen_tokens)),
        ("bytes", size),
        ("model", str(output)),
    ]
    return Table(PROPERTIES, rows)


def copy_attentions(model: Model, copy: Model) -> None:
    """Give a copy of a model, perhaps of its first words only, the attentions of the model."""
    for name in model.attentions():
        save_attention(copy, name, _cut(load_attention(model, name), len(copy.vocab)))


def _cut(saved: Saved, words: int) -> Saved:
    """Let an attention know of the first words only."""
    terms = tuple(
        term if term.words is None else replace(term, words=term.words[:words])
        for term in saved.layer.terms
    )
    return replace(saved, layer=replace(saved.layer, terms=terms))
