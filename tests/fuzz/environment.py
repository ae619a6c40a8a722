"""Where a command runs: closed and odd streams, limits, odd environments, terminals."""

import os
import resource
import shutil

from tests.fuzz.tries import find_fault, run
from tests.fuzz.workspace import QUESTIONS, Tries, Workspace, model_line, split, usual_lines

STDIN: list[bytes | str] = [b"", b"\n" * 9, b"bank\n", b"\xff\xfe\0", b"[bank\n]\n",
    b"bank " * 9000, b"\0" * 99, b"the [bank] of\r\n" * 5, b"\xef\xbb\xbfbank\n",
    b"a\tthe [bank]\n" * 9, b"bank river 8\n" * 3, "/dev/zero", "/dev/random", "sentences.txt",
    b"\x1f\x8b\x08", b"3 2\na 1 2\n"]  # fmt: skip
READS = ["show --vector -", "compare -", "neighbors -", "similarity -", "explain -", "predict -",
    "fit -", "tokenize -", "tokenize - --unit subword", "vectorize -",
    "vectorize - --method learned", "contextualize -", "contextualize - --all",
    "evaluate similarity -", "evaluate senses -", "evaluate wic - gold.txt",
    "evaluate analogies -", "evaluate substitution - lexgold.txt",
    "evaluate substitution lexsub.txt - ", "evaluate scws -", "export -",
    "import - -o made --force", "show -", "senses -", "senses - --save", "kwic -", "collocates -",
    "ambiguity -", "ablate -", "substitutes -", "define -", "explore - -o made.html",
    "index - -o made --force", "ladder - -", "substitutes|the [bank]|--candidates|-",
    "mix - c.txt --word bank", "shift one two -",
    "train - -o made --force --epochs 1 --static-only --dim 2 --workers 1",
    "compare|[a] b|--vectors|-", "explain|[a] b|--weights|-", "import f.npy --vocab -",
]  # fmt: skip


def streams(workspace: Workspace) -> Tries:
    """Close standard streams in every combination, and send anything through stdin."""
    rng = workspace.rng
    while True:
        workspace.fresh()
        for closed in range(8):
            for reads in (True, False):
                line = split(rng.choice(READS)) if reads else rng.choice(usual_lines())
                numbers = [number for number in range(3) if closed >> number & 1]
                stdin = rng.choice([*STDIN, rng.randbytes(60)])
                end = run(
                    line,
                    workspace.folder,
                    stdin=stdin,
                    stdout=rng.choice(("", "", "", "/dev/full")),
                    closed=numbers,
                    environment={"CTXEMBED_MODEL": "m"},
                )
                fault = find_fault(end)
                fault = "" if fault == "no message" and 2 in numbers else fault
                yield f"streams: {line} closed {numbers} stdin {stdin[:30]!r}", fault, end


ODD_VALUES: dict[str, list[str | None]] = {
    "HOME": [None, "", "/nowhere", "/dev/null"],
    "XDG_CACHE_HOME": ["", "/dev/null", "/nowhere", "relative"],
    "LC_ALL": ["C", "POSIX", "en_US.UTF-8", "tr_TR.ISO-8859-9", "nonsense"],
    "COLUMNS": ["-1", "0", "1", "10000", "wide", ""],
    "TMPDIR": ["/nowhere", "/dev/null"],
    "PYTHONIOENCODING": ["ascii", "utf-16"],
    "PYTHONUNBUFFERED": ["1"],
    "PYTHONUTF8": ["0"],
    "NO_COLOR": ["1"],
    "CTXEMBED_MODEL": ["", "nowhere", "/dev/zero", "\x1b[2J"],
}


def limits(workspace: Workspace) -> Tries:
    """Allow few open files, little memory or small files; every other try is a new Python."""
    rng = workspace.rng
    while True:
        for fresh in (True, False):
            workspace.fresh()
            kind = rng.choice(("RLIMIT_NOFILE", "RLIMIT_AS", "RLIMIT_FSIZE", "odd"))
            sizes = {
                # with fewer than five a new Python itself cannot read its site-packages
                "RLIMIT_NOFILE": rng.randrange(5 if fresh else 4, 40),
                "RLIMIT_AS": rng.randrange(60 if fresh else 300, 900) << 20,
                "RLIMIT_FSIZE": rng.choice((0, 1, 100, 5000, 100_000)),
            }
            rlimits = [(getattr(resource, kind), sizes[kind])] if kind in sizes else []
            odd = {name: rng.choice(values) for name, values in ODD_VALUES.items()}
            odd = {name: odd[name] for name in rng.sample(list(odd), 3)} if not rlimits else {}
            question = rng.choice(QUESTIONS)
            known = rng.random() < 0.5
            line = model_line(question) if known else rng.choice(usual_lines())
            end = run(line, workspace.folder, limits=rlimits, environment=odd, fresh=fresh)
            right = workspace.answers[0][question]
            plain = known and "PYTHONIOENCODING" not in odd
            fault = find_fault(end, (lambda end, r=right: end.out == r) if plain else None)  # type: ignore[misc]
            if kind == "RLIMIT_FSIZE" and fault == "no message":
                fault = ""  # the file that would have it may not grow
            if not fault and end.code == 3:
                fault = "wrong code"  # a sound model is called damaged
            yield f"{kind} {sizes.get(kind, odd)} fresh {fresh}: {line}", fault, end


ESCAPES = ["\x1b[2J", "\x1b]0;x\x07", "\x9b31m", "\x08\x08", "\r", "\x7f", "\u202e", "\x1b[1A",
    "\u2028", "\x1b[31m", "\x1bc", "\u2066", "\x0c"]  # fmt: skip
SCREENS = [(24, 80), (24, 80), (1, 1), (0, 0), (50, 7), (3, 30), (24, 120), (1, 65535), (65535, 1)]
TERMS = ["dumb", "xterm-256color", "", "vt100", "\x1b[2J", None]


def terminals(workspace: Workspace) -> Tries:
    """Show a person words and names that would rewrite the screen, on terminals of any size."""
    folder, rng = workspace.folder, workspace.rng
    while True:
        bad = "".join(rng.choice(ESCAPES) for _ in range(2))
        name, model = f"evil{rng.choice(ESCAPES)}.txt", f"evil{rng.choice(ESCAPES)}"
        (folder / name).write_text(f"the bank{bad} of {bad} river\n" * 30, encoding="utf-8")
        (folder / "l.tsv").write_text(f"a{bad}\tthe [bank] of\nb\ta [river] in\n" * 9)
        run(["train", name, "-o", model, "--tokenizer", "whitespace", "--epochs", "1", "--dim", "4",
             "--static-only", "--force", "--workers", "1"], folder)  # fmt: skip
        workspace.fresh()
        run(["fit", "l.tsv", "-m", "m", "--epochs", "1"], folder)
        evil, good = ["-m", model], ["-m", "m"]
        word = f"bank{bad}"
        lines: list[list[str]] = [
            ["info", *evil], ["kwic", "the", *evil], ["kwic", word, *evil],
            ["info", "--check", *evil],
            ["export", "-", *evil], ["neighbors", "the", *evil], ["show", "the", *evil],
            ["compare", f"the [river] {bad}", *evil], ["compare", f"the [{word}] of", *evil],
            ["explain", f"the [{word}] of", *evil], ["ablate", f"the [{word}] of", *evil],
            ["show", "--vector", "the", word, *evil], ["similarity", "the", word, *evil],
            ["substitutes", f"the [{word}] of", *evil], ["collocates", "the", "--all", *evil],
            ["keywords", model, "m", "--min-documents", "1", "--all"], ["tokenize", name],
            ["tokenize", bad], ["vectorize", name, "--tokenizer", "whitespace"],
            ["show", bad, *good], ["predict", "the [bank] of", *good],
            ["ladder", "the", word, *evil], ["contextualize", name, *evil, "--all"],
            ["neighbors", "--analogy", "the", word, "river", *evil],
            ["senses", word, "--k", "2", *evil], ["shift", model, "m", "the", "-n", "9"],
            ["index", name, "-m", "m", "-o", "made", "--force"], ["info", "-m", bad], [bad],
            ["evaluate", "similarity", name, *good], ["evaluate", "senses", "l.tsv", *good],
            ["compare", "the [bank]", "--axis", f"{bad}=river,money", *good], ["info", f"--{bad}"],
            ["import", name, "-o", "made", "--force"], ["compare", "[a]", "--vectors", name],
            ["train", name, "-o", "made", "--force", "--epochs", "1", "--static-only"],
            ["export", f"made{bad}.txt", *evil], ["neighbors", "the", "-o", f"made{bad}", *evil],
            ["explore", f"the [bank] {bad}", *good, "-o", f"made{bad}.html"],
        ]  # fmt: skip
        for line in rng.sample(lines, len(lines)):
            form = rng.choice([[], [], [], ["-f", "tsv"], ["-f", "json"], ["-f", "chart"],
                ["-f", "markdown"], ["-f", "svg"], ["--color", "always"], ["-q"]])  # fmt: skip
            line = [*line, *form] if line[0] not in (bad, "explore") else line
            seen = {"NO_COLOR": rng.choice((None, "1")), "TERM": rng.choice(TERMS), "COLUMNS": None}
            screen = rng.choice(SCREENS)
            end = run(line, folder, terminal=screen, environment=seen)
            yield f"terminal {screen} {seen}: {line}", find_fault(end, terminal=True), end
        for item in folder.glob("evil*"):
            shutil.rmtree(item) if item.is_dir() else item.unlink()
        for item in folder.glob("made*"):
            shutil.rmtree(item) if item.is_dir() else os.unlink(item)
