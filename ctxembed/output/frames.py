"""Write a Table as a data frame: Parquet, Feather, or an Excel sheet."""

import math
import zipfile
from collections.abc import Iterable, Iterator
from html import escape
from pathlib import Path
from typing import Any

from ctxembed.errors import CtxembedError, UsageError
from ctxembed.output.cells import expand_vectors
from ctxembed.output.letters import clean
from ctxembed.storage.atomic import atomic_file
from ctxembed.table import Cell, Column, Table

MAX_ROWS, MAX_COLUMNS, MAX_LETTERS = 1_048_576, 16_384, 32_767  # of a sheet, and in a cell
CONTENT_TYPES = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">\
<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>\
<Default Extension="xml" ContentType="application/xml"/>\
<Override PartName="/xl/workbook.xml" ContentType=\
"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/>\
<Override PartName="/xl/worksheets/sheet1.xml" ContentType=\
"application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>"""
RELATIONS = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">\
<Relationship Id="rId1" Type=\
"http://schemas.openxmlformats.org/officeDocument/2006/relationships/{kind}" Target="{target}"/>\
</Relationships>"""
WORKBOOK = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" \
xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">\
<sheets><sheet name="ctxembed" sheetId="1" r:id="rId1"/></sheets></workbook>"""
SHEET = """<?xml version="1.0" encoding="UTF-8" standalone="yes"?>
<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>"""
EPOCH = (1980, 1, 1, 0, 0, 0)  # equal tables give equal bytes


def write_frame(path: Path, table: Table) -> int:
    """Write a table to a .parquet, .feather or .xlsx file; return the number of rows."""
    if path.suffix.lower() == ".xlsx":
        return _write_sheet(path, table)
    try:
        import pyarrow.feather
        import pyarrow.parquet
    except ImportError:
        fix = "pip install pyarrow, or choose .csv or .xlsx"
        raise CtxembedError(f"Writing {path.suffix} needs pyarrow: {fix}") from None
    rows = table.to_arrow()
    with atomic_file(path) as file:
        if path.suffix.lower() == ".parquet":
            pyarrow.parquet.write_table(rows, file)
        else:
            pyarrow.feather.write_feather(rows, file)
    return int(rows.num_rows)


def _write_sheet(path: Path, table: Table) -> int:
    """Write the only sheet of an Excel file; texts are cells, never formulas."""
    columns, rows = expand_vectors(table.columns, table.stream())
    if len(columns) > MAX_COLUMNS:
        raise UsageError(f"-o {path}: {len(columns)} columns; a sheet has at most {MAX_COLUMNS:,}")
    number = 0
    with atomic_file(path) as file, zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        parts = {
            "[Content_Types].xml": CONTENT_TYPES,
            "_rels/.rels": RELATIONS.format(kind="officeDocument", target="xl/workbook.xml"),
            "xl/workbook.xml": WORKBOOK,
            "xl/_rels/workbook.xml.rels": RELATIONS.format(
                kind="worksheet", target="worksheets/sheet1.xml"
            ),
        }
        for name, text in parts.items():
            archive.writestr(zipfile.ZipInfo(name, EPOCH), text)
        with archive.open(zipfile.ZipInfo("xl/worksheets/sheet1.xml", EPOCH), "w") as sheet:
            sheet.write(SHEET.encode())
            for number, line in enumerate(_lines(columns, rows)):
                if number == MAX_ROWS:
                    raise UsageError(f"-o {path}: a sheet has at most {MAX_ROWS:,} rows")
                sheet.write(line.encode("utf-8", "replace"))
            sheet.write(b"</sheetData></worksheet>")
    return number


def _lines(columns: Iterable[Column], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    """Yield the XML of each row, the names of the columns first."""
    yield f"<row>{''.join(_cell(column.name) for column in columns)}</row>"
    for row in rows:
        yield f"<row>{''.join(map(_cell, row))}</row>"


def _cell(cell: Cell) -> str:
    """Return the XML of a cell.

    >>> _cell(0.5), _cell(None)
    ('<c><v>0.5</v></c>', '<c/>')
    """
    if cell is None or (isinstance(cell, float) and not math.isfinite(cell)):
        return "<c/>"
    if isinstance(cell, int | float):
        return f"<c><v>{cell!r}</v></c>"
    text = escape(clean(str(cell))[:MAX_LETTERS], quote=False)
    return f'<c t="inlineStr"><is><t xml:space="preserve">{text}</t></is></c>'
