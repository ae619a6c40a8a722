"""Run every benchmark on small or given data; print one table and write it into bench/README.md.

    python bench/all.py [NAME ...] [--text TEXT] [--data DATA] [--words 300000] [--write]

ours and peer are measured in turns in one run, mostly in processor time, the least of some rounds:
a busy machine only adds. ratio is ours / peer. The aim is about the ratio, or about ours where it
names a time. A benchmark whose data or program is missing is listed with what it lacks. NAME: only
these. TEXT: English Wikipedia, a paragraph a line. DATA: a folder with the public data sets.
--write replaces the table in bench/README.md, or its rows of these names.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from resource import RUSAGE_CHILDREN, getrusage

ROOT = Path(__file__).resolve().parent.parent
README = ROOT / "bench" / "README.md"
BEGIN, END = "<!-- all: begin -->", "<!-- all: end -->"
COLUMNS = ("benchmark", "what", "ours", "peer", "ratio", "aim", "met")
BASE = ["-c", "import numpy, click"]
SENTENCE = "She put money in the [bank]"
FEW, MANY = 20, 420  # sentences of a pipe; the difference leaves start-up out
TIMEOUT = 1800  # seconds


@dataclass(frozen=True)
class Line:
    """One figure of ours beside that of a peer."""

    what: str
    ours: str
    peer: str = ""
    ratio: float | None = None
    aim: float | None = None  # of the ratio, or of `value` where there is no peer
    value: float | None = None
    least: bool = False  # whether the aim is a least value, not a largest one

    def cells(self) -> list[str]:
        """Return the columns after the name of the benchmark."""
        reached = self.ratio if self.value is None else self.value
        aim = met = ""
        if self.aim is not None and reached is not None:
            aim = f"{'at least' if self.least else 'at most'} {self.aim:g}"
            met = (
                "yes" if (reached >= self.aim if self.least else reached <= self.aim) else "**no**"
            )
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}"
        return [self.what, self.ours, self.peer, ratio, aim, met]


@dataclass(frozen=True)
class Given:
    """What the benchmarks are run on."""

    text: str | None
    data: str | None
    words: int
    folder: Path


class Missing(Exception):
    """Data or a program that a benchmark needs is not there."""


def run(*line: str, stdin: str = "") -> str:
    """Run Python with these arguments and return what it printed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"}
    # An installed package is compiled; else each run would compile ours, and not the peer's.
    environment.pop("PYTHONDONTWRITEBYTECODE", None)
    done = subprocess.run(
        [sys.executable, *line], input=stdin, capture_output=True, encoding="utf-8", cwd=ROOT,
        env=environment, timeout=TIMEOUT,
    )  # fmt: skip
    if done.returncode not in (0, 4):  # 4: a line without any known word
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        module = re.search(r"No module named '(\w+)", last)
        raise Missing(f"needs {module[1]}" if module else f"failed: {last}")
    return done.stdout


def seconds(*line: str, stdin: str = "") -> float:
    """Return the processor time of a run."""
    before = getrusage(RUSAGE_CHILDREN)
    run(*line, stdin=stdin)
    after = getrusage(RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime


def need(value: str | None, option: str) -> str:
    """Return an option that a benchmark cannot do without."""
    if value is None:
        raise Missing(f"needs {option}")
    return value


def start(given: Given) -> Iterator[Line]:
    """A first question, everything read, beside importing numpy and click."""
    asked = {
        "compare": ["compare", SENTENCE], "explain": ["explain", SENTENCE],
        "define": ["define", SENTENCE], "neighbors": ["neighbors", "bank"],
    }  # fmt: skip
    for name, line in asked.items():
        pairs = [
            (seconds("-m", "ctxembed", *line, "-q", "-m", "english"), seconds(*BASE))
            for _ in range(9)
        ]
        ours, base = (min(column) for column in zip(*pairs, strict=True))
        peer = f"{1000 * base:.0f} ms (imports)"
        yield Line(f"{name}, english, cold", f"{1000 * ours:.0f} ms", peer, ours / base, 1.3)


def pipes(given: Given) -> Iterator[Line]:
    """A sentence among many on stdin, beyond start-up, beside its bare vector."""
    lines = (ROOT / "bench" / "everyday.tsv").read_text("utf-8").splitlines(keepends=True)[1:]
    sentences = [line.rpartition("\t")[2] for line in lines]
    each: dict[str, float] = {}
    for name in ("contextualize", "compare", "substitutes", "explain", "define"):
        line = ["-m", "ctxembed", name, "-", "-q", "-f", "tsv", "-m", "english"]
        times = [
            [seconds(*line, stdin="".join(sentences[:n])) for n in (FEW, MANY)] for _ in range(3)
        ]
        few, many = (min(column) for column in zip(*times, strict=True))
        each[name] = 1000 * (many - few) / (MANY - FEW)
        ratio = None if name == "contextualize" else each[name] / each["contextualize"]
        peer = "" if ratio is None else f"{each['contextualize']:.2f} ms (contextualize)"
        aim = 2.0 if name in ("compare", "define") else None
        yield Line(f"{name} -, a sentence", f"{each[name]:.2f} ms", peer, ratio, aim, each[name])


def static(given: Given) -> Iterator[Line]:
    """Words a second of word2vec's training stage, processor time, and its share of the machine."""
    corpus = ["--corpus", need(given.text, "--text"), "--words", str(given.words)]
    printed = run("bench/static.py", "rate", *corpus, "--rounds", "2")
    for kind, threads, table in re.findall(
        r"training stage, (\w+), (\d) threads.*\n((?: +.*\n?)+)", printed
    ):
        rates = dict(re.findall(r"^  (\S.*?) {2,}.*?([\d.]+) of processor time", table, re.M))
        ours = float(rates.pop("ctxembed"))
        for peer, rate in rates.items():
            what = f"{kind}, {threads} thread{'s' * (threads != '1')}, million words a second"
            aim = 8.0 if kind == "skipgram" and peer.startswith("gensim") else None
            yield Line(what, f"{ours:.3f}", f"{rate} ({peer})", ours / float(rate), aim, least=True)
    for ours_, peak, unit, by, share in re.findall(
        r"([\d.]+) of +([\d.]+) (\S+) \((.*?)\): ([\d.]+)", run("bench/static.py", "bound", *corpus)
    ):
        yield Line(
            "skip-gram, share of the machine", f"{ours_} {unit}", f"{peak} ({by})", float(share)
        )


def vectors(given: Given) -> Iterator[Line]:
    """Reading a text file of vectors, processor time, and memory, beside gensim."""
    printed = run("bench/vectors.py", "--words", "100000", "--runs", "2")
    rows = re.findall(
        r"^\| (ctxembed|gensim).*?\| ([\d.]+) \| ([\d.]+) \| ([\d.]+) \|", printed, re.M
    )
    (_, _, cpu, peak), (_, _, their_cpu, their_peak) = rows
    yield Line(
        "import 100,000 x 50", f"{cpu} s", f"{their_cpu} s (gensim)", float(cpu) / float(their_cpu)
    )
    ratio = float(peak) / float(their_peak)
    yield Line("its peak memory", f"{peak} MB", f"{their_peak} MB (gensim)", ratio)


def attention(given: Given) -> Iterator[Line]:
    """Attention forward, beside torch."""
    for row in _rows(run("bench/attention.py", "--sentences", "2000", "--rounds", "3")):
        targets, heads, ours, peer, *_ = row
        what = f"attention, {targets} targets, heads: {heads}"
        yield Line(what, f"{ours} s", f"{peer} s (torch)", float(ours) / float(peer))


def learn(given: Given) -> Iterator[Line]:
    """Attention forward and backward, beside torch."""
    rates = re.findall(r"^(\S.*?) +([\d,]+) tokens/s", run("bench/learn.py"), re.M)
    numbers = {name: float(rate.replace(",", "")) for name, rate in rates}
    ours = numbers.pop("ctxembed")
    for name, rate in numbers.items():
        yield Line(
            "learning, tokens a second", f"{ours:,.0f}", f"{rate:,.0f} ({name})", ours / rate
        )


def tokens(given: Given) -> Iterator[Line]:
    """Tokenizing, MB a second of one core."""
    printed = run(
        "bench/tokens.py", need(given.text, "--text"), "--megabytes", "5", "--rounds", "2"
    )
    rates = dict(re.findall(r"^(\S.*?) {2,}[\d.]+ +([\d.]+)$", printed, re.M))
    (name, ours), *others = rates.items()
    for peer, rate in others:
        yield Line(
            f"tokenizing ({name}), MB/s", ours, f"{rate} ({peer})", float(ours) / float(rate)
        )


def explore(given: Given) -> Iterator[Line]:
    """The page's server at 50 questions a second."""
    printed = run("bench/explore.py", "--seconds", "10")
    for part, p95 in re.findall(r"^(\w+) .*?p95 (\d+) ms", printed, re.M):
        aim = 30.0 if part == "all" else None
        yield Line(f"explore, {part}, p95", f"{p95} ms", aim=aim, value=float(p95))
    for each in re.findall(r"processor time: ([\d.]+) ms", printed):
        yield Line("explore, processor time of an answer", f"{each} ms")


def pictures(given: Given) -> Iterator[Line]:
    """Drawing a table as SVG."""
    for name, each, size in re.findall(
        r"^(.*): ([\d.]+) ms, (\d+) kB", run("bench/pictures.py"), re.M
    ):
        yield Line(f"picture: {name}", f"{each} ms, {size} kB")


def sampling(given: Given) -> Iterator[Line]:
    """Occurrences of rare words that a sample of a large corpus lists, beside those expected."""
    printed = run("-m", "bench.sampling", "--words", "10000000")
    for low, _, listed, expected, *_ in _rows(printed):
        what = f"sampled occurrences of words from {low} times"
        yield Line(
            what, listed, f"{expected} (expected)", float(listed) / max(float(expected), 1e-9)
        )


def everyday(given: Given) -> Iterator[Line]:
    """Everyday sentences whose sense is right, english beside the bag."""
    shares: dict[tuple[str, str], float] = {}
    for name, kind, _, _, share, *_ in _rows(
        run("-m", "bench.everyday", "english", "--part", "later")
    ):
        shares[name, kind] = float(share)
    for (name, kind), right in shares.items():
        if name == "together":
            bag = shares["bag", kind]
            what = f"everyday sentences right, {kind}"
            yield Line(what, f"{right:.3f}", f"{bag:.3f} (bag)", right / bag)


def answers(given: Given) -> Iterator[Line]:
    """Words that compare names, of the right sense."""
    for name, kind, _, _, share, *_ in _rows(run("-m", "bench.answers", "english")):
        if name == "together":
            aim = {"plain": 0.85, "distractor": 0.75}.get(kind)
            yield Line(
                f"words of the right sense, {kind}", share, aim=aim, value=float(share), least=True
            )


def english(given: Given) -> Iterator[Line]:
    """Public benchmarks by the bundled model, beside the bag."""
    found: dict[tuple[str, str], dict[str, float]] = {}
    for benchmark, figure, name, value, *_ in _rows(
        run("-m", "bench.english", need(given.data, "--data"), "english")
    ):
        found.setdefault((benchmark, figure), {})[name] = float(value)
    for (benchmark, figure), values in found.items():
        names = [name for name in ("together", "learned", "static") if name in values]
        if names:
            ours, bag = values[names[0]], values.get("bag")
            peer, ratio = ("", None) if not bag else (f"{bag:.3f} (bag)", ours / bag)
            yield Line(f"{benchmark} {figure}, {names[0]}", f"{ours:.3f}", peer, ratio)


def terms(given: Given) -> Iterator[Line]:
    """The bundled attention beside itself without each of its terms, in one figure of each part."""
    found: dict[str, dict[str, float]] = {}
    metrics: dict[str, str] = {}
    for part, metric, name, value, *_ in _rows(
        run("-m", "bench.terms", need(given.data, "--data"))
    ):
        if _is_number(value) and metric in (metrics.setdefault(part, metric), "distractor"):
            found.setdefault(f"{part} {metric}", {})[name] = float(value)
    for what, values in found.items():
        ours = values["learned"]
        for name, without in values.items():
            if name.startswith("learned, no"):
                peer = f"{without:.3f} ({name})"
                yield Line(f"{what}, learned", f"{ours:.3f}", peer, ours / max(without, 1e-9))


def shift(given: Given) -> Iterator[Line]:
    """Share of words with p up to 0.05 where nothing has changed; more than 0.05 is too many."""
    line = ["--words", str(given.words), "--tested", "30", "--splits", "1"]
    for name, words, p, *_ in _rows(run("bench/shift.py", need(given.text, "--text"), *line)):
        if _is_number(p):
            yield Line(
                f"shift, null by {name}, {words} words", p, "0.05 (expected)", float(p) / 0.05
            )


BENCHES: dict[str, Callable[[Given], Iterator[Line]]] = {
    b.__name__: b
    for b in (
        start, pipes, static, vectors, attention, learn, tokens, explore, pictures, sampling,
        everyday, answers, english, terms, shift,
    )
}  # fmt: skip
# They need more than text and a folder of data: hours, a cluster, or models of one's own.
ALONE = {
    "clusters": "python bench/clusters.py MODEL",
    "engines": "python bench/engines.py --help",
    "growth": "python bench/growth.py TEXT",
    "homonyms": "python -m bench.homonyms [MODEL] [--part choose|once]",
    "idioms": "python bench/idioms.py IDIOMS.tsv -m MODEL",
    "induction": "python bench/induction.py --help",
    "on_spark": "python bench/on_spark.py TEXT",
    "quality": "python bench/quality.py MODEL DATA",
    "senses": "python bench/senses.py MODEL",
    "sentences": "python bench/sentences.py MODEL",
}


def _rows(printed: str) -> list[list[str]]:
    """Return the rows of a table of tabs, without its header and remarks."""
    lines = [line.split("\t") for line in printed.splitlines() if "\t" in line]
    return lines[1:]


def _is_number(text: str) -> bool:
    return re.fullmatch(r"-?\d+(\.\d+)?", text) is not None


def measure(name: str, given: Given) -> list[list[str]]:
    """Return the rows of one benchmark; one that says what is missing where it cannot be run."""
    try:
        lines = [[name, *line.cells()] for line in BENCHES[name](given)]
        return lines or [[name, "printed no figure", *[""] * 5]]
    except (Missing, subprocess.TimeoutExpired) as error:
        return [[name, str(error).replace("|", "/"), *[""] * 5]]


def replace_rows(text: str, rows: Sequence[Sequence[str]]) -> str:
    """Return a README with these rows; those of benchmarks that were not run stay."""
    before, _, rest = text.partition(BEGIN)
    old, _, after = rest.partition(END)
    run_now = {row[0] for row in rows}
    kept = [
        [cell.strip() for cell in line.strip("| ").split(" | ")]
        for line in old.splitlines()
        if line.startswith("| ") and not line.startswith(("| benchmark", "| ---"))
    ]
    kept = [[*row, *[""] * (len(COLUMNS) - len(row))] for row in kept if row[0] not in run_now]
    order = list(BENCHES)
    whole = sorted([*kept, *map(list, rows)], key=lambda row: order.index(row[0]))
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    lines += ["| " + " | ".join(row) + " |" for row in whole]
    table = "\n".join(lines)
    return f"{before}{BEGIN}\n{table}\n{END}{after}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    parser.add_argument("--text", help="English Wikipedia, a paragraph a line, packed or not.")
    parser.add_argument("--data", help="The folder of public data sets.")
    parser.add_argument("--words", type=int, default=300_000, help="Of TEXT.")
    parser.add_argument("--write", action="store_true", help="Write the table into the README.")
    options = parser.parse_args()
    if unknown := [name for name in options.names if name not in BENCHES]:
        alone = [ALONE[name] for name in unknown if name in ALONE]
        parser.error(f"run it by itself: {alone[0]}" if alone else f"no benchmark {unknown[0]}")
    rows: list[list[str]] = []
    print("\t".join(COLUMNS))
    with tempfile.TemporaryDirectory() as folder:
        given = Given(options.text, options.data, options.words, Path(folder))
        for name in options.names or BENCHES:
            some = measure(name, given)
            print("\n".join("\t".join(row) for row in some), flush=True)
            rows += some
    if options.write:
        README.write_text(replace_rows(README.read_text("utf-8"), rows), "utf-8", newline="\n")


if __name__ == "__main__":
    main()
