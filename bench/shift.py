"""shift where there is nothing to find, and where something was planted.

    python bench/shift.py TEXT [--words 1900000] [--tested 300]

TEXT has a paragraph a line. Null: its units (sentences, paragraphs, blocks of 20 and of 200
paragraphs) are dealt out to two halves at random, each unit a document of the index; at a nominal
5 %, 5 % of the words should have p up to 0.05. Beside it, what dealing single occurrences would
say. Power: field and galaxy are swapped in 30 % of the paragraphs of the second half.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from ctxembed.ask.deal import by_document, deal
from ctxembed.ask.shift import _occurrences, _test, align, shift
from ctxembed.store.model import Model

PLANTED = ("field", "galaxy")
MOST = 300  # occurrences of a word in each half


def read_paragraphs(path: Path, words: int) -> list[str]:
    """Read so many words of paragraphs from all over a file."""
    opener = gzip.open if path.suffix == ".gz" else open
    found, number = [], 0
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            found.append(line.strip())
            number += line.count(" ") + 1
            if number >= words:
                break
    return found


def units_of(paragraphs: Sequence[str], design: str) -> list[list[str]]:
    """Cut the text into what is dealt out."""
    if design == "sentences":
        return [[s] for line in paragraphs for s in re.split(r"(?<=[.!?]) (?=[A-Z])", line)]
    size = {"paragraphs": 1, "blocks of 20": 20, "blocks of 200": 200}[design]
    return [list(paragraphs[i : i + size]) for i in range(0, len(paragraphs), size)]


def train(units: Sequence[Sequence[str]], place: Path) -> Model:
    """Train static vectors; each unit is a document."""
    text = place.with_suffix(".txt")
    text.write_text("\n\n".join("\n".join(unit) for unit in units) + "\n", encoding="utf-8")
    how = ["--static-only", "--dim", "50", "--epochs", "2", "--document", "block", "-q"]
    command = [sys.executable, "-m", "ctxembed", "train", str(text), "-o", str(place), *how]
    subprocess.run([*command, "--workers", "1"], check=True, stdout=subprocess.DEVNULL)
    return Model.open(place)


def halves(
    units: Sequence[Sequence[str]], folder: Path, rng: np.random.Generator, *, planted: bool = False
) -> tuple[Model, Model]:
    """Deal units out to two halves, and train a model on each."""
    first = rng.random(len(units)) < 0.5
    one = [unit for unit, mine in zip(units, first, strict=True) if mine]
    other = [unit for unit, mine in zip(units, first, strict=True) if not mine]
    if planted:
        other = [[_swap(line) for line in unit] if rng.random() < 0.3 else unit for unit in other]
    folder.mkdir()
    return train(one, folder / "a"), train(other, folder / "b")


def _swap(line: str) -> str:
    a, b = PLANTED
    return re.sub(rf"\b({a}|{b})\b", lambda m: b if m[1] == a else a, line)


def null(paragraphs: Sequence[str], design: str, tested: int, folder: Path) -> None:
    """Print the share of false alarms where the halves are one corpus."""
    rng = np.random.default_rng(1)
    aligned = align(*halves(units_of(paragraphs, design), folder, rng), 20)
    words = [word for word in range(len(aligned.rows_a)) if aligned.is_content(word)]
    by_documents, by_occurrences = [], []
    for word in rng.permutation(words)[:tested].tolist():
        found = _test(aligned, word, MOST, 199, 1)
        again = _occurrences(aligned, word, MOST, 1)
        if found is None or again is None:
            continue
        by_documents.append(found.p_value)
        x, y, _ = again
        each = by_document(x, np.arange(len(x)), y, np.arange(len(y)))
        by_occurrences.append(deal(x, y, each, 199, np.random.default_rng(1)).p_value)
    shares = [np.mean(np.array(p) <= 0.05) for p in (by_documents, by_occurrences)]
    print(f"{design}\t{len(by_documents)}\t{shares[0]:.3f}\t{shares[1]:.3f}", flush=True)


def power(paragraphs: Sequence[str], folder: Path) -> None:
    """Print what shift says where two words were swapped."""
    rng = np.random.default_rng(1)
    a, b = halves(units_of(paragraphs, "paragraphs"), folder, rng, planted=True)
    named = shift(a, b, PLANTED, most=MOST)
    table = shift(a, b, min_count=20, number=5, most=MOST)
    for row in [*named.records(), *table.records()]:
        told = "\t".join(f"{row[name]:.4f}" for name in ("effect", "low", "high", "q_value"))
        print(f"planted\t{row['rank']}\t{row['word']}\t{told}", flush=True)
    print("\n".join(table.notes))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=Path)
    parser.add_argument("--words", type=int, default=1_900_000)
    parser.add_argument("--tested", type=int, default=300)
    parser.add_argument("--power", action="store_true", help="only what was planted")
    given = parser.parse_args()
    paragraphs = read_paragraphs(given.text, given.words)
    print("null\twords\tp up to 0.05, documents dealt\t... occurrences dealt", flush=True)
    with tempfile.TemporaryDirectory() as name:
        for number, design in enumerate(
            ("sentences", "paragraphs", "blocks of 20", "blocks of 200")
        ):
            if not given.power:
                null(paragraphs, design, given.tested, Path(name) / str(number))
        power(paragraphs, Path(name) / "planted")


if __name__ == "__main__":
    main()
