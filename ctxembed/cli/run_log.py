"""Write what reproduces a table: the command, versions, seeds, checksums of models and files."""

import hashlib
import json
import platform
import sys
from collections.abc import Collection, Iterator, Mapping
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import ctxembed
from ctxembed.errors import UsageError
from ctxembed.storage.atomic import atomic_file

FORMAT = 1
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba", "gensim", "pyarrow")
CHUNK_SIZE = 1 << 20


def check_log(name: str, output: str | None) -> None:
    """Refuse a name that cannot be written, before the work."""
    if not name or Path(name).is_dir() or not Path(name).parent.is_dir():
        raise UsageError(f"--log {name!r}: give the name of a file in a directory that exists")
    if output is not None and Path(name).resolve() == Path(output).resolve():
        raise UsageError("--log and -o name the same file; give two names")


def write_log(
    name: str, values: Mapping[str, Any], output: str | None, paths: Collection[str]
) -> None:
    """Write the log of the running command. values: its options; output: the file it wrote.

    paths: the names of the options that are files or folders.
    """
    read = [
        {"path": str(path), **_describe(path)}
        for path in _paths(values, paths, {name, output or ""})
    ]
    log = {
        "format": FORMAT,
        "command": ["ctxembed", *sys.argv[1:]],
        "directory": str(Path.cwd()),
        "options": {key: _plain(value) for key, value in sorted(values.items())},
        "ctxembed": ctxembed.__version__,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "packages": dict(_versions()),
        "model": _describe_model(values),
        "inputs": read,
        "output": {"path": output, **_describe(Path(output))} if output else None,
    }
    text = json.dumps(log, ensure_ascii=False, indent=2) + "\n"
    with atomic_file(Path(name)) as file:
        file.write(text.encode("utf-8", "backslashreplace"))


def _plain(value: Any) -> Any:
    """Return a value for JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if value is None or isinstance(value, str | int | float) else str(value)


def _versions() -> Iterator[tuple[str, str]]:
    for package in PACKAGES:
        try:
            yield package, version(package)
        except PackageNotFoundError:
            continue


def _paths(values: Mapping[str, Any], paths: Collection[str], written: set[str]) -> Iterator[Path]:
    """Yield the files and folders that options name, without those that the command wrote."""
    seen = set[Path]()
    for key, value in values.items():
        items = value if isinstance(value, list | tuple) else [value]
        for item in items if key in {*paths, "a", "b", "meta", "sources"} else ():
            path = Path(item) if isinstance(item, str) and item not in ("", "-", *written) else None
            if path is not None and path not in seen and key != "output" and path.exists():
                seen.add(path)
                yield path


def _describe_model(values: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the model that a command opened by --model or its default."""
    from ctxembed.model.bundled import model_path

    if "model" not in values:
        return None
    path = model_path(values["model"])
    return {"path": str(path), **_describe(path)} if (path / "model.json").exists() else None


def _describe(path: Path) -> dict[str, Any]:
    """Return the checksum of a file, of each file in a folder, or of a model and its corpus."""
    if path.is_file():
        return {"sha256": _checksum(path)}
    if (path / "model.json").exists():
        meta = json.loads((path / "model.json").read_text(encoding="utf-8"))
        corpus = [{k: f.get(k) for k in ("name", "sha256")} for f in meta.get("files", [])]
        seed = (meta.get("word2vec") or {}).get("seed")
        return {"sha256": _checksum(path / "model.json"), "seed": seed, "corpus": corpus}
    files = sorted(part for part in path.rglob("*") if part.is_file())
    return {"files": {part.relative_to(path).as_posix(): _checksum(part) for part in files}}


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(CHUNK_SIZE):
            digest.update(data)
    return digest.hexdigest()
