"""Arguments that a shell can pass: any text, invalid numbers, encodings, bytes, `-` twice."""

import encodings.aliases
import json
import os
import re
import shutil
import unicodedata

import click
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from tests.fuzz.tries import find_fault, run
from tests.fuzz.workspace import Tries, Workspace, usual_lines

WORDS = st.one_of(
    st.sampled_from(
        ["bank", "[bank]", "the [bank] of", "-", "--", "", "[", "]", "[]", "[[bank]]", "bank:2",
         "bank:99999999999999999999", ":", "=", "a=b", "taste=bank", "../..", "/dev/null", "/", ".",
         "\x1b[2J", "\u202e", "ﬀ", "İ", "a\nb", "a\tb", "c.txt", "m", "one", "task.tsv", "learned",
         "static", "bag", "task", "0", "-1", "1e9", "nan", "inf", "9" * 5000, "x" * 100_000,
         "bank:²", f"bank:{'9' * 5000}"]
    ),
    st.text(max_size=20).filter(lambda text: "\0" not in text),
    st.binary(max_size=12).filter(lambda data: b"\0" not in data),
)  # fmt: skip
SLOW = {"train", "learn", "mix", "demo", "decide", "evaluate", "shift", "ambiguity", "explore"}
LONG = {"--epochs", "--permutations", "--pieces", "--workers"}  # more than a try has time for
NO_NUMBERS = ["nan", "-nan", "inf", "-inf", "1e999", "-1", "9" * 5000, "", " ", "0x10", "1,5", "½",
    "²", "--", "-", "\x1b[2J", "99999999999", "1e99"]  # fmt: skip
ODD_NUMBERS = ["1_0", "٣", "-0", "+1", "1e-400", "1e9"]
CODECS = sorted({*encodings.aliases.aliases.values(), "hex", "rot13", "idna", "punycode", "uu",
    "undefined", "mbcs", "oem", "unicode_escape", "utf-8-sig", "utf-16", "utf-7", "", " ", "../x",
    "utf 8", "UTF8", "\x1b[2J", "ﬀ", "é" * 300})  # fmt: skip
NOT_UTF8 = [b"\xff", b"caf\xe9", b"\xed\xa0\x80", b"[bank\xff]", b"\xf0\x9f", b"\xc0\xaf", b"m\xfe"]


def options_of(name: str) -> list[click.Option]:
    """List the options of a command; an old name has none of its own."""
    if name not in COMMANDS:
        return []
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


def generate_lines(start: int, number: int) -> list[list[str | bytes]]:
    """Return command lines that hypothesis generates."""
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


def arguments(workspace: Workspace) -> Tries:
    """Give commands anything that a shell can hand over; usual lines with something odd in them."""
    rng, lines = workspace.rng, usual_lines()
    while True:
        workspace.fresh()
        for line in generate_lines(rng.randrange(2**32), 40):
            end = run(line, workspace.folder, stdin=rng.randbytes(20), environment=MODEL)
            yield f"arguments: {line}", find_fault(end), end
        for _ in range(40):
            chosen: list[str | bytes] = [*rng.choice(lines)]
            position = rng.randrange(1, len(chosen) + 1)
            odd: list[list[str | bytes]] = [
                ["-", "-"],
                ["-"],
                [rng.choice(NOT_UTF8)],
                ["-m", b"\xff"],
            ]
            chosen[position : position + rng.randrange(2)] = rng.choice(odd)
            end = run(chosen, workspace.folder, stdin=b"bank\n" * 3, environment=MODEL)
            yield f"arguments: {chosen}", find_fault(end), end
            clear(workspace)


MODEL = {"CTXEMBED_MODEL": "m"}


def clear(workspace: Workspace) -> None:
    """Remove what a line may have written under a name made up."""
    for item in os.listdir(os.fsencode(workspace.folder)):
        path = os.fsencode(workspace.folder) + b"/" + item
        if item.startswith(b"made") or not item.isascii() or item == b"ctxembed-model":
            shutil.rmtree(path, ignore_errors=True) if os.path.isdir(path) else os.unlink(path)


def numbers(workspace: Workspace) -> Tries:
    """Give every number option an invalid number, or its smallest or largest value."""
    lines = [*usual_lines(), ["mix"], ["explore", "--no-browser", "--host", "nowhere.invalid"]]
    takes = [
        (line, option, option.type)
        for line in lines
        if line[0] in COMMANDS
        for option in options_of(line[0])
        if isinstance(option.type, click.IntRange | click.FloatRange)
    ]
    workspace.fresh()
    while True:
        line, option, kind = workspace.rng.choice(takes)
        low, high, name = kind.min or 0, kind.max or 0, option.opts[-1]
        values = [*NO_NUMBERS, str(low - 1), str(high + 1)]
        if name not in LONG and line[0] not in SLOW:
            values += [*ODD_NUMBERS, str(low), str(high), str(low), str(high)]
        value = workspace.rng.choice(values)
        end = run([*line, f"{name}{'=' * name.startswith('--')}{value}"], workspace.folder)
        yield f"numbers: {line} {name} {value[:60]}", find_fault(end), end


def encoded(workspace: Workspace) -> Tries:
    """Read text in every encoding that Python has, and in some that it has not."""
    folder, rng = workspace.folder, workspace.rng
    lines = (
        "train e.txt -o made --force --dim 2 --epochs 1 --workers 1 --static-only",
        "import e.txt -o made --force", "vectorize e.txt", "index e.txt -m one -o made --force",
        "mix e.txt e.txt --word bank --steps 2 --seeds 1 --dim 2 --epochs 1 --workers 1",
        "vectorize e.txt --method learned -m one", "tokenize e.txt --unit sentence",
        "tokenize e.txt", "compare - -m one", "neighbors - -m one", "contextualize e.txt -m one",
        "evaluate similarity e.txt -m one", "evaluate senses e.txt -m one", "fit e.txt -m m",
    )  # fmt: skip
    workspace.fresh()
    text = "the [bank] of the river\ncafé naïve — 河 🙂\n" * 40
    while True:
        written, declared = rng.choice(CODECS), rng.choice(CODECS)
        declared = written if rng.random() < 0.3 else declared
        try:
            data = text.encode(written, "replace")
        except (LookupError, ValueError):
            data = text.encode()
        data = data[: rng.choice((len(data), len(data) - 1, 7))]
        (folder / "e.txt").write_bytes(rng.choice((b"", b"", b"\xff\xfe", b"\xfe\xff")) + data)
        line = [*rng.choice(lines).split(), "--encoding", declared]
        line += rng.choice(([], ["--errors", "replace"]))
        end = run(line, folder, stdin=(folder / "e.txt").read_bytes())
        yield f"encodings: {line} of {written}", find_fault(end), end


def patterns(workspace: Workspace) -> Tries:
    """Search for patterns of few and of many stars; few are compared with regular expressions."""
    folder, rng = workspace.folder, workspace.rng
    (folder / "long.txt").write_text(f"{'a' * 90} {'ab' * 45} banana\n" * 6)
    train = "train long.txt -o long --force --static-only --dim 2 --epochs 1 --workers 1"
    run(train.split(), folder)
    words = (folder / "c.txt").read_text().split()
    workspace.fresh()
    while True:
        long = "".join(rng.choices("aab*", k=rng.choice((9, 90, 900)))) + "*"
        several = rng.choice((1, 2, 30, 2000))
        end = run(["kwic", " ".join([long] * several), "-m", "long"], folder)
        yield f"pattern {long[:60]} {several} times", find_fault(end), end
        few = "".join(rng.choice((x, x, x, "*", f"{x}*", "k")) for x in rng.choice(words)) + "*"
        expected = [word for word in words if re.fullmatch(few.replace("*", ".*"), word)]
        end = run(["kwic", few, "-m", "m", "-f", "jsonl"], folder)
        sound = [json.loads(line)["hit"] for line in end.out.splitlines()] == expected
        wrong = "" if sound and end.code == (0 if expected else 4) else "changed answer"
        yield f"pattern {few}", find_fault(end) or wrong, end


def normalised(workspace: Workspace) -> Tries:
    """Split texts in both spellings of letters with marks; the words are the same."""
    folder, rng = workspace.folder, workspace.rng
    letters = "aeiIİıoJkKåÅΩσΣñệ각가한कि\u0300\u0301\u0307\u030c\u0323\u093c '’-.,1 \u200d"
    while True:
        text = "".join(rng.choices(letters, k=rng.choice((3, 9, 40)))) + " é"
        options = rng.choice(("", "--cased", "--language tr", "--unit character")).split()
        ends = []
        for form in ("NFC", "NFD"):
            (folder / "n.txt").write_text(unicodedata.normalize(form, text))
            ends.append(run(["tokenize", "n.txt", "-f", "jsonl", *options], folder))
        one, other = ([json.loads(x)["token"] for x in end.out.splitlines()] for end in ends)
        wrong = "" if one == other else "changed answer"
        yield f"normalisation {text!r} {options}", find_fault(ends[1]) or wrong, ends[1]
