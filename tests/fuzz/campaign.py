"""The campaign against the tool: `make fuzz`, or python -m tests.fuzz.campaign --minutes 10.

Every part tries something hostile until its time is over; whatever ends in a traceback, a hang, a
warning, over 1 GB of memory, a raw escape on a terminal, or an answer that differs from the sound
model's with exit 0, is a finding. The seed determines the tries.
"""

import argparse
import importlib
import os
import random
import shutil
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from tests.fuzz import arguments, environment, files, models, page, writing
from tests.fuzz.tries import Result
from tests.fuzz.workspace import Tries, Workspace

KINDS = (
    "traceback", "hang", "warning", "memory", "raw escape", "changed answer", "signal",
    "wrong code", "no message", "lost",
)  # fmt: skip
Part = Callable[[Workspace], Tries]
PARTS: dict[str, tuple[Part, float]] = {  # its share of the time
    "damaged models": (models.damaged_models, 0.20),
    "hostile models": (models.hostile_models, 0.08),
    "models replaced while asked": (models.replaced, 0.09),
    "killed while writing": (writing.killed, 0.12),
    "concurrent writers": (writing.concurrent, 0.06), "file modes": (writing.private, 0.03),
    "arguments": (arguments.arguments, 0.10),
    "numbers": (arguments.numbers, 0.05), "encodings": (arguments.encoded, 0.05),
    "closed and odd streams": (environment.streams, 0.05),
    "limits, odd environments": (environment.limits, 0.07),
    "escapes on a terminal": (environment.terminals, 0.05),
    "bombs and long lines": (files.bombs, 0.08), "vector files": (files.vectors, 0.05),
    "requests to the page": (page.served, 0.01), "patterns": (arguments.patterns, 0.03),
    "models overwritten in place": (page.overwritten, 0.05),
    "normalisation": (arguments.normalised, 0.03),
}  # fmt: skip


def main() -> int:
    """Run every part for its share of the time, and print tries and findings."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=int.from_bytes(os.urandom(4), "little"))
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--tries", type=int, help="of each part, whatever time they take")
    parser.add_argument("--part", choices=PARTS, action="append", help="may be given several times")
    options = parser.parse_args()
    for name in COMMANDS:  # every try is a fork of this process
        load_command(name)
    for library in ("difflib", "numpy.ma", "scipy.sparse"):  # that commands import while they run
        importlib.import_module(library)
    folder = Path(tempfile.mkdtemp(prefix="ctxembed-fuzz-"))
    # A limit on the size of files would cut bytecode, which Python then reads as damaged.
    sys.dont_write_bytecode, os.environ["PYTHONDONTWRITEBYTECODE"] = True, "1"
    os.environ["XDG_CACHE_HOME"] = str(folder / "cache")
    os.environ.pop("CTXEMBED_MODEL", None)
    try:
        workspace = Workspace.make(folder, random.Random(options.seed))
        print(f"seed {options.seed}, {options.minutes:g} minutes", flush=True)
        print(f"{'part':<28} {'tries':>6}  {'refused':>7}  findings", flush=True)
        total: Counter[str] = Counter()
        tries = 0
        parts = {name: PARTS[name] for name in options.part or PARTS}
        total_share = sum(share for _, share in parts.values())
        for name, (part, share) in parts.items():
            seconds = 60 * options.minutes * share / total_share
            findings, number, refused = run_part(part, workspace, seconds, options.tries)
            summary = format_findings(findings)
            print(f"{name:<28} {number:>6}  {refused:>7}  {summary}", flush=True)
            total += findings
            tries += number
        print(f"{'in all':<28} {tries:>6}  {'':>7}  {format_findings(total)}", flush=True)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return int(bool(total))


def run_part(
    part: Part, workspace: Workspace, seconds: float, max_tries: int | None
) -> tuple[Counter[str], int, int]:
    """Return the findings, the tries and the refused tries; report nine findings of each kind."""
    findings: Counter[str] = Counter()
    tries = refused = 0
    end = time.monotonic() + seconds
    for what, fault, ended in part(workspace):
        tries += 1
        refused += ended is not None and ended.code != 0
        if fault:
            findings[fault] += 1
            if findings[fault] <= 9:
                report(what, fault, ended)
        if tries == max_tries if max_tries else time.monotonic() > end:
            break
    return findings, tries, refused


def format_findings(findings: Counter[str]) -> str:
    """Return the number of findings of each kind as text."""
    return ", ".join(f"{kind} {findings[kind]}" for kind in KINDS if findings[kind]) or "none"


def report(what: str, fault: str, ended: Result | None) -> None:
    """Write a finding to stderr with what is needed to repeat it."""
    sys.stderr.write(f"{fault}: {what[:300]}\n")
    if ended is not None:
        last = (ended.err or ended.out).decode("utf-8", "replace").strip()[-700:]
        sys.stderr.write(
            f"  code {ended.code}, {ended.seconds:.1f} s, {ended.memory} KiB: {last}\n"
        )
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
