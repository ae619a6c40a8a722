"""Tables in files of other programs: read again with pandas, pyarrow and openpyxl, or as XML."""

import csv
import json
import zipfile
from hashlib import sha256
from pathlib import Path
from xml.etree import ElementTree

import pytest

from ctxembed.output.frames import write_frame
from ctxembed.output.render import render
from ctxembed.table import Column, Table
from tests.conftest import Run, mentions

HOSTILE = [
    ("=1+1", 1.5, None), ('a "quoted" word', -2.0, 3), ("tab\there", 0.1, 4), ("<&>", 1e-7, 5),
    ("'single", 2.0, 6), ("# no comment", 3.0, 7), ("two\nlines", 4.0, 8), (" spaces ", 5.0, 9),
]  # fmt: skip
TABLE = Table(("word", "number", "count"), HOSTILE)
MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def test_a_sheet_has_texts_and_numbers(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    assert write_frame(path, TABLE) == len(HOSTILE)
    with zipfile.ZipFile(path) as archive:
        for name in archive.namelist():
            ElementTree.fromstring(archive.read(name))
        sheet = ElementTree.fromstring(archive.read("xl/worksheets/sheet1.xml"))
    rows = [list(row) for row in sheet.iter(f"{MAIN}row")]
    assert ["".join(cell.itertext()) for cell in rows[0]] == ["word", "number", "count"]
    assert [cell.get("t") for cell in rows[1]] == ["inlineStr", None, None]  # no formula
    assert ["".join(cell.itertext()) for cell in rows[1]] == ["=1+1", "1.5", ""]
    assert float("".join(rows[4][1].itertext())) == 1e-7
    before = path.read_bytes()
    write_frame(path, TABLE)
    assert path.read_bytes() == before


def test_openpyxl_reads_the_sheet(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write_frame(tmp_path / "a.xlsx", TABLE)
    sheet = openpyxl.load_workbook(tmp_path / "a.xlsx").active
    rows = list(sheet.iter_rows(values_only=True))
    assert rows[0] == ("word", "number", "count")
    assert rows[1] == ("=1+1", 1.5, None) and rows[4] == ("<&>", 1e-7, 5)


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_arrow_files(tmp_path: Path, suffix: str) -> None:
    pytest.importorskip("pyarrow")
    from pyarrow import feather, parquet

    path = tmp_path / f"a.{suffix}"
    assert write_frame(path, TABLE) == len(HOSTILE)
    read = (parquet if suffix == "parquet" else feather).read_table(path)
    assert [tuple(row.values()) for row in read.to_pylist()] == HOSTILE


def test_tsv_is_read_as_it_was_written() -> None:
    """By the rules of R's read.delim and pandas.read_csv(sep="\\t"): only \" quotes."""
    text = "".join(render(TABLE, "tsv", precision=7))
    rows = list(csv.reader(text.splitlines(), delimiter="\t"))
    assert rows[0] == ["word", "number", "count"]
    expected = [" ".join(word.split()) if {"\t", "\n"} & set(word) else word
                for word, *_ in HOSTILE]  # fmt: skip
    assert [row[0] for row in rows[1:]] == expected
    assert {len(row) for row in rows} == {3}
    assert float(rows[4][1]) == pytest.approx(1e-7)


def test_pandas_reads_tsv(tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    (tmp_path / "a.tsv").write_text("".join(render(TABLE, "tsv", precision=7)), encoding="utf-8")
    frame = pandas.read_csv(tmp_path / "a.tsv", sep="\t")
    assert frame["number"].tolist() == [row[1] for row in HOSTILE]
    assert frame["word"][1] == 'a "quoted" word' and frame["word"][4] == "'single"


def test_long_columns_are_paragraphs_in_latex() -> None:
    long = (Column("markers", role="long"), Column("examples", role="long"))
    table = Table((Column("word", role="label"), *long), [])
    head = next(iter(render(table, "latex")))
    assert head.startswith("\\begin{tabular}{lp{0.30\\linewidth}p{0.30\\linewidth}}")


def test_the_name_chooses_the_format(run: Run, tmp_path: Path) -> None:
    done = run("neighbors", "apple", "-o", "a.xlsx")
    assert (done.returncode, done.stdout) == (0, "")
    assert zipfile.is_zipfile(tmp_path / "a.xlsx")
    refused = run("neighbors", "apple", "-o", "a.ods")
    assert (refused.returncode, refused.stdout) == (2, "")
    assert mentions(refused.stderr, ".ods .xlsx") and not (tmp_path / "a.ods").exists()
    assert run("neighbors", "apple", "-o", "a.ods", "-f", "csv").returncode == 0  # on request


def test_a_log_reproduces_a_table(run: Run, tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "texts.txt").write_text("the [apple] launched\n")
    command = ["shift", str(tiny), str(tiny), "apple", "--min-count", "1", "--seed", "5"]
    assert run(*command, "-o", "a.csv", "--log", "run.json").returncode == 0
    log = json.loads((tmp_path / "run.json").read_text(encoding="utf-8"))
    assert log["options"]["seed"] == 5 and log["ctxembed"] and log["packages"]["numpy"]
    written = (tmp_path / "a.csv").read_bytes()
    assert log["output"] == {"path": "a.csv", "sha256": sha256(written).hexdigest()}
    (model,) = log["inputs"]
    assert model["path"] == str(tiny)
    assert model["sha256"] == sha256((tiny / "model.json").read_bytes()).hexdigest()
    assert model["corpus"] == [{"name": "tiny.txt", "sha256": "0" * 64}]
    assert run(*command, "-o", "b.csv").returncode == 0
    assert (tmp_path / "b.csv").read_bytes() == written
    assert run(*command, "--log", "none/run.json").returncode == 2
    assert run(*command, "-o", "a.csv", "--log", "a.csv").returncode == 2


def test_cite_names_the_version(run: Run) -> None:
    done = run("cite")
    plain, entry = done.stdout.split("\n\n")
    from ctxembed import __version__

    citation = (Path(__file__).parents[2] / "CITATION.cff").read_text(encoding="utf-8")
    assert f"version: {__version__}" in citation and f"version {__version__}" in plain
    title = next(line for line in citation.splitlines() if line.startswith("title"))
    assert title.split('"')[1] in plain and f"version = {{{__version__}}}" in entry
    assert entry.count("{") == entry.count("}")
