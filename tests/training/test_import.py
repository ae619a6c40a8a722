"""Vectors in: every format, and everything that can be wrong with a file."""

import json
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from ctxembed.model.bundled import bundled_model, corpora_directory
from ctxembed.model.model import Model
from ctxembed.progress import Progress
from ctxembed.static import vector_files
from ctxembed.static.vector_files import write_vectors
from ctxembed.training.import_ import import_, zipf_counts
from tests.conftest import Run, mentions

GLOVE = "the 1 2 3\nof -0.5 1e-3 .25\npear 4 5 6\n"
VECTORS = np.array([[1, 2, 3], [-0.5, 1e-3, 0.25], [4, 5, 6]], np.float32)


def binary(words: list[str], vectors: Any, newline: bytes = b"\n") -> bytes:
    """Write word2vec's binary format as its C program does."""
    rows = np.asarray(vectors, "<f4")
    body = b"".join(
        word.encode() + b" " + row.tobytes() + newline
        for word, row in zip(words, rows, strict=True)
    )
    return f"{len(words)} {rows.shape[1]}\n".encode() + body


def check(folder: Path, words: list[str] | None = None) -> None:
    model = Model.open(folder)
    assert model.vocabulary.words == (words or ["the", "of", "pear"])
    np.testing.assert_array_equal(model.vectors, VECTORS[: len(model.vocabulary.words)])


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("glove.txt", GLOVE.encode()),
        ("vectors.vec", b"3 3\n" + GLOVE.encode()),
        ("no-last-break.txt", GLOVE.encode().rstrip()),
        ("windows.txt", b"3 3\r\n" + GLOVE.replace("\n", "\r\n").encode()),
        ("trailing-space.txt", b"3 3\n" + GLOVE.replace("\n", " \n").encode()),
        ("tabs.txt", GLOVE.replace(" ", "\t").encode()),
        ("w.bin", binary(["the", "of", "pear"], VECTORS)),
        ("w-without-breaks.bin", binary(["the", "of", "pear"], VECTORS, b"")),
    ],
)
def test_formats(tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    import_(str(tmp_path / name), tmp_path / "m")
    check(tmp_path / "m")


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz", ".zst"])
def test_packed(tmp_path: Path, suffix: str) -> None:
    from smart_open import open as smart

    path = str(tmp_path / f"glove.txt{suffix}")
    with smart(path, "wb") as file:
        file.write(GLOVE.encode())
    import_(path, tmp_path / "m")
    check(tmp_path / "m")


def test_summary_and_questions(run: Run, tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text(GLOVE)
    done = run("import", "glove.txt", "-o", "m")
    assert (done.stdout, done.stderr, done.returncode) == (
        "property\tvalue\nwords\t3\ndim\t3\nduplicates\t0\nnot_finite\t0\nunusable\t0\n"
        "cased\tno\nmodel\tm\n",
        "",
        0,
    )
    assert run("neighbors", "the", "-n", "1", "-m", "m").stdout.endswith("the\tpear\t0.974632\t1\n")
    assert "count" not in run("show", "the", "-m", "m").stdout  # an estimate is no count
    assert "counts_estimated\tyes\n" in run("info", "-m", "m").stdout


def test_stdin(run: Run, tmp_path: Path) -> None:
    assert run("import", "-", "-o", "m", stdin=GLOVE).returncode == 0
    check(tmp_path / "m")


def test_limit_stops_reading(run: Run, tmp_path: Path) -> None:
    (tmp_path / "glove.txt").write_text(GLOVE)
    assert run("import", "glove.txt", "--limit", "2", "-o", "m").stdout.startswith(
        "property\tvalue\nwords\t2\n"
    )
    check(tmp_path / "m", ["the", "of"])


def test_duplicates_nan_and_nameless_rows_are_counted(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(
        GLOVE + "the 9 9 9\nbad nan 1 1\nworse 1 inf 1\nlarge 1e99 1 1\n 1 2 3\n"
    )
    done = run("import", "v.txt", "-o", "m")
    assert "duplicates\t1\nnot_finite\t3\nunusable\t1\n" in done.stdout
    assert mentions(done.stderr, "5~of 8~rows 1~words 3~with")
    check(tmp_path / "m")


def test_glove_words_may_hold_spaces(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("the 1 2 3\n. . . 4 5 6\n")
    import_(str(tmp_path / "v.txt"), tmp_path / "m")
    assert Model.open(tmp_path / "m").vocabulary.words == ["the", ". . ."]


def test_capitals_decide_how_text_is_read(tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("the 1 2\nApple 2 3\napple 3 4\n")
    import_(str(tmp_path / "v.txt"), tmp_path / "m")
    model = Model.open(tmp_path / "m")
    assert model.vocabulary.tokenizer.cased
    assert model.vocabulary.find("Apple") == 1


W = binary(["the", "of", "pear"], VECTORS)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("e.txt", b"", "empty"),
        ("e.txt", b" \n\n", "empty"),
        ("d.txt", b"9" * 5000 + b" 2\n", "line 1: more words or dimensions than there can be"),
        ("t.txt", b"The quick brown fox\njumps\n", "line 1: neither 'words dimensions' nor a word"),
        ("w.txt", b"the 1 2 3\nof 1 2\npear 4 5 6\n", "line 2: 2 numbers where 3 are expected"),
        ("w.txt", b"the 1 2 3\nof 1 2 3 4\n", "line 2: 4 numbers where 3 are expected"),
        ("w.txt", b"3 2\nthe 1 2 3\nof 1 2 3\n", "line 2: 3 numbers where 2 are expected"),
        ("w.txt", b"the 1 2 3\n\nof 1 2 3\n", "line 2: 0 numbers where 3 are expected"),
        ("n.txt", b"the 1 2 3\nof 1 two 3\n", "line 2: not a number: 'two'"),
        ("h.txt", b"5 3\n" + GLOVE.encode(), "line 5: ends after 3 words, the first line says 5"),
        ("h.txt", b"2 3\n" + GLOVE.encode(), "line 5: ends after 3 words, the first line says 2"),
        ("h.txt", b"0 3\n", "line 1: 0 words of 3 dimensions"),
        ("l.txt", "the 1 2 3\ncafé 1 2 3\n".encode("latin-1"), "line 2: byte 0xe9 is not utf-8"),
        (
            "l.bin",
            binary(["the"], [[1, 2]]).replace(b"the", b"\xe9"),
            "byte 4: byte 0xe9 is not utf-8",
        ),
        ("s.bin", W[:-9], "byte 46: ends after 2 of 3 words; the file is cut short"),
        ("s.bin", W[:10], "byte 10: ends after 0 of 3 words; the file is cut short"),
        ("h.bin", b"2" + W[1:], "byte 36: continues after the 2 words that its header announces"),
        ("f.bin", b"\xba\x16\x4f\x2f\x0c\0\0\0", "a fastText .bin model; import the .vec file"),
        ("g.zip", b"PK\x03\x04...", "a zip archive; unpack it"),
        ("p.model", pickle.dumps([1, 2]), "a Python pickle; end its name in .kv"),
        ("a.npy", b"\x93NUMPY\x01\x00", "damaged"),
        ("a.npy", b"PK\x03\x04", "damaged"),
        ("a.npy", b"\x93NUMPY\x01\x00v\x00" + b"{'descr': (".ljust(117) + b"\n", "damaged"),
        ("a.kv", b"\x80\x04nonsense", "not read as gensim's KeyedVectors"),
        ("nan.txt", b"the nan 1\n", "no word in it can be used"),
    ],
)
def test_malformed(run: Run, tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    done = run("import", name, "-o", "m")
    assert (done.stdout, done.returncode) == ("", 3)
    assert done.stderr.startswith(f"ctxembed: {name}: {message}")
    assert done.stderr.count("\n") == 1
    assert [item.name for item in tmp_path.iterdir()] == [name]  # nothing is left behind


def test_encodings(run: Run, tmp_path: Path) -> None:
    (tmp_path / "l.txt").write_bytes("the 1 2\ncafé 3 4\n".encode("latin-1"))
    assert run("import", "l.txt", "-o", "m", "--encoding", "latin-1").returncode == 0
    assert Model.open(tmp_path / "m").vocabulary.words == ["the", "café"]
    assert run("import", "l.txt", "-o", "r", "--errors", "replace").returncode == 0
    assert Model.open(tmp_path / "r").vocabulary.words == ["the", "caf\ufffd"]
    wrong = run("import", "l.txt", "-o", "w", "--encoding", "klingon")
    assert (wrong.stderr, wrong.returncode) == (
        "ctxembed: unknown encoding 'klingon'; try utf-8, latin-1 or cp1252\n",
        2,
    )


def test_missing_file_and_existing_model(run: Run, tmp_path: Path) -> None:
    done = run("import", "no.txt", "-o", "m")
    assert (done.stderr, done.returncode) == ("ctxembed: no.txt: no such file or directory\n", 5)
    (tmp_path / "v.txt").write_text(GLOVE)
    assert run("import", "v.txt", "-o", "m").returncode == 0
    again = run("import", "v.txt", "-o", "m")
    assert again.returncode == 2
    assert "give --force" in again.stderr
    assert run("import", "v.txt", "-o", "m", "--force").returncode == 0


def test_array_needs_its_words(run: Run, tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", VECTORS.astype(np.float64))
    done = run("import", "a.npy", "-o", "m")
    assert (done.stderr, done.returncode) == (
        "ctxembed: a.vocab.txt: no such file; --vocab names the word list\n",
        3,
    )
    (tmp_path / "words").write_text("the\nof\n")
    done = run("import", "a.npy", "--vocab", "words", "-o", "m")
    assert (done.stderr, done.returncode) == (
        "ctxembed: words: 2 words, but a.npy has 3 rows\n",
        3,
    )
    (tmp_path / "words").write_text("the\nof\npear\n")
    assert run("import", "a.npy", "--vocab", "words", "-o", "m").returncode == 0
    check(tmp_path / "m")


def test_keyed_vectors_with_counts(tmp_path: Path) -> None:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(3)
    keyed.add_vectors(["the", "of", "pear"], VECTORS)
    for word, count in (("the", 9), ("of", 5), ("pear", 1)):
        keyed.set_vecattr(word, "count", count)
    keyed.save(str(tmp_path / "one.kv"))
    keyed.save(str(tmp_path / "two.kv"), separately=["vectors"])
    assert (tmp_path / "two.kv.vectors.npy").exists()
    for name in ("one", "two"):
        import_(str(tmp_path / f"{name}.kv"), tmp_path / name)
        check(tmp_path / name)
        assert Model.open(tmp_path / name).counts.tolist() == [9, 5, 1]


@pytest.mark.parametrize("counts", [[0, 0, 0], [9, -5, 1]])
def test_keyed_vectors_with_counts_that_count_nothing(
    counts: list[int], run: Run, tmp_path: Path
) -> None:
    from gensim.models import KeyedVectors

    keyed = KeyedVectors(3)
    keyed.add_vectors(["the", "of", "pear"], VECTORS)
    for word, count in zip(["the", "of", "pear"], counts, strict=True):
        keyed.set_vecattr(word, "count", count)
    keyed.save(str(tmp_path / "v.kv"))
    assert run("import", "v.kv", "-o", "m").returncode == 0
    assert Model.open(tmp_path / "m").meta["counts_estimated"] is True
    assert run("info", "--check", "-m", "m").returncode == 0
    assert run("show", "pear", "-m", "m").returncode == 0


class Trap:
    """A pickle that would write a file if it were run."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_a_pickle_is_never_run(run: Run, tmp_path: Path) -> None:
    (tmp_path / "evil.kv").write_bytes(pickle.dumps(Trap(tmp_path / "sprung")))
    done = run("import", "evil.kv", "-o", "m")
    assert done.returncode == 3
    assert "save_word2vec_format" in done.stderr
    assert "pathlib" in done.stderr
    assert [item.name for item in tmp_path.iterdir()] == ["evil.kv"]


def test_blocks_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    files = {
        "v.txt": ("3 3\n" + GLOVE).encode(),
        "v.bin": binary(["the", "of", "pear"], VECTORS),
        "g.txt": GLOVE.encode(),
    }
    for size in (1, 2, 3, 7, 16, 64):
        monkeypatch.setattr(vector_files, "BLOCK", size)
        for name, content in files.items():
            (tmp_path / name).write_bytes(content)
            if size >= 16:  # the first block must hold the first line
                import_(str(tmp_path / name), tmp_path / "m", force=True)
                check(tmp_path / "m")


def test_a_float_may_hold_the_byte_of_a_line_break(tmp_path: Path) -> None:
    vectors = np.array([[0.01, 0.01], [0.5, 0.01]], np.float32)  # 0a d7 23 3c
    assert vectors.tobytes()[0] == ord("\n")
    (tmp_path / "v.bin").write_bytes(binary(["pear", "plum"], vectors))
    import_(str(tmp_path / "v.bin"), tmp_path / "m")
    model = Model.open(tmp_path / "m")
    assert model.vocabulary.words == ["pear", "plum"]
    np.testing.assert_array_equal(model.vectors, vectors)


@settings(max_examples=60, deadline=None)
@given(
    arrays.arrays(
        np.float32,
        st.tuples(st.integers(1, 5), st.integers(2, 6)),  # four bytes alone may be a number in text
        elements=st.floats(allow_nan=False, allow_infinity=False, width=32),
    ),
    st.booleans(),
)
def test_any_float32_survives_both_formats(
    tmp_path_factory: pytest.TempPathFactory, vectors: Any, text: bool
) -> None:
    folder = tmp_path_factory.mktemp("round")
    words = [f"w{row}" for row in range(len(vectors))]
    path = folder / ("v.txt" if text else "v.bin")
    with path.open("wb") as file:
        write_vectors(file, words, vectors, Progress(), binary=not text)
    import_(str(path), folder / "m")
    np.testing.assert_array_equal(Model.open(folder / "m").vectors, vectors)


def test_zipf_falls_like_real_counts() -> None:
    counts = zipf_counts(1000)
    assert counts.sum() == pytest.approx(1e9, rel=1e-5)
    assert (np.diff(counts) < 0).all()
    assert counts[9] / counts[99] == pytest.approx((99 + 2.7) / (9 + 2.7), rel=1e-3)


@pytest.mark.posix
def test_attention_learned_for_imported_vectors_pays(run: Run, tmp_path: Path) -> None:
    """Vectors alone come in; what is learned for them beats general attention on pseudowords."""
    (tmp_path / "text.txt").symlink_to(corpora_directory() / "everyday.txt")
    bundled = str(bundled_model("everyday"))
    for line in (
        ["export", "v.txt", "-m", bundled],
        ["import", "v.txt", "-o", "m"],
        ["learn", "--corpus", "text.txt", "--epochs", "0.2", "-m", "m"],
    ):
        assert run(*line).returncode == 0
    done = run("evaluate", "pseudowords", "text.txt", "-m", "m", "-f", "jsonl")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    score = {
        (row["metric"], row["representation"]): row["value"] for row in rows if row["set"] == "mean"
    }
    for metric in ("accuracy", "spliced"):
        assert score[metric, "learned"] > score[metric, "general"] > score[metric, "static"]
    done = run("compare", "[Apple] launched a phone", "-m", "m")
    assert "learned" in done.stdout
    assert run("explain", "[Apple] launched a phone", "-m", "m").returncode == 0


@pytest.mark.parametrize("text", ["pear 1 2\nplum 3 4\n", "2 2\npear 1 2\nplum 3 4\n"])
def test_a_byte_order_mark_is_skipped(text: str, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text(text, encoding="utf-8-sig")
    import_(str(tmp_path / "v.txt"), tmp_path / "m")
    assert Model.open(tmp_path / "m").vocabulary.words == ["pear", "plum"]
