"""The index says what the text says."""

from collections import Counter
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxembed.progress import Progress
from ctxembed.static.gensim_engine import write_sentences
from ctxembed.text import build_index, index
from ctxembed.text import corpus as corpus_module
from ctxembed.text.build_index import build, write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import Tokenizer
from tests.conftest import Run

sentences = st.lists(
    st.lists(st.sampled_from(["a", "b", "c", "dd", "é", "fff"]), min_size=1, max_size=9),
    min_size=1,
    max_size=30,
)


@given(sentences, st.integers(1, 4), st.sampled_from([8, 16, 1 << 20]))
@settings(deadline=None, max_examples=60)
def test_against_a_plain_scan(text: list[list[str]], min_count: int, chunk: int) -> None:
    import tempfile

    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        pytest.MonkeyPatch.context() as patch,
    ):
        for module in (build_index, index):
            patch.setattr(module, "CHUNK", chunk)
        folder = Path(name)
        (folder / "c.txt").write_text("".join(" ".join(s) + "\n" for s in text))
        corpus = Corpus([str(folder / "c.txt")], lines=True)
        counted = build(corpus, Tokenizer(), folder, 1, Progress())
        plain = Counter(word for sentence in text for word in sentence)

        assert dict(zip(counted.types, counted.counts.tolist(), strict=True)) == plain
        assert sorted(counted.counts, reverse=True) == counted.counts.tolist()
        assert counted.sentences == len(text)
        kept = counted.kept(min_count)
        if not kept:
            return
        assert set(counted.types[:kept]) == {w for w in plain if plain[w] >= min_count}

        (folder / "rare.txt").write_text("".join(f"{w}\n" for w in counted.types[kept:]))
        write_occurrences(folder, counted.counts[:kept])
        opened = Index(folder, counted.types[:kept], counted.files)
        assert [opened.words(opened.sentence(number)) for number in range(len(text))] == text
        tokens = [word for sentence in text for word in sentence]
        for row, word in enumerate(counted.types[:kept]):
            positions = [position for position, token in enumerate(tokens) if token == word]
            assert opened.positions(row).tolist() == positions
            for position, number in zip(
                positions, opened.sentence_of(np.array(positions)).tolist(), strict=True
            ):
                assert word in text[number]
                assert opened.offsets[number] <= position < opened.offsets[number + 1]
        for number in range(len(text)):
            assert opened.source_of(number) == (str(folder / "c.txt"), number + 1)

        write_sentences(folder, counted.types[:kept], folder / "out")
        lines = [" ".join(w for w in s if plain[w] >= min_count) for s in text]
        assert [line.strip() for line in (folder / "out").read_text().split("\n")[:-1]] == lines


def test_source_lines_across_files(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n\nthree four\n")
    (tmp_path / "b.txt").write_text("")
    (tmp_path / "c.txt").write_text("\nfive six\n")
    corpus = Corpus([str(tmp_path / name) for name in ("a.txt", "b.txt", "c.txt")])
    counted = build(corpus, Tokenizer(), tmp_path, 1, Progress())
    opened = Index(tmp_path, counted.types, counted.files)
    assert [opened.source_of(number) for number in range(3)] == [
        (str(tmp_path / "a.txt"), 1),
        (str(tmp_path / "a.txt"), 3),
        (str(tmp_path / "c.txt"), 2),
    ]


def test_several_processes_give_the_same_index(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text(
        "".join(f"Word{i % 997} meets word{i % 31}. It’s n° {i}!\n" for i in range(200_000))
    )
    indexes = []
    for workers in (1, 2):
        folder = tmp_path / str(workers)
        folder.mkdir()
        counted = build(Corpus([str(tmp_path / "c.txt")]), Tokenizer(), folder, workers, Progress())
        files = {file.name: file.read_bytes() for file in folder.iterdir()}
        indexes.append((counted.types, counted.counts.tolist(), files))
    assert indexes[0] == indexes[1]


DOCUMENTS = {
    "a.txt": "one two. Three\nfour\n \nfive\n\n\nsix\n",
    "b.txt": "",
    "c.txt": "\n# seven\neight\n# nine\n\nten\n",
}


@pytest.mark.posix  # replaces files that are open
@pytest.mark.parametrize(
    ("kind", "expected"),
    [
        ("file", ["one two three four five six", "seven eight nine ten"]),
        ("block", ["one two three four", "five", "six", "seven eight nine", "ten"]),
        ("line", ["one two three", "four", "five", "six", "seven", "eight", "nine", "ten"]),
        (
            "auto",
            ["one two three", "four", "five", "six", "seven", "eight", "nine", "ten"],
        ),  # too few others
        ("# ", ["one two three four five six", "seven eight", "nine ten"]),
    ],
)
@pytest.mark.parametrize("block", [1 << 19, 3])
def test_documents(tmp_path: Path, kind: str, expected: list[str], block: int) -> None:
    for name, text in DOCUMENTS.items():
        (tmp_path / name).write_text(text)
    corpus = Corpus([str(tmp_path / name) for name in DOCUMENTS], document=kind)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "BLOCK", block)  # borders lie between blocks too
        counted = build(corpus, Tokenizer(), tmp_path, 1, Progress())
    opened = Index(tmp_path, counted.types, counted.files)
    pairs = pairwise(opened.documents.tolist())
    assert [" ".join(opened.words(opened.ids[a:b])) for a, b in pairs] == expected
    assert (counted.document, counted.documents) == (
        "line" if kind == "auto" else kind,
        len(expected),
    )
    positions = np.arange(10)
    owners = [number for number, text in enumerate(expected) for _ in text.split()]
    assert opened.document_of(positions).tolist() == owners
    assert opened.count_documents(positions[[0, 1, 9]]) == len({owners[i] for i in (0, 1, 9)})
    if kind == "line":  # an index from before there were documents
        (tmp_path / "documents.npy").unlink()
        older = Index(tmp_path, counted.types, counted.files)
        assert older.documents.tolist() == opened.documents.tolist()


def test_a_document_is_the_largest_kind_of_which_there_are_enough() -> None:
    kinds = [index.choose_document_kind("auto", *n) for n in ((40, 300), (1, 300), (1, 1))]
    assert [*kinds, index.choose_document_kind("file", 1, 1)] == ["file", "block", "line", "file"]


def test_a_pattern_that_is_none_is_refused(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one two\n")
    done = run("train", "a.txt", "--document", "(", cwd=tmp_path)
    assert (done.returncode, "--document '('" in done.stderr) == (2, True)
