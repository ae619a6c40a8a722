"""How fast vectors come in: import against gensim's load_word2vec_format on one file.

    python bench/vectors.py [--words 400000] [--dim 50] [--runs 5]

Writes a GloVe-like text file, then lets both read it in turn, each in a process of its own.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

GENSIM = """
import json, resource, sys, time
from gensim.models import KeyedVectors
begun = time.perf_counter()
KeyedVectors.load_word2vec_format(sys.argv[1], no_header=True)
seconds = time.perf_counter() - begun
"""
IMPORT = """
import json, resource, sys, time
from ctxembed.training.import_ import import_
begun = time.perf_counter()
import_(sys.argv[1], sys.argv[2], force=True)
seconds = time.perf_counter() - begun
"""
PRINT_USAGE = """
used = resource.getrusage(resource.RUSAGE_SELF)
print(json.dumps([seconds, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024]))
"""


def write_vectors(path: Path, words: int, dim: int) -> None:
    """Write random vectors as GloVe prints them."""
    rng = np.random.default_rng(0)
    with path.open("w") as file:
        for first in range(0, words, 10_000):
            block = rng.normal(0, 0.4, (min(10_000, words - first), dim))
            for row, vector in enumerate(block, first):
                file.write(f"w{row} " + " ".join(f"{x:.5g}" for x in vector) + "\n")


def run(code: str, *arguments: Path) -> list[float]:
    """Return wall seconds, CPU seconds and peak megabytes of a process."""
    done = subprocess.run(
        [sys.executable, "-c", code + PRINT_USAGE, *map(str, arguments)],
        capture_output=True,
        check=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent)},
    )
    times: list[float] = json.loads(done.stdout)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("--words", 400_000), ("--dim", 50), ("--runs", 5)):
        parser.add_argument(name, type=int, default=default)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "glove.txt"
        write_vectors(path, args.words, args.dim)
        print(f"{args.words} x {args.dim}, {path.stat().st_size / 1e6:.0f} MB of text")
        seconds, gensim_seconds = [], []
        for _ in range(args.runs):  # interleaved
            seconds.append(run(IMPORT, path, Path(folder) / "model"))
            gensim_seconds.append(run(GENSIM, path))
    print("| | wall s | CPU s | peak MB |\n|---|---|---|---|")
    for name, runs in (
        ("ctxembed import, model directory written and synced", seconds),
        ("gensim load_word2vec_format, into memory", gensim_seconds),
    ):
        medians = np.median(runs, axis=0)
        print(f"| {name} | " + " | ".join(f"{number:.1f}" for number in medians) + " |")
    wall, cpu, _ = np.median(gensim_seconds, axis=0) / np.median(seconds, axis=0)
    print(f"\ngensim / ctxembed: wall {wall:.1f}, CPU {cpu:.1f}")


if __name__ == "__main__":
    main()
