"""The folder of the campaign: two sound models, their answers, a usual line of every command."""

import random
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ctxembed.model.write import write_files
from ctxembed.progress import Progress
from ctxembed.storage.atomic import atomic_directory
from ctxembed.text.build_index import build, write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.lines import write_lines
from ctxembed.text.tokenizer import Tokenizer
from tests.fuzz.tries import Result, find_fault, run

Try = tuple[str, str, Result | None]  # what was tried, what was fault, how it ended
Tries = Iterator[Try]
# Questions whose answers are known: `|` is between texts that hold spaces.
QUESTIONS = [
    "show --vector bank river", "neighbors bank", "similarity bank river money", "show bank",
    "kwic bank", "compare|the [bank] of the river|money in the [bank]",
    "explain|money in the [bank]", "ablate|money in the [bank]",
    "neighbors --analogy bank river money",
    "predict|a [piece of cake]", "contextualize sentences.txt", "senses bank",
    "substitutes|money in the [bank]", "define|money in the [bank]", "collocates bank",
    "keywords m two",
    "vectorize sentences.txt --method learned", "contextualize sentences.txt --all",
    "tokenize sentences.txt", "export -",
    "evaluate similarity pairs.txt", "kwic bank --sort right", "collocates bank --by-sense",
    "positions --attention learned", "info", "kwic bank --where sense=1", "ladder bank river",
    "association --targets x=bank,river --targets y=money,apple --axis f=phone,b --axis g=a,the"
    " --permutations 9", "explain|money in the [bank]|--causal", "explain|the [bank]|--steps",
    "explain --matrices", "ambiguity bank river", "wordlist -n 5",
]  # fmt: skip
# What else a person may ask, or write, in a line of each command.
USUAL = [
    "train c.txt -o made --force --lines --dim 4 --epochs 1 --workers 1 --static-only",
    "learn -m m --epochs 0.005", "fit task.tsv -m m --epochs 1", "info --check -m m",
    "senses bank --k 2 -m m", "senses river --k 2 --save -m m",
    "mix c.txt c.txt --word bank --steps 2 --seeds 1 --dim 2 --epochs 1 --workers 1"
    " --axis x=river --axis y=money",
    "shift one two bank --permutations 9", "ambiguity bank river -m m", "positions --length 3",
    "evaluate senses task.tsv -m m", "evaluate wic wic.txt gold.txt -m m",
    "evaluate analogies four.txt -m m", "evaluate substitution lexsub.txt lexgold.txt -m m",
    "import v.txt -o made --force",
    "export made.txt --force -m m", "export made.npy --force -m m", "export - -m m",
    "index c.txt -m m -o made --force --lines", "shrink -m m -o made --force",
    "tokenize sentences.txt", "tokenize sentences.txt --unit subword --pieces 20",
    "vectorize sentences.txt --sparse", "contextualize sentences.txt -m m -o made.npz",
    "decide --labelled task.tsv -m m", "evaluate definitions keys.tsv -m m", "lesson 3", "cite",
    "evaluate reach --pairs 1 -m m", "learn --watch --epochs 2", "senses bank --by file -m m",
    "collocates bank --against one -m m", "kwic bank --log made.json -m m",
    "define|the [bank]|--dictionary|own.tsv|-m|m|--log|made.json",
    "explore bank -m m -o made.html", "completion bash", "check m", "vector bank -m m",
    "compare|[a] b|--vectors|by-hand.json",
    "explain|[a] b|--vectors|by-hand.json|--steps",
]  # fmt: skip
KNOWN = ["the", "bank", "of", "river", "money", "in", "a", "piece", "cake", "apple", "phone", "b"]
FILES = {
    "sentences.txt": "the [bank] of the river\nmoney in the [bank]\n",
    "pairs.txt": "bank river 8\nmoney apple 2\nphone cake 1\n",
    "wic.txt": "bank\tN\t1-1\tthe bank of\ta bank in\n" * 4,
    "gold.txt": "T\nF\nT\nF\n",
    "four.txt": ": some\nbank river money apple\nriver bank apple money\n",
    "lexsub.txt": "bank.n\t1\t1\tthe bank of the river\n",
    "lexgold.txt": "bank.n 1 :: river 3;money 1;\n",
    "keys.tsv": "bank%1:14:00::\tmoney in the [bank]\n" * 12,
    "own.tsv": "bank\tn\tmoney\ta place for money\nbank\tn\tland\tland beside a river\n",
    "v.txt": "3 2\na 1 2\nbank 3 4\nriver 5 6\n",
    "by-hand.json": '{"vectors": {"a": [1, 2], "b": [3, 4]}}',
}


def split(question: str) -> list[str]:
    """Make a line of arguments; `|` is between texts that hold spaces."""
    name, *texts = question.split("|")
    return [*name.split(), *texts]


def usual_lines() -> list[list[str]]:
    """List lines that all end well."""
    return [*map(model_line, QUESTIONS), *map(split, USUAL)]


def write_model(folder: Path, text: Path, seed: int) -> None:
    """Write a model of random vectors over a text."""
    (folder / "index").mkdir()
    built = build(Corpus([str(text)]), Tokenizer(), folder / "index", 1, Progress(), keep=True)
    write_occurrences(folder / "index", built.counts)
    write_lines(folder / "index" / "rare.txt", [])
    description = {"tokens": built.tokens, "tokenizer": {}, "files": built.files}
    rng = np.random.default_rng(seed)
    vectors, output = rng.normal(size=(2, len(built.types), 8)).astype(np.float32)
    write_files(folder, built.types, built.counts, vectors, output, description)


@dataclass
class Workspace:
    """A folder with a sound model, another one, and what they answer."""

    folder: Path
    rng: random.Random
    models: tuple[Path, Path]
    answers: tuple[dict[str, bytes], dict[str, bytes]]

    @classmethod
    def make(cls, folder: Path, rng: random.Random) -> "Workspace":
        """Make two small models of the same words, with attention, a task and saved senses."""
        text = random.Random(1)
        words = [*KNOWN, *(f"w{number}" for number in range(40))]
        lines = (" ".join(text.choices(words, k=8)) + "\n" for _ in range(1500))
        (folder / "c.txt").write_text("".join(lines))
        for name, content in FILES.items():
            (folder / name).write_text(content)
        task = [f"{label}\t{text.choice(words)} {label} a [piece of cake]" for label in "ab" * 20]
        (folder / "task.tsv").write_text("\n".join(task) + "\n")
        for number, name in enumerate(("one", "two")):
            with atomic_directory(folder / name, replace=False) as work:
                write_model(work, folder / "c.txt", number)
            for line in (
                f"learn -m {name} --epochs 0.01",
                f"fit task.tsv -m {name} --epochs 1",
                f"senses bank --k 2 --save -m {name}",
            ):
                end = run(line.split(), folder, patience=300)
                assert end.code == 0, (line, end)
        all_answers = []
        for name in ("one", "two"):
            shutil.copytree(folder / name, folder / "m")
            answers = {}
            for question in QUESTIONS:
                end = run(model_line(question), folder)
                assert end.code == 0 and not find_fault(end), (question, end)
                answers[question] = end.out
            all_answers.append(answers)
            shutil.rmtree(folder / "m")
        return cls(folder, rng, (folder / "one", folder / "two"), (all_answers[0], all_answers[1]))

    def fresh(self) -> Path:
        """Return the path of a new sound copy of the first model."""
        target = self.folder / "m"
        if target.exists() or target.is_symlink():
            shutil.rmtree(target)
        shutil.copytree(self.models[0], target)
        return target


def model_line(question: str) -> list[str]:
    """Make the line that asks a question of the model m."""
    line = split(question)
    return line if line[0] in ("keywords", "tokenize") else [*line, "-m", "m"]
