"""Compare static and contextual word vectors: what does this word mean here?

Each command of the command line is a function here, under the same name:

    import ctxembed
    model = ctxembed.open()  # the bundled english; or ctxembed.open("ctxembed-model")
    table = ctxembed.neighbors(model, "apple", 3)  # a Table, as the command prints it

A model may be given as its path, or as None for the one that a command would use.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

__version__ = "0.3.0"

# Nothing is imported before it is used, so that every command starts fast.
_QUERIES = (  # each in a file of its name
    "ablate", "ambiguity", "association", "collocates", "compare", "contextualize", "define",
    "explain", "heads", "keywords", "kwic", "ladder", "neighbors", "positions", "predict", "senses",
    "shift", "show", "similarity", "substitutes", "tokenize", "vectorize",
    "wordlist",
)  # fmt: skip
_ERRORS = (
    "CorpusError", "CtxembedError", "ModelError", "Replaced", "UnknownWordError", "UsageError",
)  # fmt: skip
_WHERE = {  # __init__.pyi says the same to type checkers; tests/test_types.py writes it
    **{name: "ctxembed.errors" for name in _ERRORS},
    "Chart": "ctxembed.table", "Column": "ctxembed.table", "Table": "ctxembed.table",
    "Corpus": "ctxembed.text.corpus",
    "Model": "ctxembed.model.model",
    "select": "ctxembed.model.selection",
    "open": "ctxembed.model.bundled:open_model",
    "saved_senses": "ctxembed.model.saved_senses",
    "Representations": "ctxembed.context.representations",
    "parse": "ctxembed.context.parse",
    "open_worked_example": "ctxembed.context.worked_example",
    "given": "ctxembed.context.worked_example:open_worked_example",  # its name in 0.2
    **{name: f"ctxembed.queries.{name}" for name in _QUERIES},
    "info": "ctxembed.queries.info", "check": "ctxembed.queries.info",
    "vector": "ctxembed.queries.show", "encode": "ctxembed.queries.vectorize",
    "analogy": "ctxembed.queries.neighbors", "combine": "ctxembed.queries.neighbors",
    "explain_weights": "ctxembed.queries.explain",
    "senses_by": "ctxembed.queries.senses_by",
    "senses_labelled": "ctxembed.queries.senses_labelled",
    "collocates_by": "ctxembed.queries.collocates_by",
    "nearest_by": "ctxembed.queries.nearest_by",
    "align": "ctxembed.word_senses.alignment",
    "decide": "ctxembed.evaluation.decide",
    "evaluate": "ctxembed.evaluation.evaluate",
    "train": "ctxembed.training.train", "training_pairs": "ctxembed.training.pairs",
    "learn": "ctxembed.training.learn:learn_attention",
    "watch": "ctxembed.training.watch",
    "fit": "ctxembed.training.fit:fit_task",
    "mix": "ctxembed.training.mix",
    "import_": "ctxembed.training.import_", "export": "ctxembed.training.export",
    "index": "ctxembed.training.index_", "shrink": "ctxembed.training.shrink",
    "ContextVectorizer": "ctxembed.integrations.scikit_learn",
    "draw": "ctxembed.output.picture", "render": "ctxembed.output.render",
}  # fmt: skip
__all__ = ["__version__", *_WHERE]


def look_up(name: str) -> "Any":
    """Import and return what this module offers under a name."""
    from importlib import import_module

    module, _, attribute = _WHERE[name].partition(":")
    return getattr(import_module(module), attribute or name)


def __getattr__(name: str) -> "Any":
    if name not in _WHERE:
        raise AttributeError(f"module 'ctxembed' has no attribute {name!r}")
    return look_up(name)


def __dir__() -> list[str]:
    return __all__
