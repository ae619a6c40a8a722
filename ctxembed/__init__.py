"""What does this word mean here? Static against contextual embeddings, number by number.

The command line and this module share their names:

    import ctxembed
    model = ctxembed.open()  # the bundled model; or ctxembed.open("ctxembed-model")
    table = ctxembed.neighbors(model, ["apple"], 3)  # a Table, as the command prints it
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Nothing is imported before it is used: start-up is what a person feels first.
_WHERE = {
    "CtxembedError": "ctxembed.errors",
    "Model": "ctxembed.model",
    "Table": "ctxembed.table",
    "open": "ctxembed.places:open_model",
    "train": "ctxembed.analysis.train",
    "info": "ctxembed.analysis.show",
    "show": "ctxembed.analysis.show",
    "vector": "ctxembed.analysis.show",
    "neighbors": "ctxembed.analysis.neighbors",
    "similarity": "ctxembed.analysis.similarity",
    "analogy": "ctxembed.analysis.neighbors",
    "tokenize": "ctxembed.analysis.tokenize",
    "vectorize": "ctxembed.analysis.vectorize",
    "ladder": "ctxembed.analysis.ladder",
    "Context": "ctxembed.analysis.context",
    "parse": "ctxembed.analysis.context",
    "explain": "ctxembed.analysis.explain",
    "compare": "ctxembed.analysis.compare",
    "contextualize": "ctxembed.analysis.contextualize",
    "fit": "ctxembed.analysis.fit:fit_task",
    "predict": "ctxembed.analysis.predict",
    "ablate": "ctxembed.analysis.ablate",
    "senses": "ctxembed.analysis.senses",
    "kwic": "ctxembed.analysis.kwic",
    "ambiguity": "ctxembed.analysis.ambiguity",
    "saved_senses": "ctxembed.analysis.sense_store",
    "mix": "ctxembed.analysis.mix",
    "align": "ctxembed.analysis.shift",
    "shift": "ctxembed.analysis.shift",
    "positions": "ctxembed.analysis.positions",
    "evaluate": "ctxembed.analysis.evaluate",
    "import_": "ctxembed.analysis.import_",
    "export": "ctxembed.analysis.export",
}
__all__ = ["__version__", *_WHERE]


def __getattr__(name: str) -> Any:
    if name not in _WHERE:
        raise AttributeError(f"module 'ctxembed' has no attribute {name!r}")
    module, _, attribute = _WHERE[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __dir__() -> list[str]:
    return __all__
