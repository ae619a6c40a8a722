"""Build the bundled English model from text: python corpora/english.py a.gz b.gz

Every step is one of the tool's own; with one worker the same text gives the same bytes. Which words
are kept: those that occur often, and those of everyday use, which an encyclopedia uses rarely but
writes in small letters, unlike the names it is full of.
"""

import argparse
import os
import tempfile
from collections import Counter
from pathlib import Path

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # more may round otherwise

import ctxembed
from ctxembed.model.bundled import bundled_model
from ctxembed.model.saved_senses import open_senses
from ctxembed.output.progress_bars import Bars
from ctxembed.text.build_index import build
from ctxembed.text.corpus import Corpus
from ctxembed.text.tokenizer import Tokenizer

HERE = Path(__file__).parent
OFTEN = 100  # times: then it is kept, whatever it is
SMALL = 4  # times in small letters: then it is kept if it is made of the letters a to z
SENSES = 400  # words that have more than one sense, as many as the tool is asked to find
FREQUENT = 1000  # times that each of them occurs
SCORE = 0.909  # enough for more than one sense: a person reads them before they are bundled
NEARLY = 0.773  # enough for two, in a word that is known to have them
FRAMES = 25_000  # words of which substitutes knows what stands beside them
SETTINGS = {"dim": 120, "window": 7, "epochs": 7, "sample": 3.1e-5, "algorithm": "skipgram"}
ABOUT = "English Wikipedia, 52 million words, CC BY-SA 4.0; numbers only, none of its text"


def words_to_keep(files: list[str], progress: Bars) -> set[str]:
    """Count words as they are written, capitals and all, and choose."""
    with tempfile.TemporaryDirectory() as work:
        counted = build(Corpus(files), Tokenizer(cased=True), Path(work), 1, progress)
    every, small = Counter[str](), Counter[str]()
    for word, count in zip(counted.types, counted.counts.tolist(), strict=True):
        every[word.lower()] += count
        small[word] += count if word.islower() else 0
    return {
        word
        for word, count in every.items()
        if count >= OFTEN or (small[word] >= SMALL and word.isascii() and word.isalpha())
    }


def train(files: list[str], work: Path, progress: Bars) -> None:
    """Train vectors, learn attention and find senses, on all of the text."""
    words = words_to_keep(files, progress)
    table = ctxembed.train(
        files,
        work,
        words=words,
        workers=1,
        text=False,
        attention=False,
        force=True,
        progress=progress,
        **SETTINGS,
    )
    print(*("\t".join(map(str, row)) for row in table.rows), sep="\n", flush=True)
    ctxembed.learn(work, progress=progress)
    find_senses(work, progress)


def find_senses(work: Path, progress: Bars) -> None:
    """Find the senses of words that seem to have several, and of words that are known to."""
    how = {"save": True, "progress": progress}
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


def left_out(work: Path) -> dict[str, list[int]]:
    """Return the senses to leave out: those that a person rejected, and all of words with one."""
    lines = (HERE / "english.left_out.txt").read_text().splitlines()
    listed = [line.split() for line in lines if line and not line.startswith("#")]
    saved = open_senses(ctxembed.open(work)).values()
    alone: dict[str, list[int]] = {item.word: [] for item in saved if item.number == 1}
    return alone | {word: [int(number) for number in numbers] for word, *numbers in listed}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE")
    parser.add_argument("--work", type=Path, default=Path("build/english"), help="The whole model.")
    args = parser.parse_args()
    args.work.parent.mkdir(parents=True, exist_ok=True)
    train(args.files, args.work, Bars(quiet=False))
    ctxembed.shrink(
        args.work,
        bundled_model("english"),
        about=ABOUT,
        frames=FRAMES,
        without=left_out(args.work),
        force=True,
    )


if __name__ == "__main__":
    main()
