"""From bytes to words: tokenizer, sentences, blocks, and every kind of source."""

import bz2
import gzip
import lzma
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ctxembed.errors import CorpusError
from ctxembed.text import corpus as corpus_module
from ctxembed.text.boundaries import sentence_spans
from ctxembed.text.corpus import Block, Corpus, looks_wrapped
from ctxembed.text.numbering import MAX_SENTENCE, Numbered, number_corpus, number_words
from ctxembed.text.tokenizer import Tokenizer
from tests.conftest import Run

WORDS = {
    "Don't stop": ["don't", "stop"],
    "state-of-the-art": ["state-of-the-art"],
    "it’s -- well - 'quoted' rock-'n'-roll": ["it's", "well", "quoted", "rock", "n", "roll"],
    "naïve café Ångström": ["naïve", "café", "ångström"],
    "snake_case 3.14 a1b2": ["snake", "case", "3.14", "a1b2"],
    "हिन्दी में किताबें": ["हिन्दी", "में", "किताबें"],
    "بہت آسان کام": ["بہت", "آسان", "کام"],
    "re\N{COMBINING ACUTE ACCENT}sume": ["résume"],
    "…—!?": [],
}


@pytest.mark.parametrize("text", WORDS)
def test_words(text: str) -> None:
    assert Tokenizer().words(text) == WORDS[text]


def test_other_tokenisers() -> None:
    assert Tokenizer(cased=True).words("Apple's pie") == ["Apple's", "pie"]
    assert Tokenizer("whitespace").words("New_York , it’s!") == ["new_york", ",", "it’s!"]
    assert Tokenizer("whitespace", cased=True).words("Ab c") == ["Ab", "c"]


def decoded(part: Numbered) -> list[list[str]]:
    """Turn an encoded block back into sentences."""
    types = part.types
    words = [types[i] for i in part.ids]
    sentences, position = [], 0
    for length in part.lengths.tolist():
        sentences.append(words[position : position + length])
        position += length
    assert position == len(words)
    return sentences


texts = st.text(
    st.one_of(
        st.sampled_from("abzABZ019'’-‐‑_ \t.,!?\n\u200d\u0301İßſKéÉ中अ्"),
        st.characters(exclude_categories=["Cs"], exclude_characters="\0\x1e"),
    ),
    max_size=60,
)


@given(texts, st.booleans(), st.sampled_from(["word", "whitespace"]))
@example("a'-b 'c' d--e -f- g'h-i", False, "word")
@example("Don’t İstanbul ſtraße", False, "word")
@settings(max_examples=400, deadline=None)
def test_the_fast_path_finds_the_same_words(text: str, cased: bool, kind: str) -> None:
    tokenizer = Tokenizer(kind, cased)
    part = number_words(Block(0, 1, text.encode(), wrapped=False), tokenizer, lines=True)
    words = [word for sentence in decoded(part) for word in sentence]
    assert words == [word for line in text.split("\n") for word in tokenizer.words(line)]


@given(texts)
@settings(deadline=None)
def test_splitting_into_sentences_loses_no_word(text: str) -> None:
    for wrapped in (False, True):
        part = number_words(Block(0, 1, text.encode(), wrapped), Tokenizer(), lines=False)
        words = [word for sentence in decoded(part) for word in sentence]
        assert words == Tokenizer().words(text)


SENTENCES = {
    "It rained. We stayed in.": ["It rained.", "We stayed in."],
    "Dr. Who met Mr. J. Smith. Fine!": ["Dr. Who met Mr. J. Smith.", "Fine!"],
    "“Ready?” she asked. “Yes.”": ["“Ready?” she asked.", "“Yes.”"],
    "Pi is 3.14 or so. See Fig. 9.": ["Pi is 3.14 or so.", "See Fig. 9."],
    "यह एक है। वह दो है।": ["यह एक है।", "वह दो है।"],
    "我吃苹果。他喝水！好。": ["我吃苹果。", "他喝水！", "好。"],
    "No end": ["No end"],
    "": [],
}


@pytest.mark.parametrize("text", SENTENCES)
def test_sentences(text: str) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == SENTENCES[text]


def read(*names: str, **options: object) -> list[str]:
    """Return the sentences of a corpus as lines of words, with the line each begins on."""
    corpus = Corpus(names, **options)  # type: ignore[arg-type]
    return [
        f"{line}: {' '.join(sentence)}"
        for part, _, _ in number_corpus(corpus, Tokenizer())
        for sentence, line in zip(decoded(part), part.lines.tolist(), strict=True)
    ]


def test_line_numbers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xef\xbb\xbfOne two. Three.\r\n\r\n\r\nFour\r\nfive")
    assert read(str(tmp_path / "a.txt")) == ["1: one two", "1: three", "4: four", "5: five"]


@pytest.mark.parametrize("block", [1 << 19, 1, 2, 3, 7, 64])
def test_line_ends_of_windows_change_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    text = "One two.\n\n\nThree four. Five\nsix\n \nSeven\n"
    monkeypatch.setattr(corpus_module, "BLOCK", block)  # a block may end between \r and \n
    read_data = []
    for name, end in (("unix.txt", "\n"), ("windows.txt", "\r\n")):
        (tmp_path / name).write_text(text, encoding="utf-8", newline=end)
        blocks = [block for block, _ in Corpus([str(tmp_path / name)]).blocks()]
        read_data.append((b"".join(block.data for block in blocks), read(str(tmp_path / name))))
    assert read_data[0] == read_data[1]
    assert read_data[0][0].decode() == text


@pytest.mark.parametrize("block", [1 << 19, 7, 64])
def test_wrapped_text_is_joined(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, block: int
) -> None:
    prose = (
        "It was a dark and stormy night and\n"
        "the rain fell in torrents over the\n"
        "roofs of the old town. The sea was\n"
        "grey and cold as it had been since\n"
        "May.\n"
        "\n"
        "Then came a calm and the fishermen\n"
        "went out again at dawn.\n"
    )
    expected = [
        "1: it was a dark and stormy night and the rain fell in torrents over the roofs of the"
        " old town",
        "3: the sea was grey and cold as it had been since may",
        "7: then came a calm and the fishermen went out again at dawn",
    ]
    (tmp_path / "a.txt").write_text(prose)
    if block < 1 << 19:  # whether a text is wrapped is seen in its first block only
        monkeypatch.setattr(corpus_module, "looks_wrapped", lambda text: True)
        monkeypatch.setattr(corpus_module, "BLOCK", block)
    sentences = read(str(tmp_path / "a.txt"))
    if block == 1 << 19:
        assert sentences == expected
        assert len(read(str(tmp_path / "a.txt"), lines=True)) == 7
    assert " ".join(line.partition(": ")[2] for line in sentences) == " ".join(
        Tokenizer().words(prose)
    )


def test_small_letters_alone_do_not_look_wrapped() -> None:
    assert not looks_wrapped("the apple is sweet and good\n" * 30)


@given(st.lists(texts, max_size=12), st.sampled_from([5, 16, 100]))
@settings(deadline=None, max_examples=60)
def test_blocks_hold_every_character(lines: list[str], size: int) -> None:
    """Whatever the block size, the blocks add up to the text and know their lines."""
    text = "\n".join(line.replace("\r", "") for line in lines).removeprefix("\ufeff")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "BLOCK", size)
        patch.setattr(corpus_module, "open_bytes", lambda name: _stream(text))
        blocks = [block for block, _ in Corpus(["-"], lines=True).blocks()]
    assert "".join(block.text for block in blocks) == text
    for number, block in enumerate(blocks):
        assert block.line == 1 + sum(b.text.count("\n") for b in blocks[:number])


def _stream(text: str):  # type: ignore[no-untyped-def]
    import io

    return io.BytesIO(text.encode())


@given(st.text("aé中😀", min_size=1))
@settings(deadline=None, max_examples=60)
def test_no_character_is_torn_where_no_space_is(text: str) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(corpus_module, "BLOCK", 1)
        patch.setattr(corpus_module, "open_bytes", lambda name: _stream(text))
        blocks = [block for block, _ in Corpus(["-"], lines=True).blocks()]
    assert "".join(block.text for block in blocks) == text


def test_a_very_long_line_keeps_every_word(tmp_path: Path) -> None:
    count = 30_000
    (tmp_path / "a.txt").write_text(" ".join(f"w{i}" for i in range(count)))
    for lines in (True, False):
        sentences = read(str(tmp_path / "a.txt"), lines=lines)
        words = [word for line in sentences for word in line.partition(": ")[2].split()]
        assert words == [f"w{i}" for i in range(count)]
        assert max(len(line.split()) - 1 for line in sentences) <= MAX_SENTENCE


def test_words_past_ten_thousand_in_a_line_are_trained_on(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("filler " * 12_000 + "late words " * 500)
    done = run("train", "a.txt", "--lines", "--epochs", "1", "-o", "m")
    assert "tokens\t13000\n" in done.stdout
    shown = run("show", "late", "-m", "m", "-n", "0", "--occurrences", "0", "--no-header")
    assert shown.stdout.startswith("late\tcount\t500\n")


def test_a_line_of_fifty_megabytes(tmp_path: Path) -> None:
    """It streams: never more than a few blocks are in memory."""
    (tmp_path / "a.txt").write_bytes(b"apple pie with cream " * 2_500_000)
    corpus = Corpus([str(tmp_path / "a.txt")])
    words = 0
    for block, _ in corpus.blocks():
        assert len(block.text) < 4 << 20
        words += block.text.count("apple")
    assert words == 2_500_000


def _zstd(data: bytes) -> bytes:
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        try:
            from backports import zstd
        except ImportError:
            import zstandard

            return bytes(zstandard.compress(data))
    return bytes(zstd.compress(data))


PACKED: dict[str, Callable[[bytes], bytes]] = {
    "": bytes,
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": _zstd,
}


@pytest.mark.parametrize("suffix", PACKED)
def test_packed_files(suffix: str, tmp_path: Path) -> None:
    data = b"An apple a day.\nThe doctor is away.\n" * 40_000
    file = tmp_path / f"a.txt{suffix}"
    file.write_bytes(PACKED[suffix](data))
    corpus = Corpus([str(file)])
    done = 0
    sentences = 0
    for block, size in corpus.blocks():
        done += size
        sentences += block.text.count(".")
    assert sentences == 80_000
    assert done == corpus.size == file.stat().st_size  # the bar ends at its end


@pytest.mark.posix
def test_folder(tmp_path: Path) -> None:
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / "b" / "c" / "two.txt").write_text("two")
    (tmp_path / "b" / "three.txt.gz").write_bytes(gzip.compress(b"three"))
    (tmp_path / "a.txt").write_text("one")
    (tmp_path / "photo.jpg").write_bytes(b"\xff\xd8\0\0")
    (tmp_path / ".hidden").write_text("hidden")
    (tmp_path / "ctxembed-model").mkdir()
    (tmp_path / "ctxembed-model" / "model.json").write_text("{}")
    (tmp_path / "ctxembed-model" / "vocab.txt").write_text("model")
    (tmp_path / "link.txt").symlink_to(tmp_path / "a.txt")
    (tmp_path / "loop").symlink_to(tmp_path)
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    assert read(str(tmp_path)) == ["1: one", "1: two", "1: three", "1: one"]
    assert Corpus([str(tmp_path)]).skipped == {
        str(tmp_path / "photo.jpg"): "not a text file",
        str(tmp_path / "ctxembed-model"): "a model of ctxembed",
    }


def test_several_sources_and_stdin(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("apple pie.\n" * 20)
    (tmp_path / "b.txt").write_text("bank money.\n" * 20)
    done = run(
        "train", "a.txt", "-", "b.txt", "-o", "m", "--epochs", "1", stdin="river water.\n" * 9
    )
    assert "sentences\t49\n" in done.stdout
    output = run("info", "-m", "m").stdout
    assert [line.split()[1] for line in output.splitlines() if line.startswith("file")] == [
        "a.txt",
        "-",
        "b.txt",
    ]


@pytest.mark.posix
def test_a_pipe_with_a_name(run: Run, tmp_path: Path) -> None:
    line = f'{sys.executable} -m ctxembed train <(yes "an apple" | head -99) -o m --epochs 1 -q'
    from tests.conftest import ROOT

    done = subprocess.run(
        ["bash", "-c", line], cwd=tmp_path, env={"PYTHONPATH": str(ROOT)}, capture_output=True
    )
    assert b"sentences\t99\n" in done.stdout


def test_encodings(tmp_path: Path) -> None:
    text = "Café au lait.\nÀ demain.\n"
    for encoding in ("latin-1", "cp1252", "utf-16", "utf-8"):
        file = tmp_path / encoding
        file.write_bytes(text.encode(encoding))
        assert read(str(file), encoding=encoding) == ["1: café au lait", "2: à demain"], encoding
    assert read(str(tmp_path / "latin-1"), errors="replace") == ["1: caf au lait", "2: demain"]
    for errors in ("strict", "replace"):
        with pytest.raises(CorpusError, match=r"utf-8: not utf-16; give the right --encoding"):
            read(str(tmp_path / "utf-8"), encoding="utf-16", errors=errors)


def test_a_character_across_two_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus_module, "BLOCK", 16)
    (tmp_path / "a.txt").write_text("ééééééééééé ünü\nçç çç\n" * 3, encoding="utf-8")
    assert read(str(tmp_path / "a.txt")) == [
        line for i in range(3) for line in (f"{2 * i + 1}: ééééééééééé ünü", f"{2 * i + 2}: çç çç")
    ]


def test_files_that_ctxembed_wrote_are_no_corpus(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "texts"
    folder.mkdir()
    text = {"a.txt": "An apple a day.\n", "b.log": "label\tsentence\nx\tan apple\n",
            "c.txt": "12 30\nwas the score\n", "d.dat": "apple,pear\n1,2\n"}  # fmt: skip
    for name, content in text.items():
        (folder / name).write_text(content)
    lines = ("compare|[apple]", "neighbors|apple", "kwic|apple", "similarity|apple|juice", "info")
    for number, line in enumerate(lines):
        for suffix in ("tsv", "csv", "json", "jsonl", "md", "tex", "svg", "html"):
            run(*line.split("|"), "-o", str(folder / f"{number}.{suffix}"))
    for name in ("v.txt", "v.vec", "v.bin", "v.npy"):
        assert run("export", str(folder / name)).returncode == 0
    run("explore", "the [apple]", "-o", str(folder / "page.html"))
    corpus = Corpus([str(folder)])
    assert [Path(source.name).name for source in corpus.sources] == list(text)
    assert corpus.skipped[str(folder / "0.json")] == "written by ctxembed"
    assert len(corpus.skipped) >= 5 * 6 + 6
    done = run("train", str(folder), "-o", "m", "--epochs", "1", "--min-count", "1")
    assert "0.csv: skipped, written by ctxembed\n" in done.stderr
    # a file that is named is read, whatever it holds
    assert Corpus([str(folder / "0.md")]).sources
    # but a table and XML only with the column or the element that is a document
    with pytest.raises(CorpusError, match="--text-column"):
        Corpus([str(folder / "0.tsv")])


@pytest.mark.parametrize("end", ["\r", "\r\n", "\n"])
def test_every_kind_of_line_end(run: Run, tmp_path: Path, end: str) -> None:
    (tmp_path / "a.txt").write_bytes(end.join(["an apple", "a pear", ""]).encode())
    done = run("tokenize", "a.txt", "--lines", "--per", "sentence", "--no-header")
    assert [line.split("\t")[:2] for line in done.stdout.splitlines()] == [
        ["1", "an apple"], ["2", "a pear"],
    ]  # fmt: skip
