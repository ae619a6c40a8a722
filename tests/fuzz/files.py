"""Files that are not what they seem: bombs, endless devices, faulty vectors and corpora."""

import bz2
import gzip
import lzma
import pickle
import random
from collections.abc import Callable
from io import BytesIO

import numpy as np

from tests.fuzz.tries import find_fault, run
from tests.fuzz.workspace import Tries, Workspace, split

PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress,
}  # fmt: skip
READS = ["fit * -m m", "evaluate similarity * -m m", "evaluate senses * -m m",
    "evaluate scws * -m m", "evaluate wic * * -m m", "evaluate analogies * -m m",
    "evaluate substitution * * -m m", "evaluate substitution lexsub.txt lexgold.txt --candidates *",
    "evaluate pseudowords * -m m --pairs 1", "contextualize * -m m", "contextualize * --all -m m",
    "contextualize * -m m -o made.npz", "import * -o made --force",
    "import v.npy --vocab * -o made --force",
    "train * -o made --force --static-only --epochs 1 --workers 1 --dim 2",
    "train * -o made --force --static-only --epochs 1 --workers 1 --dim 2 --unit character",
    "train * -o made --force --static-only --epochs 1 --workers 1 --dim 2 --unit subword",
    "train * -o made --force --static-only --epochs 1 --workers 1 --dim 2 --phrases",
    "tokenize * -o made.tsv", "tokenize * --unit character -o made.tsv",
    "tokenize * --unit subword -o made.tsv", "tokenize * --unit sentence -o made.tsv",
    "vectorize * --sparse -o made.npz", "vectorize * --method learned -m m -o made.npz",
    "vectorize * --method tfidf --sparse", "index * -m m -o made --force",
    "mix * c.txt --word bank --steps 2 --seeds 1", "compare|[a]|--vectors|*", "info -m *",
    "explain|[a]|--weights|*", "learn -m m --corpus * --epochs 0.005",
    "info --check -m *"]  # fmt: skip
HONEST = [b"a\n", b"bank ", b"1 ", b"[bank] ", b"a\t", b". ", b"a.", b"a\tthe [bank]\n",
    b"the bank of a river. ", b"bank river 8\n", b"bank river money apple\n",
    b"bank.n\t1\t1\tthe bank of the river\n",
    b"x\tthe [bank] of a river\ny\ta [bank] in money\n"]  # fmt: skip
UNITS = [*HONEST, b"\0", b"a", b" ", b"\n", b"[", b"\xff", "é".encode(), b"-"]
LONG = ["bank " * 20_000, "[bank] " * 9000, "x" * 110_000, "bank river " * 900,
    "[bank river " * 5000, "a=b," * 9000, "[bank] of " * 99, "é" * 60_000, "a-" * 50_000,
]  # fmt: skip
ASKS = ["explain", "ablate", "compare", "similarity", "predict", "kwic", "show", "substitutes",
    "report", "neighbors", "vector", "tokenize", "senses", "collocates"]  # fmt: skip


def bombs(workspace: Workspace) -> Tries:
    """Send very much of very little: packed, endless, sparse; one line, one word, one sentence."""
    folder, rng = workspace.folder, workspace.rng
    np.save(folder / "v.npy", np.ones((3, 2), np.float32))
    workspace.fresh()
    while True:
        line = rng.choice(READS)
        what = rng.choice(UNITS)
        if rng.random() < 0.4:  # packed: 1 GB, or 1 MB of what takes its time honestly
            suffix, size = rng.choice(list(PACK)), 1 if what in HONEST else 1 << 10
            piece = PACK[suffix](what * ((1 << 20) // len(what)))
            (folder / f"bomb{suffix}").write_bytes(piece * size)
            name, description = f"bomb{suffix}", f"{size} MB of {what!r}"
        elif rng.random() < 0.3:
            name = description = rng.choice(
                ("/dev/zero", "/dev/random", "/dev/full", "/dev/null", "/")
            )
        elif rng.random() < 0.2:
            name, description = "sparse.txt", "a sparse file"
            with (folder / name).open("wb") as file:
                file.truncate(rng.choice((1 << 30, 1 << 40)))
        else:
            size = rng.choice((1 << 17, 1 << 20)) if what in HONEST else 3 << 20
            name, description = "long.txt", f"{size} bytes of {what!r}"
            (folder / name).write_bytes(what * (size // len(what)))
        end = run([part.replace("*", name) for part in split(line)], folder)
        yield f"bomb, {description}: {line}", find_fault(end), end
        long, command = rng.choice(LONG), rng.choice(ASKS)
        words = [command, long, *(["-m", "m"] if command != "tokenize" else [])]
        end = run(words, folder)
        yield f"{command} of {len(long)} letters, {long[:9]!r}", find_fault(end), end
        words[1] = "-"
        end = run(words, folder, stdin=long.encode() * 9)
        yield f"{command} - of {len(long)} letters, {long[:9]!r}", find_fault(end), end


def _text(rng: random.Random, head: bool = True) -> bytes:
    """Write vectors as word2vec and fastText do, or without their first line as GloVe does."""
    rows, columns = rng.choice((1, 3, 50)), rng.choice((1, 2, 9))
    lines = [f"{rows} {columns}".encode()] if head else []
    for row in range(rows):
        numbers = " ".join(f"{rng.gauss(0, 1):.4f}" for _ in range(columns))
        lines.append(f"{rng.choice(('w', 'é', 'bank'))}{row} {numbers}".encode())
    return b"\n".join(lines) + b"\n"


def _binary(rng: random.Random) -> bytes:
    rows = rng.choice((1, 3, 50))
    words = b"".join(
        b"w%d " % row + np.full(4, row, "<f4").tobytes() + b"\n" for row in range(rows)
    )
    return b"%d 4\n" % rows + words


def _array(rng: random.Random) -> bytes:
    file = BytesIO()
    kind = rng.choice(("<f4", "<f8", ">f4", "<f2", "<i4", "|b1", "<c8", "|S3", "<U2", "<M8[s]"))
    np.save(file, np.zeros(rng.choice(((3, 2), (3,), (), (0, 2), (3, 2, 2))), kind))
    return file.getvalue()


class _Pickled:
    """Pickles as an object of any class."""

    def __init__(self, *reduced: object) -> None:
        self.reduced = reduced

    def __reduce__(self) -> tuple[object, ...]:
        return self.reduced


def _pickled(rng: random.Random) -> bytes:
    """Write what gensim might have: states of every kind, and calls of foreign functions."""
    state = {
        "vectors": rng.choice((np.ones((2, 2), "f4"), np.ones(2), [[1, 2]], None, "x", 10**400,
            np.array([None, {}], object), np.ones((2, 0)), np.full((2, 2), np.nan))),
        "index_to_key": rng.choice((["a", "b"], ["a"], ["a", 1], None, {"a": 1}, ["a", "a"])),
        "expandos": rng.choice(({}, {"count": np.array([1, 2])}, {"count": "x"}, None)),
        "vector_size": rng.choice((2, -1, "2", 10**30)),
    }  # fmt: skip
    for name in rng.sample(list(state), rng.randrange(3)):
        del state[name]
    called: list[object] = [
        state, [state], None, _Pickled(print, ("out",)), _Pickled(eval, ("1",)),
        _Pickled(bytes, (1 << 34,)),
        _Pickled(np.ones, ((1 << 20, 1 << 20),)), _Pickled(bytearray, (1 << 33,)),
        _Pickled(dict, (), state),
        _Pickled(np.ndarray, ((1 << 40,),)), _Pickled(np.frombuffer, (b"x" * 8,)),
        _Pickled(np.dtype, ("O",)), {"vectors": _Pickled(np.dtype, ("f4", False, True))},
    ]  # fmt: skip
    data = pickle.dumps(rng.choice(called), protocol=rng.randrange(6))
    if rng.random() < 0.5:  # under the name of gensim's own class
        return b"\x80\x02cgensim.models.keyedvectors\nKeyedVectors\n)\x81" + data[:-1] + b"b."
    return data


def _worked_example(rng: random.Random) -> bytes:
    number = rng.choice(("1", "1e999", "NaN", "9" * 5000, '"x"', "null", "[1]", "true", "-0.0"))
    return (f'{{"vectors": {{"a": [1, {number}], "b": [{number}, 4]}}, "w_q": [[{number}]],'
            f' "w_k": {rng.choice(("[[1]]", "[]", "{}", "[[1,2],[3,4]]"))}}}').encode()  # fmt: skip


ODD = [b"9" * 5000 + b" 2\n", b"1 " + b"9" * 5000, b"[" * 100_000, b"2 2\na 1e999 nan\nb 1 2\n",
    b"3 4000000000\na 1\n", b"4000000000 3\na 1 2 3\n", b"PK\x03\x04", b"\x80\x04",
    b"\x80\x05cos\n", b"0 0\n", b"-1 -1\n", b"\n\n", b"\xef\xbb\xbf1 1\na 1\n",
    b"1 1\r\na 1\r\n"]  # fmt: skip
MAKES: list[Callable[[random.Random], bytes]] = [
    _text, lambda rng: _text(rng, head=False), _binary, _array, _pickled, _pickled, _worked_example,
    lambda rng: rng.choice(ODD), lambda rng: rng.randbytes(rng.randrange(1, 3000)),
]  # fmt: skip
SUFFIXES = (".txt", ".vec", ".bin", ".npy", ".kv", ".json", ".gz", ".tsv", ".npz", ".model", "")
IMPORT = "import * -o made --force"
OPENS = [IMPORT, IMPORT, IMPORT, IMPORT, f"{IMPORT} --limit 1", f"{IMPORT} --vocab *",
    "compare|[a] b|--vectors|*", "explain|[a] b|--weights|*",
    "info --check -m *", "info -m *", "fit * -m m",
    "train * -o made --force --static-only --epochs 1 --dim 4 --workers 1",
    "evaluate similarity * -m m", "evaluate analogies * -m m"]  # fmt: skip


def vectors(workspace: Workspace) -> Tries:
    """Import, and train on, files that are not what their names say."""
    folder, rng = workspace.folder, workspace.rng
    workspace.fresh()
    while True:
        data = bytearray(rng.choice(MAKES)(rng))
        for _ in range(rng.choice((0, 0, 1, 3))):
            data[rng.randrange(len(data))] = rng.randrange(256)
        if rng.random() < 0.15:
            del data[rng.randrange(len(data)) :]
        own = {0x80: ".kv", 0x93: ".npy", ord("{"): ".json"}.get(data[0] if data else 0, ".txt")
        name = f"f{rng.choice((own, own, own, *SUFFIXES))}"
        packed = gzip.compress(bytes(data)) if name.endswith(".gz") else bytes(data)
        (folder / name).write_bytes(packed[: rng.choice((len(packed), len(packed), 20))])
        (folder / "f.vocab.txt").write_bytes(rng.choice([b"a\nb\nc\n", b"a\n", b"\xff\n", b""]))
        line = rng.choice(OPENS)
        end = run([part.replace("*", name) for part in split(line)], folder)
        yield f"file {name} {bytes(data[:60])!r}: {line}", find_fault(end), end
        (folder / name).unlink()
