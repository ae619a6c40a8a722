"""Describe a model (info), or check every file of it against its checksum (info --check)."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from ctxembed.errors import ModelError
from ctxembed.model.attentions import read_description
from ctxembed.model.bundled import BUNDLED, ModelLike, bundled_model, model_path, on_model
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.model.validate import find_fault
from ctxembed.model.vocabulary import FIX
from ctxembed.storage import manifest
from ctxembed.storage.folder import Folder
from ctxembed.table import PROPERTIES, Cell, Column, Table, answers

FILES = (
    Column("file", "a file of the model", "label"),
    Column("dtype", "what an array's numbers are: <f4 is float32, the lowest byte first", "text"),
    Column("shape", "an array's rows and columns", "text"),
    Column("bytes", "its size"),
    Column("crc32", "its checksum", "text"),
    Column("state", "sound: as it was written; new: there is no checksum to hold it against"),
)


@on_model(*PROPERTIES)
def info(model: Model) -> Table:
    """List every parameter of a model, its corpus and its sizes."""
    left_out = ("files", "fingerprint", "contents")  # check lists the files
    meta = {name: value for name, value in model.meta.items() if name not in left_out}
    rows: list[tuple[str, Cell]] = [("path", str(model.path))]
    for name, value in meta.items():
        if isinstance(value, dict):
            rows += [(f"{name}.{key}", _cell(inner)) for key, inner in value.items()]
        else:
            rows.append((name, _cell(value)))
    if model.index is not None and (columns := model.index.metadata.columns):
        kinds = ", ".join(f"{column.name} ({column.kind})" for column in columns.values())
        rows.append(("columns", kinds))
    rows += [("file", text) for text in _describe_files(model.meta.get("files", []))]
    for name in model.attentions():
        about = read_description(model, name)
        kind = {"kind": about["kind"]} if "kind" in about else {}
        facts = {**kind, **about["layer"], **about["settings"], **about["figures"]}
        rows += [(f"attention.{name}.{key}", _cell(value)) for key, value in facts.items()]
    for name in BUNDLED:
        path = bundled_model(name)
        meta = Model.open(path).meta
        corpus = "with its corpus" if (path / "index").is_dir() else "no corpus"
        summary = f"{meta['vocabulary']} words of {meta['dim']} numbers, {corpus}; -m {name}"
        rows.append((f"bundled.{name}", summary))
    open_senses(model)  # an error if they are damaged
    rows.append(("bytes", model.size()))
    return Table(PROPERTIES, rows)


def _describe_files(files: Sequence[dict[str, Any]]) -> Iterator[str]:
    """Yield a description of each file: name, checksum, and its weight and share if it has one."""
    read = sum(file.get("weight", 0) * file.get("tokens", 0) for file in files)
    for file in files:
        digest = f" sha256:{file['sha256'][:12]}" if file["sha256"] else ""
        if "weight" in file:
            weight, tokens = file["weight"], file["tokens"]
            digest += f" weight:{weight:g} words:{tokens} share:{weight * tokens / read:.4f}"
        yield f"{file['name']}{digest}"


def _cell(value: object) -> Cell:
    """Return a value of model.json as a cell."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:g}"  # 1e-05 would print as 0.0000
    return value if isinstance(value, int | str) else str(value)


@answers(*FILES)
def check(model: ModelLike = None, *, add: bool = False) -> Table:
    """Compare the files of a model with checksums (`add` writes them); look for wrong values."""
    path = model.path if isinstance(model, Model) else model_path(model)
    if add or not (path / "model.json").exists():
        opened = Model.open(path)  # an error if it is no model, or one of these is damaged
        _ = (opened.vocabulary.words, opened.counts, opened.vectors, opened.output)
        _ = opened.vocabulary.tokenizer
    if add:
        with opened.locked():
            for directory in manifest.directories(path):
                if manifest.listing(manifest.find_description(Folder(directory, FIX))) is None:
                    manifest.list_contents(directory)
    rows: list[tuple[Cell, ...]] = []
    faults: list[str] = []
    for directory in manifest.directories(path):
        rows += _check_files(path, directory, faults)
    if not faults and (fault := find_fault(Model.open(path))):
        faults.append(str(fault))
    if faults:
        raise ModelError("\n".join(faults))
    new = sum(row[-1] == "new" for row in rows)
    fix = f"add it with: ctxembed info --check --add -m {path}"
    note = f"{new} of {len(rows)} files have no checksum; {fix}"
    return Table(FILES, rows, [note] if new else [])


def _check_files(model: Path, directory: Path, faults: list[str]) -> Iterator[tuple[Cell, ...]]:
    """Yield a row for each file of a directory; add a message to faults for each damaged one."""
    folder = Folder(directory, FIX)
    try:
        listed = manifest.listing(manifest.find_description(folder))
    except ModelError as error:
        faults.append(str(error))
        return
    folder.listed = listed
    for name in listed or folder.model_files():
        try:
            facts = manifest.describe(folder / name, whole=True)
        except ModelError as error:
            faults.append(str(error))
            continue
        shape = "×".join(map(str, facts["shape"])) if "shape" in facts else None
        file = (directory / name).relative_to(model).as_posix()
        state = "new" if listed is None else "sound"
        yield file, facts.get("dtype"), shape, facts["bytes"], facts["crc32"], state
