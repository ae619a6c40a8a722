"""Label new sentences with an attention that was fitted to a task."""

from collections.abc import Iterable, Iterator
from itertools import islice

import numpy as np

from ctxembed.ask.contextualize import Skipped
from ctxembed.ask.explain import name_targets
from ctxembed.attention.objective import normalise
from ctxembed.attention.scores import softmax
from ctxembed.attention.task_head import ALIKE, gates, read
from ctxembed.context.representations import Attention, Context, Occurrence, Parsed, parse
from ctxembed.errors import ModelError, UnknownWordError, UsageError
from ctxembed.make.labelled import clip, own_vectors
from ctxembed.static.space import Floats
from ctxembed.store.attentions import Saved, load_attention, read_description
from ctxembed.store.model import Model
from ctxembed.table import Cell, Table

CHUNK = 1024  # sentences at once


def tasks(model: Model) -> list[str]:
    """List the attentions of a model that were fitted to a task."""
    return [name for name in model.attentions() if read_description(model, name).get("task")]


def choose(model: Model, name: str | None) -> str:
    """Return the task asked for, or the only one."""
    known = tasks(model)
    if name is not None and (name in known or name not in model.attentions()):
        Context(model).get(name)  # says so where there is none
        return name
    if name is None and len(known) == 1:
        return known[0]
    if name is None and known:
        raise UsageError(f"several tasks are fitted; name one with --attention: {', '.join(known)}")
    which = f"{name!r} was learned without labels" if name else "no task is fitted"
    raise ModelError(f"{model.path}: {which}; fit one with: ctxembed fit TASK.tsv --name NAME")


def predict(
    model: Model, name: str, sentences: Iterable[str], skipped: Skipped | None = None
) -> Table:
    """Give each marked target a label, how sure that is, and the known expression it is like."""
    saved = load_attention(model, name)
    if not saved.task:
        choose(model, name)
    columns = ["sentence", "target", "label", "probability", "like", "cos_like"]
    columns += ["gloss"] if any(any(g.values()) for g in saved.task["glosses"]) else []
    rows = _rows(model, name, saved, sentences, skipped if skipped is not None else Skipped())
    return Table(columns, (row[: len(columns)] for row in rows))


def _rows(
    model: Model, name: str, saved: Saved, sentences: Iterable[str], skipped: Skipped
) -> Iterator[tuple[Cell, ...]]:
    way = Context(model).get(name)
    assert isinstance(way, Attention)
    task, anchors = saved.task, saved.head["anchors"]
    numbered = enumerate(sentences, 1)
    while chunk := list(islice(numbered, CHUNK)):
        targets: list[tuple[int, str]] = []
        items: list[Occurrence] = []
        for number, text in chunk:
            try:
                parsed = _marked(model, text)
            except (UnknownWordError, UsageError) as error:
                skipped.sentences.append((number, str(error)))
                continue
            targets += [(number, target) for target in name_targets(parsed)]
            items += [clip(item) for item in parsed.occurrences]
            for word in parsed.unknown:
                skipped.words[word] = skipped.words.get(word, 0) + 1
        if not items:
            continue
        own = own_vectors(way.inputs, items)
        p = probabilities(saved.head, way.vectors(items), own)  # (n, C)
        alike = normalise(own)[0] @ anchors.T  # (n, A)
        for (number, target), row, cosines in zip(targets, p, alike, strict=True):
            label, like = int(row.argmax()), int(cosines.argmax())
            named = task["labels"][label]
            gloss = task["glosses"][like].get(named) if cosines[like] >= ALIKE else None
            yield (
                *(number, target, named, float(row[label])),
                *(task["expressions"][like], float(cosines[like]), gloss),
            )


def _marked(model: Model, text: str) -> Parsed:
    if "[" not in text:
        raise UsageError("no target; mark it: it was a [piece of cake]")
    return parse(model, text)


def probabilities(head: dict[str, Floats], output: Floats, own: Floats) -> Floats:
    """Return (n, C) how probable each label is."""
    gate = gates(own, head["anchors"])
    return softmax(read(head["head"], output, own, gate).astype(np.float64))
