"""The questions of the page: function, parameters and their limits, the equal command line."""

import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ctxembed.context.columns import DRAWN
from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.context.sentences import choose_attention
from ctxembed.context.worked_example import open_worked_example
from ctxembed.errors import Replaced, UsageError
from ctxembed.explanation.by_hand import weigh_by_hand
from ctxembed.explanation.explanation import trace_targets
from ctxembed.model.bundled import BUNDLED, bundled_model, corpora_directory
from ctxembed.model.model import Model
from ctxembed.output.cells import json_value
from ctxembed.queries.ablate import ablate
from ctxembed.queries.axes import suggest_axes
from ctxembed.queries.compare import compare
from ctxembed.queries.explain import explain, explain_weights
from ctxembed.queries.reweigh import reweigh
from ctxembed.queries.similarity import similarity
from ctxembed.queries.unfold import unfold
from ctxembed.queries.vectorize import count_words
from ctxembed.table import Table
from ctxembed.web.pictures import draw_map, draw_pictures
from ctxembed.web.words import WIDTHS, lay_out, read_words
from ctxembed.word_senses.sense_map import WordMap

Parameters = Mapping[str, Any]
Json = dict[str, Any]
Check = Callable[[Any], bool]
DIGITS = 5
MAX_CHARACTERS = 2000  # of a sentence
MAX_WORDS = 120
MAX_SENTENCES = 4
MAX_AXES = 6
MAX_PRINTED = 5  # numbers of a vector that the page writes


@dataclass(frozen=True)
class Question:
    """A question: its function of a model, its parameters, and its command line."""

    ask: Callable[..., Table]
    takes: Sequence[str]  # names of its parameters
    command: str = ""  # that gives the same answer; * stands for the first parameter and options


@dataclass(frozen=True)
class Models:
    """The page's model and the small worked examples, each opened once."""

    model: Model
    name: str | None = None  # as written after -m; None for the default model
    opened: dict[str, Model] = field(default_factory=dict)

    def get(self, vectors: str | None = None, model: str | None = None) -> Model:
        """Return the model, the model of a worked example, or a bundled model."""
        if vectors is None and model is None:
            return self.model
        key = f"{vectors or ''} {model or ''}"
        if key not in self.opened:
            if vectors is not None:
                self.opened[key] = open_worked_example(_example(vectors))
            else:
                self.opened[key] = Model.open(bundled_model(str(model)))
        return self.opened[key]

    def check_unchanged(self) -> None:
        """Refuse to answer from files that were written to in place; takes some 40 microseconds."""
        if any(folder.is_overwritten() for folder in self.model.folders()):
            raise Replaced("The model was changed in place. Restart explore.")


def _example(name: str) -> str:
    """Return the name of a bundled example; no other file can be requested."""
    known = sorted(path.stem for path in (corpora_directory() / "examples").iterdir())
    if name not in known:
        raise UsageError(f"Unknown example {name!r}. Choose one of {', '.join(known)}.")
    return name


def answer(models: Models, name: str, parameters: Parameters) -> Json:
    """Return the answer to a question as JSON for the page."""
    if name not in QUESTIONS:
        raise UsageError(f"Unknown question {name!r}.")
    question = QUESTIONS[name]
    if unknown := set(parameters) - {*question.takes, *CHOSEN, *SHOWN}:
        raise UsageError(f"{name} has no parameter {', '.join(sorted(unknown))}.")
    rest = {key: value for key, value in parameters.items() if key not in (*CHOSEN, *SHOWN)}
    model = models.get(*map(parameters.get, CHOSEN))
    table = question.ask(model, **rest)
    result = {**as_json(table), "command": _command(models, name, parameters)}
    pictures = draw_pictures(model, name, table, parameters)
    return {**result, "pictures": pictures} if pictures else result


def answer_map(models: Models, sense_map: WordMap, name: str, sentence: str = "") -> Json:
    """Return the points of a map, its legend, or the place of a sentence on it."""
    if name == "place":
        return as_json(sense_map.project(models.model, sentence))
    if name == "legend":
        return as_json(sense_map.legend())
    command = f"ctxembed senses {sense_map.senses.word}"
    return {**as_json(sense_map.drawn()), "command": command, "pictures": draw_map(sense_map)}


def shorten_vectors(content: Json, question: str) -> Json:
    """Round the long vectors of the answer `unfold`, for a file: the page draws them as colours."""
    if question == "unfold":
        at = [column["role"] for column in content["columns"]].index("vector")
        for row in content["rows"]:
            if row[at] is not None and len(row[at]) > MAX_PRINTED:
                row[at] = [round(number, 3) for number in row[at]]
    return content


def as_json(table: Table) -> Json:
    """Return a Table as JSON values, numbers rounded to DIGITS."""
    return {
        "columns": [{"name": c.name, "meaning": c.meaning, "role": c.role} for c in table.columns],
        "rows": [[json_value(cell, DIGITS) for cell in row] for row in table.rows],
        "notes": [*table.unknown, *table.notes],
        **({"lead": list(table.lead())} if table.lead else {}),
    }


def _command(models: Models, name: str, parameters: Parameters) -> str:
    """Return the command line that gives the same answer; "" if there is none."""
    command, first = QUESTIONS[name].command.split(), parameters[QUESTIONS[name].takes[0]]
    if not command:
        return ""
    texts = first if isinstance(first, list) else [first]
    options = [(f"--{key}", str(parameters[key])) for key in OPTIONS if parameters.get(key)]
    axes = (parameters.get("axes") or {}).items()
    options += [("--axis", f"{axis}={','.join(words)}") for axis, words in axes]
    piped = "-" in command  # sentences come from a pipe; no model is used
    values = [*(() if piped else texts), *(word for option in options for word in option)]
    line = ["ctxembed", *(word for part in command for word in (values if part == "*" else [part]))]
    if piped:
        return shlex.join(["printf", r"%s\n", *texts]) + " | " + shlex.join(line)
    if parameters.get("vectors"):
        line += ["--vectors", str(parameters["vectors"])]
    elif (model := parameters.get("model") or models.name) and "--weights" not in line:
        line += ["-m", str(model)]
    return shlex.join(line)


def _explain(
    model: Model, sentence: str, weights: Mapping[str, float] | None = None,
    head: str | None = None, **parameters: Any,
) -> Table:  # fmt: skip
    """Return the table of all heads; weights by hand replace those of one head or of all."""
    table = explain(model, sentence, head="each", **parameters)
    if not weights:
        return table
    kind = parameters.get("attention"), parameters.get("general")
    chosen = choose_attention(Representations.of(model), *kind)
    values = {int(position): weight for position, weight in weights.items()}
    computed = next(trace_targets(chosen, parse(model, sentence)))
    item = weigh_by_hand(computed, values, head or "mean")
    changed = {row[0:1] + row[2:3]: row[-2:] for row in map(tuple, item.rows("each"))}
    number, position = map(table.names.index, ("head", "position"))
    rows = [(*row[:-2], *changed[row[number], row[position]]) for row in table.rows]
    return Table(table.columns, rows, table.notes, table.unknown)


CHOSEN = ("vectors", "model")  # parameters of every question: what it is asked of
SHOWN = ("narrow", "drawn")  # which of its pictures are drawn; all without them
LAYER = ("attention", "general")
SEEN = (*LAYER, "over", "encoding")
OPTIONS = (*SEEN, "method")  # of commands
QUESTIONS = {
    "words": Question(read_words, ("sentence", "gone")),
    "layout": Question(lay_out, ("sentence", "target", "width", "over")),
    "explain": Question(_explain, ("sentence", *SEEN, "weights", "head"), "explain * --head each"),
    "weights": Question(
        lambda _, weights: explain_weights(_example(weights)), ("weights",), "explain --weights *"
    ),
    "compare": Question(
        partial(compare, number=4), ("sentences", "axes", "general"), "compare * -n 4"
    ),
    "axes": Question(suggest_axes, ("word",)),
    "ablate": Question(ablate, ("sentences", "axes", *LAYER), "ablate *"),
    "similarity": Question(similarity, ("words", "attention"), "similarity *"),
    "unfold": Question(unfold, ("sentence", *SEEN, "head"), "explain * --steps"),
    "states": Question(
        lambda model, sentence: explain(model, sentence, attention="recurrent"),
        ("sentence",),
        "explain * --attention recurrent",
    ),
    "counts": Question(
        lambda _, sentences, method: count_words(sentences, method).table(),
        ("sentences", "method"),
        "vectorize - *",
    ),
    "reweigh": Question(
        lambda model, sentence, weights, **rest: reweigh(
            model, sentence, {int(position): weight for position, weight in weights.items()}, **rest
        ),
        ("sentence", "weights", "axes", *LAYER, "head"),
    ),
}


def check(parameters: Mapping[str, Any]) -> None:
    """Raise UsageError if a parameter is unknown, of a wrong type or too large."""
    for name, value in parameters.items():
        if name not in CHECKS:
            raise UsageError(f"Unknown parameter {name!r}.")
        if not CHECKS[name](value):
            raise UsageError(f"Invalid value of {name}.")


def _is_sentence(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    if len(value) > MAX_CHARACTERS or len(value.split()) > MAX_WORDS:
        raise UsageError(f"The sentence is too long. The limit is {MAX_WORDS} words.")
    return True


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and len(value) <= 100


def _is_index(value: Any) -> bool:
    return type(value) is int and 0 <= value < MAX_CHARACTERS


def _all_are(value: Any, kind: Any, limit: int, check: Check, least: int = 0) -> bool:
    return isinstance(value, kind) and least <= len(value) <= limit and all(map(check, value))


def _are_axes(value: Any) -> bool:
    named = _all_are(value, dict, MAX_AXES, _is_name)
    return named and all(_all_are(words, list, 20, _is_name, 1) for words in value.values())


def _are_weights(value: Any) -> bool:
    if isinstance(value, str):  # the name of an example
        return _is_name(value)
    named = _all_are(value, dict, MAX_WORDS, _matches(r"\d{1,4}"))
    return named and all(isinstance(w, int | float) and 0 <= w <= 1 for w in value.values())


def _matches(pattern: str) -> Check:
    return lambda value: bool(re.fullmatch(pattern, value))


CHECKS: Mapping[str, Check] = {
    **dict.fromkeys(("sentence", "over"), _is_sentence),
    **dict.fromkeys(
        ("sentences", "words"), lambda value: _all_are(value, list, MAX_SENTENCES, _is_sentence, 1)
    ),
    **dict.fromkeys(("word", "attention", "vectors"), _is_name),
    "general": _matches(r"(textbook|scaled|cosine)(:[\d.]{1,6})?"),
    "head": _matches(r"\d{1,2}"),
    "method": _matches("one-hot|bow|tfidf"),
    "encoding": _matches("none|sinusoidal"),
    "model": lambda value: value in BUNDLED,
    "narrow": lambda value: isinstance(value, bool),
    "drawn": lambda value: value in DRAWN,
    "width": lambda value: value in WIDTHS,
    "target": _is_index,
    "gone": lambda value: _all_are(value, list, MAX_WORDS, _is_index),
    "axes": _are_axes,
    "weights": _are_weights,
}
