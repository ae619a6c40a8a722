"""Whether a model is as it was written: every file of it, read whole."""

from collections.abc import Iterator
from pathlib import Path

from ctxembed.errors import ModelError
from ctxembed.model.bundled import Given, model_path
from ctxembed.model.model import Model
from ctxembed.model.validate import find_fault
from ctxembed.model.vocabulary import FIX
from ctxembed.storage.atomic import sweep_files
from ctxembed.storage.folder import Folder
from ctxembed.storage.manifest import describe, description_of, directories, list_contents, listing
from ctxembed.table import Cell, Column, Table, answers

COLUMNS = (
    Column("file", "a file of the model", "label"),
    Column("dtype", "what an array's numbers are: <f4 is float32, the lowest byte first", "text"),
    Column("shape", "an array's rows and columns", "text"),
    Column("bytes", "its size"),
    Column("crc32", "its checksum", "text"),
    Column("state", "sound: as it was written; new: there is no checksum to hold it against"),
)
Row = tuple[Cell, ...]


@answers(*COLUMNS)
def check(model: Given = None, *, add: bool = False) -> Table:
    """Read every file of a model, hold it against its checksum, and look whether it makes sense.

    add: write checksums where there are none.
    """
    path = model.path if isinstance(model, Model) else model_path(model)
    if add or not (path / "model.json").exists():
        opened = Model.open(path)  # says what is no model at all
        _ = (
            opened.vocabulary.words,
            opened.counts,
            opened.vectors,
            opened.output,
            opened.vocabulary.tokenizer,
        )
    rows: list[Row] = []
    faults: list[str] = []
    for place in directories(path):
        part = description_of(Folder(place, FIX))
        if add and listing(part) is None:
            sweep_files(place / part.name)
            list_contents(place)
        rows += _check(path, place, faults)
    if not faults and (fault := find_fault(Model.open(path))):
        faults.append(str(fault))
    if faults:
        raise ModelError("\n".join(faults))
    new = sum(row[-1] == "new" for row in rows)
    told = f"{new} of {len(rows)} files have no checksum; add it with: ctxembed check {path} --add"
    return Table(COLUMNS, rows, [told] if new else [])


def _check(model: Path, place: Path, faults: list[str]) -> Iterator[Row]:
    """Yield a row for each file of a directory; tell of those that are not as listed."""
    folder = Folder(place, FIX)
    try:
        listed = listing(description_of(folder))
    except ModelError as error:
        faults.append(str(error))
        return
    folder.listed = listed
    for name in listed or folder.ours():
        try:
            told = describe(folder / name, whole=True)
        except ModelError as error:
            faults.append(str(error))
            continue
        shape = "×".join(map(str, told["shape"])) if "shape" in told else None
        file = (place / name).relative_to(model).as_posix()
        state = "new" if listed is None else "sound"
        yield file, told.get("dtype"), shape, told["bytes"], told["crc32"], state
