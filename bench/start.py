"""What a question to english costs beside the same question to everyday, in processor time.

    python bench/start.py [--runs 15]

The two take turns, and the least of each counts: another program on the machine only adds.
"""

import argparse
import os
import subprocess
import sys
from resource import RUSAGE_CHILDREN, getrusage

BATS = ["The [bat] flew out of the cave at dusk", "He swung the [bat] at the ball"]
QUESTIONS = {
    "explain": ["explain", BATS[0]],
    "compare": ["compare", *BATS],
    "neighbors": ["neighbors", "bat"],
    "show": ["show", "bat"],
    "similarity": ["similarity", "bat", "ball"],
}
# Modules are compiled once, as those of an installed package are.
COMPILED = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}


def seconds(line: list[str]) -> float:
    """Return the processor time of a command, start and end of Python included."""
    before = getrusage(RUSAGE_CHILDREN)
    command = [sys.executable, "-m", "ctxembed", *line, "-q"]
    subprocess.run(command, check=True, capture_output=True, env=COMPILED)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=15)
    runs = parser.parse_args().runs
    print("question\teveryday\tenglish\tratio")
    for name, line in QUESTIONS.items():
        taken: dict[str, list[float]] = {"everyday": [], "english": []}
        for _ in range(runs):
            for model, times in taken.items():
                times.append(seconds([*line, "-m", model]))
        everyday, english = (min(times) for times in taken.values())
        print(f"{name}\t{everyday:.3f}\t{english:.3f}\t{english / everyday:.2f}")


if __name__ == "__main__":
    main()
