"""The parts of the campaign: each yields what was tried, what was wrong, and how it ended."""

import bz2
import contextlib
import gzip
import json
import lzma
import os
import pickle
import random
import resource
import shutil
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import click
import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ctxembed.cli.main import COMMANDS, load_command
from ctxembed.progress import Progress
from ctxembed.store.whole import written_whole
from ctxembed.store.write_model import write_files
from ctxembed.text.build_index import build, write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.text.word_list import write_lines
from tests.fuzz.damage import DAMAGE, remove
from tests.fuzz.tries import End, judge, run

Try = tuple[str, str, End | None]
QUESTIONS = [
    "vector bank river", "neighbors bank", "similarity bank river money", "show bank",
    "kwic bank", "compare|the [bank] of the river|money in the [bank]",
    "explain|money in the [bank]", "ablate|money in the [bank]", "analogy bank river money",
    "predict|a [piece of cake]", "contextualize sentences.txt", "senses bank",
    "substitutes|money in the [bank]", "collocates bank",
    "positions --attention learned", "info", "kwic bank --sense 1", "ladder bank river",
]  # fmt: skip


KNOWN = ["the", "bank", "of", "river", "money", "in", "a", "piece", "cake", "apple", "phone", "b"]


def write_model(folder: Path, text: Path, seed: int) -> None:
    """Write a model of random vectors over a text."""
    (folder / "index").mkdir()
    found = build(Corpus([str(text)]), Tokenizer(), folder / "index", 1, Progress())
    write_occurrences(folder / "index", found.counts)
    write_lines(folder / "index" / "rare.txt", [])
    told = {"tokens": found.tokens, "tokenizer": {}, "files": found.files}
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(len(found.types), 8)).astype(np.float32)
    write_files(folder, found.types, found.counts, vectors, None, told)


def split(question: str) -> list[str]:
    name, *texts = question.split("|")
    return [*name.split(), *texts]


@dataclass
class Ground:
    """Where tries are made: a sound model, another one, and what they answer."""

    place: Path
    rng: random.Random
    models: tuple[Path, Path]
    answers: tuple[dict[str, bytes], dict[str, bytes]]

    @classmethod
    def make(cls, place: Path, rng: random.Random) -> "Ground":
        """Make two small models of the same words, with attention, a task and saved senses."""
        text = random.Random(1)
        words = [*KNOWN, *(f"w{number}" for number in range(40))]
        lines = (" ".join(text.choices(words, k=8)) + "\n" for _ in range(1500))
        (place / "c.txt").write_text("".join(lines))
        (place / "sentences.txt").write_text("the [bank] of the river\nmoney in the [bank]\n")
        task = [f"{label}\t{text.choice(words)} {label} a [piece of cake]" for label in "ab" * 20]
        (place / "task.tsv").write_text("\n".join(task) + "\n")
        told = []
        for number, name in enumerate(("one", "two")):
            with written_whole(place / name, replace=False) as work:
                write_model(work, place / "c.txt", number)
            for line in (
                f"learn -m {name} --epochs 0.01",
                f"fit task.tsv -m {name} --epochs 1",
                f"senses bank --k 2 --save -m {name}",
            ):
                end = run(line.split(), place, patience=300)
                assert end.code == 0, (line, end)
            shutil.copytree(place / name, place / "m")
            answers = {}
            for question in QUESTIONS:
                end = run([*split(question), "-m", "m"], place)
                assert not judge(end), (question, end)
                answers[question] = end.out
            told.append(answers)
            shutil.rmtree(place / "m")
        return cls(place, rng, (place / "one", place / "two"), (told[0], told[1]))

    def fresh(self) -> Path:
        """Put a sound copy of the first model into place."""
        target = self.place / "m"
        if target.exists() or target.is_symlink():
            shutil.rmtree(target)
        shutil.copytree(self.models[0], target)
        return target


def damaged_models(ground: Ground) -> Iterator[Try]:
    """Ask questions of models with a damaged file; of some that list no files, too."""
    while True:
        model = ground.fresh()
        before = ground.rng.random() < 0.15
        if before:
            for path in (model / "model.json", *model.glob("attention/*/layer.json")):
                told = json.loads(path.read_text())
                del told["contents"], told["generation"]
                path.write_text(json.dumps(told))
        file = ground.rng.choice(sorted(p for p in model.rglob("*") if p.is_file()))
        damage = ground.rng.choice(DAMAGE)
        if damage is remove and file.name == "senses.npz":
            continue  # none were saved: that is no damage
        with contextlib.suppress(ValueError):  # what numpy itself does not read
            damage(file, ground.rng)
        for question in ground.rng.sample(QUESTIONS, 4):
            end = run([*split(question), "-m", "m"], ground.place)
            right = ground.answers[0][question]
            wrong = judge(end, None if before else lambda end, r=right: end.out == r)  # type: ignore[misc]
            old = "a model from before: " if before else ""
            name = file.relative_to(model)
            yield f"{old}{damage.__name__} {name}: {question}", wrong, end


def replaced(ground: Ground) -> Iterator[Try]:
    """Ask questions while another process puts one model in the place of the other."""
    ground.fresh()
    writer = os.fork()
    if writer == 0:
        turn = 0
        while True:
            turn = 1 - turn
            with written_whole(ground.place / "m", replace=True) as work:
                shutil.copytree(ground.models[turn], work, dirs_exist_ok=True)
            time.sleep(0.002)
    try:
        while True:
            question = ground.rng.choice(QUESTIONS[:-3])
            end = run([*split(question), "-m", "m"], ground.place)
            right = [answers[question] for answers in ground.answers]
            wrong = judge(end, lambda end, r=right: end.out in r)  # type: ignore[misc]
            if not wrong and end.code:
                wrong = "lost"
            yield f"replaced: {question}", wrong, end
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
        for left in ground.place.glob(".m.*"):
            shutil.rmtree(left, ignore_errors=True)


WRITES = {  # a command that writes, and what it writes
    "train c.txt -o m --lines --dim 8 --epochs 1 --workers 1 --force --static-only": ["m"],
    "learn -m m --epochs 0.005": ["m"],
    "fit task.tsv -m m --epochs 1": ["m"],
    "senses river --k 2 --save -m m": ["m"],
    "import v.txt -o m --force": ["m"],
    "index c.txt -m one -o m --force": ["m"],
    "shrink -m one -o m --force": ["m"],
    "export v.txt -m one --force": ["v.txt"],
    "export v.bin -m one --force": ["v.bin"],
    "export a.npy -m one --force": ["a.npy", "a.vocab.txt"],
    "neighbors bank -m one -o t.tsv": ["t.tsv"],
    "contextualize sentences.txt -m one -o t.npz": ["t.npz"],
    "check m --add": ["m"],
}


def killed(ground: Ground) -> Iterator[Try]:
    """Kill what writes at a random moment; the next run must find old or new, and leave no rest."""
    place = ground.place
    run(["export", "v.txt", "-m", "one", "--force"], place)
    took = {}
    while True:
        line = ground.rng.choice(list(WRITES))
        ground.fresh()
        if "--add" in line:
            told = json.loads((place / "m" / "model.json").read_text())
            del told["contents"], told["generation"]
            (place / "m" / "model.json").write_text(json.dumps(told))
        if line not in took:
            begun = time.monotonic()
            run(line.split(), place, patience=300)
            took[line] = time.monotonic() - begun
            continue
        process = os.fork()
        if process == 0:
            left = ground.rng.randrange(1, 400) if ground.rng.random() < 0.7 else 10**9

            def count(event: str, _: object) -> None:
                nonlocal left
                if event.partition(".")[0] in ("open", "os", "shutil", "mmap"):
                    left -= 1
                    if left == 0:
                        os.kill(os.getpid(), signal.SIGKILL)

            os.setpgrp()
            sys.addaudithook(count)
            null = os.open(os.devnull, os.O_RDWR)
            for number in range(3):
                os.dup2(null, number)
            os.chdir(place)
            sys.argv = ["ctxembed", *line.split()]
            sys.stdout = open(1, "w", closefd=False)
            sys.stderr = open(2, "w", closefd=False)
            from ctxembed.cli.main import run as main

            try:
                main()
            finally:
                os._exit(1)
        ground.rng.random()  # the child's draws are its own
        begun = time.monotonic()
        limit = ground.rng.random() * took[line] * 1.2
        while not (ended := os.waitpid(process, os.WNOHANG))[0]:
            if time.monotonic() - begun > limit:
                os.kill(process, signal.SIGKILL)
                ended = os.waitpid(process, 0)
                break
            time.sleep(0.001)
        if not os.WIFSIGNALED(ended[1]):
            continue  # it was done before
        wrong, end = "", run(["check", "m"], place)
        if end.code or judge(end):
            wrong = "lost"
        end = run(["neighbors", "bank", "-m", "m"], place)
        wrong = wrong or judge(end) or ("lost" if end.code else "")
        if WRITES[line] == ["a.npy", "a.vocab.txt"] and (place / "a.npy").exists():
            ready = place / ".a.npy.ctxembed-ready"
            rows = len(np.load(place / "a.npy"))
            words = (place / "a.vocab.txt").read_text().count("\n")
            if rows != words and not ready.exists():
                wrong = "lost"
        end = run(line.split(), place)  # the next run
        wrong = wrong or judge(end) or ("lost" if end.code else "")
        rest = [p for p in place.rglob(".*") if ".tmp-" in p.name or ".ctxembed" in p.name]
        if rest and not wrong:
            wrong = "lost"
        yield f"killed: {line} {[p.name for p in rest]}", wrong, end


WORDS = st.one_of(
    st.sampled_from(
        ["bank", "[bank]", "the [bank] of", "-", "--", "", "[", "]", "[]", "[[bank]]", "bank:2",
         "bank:99999999999999999999", ":", "=", "a=b", "taste=bank", "../..", "/dev/null", "/", ".",
         "\x1b[2J", "\u202e", "ﬀ", "İ", "a\nb", "a\tb", "c.txt", "m", "one", "task.tsv", "learned",
         "static", "bag", "task", "0", "-1", "1e9", "nan", "inf", "9" * 5000, "x" * 100_000]
    ),
    st.text(max_size=20).filter(lambda text: "\0" not in text),
    st.binary(max_size=12).filter(lambda data: b"\0" not in data),
)  # fmt: skip
SLOW = {"train", "learn", "mix", "demo", "evaluate", "shift", "ambiguity", "explore"}


def options_of(name: str) -> list[click.Option]:
    return [p for p in load_command(name).params if isinstance(p, click.Option)]


@st.composite
def command_lines(draw: st.DrawFn) -> list[str | bytes]:
    """Any command with any arguments and some of its options."""
    name = draw(st.sampled_from([c for c in COMMANDS if c not in SLOW]))
    line: list[str | bytes] = [name, *draw(st.lists(WORDS, max_size=4))]
    options = options_of(name)
    for option in draw(st.lists(st.sampled_from(options), max_size=3)) if options else []:
        line.append(draw(st.sampled_from(option.opts)))
        if not option.is_flag:
            if isinstance(option.type, click.Choice) and draw(st.booleans()):
                line.append(draw(st.sampled_from(list(option.type.choices))))
            else:
                line.append(draw(WORDS))
    return line


def made_up(start: int, number: int) -> list[list[str | bytes]]:
    """Return command lines as hypothesis makes them up."""
    lines: list[list[str | bytes]] = []

    @seed(start)
    @settings(
        max_examples=number,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(command_lines())
    def collect(line: list[str | bytes]) -> None:
        lines.append(line)

    collect()
    return lines


def arguments(ground: Ground) -> Iterator[Try]:
    """Give commands anything that a shell can hand over."""
    while True:
        ground.fresh()
        for line in made_up(ground.rng.randrange(2**32), 50):
            os.environ["CTXEMBED_MODEL"] = "m"
            end = run(line, ground.place, stdin=ground.rng.randbytes(20))
            os.environ.pop("CTXEMBED_MODEL")
            yield f"arguments: {line}", judge(end), end
            shutil.rmtree(ground.place / "ctxembed-model", ignore_errors=True)


def numbers(ground: Ground) -> Iterator[Try]:
    """Give every option that takes a number, and every encoding, what is none."""
    odd = ["nan", "-nan", "inf", "1e999", "-1", "0", "1e9", "9" * 5000, "", " ", "1_0", "٣", "0x10"]
    codecs = [
        "hex",
        "rot13",
        "zlib",
        "bz2",
        "base64",
        "uu",
        "quopri",
        "idna",
        "punycode",
        "undefined",
        "mbcs",
        "utf-7",
        "utf-16",
        "\x00",
    ]
    numeric = [
        (name, option)
        for name in COMMANDS
        for option in options_of(name)
        if isinstance(option.type, type(click.INT) | type(click.FLOAT))
    ]
    while True:
        if ground.rng.random() < 0.6:
            name, option = ground.rng.choice(numeric)
            given_ = [name, "c.txt", option.opts[-1], ground.rng.choice(odd[:8])]
        else:
            name = ground.rng.choice(["train", "tokenize", "import", "vectorize"])
            given_ = [name, "sentences.txt", "--encoding", ground.rng.choice(codecs)]
            given_ += ["--force", "-o", "made"] if name in ("train", "import") else []
        if any("\0" in text for text in given_):
            continue
        if given_[0] in ("train", "import", "learn", "mix", "evaluate", "demo"):
            given_ = [g if g != "c.txt" else "nowhere.txt" for g in given_]
        end = run(given_, ground.place)
        yield f"numbers: {given_}", judge(end), end


def streams(ground: Ground) -> Iterator[Try]:
    """Close standard streams, and send anything through stdin."""
    lines = ["vector -", "compare -", "neighbors -", "similarity -", "explain -", "predict -",
        "tokenize -", "vectorize -", "contextualize -", "fit -", "evaluate similarity -",
        "export -",
        "show bank", "info", "senses bank",
        "train - -o made --force --epochs 1 --static-only"]  # fmt: skip
    odd = [b"", b"\n" * 9, b"bank\n", b"\xff\xfe\0", b"[bank\n]\n", b"bank " * 9000, b"\0" * 99,
        b"the [bank] of\r\n" * 5, b"\xef\xbb\xbfbank\n", b"a\tthe [bank]\n" * 9]  # fmt: skip
    while True:
        ground.fresh()
        line = ground.rng.choice(lines)
        closed = [number for number in range(3) if ground.rng.random() < 0.3]
        stdin = ground.rng.choice([*odd, ground.rng.randbytes(60)])
        model = [] if line.startswith(("tokenize", "train", "vectorize")) else ["-m", "m"]
        end = run([*line.split(), *model], ground.place, stdin=stdin, closed=closed)
        wrong = judge(end)
        wrong = "" if wrong == "no message" and 2 in closed else wrong
        yield f"streams: {line} closed {closed} stdin {stdin[:30]!r}", wrong, end


def limits(ground: Ground) -> Iterator[Try]:
    """Allow few open files, or little memory."""
    ground.fresh()
    while True:
        question = ground.rng.choice(QUESTIONS)
        if ground.rng.random() < 0.5:
            limit = (resource.RLIMIT_NOFILE, ground.rng.randrange(4, 60))
        else:
            limit = (resource.RLIMIT_AS, ground.rng.randrange(200, 900) << 20)
        end = run([*split(question), "-m", "m"], ground.place, limits=[limit])
        right = ground.answers[0][question]
        wrong = judge(end, lambda end, r=right: end.out == r)  # type: ignore[misc]
        if not wrong and end.code == 3:
            wrong = "wrong code"  # a sound model is called damaged
        yield f"limit {limit}: {question}", wrong, end


def terminals(ground: Ground) -> Iterator[Try]:
    """Show a person words and names that would rewrite the screen."""
    place = ground.place
    evil = ["\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x08\x08", "\r", "\x7f", "\u202e", "\x1b[1A"]
    os.environ |= {"NO_COLOR": "1", "TERM": "dumb"}
    while True:
        bad = "".join(ground.rng.choice(evil) for _ in range(3))
        name = f"evil{ground.rng.choice(evil)}.txt"
        (place / name).write_text(f"the bank{bad} of {bad} river\n" * 30, encoding="utf-8")
        run(["train", name, "-o", "e", "--tokenizer", "whitespace", "--epochs", "1", "--dim", "4",
             "--static-only", "--force", "--workers", "1"], place)  # fmt: skip
        lines = [["info"], ["kwic", "the"], ["export", "-"], ["neighbors", "the"], ["show", bad],
            ["compare", f"the [river] {bad}"], ["vector", "the", "river", "-f", "json"], ["check"],
            ["tokenize", name], ["info", "-m", bad], ["neighbors", "the", "-f", "tsv"]]  # fmt: skip
        for line in lines:
            model = [] if line[0] in ("tokenize", "check") or "-m" in line else ["-m", "e"]
            end = run([*line, *model], place, terminal=True)
            yield f"terminal: {line} {bad!r}", judge(end, terminal=True), end
        (place / name).unlink()


def bombs(ground: Ground) -> Iterator[Try]:
    """Send very much of very little: packed zeros, one line, one word, one sentence."""
    place = ground.place
    pack: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
    commands = ["fit * -m m", "evaluate similarity *", "evaluate senses *", "contextualize * -m m",
        "import * -o made --force", "train * -o made --force --static-only --epochs 1",
        "tokenize * -o made.tsv", "vectorize * --sparse -o made.npz"]  # fmt: skip
    ground.fresh()
    while True:
        suffix = ground.rng.choice(list(pack))
        what = ground.rng.choice([b"\0", b"a", b" ", b"bank", b"1 "])
        with pack[suffix](place / f"bomb{suffix}", "wb") as file:
            for _ in range(150):
                file.write(what * ((1 << 20) // len(what)))
        line = ground.rng.choice(commands).replace("*", f"bomb{suffix}")
        end = run(line.split(), place)
        yield f"bomb of {what!r}: {line}", judge(end), end
        long = ground.rng.choice(
            ["bank " * 20_000, "[bank] " * 9000, "x" * 110_000, "bank river " * 900]
        )
        line = ground.rng.choice(["explain", "ablate", "compare", "similarity", "predict"])
        end = run([line, long, "-m", "m"], place)
        yield f"{line} of {len(long)} letters", judge(end), end
        end = run(
            [line.replace("explain", "compare"), "-", "-m", "m"], place, stdin=long.encode() * 9
        )
        yield f"{line} - of {len(long)} letters", judge(end), end


def files(ground: Ground) -> Iterator[Try]:
    """Import, and train on, files that are not what their names say."""
    place, rng = ground.place, ground.rng
    good = BytesIO()
    np.save(good, np.ones((3, 2), np.float32))
    heads = [b"3 2\na 1 2\nb 3 4\nc 5 6\n", b"a 1 2\nb 3 4\n", good.getvalue(), b"PK\x03\x04",
        b"\x80\x04", pickle.dumps({"vectors": [1]}), b"9" * 5000 + b" 2\n", b"1 " + b"9" * 5000,
        b'{"vectors": {"a": [1, 2]}, "w_q": [[1]]}', b"a\t1\t2\n", b"[" * 100_000,
        b"2 2\na 1e999 nan\nb 1 2\n", b"3 4000000000\na 1\n"]  # fmt: skip
    while True:
        data = bytearray(rng.choice(heads))
        for _ in range(rng.choice((0, 0, 1, 3))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.2:
            data = bytearray(rng.randbytes(rng.randrange(1, 3000)))
        name = f"f{rng.choice(['.txt', '.vec', '.bin', '.npy', '.kv', '.json', '.gz', '.tsv'])}"
        (place / name).write_bytes(data)
        (place / "f.vocab.txt").write_bytes(rng.choice([b"a\nb\nc\n", b"a\n", b"\xff\n"]))
        if rng.random() < 0.6:
            line = ["import", name, "-o", "made", "--force"]
        elif rng.random() < 0.5:
            line = ["compare", "[a] b", "--vectors", name]
        else:
            line = ["train", name, "-o", "made", "--force", "--static-only", "--epochs", "1",
                "--dim", "4", "--workers", "1"]  # fmt: skip
        end = run(line, place)
        yield f"file {name} {bytes(data[:40])!r}: {line[0]}", judge(end), end
        (place / name).unlink()
