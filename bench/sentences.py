"""Questions about sentences: start-up of compare, and contextualize as its input grows.

    python bench/sentences.py MODEL [--rounds 15]

compare is run in turns with `python -c "import numpy, click"`, each in a process of its own; the
ratio of the two is what counts. contextualize reads 2,000 to 16,000 sentences of the model's corpus
and prints time and peak memory, in which the model's mapped files count as far as they are read.
The model should have 100,000 words.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

from ctxembed.model.model import Model

ONE = ["compare", "[Apple] launched a new phone while I was eating an orange"]
TWO = ["compare", "She put money in the [bank]", "They sat on the river [bank]"]
BASE = [sys.executable, "-c", "import numpy, click"]


def seconds(command: list[str]) -> tuple[float, float, int]:
    """Run a command; return wall time, processor time, and peak memory in MB."""
    start = time.perf_counter()
    # modules are compiled once, as those of an installed package are
    compiled = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    with open(os.devnull, "wb") as null:
        process = subprocess.Popen(command, stdout=null, stderr=subprocess.PIPE, env=compiled)
        _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) not in (0, 4):  # 4: a line without any known word
        raise SystemExit(
            f"{' '.join(command)} failed: {process.stderr and process.stderr.read()!r}"
        )
    return wall, used.ru_utime + used.ru_stime, used.ru_maxrss // 1024


def measure_start(model: Path, rounds: int) -> None:
    """Compare the time to an answer with the time to import what every answer needs."""
    print("command\tseconds\timport_numpy_click\tratio\tcpu_ratio\tpeak_mb")
    for name, question in (("one sentence", ONE), ("two sentences", TWO)):
        ask = [sys.executable, "-m", "ctxembed", *question, "-q", "-m", str(model)]
        seconds(ask), seconds(BASE)  # compile, fill the disk cache
        runs = [(seconds(ask), seconds(BASE)) for _ in range(rounds)]
        measured, base = (median(run[i][0] for run in runs) for i in (0, 1))
        ratio = median(a[0] / b[0] for a, b in runs)
        cpu = median(a[1] / b[1] for a, b in runs)
        peak = max(a[2] for a, _ in runs)
        print(f"compare, {name}\t{measured:.3f}\t{base:.3f}\t{ratio:.2f}\t{cpu:.2f}\t{peak}")


def measure_growth(model: Path) -> None:
    """Show that time grows with the number of sentences, and memory does not."""
    opened = Model.open(model)
    index = opened.index
    assert index is not None, "give a model with its corpus"
    print("contextualize\tsentences\tvectors\tseconds\tcpu\tsentences_per_cpu_second\tpeak_mb")
    with tempfile.TemporaryDirectory() as folder:
        for number in (2000, 4000, 8000, 16000):
            file = Path(folder) / f"{number}.txt"
            texts = [" ".join(index.words(index.sentence(i))) for i in range(number)]
            file.write_text("\n".join(text for text in texts if text) + "\n", encoding="utf-8")
            out = Path(folder) / "vectors.npz"
            ask = [sys.executable, "-m", "ctxembed", "contextualize", str(file), "--all", "-q"]
            wall, cpu, peak = seconds([*ask, "-o", str(out), "-m", str(model)])
            vectors = sum(map(len, (text.split() for text in texts)))
            print(f"--all\t{number}\t{vectors}\t{wall:.2f}\t{cpu:.2f}\t{number / cpu:.0f}\t{peak}")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("model", type=Path)
    parser.add_argument("--rounds", type=int, default=15)
    chosen = parser.parse_args()
    print(f"# {len(Model.open(chosen.model).vocabulary.words)} words in the model")
    measure_start(chosen.model, chosen.rounds)
    measure_growth(chosen.model)


if __name__ == "__main__":
    main()
