"""The fast path against the plain one: the same words, sentences and lines."""

import os
import re
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxembed.text.boundaries import (
    CLOSING,
    FINAL,
    FRENCH,
    OPENING,
    find_blank_lines,
    find_ends,
    is_abbreviation,
)
from ctxembed.text.corpus import BLOCK, Block, Corpus
from ctxembed.text.numbering import (
    WIDE,
    Numbered,
    find_chunks,
    number_corpus,
    number_words,
    split_long,
)
from ctxembed.text.tokenizer import _MARKLESS, Tokenizer, word_pattern

WORDS = "the The Dr. U.S. don't naïve state-of-the-art किताब می‌خواهم x_y -a- “Yes” İo ΟΔΥΣΣΕΥΣ"
PIECES = [*WORDS.split(), "internationalisation", "наука", "中文", "e\u0301", "'", "--", "3.5"]
PIECES += ["1,881", "٣", "१", "Işık"]
SPACES = [
    " ",
    "  ",
    "\n",
    "\n\n",
    ". ",
    "! ",
    "?\n",
    "。",
    "… ",
    "\u00a0",
    "\u3000",
    "\t",
    ".) ",
    ".",
    ",",
]
TEXTS = st.lists(st.one_of(st.sampled_from(PIECES + SPACES), st.text(max_size=4))).map("".join)


def sentence_ends(text: str, language: str = "") -> list[int]:
    """List where sentences end, but for the last one, by a pattern over letters."""
    end = re.compile(
        rf"[.!?…{FINAL}]+(?:[{re.escape(CLOSING)}]|[{FRENCH}]»)*"
        rf"(?=\s|(?<=[{FINAL}]))"  # CJK writes no space after it
        rf"(?!\s*[{re.escape(OPENING)}]*[a-zß-öø-ÿ])"  # no sentence begins with a small letter
    )
    # From each mark on: after "?!" a sentence may end where from the first mark it does not.
    ends = {match.end() for at in range(len(text)) if (match := end.match(text, at))}
    return [end for end in sorted(ends) if not is_abbreviation(text, end, language)]


def mark_sentences(text: str, mark: str, language: str = "") -> str:
    """Put a mark after each sentence; nothing else changes."""
    ends = [0, *sentence_ends(text, language), len(text)]
    return mark.join(text[start:end] for start, end in pairwise(ends))


def sentences(numbered: Numbered) -> list[list[str]]:
    types = numbered.types
    words = [types[i] for i in numbered.ids]
    ends = np.cumsum(numbered.lengths)
    return [words[end - size : end] for end, size in zip(ends, numbered.lengths, strict=True)]


@settings(deadline=None)
@given(
    TEXTS.filter(lambda text: not re.search("[\0\x1e\r]", text)),
    st.sampled_from(["word", "whitespace"]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(
        [
            ("", 1),
            ("", 2),
            ("tr", 2),
            ("", 3),
            ("tr", 3),
            *[(name, 4) for name in ("", "tr", "fr", "de")],
        ]
    ),
)
@example("L'homme d’Été aujourd'hui Aujourd’hui AUJOURD'HUI", "word", False, False, ("fr", 4))
@example("xaujourd'huis x'aujourd'hui 'a a'' aujourd'hu\u0131", "word", True, False, ("fr", 4))
@example("İstanbul'da ISPARTA'ya Ankara’ya", "word", False, False, ("tr", 4))
@example("Bürger:innen Kolleg*innen. Händler/-innen é:innené Köch:in :in a:In-b", "word", False,
         False, ("de", 4))  # fmt: skip
@example("a:innen b*INNEN c/-innen2 d/-innen “:innen” a:in", "word", False, True, ("", 4))
@example("0.\xa00", "word", False, False, ("", 2))
@example("one. two.\nthree", "word", False, False, ("", 2))
@example("I\u0307 e\u0301 J\u030c K i\u0307\u0301", "word", False, False, ("", 3))
@example("in 1990.\u00a07 came", "word", False, False, ("", 2))
@example("\u0301a \u0660\u200da_b", "word", True, False, ("", 2))
@example("$3.50 1,000,000. 5,é é,5 ٣٫٥ १,००० v1.2 İI Iİ 1.5's", "word", False, True, ("tr", 2))
def test_the_fast_path_finds_what_the_tokenizer_finds(
    text: str, kind: str, cased: bool, lines: bool, how: tuple[str, int]
) -> None:
    tokenizer = Tokenizer(kind, cased, language=how[0], rules=how[1])
    numbered = number_words(Block(0, 7, text.encode(), wrapped=False), tokenizer, lines)
    marked = text if lines else mark_sentences(text, "\x1e", how[0])
    expected = [
        (words, line)
        for line, row in enumerate(marked.split("\n"), 7)
        for part in row.split("\x1e")
        if (words := tokenizer.words(part))
    ]
    assert list(zip(sentences(numbered), numbered.lines.tolist(), strict=True)) == expected


def test_a_wrapped_text_ends_a_sentence_at_a_blank_line_and_knows_its_lines() -> None:
    text = "It was a dark\nnight. The rain\nfell.\nNobody\n \nslept. or\n"
    numbered = number_words(Block(0, 1, text.encode(), wrapped=True), Tokenizer(), lines=False)
    assert [" ".join(words) for words in sentences(numbered)] == [
        "it was a dark night",
        "the rain fell",
        "nobody",
        "slept or",
    ]
    assert numbered.lines.tolist() == [1, 2, 4, 6]


def test_a_long_sentence_is_split_and_nothing_is_lost() -> None:
    numbered = number_words(
        Block(0, 3, b"a b\n" + b"c " * 2500 + b"\nd", wrapped=False), Tokenizer(), False
    )
    assert numbered.lengths.tolist() == [2, 1000, 1000, 500, 1]
    assert numbered.lines.tolist() == [3, 4, 4, 4, 5]


@pytest.mark.parametrize("text", ["", " \n", "...", "\ufffd"])
def test_text_without_words(text: str) -> None:
    numbered = number_words(Block(0, 1, text.encode(), wrapped=False), Tokenizer(), lines=False)
    assert (numbered.types, len(numbered.ids), len(numbered.lengths)) == ([], 0, 0)


def test_lone_surrogates_do_no_harm() -> None:
    numbered = number_words(
        Block(0, 1, "a\ud800b c".encode("utf-8", "surrogatepass"), wrapped=False),
        Tokenizer(),
        lines=False,
    )
    assert sentences(numbered) == [["a", "b", "c"]]


@pytest.mark.parametrize("fork", [True, False])
def test_the_same_tokens_whatever_the_number_of_workers(
    fork: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not fork:  # as on Windows
        monkeypatch.delattr(os, "fork", raising=False)
    path = tmp_path / "text.txt"
    lines = [f"Word{i % 977} naïve{i % 31}! It's {i}." for i in range(10 * BLOCK // 24)]
    path.write_text("\n".join(lines), encoding="utf-8")
    one, two = (
        [part for part, _, _ in number_corpus(Corpus([str(path)]), Tokenizer(), workers)]
        for workers in (1, 2)
    )
    assert len(one) > 8  # otherwise a second process is not worth its start
    for a, b in zip(one, two, strict=True):
        assert (a.text, a.lines.tolist()) == (b.text, b.lines.tolist())
        assert np.array_equal(a.ids, b.ids)
        assert np.array_equal(a.lengths, b.lengths)


def test_the_quick_pattern_is_kept_from_marks_and_joiners() -> None:
    for code in range(0x110000):
        if unicodedata.category(chr(code))[0] == "M" or code in (0x200C, 0x200D):
            assert not re.fullmatch(_MARKLESS, chr(code)), hex(code)


@settings(deadline=None)
@given(TEXTS)
def test_both_patterns_find_the_same(text: str) -> None:
    text = text.replace("_", " ")
    plain = [Tokenizer().normalise(word) for word in word_pattern().findall(text)]
    assert Tokenizer().words(text) == plain


MARKS = list(".!?…।۔؟。！？»„¿\"'”’“‘)(][ \n\u00a0\u3000\u2009\x1e\x85aZzßöøÿ÷ÉЯ7中-")
PARTS = [*MARKS, ". ", "? ", "Dr", "no", " Prof", "(e.g", "first", "\u00a0St", "ca", "É. ", " A. "]
PARTS += ["U.S", " z.B", "3", " 12", ". The ", ". Die "]


@settings(deadline=None, max_examples=500)
@given(
    st.lists(st.one_of(st.sampled_from(PARTS), st.characters(codec="utf-8"))).map("".join),
    st.sampled_from(["", "en", "de", "fr", "es", "tr", "az"]),
)
@example("A. b", "")
@example("。 a。", "")
@example("am 3. Oktober", "de")
def test_sentences_end_among_the_bytes_where_they_end_in_the_text(text: str, language: str) -> None:
    ends = find_ends(text.encode(), language).tolist()
    assert ends == [len(text[:end].encode()) for end in sentence_ends(text, language)]


@settings(deadline=None)
@given(st.lists(st.text("ab", min_size=1, max_size=18) | st.sampled_from(["a" * 7, "a" * 15])))
def test_words_that_begin_alike_are_told_apart(words: list[str]) -> None:
    words = [word + more for word in words for more in ("", "a", "aa", "b")]
    numbered = number_words(
        Block(0, 1, " ".join(words).encode(), wrapped=False), Tokenizer(), lines=False
    )
    assert np.array(numbered.types, dtype=object)[numbered.ids].tolist() == words


def test_one_chunk_of_many_words() -> None:
    words = [f"字{i}" for i in range(70_000)]
    numbered = number_words(
        Block(0, 1, "、".join(words).encode(), wrapped=False), Tokenizer(), lines=True
    )
    assert np.array(numbered.types, dtype=object)[numbered.ids].tolist() == words


def test_abbreviations_and_initials_end_no_sentence() -> None:
    text = "Mr. A. Bell (approx. 40, vs. J. Doe) left. Is it c.? Yes. He said: no. X"
    assert mark_sentences(text, "|") == (
        "Mr. A. Bell (approx. 40, vs. J. Doe) left.| Is it c.?| Yes.| He said: no. X"
    )
    assert mark_sentences("我来了。你好！ A. S. Пушкин: А. С. Пуш! Да", "|") == (
        "我来了。|你好！| A. S. Пушкин: А. С. Пуш!| Да"
    )


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("", "Work at U.S. Bank began.| He left the U.S.| The bank stayed.| Is it 3?| Yes."),
        (
            "en",
            "Acme Inc. Berlin and Acme Inc.| The rest, etc.| They said no.| At 5 p.m. Friday",
        ),
        ("de", "Am 3. Oktober kam z. B. Dr. Alt, d.h. Otto.| Im Jahr 1990.| Das war „gut.“| Ja"),
        ("fr", "M. Dupont et Mme. Roy, p. ex. Luc, sont là.| « Oui. »| Il est venu"),
        ("es", "El Sr. Gómez vive en EE. UU. Ayer vino.| ¿Sí?| ¡No!| Bien"),
        ("tr", "Prof. Dr. Ali Bey 19. Yüzyıl vb. Eserler yazdı.| Sonra 1990.| Bu iyi"),
        ("", "کیا یہ بینک ہے؟| جی ہاں۔| یہ بینک ہے"),
        ("", "यह बैंक है।| हाँ।| वह नदी है"),
        ("", "他去了银行。|真的吗？|是！|好"),
    ],
)
def test_where_sentences_end_in_several_languages(language: str, text: str) -> None:
    assert mark_sentences(text.replace("|", ""), "|", language) == text


def test_parts_by_hand() -> None:
    chunks = find_chunks(np.frombuffer(b"\0to\0be\0\0or\0to" + bytes(WIDE), np.uint8))
    assert chunks.starts.tolist() == [0, 3, 7, 10]
    assert (chunks.first.tolist(), chunks.new.tolist()) == ([0, 1, 2, 0], [0, 1, 2])
    assert (chunks.text, chunks.ends.tolist()) == (b"to\nbe\nor\n", [3, 6, 9])
    assert split_long(np.array([0, 2, 9]), 3).tolist() == [0, 2, 5, 8, 9]
    assert Tokenizer().split_lines("It's “naïve”\n—\n") == ["it's\nnaïve\n", ""]
    text = b"\none\ntwo\n \nthree\n"
    breaks = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
    assert find_blank_lines(text, breaks).tolist() == [0, 9]
