"""Tokens and their offsets."""

import json
from pathlib import Path
from unicodedata import normalize

from hypothesis import given, settings
from hypothesis import strategies as st

from ctxembed.queries.tokenize import (
    count_words,
    learn_subwords,
    list_tokens,
    make_tokenizer,
    sentences,
)
from ctxembed.text.corpus import Block
from ctxembed.text.subword import Characters, Subwords
from ctxembed.text.tokenizer import INNER, Tokenizer
from tests.conftest import Run

TEXT = "Don’t panic: Dr. Who said. It's naïve!"
ANY = st.text().filter(lambda text: "\0" not in text)


def learned(*texts: str, pieces: int = 60) -> Subwords:
    blocks = [Block(0, 1, text.encode(), wrapped=True) for text in texts]
    words = Tokenizer()
    return learn_subwords(words, count_words(words, blocks).items(), pieces)


PIECES = learned("apple apples applet pear pearl pears the the naïve İstanbul किताब " * 5)


@settings(deadline=None)
@given(ANY, st.sampled_from(["word", "whitespace", "character", "sentence"]), st.booleans())
def test_offsets_give_the_text_back_slice_by_slice(text: str, unit: str, cased: bool) -> None:
    kind = "whitespace" if unit == "whitespace" else "word"
    words = Tokenizer(kind, cased)
    tokenizer = make_tokenizer(words, "word" if unit == "whitespace" else unit)
    blocks = [Block(0, 1, text.encode(), wrapped=True)]
    normalise = (lambda word: word) if tokenizer is None else tokenizer.normalise
    position = 0
    for row in list_tokens(blocks, tokenizer):
        _, token, start, end = row
        assert isinstance(start, int) and isinstance(end, int)
        assert position <= start < end <= len(text)
        assert normalise(text[start:end]) == token
        between = text[position:start]
        assert not between.strip() if unit != "word" else not Tokenizer().words(between)
        position = end
    assert not (Tokenizer().words(text[position:]) if unit == "word" else text[position:].strip())


@settings(deadline=None)
@given(st.one_of(ANY, st.text("aplersİıΣé ेकत'-", max_size=30)))
def test_pieces_put_together_are_the_words(text: str) -> None:
    position = 0
    built: list[str] = []
    for piece, start, end in PIECES.tokens(text):
        assert position <= start <= end <= len(text)
        if piece.startswith(INNER):
            built[-1] += piece.removeprefix(INNER)
        else:
            built.append(piece)
        position = end
    assert built == Tokenizer().words(text)


def test_subwords_have_byte_offsets() -> None:
    assert list(PIECES.tokens("Xapples")) == [
        ("x", 0, 1),
        *((INNER + "apples"[a:b], a + 1, b + 1) for a, b in _inner("Xapples")),
    ]


def _inner(text: str) -> list[tuple[int, int]]:
    return [(start - 1, end - 1) for _, start, end in PIECES.tokens(text)][1:]


def test_learning_twice_gives_the_same_bytes() -> None:
    assert learned("to be or not to be " * 9).learned == learned("to be or not to be " * 9).learned


def test_a_combining_mark_is_no_word() -> None:
    assert Tokenizer().words("I \u2764\ufe0f pie, नहीं \u0301 cafe\u0301") == [
        "i", "pie", "नहीं", "café",
    ]  # fmt: skip


def test_a_combining_mark_stays_with_its_letter() -> None:
    assert Characters().words("e\u0301 \u0301x") == ["é", "\u0301", "x"]
    assert Characters(rules=2).words("e\u0301") == ["e\u0301"]


SPELLINGS = st.text(st.sampled_from("eEAİIiJkKaz ’'-,.1é\u0301\u0307\u030c\u0323ÅÅκΣ각가ệ"))


@settings(deadline=None)
@given(
    SPELLINGS | ANY,
    st.sampled_from([Tokenizer(), Tokenizer(cased=True), Tokenizer(language="tr"), Characters()]),
)
def test_both_spellings_of_a_text_have_the_same_words(text: str, tokenizer: Tokenizer) -> None:
    composed, apart = (tokenizer.words(normalize(form, text)) for form in ("NFC", "NFD"))
    assert composed == apart == [normalize("NFC", word) for word in composed]


def test_subwords_of_letters_with_marks_have_their_offsets() -> None:
    text = "nai\u0308ve apple"
    pieces = list(PIECES.tokens(text))
    assert [p for p, _, _ in pieces] == [p for p, _, _ in PIECES.tokens(normalize("NFC", text))]
    assert "".join(text[start:end] for _, start, end in pieces) == text.replace(" ", "")


def test_sentences_of_several_blocks_have_offsets() -> None:
    blocks = [Block(0, 1, b"One. Two.\n", False), Block(0, 2, b"Three\n", False)]
    assert list(sentences([*blocks, Block(1, 1, b"Four", False)])) == [
        ("One.", 0),
        ("Two.", 5),
        ("Three", 10),
        ("Four", 0),
    ]


WORDS = [
    (1, "don't", 0, 5),
    (1, "panic", 6, 11),
    (1, "dr", 13, 15),
    (1, "who", 17, 20),
    (1, "said", 21, 25),
    (2, "it's", 27, 31),
    (2, "naïve", 32, 37),
]


def test_words_in_every_format(run: Run) -> None:
    names = ("sentence", "token", "start", "end")
    assert run("tokenize", TEXT).stdout == "".join(
        "\t".join(map(str, row)) + "\n" for row in (names, *WORDS)
    )
    assert run("tokenize", TEXT, "-f", "csv").stdout.splitlines()[1] == "1,don't,0,5"
    records = [dict(zip(names, row, strict=True)) for row in WORDS]
    assert json.loads(run("tokenize", TEXT, "-f", "json").stdout) == records
    lines = run("tokenize", "-", "-f", "jsonl", stdin=TEXT).stdout.splitlines()
    assert [json.loads(line) for line in lines] == records
    assert run("tokenize", "Hi", "-f", "markdown").stdout == (
        "| sentence | token | start | end |\n"
        "|----------|-------|-------|-----|\n"
        "|        1 | hi    |     0 |   2 |\n"
    )
    assert run("tokenize", "Hi", "-f", "table").stdout == (
        "sentence  token  start  end\n--------  -----  -----  ---\n       1  hi         0    2\n"
    )


def test_the_other_units(run: Run, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("It rained. We stayed in.\n", encoding="utf-8")
    assert run("tokenize", "text.txt", "--unit", "sentence", "--no-header").stdout == (
        "1\tIt rained.\t0\t10\n2\tWe stayed in.\t11\t24\n"
    )
    assert run("tokenize", "text.txt", "--per", "sentence", "--no-header").stdout == (
        "1\tit rained\t0\t10\n2\twe stayed in\t11\t24\n"
    )
    assert run("tokenize", "A b!", "--unit", "character", "--cased", "--no-header").stdout == (
        "1\tA\t0\t1\n1\tb\t2\t3\n1\t!\t3\t4\n"
    )
    assert run("tokenize", "-", "--unit", "subword", "--no-header", stdin="ab ab abc").stdout == (
        "1\tab\t0\t2\n1\tab\t3\t5\n1\tab\t6\t8\n1\t##c\t8\t9\n"
    )


def test_subwords_of_a_sentence_are_learned_from_a_model(run: Run, tmp_path: Path) -> None:
    """unlucky has no piece in itself alone; in a text of many words un is one."""
    sentence = "unlucky goldfish"
    done = run("tokenize", sentence, "--unit", "subword", "-m", "everyday", "--no-header")
    pieces = [line.split("\t")[1] for line in done.stdout.splitlines()]
    assert pieces[0] == "un"
    assert "".join(piece.removeprefix(INNER) for piece in pieces) == "unluckygoldfish"
    assert "from the words of the model everyday" in done.stderr
    (tmp_path / "text.txt").write_text(f"{sentence}\n" * 3)
    own = run("tokenize", "text.txt", "--unit", "subword", "--per", "sentence", "--no-header")
    assert own.stdout.startswith("1\tunlucky goldfish\t")  # a file is its own corpus
    assert own.stderr == ""
