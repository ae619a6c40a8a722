"""How time and memory grow with the corpus: processor time and peak of each command, and exponents.

    python bench/growth.py TEXT [--sizes 1 4 16] [--only train kwic ...]

TEXT: a paragraph a line, packed or not; sizes in million words. Each command runs in a process of
its own, on a model of that many words (120 dimensions, one epoch). The exponent is the slope of log
time over log words: 1 is linear, 0 does not depend on the corpus. A process begins
with the memory of this one, so that this one imports little: 20 MB are the least that is printed.
"""

import argparse
import gzip
import lzma
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from math import log
from pathlib import Path
from statistics import fmean
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SENTENCES = 100  # of compare; the same for every size
MODEL = "MODEL"  # replaced by the model of a size
QUESTIONS = {
    "learn": ["learn", "-m", MODEL, "--epochs", "0.2", "--again"],
    "compare": ["compare", "-", "-m", MODEL],
    "senses": ["senses", "city", "-m", MODEL],
    "kwic": ["kwic", "the * of", "-m", MODEL],
    "collocates": ["collocates", "city", "-m", MODEL],
    "keywords": ["keywords", "TEXT", str(ROOT / "corpora" / "everyday.txt")],
    "ambiguity": ["ambiguity", "city", "water", "music", "-m", MODEL],
}
LIMIT = 1000.0  # MB: the aim for the peak memory of any question


def read_words(text: str, number: float) -> Iterator[str]:
    """Yield the first paragraphs with this many words."""
    openers: dict[str, Any] = {".gz": gzip.open, ".xz": lzma.open}
    opened = openers.get(Path(text).suffix, open)
    read = 0
    with opened(text, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line
            read += len(line.split())
            if read >= number:
                return
    raise SystemExit(f"{text} has only {read:,} words")


def measure(line: list[str], stdin: Path | None = None) -> tuple[float, float]:
    """Return processor time and peak memory in MB of a command."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    with open(stdin or os.devnull, "rb") as source, open(os.devnull, "wb") as null:
        process = subprocess.Popen(
            [sys.executable, "-m", "ctxembed", *line, "-q"], stdin=source, stdout=null,
            stderr=subprocess.PIPE, env=environment,
        )  # fmt: skip
        errors = process.stderr.read() if process.stderr else b""
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in (0, 4):  # 4: an unknown word among many
        raise SystemExit(f"{' '.join(line)} failed: {errors.decode(errors='replace')[-300:]}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def exponent(words: list[float], seconds: list[float]) -> float:
    """Return the slope of log time over log words.

    >>> round(exponent([1, 4, 16], [2, 8, 32]), 3)
    1.0
    """
    x, y = [log(n) for n in words], [log(max(n, 1e-3)) for n in seconds]
    mean_x, mean_y = fmean(x), fmean(y)
    along = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    return along / sum((a - mean_x) ** 2 for a in x)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("text")
    parser.add_argument("--sizes", type=float, nargs="+", default=[1, 4, 16], help="million words")
    parser.add_argument("--only", nargs="+", choices=["train", "index", *QUESTIONS])
    options = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as work:
        for size in options.sizes:
            text, model = Path(work) / "text.txt", Path(work) / "model"
            with text.open("w", encoding="utf-8") as file:
                file.writelines(read_words(options.text, size * 1e6))
            asked = Path(work) / "sentences.txt"
            asked.write_text("\n".join(["the [city] has water and music"] * SENTENCES), "utf-8")
            train = ["train", str(text), "-o", str(model), "--force", "--static-only"]
            train += ["--dim", "120", "--epochs", "1", "--workers", "1"]
            lines = {
                "train": train,
                "index": ["index", str(text), "-m", str(model), "-o", f"{model}.2", "--force"],
            }
            for name, line in QUESTIONS.items():
                lines[name] = [{MODEL: str(model), "TEXT": str(text)}.get(p, p) for p in line]
            for name, line in lines.items():
                if name == "train" or not options.only or name in options.only:
                    found.setdefault(name, []).append(measure(line, asked))
                    print(f"# {size:g} M words: {name}", file=sys.stderr, flush=True)
    names = [f"{size:g} M" for size in options.sizes]
    print("| | " + " | ".join([*names, "exponent", "peak MB", "exponent of peak"]) + " |")
    print("|---" * (len(names) + 4) + "|")
    for name, runs in found.items():
        seconds, peaks = ([run[i] for run in runs] for i in (0, 1))
        cells = [f"{taken:.1f} s" for taken in seconds]
        cells += [f"{exponent(options.sizes, seconds):.2f}", f"{peaks[-1]:.0f}"]
        over = " **over 1 GB**" if peaks[-1] > LIMIT and name not in ("train", "index") else ""
        cells += [f"{exponent(options.sizes, peaks):.2f}{over}"]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
