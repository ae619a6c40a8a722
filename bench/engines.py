"""Quality against seconds: ctxembed, gensim and fastText, each with several epochs and rates.

    python bench/engines.py CORPUS SIMILARITY [--words N] [--seed N]

CORPUS is text, .gz or not; its first N words are split once, and every engine reads the same
words. SIMILARITY holds WordSim-353 and MEN. One worker; seconds are of the processor, reading
included. Writes bench/engines.svg and prints the table for bench/README.md. Skip-gram with 5
negative samples, and dimension, window and subsampling as ctxembed chooses them for the size.
"""

import argparse
import gzip
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np
from scipy.stats import spearmanr

import ctxembed
from ctxembed.output.picture import draw
from ctxembed.static.engine import fit_settings
from ctxembed.static.settings import EngineSettings
from ctxembed.table import Chart, Table
from ctxembed.text.tokenizer import Tokenizer

RATINGS = ("EN-WS-353-ALL.txt", "EN-MEN-TR-3k.txt")
# Epochs and first rates that each engine is tried with.
TRIED = ((3, 0.1), (6, 0.1), (12, 0.05), (20, 0.025))
Look = Callable[[str], Any]  # returns a vector, or None
PICTURE = Path(__file__).with_name("engines.svg")
LINES = Chart(
    "lines", ["quality"], "seconds", series=["engine"],
    domain=(0.4, 0.6), title="quality against seconds, the best of each engine",
)  # fmt: skip


def write_words(corpus: str, words: int, target: Path) -> int:
    """Write sentences of the first words, one a line, split as ctxembed does; return how many."""
    tokenizer, number = Tokenizer(), 0
    opener = gzip.open if corpus.endswith(".gz") else open
    with (
        opener(corpus, "rt", encoding="utf-8") as lines,
        target.open("w", encoding="utf-8", newline="\n") as file,
    ):
        for line in lines:
            some = tokenizer.words(line)
            number += len(some)
            file.write(" ".join(some) + "\n" if some else "")
            if number >= words:
                break
    return number


def own(text: Path, settings: EngineSettings, work: Path) -> Look:
    """Train with ctxembed's engine."""
    chosen = {name: getattr(settings, name) for name in ("epochs", "rate", "seed")}
    ctxembed.train(
        text, work / "model", force=True, text=False, attention=False, workers=1, **chosen
    )
    model = ctxembed.open(work / "model")
    return lambda word: model[word] if word in model else None  # noqa: SIM401


def gensim(text: Path, settings: EngineSettings, work: Path) -> Look:
    """Train with gensim, which reads lines itself."""
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=str(text), sg=1, vector_size=settings.dim, window=settings.window,
        min_count=settings.min_count, negative=settings.negative, sample=settings.sample,
        alpha=settings.rate, epochs=settings.epochs, seed=settings.seed, workers=1,
    )  # fmt: skip
    return lambda word: model.wv[word] if word in model.wv else None  # noqa: SIM401


def fasttext(text: Path, settings: EngineSettings, work: Path) -> Look:
    """Train with fastText, without subwords."""
    from fasttext import train_unsupervised

    model = train_unsupervised(
        str(text), model="skipgram", dim=settings.dim, ws=settings.window, epoch=settings.epochs,
        minCount=settings.min_count, neg=settings.negative, t=settings.sample, lr=settings.rate,
        minn=0, maxn=0, thread=1, verbose=0,
    )  # fmt: skip
    known = set(model.words)
    return lambda word: model.get_word_vector(word) if word in known else None


ENGINES: Mapping[str, Callable[[Path, EngineSettings, Path], Look]] = {
    "ctxembed": own, "gensim": gensim, "fastText": fasttext,
}  # fmt: skip


def quality(look: Look, folder: Path) -> float:
    """Return the mean Spearman of the rated pairs whose words are known."""
    figures = []
    for name in RATINGS:
        cosines, ratings = [], []
        for line in (folder / name).read_text(encoding="utf-8").splitlines():
            one, other, rating = line.lower().split()[:3]
            a, b = look(one), look(other)
            if a is not None and b is not None:
                cosines.append(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
                ratings.append(float(rating))
        figures.append(float(spearmanr(cosines, ratings)[0]))
    return float(np.mean(figures))


def measure(text: Path, words: int, folder: Path, seed: int) -> Iterator[tuple[Any, ...]]:
    """Yield engine, epochs, rate, processor seconds and quality of each run."""
    for name, train in ENGINES.items():
        for epochs, rate in TRIED:
            settings = fit_settings(words, epochs=epochs, rate=rate, seed=seed, workers=1)
            with tempfile.TemporaryDirectory() as work:
                try:
                    started = time.process_time()
                    look = train(text, settings, Path(work))
                    seconds = time.process_time() - started
                except ImportError as error:
                    print(f"{name} is left out: {error}")
                    break
                yield name, epochs, rate, seconds, quality(look, folder)


def frontier(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return the runs that no faster run of the same engine reaches, the fastest first."""
    best: dict[str, float] = {}
    kept = []
    for row in sorted(rows, key=lambda row: (row[0], row[3])):
        if row[4] > best.get(row[0], -1.0):
            best[row[0]] = row[4]
            kept.append(row)
    return kept


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("corpus")
    parser.add_argument("similarity", type=Path)
    parser.add_argument("--words", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        words = write_words(options.corpus, options.words, text)
        with tempfile.TemporaryDirectory() as work:  # compiled once, not timed
            own(text, fit_settings(words, epochs=1, rate=0.05), Path(work))
        rows = []
        print("| engine | epochs | rate | processor seconds | quality |\n|---|---|---|---|---|")
        for row in measure(text, words, options.similarity, options.seed):
            rows.append(row)
            print("| {} | {} | {} | {:.1f} | {:.3f} |".format(*row), flush=True)
    columns = ("engine", "epochs", "rate", "seconds", "quality")
    PICTURE.write_text(draw(Table(columns, frontier(rows), chart=LINES)), encoding="utf-8")
    print(f"{words} words; written: {PICTURE.name}")


if __name__ == "__main__":
    main()
