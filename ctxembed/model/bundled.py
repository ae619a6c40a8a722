"""Where things are: the user's model, the bundled models, the corpora."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from ctxembed.errors import UsageError
from ctxembed.model.model import Model
from ctxembed.table import Column, Table, answers

P = ParamSpec("P")
R = TypeVar("R")
Given = Model | str | Path | None  # None is the model a command would use

NOISE = 10_000  # words; below this word2vec has seen too little to mean anything
DEFAULT = Path("ctxembed-model")
BUNDLED = ("english", "everyday")  # the first answers where no other is named


def corpora() -> Path:
    """Find the bundled corpora: inside an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "corpora"
    return inside if inside.is_dir() else package.parent / "corpora"


def example(name: str) -> Path:
    """Find a file; one that is not there may be the name of a bundled one."""
    path = Path(name)
    if not path.exists():
        for suffix in ("", ".tsv", ".json"):
            for folder in (corpora() / "examples", corpora()):
                if (folder / f"{name}{suffix}").is_file():
                    return folder / f"{name}{suffix}"
    return path


def bundled_model(name: str) -> Path:
    """Find a model that comes with the package."""
    return corpora() / "models" / name


def bundled_name(path: Path) -> str | None:
    """Tell which of the bundled models this is, if it is one."""
    return next((name for name in BUNDLED if path == bundled_model(name)), None)


def model_path(given: str | Path | None = None) -> Path:
    """Choose the model: the one given, $CTXEMBED_MODEL, ./ctxembed-model, english.

    A directory, or the name of a bundled model where there is no such model here.
    """
    if given == "":
        raise UsageError("a model with an empty name; give its directory")
    chosen = given or os.environ.get("CTXEMBED_MODEL")
    if not chosen:
        return DEFAULT if (DEFAULT / "model.json").exists() else bundled_model(BUNDLED[0])
    hidden = (Path(chosen) / "model.json").exists()
    return bundled_model(str(chosen)) if chosen in BUNDLED and not hidden else Path(chosen)


def open_model(path: str | Path | None = None) -> Model:
    """Open a model directory; without a path, the one a command would use."""
    return Model.open(model_path(path))


def refuse_bundled(path: Path) -> None:
    """Keep the bundled models from being changed."""
    name = bundled_name(path)
    if name:
        raise UsageError(
            f"the bundled model {name} stays as it is; train your own, or copy it and give -m"
        )


def as_model(given: Given) -> Model:
    """Take a model, its path, or None for the one a command would use."""
    return given if isinstance(given, Model) else open_model(given)


def too_small(model: Model) -> bool:
    """Tell whether the words a model has read are too few to mean anything."""
    return not model.meta.get("imported") and model.seen_tokens < NOISE  # else a guess


def describe(model: Model) -> str:
    """Say under a picture which model it is of, and whether it can mean anything."""
    if model.by_hand:
        return f"{model.path.name}: vectors given by hand"
    if model.meta.get("imported"):  # its counts are a guess
        return f"model {model.path.name}, imported"
    few = ": too few, these vectors are noise" if too_small(model) else ""
    return f"model {model.path.name}, {model.tokens:,} words{few}"


def on_model(
    *columns: Column,
) -> Callable[[Callable[Concatenate[Model, P], R]], Callable[Concatenate[Given, P], R]]:
    """Declare a question to a model, which may also be given by its path, and its columns."""

    def declare(
        question: Callable[Concatenate[Model, P], R],
    ) -> Callable[Concatenate[Given, P], R]:
        def ask(model: Given, /, *args: P.args, **kwargs: P.kwargs) -> R:
            opened = as_model(model)
            answered = question(opened, *args, **kwargs)
            if isinstance(answered, Table) and answered.charts:
                answered.caption.append(describe(opened))
            return answered

        return answers(*columns)(wraps(question)(ask))

    return declare
