"""Function words by language: the lists, which one a vocabulary has, files of one's own."""

from pathlib import Path

import pytest

from ctxembed.errors import CorpusError
from ctxembed.text.function_words import detect_language, lists, read_function_words, stop_words
from tests.conftest import Run, mentions

TEXTS = {  # the most frequent words of newspapers
    "de": "der die und in den von zu das mit sich des auf für ist im dem nicht ein eine",
    "fr": "de la le et les des en un du une que est pour qui dans a par plus pas au sur",
    "es": "de la que el en y a los se del las un por con no una su para es al lo como",
    "ru": "и в не на я что он с а как это по но они она к у же вы за бы ты от меня еще нет о",
    "en": "the of and to in a is that for it was on with as be at by this have from or had not are",
}  # fmt: skip


def test_there_are_25_languages() -> None:
    known = lists()
    assert len(known) == 25
    assert min(map(len, known.values())) >= 50
    for language, words in (("de", "vom unser dem"), ("fr", "dans nous"), ("tr", "ve bir"),
                            ("ru", "что он"), ("es", "para como"), ("en", "the they")):  # fmt: skip
        assert set(words.split()) <= known[language]
    content = {"de": "jahr zeit land", "fr": "monde vie", "es": "mundo vida", "en": "year world"}
    for language, words in content.items():
        assert not set(words.split()) & known[language], language


@pytest.mark.parametrize("language", TEXTS)
def test_the_language_of_a_vocabulary(language: str) -> None:
    assert detect_language(TEXTS[language].split()) == language


def test_which_list_is_used(tmp_path: Path) -> None:
    german = TEXTS["de"].split()
    assert {"und", "der", "the"} <= stop_words(german)
    assert "und" not in stop_words(["apple", "pear"])
    assert "und" in stop_words(["apple", "pear"], "de")
    (tmp_path / "own.txt").write_text("apple Pear # fruit\n\nplum\n", encoding="utf-8")
    assert stop_words(german, "de", str(tmp_path / "own.txt")) == {"apple", "pear", "plum"}


def test_bad_files(tmp_path: Path) -> None:
    for name, data, problem in (
        ("empty", b"", "--stopwords"), ("binary", b"a\0b", "--stopwords"),
        ("latin", b"f\xfcr", "latin: line 1: byte 0xfc is not utf-8"),
    ):  # fmt: skip
        (tmp_path / name).write_bytes(data)
        with pytest.raises(CorpusError, match=problem):
            read_function_words(str(tmp_path / name))
    with pytest.raises(CorpusError, match="no such file"):
        read_function_words(str(tmp_path / "none"))


def test_collocates_in_german(run: Run, tmp_path: Path) -> None:
    text = "Das Geld vom Konto unserer Bank kommt dem Haus zu. Es regnet nicht in der Stadt.\n\n"
    (tmp_path / "a.txt").write_text(text * 30, encoding="utf-8")
    train = ["train", "a.txt", "-o", "m", "--static-only", "--dim", "2", "--epochs", "1"]
    assert run(*train, "--language", "de").returncode == 0
    done = run("collocates", "bank", "-m", "m")
    words = {line.split("\t")[1] for line in done.stdout.splitlines()[1:]}
    assert {"geld", "konto", "haus"} <= words and not {"vom", "dem", "das"} & words
    (tmp_path / "stop.txt").write_text("geld konto", encoding="utf-8")
    own = run("collocates", "bank", "-m", "m", "--stopwords", "stop.txt").stdout
    assert "\tvom\t" in own and "\tgeld\t" not in own
    missing = run("collocates", "bank", "-m", "m", "--stopwords", "none.txt")
    assert missing.returncode == 5 and mentions(missing.stderr, "none.txt")
