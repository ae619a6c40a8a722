"""How long a picture takes to draw, and how large it is: python bench/pictures.py"""

import time

import numpy as np

from ctxembed.output.picture import draw
from ctxembed.table import Cell, Chart, Table

ARCS = Chart("tokens", ["weight"], "position", ["token"], panel=["target"], start="target")
HEAT = Chart("heat", range(1, 13), label=["word"], domain=(-1, 1))
MAP = Chart("scatter", ["y"], "x", ["occurrence"], series=["sense"])
ROUNDS = 20


def tables() -> dict[str, Table]:
    """Make a sentence of 11 words, a square of 12 and a map of 5,000 points."""
    rng = np.random.default_rng(1)
    words = ["apple", "launched", "a", "new", "phone", "while", "i", "was", "eating", "an", "pear"]
    weights = [None, *rng.dirichlet(np.ones(10)).tolist()]
    sentence: list[tuple[Cell, ...]] = [
        ("apple", word, i, weight)
        for i, (word, weight) in enumerate(zip(words, weights, strict=True), 1)
    ]
    square = [(f"word{i}", *row) for i, row in enumerate(rng.uniform(-1, 1, (12, 12)).tolist())]
    points: list[tuple[Cell, ...]] = [
        (x, y, i % 3, "the bank of the river")
        for i, (x, y) in enumerate(rng.normal(size=(5000, 2)))
    ]
    return {
        "sentence": Table(("target", "token", "position", "weight"), sentence, chart=ARCS),
        "heat map": Table(["word", *(f"w{i}" for i in range(12))], square, chart=HEAT),
        "map of 5,000": Table(("x", "y", "sense", "occurrence"), points, chart=MAP),
    }


if __name__ == "__main__":
    for name, table in tables().items():
        size = len(draw(table).encode())
        begun = time.process_time()
        for _ in range(ROUNDS):
            draw(table)
        each = (time.process_time() - begun) / ROUNDS
        print(f"{name}: {each * 1000:.1f} ms, {size / 1000:.0f} kB")
