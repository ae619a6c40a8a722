"""Static vectors: training and asking, against gensim, fastText and an empty Python.

    python bench/static.py train   --corpus FILE [--words N] [--rounds 5] [--workers 2]
    python bench/static.py rate    --corpus FILE [--words N] [--rounds 5] [--word2vec PROGRAM]
    python bench/static.py bound   --corpus FILE [--words N]
    python bench/static.py memory  --corpus FILE [--words N]
    python bench/static.py start   [--rounds 21]
    python bench/static.py quality --corpus FILE --data DIR [--words N] [--rounds 5]
    python bench/static.py curve   --corpus FILE FILE --data DIR [--sizes 0.1 0.3 1 2]
    python bench/static.py neighbors --model DIR --data DIR

Without --words the whole corpus is used (one paragraph a line, packed or not). Contestants run in
turn, each in a process of its own; figures are medians and ratios of one run.
fastText takes part where it is installed, word2vec.c where --word2vec names the program. DIR holds
similarity/, analogies/ and coarsewsd20/.
"""

import argparse
import json
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
from dataclasses import replace
from functools import partial
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"

import numpy as np
from numpy.typing import NDArray

from ctxembed.progress import Progress
from ctxembed.stats.vectors import Floats
from ctxembed.text.index import Index

ROOT = Path(__file__).resolve().parent.parent
os.environ["PYTHONPATH"] = str(ROOT)
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # start-up is measured as installed
SAME = {"vector_size": 100, "window": 5, "min_count": 5, "negative": 5, "sample": 1e-4}
WHAT = ("train", "rate", "bound", "memory", "start", "quality", "curve", "neighbors", "run")
SIZES = (0.1, 0.3, 1, 2, 5, 10, 21, 52)
RATINGS = ("EN-WS-353-ALL.txt", "EN-MEN-TR-3k.txt", "EN-SIMLEX-999.txt")
DIM, WINDOW, MIN_COUNT, NEGATIVE, SAMPLE = SAME.values()


Seconds = list[float]  # by the clock, and of the processor


# --- the contestants, each a plain script --------------------------------------------------------


def ctxembed_train(
    raw: Path, work: Path, sg: bool, epochs: int, workers: int, engine: str = "own", seed: int = 1
) -> None:
    """Raw text in, model directory out."""
    line = [sys.executable, "-m", "ctxembed", "train", str(raw), "-o", str(work / "model"), "-q"]
    line += ["--force", "--algorithm", "skipgram" if sg else "cbow", "--workers", str(workers)]
    line += ["--dim", str(DIM), "--window", str(WINDOW), "--epochs", str(epochs)]
    line += ["--min-count", str(MIN_COUNT), "--negative", str(NEGATIVE), "--sample", str(SAMPLE)]
    line += ["--engine", engine, "--seed", str(seed)]
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
    "ctxembed": ctxembed_train,
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
                began = time.perf_counter()
                if name == "ctxembed":
                    ctxembed_train(raw, work, sg, args.epochs, args.workers)
                else:
                    run_apart(name, source, work, sg, args.epochs, args.workers)
                seconds[name].append(time.perf_counter() - began)
        report(f"train end to end, {'skipgram' if sg else 'cbow'}", seconds, "ctxembed")


def run_apart(name: str, source: Path, work: Path, sg: bool, epochs: int, workers: int) -> None:
    """Run a contestant in a process of its own."""
    line = [sys.executable, __file__, "run", "--contestant", name, "--source", str(source)]
    line += ["--work", str(work), "--sg", str(int(sg)), "--epochs", str(epochs)]
    subprocess.run([*line, "--workers", str(workers)], check=True)


def measure_rate(args: argparse.Namespace, work: Path) -> None:
    """Words a second of the training stage alone, with one thread and with two."""
    raw, tokenised = prepare(args, work)
    index, counts = build_index(raw, work)
    stages: dict[str, Callable[[bool, int], Seconds]] = {
        "ctxembed": partial(own_stage, index, counts),
        "gensim corpus_file": partial(gensim_stage, tokenised),
    }
    if has_fasttext():
        stages["fastText, no subwords"] = partial(fasttext_stage, tokenised, work)
    if args.word2vec:
        stages["word2vec.c"] = partial(c_stage, args.word2vec, tokenised, work)
    words = int(counts.sum())
    for workers in (1, 2):
        for sg in (True, False):
            taken: dict[str, list[Seconds]] = {name: [] for name in stages}
            for _ in range(args.rounds):
                for name, stage in stages.items():
                    taken[name].append(stage(sg, workers))
            kind = "skipgram" if sg else "cbow"
            print(f"\ntraining stage, {kind}, {workers} threads, million words a second")
            middle = {name: np.median(times, axis=0) for name, times in taken.items()}
            for name, (wall, processor) in middle.items():
                by_wall, by_processor = middle["gensim corpus_file"] / (wall, processor)
                print(
                    f"  {name:<22} {words / wall / 1e6:7.3f}  {by_wall:5.2f} x gensim"
                    f"  {words / processor / 1e6:7.3f} of processor time, {by_processor:5.2f} x",
                    flush=True,
                )


@contextmanager
def clock() -> Iterator[list[float]]:
    """Time a stretch: by the clock, and of the processor, children too."""

    def now() -> list[float]:
        return [time.perf_counter(), sum(os.times()[:4])]

    taken, began = [0.0, 0.0], now()
    yield taken
    taken[:] = [end - start for start, end in zip(began, now(), strict=True)]


def build_index(raw: Path, work: Path) -> tuple[Index, NDArray[np.int64]]:
    """Number the words as train does."""
    from ctxembed.text.build_index import build
    from ctxembed.text.corpus import Corpus
    from ctxembed.text.tokenizer import Tokenizer

    (work / "index").mkdir()
    counted = build(Corpus([str(raw)]), Tokenizer(), work / "index", 1, Progress())
    kept = counted.kept(int(MIN_COUNT))
    return Index(work / "index", counted.types[:kept], []), counted.counts[:kept]


def own_stage(index: Index, counts: NDArray[np.int64], sg: bool, workers: int) -> Seconds:
    from ctxembed.static import own_engine
    from ctxembed.static.engine import fit_settings

    own_engine.compile_kernel(Progress())
    settings = fit_settings(
        1, algorithm="skipgram" if sg else "cbow", dim=DIM, window=WINDOW, negative=NEGATIVE,
        sample=SAMPLE, epochs=1, workers=workers,
    )  # fmt: skip
    with clock() as seconds:
        own_engine.train(index, counts, settings, Progress())
    return seconds


def gensim_stage(tokenised: Path, sg: bool, workers: int) -> Seconds:
    from gensim.models import Word2Vec

    model = Word2Vec(sg=int(sg), workers=workers, seed=1, **SAME)
    model.build_vocab(corpus_file=str(tokenised))
    with clock() as seconds:
        model.train(
            corpus_file=str(tokenised), epochs=1,
            total_examples=model.corpus_count, total_words=model.corpus_total_words,
        )  # fmt: skip
    return seconds


def fasttext_stage(tokenised: Path, work: Path, sg: bool, workers: int) -> Seconds:
    """One epoch less none: what is left is training."""
    with clock() as whole:
        run_apart("fastText", tokenised, work, sg, 1, workers)
    with clock() as rest:
        run_apart("fastText", tokenised, work, sg, 0, workers)
    return [one - other for one, other in zip(whole, rest, strict=True)]


def c_stage(program: str, tokenised: Path, work: Path, sg: bool, workers: int) -> Seconds:
    """With an output less without one: then it only counts words."""
    line = [program, "-train", str(tokenised), "-size", str(DIM), "-window", str(WINDOW)]
    line += ["-negative", str(NEGATIVE), "-hs", "0", "-sample", str(SAMPLE), "-iter", "1"]
    line += ["-min-count", str(MIN_COUNT), "-cbow", str(int(not sg)), "-threads", str(workers)]
    line += ["-binary", "1", "-debug", "0"]
    with clock() as whole:
        subprocess.run(
            [*line, "-output", str(work / "c.bin")], check=True, stdout=subprocess.DEVNULL
        )
    with clock() as rest:
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
    return [one - other for one, other in zip(whole, rest, strict=True)]


def measure_bound(args: argparse.Namespace, work: Path) -> None:
    """How much of what the machine can do the training loop does, on one core."""
    raw, _ = prepare(args, work)
    index, counts = build_index(raw, work)
    seconds = min(own_stage(index, counts, True, 1)[1] for _ in range(3))
    share = counts / (SAMPLE * counts.sum())
    kept = float((counts * np.minimum(1, np.sqrt(1 / share) + 1 / share)).sum())
    pairs = kept * (WINDOW + 1) * (NEGATIVE + 1)  # at most: sentences end
    flops = pairs * 3 * 2 * DIM / seconds
    rows = kept * (WINDOW + 1 + NEGATIVE + 1) * 2  # read and written
    size = 2048
    a = np.random.default_rng(0).random((size, size), np.float32)
    peak = 2 * size**3 / min(_seconds(lambda: a @ a) for _ in range(5))
    large, other = np.ones(1 << 26, np.float32), np.empty(1 << 26, np.float32)
    copied = 2 * large.nbytes / min(_seconds(lambda: np.copyto(other, large)) for _ in range(5))
    print(f"  {flops / 1e9:6.1f} of {peak / 1e9:6.1f} GFLOP/s (a BLAS product): {flops / peak:.2f}")
    moved = rows * DIM * 4 / seconds
    print(f"  {moved / 1e9:6.1f} of {copied / 1e9:6.1f} GB/s (a copy): {moved / copied:.2f}")


def _seconds(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


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
    from ctxembed.model.write import write_files

    rng = np.random.default_rng(0)
    words = [f"{'abcdefghij'[i % 10]}word{i}" for i in range(100_000)]
    vectors = rng.normal(size=(len(words), 100)).astype(np.float32)
    (work / "big").mkdir()
    counts = np.arange(len(words), 0, -1)
    meta = {"tokens": int(counts.sum()), "tokenizer": {"kind": "word", "cased": False}}
    write_files(work / "big", words, counts, vectors, None, meta)
    tool = shutil.which("ctxembed", path=str(Path(sys.executable).parent))
    start = [tool] if tool else [sys.executable, "-m", "ctxembed"]
    few = [words[10], words[50_000], words[99_000]]
    lines = {
        "import numpy, click": [sys.executable, "-c", "import numpy, click"],
        "neighbors": [*start, "neighbors", few[1]],
        "similarity": [*start, "similarity", *few],
        "vector": [*start, "show", "--vector", *few],
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
    """Our engine and gensim's with the same settings, as many seeds as there are rounds."""
    raw, _ = prepare(args, work)
    data = Path(args.data)
    print(f"\n{args.rounds} seeds, {args.epochs} epochs, {SAME}, {args.workers} workers")
    for kind in ("skipgram", "cbow"):
        values: dict[str, dict[str, list[float]]] = {}
        for seed in range(1, args.rounds + 1):
            for engine in ("own", "gensim"):
                ctxembed_train(
                    raw, work, kind == "skipgram", args.epochs, args.workers, engine, seed
                )
                for name, value in evaluate(work / "model", data).items():
                    values.setdefault(name, {}).setdefault(engine, []).append(value)
        for name, by in values.items():
            own, gensim = (np.array(by[engine]) for engine in ("own", "gensim"))
            error = float(np.hypot(own.std(ddof=1), gensim.std(ddof=1)) / np.sqrt(len(own)))
            print(
                f"  {kind:<9} {name:<12} own {own.mean():.4f}  gensim {gensim.mean():.4f}"
                f"  difference {own.mean() - gensim.mean():+.4f} (standard error {error:.4f})",
                flush=True,
            )


def evaluate(model: Path, data: Path) -> dict[str, float]:
    """Ask ctxembed evaluate for one figure of each benchmark."""

    def figure(kind: str, path: str, metric: str, representation: str) -> float:
        line = [sys.executable, "-m", "ctxembed", "evaluate", kind, str(data / path)]
        line += ["-m", str(model), "-f", "json", "-q"]
        done = subprocess.run(line, check=True, stdout=subprocess.PIPE)
        rows = [r for r in json.loads(done.stdout)
                if (r["metric"], r["representation"]) == (metric, representation)]  # fmt: skip
        return float(rows[-1]["value"])  # the mean is last

    names = {"WordSim-353": RATINGS[0], "MEN": RATINGS[1], "SimLex-999": RATINGS[2]}
    figures = {
        name: figure("similarity", f"similarity/{file}", "spearman", "static")
        for name, file in names.items()
    }
    figures["analogies"] = figure(
        "analogies", "analogies/questions-words.txt", "accuracy", "static"
    )
    figures["CoarseWSD"] = figure("senses", "coarsewsd20", "accuracy", "general")
    return figures


def measure_curve(args: argparse.Namespace, work: Path) -> None:
    """`ctxembed train` without options on more and more of the same text."""
    print("words      WS-353  MEN     SimLex  junk    vocabulary  seconds  settings")
    for size in args.sizes:
        args.words = int(size * 1e6)
        raw, _ = prepare(args, work)
        line = [sys.executable, "-m", "ctxembed", "train", str(raw), "-o", str(work / "curve")]
        line += ["--force", "-q", "--static-only", "-f", "json", "--workers", str(args.workers)]
        line += args.options.split()
        done = subprocess.run(line, check=True, stdout=subprocess.PIPE)
        summary = {row["property"]: row["value"] for row in json.loads(done.stdout)}
        words, vectors = load(work / "curve")
        counts = np.load(work / "curve" / "counts.npy")
        folder = Path(args.data) / "similarity"
        scores = [spearman(words, vectors, folder / name)[0] for name in RATINGS]
        settings = ("dim", "epochs", "window", "min_count", "sample")
        print(
            f"{summary['tokens']:>10,}",
            *(f"{score:.4f} " for score in (*scores, junk(vectors, counts))),
            f"{summary['vocabulary']:>8} {summary['training_seconds']:>10}  ",
            " ".join(f"{name} {summary[name]}" for name in settings),
            flush=True,
        )


def measure_neighbors(args: argparse.Namespace, work: Path) -> None:
    """Of pairs that people rate highly, how often is one among the other's ten nearest words?"""
    from ctxembed.context.nearest import vector_trust
    from ctxembed.model.model import Model

    model = Model.open(args.model)
    pairs = [
        (model.vocabulary.rows[a], model.vocabulary.rows[b])
        for name, min_score in zip(RATINGS, (7.5, 38, 6.5), strict=True)
        for one, other, score in read_pairs(Path(args.data) / "similarity" / name)
        if score >= min_score and one in model.vocabulary.rows and other in model.vocabulary.rows
        for a, b in ((one, other), (other, one))
    ]
    queries = np.unique([a for a, _ in pairs])
    cosines = model.units[queries] @ model.units.T
    cosines[np.arange(len(queries)), queries] = -1
    counts = np.asarray(model.counts)
    weak = 0.02 * model.tokens**0.5
    reach = np.concatenate([  # CSLS: how near each word's ten nearest of the frequent words are
        np.partition(some @ model.units[:20_000].T, -10, axis=1)[:, -10:].mean(axis=1)
        for some in np.array_split(model.units, len(counts) // 4096 + 1)
    ])  # fmt: skip
    scores_by_name = {
        "cosine": cosines,
        "times 1 - exp(-n/k), as ranked": cosines * vector_trust(model),
        "the same, k half": cosines * (1 - np.exp(-counts / weak * 2)),
        "the same, k twice": cosines * (1 - np.exp(-counts / weak / 2)),
        "times n/(n + k/2)": cosines * counts / (counts + weak / 2),
        "CSLS": 2 * cosines - reach,
        **{f"n at least {n}": np.where(counts < n, -1, cosines) for n in (30, 100, 300)},
    }
    rows = {int(row): position for position, row in enumerate(queries)}
    print(f"{len(pairs)} pairs, {len(counts)} words, k {weak:.0f}")
    for name, scores in scores_by_name.items():
        best = np.argpartition(-scores, 10, axis=1)[:, :10]
        hits = np.mean([b in best[rows[a]] for a, b in pairs])
        rare = float((counts[best] < 30).mean())
        print(f"  {name:<32} found {hits:.3f}  junk {rare:.3f}", flush=True)


def read_pairs(ratings: Path) -> Iterator[tuple[str, str, float]]:
    for line in ratings.read_text(encoding="utf-8").splitlines():
        one, other, score = line.lower().split()
        yield one, other, float(score)


def junk(vectors: Floats, counts: NDArray[np.int64], min_count: int = 30) -> float:
    """Share of the ten nearest words of 200 frequent ones that occur fewer than 30 times."""
    units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    queries = np.arange(100, 300)  # the very first are no content words
    cosines = units[queries] @ units.T
    cosines[np.arange(len(queries)), queries] = -1
    return float((counts[np.argsort(-cosines, axis=1)[:, :10]] < min_count).mean())


def load(folder: Path) -> tuple[dict[str, int], Floats]:
    """Open a model's words and vectors as anybody might, without ctxembed."""
    words = (folder / "vocab.txt").read_text(encoding="utf-8").split("\n")[:-1]
    return {word: row for row, word in enumerate(words)}, np.load(folder / "vectors.npy")


def spearman(words: dict[str, int], vectors: Floats, ratings: Path) -> tuple[float, int]:
    from scipy.stats import spearmanr

    human, cosines = [], []
    for one, other, score in read_pairs(ratings):
        if one in words and other in words:
            a, b = vectors[words[one]], vectors[words[other]]
            human.append(score)
            cosines.append(float(a @ b / np.linalg.norm(a) / np.linalg.norm(b)))
    return float(spearmanr(human, cosines).statistic), len(human)


# --- what they share -----------------------------------------------------------------------------


def prepare(args: argparse.Namespace, work: Path) -> tuple[Path, Path]:
    """Take the first words of the corpus; return it raw, and tokenised one sentence a line."""
    from ctxembed.text.corpus import Corpus
    from ctxembed.text.numbering import number_words
    from ctxembed.text.tokenizer import Tokenizer

    raw, tokenised = work / "raw.txt", work / "tokenised.txt"
    words = 0
    with raw.open("w", encoding="utf-8") as first, tokenised.open("w", encoding="utf-8") as second:
        for block, _ in Corpus(args.corpus).blocks():
            part = number_words(block, Tokenizer(), lines=False)
            if args.words and words + len(part.ids) > args.words:
                lines = block.data.splitlines(keepends=True)  # as many as there is room for
                room = len(lines) * (args.words - words) // len(part.ids)
                block = replace(block, data=b"".join(lines[:room]))
                part = number_words(block, Tokenizer(), lines=False)
            first.write(block.text)
            tokens = np.array(part.types, dtype=object)[part.ids]
            for sentence in np.split(tokens, np.cumsum(part.lengths)[:-1]):
                second.write(" ".join(sentence) + "\n")
            words += len(tokens)
            if args.words and words >= 0.97 * args.words:
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
    parser.add_argument("what", choices=WHAT)
    parser.add_argument("--corpus", nargs="+")
    parser.add_argument("--data")
    parser.add_argument("--model")
    parser.add_argument("--word2vec")
    parser.add_argument("--words", type=int)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--sizes", type=float, nargs="+", default=SIZES, help="million words")
    parser.add_argument("--options", default="", help="of ctxembed train, for the curve")
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
    with tempfile.TemporaryDirectory() as folder:
        globals()[f"measure_{args.what}"](args, Path(folder))


if __name__ == "__main__":
    main()
