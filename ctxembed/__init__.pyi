"""Types of the names that ctxembed imports when they are used; see tests.test_types."""

from typing import Any

from ctxembed.context.parse import parse as parse
from ctxembed.context.representations import Representations as Representations
from ctxembed.context.worked_example import open_worked_example as given
from ctxembed.context.worked_example import open_worked_example as open_worked_example
from ctxembed.errors import CorpusError as CorpusError
from ctxembed.errors import CtxembedError as CtxembedError
from ctxembed.errors import ModelError as ModelError
from ctxembed.errors import Replaced as Replaced
from ctxembed.errors import UnknownWordError as UnknownWordError
from ctxembed.errors import UsageError as UsageError
from ctxembed.evaluation.decide import decide as decide
from ctxembed.evaluation.evaluate import evaluate as evaluate
from ctxembed.integrations.scikit_learn import ContextVectorizer as ContextVectorizer
from ctxembed.model.bundled import open_model as open
from ctxembed.model.model import Model as Model
from ctxembed.model.saved_senses import saved_senses as saved_senses
from ctxembed.model.selection import select as select
from ctxembed.output.picture import draw as draw
from ctxembed.output.render import render as render
from ctxembed.queries.ablate import ablate as ablate
from ctxembed.queries.ambiguity import ambiguity as ambiguity
from ctxembed.queries.association import association as association
from ctxembed.queries.collocates import collocates as collocates
from ctxembed.queries.collocates_by import collocates_by as collocates_by
from ctxembed.queries.compare import compare as compare
from ctxembed.queries.contextualize import contextualize as contextualize
from ctxembed.queries.define import define as define
from ctxembed.queries.explain import explain as explain
from ctxembed.queries.explain import explain_weights as explain_weights
from ctxembed.queries.heads import heads as heads
from ctxembed.queries.info import check as check
from ctxembed.queries.info import info as info
from ctxembed.queries.keywords import keywords as keywords
from ctxembed.queries.kwic import kwic as kwic
from ctxembed.queries.ladder import ladder as ladder
from ctxembed.queries.nearest_by import nearest_by as nearest_by
from ctxembed.queries.neighbors import analogy as analogy
from ctxembed.queries.neighbors import combine as combine
from ctxembed.queries.neighbors import neighbors as neighbors
from ctxembed.queries.positions import positions as positions
from ctxembed.queries.predict import predict as predict
from ctxembed.queries.senses import senses as senses
from ctxembed.queries.senses_by import senses_by as senses_by
from ctxembed.queries.senses_labelled import senses_labelled as senses_labelled
from ctxembed.queries.shift import shift as shift
from ctxembed.queries.show import show as show
from ctxembed.queries.show import vector as vector
from ctxembed.queries.similarity import similarity as similarity
from ctxembed.queries.substitutes import substitutes as substitutes
from ctxembed.queries.tokenize import tokenize as tokenize
from ctxembed.queries.vectorize import encode as encode
from ctxembed.queries.vectorize import vectorize as vectorize
from ctxembed.queries.wordlist import wordlist as wordlist
from ctxembed.table import Chart as Chart
from ctxembed.table import Column as Column
from ctxembed.table import Table as Table
from ctxembed.text.corpus import Corpus as Corpus
from ctxembed.training.export import export as export
from ctxembed.training.fit import fit_task as fit
from ctxembed.training.import_ import import_ as import_
from ctxembed.training.index_ import index as index
from ctxembed.training.learn import learn_attention as learn
from ctxembed.training.mix import mix as mix
from ctxembed.training.pairs import training_pairs as training_pairs
from ctxembed.training.shrink import shrink as shrink
from ctxembed.training.train import train as train
from ctxembed.training.watch import watch as watch
from ctxembed.word_senses.alignment import align as align

__all__ = [
    "Chart",
    "Column",
    "ContextVectorizer",
    "Corpus",
    "CorpusError",
    "CtxembedError",
    "Model",
    "ModelError",
    "Replaced",
    "Representations",
    "Table",
    "UnknownWordError",
    "UsageError",
    "__version__",
    "ablate",
    "align",
    "ambiguity",
    "analogy",
    "association",
    "check",
    "collocates",
    "collocates_by",
    "combine",
    "compare",
    "contextualize",
    "decide",
    "define",
    "draw",
    "encode",
    "evaluate",
    "explain",
    "explain_weights",
    "export",
    "fit",
    "given",
    "heads",
    "import_",
    "index",
    "info",
    "keywords",
    "kwic",
    "ladder",
    "learn",
    "mix",
    "nearest_by",
    "neighbors",
    "open",
    "open_worked_example",
    "parse",
    "positions",
    "predict",
    "render",
    "saved_senses",
    "select",
    "senses",
    "senses_by",
    "senses_labelled",
    "shift",
    "show",
    "shrink",
    "similarity",
    "substitutes",
    "tokenize",
    "train",
    "training_pairs",
    "vector",
    "vectorize",
    "watch",
    "wordlist",
]
__version__: str

def look_up(name: str) -> Any: ...
