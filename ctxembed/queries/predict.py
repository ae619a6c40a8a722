"""Label new sentences with an attention that was fitted to a task."""

from collections.abc import Iterable, Iterator

import numpy as np

from ctxembed.attention.scores import softmax
from ctxembed.attention.training.task_head import ALIKE, gates, read
from ctxembed.context.columns import SENTENCE
from ctxembed.context.labelled import clip
from ctxembed.context.parse import Parsed, parse
from ctxembed.context.representations import Attention, Static, representations_of
from ctxembed.context.sentences import Skipped
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.attentions import Saved, load_attention, read_description
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.contextualize import answer_lines, read_targets
from ctxembed.stats.vectors import unit
from ctxembed.table import Cell, Column, Table

PREDICT = (
    SENTENCE,
    Column("target", "the marked word or words", "label"),
    Column("label", "the label given", "label"),
    Column("probability", "how sure it is, by the softmax over the labels"),
    Column("like", "the expression of the task whose vector is nearest to the target's", "label"),
    Column("cos_like", "and its cosine; far below 0.8 the task never saw such an expression"),
    Column(
        "gloss", "what the label means for this expression, where the task file says so", "text"
    ),
)


def choose_task(model: Model, name: str | None) -> str:
    """Return the task asked for, or the only one."""
    known = [task for task in model.attentions() if read_description(model, task).get("task")]
    if name is not None and (name in known or name not in model.attentions()):
        representations_of(model).get(name)  # says so where there is none
        return name
    if name is None and len(known) == 1:
        return known[0]
    if name is None and known:
        raise UsageError(f"several tasks are fitted; name one with --attention: {', '.join(known)}")
    which = f"{name!r} was learned without labels" if name else "no task is fitted"
    raise ModelError(f"{model.path}: {which}; fit one with: ctxembed fit TASK.tsv --name NAME")


@on_model(*PREDICT)
def predict(model: Model, sentences: str | Iterable[str], *, attention: str | None = None) -> Table:
    """Give each marked target a label, how sure that is, and the known expression it is like.

    attention: the name of a task; the only one the model has.
    """
    name = choose_task(model, attention)
    saved = load_attention(model, name)
    glossed = any(any(gloss.values()) for gloss in saved.task["glosses"])
    columns = PREDICT if glossed else PREDICT[:-1]

    def answer(lines: Iterable[str], skipped: Skipped) -> Iterator[tuple[Cell, ...]]:
        return (row[: len(columns)] for row in _rows(model, name, saved, lines, skipped))

    return answer_lines(columns, sentences, answer)


def _rows(
    model: Model, name: str, saved: Saved, sentences: Iterable[str], skipped: Skipped
) -> Iterator[tuple[Cell, ...]]:
    way = representations_of(model).get(name)
    assert isinstance(way, Attention)
    task, anchors = saved.task, saved.task_head["anchors"]

    def read_marked(text: str, number: int) -> Parsed:
        if "[" not in text:
            raise UsageError("no target; mark it: it was a [piece of cake]")
        return parse(model, text, number=number)

    for targets in read_targets(sentences, read_marked, skipped):
        items = [clip(target.item) for target in targets]
        own = Static("static", way.inputs).vectors(items)
        rated = read(saved.task_head["head"], way.vectors(items), own, gates(own, anchors))
        p = softmax(rated.astype(np.float64))  # (n, C)
        alike = unit(own) @ anchors.T  # (n, A)
        for target, row, cosines in zip(targets, p, alike, strict=True):
            label, like = int(row.argmax()), int(cosines.argmax())
            named = task["labels"][label]
            gloss = task["glosses"][like].get(named) if cosines[like] >= ALIKE else None
            yield (
                *(target.sentence, target.name, named, float(row[label])),
                *(task["expressions"][like], float(cosines[like]), gloss),
            )
