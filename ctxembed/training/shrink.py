"""Write a small copy of a model: 8 bits per number, without its corpus."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np

from ctxembed.model.attentions import digest, load_attention, save_attention
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_ambiguity import copy_words
from ctxembed.model.saved_senses import open_senses, save_senses
from ctxembed.model.write import write_description
from ctxembed.static.frames import truncate_frames
from ctxembed.static.space import quantize
from ctxembed.storage.atomic import atomic_directory
from ctxembed.table import PROPERTIES, Cell, Table

FRAME_WORDS = 30  # kept of each frame: many words with short frames help more than few with long
MARKERS = 8  # words that name a sense, kept of each
DIGITS = 4  # of the numbers saved with a sense
# Keys of model.json that are written anew for a copy.
REWRITTEN = ("format", "version", "vocabulary", "dim", "fingerprint", "contents", "generation")


@on_model(*PROPERTIES)
def shrink(
    model: Model, output: str | Path, *, words: int | None = None, about: str | None = None,
    frames: int = 0, without: Mapping[str, Sequence[int]] | None = None, force: bool = False,
) -> Table:  # fmt: skip
    """Copy a model without its corpus, with its most frequent `words` only; return a summary.

    frames: how many words keep their frames, which substitutes need.
    without: by word, the numbers (from 1) of saved senses to leave out; an empty list is all.
    """
    kept = min(words or len(model.vocabulary), len(model.vocabulary))
    meta = {name: value for name, value in model.meta.items() if name not in REWRITTEN}
    meta |= {"about": about} if about else {}
    meta["dropped_words"] = meta.get("dropped_words", 0) + len(model.vocabulary) - kept
    meta["files"] = [{**file, "name": Path(file["name"]).name} for file in meta.get("files", [])]
    check = partial(model.check_unchanged, output)
    with atomic_directory(Path(output), replace=force, check=check) as folder:
        counts = np.array(model.seen[:kept])
        short = counts.astype(np.int32) if counts.max(initial=0) < 2**31 else counts
        np.save(folder / "vectors.npy", quantize(model.vectors[:kept]))
        write_description(folder, model.vocabulary.words[:kept], short, model.dim, meta)
        np.save(folder / "mean.npy", np.asarray(model.mean))  # attention was learned with it
        if model.frames is not None and frames:
            short_frames = truncate_frames(model.frames[: min(frames, kept)], FRAME_WORDS)
            np.save(folder / "frames.npy", short_frames)
        small = Model.open(folder)
        copy_attentions(model, small)
        senses = _copy_senses(model, small, without or {})
        copy_words(model, small)
        del small  # Windows cannot rename a folder with mapped files
        size = sum(item.stat().st_size for item in folder.rglob("*") if item.is_file())
    share = float(counts.sum()) / max(1, model.seen_tokens)
    summary: dict[str, Cell] = {
        "words": kept, "dim": model.dim, "senses": senses, "share_of_text": share, "bytes": size,
        "model": str(output),
    }  # fmt: skip
    return Table(PROPERTIES, summary.items())


def copy_attentions(model: Model, copy: Model) -> None:
    """Save the attentions of a model in its copy, which may have its first words only."""
    rows = np.arange(len(copy.vocabulary))
    for name in model.attentions():
        saved = load_attention(model, name)
        save_attention(copy, name, replace(saved, layer=saved.layer.only(rows)))


def _copy_senses(model: Model, copy: Model, without: Mapping[str, Sequence[int]]) -> int:
    """Save senses without their examples in the copy; return the number of words."""
    kept = []
    for item in open_senses(model).values():
        some = item.without(without.get(item.word, [0]))
        if not some.number or copy.vocabulary.find(item.word) is None:
            continue
        facts = json.loads(json.dumps(some.facts), parse_float=lambda x: round(float(x), DIGITS))
        facts["layer"] = digest(copy, item.attention)
        markers = [words[:MARKERS] for words in some.markers]
        examples: list[list[int]] = [[] for _ in markers]
        kept.append(replace(some, markers=markers, examples=examples, facts=facts))
    if kept:
        save_senses(copy, *kept)
    return len(kept)
