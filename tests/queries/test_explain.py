"""explain: exact output on the small fixed model, the check, and every way to ask wrongly."""

import json
import math
import re
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import ctxembed
from ctxembed.context.parse import parse
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.errors import CtxembedError
from ctxembed.explanation.explanation import Explanation, check_rows, trace_targets
from ctxembed.explanation.heads import lay_out_heads
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.table import Cell, Row, Table, round_to_total
from tests.conftest import WORDS, Run, in_bash, mentions

HEADER = "target\thead\ttoken\tposition\tscore\tscale\tsum\texponential\tweight\tcontribution\n"
MEAN = "target\thead\ttoken\tposition\tweight\tcontribution\n"


def softmax(scores: list[float]) -> list[float]:
    raised = [math.exp(score) for score in scores]
    return [number / sum(raised) for number in raised]


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def blackboard(words: list[str], target: str, scale: float) -> list[tuple[float, ...]]:
    """Compute score, sum, weight and contribution by hand."""
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
        assert (row["target"], row["head"], row["scale"]) == ("apple", "1", scale)
        result = [row[name] for name in ("score", "sum", "weight", "contribution")]
        assert result == pytest.approx(numbers, abs=1e-6)  # vectors are stored as float32


ASK = ("explain", "[phone] launched", "--general", "textbook")
TSV = (  # .8 = (0,1,0,0)·(0,.8,.6,0); softmax(1, .8); the shares are checked by hand above
    HEADER + "phone\t1\tphone\t1\t1.000000\t1.000000\t1.000000\t2.718282\t0.549834\t0.555310\n"
    "phone\t1\tlaunched\t2\t0.800000\t1.000000\t0.800000\t2.225541\t0.450166\t0.444690\n"
)


def test_every_format(run: Run) -> None:
    assert run(*ASK).stdout == TSV
    assert run(*ASK, "-f", "csv", "--precision", "6").stdout == TSV.replace("\t", ",")
    assert run(*ASK, "--no-header").stdout == TSV[len(HEADER) :]
    assert run(*ASK, "-f", "table").stdout == (
        "phone, head 1\n"
        "sum = 1 score; exponential = e^sum; weight = exponential / the sum of all\n\n"
        "token      score   scale     sum  exponential  weight  contribution\n"
        "--------  ------  ------  ------  -----------  ------  ------------\n"
        "phone     1.0000  1.0000  1.0000       2.7183  0.5498        0.5553\n"
        "launched  0.8000  1.0000  0.8000       2.2255  0.4502        0.4447\n\n"
    )
    assert run(*ASK, "-f", "markdown", "--precision", "2").stdout == (
        "phone, head 1\n"
        "sum = 1 score; exponential = e^sum; weight = exponential / the sum of all\n\n"
        "| token    | score | scale |  sum | exponential | weight | contribution |\n"
        "|----------|-------|-------|------|-------------|--------|--------------|\n"
        "| phone    |  1.00 |  1.00 | 1.00 |        2.72 |   0.55 |         0.56 |\n"
        "| launched |  0.80 |  1.00 | 0.80 |        2.23 |   0.45 |         0.44 |\n\n"
    )
    lines = [json.loads(line) for line in run(*ASK, "-f", "jsonl").stdout.splitlines()]
    assert lines == json.loads(run(*ASK, "-f", "json").stdout)
    assert lines[0]["weight"] == pytest.approx(softmax([1, 0.8])[0], abs=1e-7)


def test_each_head_and_the_word_itself(run: Run) -> None:
    done = run("explain", "[bank] of the river", "--head", "each")
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert mentions(done.stderr, "vocabulary of")
    head_ = done.stdout.splitlines()[0].split("\t")
    terms = ["distance", "word"]
    last = ["sum", "exponential", "weight", "contribution"]
    assert head_[4:] == ["score", "scale", *terms, *last]
    assert [line[1] for line in lines] == [*"1111222233334444", "own"]
    # of, the second word, is unknown: a row without numbers
    assert lines[1] == ["bank", "1", "of", "2", *[""] * 8]
    # cosine of (0,0,.8,.6) with the four equal numbers is .7, with the river .6; slopes 0 to .5
    assert [line[4] for line in lines[:4]] == ["", "", "0.700000", "0.600000"]
    damp = math.log(1e-3 / (1e-3 + 6 / 22))
    for head, slope in enumerate((0.0, 0.05, 0.2, 0.5)):
        _, _, _, position, score, scale, distance, word, total, *_ = lines[4 * head + 2]
        assert (position, float(score), float(scale)) == ("3", 0.7, 6)
        assert float(distance) == -slope
        assert float(word) == pytest.approx(damp, abs=1e-6)
        assert float(total) == pytest.approx(6 * 0.7 + damp - slope, abs=2e-6)
    assert sum(Decimal(line[11]) for line in lines if line[11]) == 1
    one = run("explain", "[bank] of the river", "--head", "2").stdout.splitlines()[1:]
    assert one == ["\t".join(line) for line in lines[4:8]]


def test_the_mean_over_heads_is_one_of_weights_only(run: Run) -> None:
    done = run("explain", "[bank] of the river", "-f", "json")
    assert done.stderr.endswith(
        "ctxembed: 4 heads: weight is the mean of theirs; --head each shows each step\n"
    )
    rows = json.loads(done.stdout)
    assert list(rows[0]) == MEAN.split()
    each = json.loads(run("explain", "[bank] of the river", "--head", "each", "-f", "json").stdout)
    for row in rows:
        heads = [r for r in each if r["position"] == row["position"]]
        if row["token"] in ("the", "river"):
            assert row["weight"] == pytest.approx(sum(r["weight"] for r in heads) / 4)
        else:
            assert row["weight"] is None
    assert sum(row["contribution"] or 0 for row in rows) == pytest.approx(1)


BUNDLED = pytest.mark.skipif(
    not bundled_model("everyday").is_dir(), reason="there is no bundled model in this checkout"
)
ATTENTIONS = [
    ("--attention", "learned"),
    ("--general", "cosine"),
    ("--general", "scaled"),
    ("--attention", "random", "--heads", "3"),
]


@BUNDLED
@pytest.mark.parametrize("attention", ATTENTIONS, ids=lambda a: a[1])
@pytest.mark.parametrize("form", ["json", "tsv"])
def test_each_column_follows_from_the_printed_row(
    run: Run, attention: tuple[str, ...], form: str
) -> None:
    """Recompute each row with a pocket calculator: the sum, and within a head the softmax."""
    text = "she put the money in the qqq bank while the river was high"
    done = run(
        *("explain", text, "--word", "bank", "--head", "each", "-f", form, *attention),
        env={"CTXEMBED_MODEL": str(bundled_model("everyday"))},
    )
    rows = json.loads(done.stdout) if form == "json" else read_tsv(done.stdout)
    names = list(rows[0])
    terms = names[names.index("scale") + 1 : names.index("sum")]
    near = 1e-9 if form == "json" else 1e-4  # six digits times the scale
    for head in dict.fromkeys(row["head"] for row in rows if row["head"] != "own"):
        mine = [row for row in rows if row["head"] == head and row["sum"] is not None]
        assert len(mine) >= 10
        for row in mine:
            total = row["score"] * row["scale"] + sum(row[term] for term in terms)
            assert row["sum"] == pytest.approx(total, abs=near)
        raised = [math.exp(row["sum"]) for row in mine]
        assert [row["exponential"] for row in mine] == pytest.approx(raised, rel=1e-4, abs=near)
        for row, number in zip(mine, raised, strict=True):
            assert row["weight"] == pytest.approx(number / sum(raised), abs=near)
        assert sum(row["weight"] for row in mine) == pytest.approx(1, abs=1e-9)
    assert sum(row["contribution"] or 0 for row in rows) == pytest.approx(1, abs=1e-9)


def read_tsv(text: str) -> list[dict[str, Any]]:
    """Read the rows of a table, numbers as numbers, empty cells as None."""
    head, *lines = [line.split("\t") for line in text.splitlines()]

    def value(name: str, cell: str) -> object:
        return cell if name in ("target", "head", "token") else float(cell) if cell else None

    return [{n: value(n, c) for n, c in zip(head, line, strict=True)} for line in lines]


@BUNDLED
@pytest.mark.parametrize("attention", ATTENTIONS, ids=lambda a: a[1])
def test_scores_are_the_products_of_the_matrices(run: Run, attention: tuple[str, ...]) -> None:
    """q·k, the sum, the softmax and the output, from the matrices of --steps by plain loops."""
    done = run(
        *("explain", "money bank grows", "--steps", "-f", "json", *attention),
        env={"CTXEMBED_MODEL": str(bundled_model("everyday"))},
    )
    matrices: dict[tuple[str, int | None], list[list[float]]] = {}
    for row in json.loads(done.stdout):
        matrix = matrices.setdefault((row["step"], row["head"]), [])
        if row["column"] == 1:
            matrix.append([])
        matrix[-1].append(-math.inf if row["value"] is None else row["value"])
    for (name, head), scores in matrices.items():
        if name != "scores":
            continue
        q, k = (matrices.get((side, head), matrices["E", None]) for side in "QK")
        size = [[math.sqrt(dot(v, v)) for v in side] if "cosine" in attention else [1.0] * 3
                for side in (q, k)]  # fmt: skip
        for i, a in enumerate(q):
            products = [dot(a, b) / size[0][i] / size[1][j] for j, b in enumerate(k)]
            assert scores[i] == pytest.approx(products, abs=1e-5)
            raised = [math.exp(number) for number in matrices["sum", head][i]]
            weights = [number / sum(raised) for number in raised]
            assert matrices["weights", head][i] == pytest.approx(weights, abs=1e-9)


def test_sort_and_top(run: Run) -> None:
    ask = ("explain", "the [bank] of money river", "--head", "1", "-f", "json")
    rows = json.loads(run(*ask).stdout)
    by_weight = json.loads(run(*ask, "--sort", "weight").stdout)
    weights = [row["weight"] for row in by_weight if row["weight"] is not None]
    assert weights == sorted(weights, reverse=True)
    assert sorted(map(str, rows)) == sorted(map(str, by_weight))
    done = run(*ask, "--top", "2")
    heaviest = {row["token"] for row in by_weight[:2]}
    kept = json.loads(done.stdout)
    assert kept == [row for row in rows if row["token"] in heaviest]  # in the order of the text
    assert mentions(done.stderr, "2~heaviest words to~1")
    both = json.loads(run(*ask, "--top", "2", "--sort", "weight").stdout)
    assert both == by_weight[:2]
    each = json.loads(run(*ask[:2], "--head", "each", "--top", "1", "-f", "json").stdout)
    assert [row["head"] for row in each] == ["1", "2", "3", "4"]


def test_several_sentences_have_their_numbers(run: Run) -> None:
    done = run("explain", "the [apple] juice", "[bank] river", "--recipe")
    assert done.stdout.splitlines() == [
        "sentence\ttarget\trecipe",
        "1\tapple\t"
        + run("explain", "the [apple] juice", "--recipe").stdout.split("\t")[-1].strip(),
        "2\tbank\tbank = 0.30 bank + 0.70 river",
    ]
    rows = json.loads(run("explain", "the [apple] juice", "[bank] river", "-f", "json").stdout)
    assert {(row["sentence"], row["target"]) for row in rows} == {(1, "apple"), (2, "bank")}
    wrong = run("explain", "[apple]", "[bank]", "--steps")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert mentions(wrong.stderr, "--steps sentence")


def test_without_a_marked_target_content_words_are_the_targets(run: Run) -> None:
    done = run("explain", "the apple launched the phone", "--no-header")
    targets = {line.split("\t")[0] for line in done.stdout.splitlines()}
    assert targets == {"apple", "launched", "phone"}


@pytest.mark.parametrize("digits", range(18))
def test_printed_weights_sum_to_exactly_1(run: Run, model: Model, digits: int) -> None:
    from ctxembed.output.render import render

    text = "the apple juice launched the orange phone bank money river sweet"
    for head, groups in (("mean", 1), ("each", 4)):
        for target in text.split()[1:3]:
            table = ctxembed.explain(model, text, word=target, head=head)
            lines = list(render(table, "tsv", precision=digits))[1:]
            cells = [line.rstrip("\n").split("\t") for line in lines]
            assert sum(Decimal(cell[-2]) for cell in cells if cell[-2]) == groups
            assert sum(Decimal(cell[-1]) for cell in cells) == 1


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
        "E",
        "scores",
        "scores",
        "sum",
        "sum",
        "weights",
        "weights",
        "output",
        "output",
    ]  # a formula, then the matrix
    assert "weights = softmax of each row of sum (2 × 2)\n" in shown


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
        *((name, 1) for name in ("Q", "K", "V", "scores", "sum", "weights")),
        *((name, 2) for name in ("Q", "K", "V", "scores", "sum", "weights")),
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
        representation = cast(Attention, Representations(model).get(name, which, heads, seed=2))
        for encoding in ("none", "sinusoidal"):
            for over in (None, parse(model, "the money launched")):
                for text in ("bank the river", "[bank the] river bank", "apple"):
                    parsed = parse(model, text)
                    for item in trace_targets(representation, parsed, over=over, encoding=encoding):
                        check_rows(item.rows("each"), item)


def rows_of(model: Model, name: str) -> tuple[list[list[Cell]], Explanation]:
    representation = cast(Attention, Representations(model).get(name, heads=2))
    item = next(
        trace_targets(representation, parse(model, "bank qq the river"), encoding="sinusoidal")
    )
    return [list(row) for row in item.rows("each")], item


@pytest.mark.parametrize("name", ["general", "random"])
def test_tampering_with_any_number_fails(model: Model, name: str) -> None:
    rows, trace = rows_of(model, name)
    check_rows(rows, trace)
    tampered = 0
    for row in rows:
        for column in range(3, len(row)):
            value = row[column]
            if isinstance(value, float):
                row[column] = value + 1e-3
                with pytest.raises(CtxembedError, match="check failed for"):
                    check_rows(rows, trace)
                row[column] = value
                tampered += 1
    assert tampered > 20
    check_rows(rows, trace)


def test_check_from_the_shell(run: Run) -> None:
    done = run("explain", "[bank] of the river", "--check", "-q")
    assert (done.returncode, done.stderr) == (0, "")
    done = run("explain", "[bank] of the river", "--check", "--attention", "random")
    assert "ctxembed: checked: the rows add up\n" in done.stderr


# a file of vectors | its text | words of the message
BROKEN = r"""
short.tsv | a\t1\t2\nb\t1\n | length
word.tsv | a\tfoo\n | line~1 number foo
twice.tsv | a\t1\nA\t2\n | 'a'
empty.tsv |  | numbers
bytes.tsv | \udcff | line~1 0xff utf-8
nan.json | {"a": [1, NaN]} | number finite
half.json | [1, 2 | JSON
list.json | [] | JSON
number.json | {"vectors": 3} | JSON
ragged.json | {"vectors": {"a": [1, 0]}, "w_q": [[1, 2], [1]]} | read
rows.json | {"vectors": {"a": [1, 0]}, "w_q": [[1, 2]]} | w_q 1~rows
qk.json | {"vectors": {"a": [1, 0]}, "w_k": [[1], [2]]} | w_q 2 w_k 1
out.json | {"vectors": {"a": [1, 0]}, "w_v": [[1], [2]]} | output 1~numbers
heads.json | {"vectors": {"a": [1]}, "w_q": [[[1]], [[1]]], "w_k": [[1]]} | numbers heads
"""


@pytest.mark.parametrize("row", BROKEN.strip().splitlines())
def test_broken_vectors(run: Run, tmp_path: Path, row: str) -> None:
    name, text, words = row.split(" | ")
    content = text.encode().decode("unicode_escape")
    (tmp_path / name).write_text(content, encoding="utf-8", errors="surrogateescape")
    done = run("explain", "a", "--vectors", name)
    assert (done.returncode, done.stdout) == (5, "")
    assert done.stderr.startswith(f"ctxembed: {name}: ") and mentions(done.stderr, words)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\tx\ty\na\t0.5\t0.6\n", "line 2: the weights of 'a' sum to 1.1, not 1"),
        ("\tx\ty\na\t1.5\t-0.5\n", "line 2: the weights of 'a'"),
        ("\tx\ty\na\t1\n", "2 tokens in line 1, 1 weights"),
        ("\tx\ty\na\tb\tc\n", "line 2: not a number"),
        ("", "no numbers"),
    ],
)
def test_broken_weights(run: Run, tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "w.tsv").write_text(text)
    done = run("explain", "--weights", "w.tsv")
    assert (done.returncode, done.stdout) == (5, "")
    assert mentions(done.stderr, message)


def test_any_text_gets_a_clear_answer(run: Run) -> None:
    for text in ("🍎 [apple] 🍏 juice", "[apple] تفاح juice", "ein [Apple] Saft juice"):
        done = run("explain", text, "--recipe", "--no-header")
        assert done.stdout == "apple\tapple = 0.30 apple + 0.70 juice\n"
    one = run("explain", "apple")
    assert one.stdout == MEAN + "apple\tmean\tapple\t1\t\t1.000000\n"


def test_ten_thousand_words(run: Run) -> None:
    done = run("explain", "apple juice " * 5000, "--word", "apple:4000", "--general", "textbook")
    lines = done.stdout.splitlines()
    assert len(lines) == 10_001
    assert sum(Decimal(line.split("\t")[8]) for line in lines[1:]) == 1


@pytest.mark.posix
def test_a_closed_pipe_is_quiet(tiny: Path) -> None:
    done = in_bash(f'ctxembed explain "{"apple juice " * 3000}" --word apple | head -1', tiny)
    assert done.stdout == MEAN
    assert "Traceback" not in done.stderr and "Broken" not in done.stderr


@pytest.fixture(scope="module")
def hundred(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a hundred dimensions."""
    folder = tmp_path_factory.mktemp("wide")
    words = [f"word{i}" for i in range(40)]
    vectors = np.random.default_rng(1).normal(0, 9, (40, 100))
    rows = "".join(f"{w} {' '.join(map(str, v))}\n" for w, v in zip(words, vectors, strict=True))
    (folder / "v.txt").write_text(rows)
    ctxembed.import_(str(folder / "v.txt"), str(folder / "model"))
    return folder / "model"


def test_steps_of_many_dimensions_fit_a_page(run: Run, tmp_path: Path, hundred: Path) -> None:
    text = " ".join(f"word{i}" for i in range(20))
    ask = ("explain", text, "--steps", "--attention", "random", "--heads", "2", "-m", str(hundred))
    shown = run(*ask, "-f", "table", env={"COLUMNS": "80"}).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "Q_1 = E W_Q_1 (20 × 50)\n" in shown
    assert "sum_2 = 0.1414 scores_2 (20 × 20)\n" in shown  # 1/√50
    assert "output = the sum over h of weights_h V_h W_O_h (20 × 100)\n" in shown
    assert shown.count("…") > 20
    one = run(*ask, "-f", "table", "--head", "2", env={"COLUMNS": "80"}).stdout
    assert "Q_2 =" in one and "Q_1 =" not in one
    done = run(*ask, "-o", "steps.npz")
    assert done.stdout == ""
    assert mentions(done.stderr, "14~matrices steps.npz")
    whole = json.loads(run(*ask, "-f", "json").stdout)
    with np.load(tmp_path / "steps.npz") as file:
        assert file["E"].shape == (20, 100)
        assert file["weights_2"].shape == (20, 20)
        for name, head in (("Q", 1), ("weights", 2), ("output", None)):
            mine = [r["value"] for r in whole if (r["step"], r["head"]) == (name, head)]
            np.testing.assert_allclose(
                file[name if head is None else f"{name}_{head}"].ravel(), mine, atol=1e-12
            )


@BUNDLED
def test_a_recipe_of_learned_attention_names_the_word_itself(run: Run) -> None:
    env: dict[str, str | None] = {"CTXEMBED_MODEL": str(bundled_model("everyday"))}
    ask = ("explain", "money [bank] grows", "--attention", "learned")
    rows = json.loads(run(*ask, "-f", "json", env=env).stdout)
    own = next(row["contribution"] for row in rows if row["token"] == "bank")
    shown = run(*ask, "--recipe", "--no-header", "--precision", "6", env=env).stdout
    terms = [term.split() for term in shown.split(" = ")[1].split(" + ")]
    weights = {token: float(number) for number, token in terms}
    assert sum(Decimal(number) for number, _ in terms) == 1
    assert weights["bank"] == pytest.approx(own, abs=2e-6)
    for row in rows:
        if row["weight"] is not None:
            expected = (1 - own) * row["weight"]
            assert weights[row["token"]] == pytest.approx(expected, abs=2e-6)


@BUNDLED
@pytest.mark.parametrize("name", ["english", "everyday"])
def test_each_head_fits_a_page(run: Run, name: str) -> None:
    text = "[Apple] launched a new telephone while I was qqq eating an orange"
    done = run("explain", text, "--head", "each", "-f", "table", "-m", name, env={"COLUMNS": "80"})
    assert max(map(len, done.stdout.splitlines())) <= 80
    steps = re.findall(r"^apple, head (\d+)\nsum = [\d.]+ score \+ .*$", done.stdout, flags=re.M)
    weights = re.findall(
        r"^apple, head (\d+)\nexponential = e\^sum; weight = exponential / the sum of all$",
        done.stdout, flags=re.M,
    )  # fmt: skip
    assert steps == weights == ["1", "2", "3", "4"][: len(steps)]
    assert steps
    assert done.stdout.count("wall: a penalty for clause borders between the words\n") == 1
    assert "apple: the word itself, added apart from the heads\n" in done.stdout
    assert "has no weight" in done.stderr


def test_large_sums_are_shown_less_the_largest(run: Run, tmp_path: Path) -> None:
    """e^36 fills a column; softmax is the same if one number is taken from all sums."""
    (tmp_path / "large.tsv").write_text("six\t6\t0\nfive\t5\t1\n")
    ask = ("explain", "[six] five", "--vectors", "large.tsv")
    first, second = json.loads(run(*ask, "-f", "json").stdout)
    assert (first["sum"], second["sum"]) == (36, 30)
    assert first["exponential"] == 1
    assert second["exponential"] == pytest.approx(math.exp(-6))
    assert second["weight"] == pytest.approx(math.exp(-6) / (1 + math.exp(-6)))
    shown = run(*ask, "-f", "table").stdout
    assert "exponential = e^(sum - 36.0000); weight" in shown
    assert run(*ask, "--check").returncode == 0


def test_a_page_has_room_for_more_terms() -> None:
    """A layer may have other terms than today's: the page reads their names from the table."""
    names = ["target", "head", "token", "position", "score", "scale"]
    terms = ["distance", "word", "wall", "clause", "topic"]
    rows: list[Row] = [
        ("apple", "1", "phone", 1, 2.0, 0.5, *[0.1] * 5, 1.5, 4.4817, 1.0, 0.9),
        ("apple", "own", "apple", *[None] * 11, 0.1),
    ]
    table = Table([*names, *terms, "sum", "exponential", "weight", "contribution"], rows)
    first, second, own = lay_out_heads(table)
    assert first.title.startswith(
        "apple, head 1\nsum = 0.5 score + distance + word + wall + clause + topic\ndistance: "
    )
    assert first.names == ["token", "score", "scale", *terms, "sum"]
    assert second.names == ["token", "sum", "exponential", "weight", "contribution"]
    assert (own.names, list(own.rows)) == (["token", "contribution"], [("apple", 0.1)])
