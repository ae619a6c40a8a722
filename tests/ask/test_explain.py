"""explain: exact output on the small fixed model, the check, and every way to ask wrongly."""

import json
import math
from decimal import Decimal
from pathlib import Path
from typing import cast

import pytest

from ctxembed.ask.explain import EXPLAIN, Explained, check_rows, explain_rows, explain_targets
from ctxembed.context.representations import Attention, Representations, parse
from ctxembed.errors import CtxembedError
from ctxembed.store.model import Model
from ctxembed.table import Cell, Table, round_to_total
from tests.conftest import WORDS, Run

HEADER = "target\thead\ttoken\tposition\tscore\tscaled\tweight\tcontribution\n"


def softmax(scores: list[float]) -> list[float]:
    raised = [math.exp(score) for score in scores]
    return [number / sum(raised) for number in raised]


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def blackboard(words: list[str], target: str, scale: float) -> list[tuple[float, ...]]:
    """Compute score, scaled, weight and contribution by hand."""
    vectors = [WORDS[word] for word in words]
    scores = [dot(WORDS[target], vector) for vector in vectors]
    weights = softmax([scale * score for score in scores])
    output = [dot(weights, [vector[i] for vector in vectors]) for i in range(4)]
    return [
        (score, scale * score, w, w * dot(vector, output) / dot(output, output))
        for score, w, vector in zip(scores, weights, vectors, strict=True)
    ]


@pytest.mark.parametrize(("kind", "scale"), [("textbook", 1.0), ("scaled", 0.5)])
def test_numbers_by_hand(run: Run, kind: str, scale: float) -> None:
    words = ["the", "apple", "launched", "phone"]
    done = run("explain", "the [apple] launched phone", "--general", kind, "-f", "json")
    rows = json.loads(done.stdout)
    assert [(row["token"], row["position"]) for row in rows] == [
        *zip(words, (1, 2, 3, 4), strict=True)
    ]
    for row, numbers in zip(rows, blackboard(words, "apple", scale), strict=True):
        assert (row["target"], row["head"]) == ("apple", "mean")
        found = [row[name] for name in ("score", "scaled", "weight", "contribution")]
        assert found == pytest.approx(numbers, abs=1e-6)  # vectors are stored as float32


ASK = ("explain", "[phone] launched", "--general", "textbook")
TSV = (  # .8 = (0,1,0,0)·(0,.8,.6,0); softmax(1, .8); the shares are checked by hand above
    HEADER + "phone\tmean\tphone\t1\t1.000000\t1.000000\t0.549834\t0.555310\n"
    "phone\tmean\tlaunched\t2\t0.800000\t0.800000\t0.450166\t0.444690\n"
)


def test_every_format(run: Run) -> None:
    assert run(*ASK).stdout == TSV
    assert run(*ASK, "-f", "csv").stdout == TSV.replace("\t", ",")
    assert run(*ASK, "--no-header").stdout == TSV[len(HEADER) :]
    assert run(*ASK, "-f", "table").stdout == (
        "target  head  token     position   score  scaled  weight  contribution\n"
        "------  ----  --------  --------  ------  ------  ------  ------------\n"
        "phone   mean  phone            1  1.0000  1.0000  0.5498        0.5553\n"
        "phone   mean  launched         2  0.8000  0.8000  0.4502        0.4447\n"
    )
    assert run(*ASK, "-f", "markdown", "--precision", "2").stdout == (
        "| target | head | token    | position | score | scaled | weight | contribution |\n"
        "|--------|------|----------|----------|-------|--------|--------|--------------|\n"
        "| phone  | mean | phone    |        1 |  1.00 |   1.00 |   0.55 |         0.56 |\n"
        "| phone  | mean | launched |        2 |  0.80 |   0.80 |   0.45 |         0.44 |\n"
    )
    lines = [json.loads(line) for line in run(*ASK, "-f", "jsonl").stdout.splitlines()]
    assert lines == json.loads(run(*ASK, "-f", "json").stdout)
    assert lines[0]["weight"] == pytest.approx(softmax([1, 0.8])[0], abs=1e-7)


def test_each_head_and_the_word_itself(run: Run) -> None:
    done = run("explain", "[bank] of the river", "--head", "each")
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert done.stderr == "ctxembed: skipped, not in the vocabulary: of\n"
    assert [line[1] for line in lines] == [*"111222333444", "own"]
    # cosine of (0,0,.8,.6) with the four equal numbers is .7, with the river .6; slopes 0 to .5
    assert [line[4] for line in lines[:3]] == ["", "0.700000", "0.600000"]
    damp = math.log(1e-3 / (1e-3 + 6 / 22))
    for head, slope in enumerate((0.0, 0.05, 0.2, 0.5)):
        assert float(lines[3 * head + 1][5]) == pytest.approx(6 * 0.7 + damp - slope, abs=2e-6)
    assert sum(Decimal(line[7]) for line in lines) == 1
    one = run("explain", "[bank] of the river", "--head", "2").stdout.splitlines()[1:]
    assert one == ["\t".join(line) for line in lines[3:6]]


@pytest.mark.parametrize("digits", range(18))
def test_printed_weights_sum_to_exactly_1(run: Run, model: Model, digits: int) -> None:
    from ctxembed.output.render import render

    way = cast(Attention, Representations(model).get("general"))
    parsed = parse(model, "the apple juice launched the orange phone bank money river sweet")
    for head, groups in (("mean", 1), ("each", 4)):
        for target in parsed.occurrences:
            one = type(parsed)(parsed.words, [target])
            table = Table(EXPLAIN, explain_rows(explain_targets(way, one), head))
            lines = list(render(table, "tsv", precision=digits))[1:]
            cells = [line.rstrip("\n").split("\t") for line in lines]
            assert sum(Decimal(cell[6]) for cell in cells if cell[6]) == groups
            assert sum(Decimal(cell[7]) for cell in cells) == 1


def test_rounding_keeps_the_total() -> None:
    assert round_to_total([0.5, 0.25, 0.25], 0) == ["1", "0", "0"]
    assert round_to_total([0.7, -0.2, 0.5], 1) == ["0.7", "-0.2", "0.5"]
    assert round_to_total([], 2) == []
    assert round_to_total([0.1] * 10, 17)[0] == "0.10000000000000000"


def test_recipes(run: Run) -> None:
    def recipe(*arguments: str) -> list[str]:
        done = run("explain", *arguments, "--recipe", "--no-header")
        return [line.split("\t")[1] for line in done.stdout.splitlines()]

    assert recipe("[phone] launched", "--general", "textbook") == [
        "phone = 0.55 phone + 0.45 launched"
    ]
    assert recipe("[phone] launched", "--general", "textbook", "--precision", "4") == [
        "phone = 0.5498 phone + 0.4502 launched"
    ]
    assert recipe("[apple]") == ["apple = 1.00 apple"]
    assert recipe("[apple juice] sweet") == ["apple juice = 0.30 apple juice + 0.70 sweet"]
    # Repeated words are told apart, and the word itself stands in front of another sentence.
    assert recipe("apple phone apple")[2] == "apple:2 = 0.66 apple + 0.04 phone + 0.30 apple:2"
    assert recipe("[the]", "--over", "money river") == ["the = 0.30 the + 0.35 money + 0.35 river"]


def test_steps_in_a_pipe_and_as_matrices(run: Run) -> None:
    ask = ("explain", "phone launched", "--general", "textbook", "--steps")
    lines = [line.split("\t") for line in run(*ask).stdout.splitlines()]
    assert lines[0] == ["step", "head", "row", "row_token", "column", "column_name", "value"]
    values = {(line[0], line[3], line[5]): float(line[6]) for line in lines[1:]}
    assert len(values) == 2 * 4 + 3 * 4 + 2 * 4
    assert values["scores", "phone", "launched"] == 0.8
    assert values["weights", "launched", "phone"] == pytest.approx(softmax([0.8, 1])[0], abs=1e-6)
    # output = .549834 (0,1,0,0) + .450166 (0,.8,.6,0)
    assert values["output", "phone", "d2"] == pytest.approx(0.549834 + 0.8 * 0.450166, abs=1e-6)
    assert values["output", "phone", "d3"] == pytest.approx(0.6 * 0.450166, abs=1e-6)
    shown = run(*ask, "-f", "table", "--precision", "2").stdout
    assert (
        "weights   phone  launched\n--------  -----  --------\nphone      0.55      0.45\n" in shown
    )
    assert [block.split()[0] for block in shown.split("\n\n") if block.strip()] == [
        "E",
        "scores",
        "scaled",
        "weights",
        "output",
    ]


def test_steps_of_a_layer_with_matrices_and_positions(run: Run) -> None:
    done = run(
        "explain",
        "phone launched",
        "--attention",
        "random",
        "--heads",
        "2",
        "--steps",
        "--encoding",
        "sinusoidal",
        "--over",
        "river",
        "-f",
        "jsonl",
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    names = list(dict.fromkeys((row["step"], row["head"]) for row in rows))
    assert names == [
        ("E", None),
        ("P", None),
        ("X", None),
        ("E_other", None),
        ("Q", 1),
        ("Q", 2),
        ("K", 1),
        ("K", 2),
        ("V", 1),
        ("V", 2),
        ("scores", 1),
        ("scaled", 1),
        ("weights", 1),
        ("scores", 2),
        ("scaled", 2),
        ("weights", 2),
        ("output", None),
    ]
    waves = {(r["row"], r["column"]): r["value"] for r in rows if r["step"] == "P"}
    assert waves[2, 1] == pytest.approx(math.sin(1))
    assert waves[2, 4] == pytest.approx(math.cos(1 / 100))


KINDS = [("--general", kind) for kind in ("textbook", "scaled", "cosine")]
KINDS += [("--attention", "random")]


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind[1])
def test_check_passes_for_every_attention(model: Model, kind: tuple[str, str]) -> None:
    for heads in range(1, 9):
        name, which = ("random", "cosine") if kind[1] == "random" else ("general", kind[1])
        way = cast(Attention, Representations(model).get(name, which, heads, seed=2))
        for encoding in ("none", "sinusoidal"):
            for over in (None, parse(model, "the money launched")):
                for text in ("bank the river", "[bank the] river bank", "apple"):
                    parsed = parse(model, text)
                    made = list(explain_targets(way, parsed, over=over, encoding=encoding))
                    check_rows(list(explain_rows(made, "each")), made)


def rows_of(model: Model, name: str) -> tuple[list[list[Cell]], list[Explained]]:
    way = cast(Attention, Representations(model).get(name, heads=2))
    made = list(explain_targets(way, parse(model, "bank the river"), encoding="sinusoidal"))
    return [list(row) for row in explain_rows(made, "each")], made


@pytest.mark.parametrize("name", ["general", "random"])
def test_tampering_with_any_number_fails(model: Model, name: str) -> None:
    rows, made = rows_of(model, name)
    check_rows(rows, made)
    tampered = 0
    for row in rows:
        for column in (4, 5, 6, 7):
            value = row[column]
            if isinstance(value, float):
                row[column] = value + 1e-3
                with pytest.raises(CtxembedError, match="check failed for"):
                    check_rows(rows, made)
                row[column] = value
                tampered += 1
    assert tampered > 40
    check_rows(rows, made)


def test_check_from_the_shell(run: Run) -> None:
    done = run("explain", "[bank] of the river", "--check", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("explain", "[bank] of the river", "--check", "--attention", "random")
    assert "ctxembed: checked: the rows add up\n" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        ((), 2, 'which sentence? ctxembed explain "[Apple] launched a new phone"'),
        (("",), 2, "which sentence?"),
        (("[aple] juice",), 4, "'aple' is not in the vocabulary; close known words: apple"),
        (("qq ww",), 4, "no word of 'qq ww' is in the vocabulary"),
        (("🍎 🍏",), 4, "no word of '🍎 🍏' is in the vocabulary"),
        (("the [apple",), 2, "mark a target as [word]"),
        (("the [] apple",), 2, "mark a target as [word]"),
        (("the apple", "--word", "pear"), 2, "--word pear: not in the sentence"),
        (("the apple", "--word", "apple:3"), 2, "--word apple:3: the sentence has it once"),
        (("apple apple", "--word", "apple:3"), 2, "the sentence has it 2 times"),
        (("the apple", "--word", "apple:x"), 2, "--word apple:x: write WORD or WORD:N"),
        (("the [apple]", "--head", "9"), 2, "--head 9: this attention has heads 1 to 4"),
        (("the [apple]", "--head", "x"), 2, "--head x: this attention has heads 1 to 4"),
        (("[apple]", "--head", "each", "--recipe"), 2, "--recipe is written for one head"),
        (("[apple]", "--steps", "--recipe"), 2, "give one of --steps, --recipe and --check"),
        (("[apple]", "--over", "qq"), 4, "no word of 'qq' is in the vocabulary"),
        (("[apple]", "--attention", "nosuch"), 3, "no attention 'nosuch'; it has general"),
        (("[apple]", "--attention", "bag"), 2, "--attention bag: not an attention"),
        (("a", "--attention", "random", "--general", "scaled"), 2, "--general goes with"),
        (("a", "--vectors", "phone-fruit", "-m", "x"), 2, "give --vectors or --model, not both"),
        (("a", "--weights", "tea"), 2, "--weights is a whole table"),
        (("--weights", "tea", "--check"), 2, "--weights is a whole table"),
        (("--weights", "tea", "--word", "coffee"), 2, "--word coffee: not in tea, which has tea"),
        (("--weights", "nosuch"), 5, "nosuch: no such file or directory"),
        (("a", "--vectors", "nosuch"), 5, "nosuch: no such file or directory"),
        (("apple " * 300, "--steps"), 2, "--steps prints squares of at most 200 words"),
    ],
)
def test_wrong_questions(run: Run, arguments: tuple[str, ...], code: int, message: str) -> None:
    done = run("explain", *arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert message in done.stderr
    assert len(done.stderr) < 200


BROKEN = {
    "short.tsv": ("a\t1\t2\nb\t1\n", "rows of different length"),
    "word.tsv": ("a\tfoo\n", "line 1: not a number in 'a\\tfoo'"),
    "twice.tsv": ("a\t1\nA\t2\n", "'a' is there twice"),
    "empty.tsv": ("", "no numbers in it"),
    "bytes.tsv": ("\udcff", "line 1: byte 0xff is not utf-8"),
    "nan.json": ('{"a": [1, NaN]}', "a number that is not finite"),
    "half.json": ("[1, 2", "cannot be read; write JSON such as"),
    "list.json": ("[]", "cannot be read; write JSON such as"),
    "number.json": ('{"vectors": 3}', "cannot be read; write JSON such as"),
    "ragged.json": ('{"vectors": {"a": [1, 0]}, "w_q": [[1, 2], [1]]}', "cannot be read"),
    "rows.json": ('{"vectors": {"a": [1, 0]}, "w_q": [[1, 2]]}', "w_q has 1 rows"),
    "qk.json": ('{"vectors": {"a": [1, 0]}, "w_k": [[1], [2]]}', "w_q makes 2 numbers, w_k 1"),
    "out.json": ('{"vectors": {"a": [1, 0]}, "w_v": [[1], [2]]}', "the output has 1 numbers"),
    "heads.json": (
        '{"vectors": {"a": [1]}, "w_q": [[[1]], [[1]]], "w_k": [[1]]}',
        "different numbers of heads",
    ),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken_vectors(run: Run, tmp_path: Path, name: str) -> None:
    text, message = BROKEN[name]
    (tmp_path / name).write_text(text, encoding="utf-8", errors="surrogateescape")
    done = run("explain", "a", "--vectors", name)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith(f"ctxembed: {name}: ") and message in done.stderr


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\tx\ty\na\t0.5\t0.6\n", "line 2: the weights of 'a' sum to 1.1, not 1"),
        ("\tx\ty\na\t1.5\t-0.5\n", "line 2: the weights of 'a'"),
        ("\tx\ty\na\t1\n", "2 tokens in line 1, 1 weights"),
        ("\tx\ty\na\tb\tc\n", "line 2: not a number"),
        ("", "no numbers in it"),
    ],
)
def test_broken_weights(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "w.tsv").write_text(text)
    done = run("explain", "--weights", "w.tsv")
    assert (done.returncode, done.stdout) == (5, "")
    assert message in done.stderr


def test_any_text_gets_a_clear_answer(run: Run) -> None:
    for text in ("🍎 [apple] 🍏 juice", "[apple] تفاح juice", "ein [Apple] Saft juice"):
        done = run("explain", text, "--recipe", "--no-header")
        assert done.stdout == "apple\tapple = 0.30 apple + 0.70 juice\n"
    one = run("explain", "apple")
    assert one.stdout == HEADER + "apple\tmean\tapple\t1\t\t\t\t1.000000\n"


def test_ten_thousand_words(run: Run) -> None:
    done = run("explain", "apple juice " * 5000, "--word", "apple:4000", "--general", "textbook")
    lines = done.stdout.splitlines()
    assert len(lines) == 10_001
    assert sum(Decimal(line.split("\t")[6]) for line in lines[1:]) == 1


def test_a_closed_pipe_is_quiet(tiny: Path) -> None:
    import subprocess
    import sys

    from tests.conftest import ROOT

    line = (
        f'"{sys.executable}" -m ctxembed explain "{"apple juice " * 3000}" --word apple | head -1'
    )
    done = subprocess.run(
        ["bash", "-o", "pipefail", "-c", line],
        capture_output=True,
        text=True,
        env={"PYTHONPATH": str(ROOT), "CTXEMBED_MODEL": str(tiny), "PATH": "/usr/bin:/bin"},
    )
    assert done.stdout == HEADER
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr
