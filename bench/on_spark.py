"""Compare the speed of reading by Spark with reading here: fixed costs and seconds a megabyte.

    python bench/on_spark.py TEXT [--shards 8] [--sizes 5 20]

Makes shards of the first megabytes of a text, trains `--static-only` models of both sizes here and
on Spark (local, all cores; cold: the session starts too; warm: it is there), one epoch, and prints
seconds of each reading, and the seconds a megabyte takes beyond a fixed cost.
"""

import argparse
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any

from ctxembed.text.corpus import Corpus
from ctxembed.text.streams import open_bytes
from ctxembed.training.spark import open_session
from ctxembed.training.train import train_model
from ctxembed.training.train_on_spark import train_on_spark


def make_shards(text: str, folder: Path, megabytes: int, number: int) -> Corpus:
    """Write the beginning of a text as equal files of whole lines."""
    folder.mkdir()
    with open_bytes(text) as file:
        for shard in range(number):
            part = file.read((megabytes << 20) // number) + file.readline()
            (folder / f"{shard}.txt").write_bytes(part)
    return Corpus([str(folder)])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text")
    parser.add_argument("--shards", type=int, default=8)
    parser.add_argument("--sizes", type=int, nargs=2, default=(5, 20), metavar="MB")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    options: dict[str, Any] = {"attention": False, "epochs": 1, "dim": 8, "force": True}
    took: dict[str, list[float]] = {"here": [], "on Spark": []}
    started = time.perf_counter()
    open_session()
    print(f"session\t{time.perf_counter() - started:.1f} s")
    for size in args.sizes:
        corpus = make_shards(args.text, folder / str(size), size, args.shards)
        for name, work in (("here", train_model), ("on Spark", train_on_spark)):
            for round_ in ("first", "second"):
                seconds = work(corpus, folder / "model", **options).reading_seconds
                print(f"{size} MB\t{name}\t{round_}\t{seconds:.2f} s", flush=True)
            took[name].append(seconds)
    small, large = args.sizes
    for name, (one, other) in took.items():
        slope = (other - one) / (large - small)
        print(f"{name}\tfixed {one - slope * small:.2f} s\ta megabyte {slope:.3f} s")
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
