"""Words looked up in a list of them: searched for at first, then found by keys."""

import pytest

from ctxembed.text.lines import MAX_FINDS, WordList

WORDS = [
    "x", "yy", "12345678", "123456789", "123456781", "abcdefgh12345678", "abcdefghX12345678", "é",
    "12345678abcdefgh", "字" * 9, "in front", "last",
]  # fmt: skip


@pytest.fixture
def words() -> WordList:
    return WordList("".join(f"{word}\n" for word in [*WORDS, "yy"]).encode())


def test_each_word_has_its_first_row_however_many_were_looked_up(words: WordList) -> None:
    for _ in range(2 * MAX_FINDS):
        assert [words.index(word) for word in WORDS] == list(range(len(WORDS)))


@pytest.mark.parametrize("many", [False, True])
@pytest.mark.parametrize("word", ["", "y", "yy\n12345678", "23456789", "X12345678", "\ud800", "é "])
def test_parts_of_words_and_of_lines_are_not_words(words: WordList, word: str, many: bool) -> None:
    if many:
        words.finds = MAX_FINDS
    with pytest.raises(ValueError, match="is not in the list"):
        words.index(word)


def test_words_with_one_key_are_told_apart(
    words: WordList, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ctxembed.text.lines.FACTORS", (0, 0, 0))
    words.finds = MAX_FINDS
    assert [words.index(word) for word in WORDS] == list(range(len(WORDS)))
