"""Static vectors: training and asking, against gensim, fastText and an empty Python.

    python bench/static.py train   --corpus FILE [--words N] [--rounds 5] [--workers 2]
    python bench/static.py rate    --corpus FILE [--words N] [--rounds 5]
    python bench/static.py memory  --corpus FILE [--words N]
    python bench/static.py start   [--rounds 21]
    python bench/static.py quality --corpus FILE --similarity DIR [--words N]

Without --words the whole corpus is used (one paragraph a line, packed or not). Contestants run in
turn, each in a process of its own; figures are medians and ratios of one run.
`train` needs fasttext; without it that contestant is left out.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np

from ctxembed.progress import Progress, Stage

ROOT = Path(__file__).resolve().parent.parent
os.environ["PYTHONPATH"] = str(ROOT)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # start-up is measured as installed
SAME = {"vector_size": 100, "window": 5, "min_count": 5, "negative": 5, "sample": 1e-4}
DIM, WINDOW, MIN_COUNT, NEGATIVE, SAMPLE = SAME.values()


# --- the contestants, each a plain script --------------------------------------------------------


def ours(raw: Path, work: Path, sg: bool, epochs: int, workers: int) -> None:
    """Raw text in, model directory out."""
    line = [sys.executable, "-m", "ctxembed", "train", str(raw), "-o", str(work / "ours"), "-q"]
    line += ["--force", "--algorithm", "skipgram" if sg else "cbow", "--workers", str(workers)]
    line += ["--dim", str(DIM), "--window", str(WINDOW), "--epochs", str(epochs)]
    line += ["--min-count", str(MIN_COUNT), "--negative", str(NEGATIVE), "--sample", str(SAMPLE)]
    line += ["--static-only"]  # the others learn no attention either
    subprocess.run(line, check=True, stdout=subprocess.DEVNULL)


def plain(raw: Path, work: Path, sg: bool, epochs: int, workers: int) -> None:
    """The same steps as a short script: split, lower-case, LineSentence, Word2Vec."""
    from gensim.models import Word2Vec
    from gensim.models.word2vec import LineSentence

    word = re.compile(r"[^\W_]+(?:['-][^\W_]+)*")
    with raw.open(encoding="utf-8") as source, (work / "plain.txt").open("w") as target:
        for line in source:
            for sentence in re.split(r"(?<=[.!?])\s+", line.lower()):
                words = word.findall(sentence)
                if words:
                    target.write(" ".join(words) + "\n")
    sentences = LineSentence(str(work / "plain.txt"))
    model = Word2Vec(sentences, sg=int(sg), epochs=epochs, workers=workers, seed=1, **SAME)
    model.save(str(work / "plain.model"))


def corpus_file(tokenised: Path, work: Path, sg: bool, epochs: int, workers: int) -> None:
    """gensim's own fastest path, on text that was tokenised before the clock started."""
    from gensim.models import Word2Vec

    model = Word2Vec(
        corpus_file=str(tokenised), sg=int(sg), epochs=epochs, workers=workers, seed=1, **SAME
    )
    model.save(str(work / "gensim.model"))


def fasttext(tokenised: Path, work: Path, sg: bool, epochs: int, workers: int) -> None:
    """fastText without its subwords, on the same tokenised text."""
    import fasttext as library

    library.train_unsupervised(
        str(tokenised), model="skipgram" if sg else "cbow", dim=DIM, ws=WINDOW, epoch=epochs,
        minCount=MIN_COUNT, neg=NEGATIVE, t=SAMPLE, thread=workers, minn=0, maxn=0, verbose=0,
    ).save_model(str(work / "fasttext.bin"))  # fmt: skip


CONTESTANTS: dict[str, Callable[[Path, Path, bool, int, int], None]] = {
    "ctxembed": ours,
    "plain LineSentence": plain,
    "gensim corpus_file": corpus_file,
    "fastText": fasttext,
}
TAKES_RAW = ("ctxembed", "plain LineSentence")


# --- what is measured ----------------------------------------------------------------------------


def measure_train(args: argparse.Namespace, work: Path) -> None:
    raw, tokenised = prepare(args, work)
    names = [name for name in CONTESTANTS if name != "fastText" or has_fasttext()]
    for sg in (True, False):
        seconds: dict[str, list[float]] = {name: [] for name in names}
        for _ in range(args.rounds):
            for name in names:
                source = raw if name in TAKES_RAW else tokenised
                line = [sys.executable, __file__, "run", "--contestant", name]
                line += ["--source", str(source), "--work", str(work), "--sg", str(int(sg))]
                line += ["--epochs", str(args.epochs), "--workers", str(args.workers)]
                began = time.perf_counter()
                if name == "ctxembed":
                    ours(raw, work, sg, args.epochs, args.workers)
                else:
                    subprocess.run(line, check=True)
                seconds[name].append(time.perf_counter() - began)
        report(f"train end to end, {'skipgram' if sg else 'cbow'}", seconds, "ctxembed")


class Clock(Progress):
    """Notes how long each stage takes."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, total: float | None, unit: str) -> Iterator[Stage]:
        with super().stage(name, total, unit) as stage:
            began = time.perf_counter()
            yield stage
            self.seconds[name] = time.perf_counter() - began


def measure_rate(args: argparse.Namespace, work: Path) -> None:
    """Words a second of the training stage alone."""
    from gensim.models import Word2Vec

    from ctxembed.make.train import train
    from ctxembed.text.corpus import Corpus

    raw, tokenised = prepare(args, work)
    for sg in (True, False):
        rates: dict[str, list[float]] = {"ctxembed": [], "gensim": []}
        for _ in range(args.rounds):
            clock = Clock()
            algorithm = "skipgram" if sg else "cbow"
            table = train(
                Corpus([str(raw)]), work / "ours", force=True, attention=False, progress=clock,
                algorithm=algorithm,
                dim=DIM, window=WINDOW, min_count=MIN_COUNT, negative=NEGATIVE, sample=SAMPLE,
                epochs=args.epochs, workers=args.workers,
            )  # fmt: skip
            meta = {str(row["property"]): row["value"] for row in table.records()}
            words = np.load(work / "ours" / "counts.npy").sum() * args.epochs
            assert meta["epochs"] == args.epochs
            rates["ctxembed"].append(words / clock.seconds["word2vec"])
            model = Word2Vec(sg=int(sg), workers=args.workers, seed=1, **SAME)
            model.build_vocab(corpus_file=str(tokenised))
            began = time.perf_counter()
            model.train(
                corpus_file=str(tokenised), epochs=args.epochs,
                total_examples=model.corpus_count, total_words=model.corpus_total_words,
            )  # fmt: skip
            rates["gensim"].append(words / (time.perf_counter() - began))
        middle = {name: statistics.median(values) for name, values in rates.items()}
        print(f"\ntraining stage, {'skipgram' if sg else 'cbow'}, million words a second")
        for name, rate in middle.items():
            print(f"  {name:<20} {rate / 1e6:8.3f}  {rate / middle['gensim']:5.2f} x gensim")


def measure_memory(args: argparse.Namespace, work: Path) -> None:
    """Peak memory of a corpus and of one ten times as large with the same words."""
    raw, _ = prepare(args, work)
    with raw.open("rb") as source, (work / "ten.txt").open("wb") as target:
        for _ in range(10):
            source.seek(0)
            shutil.copyfileobj(source, target)
    print("\npeak memory of train, MB")
    for name, file in (("once", raw), ("ten times", work / "ten.txt")):
        for what in ("--static-only", "with attention"):
            line = [sys.executable, "-m", "ctxembed", "train", str(file), "-o", str(work / "m")]
            line += ["--force", "-q", "--epochs", "1", "--dim", "100", "--min-count", "5"]
            line += [what] if what.startswith("-") else []
            process = subprocess.Popen(line, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            assert process.returncode == 0
            print(f"  {name:<10} {what:<16} {usage.ru_maxrss / 1024:8.1f}", flush=True)


def measure_start(args: argparse.Namespace, work: Path) -> None:
    """A question of a 100,000 x 100 model, as a multiple of importing numpy and click."""
    from ctxembed.store.model import write

    rng = np.random.default_rng(0)
    words = [f"{'abcdefghij'[i % 10]}word{i}" for i in range(100_000)]
    vectors = rng.normal(size=(len(words), 100)).astype(np.float32)
    (work / "big").mkdir()
    counts = np.arange(len(words), 0, -1)
    meta = {"tokens": int(counts.sum()), "tokenizer": {"kind": "word", "cased": False}}
    write(work / "big", words, counts, vectors, None, meta)
    tool = shutil.which("ctxembed", path=str(Path(sys.executable).parent))
    start = [tool] if tool else [sys.executable, "-m", "ctxembed"]
    few = [words[10], words[50_000], words[99_000]]
    lines = {
        "import numpy, click": [sys.executable, "-c", "import numpy, click"],
        "neighbors": [*start, "neighbors", few[1]],
        "similarity": [*start, "similarity", *few],
        "vector": [*start, "vector", *few],
    }
    os.environ["CTXEMBED_MODEL"] = str(work / "big")
    seconds: dict[str, list[float]] = {name: [] for name in lines}
    for _ in range(args.rounds):
        for name, line in lines.items():
            began = time.perf_counter()
            subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
            seconds[name].append(time.perf_counter() - began)
    report("wall time of a question", seconds, "import numpy, click")


def measure_quality(args: argparse.Namespace, work: Path) -> None:
    """Spearman with human ratings, ours and plain gensim's, same parameters."""
    from gensim.models import Word2Vec

    raw, tokenised = prepare(args, work)
    print(f"\nSpearman, {args.epochs} epochs, {SAME}, workers {args.workers}")
    for sg in (True, False):
        ours(raw, work, sg, args.epochs, args.workers)
        words = (work / "ours" / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
        mine = dict(zip(words, np.load(work / "ours" / "vectors.npy"), strict=True))
        model = Word2Vec(
            corpus_file=str(tokenised), sg=int(sg), epochs=args.epochs, workers=args.workers,
            seed=1, **SAME,
        )  # fmt: skip
        theirs = {word: model.wv[word] for word in model.wv.index_to_key}
        for name in ("EN-WS-353-ALL.txt", "EN-SIMLEX-999.txt"):
            a, pairs = spearman(mine, Path(args.similarity) / name)
            b, _ = spearman(theirs, Path(args.similarity) / name)
            print(
                f"  {'skipgram' if sg else 'cbow':<9} {name:<18} ctxembed {a:.4f}  gensim {b:.4f}"
                f"  difference {a - b:+.4f}  ({pairs} pairs)",
                flush=True,
            )


def spearman(vectors: dict[str, Any], ratings: Path) -> tuple[float, int]:
    from scipy.stats import spearmanr

    human, cosines = [], []
    for line in ratings.read_text(encoding="utf-8").splitlines():
        one, other, score = line.lower().split()
        if one in vectors and other in vectors:
            a, b = vectors[one], vectors[other]
            human.append(float(score))
            cosines.append(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
    return float(spearmanr(human, cosines).statistic), len(human)


# --- what they share -----------------------------------------------------------------------------


def prepare(args: argparse.Namespace, work: Path) -> tuple[Path, Path]:
    """Take the first words of the corpus; return it raw, and tokenised one sentence a line."""
    from ctxembed.text.corpus import Corpus
    from ctxembed.text.numbering import encode
    from ctxembed.text.tokenizer import Tokenizer

    raw, tokenised = work / "raw.txt", work / "tokenised.txt"
    words = 0
    with raw.open("w", encoding="utf-8") as first, tokenised.open("w", encoding="utf-8") as second:
        for block, _ in Corpus([args.corpus]).blocks():
            first.write(block.text)
            part = encode(block, Tokenizer(), lines=False)
            tokens = np.array(part.types, dtype=object)[part.ids]
            for sentence in np.split(tokens, np.cumsum(part.lengths)[:-1]):
                second.write(" ".join(sentence) + "\n")
            words += len(tokens)
            if args.words and words >= args.words:
                break
    print(f"{words:,} words, {raw.stat().st_size / 1e6:.1f} MB, {os.cpu_count()} processors")
    return raw, tokenised


def has_fasttext() -> bool:
    from importlib.util import find_spec

    return find_spec("fasttext") is not None


def report(title: str, seconds: dict[str, list[float]], base: str) -> None:
    middle = {name: statistics.median(values) for name, values in seconds.items()}
    print(f"\n{title}: median seconds of {len(seconds[base])}")
    for name, value in middle.items():
        print(f"  {name:<20} {value:8.3f}  {value / middle[base]:5.2f} x {base}", flush=True)


def main() -> None:
    """Measure one thing."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["train", "rate", "memory", "start", "quality", "run"])
    parser.add_argument("--corpus")
    parser.add_argument("--similarity")
    parser.add_argument("--words", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--contestant")
    parser.add_argument("--source", type=Path)
    parser.add_argument("--work", type=Path)
    parser.add_argument("--sg", type=int)
    args = parser.parse_args()
    args.rounds = args.rounds or (21 if args.what == "start" else 5)
    if args.what == "run":
        CONTESTANTS[args.contestant](
            args.source, args.work, bool(args.sg), args.epochs, args.workers
        )
        return
    with tempfile.TemporaryDirectory() as place:
        globals()[f"measure_{args.what}"](args, Path(place))


if __name__ == "__main__":
    main()
