"""Metadata: tables that name the files, typed columns, groups, damage."""

import json
from datetime import date
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import CorpusError, ModelError, UsageError
from ctxembed.model.model import Model
from ctxembed.model.selection import matching_documents, select
from ctxembed.queries.kwic import kwic
from ctxembed.text import tables
from ctxembed.text.document_table import make_column, match_keys, read_document_table
from ctxembed.text.tables import TableFile
from ctxembed.text.where import parse_where
from tests.conftest import Run

DAYS = ["2001-01-31", "2001-02-01", "2001-12-31", "2002-01-01", ""]


@pytest.mark.parametrize(
    ("values", "kind", "first"),
    [
        (["1945", "-3", ""], "integer", 1945),
        (["1945.0", "2001.0"], "integer", 1945),
        (["1.5", "2"], "number", 1.5),
        (["1e3", "NA"], "number", 1000.0),
        (["01234", "99999"], "text", "01234"),
        (["1945-05-08", "NA"], "date", "1945-05-08"),
        (["1945-05-08T10:00:00Z", ""], "date", "1945-05-08"),
        (["1945-13-08"], "text", "1945-13-08"),
        (["NA", "Dem"], "text", "NA"),
        ([""], "text", None),
        (["two\nlines"], "text", "two lines"),
        (["9" * 40], "number", float("9" * 40)),
    ],
)
def test_kind_of_a_column(values: list[str], kind: str, first: object) -> None:
    column = make_column("x", values)
    assert (column.kind, column.cell(0)) == (kind, first)
    assert column.missing.tolist() == [v == "" or (kind != "text" and v == "NA") for v in values]


@pytest.mark.parametrize(
    ("text", "first", "last"),
    [("2001", (2001, 1, 1), (2001, 12, 31)), ("2001-02", (2001, 2, 1), (2001, 2, 28)),
     ("2001-12", (2001, 12, 1), (2001, 12, 31)), ("2001-01-31", (2001, 1, 31), (2001, 1, 31))],
)  # fmt: skip
def test_a_year_or_a_month_is_all_its_days(
    text: str, first: tuple[int, int, int], last: tuple[int, int, int]
) -> None:
    column, low, high = make_column("day", DAYS), date(*first), date(*last)
    days = [date.fromisoformat(day) for day in DAYS[:-1]]
    for operator, expected in (
        ("=", [low <= day <= high for day in days]),
        ("!=", [not low <= day <= high for day in days]),
        ("<", [day < low for day in days]), ("<=", [day <= high for day in days]),
        (">", [day > high for day in days]), (">=", [day >= low for day in days]),
    ):  # fmt: skip
        assert column.matches(operator, text).tolist() == [*expected, False], operator


def test_ranges() -> None:
    years = make_column("year", ["1931", "1945", "", "1949", "1940"])
    assert years.matches("=", "1940..1945").tolist() == [False, True, False, False, True]
    assert years.matches("!=", "1940 .. 1945").tolist() == [True, False, False, True, False]
    days = make_column("day", ["2001-12-31", "2002-05-31", "2002-06-01", ""])
    assert days.matches("=", "2001..2002-05").tolist() == [True, True, False, False]
    with pytest.raises(UsageError, match=r"and '' is none; write 5 or 1\.\.5"):
        years.matches("=", "1940..")


def test_groups_and_bins() -> None:
    years = make_column("year", ["1931", "1945", "", "1949", "1940"])
    groups = years.groups(10)
    assert (groups.names, groups.starts) == (["1930-1939", "1940-1949"], [1930, 1940])
    assert groups.numbers.tolist() == [0, 1, -1, 1, 1]
    assert years.groups().names == ["1931", "1940", "1945", "1949"]
    days = make_column("day", DAYS).groups()
    assert (days.names, days.numbers.tolist()) == (["2001", "2002"], [0, 0, 0, 1, -1])
    parties = make_column("party", ["Rep", "", "Dem"]).groups()
    assert (parties.names, parties.numbers.tolist()) == (["Dem", "Rep"], [1, -1, 0])
    assert make_column("x", ["0.3", "-0.1"]).groups(0.25).names == ["-0.25-0", "0.25-0.5"]
    with pytest.raises(UsageError, match="party holds texts"):
        make_column("party", ["Rep"]).groups(10)


def test_keys_are_ends_of_paths() -> None:
    files = ["in/1945.txt", "in/b/1946.txt.gz", "other\\1947.txt"]
    assert match_keys(["1945", "b/1946", "1947.txt"], files) == {
        0: "1945",
        1: "b/1946",
        2: "1947.txt",
    }
    with pytest.raises(CorpusError, match="'a' fits one"):
        match_keys(["a"], ["one/a.txt", "two/a.txt"])


def read(path: Path, content: str | bytes, name: str = "meta.tsv") -> dict[str, dict[str, str]]:
    file = path / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return dict(read_document_table(str(file)).rows)


def test_tables(tmp_path: Path) -> None:
    expected = {"a": {"x": "1", "y": 'say "hi"\nyou'}, "b": {"x": "", "y": "t"}}
    assert read(tmp_path, 'id\tx\ty\na\t1\t"say ""hi""\nyou"\nb\t\tt\n') == expected
    assert read(tmp_path, '\ufeffx,id,y\r\n1,a,"say ""hi""\nyou"\r\n,b,t\r\n', "m.csv") == expected
    assert read(tmp_path, 'x;id;y\n1;a;"say ""hi""\nyou"\n;b;t\n', "m.csv") == expected
    lines = [{"id": "a", "x": 1, "y": 'say "hi"\nyou'}, {"id": "b", "x": None, "y": "t"}]
    assert read(tmp_path, "\n".join(map(json.dumps, lines)), "m.jsonl") == expected
    long = "w" * 300_000  # csv takes 131,072 characters unless told otherwise
    assert read(tmp_path, f"id\tx\na\t{long}\n") == {"a": {"x": long}}


@pytest.mark.parametrize(
    ("content", "name", "problem"),
    [
        ("", "m.tsv", "no line of column names"),
        ("id\tx\n", "m.tsv", "no rows"),
        ("id\tx\na\n", "m.tsv", "line 2: 1 cells, but the first line names 2 columns"),
        ("id\tx\na\t1\na\t2\n", "m.tsv", "line 3: a second row about 'a'"),
        ("id\tx\n\t1\n", "m.tsv", "line 2: id is empty"),
        ("id\tx\tx\na\t1\t2\n", "m.tsv", "two columns are named 'x'"),
        (b"id\tx\na\t\xff\n", "m.tsv", "byte 0xff is not utf-8"),
        ("id\tx\na\t\0\n", "m.tsv", "NUL"),
        ('id\tx\na\t"1\n', "m.tsv", "line 2"),
        ("\t".join(map(str, range(600))), "m.tsv", "600 columns"),
        ("[1]\n", "m.jsonl", "line 1: not a JSON object"),
        ("{" * 100_000, "m.jsonl", "line 1: not a JSON object"),
    ],
)
def test_tables_that_cannot_be_read(
    tmp_path: Path, content: str | bytes, name: str, problem: str
) -> None:
    with pytest.raises(CorpusError) as error:
        read(tmp_path, content, name)
    assert problem in str(error.value) and str(error.value).startswith(str(tmp_path / name))


@pytest.mark.parametrize("name", ["m.tsv", "m.jsonl"])
def test_a_line_without_end_is_not_read_whole(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "MAX_CELL", 1000)
    content = f'{{"id": "a"}}\n{"x" * 3000}'
    with pytest.raises(CorpusError, match="line 2 is longer than"):
        read(tmp_path, content, name)


def test_checksum_of_a_table(tmp_path: Path) -> None:
    from hashlib import sha256

    file = tmp_path / "m.tsv"
    file.write_bytes(b"id\tx\n" + b"a\t1\n" * 50_000)
    table = TableFile(str(file))
    assert len(list(table.rows())) == 50_000
    assert table.sha256 == sha256(file.read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def speeches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Path of a model over six speeches with metadata; the last has no row."""
    folder = tmp_path_factory.mktemp("speeches")
    texts = folder / "in"
    texts.mkdir()
    rows = ["File\tParty\tyear\tline"]
    for number in range(6):
        words = "bank money" if number % 2 else "river bank"
        (texts / f"s{number}.txt").write_text(f"The {words} apple.\nThe bank {number}.\n")
        if number < 5:
            rows.append(f"s{number}\t{'Rep' if number % 2 else 'Dem'}\t{1940 + number}\tx{number}")
    (texts / "meta.tsv").write_text("\n".join(rows) + "\n")
    from ctxembed.text.corpus import Corpus
    from ctxembed.training.index_ import index

    corpus = Corpus([str(texts)])
    corpus.describe_files(str(texts / "meta.tsv"))
    index("everyday", corpus, folder / "model")
    return folder / "model"


def test_stored_with_the_index(speeches: Path) -> None:
    metadata = Model.open(speeches).index.metadata  # type: ignore[union-attr]
    assert metadata.names == ["party", "year", "line_"]  # line is a column of kwic
    assert metadata.cells(3) == ["s3", "Rep", 1943, "x3"]
    assert metadata.cells(5) == [str(speeches.parent / "in" / "s5.txt"), None, None, None]
    described = Model.open(speeches).meta
    assert (described["document"], described["documents"]) == ("file", 6)
    assert described["metadata"]["name"].endswith("meta.tsv")
    assert len(described["metadata"]["sha256"]) == 64


def test_kwic_prints_and_filters(run: Run, speeches: Path) -> None:
    at = ("-m", str(speeches))
    done = run("kwic", "bank", "--where", "party=Rep and year>=1942", *at)
    names, *lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert names[:7] == ["word", "file", "line", "document", "party", "year", "line_"]
    assert [line[3:7] for line in lines] == 2 * [["s3", "Rep", "1943", "x3"]]
    assert "2 occurrences in 1 document\n" in done.stderr
    both = run("kwic", "bank", "--where", "party=Rep", "--where", "left=river", *at)
    assert both.stdout.count("\n") == 1 and "no occurrence has left=river" in both.stderr
    table = kwic(speeches, "bank", where="right=money and year<1944", width=30)
    assert table["document"] == ["s1", "s3"]
    missing = kwic(speeches, "bank", where="party=''")
    assert set(missing["document"]) == {str(speeches.parent / "in" / "s5.txt")}
    assert kwic(speeches, "bank", where={"file": "*s4.txt"})["document"] == ["s4", "s4"]
    two = kwic(speeches, "apple", where="year=1941..1942,1944..1950")
    assert two["document"] == ["s1", "s2", "s4"]


@pytest.mark.parametrize(
    ("where", "message"),
    [
        ("party=Green", "--where matches none of the 6 documents: party is Dem, Rep"),
        ("year>1990", "--where matches none of the 6 documents: year goes from 1940 to 1944"),
        ("file=Roosevelt", "--where matches none of the 6 documents: file is "),
        ("colour=red", "no column 'colour' in this corpus, it has file, document, party, year"),
        ("year=soon", "year holds numbers, and 'soon' is none"),
        ("left=a or party=Rep", "sense, left, right, l1 and r1 take = or !=, and are"),
    ],
)
def test_conditions_that_match_nothing(run: Run, speeches: Path, where: str, message: str) -> None:
    done = run("kwic", "bank", "--where", where, "-m", str(speeches))
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr


def test_words_that_are_nowhere_in_the_corpus(run: Run, speeches: Path) -> None:
    done = run("kwic", "orange bank", "-m", str(speeches))
    assert done.returncode == 0
    nowhere = "ctxembed: orange bank: 0 occurrences in 0 documents"
    assert done.stderr == f"{nowhere}; the corpus has no orange\n"
    rare = run("kwic", "river apple", "-m", str(speeches))
    assert rare.stderr == "ctxembed: river apple: 0 occurrences in 0 documents\n"


def test_a_selection_is_an_index_of_these_documents(speeches: Path, tmp_path: Path) -> None:
    # The oracle: the same files, indexed alone.
    from ctxembed.text.corpus import Corpus
    from ctxembed.training.index_ import index

    names = [str(speeches.parent / "in" / f"s{number}.txt") for number in (1, 3)]
    index("everyday", Corpus(names, document="file"), tmp_path / "alone")
    alone, part = Model.open(tmp_path / "alone"), select(Model.open(speeches), "party=Rep")
    one, other = alone.index, part.index
    assert one is not None and other is not None
    np.testing.assert_array_equal(part.counts, alone.counts)
    np.testing.assert_array_equal(one.offsets, other.offsets)
    assert part.tokens == alone.tokens
    assert one.words(one.ids) == other.words(other.ids)
    row = alone.vocabulary.words.index("bank")
    np.testing.assert_array_equal(one.positions(row), other.positions(row))
    columns = ["line", "left", "hit", "right"]
    for table in (kwic(alone, "bank"), kwic(part, "bank")):
        assert [[row[name] for name in columns] for row in table] == [
            [1, "The", "bank", "money apple. The bank 1."],
            [2, "The bank money apple. The", "bank", "1."],
            [1, "The", "bank", "money apple. The bank 3."],
            [2, "The bank money apple. The", "bank", "3."],
        ]
    assert {row["file"] for row in kwic(part, "bank")} == set(names)


def test_a_selection_is_not_saved(speeches: Path) -> None:
    part = select(Model.open(speeches), "party=Rep")
    with pytest.raises(UsageError, match="nothing is saved with --where"), part.locked():
        pass


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("metadata.json", b"{"),
        ("metadata.json", b'{"format": 1, "columns": [{"name": "../a", "kind": "text"}]}'),
        ("metadata.json", b'{"format": 1, "columns": [{"name": "a", "kind": "pickle"}]}'),
        ("metadata.json", b'{"format": 1, "columns": [{"name": "file", "kind": "text"}]}'),
        ("metadata.json", b'{"format": 9, "columns": []}'),
        ("column-1.txt", b"Dem\n"),  # fewer values than the array names
        ("column-2.npy", b"no array"),
    ],
)
def test_damaged_metadata_is_refused(
    speeches: Path, tmp_path: Path, name: str, content: bytes
) -> None:
    import shutil

    folder = tmp_path / "model"
    shutil.copytree(speeches, folder)
    described = json.loads((folder / "model.json").read_text(encoding="utf-8"))
    for key in ("contents", "generation"):  # without checksums, as a hostile model may be
        del described[key]
    (folder / "model.json").write_text(json.dumps(described), encoding="utf-8")
    (folder / "index" / name).write_bytes(content)
    with pytest.raises(ModelError, match=name.split(".")[0]):
        _ = Model.open(folder).index.metadata  # type: ignore[union-attr]
    from ctxembed.model.validate import find_fault

    fault = find_fault(Model.open(folder))
    assert fault is not None and name.split(".")[0] in str(fault)


def test_documents_of_a_corpus_without_metadata(tiny: Path) -> None:
    index = Model.open(tiny).index
    assert index is not None
    assert matching_documents(index, parse_where("file=tiny*")).all()
