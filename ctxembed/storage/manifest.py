"""The manifest of a model: its description lists every file with kind, shape, size, checksum."""

import json
import re
from pathlib import Path
from typing import Any
from zlib import crc32

from ctxembed.errors import ModelError
from ctxembed.storage.folder import UNLISTED, Folder, Part, open_failure, replace_path

DESCRIPTIONS = ("model.json", "layer.json")  # of a model; of an attention in it
MAX_OPENED = 32  # attentions opened together with their model
LEARN_AGAIN = "learn it again with: ctxembed learn"
_OUTSIDE = re.compile(r"^/|\\|:|(^|/)(\.\.|)(/|$)")  # of names, with / between folder and file

OpenedAttentions = dict[str, Part | None]  # name -> description; None: opened when used


def write_json(path: Path, value: Any) -> None:
    """Write indented JSON; lone surrogates (file names that are not UTF-8) become escapes."""
    text = json.dumps(value, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace", newline="\n")


def manifest_checksum(meta: dict[str, Any]) -> str:
    """Return the checksum of a description, and so of the file checksums in it.

    >>> manifest_checksum({"dim": 4, "generation": "?"}) == manifest_checksum({"dim": 4})
    True
    """
    content = {key: value for key, value in meta.items() if key != "generation"}
    return f"{crc32(json.dumps(content, sort_keys=True).encode()):08x}"


def list_contents(path: Path) -> None:
    """Write the list of a directory's files, with checksums, into its description."""
    folder = Folder(path, "write it again")
    part = find_description(folder)
    try:
        meta = read_json(part)
    except ModelError:  # nothing to describe
        return
    meta = {key: meta[key] for key in meta if key not in ("contents", "generation")}
    names = (name for name in folder.model_files() if not _OUTSIDE.search(name))
    meta["contents"] = {name: describe(folder / name) for name in names if name != part.name}
    meta["generation"] = manifest_checksum(meta)
    work = path / f".{part.name}.ctxembed-new"  # nobody else writes here: see locks.hold
    write_json(work, meta)
    work.chmod((path / part.name).stat().st_mode & 0o777)
    del folder  # Windows cannot replace an open file
    replace_path(work, path / part.name)


def describe(part: Part, *, whole: bool = False) -> dict[str, Any]:
    """Return kind, shape, size and checksum of a file; `whole` reads verified files too."""
    data = part.open_data(whole=whole)
    entry: dict[str, Any] = {"bytes": len(data), "crc32": f"{crc32(data):08x}"}
    if part.name.endswith(".npy"):
        kind, shape, _ = part.array_header(data)
        entry = {"dtype": kind, "shape": list(shape), **entry}
    return entry


def directories(model: Path) -> list[Path]:
    """List a model's directory and those within it that have a manifest."""
    inner = sorted((model / "attention").glob("[!.]*"))
    return [model, *(item for item in inner if (item / "layer.json").exists())]


def find_description(folder: Folder) -> Part:
    """Return the description of a directory."""
    parts = (folder / name for name in DESCRIPTIONS if (folder.path / name).exists())
    return next(parts, folder / DESCRIPTIONS[0])


def listing(part: Part, meta: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return the listed files, the description included; None for a model without a list."""
    meta = meta or read_json(part)
    if "generation" not in meta and "contents" not in meta:
        return None
    if meta.get("generation") != manifest_checksum(meta):
        raise part.folder.damage(part.name, "its checksum differs")
    contents = meta.get("contents")
    if not isinstance(contents, dict) or not all(isinstance(c, dict) for c in contents.values()):
        raise part.folder.damage(part.name, "its list of files is wrong")
    if any(_OUTSIDE.search(name) for name in contents):
        raise part.folder.damage(part.name, "it lists a file outside the model")
    return {part.name: {}, **contents}


def read_json(part: Part, newest: int | None = None) -> dict[str, Any]:
    """Return a description; refuse what is not a JSON object, or has a format after the newest."""
    try:
        meta: Any = json.loads(part.read_bytes().decode())
        version: Any = meta.get("format")
    except (AttributeError, ValueError, RecursionError):
        meta = version = None
    if not meta or (newest is not None and type(version) is not int):
        raise part.folder.damage(part.name, "not a description")
    if newest is not None and version > newest:
        newer = f"format {version} of ctxembed {meta.get('version', '?')}"
        fix = f"this ctxembed reads up to {newest}. Upgrade with: pip install --upgrade ctxembed"
        raise ModelError(f"{part}: {newer}, {fix}")
    return dict(meta)


def apply_manifest(part: Part, meta: dict[str, Any]) -> None:
    """Open the files that a description lists (in an old model: all); refuse a wrong size."""
    folder = part.folder
    folder.listed = listing(part, meta)
    folder.open_files((*(folder.listed or folder.model_files()), *UNLISTED))
    for name in folder.listed or ():
        (folder / name).expect("bytes", (folder / name).status().st_size)


def open_attentions(files: Folder) -> OpenedAttentions:
    """Return the attentions of a model by name, the first MAX_OPENED of them opened."""
    opened: OpenedAttentions = {}
    for name in files.names("attention"):
        if name.startswith("."):
            continue
        late = len(opened) >= MAX_OPENED
        part = None if late else open_attention(files, name)
        # With arrays but no description it is damaged, which is reported when it is used.
        if late or part or any(n.endswith(".npy") for n in files.names(f"attention/{name}")):
            opened[name] = part
    return opened


def open_attention(files: Folder, name: str) -> Part | None:
    """Return the opened description of an attention; None where there is none."""
    inside = f"attention/{name}"
    try:
        folder = Folder(files.path / inside, LEARN_AGAIN, follow=False)
        folder.open_files(folder.model_files())
        part = folder / "layer.json"
        exists = part.exists()
    except (FileNotFoundError, NotADirectoryError):
        folder, exists = files, False
    except OSError as error:
        raise open_failure(files.path / inside, error, files.fix) from None
    if not (files.is_current() and folder.is_current()):
        raise files.replaced()
    return part if exists else None
