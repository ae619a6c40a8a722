"""From a text to its concordance, in languages that are not English."""

import json
from pathlib import Path

import pytest

from ctxembed.text.tokenizer import Tokenizer
from tests.conftest import Run

TEXTS = {
    "tr": "Işık ile Irmak İstanbul'da buluştu. ISIK evleri 19. Yüzyıl yapısıdır. Işık güzel.\n",
    "de": "Am 3. Oktober öffnet die Bank z. B. um 9 Uhr. Die Bank kostet 1.250,50 Euro! Gut.\n",
    "ur": "کیا یہ بینک ہے؟ جی ہاں، یہ بینک ہے۔ دریا دور ہے۔\n",
    "hi": "यह बैंक है। क्या वह बैंक १,००,००० रुपये देगा? नदी दूर है।\n",
    "zh": "他去了北京大学。北京的银行关门了！你在北京吗？\n",
}


def ask(run: Run, folder: Path, language: str, word: str, *options: str) -> list[tuple[str, ...]]:
    """Train on a text, and list the occurrences of a word."""
    (folder / "a.txt").write_text(TEXTS[language], encoding="utf-8")
    trained = run(
        "train", "a.txt", "-o", "m", "--static-only", "--min-count", "1", "--dim", "4", "--epochs",
        "1", "--force", *options, cwd=folder,
    )  # fmt: skip
    assert trained.returncode == 0, trained.stderr
    done = run("kwic", word, "-m", "m", "-f", "json", "--width", "14", cwd=folder)
    assert done.returncode == 0, done.stderr
    return [(row["left"], row["hit"], row["right"]) for row in json.loads(done.stdout)]


def sentences(run: Run, folder: Path, *options: str) -> list[str]:
    """List the sentences of the text, as words."""
    command = ("tokenize", "a.txt", "--per", "sentence", "--no-header", *options)
    return [line.split("\t")[1] for line in run(*command, cwd=folder).stdout.splitlines()]


def test_turkish(run: Run, tmp_path: Path) -> None:
    neighbors = ask(run, tmp_path, "tr", "ışık", "--language", "tr")
    assert neighbors == [
        ("", "Işık", "ile Irmak"),
        ("yapısıdır.", "Işık", "güzel."),
    ]
    assert ask(run, tmp_path, "tr", "ISIK", "--language", "tr")[0][1] == "ISIK"  # ısık
    assert ask(run, tmp_path, "tr", "istanbul'da", "--language", "tr")[0][1] == "İstanbul'da"
    assert sentences(run, tmp_path, "--language", "tr") == [
        "ışık ile ırmak istanbul da buluştu",
        "ısık evleri 19 yüzyıl yapısıdır",
        "ışık güzel",
    ]


def test_words_by_language() -> None:
    def split(language: str, text: str) -> list[str]:
        return Tokenizer(language=language).words(text)

    assert split("fr", "L'homme d’Été, aujourd'hui") == ["l", "homme", "d", "été", "aujourd'hui"]
    assert split("tr", "İstanbul'da, Ankara’ya") == ["istanbul", "da", "ankara", "ya"]
    assert split("en", "Don't say l'homme") == ["don't", "say", "l'homme"]
    marks = "Bürger:innen Kolleg*innen Händler/-innen"
    for language in ("", "en", "de"):
        assert split(language, marks) == marks.lower().split()
    assert split("de", "jede Lehrer:in") == ["jede", "lehrer:in"]
    assert split("", "Score: in 3:innen4") == ["score", "in", "3", "innen4"]
    before = Tokenizer(language="fr", rules=3).words("L'homme Bürger:innen")  # of an older model
    assert before == ["l'homme", "bürger", "innen"]


def test_german(run: Run, tmp_path: Path) -> None:
    assert ask(run, tmp_path, "de", "bank", "--language", "de") == [
        ("öffnet die", "Bank", "z. B. um 9"),
        ("um 9 Uhr. Die", "Bank", "kostet"),
    ]
    assert ask(run, tmp_path, "de", "1.250,50", "--language", "de")[0][1] == "1.250,50"
    assert sentences(run, tmp_path, "--language", "de") == [
        "am 3 oktober öffnet die bank z b um 9 uhr",
        "die bank kostet 1.250,50 euro",
        "gut",
    ]


@pytest.mark.parametrize(
    ("language", "word", "expected", "split"),
    [
        (
            *("ur", "بینک"),
            [("کیا یہ", "بینک", "ہے؟ جی ہاں، یہ"), ("ہے؟ جی ہاں، یہ", "بینک", "ہے۔ دریا دور")],
            ["کیا یہ بینک ہے", "جی ہاں یہ بینک ہے", "دریا دور ہے"],
        ),
        (
            *("hi", "बैंक"),
            [("यह", "बैंक", "है। क्या वह"), ("है। क्या वह", "बैंक", "१,००,००० रुपये")],
            ["यह बैंक है", "क्या वह बैंक १,००,००० रुपये देगा", "नदी दूर है"],
        ),
    ],
)
def test_urdu_and_hindi(
    language: str,
    word: str,
    expected: list[tuple[str, str, str]],
    split: list[str],
    run: Run,
    tmp_path: Path,
) -> None:
    assert ask(run, tmp_path, language, word) == expected
    assert sentences(run, tmp_path) == split


def test_chinese(run: Run, tmp_path: Path) -> None:
    assert ask(run, tmp_path, "zh", "北京", "--unit", "character") == [
        ("他去了", "北京", "大学。北京的银行关门了！你在"),
        ("他去了北京大学。", "北京", "的银行关门了！你在北京吗？"),
        ("大学。北京的银行关门了！你在", "北京", "吗？"),
    ]
    assert len(sentences(run, tmp_path)) == 3


NOTE = "this text has no spaces between words"


@pytest.mark.parametrize(
    ("text", "options", "warned"),
    [
        (TEXTS["zh"], [], True),
        ("私は昨日銀行に行きました。川のそばです。\n", [], True),
        ("ธนาคารอยู่ใกล้แม่น้ำเจ้าพระยาในกรุงเทพมหานคร\n", [], True),
        (TEXTS["zh"], ["--unit", "character"], False),
        ("他 去 了 北京 大学 。 北京 的 银行 关门 了 ！\n", ["--tokenizer", "whitespace"], False),
        (TEXTS["ur"], [], False),
        ("An English text that speaks of 北京大学 once.\n", [], False),
    ],
)
def test_text_without_spaces_is_noticed(
    run: Run, tmp_path: Path, text: str, options: list[str], warned: bool
) -> None:
    (tmp_path / "a.txt").write_text(text, encoding="utf-8")
    small = ("--static-only", "--min-count", "1", "--dim", "4", "--epochs", "1")
    done = run("train", "a.txt", "-o", "m", *small, *options, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert (NOTE in done.stderr) == warned
    if warned:
        assert "--unit character" in done.stderr and "--tokenizer whitespace" in done.stderr
