"""A model that sees some documents of its corpus only: those of --where, or of one group."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError, UsageError
from ctxembed.model.model import Model
from ctxembed.text.index import Index
from ctxembed.text.metadata import MetadataColumn
from ctxembed.text.subset import Subset
from ctxembed.text.where import Comparison, Condition, evaluate_condition, join_conditions

Mask = NDArray[np.bool_]
SHOWN = 12  # values listed in a message


def select(model: Model, where: str | Sequence[str]) -> Model:
    """Return the model with the documents for which a condition holds, such as "year>=1945".

    Vectors and attentions are those of the whole model; counts and occurrences are of these
    documents. It cannot be saved to.
    """
    condition = join_conditions(where)
    if condition is None:
        return model
    return select_documents(model, matching_documents(_index_of(model), condition))


def select_documents(model: Model, chosen: Mask) -> Model:
    """Return the model with some documents (D,) only, as select does."""
    index = Subset.of(_index_of(model), chosen)
    _ = model.vocabulary, model.vectors  # read once, not by each selection
    part = Model(model.path, model.meta, model.files, model.opened_attentions, model.senses)
    vars(part).update({**vars(model), "index": index, "representations": None})
    starts = index._positions[0]
    part.counts, part.seen = np.diff(starts).astype(np.int64), model.seen
    part.meta = model.meta | {"tokens": len(index.ids), "seen_tokens": model.seen_tokens}
    part.whole = model.whole or model
    return part


def matching_documents(index: Index, condition: Condition) -> Mask:
    """Return (D,) the documents for which a condition holds; none is an error."""
    chosen = evaluate_condition(condition, lambda item: _compare(index, item))
    if not chosen.any():
        raise UsageError(_describe_no_match(index, condition, len(chosen)))
    return chosen


def _compare(index: Index, comparison: Comparison) -> Mask:
    column = index.metadata.column(comparison.name)
    masks = [column.matches(comparison.operator, value) for value in comparison.values]
    join = np.logical_and if comparison.operator == "!=" else np.logical_or
    return np.asarray(join.reduce(masks))


def _describe_no_match(index: Index, condition: Condition, documents: int) -> str:
    message = f"--where matches none of the {documents:,} documents"
    if not isinstance(condition, Comparison):
        return f"{message}; try its parts one by one"
    column = index.metadata.column(condition.name)
    return f"{message}: {column.name} {describe_values(column)}"


def describe_values(column: MetadataColumn) -> str:
    """Return what values a column has, for a message."""
    known = column.array[~column.missing]
    if not len(known):
        return "has no values"
    if column.kind != "text":
        low, high = (column.cell(int(np.flatnonzero(column.array == v)[0]))
                     for v in (known.min(), known.max()))  # fmt: skip
        return f"goes from {low} to {high}"
    names = column.groups().names
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return f"is {', '.join(names[:SHOWN])}{more}; * stands for any letters"


def _index_of(model: Model) -> Index:
    if model.index is None:
        raise ModelError(f"{model.path} has no corpus, so --where has nothing to choose from")
    return model.index
