"""shift where there is nothing to find, and where something was planted.

    python bench/shift.py TEXT [--splits 3] [--words 1900000] [--tested 300]
    python bench/shift.py TEXT --power [--share 0.3]
    python bench/shift.py TEXT --ready english [--power]

TEXT has a paragraph a line. Null: its units (sentences, paragraphs, blocks of 20 and of 200
paragraphs) are dealt out to two halves at random, several times, each unit a document of the index;
at a nominal 5 %, 5 % of the words should have p up to 0.05. Beside it, what dealing single
occurrences would say. Power: field and galaxy, and twenty pairs of words drawn at random, are
swapped in a share of the paragraphs of the second half; what of them is found among all words.
--ready: both halves get the vectors and the attention of this model, which is trained on neither.
"""

import argparse
import gzip
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

from ctxembed.model.model import Model
from ctxembed.queries.shift import shift
from ctxembed.stats.permutation_test import permutation_test, sum_by_unit
from ctxembed.text.tokenizer import is_content
from ctxembed.word_senses.alignment import align
from ctxembed.word_senses.shift_tests import run_permutation_test, word_vectors

PLANTED = ("field", "galaxy")
PAIRS = 20  # more pairs of words to swap
OFTEN = (100, 1000)  # how often they occur
DESIGNS = ("sentences", "paragraphs", "blocks of 20", "blocks of 200")
OCCURRENCES = 300  # occurrences of a word in each half


def read_paragraphs(path: Path, words: int) -> list[str]:
    """Read so many words of paragraphs from all over a file."""
    opener = gzip.open if path.suffix == ".gz" else open
    lines, number = [], 0
    with opener(path, "rt", encoding="utf-8") as file:
        for line in file:
            lines.append(line.strip())
            number += line.count(" ") + 1
            if number >= words:
                break
    return lines


def units_of(paragraphs: Sequence[str], design: str) -> list[list[str]]:
    """Cut the text into what is dealt out."""
    if design == "sentences":
        return [[s] for line in paragraphs for s in re.split(r"(?<=[.!?]) (?=[A-Z])", line)]
    size = {"paragraphs": 1, "blocks of 20": 20, "blocks of 200": 200}[design]
    return [list(paragraphs[i : i + size]) for i in range(0, len(paragraphs), size)]


def train(units: Sequence[Sequence[str]], path: Path, ready: str | None) -> Model:
    """Train static vectors, or take ready ones; each unit is a document."""
    text = path.with_suffix(".txt")
    text.write_text("\n\n".join("\n".join(unit) for unit in units) + "\n", encoding="utf-8")
    how = ["index", "-m", ready] if ready else ["train", "--static-only", "--dim", "75"]
    command = [sys.executable, "-m", "ctxembed", *how, str(text), "-o", str(path)]
    command += ["--document", "block", "-q", *([] if ready else ["--workers", "1"])]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    return Model.open(path)


def halves(
    units: Sequence[Sequence[str]],
    folder: Path,
    rng: np.random.Generator,
    ready: str | None,
    swapped: Mapping[str, str] | None = None,
    share: float = 0.0,
) -> tuple[Model, Model]:
    """Deal units out to two halves, and make a model of each."""
    first = rng.random(len(units)) < 0.5
    one = [unit for unit, mine in zip(units, first, strict=True) if mine]
    other = [unit for unit, mine in zip(units, first, strict=True) if not mine]
    if swapped:
        other = [
            [_swap(line, swapped) for line in unit] if rng.random() < share else unit
            for unit in other
        ]
    folder.mkdir()
    return train(one, folder / "a", ready), train(other, folder / "b", ready)


def _swap(line: str, swapped: Mapping[str, str]) -> str:
    return re.sub(r"\b[a-z]+\b", lambda m: swapped.get(m[0], m[0]), line)


def null(
    paragraphs: Sequence[str],
    design: str,
    tested: int,
    folder: Path,
    seed: int,
    ready: str | None,
) -> list[int]:
    """Return words tested and false alarms, documents dealt and occurrences dealt, of one split."""
    rng = np.random.default_rng(seed)
    aligned = align(*halves(units_of(paragraphs, design), folder, rng, ready), 20)
    words = [word for word in range(len(aligned.rows_a)) if aligned.is_content(word)]
    by_documents, by_occurrences = [], []
    for word in rng.permutation(words)[:tested].tolist():
        test = run_permutation_test(aligned, word, OCCURRENCES, 199, 1)
        again = word_vectors(aligned, word, OCCURRENCES, 1)
        if test is None or again is None:
            continue
        by_documents.append(test.p_value)
        x, y, _ = again
        each = sum_by_unit(x, np.arange(len(x)), y, len(x) + np.arange(len(y)))
        by_occurrences.append(permutation_test(x, y, each, 199, np.random.default_rng(1)).p_value)
    alarms = [int(np.sum(np.array(p) <= 0.05)) for p in (by_documents, by_occurrences)]
    return [len(by_documents), *alarms]


def draw_pairs(paragraphs: Sequence[str], rng: np.random.Generator) -> dict[str, str]:
    """Draw pairs of content words of about one frequency; each is swapped with its other."""
    counts = Counter(word for line in paragraphs for word in re.findall(r"\b[a-z]+\b", line))
    some = [w for w, n in counts.items() if OFTEN[0] <= n <= OFTEN[1] and is_content(w, 0.0)]
    drawn = rng.choice(sorted(set(some) - set(PLANTED)), 2 * PAIRS, replace=False).tolist()
    drawn.sort(key=lambda word: counts[word])
    pairs = [PLANTED, *zip(drawn[::2], drawn[1::2], strict=True)]
    return {a: b for pair in pairs for a, b in (pair, pair[::-1])}


def power(paragraphs: Sequence[str], share: float, folder: Path, ready: str | None) -> None:
    """Print what shift finds of the words that were swapped, among all words."""
    rng = np.random.default_rng(1)
    swapped = draw_pairs(paragraphs, rng)
    a, b = halves(units_of(paragraphs, "paragraphs"), folder, rng, ready, swapped, share)
    table = shift(a, b, min_count=20, number=10**6, most=OCCURRENCES)
    rows = {str(row["word"]): row for row in table.records()}
    print("planted\trank\tcounts\teffect\tlow\thigh\tp_value\tq_value")
    for word in swapped:
        row = rows.get(word)
        if row is None:
            print(f"{word}\tnot tested: fewer than 20 in one half")
            continue
        effect = "\t".join(f"{row[name]:.4f}" for name in ("effect", "low", "high"))
        p, q = (f"{row[name]:.2g}" for name in ("p_value", "q_value"))
        counts = f"{row['count_a']} {row['count_b']}"
        print(f"{word}\t{row['rank']}\t{counts}\t{effect}\t{p}\t{q}", flush=True)
    mine = [rows[word] for word in swapped if word in rows]
    others = [row for word, row in rows.items() if word not in swapped]
    for name, level in (("p_value", 0.05), ("q_value", 0.05)):
        hits, false = (sum(float(str(r[name])) <= level for r in some) for some in (mine, others))
        print(f"{name} up to {level}: {hits} of {len(mine)} planted, {false} of {len(others)} not")
    print("\n".join(table.notes))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("text", type=Path)
    parser.add_argument("--words", type=int, default=1_900_000)
    parser.add_argument("--tested", type=int, default=300)
    parser.add_argument("--splits", type=int, default=3)
    parser.add_argument("--design", action="append", choices=DESIGNS, help="only this one")
    parser.add_argument("--share", type=float, default=0.3, help="of the paragraphs planted in")
    parser.add_argument("--power", action="store_true", help="what was planted, instead")
    parser.add_argument("--ready", metavar="MODEL", help="vectors that have read neither half")
    options = parser.parse_args()
    paragraphs = read_paragraphs(options.text, options.words)
    with tempfile.TemporaryDirectory() as name:
        if options.power:
            power(paragraphs, options.share, Path(name) / "planted", options.ready)
            return
        print("null\twords\tp up to 0.05, documents dealt\t... occurrences dealt\teach split")
        for design in options.design or DESIGNS:
            counts = np.array(
                [
                    null(
                        paragraphs,
                        design,
                        options.tested,
                        Path(name) / f"{design}{seed}",
                        seed,
                        options.ready,
                    )
                    for seed in range(1, options.splits + 1)
                ]
            )  # (splits, 3)
            total, by_documents, by_occurrences = counts.sum(axis=0)
            each = " ".join(f"{n / m:.3f}" for m, n, _ in counts)
            print(
                f"{design}\t{total}\t{by_documents / total:.3f}\t{by_occurrences / total:.3f}"
                f"\t{each}",
                flush=True,
            )


if __name__ == "__main__":
    main()
