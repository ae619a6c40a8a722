"""Tabulate the encoding of positions, or what an attention adds to a score by distance."""

from ctxembed.attention.terms import Distance, Walls, sinusoidal
from ctxembed.context.columns import vector_of
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.errors import UsageError
from ctxembed.model.bundled import ModelLike, open_model
from ctxembed.model.model import Model
from ctxembed.stats.vectors import Floats
from ctxembed.table import Chart, Column, Table, answers

POSITION = Column("position", "a position, from 0")
WAVES = Column("d1, d2, ...", "its encoding: sine in odd columns, cosine in even ones")
VECTOR = Column("vector", "the same as a list, in json and jsonl", "vector")
WAVE = Column("wave_1, wave_2, ...", "with --waves: the sine wave of each frequency")
SUM = Column("sum", "with --waves: all waves added")
PRODUCTS = Column("p0, p1, ...", "with --dot: the dot product with each position")
DISTANCE = Column("distance", "with --attention: how far to the right of the target a word stands")
HEADS = Column("head_1, head_2, ...", "with --attention: what is added to its scaled score")
MAX_NUMBERS = 2_000_000  # in a table


@answers(POSITION, WAVES, VECTOR, PRODUCTS, WAVE, SUM, DISTANCE, HEADS)
def positions(
    length: int = 8,
    dim: int = 8,
    *,
    dot: bool = False,
    waves: bool = False,
    attention: str | None = None,
    model: ModelLike = None,
) -> Table:
    """Tabulate sinusoidal positions, their dot products, or what an attention adds by distance.

    waves: the sine waves of all frequencies instead, and their sum.
    """
    if dot and waves:
        raise UsageError("give --dot or --waves, not both")
    if attention is not None:
        return _bias_by_distance(open_model(model), attention)
    columns = length if dot else dim
    if length * columns > MAX_NUMBERS:
        raise UsageError(f"more than {MAX_NUMBERS:,} numbers; choose a smaller --length or --dim")
    encoding = sinusoidal(length, dim)  # (T, d)
    if waves:
        return _add_waves(encoding[:, ::2])
    values = encoding @ encoding.T if dot else encoding
    rows = [(position, *map(float, row)) for position, row in enumerate(values)]
    label, numbers = ["position"], range(1, columns + 1)
    if dot:
        chart = Chart("heat", numbers, label=label, title="dot products")
        names = [f"p{i}" for i in range(length)]
        return Table((POSITION, *PRODUCTS.each(names)), rows, chart=chart)
    vector = vector_of(dim, VECTOR)
    wide = Table((POSITION, *WAVES.each(vector.parts)), rows)
    title = "sinusoidal places"
    chart = Chart("heat", numbers, label=label, domain=(-1, 1), title=title, of=lambda: wide)
    return Table((POSITION, vector), list(enumerate(values)), chart=chart)


def _add_waves(waves: Floats) -> Table:
    """Tabulate the sine waves (T, w) and their sum, as curves over the positions."""
    numbers = range(1, waves.shape[1] + 1)
    names = [f"wave_{i}" for i in numbers]
    rows = [(position, *map(float, row), float(row.sum())) for position, row in enumerate(waves)]
    curves = Chart("lines", names, "position", title="one sine wave for each frequency")
    added = Chart("lines", ["sum"], "position", title="all waves added")
    return Table((POSITION, *WAVE.each(names), SUM), rows, chart=[curves, added])


def _bias_by_distance(model: Model, name: str) -> Table:
    """Tabulate what an attention adds to a score by distance, a column for each head."""
    representation = Representations.of(model).get(name)
    term = representation.layer.term(Distance) if isinstance(representation, Attention) else None
    if not isinstance(representation, Attention) or term is None:
        raise UsageError(f"--attention {name}: it knows no positions")
    bias = term.by_head  # (H, 2R+1)
    rows = [(away, *map(float, added)) for away, added in enumerate(bias.T, -(bias.shape[1] // 2))]
    notes = []
    if (walls := representation.layer.term(Walls)) is not None:
        heights = " ".join(f"{wall:.1f}" for wall in walls.by_head)
        notes.append(f"a wall between two words counts, head by head: {heights}")
    numbers = range(1, len(bias) + 1)
    title = f"{name}: what is added to a score by distance"
    chart = Chart("lines", numbers, "distance", title=title)
    return Table((DISTANCE, *HEADS.each(f"head_{h}" for h in numbers)), rows, notes, chart=chart)
