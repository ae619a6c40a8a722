"""What the page may ask, each question by its name: what it takes, and the command that asks it."""

import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ctxembed.context.worked_example import given
from ctxembed.errors import UsageError
from ctxembed.model.bundled import corpora
from ctxembed.model.model import Model
from ctxembed.queries.ablate import ablate
from ctxembed.queries.compare import compare
from ctxembed.queries.explain import explain, explain_weights
from ctxembed.queries.reweigh import reweigh
from ctxembed.queries.similarity import similarity
from ctxembed.queries.unfold import unfold
from ctxembed.queries.vectorize import count_words
from ctxembed.table import Cell, Table
from ctxembed.web.words import read_words

Asked = Mapping[str, Any]
Json = dict[str, Any]
DIGITS = 5


@dataclass(frozen=True)
class Question:
    """A question of the page: a function of a model and what is asked, and its command line."""

    ask: Callable[..., Table]
    takes: Sequence[str]  # names of what it may be asked with
    line: Callable[[Asked], Sequence[str]] = lambda asked: ()


@dataclass(frozen=True)
class Models:
    """The model of the page, and the notes' small ones, each opened once."""

    model: Model
    name: str | None = None  # as -m names it; None where it needs no name
    opened: dict[str, Model] = field(default_factory=dict)

    def get(self, vectors: str | None) -> Model:
        """Return the model, or vectors of an example of the notes."""
        if vectors is None:
            return self.model
        if vectors not in self.opened:
            self.opened[vectors] = given(_example(vectors))
        return self.opened[vectors]


def examples() -> list[str]:
    """Name the bundled examples; nothing else of the file system can be asked for."""
    return sorted(path.stem for path in (corpora() / "examples").iterdir())


def _example(name: str) -> str:
    if name not in examples():
        raise UsageError(f"no example {name!r}; there are {', '.join(examples())}")
    return name


def answer(models: Models, name: str, asked: Asked) -> Json:
    """Ask a question, and return its Table as the page reads it."""
    question = QUESTIONS.get(name)
    if question is None:
        raise UsageError(f"no question {name!r}")
    for key in asked:
        if key not in (*question.takes, "vectors"):
            raise UsageError(f"{name} takes no {key!r}")
    rest = {key: value for key, value in asked.items() if key != "vectors"}
    table = question.ask(models.get(asked.get("vectors")), **rest)
    return {**as_json(table), "command": _command(models, name, asked)}


def as_json(table: Table) -> Json:
    """Write a Table as JSON can hold it; five digits are more than a page shows."""
    rows = [[_plain(cell) for cell in row] for row in table.rows]
    return {
        "columns": [{"name": c.name, "meaning": c.meaning, "role": c.role} for c in table.columns],
        "rows": rows,
        "notes": [*table.unknown, *table.notes],
        **({"lead": list(table.lead())} if table.lead else {}),
    }


def _plain(cell: Cell) -> Any:
    if isinstance(cell, float):
        return round(cell, DIGITS) if math.isfinite(cell) else None
    if cell is None or isinstance(cell, str | int):
        return cell
    listed = cell if isinstance(cell, list) else cell.tolist()
    return [_plain(number) for number in listed]


def _command(models: Models, name: str, asked: Asked) -> str:
    """Write the command line that answers the same."""
    line = list(QUESTIONS[name].line(asked))
    if not line:
        return ""
    if "-" in line:  # sentences come from a pipe, and no model answers
        lines = ["printf", r"%s\n", *asked["sentences"]]
        return f"{shlex.join(lines)} | {shlex.join(['ctxembed', *line])}"
    if asked.get("vectors"):
        line += ["--vectors", str(asked["vectors"])]
    elif models.name is not None and "--weights" not in line:
        line += ["-m", models.name]
    return shlex.join(["ctxembed", *line])


def _options(asked: Asked, *names: str) -> list[str]:
    made = [word for name in names if asked.get(name) for word in (f"--{name}", str(asked[name]))]
    for axis, words in (asked.get("axes") or {}).items():
        made += ["--axis", f"{axis}={','.join(words)}"]
    return made


def _reweigh(model: Model, sentence: str, weights: Mapping[str, float], **asked: Any) -> Table:
    return reweigh(model, sentence, {int(place): w for place, w in weights.items()}, **asked)


LAYER = ("attention", "general")
SEEN = (*LAYER, "over", "encoding")
QUESTIONS = {
    "words": Question(read_words, ("sentence",)),
    "explain": Question(
        lambda model, sentence, **asked: explain(model, sentence, head="each", **asked),
        ("sentence", *SEEN),
        lambda a: ["explain", a["sentence"], *_options(a, *SEEN), "--head", "each"],
    ),
    "weights": Question(
        lambda _, weights: explain_weights(_example(weights)),
        ("weights",),
        lambda a: ["explain", "--weights", a["weights"]],
    ),
    "compare": Question(
        partial(compare, number=4),
        ("sentences", "axes", "general"),
        lambda a: ["compare", *a["sentences"], *_options(a, "general"), "-n", "4"],
    ),
    "ablate": Question(
        ablate,
        ("sentences", "axes", *LAYER),
        lambda a: ["ablate", *a["sentences"], *_options(a, *LAYER)],
    ),
    "similarity": Question(
        similarity,
        ("words", "attention"),
        lambda a: ["similarity", *a["words"], *_options(a, "attention")],
    ),
    "unfold": Question(
        unfold,
        ("sentence", *SEEN, "head"),
        lambda a: ["explain", a["sentence"], *_options(a, *SEEN), "--steps"],
    ),
    "counts": Question(
        lambda _, sentences, method: count_words(sentences, method).table(),
        ("sentences", "method"),
        lambda a: ["vectorize", "-", "--method", a["method"]],
    ),
    "reweigh": Question(_reweigh, ("sentence", "weights", "axes", *LAYER, "head")),
}
