"""Documents of tables, XML, CoNLL-U and VRT: the same as plain files of the same text."""

import csv
import json
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import CorpusError, CtxembedError, ModelError
from ctxembed.progress import SILENT
from ctxembed.text.build_index import build
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import Tokenizer
from tests.conftest import Run

TEXTS = {
    "a1": "The river bank was wet.\nWe sat on the bank. It was long.",
    "a2": "... !",  # no words
    "a3": 'The bank "lends", they say; über 3.5 %.\r\n\r\nNew paragraph, São Paulo.',
    "a4": "word " * 150_000 + "\n\nlast",  # longer than a block
    "a5": "One.\n",
}


def read(corpus: Corpus, folder: Path) -> Index:
    folder.mkdir()
    counted = build(corpus, Tokenizer(), folder, 1, SILENT, keep=True)
    return Index(folder, counted.types, counted.files)


def plain(folder: Path) -> Index:
    """Return the index of the same texts as files."""
    files = folder / "files"
    files.mkdir()
    for name, text in TEXTS.items():
        (files / f"{name}.txt").write_bytes(text.encode())
    return read(Corpus([str(files)], document="file"), folder / "plain")


def rows() -> list[dict[str, object]]:
    return [{"id": name, "n": number, "speech": text}
            for number, (name, text) in enumerate(TEXTS.items())]  # fmt: skip


def write(kind: str, file: Path) -> None:
    if kind == "parquet":
        pa, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        parquet.write_table(pa.Table.from_pylist(rows()), file)
    elif kind == "jsonl":
        file.write_text("".join(f"{json.dumps(row)}\n" for row in rows()), encoding="utf-8")
    else:
        with file.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.DictWriter(
                stream, ["id", "n", "speech"], delimiter="\t" if kind == "tsv" else ","
            )
            writer.writeheader()
            writer.writerows(rows())


@pytest.mark.parametrize("kind", ["csv", "tsv", "jsonl", "parquet"])
def test_a_table_is_as_good_as_files(kind: str, tmp_path: Path) -> None:
    file = tmp_path / f"speeches.{kind}"
    write(kind, file)
    index, files = read(Corpus([str(file)], text_column="speech"), tmp_path / "i"), plain(tmp_path)
    for name in ("ids", "offsets", "documents", "lines"):
        np.testing.assert_array_equal(getattr(index, name), getattr(files, name), name)
    assert index.metadata.column("document").groups().names == ["a1", "a3", "a4", "a5"]
    assert [index.metadata.cells(number)[1] for number in range(4)] == [0, 2, 3, 4]
    assert index.original is not None and files.original is not None
    for token in (0, 5, 20, len(index.ids) - 1):
        mine, other = (text.around(token, 1, 23) for text in (index.original, files.original))
        assert mine[:2] == other[:2] and mine[2].rstrip() == other[2].rstrip()
    assert index.files[0]["sha256"] == __import__("hashlib").sha256(file.read_bytes()).hexdigest()


def test_parquet_without_pyarrow(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    corpus = Corpus([str(tmp_path / "a.parquet")] if (tmp_path / "a.parquet").write_bytes(b"PAR1")
                    else [], text_column="x")  # fmt: skip
    with pytest.raises(CtxembedError, match=r"parquet needs pyarrow.*ctxembed\[parquet\]"):
        read(corpus, tmp_path / "i")


XML = """<?xml version="1.0" encoding="iso-8859-1"?>
<!DOCTYPE corpus>
<corpus xmlns:t="x" name="debates"><head>not read</head>
 <session date="1945-05-08">
  <t:speech xml:id="s1" who="A&amp;B"><p>The <hi>river</hi> bank
   was wet.</p><p>Caf\xe9<note/> life</p></t:speech>
  <speech who="C" party="Red">The <u>bank</u> lends.</speech>
 </session></corpus>"""


def test_xml(tmp_path: Path) -> None:
    (tmp_path / "a.xml").write_bytes(XML.encode("latin-1"))
    index = read(Corpus([str(tmp_path / "a.xml")], document_tag="speech"), tmp_path / "i")
    expected = "the river bank was wet café life the bank lends"
    assert " ".join(index.words(index.ids)) == expected
    assert index.documents.tolist() == [0, 7, 10] and index.offsets.tolist() == [0, 5, 7, 10]
    metadata = index.metadata
    assert metadata.names == ["name", "date", "who", "party"]
    assert metadata.column("date").kind == "date"
    assert metadata.cells(0) == ["s1", "debates", "1945-05-08", "A&B", None]
    assert metadata.cells(1)[3:] == ["C", "Red"]


BOMB = '<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;">]><a><speech>&c;</speech></a>'


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: not XML"),
        ("<a><speech>", "not XML"),
        ("<a><b></a>", "not XML: mismatched tag"),
        (BOMB, "declares entities"),
        ("<a><p>x</p><p>y</p></a>", "no element 'speech'; --document-tag is one of p (2), a (1)"),
        ("<x>" * 2000, "nested too deep"),
        ("\0\1\2", "not XML"),
    ],
)
def test_xml_that_cannot_be_read(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.xml").write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError) as error:
        read(Corpus([str(tmp_path / "a.xml")], document_tag="speech"), tmp_path / "i")
    assert message in str(error.value)


def conllu(*tokens: tuple[str, str, str, str]) -> str:
    lines = ("\t".join((*token, *"______")) for token in tokens)
    return "\n".join(lines) + "\n\n"


CONLLU = (
    "# newdoc id = d1\n# meta::party = Red\n# sent_id = 1\n"
    + conllu(("1", "The", "the", "DET"), ("2", "banks", "bank", "NOUN"), ("3-4", "don't", "_", ""),
             ("3", "do", "do", "AUX"), ("4", "n't", "not", "PART"), ("4.1", "x", "x", "X"),
             ("5", "lend", "lend", "VERB"), ("6", ",", ",", "PUNCT"),
             ("7", "naïve", "naïve", "ADJ"))
    + "# newdoc id = d2\n" + conllu(("1", "Bank", "bank", "VERB"), ("2", "it", "_", "_"))
)  # fmt: skip
VRT = """<!-- #vrt positional-attributes: word lemma pos -->
<text id="v1" year="1990" who="A &amp; B">
<s>
The\tthe\tDT
R&amp;D\tR&amp;D\tNN
&lt;\t&lt;\tSYM
lends\tlend\tVBZ
</s>
</text>
<text id='v2' year='1991'>
Rivers\triver\tNNS
</text>
"""


def annotated(index: Index) -> list[tuple[str, str, str]]:
    layers = index.layers
    columns = [[layers[name].values[i] for i in layers[name].numbers] for name in ("lemma", "pos")]
    return list(zip(index.words(index.ids), *columns, strict=True))


def test_conllu(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    index = read(Corpus([str(tmp_path / "a.conllu")]), tmp_path / "i")
    assert annotated(index) == [
        ("the", "the", "DET"), ("banks", "bank", "NOUN"), ("don't", "do+not", "AUX+PART"),
        ("lend", "lend", "VERB"), ("naïve", "naïve", "ADJ"), ("bank", "bank", "VERB"),
        ("it", "", ""),
    ]  # fmt: skip
    assert index.offsets.tolist() == [0, 5, 7] == index.documents.tolist()
    assert index.metadata.cells(0) == ["d1", "Red"]
    assert index.metadata.cells(1) == ["d2", None]
    assert index.original is not None
    assert index.original.around(1, 1, 12) == ("The ", "banks", " don't lend, ")


def test_vrt(tmp_path: Path) -> None:
    (tmp_path / "a.vrt").write_text(VRT, encoding="utf-8")
    index = read(Corpus([str(tmp_path / "a.vrt")]), tmp_path / "i")
    assert annotated(index) == [
        ("the", "the", "DT"), ("r", "R&D", "NN"), ("d", "R&D", "NN"), ("lends", "lend", "VBZ"),
        ("rivers", "river", "NNS"),
    ]  # fmt: skip
    assert index.metadata.names == ["year", "who"]
    assert index.metadata.cells(0) == ["v1", 1990, "A & B"]
    assert index.metadata.cells(1) == ["v2", 1991, None]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("1\tThe\tthe\n", "line 1: 3 columns; CoNLL-U has 10"),
        (conllu(("1-x", "The", "the", "DET")), "line 1: '1-x' is not a range"),
        (conllu(("1", "a\0", "the", "DET")), "line 1: a NUL"),
        ("# only a comment\n", "contains no words"),
    ],
)
def test_conllu_that_cannot_be_read(tmp_path: Path, content: str, message: str) -> None:
    (tmp_path / "a.conllu").write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError) as error:
        read(Corpus([str(tmp_path / "a.conllu")]), tmp_path / "i")
    assert message in str(error.value)


def test_metadata_of_records(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    (tmp_path / "meta.csv").write_text("document,year\nd2,1950\n", encoding="utf-8")
    corpus = Corpus([str(tmp_path / "a.conllu")])
    corpus.describe_files(str(tmp_path / "meta.csv"))
    metadata = read(corpus, tmp_path / "i").metadata
    assert [metadata.cells(number) for number in (0, 1)] == [
        ["d1", "Red", None],
        ["d2", None, 1950],
    ]


def test_structured_files_are_not_read_as_prose(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("id,speech\n1,the bank\n")
    (tmp_path / "a.xml").write_text("<a/>")
    (tmp_path / "a.txt").write_text("the bank of the river\n")
    out = ("-m", "everyday", "-o", str(tmp_path / "out"))
    for name, advice in (("a.csv", "--text-column"), ("a.xml", "--document-tag")):
        done = run("index", str(tmp_path / name), *out)
        assert (done.returncode, done.stdout) == (5, "")
        assert advice in done.stderr
    done = run("index", str(tmp_path), *out)
    assert "tokens\t5\n" in done.stdout
    assert "a.csv: skipped, a table; read it with --text-column" in done.stderr
    done = run("index", str(tmp_path / "a.csv"), *out, "--force", "--text-column", "text")
    assert "no column 'text'; --text-column is one of id, speech" in done.stderr


def test_units_and_phrases_drop_the_layers(run: Run, tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU * 30, encoding="utf-8")
    for number, options in enumerate(([], ["--unit", "character"], ["--phrases"])):
        at = tmp_path / str(number)
        run("train", str(tmp_path / "a.conllu"), "--static-only", "--epochs", "1", "--dim", "4",
            "-o", str(at), "--min-count", "1", *options)  # fmt: skip
        assert (at / "index" / "layer-pos.npy").exists() == (not options)
        assert run("kwic", "bank", "-m", str(at), "-n", "1").returncode == 0


@pytest.mark.parametrize("numbers", [[0] * 6, [0] * 6 + [9], [0] * 6 + [-1], [0.0] * 7])
def test_damaged_layers_are_refused(tmp_path: Path, numbers: list[int]) -> None:
    (tmp_path / "a.conllu").write_text(CONLLU, encoding="utf-8")
    index = read(Corpus([str(tmp_path / "a.conllu")]), tmp_path / "i")
    kind = np.float32 if isinstance(numbers[0], float) else np.int32
    np.save(tmp_path / "i" / "layer-pos.npy", np.array(numbers, kind))
    with pytest.raises(ModelError, match=r"layer-pos\.npy: damaged"):
        _ = index.layers
