"""Build the bundled English model from text: python -m corpora.english FILE|DIR...

english.sources.tsv lists the files, matched by name, and how often each is read in an epoch. Every
step is one of the tool's own; with one worker the same text gives the same bytes. Which words are
kept: those that occur often, and words of everyday use, which occur in several of the sources.
"""

import corpora.same_bytes  # isort: skip  # noqa: F401  # before numpy

import argparse
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ctxembed
from ctxembed.model.bundled import bundled_model
from ctxembed.model.saved_senses import open_senses
from ctxembed.output.progress_bars import Bars
from ctxembed.text.build_index import build
from ctxembed.text.corpus import Corpus
from ctxembed.text.tokenizer import Tokenizer

HERE = Path(__file__).parent
STEPS = ("train", "learn", "senses", "shrink")
OFTEN = 100  # times: then a word is kept, whatever it is
# A word of the letters a to z in small letters is kept if it occurs so often, or in three sources.
SMALL, SMALL_IN_THREE = 12, 3
IN_FOUR = 14  # times in at least four sources: names, contractions, compounds of daily life
SENSES = 400  # words that have more than one sense, as many as the tool is asked to find
FREQUENT = 3000  # times that each of them occurs
SCORE = 0.909  # enough for more than one sense: a person reads them before they are bundled
NEARLY = 0.773  # enough for two, in a word that is known to have them
MEASURED = 1500  # times that a word occurs whose figures ambiguity answers with
FRAMES = 25_000  # words of which substitutes knows what stands beside them
LAYERS = ("attention", "recurrent", "encoder")
SETTINGS = {
    "dim": 120, "window": 7, "epochs": 8, "sample": 3.1e-5, "rate": 0.025, "algorithm": "skipgram",
}  # fmt: skip


def read_sources() -> list[dict[str, str]]:
    """Return the rows of english.sources.tsv."""
    header, *lines = (HERE / "english.sources.tsv").read_text(encoding="utf-8").splitlines()
    return [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]


def find_sources(names: Sequence[str]) -> dict[str, float]:
    """Return the weight of each file, in the order of the table; names are files or folders."""
    paths: list[Path] = []
    for name in map(Path, names):
        paths += name.iterdir() if name.is_dir() else [name]
    weights: dict[str, float] = {}
    for row in read_sources():
        matching = [path for path in paths if path.name.startswith(row["name"])]
        if len(matching) != 1:
            raise SystemExit(f"{row['name']}: {len(matching)} files of this name, expected one")
        weights[str(matching[0])] = float(row["weight"])
    return weights


def words_to_keep(files: Sequence[str], progress: Bars) -> set[str]:
    """Count words as they are written, capitals and all, and choose."""
    every, small, sources = Counter[str](), Counter[str](), Counter[str]()
    for file in files:
        with tempfile.TemporaryDirectory() as work:
            counted = build(Corpus([file]), Tokenizer(cased=True), Path(work), 1, progress)
        for word, count in zip(counted.types, counted.counts.tolist(), strict=True):
            every[word.lower()] += count
            small[word] += count if word.islower() else 0
        sources.update({word.lower() for word in counted.types})

    def is_kept(word: str) -> bool:
        if word.isascii() and word.isalpha():
            common = small[word] >= SMALL_IN_THREE and sources[word] >= 3
            if common or small[word] >= SMALL:
                return True
        in_four = every[word] >= IN_FOUR and sources[word] >= 4 and word[0].isalpha()
        return in_four or every[word] >= OFTEN

    return {word for word in every if is_kept(word)}


def train(weights: dict[str, float], work: Path, progress: Bars) -> None:
    """Train the vectors, with the sources as often as their weights say."""
    table = ctxembed.train(
        [f"{file}*{weight:g}" for file, weight in weights.items()],
        work,
        words=words_to_keep(list(weights), progress),
        workers=1,
        text=False,
        attention=False,
        force=True,
        progress=progress,
        **SETTINGS,
    )
    print(*("\t".join(map(str, row)) for row in table.rows), sep="\n", flush=True)


def find_senses(work: Path, progress: Bars) -> None:
    """Find the senses of words that seem to have several, and of words that are known to."""
    how: dict[str, Any] = {"save": True, "progress": progress}
    ctxembed.senses(work, (), top=SENSES, min_count=FREQUENT, min_score=SCORE, **how)
    model = ctxembed.open(work)
    listed = map(model.vocabulary.find, (HERE / "english.ambiguous.txt").read_text().split())
    often = [
        model.vocabulary.words[row]
        for row in listed
        if row is not None and model.counts[row] >= OFTEN
    ]
    ctxembed.senses(work, often, min_score=SCORE, **how)
    saved = open_senses(ctxembed.open(work))
    alone = [word for word in often if saved[word].number == 1]
    nearly = [word for word in alone if saved[word].facts["scores"][0] >= NEARLY]
    ctxembed.senses(work, nearly, k=2, **how)
    ctxembed.ambiguity(work, min_count=MEASURED, save=True, progress=progress)


def left_out(work: Path) -> dict[str, list[int]]:
    """Return the words whose senses are left out: those with one, and those a person rejected."""
    lines = (HERE / "english.left_out.txt").read_text().splitlines()
    rejected = [line.strip() for line in lines if line and not line.startswith("#")]
    alone = [item.word for item in open_senses(ctxembed.open(work)).values() if item.number == 1]
    return {word: [] for word in (*alone, *rejected)}


def describe() -> str:
    """Return what info says about the text: sources and licences."""
    sources = dict.fromkeys(f"{row['source']}, {row['licence']}" for row in read_sources())
    return f"numbers only, none of the text; made from: {'; '.join(sources)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE|DIR")
    parser.add_argument("--work", type=Path, default=Path("build/english"), help="The whole model.")
    parser.add_argument("--output", type=Path, default=bundled_model("english"))
    parser.add_argument("--step", choices=STEPS, action="append", help="Only this step.")
    args = parser.parse_args()
    steps, progress = args.step or STEPS, Bars(quiet=False)
    args.work.parent.mkdir(parents=True, exist_ok=True)
    if "train" in steps:
        train(find_sources(args.files), args.work, progress)
    if "learn" in steps:
        for layer in LAYERS:
            ctxembed.learn(args.work, layer=layer, far=layer == "attention", progress=progress)
    if "senses" in steps:
        find_senses(args.work, progress)
    if "shrink" in steps:
        without = left_out(args.work)
        ctxembed.shrink(
            args.work, args.output, about=describe(), frames=FRAMES, without=without, force=True
        )


if __name__ == "__main__":
    main()
