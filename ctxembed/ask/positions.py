"""What does the encoding of a position look like?"""

from ctxembed.attention.sinusoids import sinusoidal
from ctxembed.attention.terms import Distance, Walls
from ctxembed.context.representations import Attention, Context
from ctxembed.errors import UsageError
from ctxembed.store.model import Model
from ctxembed.table import Table


def positions(length: int, dim: int, *, dot: bool = False) -> Table:
    """Tabulate the encoding of each place, or the dot products between places."""
    encoding = sinusoidal(length, dim)  # (T, d)
    values = encoding @ encoding.T if dot else encoding
    names = [f"p{i}" for i in range(length)] if dot else [f"d{i}" for i in range(1, dim + 1)]
    rows = [(place, *map(float, row)) for place, row in enumerate(values)]
    return Table(("position", *names), rows)


def bias_by_distance(model: Model, name: str) -> Table:
    """Tabulate what an attention adds to a score by distance, a column a head."""
    way = Context(model).get(name)
    term = way.layer.term(Distance) if isinstance(way, Attention) else None
    if not isinstance(way, Attention) or term is None:
        raise UsageError(f"--attention {name}: it knows no positions")
    bias = term.by_head  # (H, 2R+1)
    reach = bias.shape[1] // 2
    rows = [(place - reach, *map(float, bias[:, place])) for place in range(bias.shape[1])]
    notes = []
    walls = way.layer.term(Walls)
    if walls is not None:
        heights = " ".join(f"{wall:.1f}" for wall in walls.by_head)
        notes.append(f"a wall between two words counts, head by head: {heights}")
    return Table(
        ("distance", *(f"head_{head}" for head in range(1, len(bias) + 1))), rows, notes=notes
    )
