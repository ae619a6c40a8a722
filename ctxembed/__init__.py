"""What does this word mean here? Static against contextual embeddings, number by number.

The command line and this module share their names:

    import ctxembed
    model = ctxembed.open()  # the bundled english; or ctxembed.open("ctxembed-model")
    table = ctxembed.neighbors(model, "apple", 3)  # a Table, as the command prints it

Wherever a model is wanted its path will do, or None for the one a command would use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.2.0"

# Nothing is imported before it is used: start-up is what a person feels first.
_QUESTIONS = (  # each in a file of its name
    "ablate", "ambiguity", "check", "collocates", "compare", "contextualize", "explain",
    "keywords", "kwic", "ladder", "neighbors", "positions", "predict", "senses", "shift",
    "show", "similarity", "substitutes", "tokenize", "vectorize",
)  # fmt: skip
_WHERE = {
    "CtxembedError": "ctxembed.errors",
    "Model": "ctxembed.model.model",
    "Chart": "ctxembed.table",
    "Column": "ctxembed.table",
    "Corpus": "ctxembed.text.corpus",
    "Table": "ctxembed.table",
    "draw": "ctxembed.output.picture",
    "render": "ctxembed.output.render",
    "open": "ctxembed.model.bundled:open_model",
    "given": "ctxembed.context.worked_example",
    "train": "ctxembed.training.train",
    "learn": "ctxembed.training.learn:learn_attention",
    "fit": "ctxembed.training.fit:fit_task",
    "info": "ctxembed.queries.show",
    "vector": "ctxembed.queries.show",
    "analogy": "ctxembed.queries.neighbors",
    "Representations": "ctxembed.context.representations",
    "parse": "ctxembed.context.parse",
    "explain_weights": "ctxembed.queries.explain",
    "saved_senses": "ctxembed.model.saved_senses",
    "evaluate": "ctxembed.evaluation.evaluate",
    "import_": "ctxembed.training.import_",
    "export": "ctxembed.training.export",
    "index": "ctxembed.training.index_",
    "shrink": "ctxembed.training.shrink",
    "align": "ctxembed.word_senses.alignment",
    "mix": "ctxembed.training.mix",
    **{name: f"ctxembed.queries.{name}" for name in _QUESTIONS},
}
__all__ = ["__version__", *_WHERE]


def look_up(name: str) -> "Any":
    """Import what this module offers under a name."""
    from importlib import import_module

    module, _, attribute = _WHERE[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __getattr__(name: str) -> "Any":
    if name not in _WHERE:
        raise AttributeError(f"module 'ctxembed' has no attribute {name!r}")
    return look_up(name)


def __dir__() -> list[str]:
    return __all__
