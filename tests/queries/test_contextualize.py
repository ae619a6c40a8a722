"""contextualize and positions: every output, streams, and every way to ask wrongly."""

import json
import math
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.parse import parse
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.queries import contextualize as analysis
from tests.conftest import Run, mentions

LINES = "the [apple] phone\n\n[bank] river\n[apple] qq [phone]\n"


def test_tsv_by_hand(run: Run) -> None:
    done = run("contextualize", "-", "--attention", "bag", stdin=LINES)
    assert done.stdout == (
        "sentence\ttarget\tposition\td1\td2\td3\td4\n"
        "1\tapple\t2\t0.050000\t0.550000\t0.050000\t0.050000\n"  # half of the, half of phone
        "3\tbank\t1\t0.000000\t0.000000\t0.000000\t1.000000\n"
        "4\tapple\t1\t0.000000\t1.000000\t0.000000\t0.000000\n"
        "4\tphone\t3\t0.900000\t0.300000\t0.000000\t0.000000\n"
    )
    assert mentions(done.stderr, "vocabulary qq")


def test_general_by_hand(run: Run) -> None:
    done = run("contextualize", "-", "-f", "jsonl", stdin="[bank] river\n")
    # .3 of (0,0,.8,.6) and .7 of (0,0,0,1): the only other word has all the weight
    (row,) = [json.loads(line) for line in done.stdout.splitlines()]
    assert row["vector"] == pytest.approx([0, 0, 0.24, 0.88], abs=1e-6)
    assert (row["sentence"], row["target"], row["position"]) == (1, "bank", 1)
    assert json.loads(run("contextualize", "-", "-f", "json", stdin="[bank] river\n").stdout) == [
        row
    ]


def test_a_file_is_the_same_as_stdin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_bytes(LINES.replace("\n", "\r\n").encode())
    assert run("contextualize", "s.txt").stdout == run("contextualize", "-", stdin=LINES).stdout


def test_arrays(run: Run, tmp_path: Path) -> None:
    done = run("contextualize", "-", "--all", "-o", "v.npz", stdin=LINES)
    assert done.stdout == ""
    assert mentions(done.stderr, "7~vectors 4~numbers v.npz")
    with np.load(tmp_path / "v.npz") as file:
        assert file["sentence"].tolist() == [1, 1, 1, 3, 3, 4, 4]
        assert file["target"].tolist() == [
            "the",
            "apple",
            "phone",
            "bank",
            "river",
            "apple",
            "phone",
        ]
        assert file["position"].tolist() == [1, 2, 3, 1, 2, 1, 3]
        vectors = file["vectors"]
    assert vectors.dtype == np.float32
    run("contextualize", "-", "--all", "-o", "v.npy", stdin=LINES)
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), vectors)
    printed = run("contextualize", "-", "--all", "-f", "jsonl", stdin=LINES).stdout.splitlines()
    np.testing.assert_allclose([json.loads(line)["vector"] for line in printed], vectors)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["v.npy", "v.npz"]


@pytest.mark.parametrize("name", ["static", "bag", "general", "random"])
def test_all_words_at_once_are_the_targets_one_by_one(
    model: Model, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    representation = Representations(model).get(name)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(model.vocabulary.words, n)) for n in rng.integers(1, 12, 50)]
    texts[7] = "the apple the apple"
    expected = [
        vector
        for text in texts
        for vector in representation.vectors(parse(model, text).occurrences)
    ]
    for chunk, square in ((2048, 256), (7, 256), (7, 3)):
        monkeypatch.setattr(analysis, "CHUNK", chunk)
        monkeypatch.setattr(analysis, "SQUARE", square)
        pieces = list(analysis.contextual_vectors(model, representation, texts, every_word=True))
        vectors_ = np.concatenate([vectors for _, vectors in pieces])
        np.testing.assert_allclose(vectors_, expected, atol=1e-5)
        assert [t.sentence for targets, _ in pieces for t in targets] == [
            number for number, text in enumerate(texts, 1) for _ in text.split()
        ]


@pytest.mark.parametrize(
    ("arguments", "stdin", "code", "message"),
    [
        (("nosuch.txt",), "", 5, "nosuch.txt directory"),
        (
            ("-", "-o", "x.txt"),
            "[apple]\n",
            2,
            "-o x.txt",
        ),
        (("-", "-o", "no/x.npz"), "[apple]\n", 1, "no/x.npz written"),
        (("-", "--attention", "nosuch"), "[apple]\n", 3, "no attention 'nosuch'"),
        (("-", "--general", "scaled", "--attention", "bag"), "[apple]\n", 2, "--general goes with"),
    ],
)
def test_wrong_questions(
    run: Run, arguments: tuple[str, ...], stdin: str, code: int, message: str
) -> None:
    done = run("contextualize", *arguments, stdin=stdin)
    assert (done.returncode, done.stdout) == (code, "")
    assert mentions(done.stderr, message)


def test_a_broken_line_in_a_file(run: Run, tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_bytes(b"[apple]\n\xff\n")
    done = run("contextualize", "s.txt")
    assert done.returncode == 4
    assert len(done.stdout.splitlines()) == 2
    assert mentions(done.stderr, "s.txt line~2 0xff utf-8")


def test_unknown_targets_are_named_and_the_rest_answered(run: Run) -> None:
    done = run("contextualize", "-", stdin="[apple]\n[aple] pie\n[bank]\n")
    assert done.returncode == 4
    assert [line.split("\t")[0] for line in done.stdout.splitlines()[1:]] == ["1", "3"]
    assert mentions(done.stderr, "line~2 'aple' vocabulary apple")
    assert run("contextualize", "-", stdin="").stdout.count("\n") == 1


def test_sine_waves_and_their_sum(run: Run) -> None:
    rows = json.loads(
        run("positions", "--length", "5", "--dim", "6", "--waves", "-f", "json").stdout
    )
    for row in rows:
        waves = [math.sin(row["position"] / 10000 ** (2 * i / 6)) for i in range(3)]
        assert [row["wave_1"], row["wave_2"], row["wave_3"]] == pytest.approx(waves)
        assert row["sum"] == pytest.approx(sum(waves))
    drawn = run("positions", "--waves", "-f", "chart").stdout
    assert "one sine wave for each frequency" in drawn
    assert "all waves added" in drawn
    assert run("positions", "--waves", "--dot").returncode == 2


def test_positions(run: Run) -> None:
    s, c = math.sin, math.cos
    assert run("positions", "--length", "3", "--dim", "4").stdout == (
        "position\td1\td2\td3\td4\n0\t0.000000\t1.000000\t0.000000\t1.000000\n"
        f"1\t{s(1):.6f}\t{c(1):.6f}\t{s(0.01):.6f}\t{c(0.01):.6f}\n"
        f"2\t{s(2):.6f}\t{c(2):.6f}\t{s(0.02):.6f}\t{c(0.02):.6f}\n"
    )
    # sin a sin b + cos a cos b = cos(a - b), for each pair of columns
    near, far = c(1) + c(0.01), c(2) + c(0.02)
    assert run("positions", "--length", "3", "--dim", "4", "--dot", "-f", "markdown").stdout == (
        "| position |     p0 |     p1 |     p2 |\n"
        "|----------|--------|--------|--------|\n"
        f"|        0 | 2.0000 | {near:.4f} | {far:.4f} |\n"
        f"|        1 | {near:.4f} | 2.0000 | {near:.4f} |\n"
        f"|        2 | {far:.4f} | {near:.4f} | 2.0000 |\n"
    )
    rows = json.loads(run("positions", "--length", "1", "--dim", "3", "-f", "json").stdout)
    assert rows == [{"position": 0, "vector": [0.0, 1.0, 0.0]}]
    assert run("positions", "--length", "0").returncode == 2
