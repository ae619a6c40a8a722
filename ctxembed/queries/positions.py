"""What does the encoding of a position look like?"""

from dataclasses import replace

from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.attention.terms import Distance, Walls
from ctxembed.context.representations import Attention, representations_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import as_model
from ctxembed.model.model import Model
from ctxembed.table import Chart, Column, Table, answers

PLACE = Column("position", "a place, from 0")
WAVES = Column("d1, d2, ...", "its encoding: sine in odd columns, cosine in even ones")
VECTOR = Column("vector", "the same as a list, in json and jsonl", "vector")
PRODUCTS = Column("p0, p1, ...", "with --dot: the dot product with each place")
DISTANCE = Column("distance", "with --attention: how far to the right of the target a word stands")
HEADS = Column("head_1, head_2, ...", "with --attention: what is added to its scaled score")

MOST = 2_000_000  # numbers in a table


@answers(PLACE, WAVES, VECTOR, PRODUCTS, DISTANCE, HEADS)
def positions(
    length: int = 8,
    dim: int = 8,
    *,
    dot: bool = False,
    attention: str | None = None,
    model: Model | str | None = None,
) -> Table:
    """Tabulate the encoding of each place, the dot products between places, or what is learned.

    attention: tabulate what an attention of the model adds by distance, instead.
    """
    if attention is not None:
        return bias_by_distance(as_model(model), attention)
    if length * (length if dot else dim) > MOST:
        raise UsageError(f"more than {MOST:,} numbers to print; give a smaller --length or --dim")
    encoding = sinusoidal(length, dim)  # (T, d)
    values = encoding @ encoding.T if dot else encoding
    rows = [(place, *map(float, row)) for place, row in enumerate(values)]
    if dot:
        return Table(
            (PLACE, *PRODUCTS.each(f"p{i}" for i in range(length))),
            rows,
            chart=Chart("heat", range(1, length + 1), label=["position"], title="dot products"),
        )
    names = [f"d{i}" for i in range(1, dim + 1)]
    chart = Chart(
        "heat",
        range(1, dim + 1),
        label=["position"],
        domain=(-1, 1),
        title="sinusoidal places",
        of=lambda: Table((PLACE, *WAVES.each(names)), rows),
    )
    return Table((PLACE, replace(VECTOR, parts=names)), list(enumerate(values)), chart=chart)


def bias_by_distance(model: Model, name: str) -> Table:
    """Tabulate what an attention adds to a score by distance, a column a head."""
    way = representations_of(model).get(name)
    term = way.layer.term(Distance) if isinstance(way, Attention) else None
    if not isinstance(way, Attention) or term is None:
        raise UsageError(f"--attention {name}: it knows no positions")
    bias = term.by_head  # (H, 2R+1)
    reach = bias.shape[1] // 2
    rows = [(away, *map(float, added)) for away, added in enumerate(bias.T, -reach)]
    notes = []
    walls = way.layer.term(Walls)
    if walls is not None:
        heights = " ".join(f"{wall:.1f}" for wall in walls.by_head)
        notes.append(f"a wall between two words counts, head by head: {heights}")
    numbers = range(1, len(bias) + 1)
    title = f"{name}: what is added to a score by distance"
    chart = Chart("lines", numbers, "distance", title=title)
    heads = HEADS.each(f"head_{head}" for head in numbers)
    return Table((DISTANCE, *heads), rows, notes, chart=chart)
