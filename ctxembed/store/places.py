"""Where things are: the user's model, the bundled model, the corpora."""

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from ctxembed.errors import UsageError
from ctxembed.store.model import Model
from ctxembed.table import Column, answers

P = ParamSpec("P")
R = TypeVar("R")
Given = Model | str | Path | None  # None is the model a command would use

DEFAULT = Path("ctxembed-model")


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


def bundled_model() -> Path:
    """Find the model that comes with the package."""
    return corpora() / "model"


def model_path(given: str | Path | None = None) -> Path:
    """Choose the model: the one given, $CTXEMBED_MODEL, ./ctxembed-model, the bundled one."""
    if given == "":
        raise UsageError("a model with an empty name; give its directory")
    chosen = given or os.environ.get("CTXEMBED_MODEL")
    if chosen:
        return Path(chosen)
    return DEFAULT if (DEFAULT / "model.json").exists() else bundled_model()


def open_model(path: str | Path | None = None) -> Model:
    """Open a model directory; without a path, the one a command would use."""
    return Model.open(model_path(path))


def refuse_bundled(path: Path) -> None:
    """Keep the bundled model from being changed."""
    if path == bundled_model():
        raise UsageError("the bundled model stays as it is; train your own, or copy it and give -m")


def as_model(given: Given) -> Model:
    """Take a model, its path, or None for the one a command would use."""
    return given if isinstance(given, Model) else open_model(given)


def on_model(
    *columns: Column,
) -> Callable[[Callable[Concatenate[Model, P], R]], Callable[Concatenate[Given, P], R]]:
    """Declare a question to a model, which may also be given by its path, and its columns."""

    def declare(
        question: Callable[Concatenate[Model, P], R],
    ) -> Callable[Concatenate[Given, P], R]:
        def ask(model: Given, /, *args: P.args, **kwargs: P.kwargs) -> R:
            return question(as_model(model), *args, **kwargs)

        return answers(*columns)(wraps(question)(ask))

    return declare
