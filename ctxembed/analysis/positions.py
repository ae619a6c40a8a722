"""What does the encoding of a position look like?"""

from ctxembed.attention.positions import sinusoidal
from ctxembed.table import Table


def positions(length: int, dim: int, *, dot: bool = False) -> Table:
    """Tabulate the encoding of each place, or the dot products between places."""
    encoding = sinusoidal(length, dim)  # (T, d)
    values = encoding @ encoding.T if dot else encoding
    names = [f"p{i}" for i in range(length)] if dot else [f"d{i}" for i in range(1, dim + 1)]
    rows = [(place, *map(float, row)) for place, row in enumerate(values)]
    return Table(("position", *names), rows)
