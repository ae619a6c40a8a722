"""Ablation of each context word: by hand, against scipy, and as printed."""

import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.context.parse import parse
from ctxembed.context.representation import Attention
from ctxembed.context.representations import Representations
from ctxembed.model.model import Model
from ctxembed.queries.ablate import ablate
from ctxembed.stats.rank_correlation import ranks, spearman
from tests.conftest import Run, mentions

SENTENCE = "the [apple] launched the phone"
AXES = ("--axis", "taste=orange", "--axis", "tech=phone")
TSV = """\
sentence	target	removed	position	weight	change	taste	tech	spearman	contribution
1	apple	the	1	0.327650	0.009453	-0.068092	0.087493	0.400000	0.260277
1	apple	launched	3	0.198098	0.004078	0.042654	-0.035757	0.400000	0.125973
1	apple	the	4	0.270203	0.007895	-0.057959	0.082342	0.400000	0.214643
1	apple	phone	5	0.204049	0.009481	0.035100	-0.101034	0.400000	0.116424
"""
TABLE = """\
sentence  target  removed   position  weight  change    taste     tech  spearman
--------  ------  --------  --------  ------  ------  -------  -------  --------
       1  apple   the              1  0.3277  0.0095  -0.0681   0.0875    0.4000
       1  apple   launched         3  0.1981  0.0041   0.0427  -0.0358    0.4000
       1  apple   the              4  0.2702  0.0079  -0.0580   0.0823    0.4000
       1  apple   phone            5  0.2040  0.0095   0.0351  -0.1010    0.4000
"""
MARKDOWN = """\
| sentence | target | removed  | position | weight | change |   taste |    tech | spearman | contribution |
|----------|--------|----------|----------|--------|--------|---------|---------|----------|--------------|
|        1 | apple  | the      |        1 | 0.3277 | 0.0095 | -0.0681 |  0.0875 |   0.4000 |       0.2603 |
|        1 | apple  | launched |        3 | 0.1981 | 0.0041 |  0.0427 | -0.0358 |   0.4000 |       0.1260 |
|        1 | apple  | the      |        4 | 0.2702 | 0.0079 | -0.0580 |  0.0823 |   0.4000 |       0.2146 |
|        1 | apple  | phone    |        5 | 0.2040 | 0.0095 |  0.0351 | -0.1010 |   0.4000 |       0.1164 |
"""  # noqa: E501


def records() -> list[dict[str, object]]:
    head, *lines = [line.split("\t") for line in TSV.splitlines()]
    return [
        {
            n: c if n in ("target", "removed") else json.loads(c)
            for n, c in zip(head, line, strict=True)
        }
        for line in lines
    ]


@pytest.mark.parametrize(
    ("form", "expected"),
    [("tsv", TSV), ("csv", TSV.replace("\t", ",")), ("table", TABLE), ("markdown", MARKDOWN)],
)
def test_output(run: Run, form: str, expected: str) -> None:
    done = run("ablate", SENTENCE, *AXES, "-f", form, *(["--precision", "6"] * (form == "csv")))
    assert (done.stdout, done.returncode) == (expected, 0)
    assert mentions(done.stderr, "0.40 4~words")


def test_json(run: Run) -> None:
    whole = run("ablate", SENTENCE, *AXES, "-f", "json", "--precision", "6", "-q")
    lines = run("ablate", SENTENCE, *AXES, "-f", "jsonl", "--precision", "6")
    assert json.loads(whole.stdout) == records()
    assert [json.loads(line) for line in lines.stdout.splitlines()] == records()
    assert whole.stderr == ""


def test_the_textbook_by_hand(run: Run, tmp_path: Path) -> None:
    """a = [1, 0], b = [0, 1]: weights e : 1 : 1, and without one b e : 1."""
    (tmp_path / "ab.tsv").write_text("a\t1\t0\nb\t0\t1\n")
    done = run("ablate", "[a] b b", "--vectors", "ab.tsv", "-f", "json")
    e = np.e
    cosine = (e * e + 2) / np.sqrt((e * e + 4) * (e * e + 1))
    for row, position in zip(json.loads(done.stdout), (2, 3), strict=True):
        assert (row["removed"], row["position"], row["spearman"]) == ("b", position, None)
        assert row["weight"] == pytest.approx(1 / (e + 2))
        assert row["change"] == pytest.approx(1 - cosine)
        assert row["contribution"] == pytest.approx(2 / (e * e + 4))  # of [e, 2] / (e + 2)
    assert mentions(done.stderr, "little compare")


def test_the_vector_without_a_word_is_the_vector_of_the_shorter_sentence(model: Model) -> None:
    representations = Representations(model)
    general = representations.get("general")
    assert isinstance(general, Attention)
    (whole,) = general.vectors(parse(model, "the [apple] launched phone").occurrences)
    (short,) = general.vectors(parse(model, "the [apple] phone").occurrences)
    cosine = whole @ short / np.linalg.norm(whole) / np.linalg.norm(short)
    table = ablate(model, "the [apple] launched phone", attention="general")
    assert table.records()[1]["change"] == pytest.approx(1 - cosine, abs=1e-6)


def test_a_span_is_one_target(run: Run) -> None:
    done = run("ablate", "the [apple juice] sweet river", "-f", "json")
    rows = json.loads(done.stdout)
    assert [(row["target"], row["removed"], row["position"]) for row in rows] == [
        ("apple juice", "the", 1),
        ("apple juice", "sweet", 4),
        ("apple juice", "river", 5),
    ]
    assert sum(row["weight"] for row in rows) == pytest.approx(1)


def test_sentences_from_stdin_and_content_words(run: Run) -> None:
    done = run("ablate", "-", stdin="the [bank] money\norange juice sweet\n")
    targets = [tuple(line.split("\t")[:3]) for line in done.stdout.splitlines()[1:]]
    assert targets[:3] == [("1", "bank", "the"), ("1", "bank", "money"), ("2", "orange", "juice")]
    assert len(targets) == 2 + 6
    assert mentions(done.stderr, "over~3~targets mean")  # juice has two equal weights


def test_unknown_words_are_named(run: Run) -> None:
    done = run("ablate", "the [apple] quay phone")
    assert mentions(done.stderr, "vocabulary quay")


def test_ranks_agree_with_scipy() -> None:
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(3)
    for size in (2, 5, 40):
        one, other = rng.integers(0, 5, size), rng.normal(size=size).round(1)
        ranked = ranks(other, np.ones((1, len(other))))
        np.testing.assert_array_equal(ranked[0], stats.rankdata(other))
        if len(set(one)) > 1 and len(set(other)) > 1:
            assert spearman(one, other) == pytest.approx(stats.spearmanr(one, other).statistic)
    assert spearman([1, 1, 1], [1, 2, 3]) is None
