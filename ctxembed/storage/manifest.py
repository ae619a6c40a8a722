"""What a directory of ours holds, written into its own description: models know themselves."""

import json
import os
from contextlib import suppress
from pathlib import Path
from typing import Any
from zlib import crc32

from ctxembed.errors import ModelError, Replaced
from ctxembed.storage.folder import HEAD, SMALL, UNLISTED, Folder, Part

DESCRIPTIONS = ("model.json", "layer.json", "senses.json")  # each in a directory of its own
HELD = 32  # attentions that are opened with their model
LEARN_AGAIN = "learn it again with: ctxembed learn"
TRIES = 100  # times that a directory may be replaced while it is opened
INNER = ("attention", "senses")  # whose directories describe themselves

Held = dict[str, Part | None]  # the descriptions of attentions, where they are open


def write_json(path: Path, value: Any) -> None:
    """Write a description that a person can read too.

    A byte of a file's name that is no UTF-8 is a lone surrogate in Python; JSON has an escape for
    those, and it looks as Python's own.
    """
    text = json.dumps(value, indent=1, ensure_ascii=False)
    path.write_text(f"{text}\n", encoding="utf-8", errors="backslashreplace", newline="\n")


def generation(meta: dict[str, Any]) -> str:
    """Sum a description up: another number wherever anything in it, or in a file, is another.

    >>> generation({"dim": 4, "generation": "?"}) == generation({"dim": 4})
    True
    """
    told = {key: value for key, value in meta.items() if key != "generation"}
    return f"{crc32(json.dumps(told, sort_keys=True).encode()):08x}"


def list_contents(place: Path) -> None:
    """Write into a directory's description which files it has, of what kind, with checksums."""
    folder = Folder(place, "write it again")
    part = description_of(folder)
    meta = _read(part) if part.exists() else {}
    if not meta:
        return
    meta = {key: value for key, value in meta.items() if key not in ("contents", "generation")}
    names = (name for name in folder.ours() if name != part.name)
    meta["contents"] = {name: describe(folder / name) for name in names}
    meta["generation"] = generation(meta)
    work = place / f".{part.name}.ctxembed-{os.getpid()}"
    write_json(work, meta)
    work.replace(place / part.name)


def describe(part: Part, *, whole: bool = False) -> dict[str, Any]:
    """Tell kind, shape, size and checksum of a file; `whole` reads what was verified, too."""
    data = part.open_data(whole=whole)
    told: dict[str, Any] = {}
    if part.name.endswith(".npy"):
        kind, shape, _ = part.array_header(bytes(data[:HEAD]))
        told = {"dtype": kind, "shape": list(shape)}
    return {**told, "bytes": len(data), "crc32": f"{crc32(data):08x}"}


def remember(model: Path) -> None:
    """Note that the large files of a model are as it lists them: they were just written."""
    with suppress(ModelError):  # what has no description
        found = [
            (str(place / file), (place / file).stat(), listed["crc32"])
            for place in directories(model)
            for file, listed in (listing(description_of(Folder(place, ""))) or {}).items()
            if listed.get("bytes", 0) > SMALL
        ]
        if found:
            from ctxembed.storage import verified

            verified.remember(found)


def listed_in(folder: Path) -> set[str]:
    """Return the files that a directory's own description lists, if it can be believed."""
    try:
        return set(listing(description_of(Folder(folder, ""))) or ())
    except (OSError, ModelError):
        return set()


def directories(model: Path) -> list[Path]:
    """List a model's directory and those within it that describe themselves."""
    inner = (item for name in INNER for item in sorted((model / name).glob("[!.]*")))
    return [model, *(item for item in inner if any((item / n).exists() for n in DESCRIPTIONS))]


def description_of(folder: Folder) -> Part:
    """Find the description of a directory."""
    found = (folder / name for name in DESCRIPTIONS if (folder.path / name).exists())
    return next(found, folder / DESCRIPTIONS[0])


def listing(part: Part, meta: dict[str, Any] | None = None) -> dict[str, Any] | None:
    """Return what a description lists, itself too; None if it is from before there were lists."""
    meta = meta or read_json(part)
    if "generation" not in meta and "contents" not in meta:
        return None
    if meta.get("generation") != generation(meta):
        raise part.folder.damage(part.name, "its checksum differs")
    return {part.name: {}, **meta["contents"]}


def read_json(part: Part) -> dict[str, Any]:
    """Read a description; what is none is damaged."""
    meta = _read(part)
    if not meta:
        raise ModelError(f"{part}: damaged; {part.folder.fix}")
    return meta


def read_format(part: Part, meta: dict[str, Any]) -> int:
    """Return the number of the format that a description tells."""
    try:
        return int(meta["format"])
    except (ValueError, OverflowError, KeyError, TypeError):
        raise ModelError(f"{part}: damaged; {part.folder.fix}") from None


def _read(place: Path | Part) -> dict[str, Any]:
    try:
        meta = json.loads(place.read_bytes().decode())
    except (ValueError, RecursionError):
        meta = {}
    return meta if isinstance(meta, dict) else {}


def believe(part: Part, meta: dict[str, Any]) -> None:
    """Take over which files a description lists, and open them; what is not as listed is refused.

    A description from before lists nothing: the files are opened that have names as ours.
    """
    folder = part.folder
    folder.listed = listing(part, meta)
    folder.hold((*(folder.listed or folder.ours()), *UNLISTED))
    folder.check_listed()


def hold_attentions(files: Folder) -> Held:
    """Open the attentions within a model, by their names.

    Each may be replaced by itself. Very many are opened only when they are asked for.
    """
    held: Held = {}
    for name in files.names("attention"):
        if name.startswith("."):
            continue
        many = len(held) >= HELD
        part = None if many else open_attention(files, name)
        # With arrays but no description it is damaged: whoever asks for it is told.
        arrays = (file.endswith(".npy") for file in files.names(f"attention/{name}"))
        if many or part or any(arrays):
            held[name] = part
    return held


def open_attention(files: Folder, name: str) -> Part | None:
    """Open an attention within a model; None where there is none."""
    place = f"attention/{name}"
    for _ in range(TRIES):
        try:
            folder = Folder(files.path / place, LEARN_AGAIN, above=files)
            folder.hold(folder.ours())
            found = (folder / "layer.json").exists()
        except (FileNotFoundError, NotADirectoryError):
            found = False
        except OSError as error:
            raise files.failure(place, error) from None
        if not files.in_place():
            break
        if not found:
            return None
        if folder.in_place():
            return folder / "layer.json"
    raise Replaced(f"{files.path}: replaced meanwhile; run this command again")
