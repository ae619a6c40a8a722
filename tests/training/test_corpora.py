"""The bundled corpora are what the grammar makes, and the labels beside them are right."""

import csv
import subprocess
import sys
from collections import Counter
from pathlib import Path

from ctxembed.model.bundled import corpora_directory
from ctxembed.text.tokenizer import Tokenizer, parse_marked
from tests.conftest import ROOT

SENSES = 16  # ambiguous words, beside the idioms


def read_table(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def test_the_grammar_makes_every_file_byte_for_byte(tmp_path: Path) -> None:
    built = [sys.executable, str(ROOT / "corpora" / "build.py"), "--output", str(tmp_path)]
    subprocess.run(built, check=True, timeout=300)
    files = {file.name: file.read_bytes() for file in tmp_path.iterdir()}
    assert set(files) == {"everyday.txt", "everyday.senses.tsv", "fruit.txt", "technology.txt"}
    for name, content in files.items():
        assert content == (corpora_directory() / name).read_bytes(), f"{name}: run make corpora"


def test_the_corpus_is_large_and_its_words_have_two_senses_or_more() -> None:
    text = (corpora_directory() / "everyday.txt").read_text(encoding="utf-8")
    assert len(Tokenizer().words(text)) > 300_000
    labels = read_table(corpora_directory() / "everyday.senses.tsv")
    counts = Counter((row["word"], row["sense"]) for row in labels)
    senses = Counter(word for word, _ in counts)
    assert sum(number >= 2 for number in senses.values()) >= SENSES
    assert min(counts.values()) >= 100
    assert 2.5 < counts["apple", "fruit"] / counts["apple", "technology"] < 3.5


def test_a_label_is_at_the_position_of_its_word() -> None:
    lines = (corpora_directory() / "everyday.txt").read_text(encoding="utf-8").splitlines()
    tokenizer = Tokenizer()
    for row in read_table(corpora_directory() / "everyday.senses.tsv")[::37]:
        words = tokenizer.words(lines[int(row["line"]) - 1])
        assert words.count(row["word"]) >= int(row["occurrence"])


def test_the_demo_sentence_is_not_in_the_corpus() -> None:
    for name in ("everyday.txt", "technology.txt", "fruit.txt"):
        for line in (corpora_directory() / name).read_text(encoding="utf-8").splitlines():
            words = set(Tokenizer().words(line))
            assert not {"apple", "orange", "phone"} <= words
            assert not {"apple", "launched", "eating"} <= words


def test_held_out_sentences_are_not_in_the_corpus() -> None:
    rows = read_table(ROOT / "tests" / "heldout.tsv")
    assert len(rows) >= 120
    assert sum(row["distractor"] == "yes" for row in rows) * 3 >= len(rows)
    known = {
        tuple(Tokenizer().words(line))
        for line in (corpora_directory() / "everyday.txt").read_text(encoding="utf-8").splitlines()
    }
    for row in rows:
        marked = parse_marked(row["sentence"], Tokenizer())
        assert len(marked.targets) == 1
        assert marked.words not in known


def test_the_idiom_task_is_balanced() -> None:
    rows = read_table(corpora_directory() / "idioms.tsv")
    cells = Counter((row["expression"], row["label"], row["half"]) for row in rows)
    assert len({expression for expression, _, _ in cells}) >= 12
    assert set(cells.values()) == {10}
    for row in rows:
        assert len(parse_marked(row["sentence"], Tokenizer()).targets) == 1
        assert row["gloss"]


def test_the_sources_of_english_have_licence_origin_and_share() -> None:
    sources = read_table(corpora_directory() / "english.sources.tsv")
    assert len({row["name"] for row in sources}) == len(sources)
    assert all(row["licence"] and row["source"] for row in sources)
    read = [float(row["weight"]) * int(row["words"]) for row in sources]
    for row, words in zip(sources, read, strict=True):
        assert abs(float(row["share"]) - words / sum(read)) < 0.0001, row["name"]
