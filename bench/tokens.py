"""Measure how fast text is split into words: ctxembed against split, a pattern and a library.

    python bench/tokens.py TEXT [--megabytes 100] [--rounds 5]

TEXT is any file that train reads; its first megabytes are copied to a plain file first, so that
no time goes into unpacking. The contestants take turns; the median of the rounds counts.
"""

import argparse
import hashlib
import os
import re
import resource
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from ctxembed.text.corpus import Corpus
from ctxembed.text.numbering import number_corpus
from ctxembed.text.streams import open_bytes
from ctxembed.text.tokenizer import Tokenizer


def number_text(path: Path, workers: int) -> str:
    """Sentences and words with their numbers; the digest proves that they are the same."""
    digest = hashlib.blake2b()
    for part, _, _ in number_corpus(Corpus([str(path)]), Tokenizer(), workers):
        for array in (part.ids, part.lengths, part.lines):
            digest.update(array.tobytes())
        digest.update(part.text)
    return digest.hexdigest()


def split(path: Path) -> None:
    """Words between spaces, no sentences, nothing kept."""
    with path.open(encoding="utf-8") as file:
        for line in file:
            line.lower().split()


def pattern(path: Path) -> None:
    """Words by a plain pattern, no sentences, nothing kept."""
    words = re.compile(r"\w+")
    with path.open(encoding="utf-8") as file:
        for line in file:
            words.findall(line.lower())


def library(path: Path) -> None:
    """Words by the tokenizers library, in as many threads as it likes."""
    from tokenizers import Tokenizer as Library
    from tokenizers import models, normalizers, pre_tokenizers

    tokenizer = Library(models.WordLevel({"?": 0}, unk_token="?"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    with path.open(encoding="utf-8") as file:
        while lines := file.readlines(1 << 20):
            tokenizer.encode_batch_fast(lines)


CONTESTANTS: dict[str, Callable[[Path], object]] = {
    "ctxembed, two workers": lambda path: number_text(path, 2),
    "ctxembed, one": lambda path: number_text(path, 1),
    "str.split": split,
    "re.findall": pattern,
    "tokenizers": library,
}


def processor() -> float:
    """Seconds of processor time of this process and those it has waited for."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("text")
    parser.add_argument("--megabytes", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=5)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "text.txt"
        with open_bytes(args.text) as source, path.open("wb") as target:
            for line in source:
                target.write(line)
                if target.tell() >= args.megabytes * 1_000_000:
                    break
        size = path.stat().st_size / 1e6
        times: dict[str, list[tuple[float, float]]] = {name: [] for name in CONTESTANTS}
        answers = set()
        for _ in range(args.rounds):
            for name, run in CONTESTANTS.items():
                wall, cpu = time.perf_counter(), processor()
                answer = run(path)
                times[name].append((time.perf_counter() - wall, processor() - cpu))
                answers |= {answer} - {None}
    print(f"{size:.0f} MB, {args.rounds} rounds, {len(os.sched_getaffinity(0))} cores,", end=" ")
    print("the same tokens" if len(answers) == 1 else "DIFFERENT TOKENS")
    print(f"{'':24}{'MB/s':>8}{'MB/s of one core':>20}")
    for name, taken in times.items():
        wall, cpu = (statistics.median(column) for column in zip(*taken, strict=True))
        print(f"{name:24}{size / wall:8.1f}{size / cpu:20.1f}")


if __name__ == "__main__":
    main()
