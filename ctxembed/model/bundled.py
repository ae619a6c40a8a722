"""Paths of the user's model, the bundled models and corpora; open a model by path or name."""

import os
from collections.abc import Callable
from functools import wraps
from inspect import signature
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

from ctxembed.errors import UsageError
from ctxembed.model.model import Model
from ctxembed.model.ranges import TEXTS, check_numbers, check_text
from ctxembed.stats.threads import one_thread
from ctxembed.table import Column, Table, answers

P = ParamSpec("P")
R = TypeVar("R")
ModelLike = Model | str | Path | None  # None is the model a command would use

MIN_TOKENS = 10_000  # word2vec vectors of a smaller corpus are noise
DEFAULT = Path("ctxembed-model")
BUNDLED = ("english", "everyday")  # the first is the default
BUNDLED_TEXTS = ("everyday.txt", "fruit.txt", "technology.txt", "apple.txt", "speeches.csv")


def corpora_directory() -> Path:
    """Return the folder of bundled corpora: in an installed package, or beside it in a checkout."""
    package = Path(__file__).parent.parent
    inside = package / "corpora"
    return inside if inside.is_dir() else package.parent / "corpora"


def find_example(name: str) -> Path:
    """Return the path of a file, or of a bundled example with this name."""
    if not Path(name).exists():
        for suffix in ("", ".tsv", ".json", ".txt"):
            for folder in (corpora_directory() / "examples", corpora_directory()):
                if (path := folder / f"{name}{suffix}").is_file():
                    return path
    return Path(name)


def find_corpus(name: str) -> str:
    """Return a corpus: a bundled one, such as everyday.txt, if there is no file of this name."""
    short = name.removeprefix("corpora/")  # as in a clone
    bundled = short in BUNDLED_TEXTS and not Path(name).exists()
    return str(corpora_directory() / short) if bundled else name


def bundled_model(name: str) -> Path:
    """Return the directory of a model that comes with the package."""
    return corpora_directory() / "models" / name


def bundled_name(path: Path) -> str | None:
    """Return the name of the bundled model in this directory, or None."""
    return next((name for name in BUNDLED if path == bundled_model(name)), None)


def model_path(model: str | Path | None = None) -> Path:
    """Return the directory of a model: `model`, else $CTXEMBED_MODEL, ./ctxembed-model, english."""
    if model == "":
        raise UsageError("the model name is empty; give its directory")
    chosen = model or os.environ.get("CTXEMBED_MODEL")
    if not chosen:
        return DEFAULT if (DEFAULT / "model.json").exists() else bundled_model(BUNDLED[0])
    hidden = (Path(chosen) / "model.json").exists()  # the bundled one, by the user's own
    return bundled_model(str(chosen)) if chosen in BUNDLED and not hidden else Path(chosen)


def open_model(model: ModelLike = None) -> Model:
    """Return a model: itself, that of a path or bundled name, or the default one."""
    return model if isinstance(model, Model) else Model.open(model_path(model))


def refuse_bundled(path: Path) -> None:
    """Refuse to change a bundled model."""
    if name := bundled_name(path):
        raise UsageError(
            f"the bundled model {name} cannot be changed. Train a model of your own, or copy the"
            f" directory {path} and give the copy with -m"
        )


def too_small(model: Model) -> bool:
    """Return whether a model was trained on too few words for its vectors to mean anything."""
    return not model.meta.get("imported") and model.seen_tokens < MIN_TOKENS


def describe(model: Model) -> str:
    """Return the caption of a picture: which model it is of, and whether it is too small."""
    if model.is_worked_example:
        return f"{model.path.name}: vectors given by hand"
    if model.meta.get("imported"):  # its counts are estimated
        return f"model {model.path.name}, imported"
    few = ": too few, these vectors are noise" if too_small(model) else ""
    return f"model {model.path.name}, {model.tokens:,} words{few}"


def on_model(
    *columns: Column,
) -> Callable[[Callable[Concatenate[Model, P], R]], Callable[Concatenate[ModelLike, P], R]]:
    """Decorate a query with its columns, and let it take a model's path or name as well."""

    def wrap(query: Callable[Concatenate[Model, P], R]) -> Callable[Concatenate[ModelLike, P], R]:
        names = list(signature(query).parameters)[1:]
        kinds = {n: str(item.annotation) for n, item in signature(query).parameters.items()}
        texts = {n: kind for n, kind in kinds.items() if n in TEXTS and kind.startswith("str")}

        @one_thread()
        def run(model: ModelLike, /, *args: P.args, **kwargs: P.kwargs) -> R:
            parameters = dict(zip(names, args, strict=False)) | kwargs
            check_numbers(query.__name__, parameters)
            for name in texts.keys() & parameters.keys():
                check_text(name, parameters[name], optional="None" in texts[name])
            opened = open_model(model)
            result = query(opened, *args, **kwargs)
            if isinstance(result, Table) and result.charts:
                result.caption.append(describe(opened))
            return result

        return answers(*columns)(wraps(query)(run))

    return wrap
