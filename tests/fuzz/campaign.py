"""The campaign against the tool: `make fuzz`, or python -m tests.fuzz.campaign --minutes 10.

Every part tries something hostile until its time is over; whatever ends in a traceback, a hang, a
warning, over 1 GB of memory, a raw escape on a terminal, or an answer that differs from the sound
model's with exit 0, is a finding. The seed says which tries are made.
"""

import argparse
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ctxembed.cli.main import COMMANDS, load_command
from tests.fuzz import files, given, models, page, surroundings, writing
from tests.fuzz.ground import Ground, Tries
from tests.fuzz.tries import End

KINDS = (
    "traceback", "hang", "warning", "memory", "raw escape", "changed answer", "signal",
    "wrong code", "no message", "lost",
)  # fmt: skip
Part = Callable[[Ground], Tries]
PARTS: dict[str, tuple[Part, float]] = {  # its share of the time
    "damaged models": (models.damaged_models, 0.20),
    "hostile models": (models.hostile_models, 0.08),
    "models replaced while asked": (models.replaced, 0.09),
    "killed while writing": (writing.killed, 0.12),
    "arguments": (given.arguments, 0.10),
    "numbers": (given.numbers, 0.05),
    "encodings": (given.encoded, 0.05),
    "closed and odd streams": (surroundings.streams, 0.05),
    "limits, odd environments": (surroundings.limits, 0.07),
    "escapes on a terminal": (surroundings.terminals, 0.05),
    "bombs and long lines": (files.bombs, 0.08),
    "vector files": (files.vectors, 0.05),
    "requests to the page": (page.served, 0.01),
}


def main() -> int:
    """Run every part for its share of the time, and print what was tried and found."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    options.add_argument("--minutes", type=float, default=10)
    options.add_argument("--tries", type=int, help="of each part, whatever time they take")
    options.add_argument(
        "--part", choices=PARTS, action="append", help="may be given several times"
    )
    chosen = options.parse_args()
    for name in COMMANDS:  # every try is a fork of this process
        command = load_command(name)
        if not command.output:
            _ = command.question
    place = Path(tempfile.mkdtemp(prefix="ctxembed-fuzz-"))
    os.environ["XDG_CACHE_HOME"] = str(place / "cache")
    os.environ.pop("CTXEMBED_MODEL", None)
    try:
        ground = Ground.make(place, random.Random(chosen.seed))
        print(f"seed {chosen.seed}, {chosen.minutes:g} minutes", flush=True)
        print(f"{'part':<28} {'tries':>6}  {'refused':>7}  findings", flush=True)
        total: Counter[str] = Counter()
        tries = 0
        parts = {name: PARTS[name] for name in chosen.part or PARTS}
        whole = sum(share for _, share in parts.values())
        for name, (part, share) in parts.items():
            seconds = 60 * chosen.minutes * share / whole
            found, made, refused = run_part(part, ground, seconds, chosen.tries)
            told = ", ".join(f"{kind} {found[kind]}" for kind in KINDS if found[kind]) or "none"
            print(f"{name:<28} {made:>6}  {refused:>7}  {told}", flush=True)
            total += found
            tries += made
        told = ", ".join(f"{kind} {total[kind]}" for kind in KINDS if total[kind]) or "none"
        print(f"{'in all':<28} {tries:>6}  {'':>7}  {told}", flush=True)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return int(bool(total))


def run_part(
    part: Part, ground: Ground, seconds: float, most: int | None
) -> tuple[Counter[str], int, int]:
    """Try until the time is over, or so many times; tell the first findings of each kind."""
    found: Counter[str] = Counter()
    tries = refused = 0
    end = time.monotonic() + seconds
    for what, wrong, ended in part(ground):
        tries += 1
        refused += ended is not None and ended.code != 0
        if wrong:
            found[wrong] += 1
            if found[wrong] <= 9:
                tell(what, wrong, ended)
        if tries == most if most else time.monotonic() > end:
            break
    return found, tries, refused


def tell(what: str, wrong: str, ended: End | None) -> None:
    """Say what was found, and enough to find it again."""
    sys.stderr.write(f"{wrong}: {what[:300]}\n")
    if ended is not None:
        last = (ended.err or ended.out).decode("utf-8", "replace").strip()[-700:]
        sys.stderr.write(
            f"  code {ended.code}, {ended.seconds:.1f} s, {ended.memory} KiB: {last}\n"
        )
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
