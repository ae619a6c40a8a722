"""The worked examples of the notes, each by a command, each number by hand."""

import json
import math

import pytest

from ctxembed.model.bundled import bundled_model, corpora_directory
from tests.conftest import Run, mentions

Vectors = list[list[float]]
BANK = {
    "money": [1, 0, 0.2],
    "bank": [0.7, 0.7, 0],
    "river": [0, 1, 0.2],
    "grows": [0.5, 0, 0.5],
    "flows": [0, 0.5, 0.5],
}


def softmax(scores: list[float]) -> list[float]:
    raised = [math.exp(score) for score in scores]
    return [number / sum(raised) for number in raised]


def dot(a: list[float], b: list[float]) -> float:
    return sum(x * y for x, y in zip(a, b, strict=True))


def self_attention(vectors: list[list[float]]) -> tuple[list[list[float]], ...]:
    """Compute E Eᵀ, the softmax of each row, and their product with E, in plain loops."""
    scores = [[dot(a, b) for b in vectors] for a in vectors]
    weights = [softmax(row) for row in scores]
    output = []
    for row in weights:
        new = [0.0] * len(vectors[0])
        for similarity, value in zip(row, vectors, strict=True):
            for position, number in enumerate(value):
                new[position] += number * similarity  # newValue += value * similarity(query, key)
        output.append(new)
    return scores, weights, output


def matrices(run: Run, *arguments: str) -> dict[tuple[str, int | None], list[list[float]]]:
    """Read the tidy rows of --steps back into matrices."""
    done = run("explain", *arguments, "--steps", "-f", "json")
    assert done.returncode == 0, done.stderr
    by_step: dict[tuple[str, int | None], list[list[float]]] = {}
    for row in json.loads(done.stdout):
        matrix = by_step.setdefault((row["step"], row["head"]), [])
        if row["column"] == 1:
            matrix.append([])
        matrix[-1].append(row["value"])
    return by_step


def close(actual: list[list[float]], expected: list[list[float]]) -> bool:
    return all(
        a == pytest.approx(b, abs=1e-6) for a, b in zip(actual, expected, strict=True)
    )  # vectors are kept as float32


@pytest.mark.parametrize(
    ("name", "table"),
    [
        (
            "money-bank",
            {
                "money": "money = 0.70 money + 0.20 bank + 0.10 grows",
                "bank": "bank = 0.25 money + 0.70 bank + 0.05 grows",
                "grows": "grows = 0.10 money + 0.20 bank + 0.70 grows",
            },
        ),
        (
            "river-bank",
            {
                "river": "river = 0.80 river + 0.15 bank + 0.05 flows",
                "bank": "bank = 0.20 river + 0.78 bank + 0.02 flows",
                "flows": "flows = 0.40 river + 0.01 bank + 0.59 flows",
            },
        ),
        ("tea", {"tea": "tea = 0.50 milk + 0.20 leaves + 0.20 sugar + 0.10 ginger"}),
    ],
)
def test_hand_picked_weights(run: Run, name: str, table: dict[str, str]) -> None:
    done = run("explain", "--weights", name, "--recipe", "--no-header")
    assert done.stdout == "".join(f"{word}\t{recipe}\n" for word, recipe in table.items())
    assert mentions(done.stderr, "illustration computed")
    rows = json.loads(run("explain", "--weights", name, "-f", "json").stdout)
    for word, recipe in table.items():
        terms = [term.split() for term in recipe.split(" = ")[1].split(" + ")]
        weights = [(r["token"], r["weight"]) for r in rows if r["target"] == word]
        assert weights == [(token, float(weight)) for weight, token in terms]
        assert sum(weight for _, weight in weights) == pytest.approx(1)
    last = list(table)[-1]
    one = run("explain", "--weights", name, "--word", last, "--recipe", "--no-header")
    assert one.stdout == f"{last}\t{table[last]}\n"


def test_vectors_of_phone_and_fruit_are_orthogonal(run: Run) -> None:
    done = run("explain", "phone fruit", "--vectors", "phone-fruit", "--steps")
    assert "scores\t\t1\tphone\t2\tfruit\t0.000000\n" in done.stdout
    own = math.e / (math.e + 1)  # softmax(1, 0)
    rows = run("explain", "[phone] fruit", "--vectors", "phone-fruit", "--no-header").stdout
    first = f"phone\t1\tphone\t1\t1.000000\t1.000000\t1.000000\t{math.e:.6f}\t{own:.6f}\t"
    assert rows.startswith(first)
    other = f"phone\t1\tfruit\t2\t0.000000\t1.000000\t0.000000\t1.000000\t{1 - own:.6f}\t"
    assert other in rows
    compared = run("similarity", "phone", "fruit", "--pairs", "-m", "nosuch")
    assert compared.returncode == 3  # these two come from --vectors, not from a model


def test_new_bank_is_a_softmax_over_dot_products(run: Run) -> None:
    words = ["money", "bank", "grows"]
    scores = [0.7, 0.98, 0.35]  # bank·money, bank·bank, bank·grows
    assert scores == pytest.approx([dot(BANK["bank"], BANK[word]) for word in words])
    done = run("explain", "money [bank] grows", "--vectors", "bank", "-f", "json")
    rows = json.loads(done.stdout)
    assert [row["score"] for row in rows] == pytest.approx(scores, abs=1e-6)
    assert [row["weight"] for row in rows] == pytest.approx(softmax(scores), abs=1e-6)
    recipe = run("explain", "money [bank] grows", "--vectors", "bank", "--recipe", "--no-header")
    assert recipe.stdout == "bank\tbank = 0.33 money + 0.44 bank + 0.23 grows\n"


@pytest.mark.parametrize("text", ["money bank grows", "river bank flows"])
def test_all_words_at_once_are_one_product(run: Run, text: str) -> None:
    scores, weights, output = self_attention([list(BANK[word]) for word in text.split()])
    steps = matrices(run, text, "--vectors", "bank")
    assert close(steps["scores", None], scores)  # E Eᵀ (3×3)
    assert close(steps["weights", None], weights)
    assert close(steps["output", None], output)  # weights × E (3×n)


def test_one_static_vector_two_contextual_ones(run: Run) -> None:
    ask = ("compare", "money [bank] grows", "river [bank] flows", "--vectors", "bank", "-f", "json")
    rows = {(r["sentence"], r["representation"]): r for r in json.loads(run(*ask).stdout)}
    vectors = [
        self_attention([list(BANK[word]) for word in text.split()])[2][1]
        for text in ("money bank grows", "river bank flows")
    ]
    cosine = dot(*vectors) / math.sqrt(dot(vectors[0], vectors[0]) * dot(vectors[1], vectors[1]))
    assert rows[2, "general"]["cos_first"] == pytest.approx(cosine, abs=1e-6)
    assert rows[2, "static"]["cos_first"] == pytest.approx(1.0, abs=1e-12)
    assert rows[1, "general"]["because"][0]["word"] == "money"
    assert rows[2, "general"]["because"][0]["word"] == "river"


@pytest.mark.parametrize(
    ("name", "output"), [("scaling", [[2.0, 0.0]]), ("rotation", [[0.0, 1.0]])]
)
def test_a_matrix_scales_or_turns(run: Run, name: str, output: list[list[float]]) -> None:
    steps = matrices(run, "phone", "--vectors", name)  # alone, its weight is 1: only W_V acts
    assert steps["E", None] == [[1.0, 0.0]]
    assert steps["output", None] == output


def test_positions_are_sine_waves_added(run: Run) -> None:
    words = ["money", "bank", "grows"]
    waves = [[math.sin(p), math.cos(p), math.sin(p / 10000 ** (2 / 3))] for p in range(3)]
    x = [
        [a + b for a, b in zip(BANK[w], wave, strict=True)]
        for w, wave in zip(words, waves, strict=True)
    ]
    steps = matrices(run, "money bank grows", "--vectors", "bank", "--encoding", "sinusoidal")
    assert close(steps["P", None], waves)
    assert close(steps["X", None], x)
    assert close(steps["output", None], self_attention(x)[2])


def test_several_heads_are_several_points_of_view(run: Run) -> None:
    done = run(
        "explain",
        "the [apple] phone",
        "--attention",
        "random",
        "--heads",
        "2",
        "--steps",
        "-f",
        "json",
    )
    names = {(row["step"], row["head"]) for row in json.loads(done.stdout)}
    assert {("weights", 1), ("weights", 2)} <= names
    steps = matrices(run, "the apple phone", "--attention", "random", "--heads", "2")
    for head in (1, 2):
        q, k = steps["Q", head], steps["K", head]
        scaled = [[dot(a, b) / math.sqrt(2) for b in k] for a in q]  # 4 numbers, 2 a head
        assert close(steps["weights", head], [softmax(row) for row in scaled])
    assert not close(steps["weights", 1], steps["weights", 2])


def test_cross_attention_looks_at_another_sentence(run: Run) -> None:
    steps = matrices(run, "bank", "--over", "river flows", "--vectors", "bank")
    scores = [dot(BANK["bank"], BANK[word]) for word in ("river", "flows")]
    assert close(steps["scores", None], [scores])
    weights = softmax(scores)
    expected = [dot(weights, [BANK[word][i] for word in ("river", "flows")]) for i in range(3)]
    assert close(steps["output", None], [expected])


# The dimensions of english-urdu: asking, hearer, speaker, being, well, easy, food, part.
HOW, ARE, YOU = [2, 0, 0, 0, 0, 0, 0, 0], [0, 1, 0, 2, 0, 0, 0, 0], [0, 2, 0, 0, 0, 0, 0, 0]
ME, AM, GOOD = [0, 0, 2, 0, 0, 0, 0, 0], [0, 0, 1, 2, 0, 0, 0, 0], [0, 0, 0, 0, 2, 0, 0, 0]
PIECE, OF, CAKE = [0, 0, 0, 0, 0, 0, 0, 2], [0] * 8, [0, 0, 0, 0, 0, 0, 2, 0]
EASY, VERY = [0, 0, 0, 0, 0, 2, 0, 0], [0, 0, 0, 0, 0, 1, 0, 0]


@pytest.mark.parametrize(
    ("urdu", "english", "queries", "keys", "scores"),
    [
        ("کیسے ہو؟", "How are you", [HOW, ARE], [HOW, ARE, YOU], [[4, 0, 0], [0, 5, 2]]),
        ("میں ٹھیک ہوں", "I am good", [ME, GOOD, AM], [ME, AM, GOOD],
         [[4, 2, 0], [0, 0, 4], [2, 5, 0]]),
        ("کیک کا ٹکڑا", "piece of cake", [CAKE, OF, PIECE], [PIECE, OF, CAKE],
         [[0, 0, 4], [0, 0, 0], [4, 0, 0]]),
        ("بہت آسان کام", "piece of cake", [VERY, EASY, VERY], [PIECE, OF, CAKE], [[0, 0, 0]] * 3),
    ],
)  # fmt: skip
def test_cross_attention_from_urdu_to_english(
    run: Run, urdu: str, english: str, queries: Vectors, keys: Vectors, scores: Vectors
) -> None:
    steps = matrices(run, urdu, "--over", english, "--vectors", "english-urdu")
    assert (steps["E", None], steps["E_other", None]) == (queries, keys)
    assert steps["scores", None] == scores
    weights = [softmax(row) for row in scores]
    assert close(steps["weights", None], weights)
    columns = list(zip(*keys, strict=True))
    assert close(steps["output", None], [[dot(w, [*c]) for c in columns] for w in weights])
    done = run("explain", urdu, "--over", english, "--vectors", "english-urdu", "--check")
    assert mentions(done.stderr, "cross-attention decoder encoder checked")


def test_a_translator_finds_the_idiom(run: Run) -> None:
    """By W_K piece and cake offer ease, 2 each; by W_V they pass it on and nothing else."""
    ask = ("بہت آسان کام", "--over", "piece of cake", "--vectors", "english-urdu-task")
    steps = matrices(run, *ask)
    assert steps["scores", None] == [[2, 0, 2], [4, 0, 4], [2, 0, 2]]
    assert steps["V", None] == [EASY, OF, EASY]
    for row, score in enumerate((2, 4, 2)):
        piece, of, cake = softmax([score / math.sqrt(8), 0, score / math.sqrt(8)])
        assert steps["weights", None][row] == pytest.approx([piece, of, cake], abs=1e-6)
        easy = [0, 0, 0, 0, 0, 2 * piece + 2 * cake, 0, 0]
        assert steps["output", None][row] == pytest.approx(easy, abs=1e-6)


@pytest.mark.parametrize("easy", ["بہت آسان کام", "बहुत आसान काम"])
def test_a_translator_to_hindi_does_the_same(run: Run, easy: str) -> None:
    ask = (easy, "--over", "piece of cake", "--vectors", "english-urdu-task", "--recipe")
    recipes = run("explain", *ask, "-f", "tsv", "-q").stdout.splitlines()[1:]
    assert [line.partition(" = ")[2] for line in recipes] == [
        "0.40 piece + 0.20 of + 0.40 cake",
        "0.45 piece + 0.11 of + 0.44 cake",
        "0.40 piece + 0.20 of + 0.40 cake",
    ]


def test_break_a_leg_means_success(run: Run) -> None:
    """By W_K leg offers success, break offers being; by W_V they pass it on. √d is 2."""
    steps = matrices(run, "کامیابی ہو", "--over", "break a leg", "--vectors", "break-a-leg")
    assert steps["scores", None] == [[0, 0, 4], [4, 0, 0]]
    assert steps["V", None] == [[0, 2, 0, 0], [0, 0, 0, 0], [2, 0, 0, 0]]
    other, _, leg = softmax([0, 0, 2])
    assert close(steps["weights", None], [[other, other, leg], [leg, other, other]])
    assert close(steps["output", None], [[2 * leg, 2 * other, 0, 0], [2 * other, 2 * leg, 0, 0]])


def test_attention_is_a_soft_lookup_in_a_dictionary(run: Run) -> None:
    """{a: 1, b: 2, c: 3}: each query gives back nearly the value of its own key."""
    steps = matrices(run, "a b c", "--vectors", "lookup")
    own, other, _ = softmax([8 / math.sqrt(3), 0, 0])
    assert [row[0] for row in steps["V", None]] == [1, 2, 3]
    values = [own * 1 + other * 2 + other * 3, 2, other * 1 + other * 2 + own * 3]
    assert close(steps["output", None], [[value, 0, 0] for value in values])
    assert values == pytest.approx([1, 2, 3], abs=0.03)


@pytest.mark.parametrize(("name", "vector"), [("apple", [0.9, 0.3]), ("apple-company", [0.1, 0.8])])
def test_the_static_vector_is_that_of_its_corpus(run: Run, name: str, vector: list[float]) -> None:
    """Whatever the sentence: an average of fruit, or of the company."""
    for text in ("eating [apple]", "[apple] launched phone"):
        steps = matrices(run, text, "--vectors", name)
        rows = [[round(number, 6) for number in row] for row in steps["E", None]]
        assert vector in rows


def test_a_decoder_sees_no_later_word(run: Run) -> None:
    steps = matrices(run, "میں ٹھیک ہوں", "--causal", "--vectors", "english-urdu")
    assert steps["scores", None] == [[4, 0, 2], [0, 4, 0], [2, 0, 5]]
    assert steps["sum", None] == [[4, None, None], [0, 4, None], [2, 0, 5]]
    weights: Vectors = [[1, 0, 0], [*softmax([0, 4]), 0], softmax([2, 0, 5])]
    assert close(steps["weights", None], weights)


@pytest.mark.skipif(
    not bundled_model("everyday").is_dir(), reason="there is no bundled model in this checkout"
)
@pytest.mark.parametrize("encoding", ["none", "sinusoidal"])
@pytest.mark.parametrize(
    "attention",
    [
        ("--attention", "learned"),
        ("--general", "textbook"),
        ("--general", "cosine", "--heads", "1"),
        ("--general", "cosine", "--heads", "8"),
        ("--attention", "random", "--heads", "3"),
    ],
)
def test_the_bank_of_the_river_adds_up(run: Run, attention: tuple[str, ...], encoding: str) -> None:
    done = run(
        "explain",
        "[bank] of the river",
        "--check",
        "--encoding",
        encoding,
        *attention,
        env={"CTXEMBED_MODEL": str(bundled_model("everyday"))},
    )
    assert done.returncode == 0, done.stderr
    assert mentions(done.stderr, "checked rows")


FOUR = (
    "An [apple] a day keeps the doctor away", "[Apple] is healthy",
    "[Apple] is better than orange", "[Apple] makes great phones",
)  # fmt: skip


def test_four_sentences_have_one_static_vector_and_four_contextual_ones(run: Run) -> None:
    """Three of them are about taste, [0.9 0.2], one about technology, [0.3 0.8]."""
    done = run("compare", *FOUR, "--vectors", "apple-trained", "-f", "json")
    rows = {(row["sentence"], row["representation"]): row for row in json.loads(done.stdout)}
    for number, wanted in enumerate([[0.9, 0.2]] * 3 + [[0.3, 0.8]], 1):
        assert rows[number, "static"]["vector"] == pytest.approx([0.9, 0.3])
        assert rows[number, "given"]["vector"] == pytest.approx(wanted, abs=0.05)


def test_the_chain_from_query_to_output(run: Run) -> None:
    example = json.loads((corpora_directory() / "examples" / "apple-trained.json").read_text())
    x = [example["vectors"][word] for word in ("apple", "makes", "great", "phones")]

    def times(rows: Vectors, matrix: Vectors) -> Vectors:
        columns = [list(column) for column in zip(*matrix, strict=True)]
        return [[dot(row, column) for column in columns] for row in rows]

    q, k, v = (times(x, example[name]) for name in ("w_q", "w_k", "w_v"))
    scores = [[dot(a, b) for b in k] for a in q]
    weights = [softmax([score / math.sqrt(2) for score in row]) for row in scores]
    steps = matrices(run, FOUR[3], "--vectors", "apple-trained")
    named = {"Q": q, "K": k, "V": v, "scores": scores, "weights": weights}
    for name, matrix in {**named, "output": times(weights, v)}.items():
        for row, expected in zip(steps[name, None], matrix, strict=True):
            assert row == pytest.approx(expected, abs=1e-5), name


def test_a_corpus_turned_round_turns_the_static_vector(run: Run) -> None:
    done = run("mix", "--steps", "2", "--seeds", "1", "--words", "30000", "-f", "json")
    rows = [row for row in json.loads(done.stdout) if row["representation"] == "static"]
    assert [row["share"] for row in rows] == [0, 1]  # of the text about technology
    assert rows[0]["taste"] > rows[0]["technology"]
    assert rows[1]["taste"] < rows[1]["technology"]


def test_counts_of_mat_cat_and_rat(run: Run) -> None:
    counted = run("vectorize", "mat-cat", "--columns", "mat,rat,cat", "--no-header").stdout
    assert counted == "1\t2\t0\t1\n2\t0\t2\t1\n"
    one_hot = run("vectorize", "mat-cat", "--method", "one-hot", "--no-header").stdout
    assert one_hot == "mat\t1\t0\t0\ncat\t0\t1\t0\nrat\t0\t0\t1\n"
    rare = 2 * (math.log(3 / 2) + 1)  # twice in one of two sentences; cat is once in both
    length = math.hypot(rare, 1)
    done = run("vectorize", "mat-cat", "--method", "tfidf", "-f", "json")
    first, second = json.loads(done.stdout)
    assert [first["mat"], first["cat"], first["rat"]] == pytest.approx(
        [rare / length, 1 / length, 0]
    )
    assert [second["mat"], second["cat"], second["rat"]] == pytest.approx(
        [0, 1 / length, rare / length]
    )


@pytest.mark.parametrize(
    ("unit", "tokens"),
    [
        ("sentence", ["I ate.", "Break a leg!"]),
        ("word", ["i", "ate", "break", "a", "leg"]),
        ("character", [*"iate.breakaleg!"]),
    ],
)
def test_tokens_may_be_sentences_words_or_characters(
    run: Run, unit: str, tokens: list[str]
) -> None:
    done = run("tokenize", "I ate. Break a leg!", "--unit", unit, "-f", "json")
    assert [row["token"] for row in json.loads(done.stdout)] == tokens


def test_waves_of_several_frequencies_and_their_sum(run: Run) -> None:
    done = run("positions", "--length", "6", "--dim", "6", "--waves", "-f", "json")
    for row in json.loads(done.stdout):
        waves = [math.sin(row["position"] / 10000 ** (2 * i / 6)) for i in range(3)]
        assert [row[f"wave_{i}"] for i in (1, 2, 3)] == pytest.approx(waves)
        assert row["sum"] == pytest.approx(sum(waves))
