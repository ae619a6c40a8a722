"""Label new sentences with an attention that was fitted to a task."""

from collections.abc import Iterable, Iterator

import numpy as np

from ctxembed.attention.scores import softmax
from ctxembed.attention.terms import REACH
from ctxembed.attention.training.task_head import ALIKE, gates, logits
from ctxembed.context.columns import SENTENCE
from ctxembed.context.parse import Parsed, parse
from ctxembed.context.representation import Static
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import Skipped
from ctxembed.errors import ModelError, UsageError
from ctxembed.model.attentions import load_attention, read_description
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.queries.contextualize import answer_lines, read_targets
from ctxembed.stats.vectors import unit
from ctxembed.table import Cell, Column, Table

PREDICT = (
    SENTENCE,
    Column("target", "the marked word or words", "long"),
    Column("label", "the label given", "label"),
    Column("probability", "how sure it is, by the softmax over the labels"),
    Column("like", "the expression of the task whose vector is nearest to the target's", "long"),
    Column("cos_like", "and its cosine; far below 0.8 the task never saw such an expression"),
    Column("gloss", "what the label means for this expression, if the task file says so", "long"),
)


@on_model(*PREDICT)
def predict(model: Model, sentences: str | Iterable[str], *, attention: str | None = None) -> Table:
    """Return the label of each marked target by a task, which may be left out if there is one."""
    name = _choose_task(model, attention)
    saved, representation = load_attention(model, name), Representations.of(model).get(name)
    task, head, anchors = saved.task, saved.task_head["head"], saved.task_head["anchors"]
    glossed = any(any(gloss.values()) for gloss in task["glosses"])
    columns = PREDICT if glossed else PREDICT[:-1]

    def read_marked(text: str, number: int) -> Parsed:
        if "[" not in text:
            raise UsageError("no target; mark it: it was a [piece of cake]")
        return parse(model, text, number=number)

    def label_rows(lines: Iterable[str], skipped: Skipped) -> Iterator[tuple[Cell, ...]]:
        for targets in read_targets(lines, read_marked, skipped):
            items = [target.item.clip(REACH) for target in targets]
            own = Static("static", representation.inputs).vectors(items)
            rated = logits(head, representation.vectors(items), own, gates(own, anchors))
            p = softmax(rated.astype(np.float64))  # (n, C)
            alike = unit(own) @ anchors.T  # (n, A)
            for target, row, cosines in zip(targets, p, alike, strict=True):
                best, like = int(row.argmax()), int(cosines.argmax())
                label = task["labels"][best]
                gloss = task["glosses"][like].get(label) if cosines[like] >= ALIKE else None
                cells = (target.sentence, target.name, label, float(row[best]))
                similar = (task["expressions"][like], float(cosines[like]), gloss)
                yield (*cells, *similar)[: len(columns)]

    return answer_lines(columns, sentences, label_rows)


def _choose_task(model: Model, name: str | None) -> str:
    """Return the name of the task, or of the only one."""
    known = [task for task in model.attentions() if read_description(model, task).get("task")]
    if name is not None and (name in known or name not in model.attentions()):
        Representations.of(model).get(name)  # an error if there is none
        return name
    if name is None and len(known) == 1:
        return known[0]
    if name is None and known:
        raise UsageError(f"several tasks are fitted; name one with --attention: {', '.join(known)}")
    which = f"{name!r} was learned without labels" if name else "no task is fitted"
    raise ModelError(f"{model.path}: {which}; fit one with: ctxembed fit TASK.tsv --name NAME")
