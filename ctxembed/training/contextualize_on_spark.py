"""Contextual vectors of files on a cluster's storage, read and written by Apache Spark."""

import atexit
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from ctxembed.context.representations import Representations
from ctxembed.context.sentences import Skipped, choose_representation
from ctxembed.errors import CtxembedError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.contextualize import contextual_vectors
from ctxembed.table import PROPERTIES, Cell, Table
from ctxembed.text.corpus import Corpus
from ctxembed.text.lines import Decoding, every_line
from ctxembed.training.spark import job_progress, on_files, open_session

SCHEMA = "file string, sentence long, target string, position int"
SCHEMA += ", vector array<float>, error string"
COLUMNS = [field.split()[0] for field in SCHEMA.split(", ")]
FILES_PER_COMMIT = 256  # what is committed is not done again
MAX_ERRORS = 3  # shown as notes
CHECKSUMS = ("contents", "generation", "crc32")  # of a model with its index, left out here


@on_model(*PROPERTIES)
def contextualize_on_spark(
    model: Model, files: Sequence[str], output: str, *, every_word: bool = False,
    attention: str | None = None, general: str | None = None, encoding: str = "utf-8",
    errors: str = "strict", progress: Progress = SILENT,
) -> Table:  # fmt: skip
    """Write vectors of marked words of files as Parquet, or errors; skip files that are done."""
    choose_representation(Representations.of(model), attention, general)  # fail before Spark starts
    session = open_session()  # says what to install where the next import would fail
    from pyspark.errors import AnalysisException

    names = [source.name for source in Corpus(list(files)).sources]
    try:
        rows_before = session.read.parquet(output).select("file").distinct().collect()
        done = {row["file"] for row in rows_before}
    except AnalysisException:  # nothing is there, or nothing was written yet
        done = set()
    left = [name for name in names if name not in done]
    shipped, decoding = _ship(session, model), Decoding(encoding, errors)
    for first in range(0, len(left), FILES_PER_COMMIT):
        some = left[first : first + FILES_PER_COMMIT]

        def rows(numbers: Iterator[int], some: Sequence[str] = some) -> Iterator[dict[str, Any]]:
            for number in numbers:
                yield from _of_file(shipped, some[number], decoding, every_word, attention, general)

        with job_progress(session, progress, "contextualizing"):
            on_files(session, len(some), rows, SCHEMA).write.mode("append").parquet(output)
    written = session.read.parquet(output)
    failed = written.where("error is not null")
    unusable, notes = failed.count(), []
    for row in failed.orderBy("file", "sentence").limit(MAX_ERRORS).collect():
        line = f"line {row['sentence']}: " if row["sentence"] else ""
        notes.append(f"{row['file']}: {line}{row['error']}")
    if unusable > MAX_ERRORS:
        notes.append(f"{unusable - MAX_ERRORS} more lines could not be used; see column error")
    summary: dict[str, Cell] = {
        "files": len(names), "files_done_before": len(done & set(names)),
        "vectors": written.where("error is null").count(), "errors": unusable, "output": output,
    }  # fmt: skip
    return Table(PROPERTIES, summary.items(), notes)


def _of_file(
    shipped: str, name: str, decoding: Decoding, every_word: bool, attention: str | None,
    general: str | None,
) -> Iterator[dict[str, Any]]:  # fmt: skip
    """Yield the rows of one file in batches; runs on an executor."""
    model, skipped = _open_shipped(shipped), Skipped()
    chosen = choose_representation(Representations.of(model), attention, general)
    bad: list[str] = []
    lines = map(str.strip, every_line(name, replace(decoding, bad=bad)))
    batches = contextual_vectors(model, chosen, lines, every_word=every_word, skipped=skipped)
    try:
        for targets, vectors in batches:
            pairs = zip(targets, vectors, strict=True)
            rows = ((name, t.sentence, t.name, t.item.position, x, None) for t, x in pairs)
            yield dict(zip(COLUMNS, zip(*rows, strict=True), strict=True))
    except CtxembedError as error:
        skipped.lines.append((0, str(error)))
    skipped.lines += [(0, message) for message in bad]
    if skipped.lines:
        failed = ((name, line or None, None, None, None, str(w)) for line, w in skipped.lines)
        yield dict(zip(COLUMNS, zip(*failed, strict=True), strict=True))


@cache
def _open_shipped(name: str) -> Model:
    """Open the model that `_ship` sent, once in each process."""
    from pyspark import SparkFiles

    shipped = Path(SparkFiles.getRootDirectory()) / name
    return Model.open(shipped if shipped.exists() else Path(name))


@cache
def _ship(session: Any, model: Model) -> str:
    """Send the model without its index to each executor, once; return its directory there."""
    folder = tempfile.mkdtemp(prefix="ctxembed-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may come later
    name = f"ctxembed-{model.meta.get('generation', 'model')}"
    packed = Path(folder) / f"{name}.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(model.path.rglob("*")):
            inside = path.relative_to(model.path)
            if path.is_file() and inside.parts[0] not in ("index", "model.json"):
                archive.write(path, inside)
        model.check_unchanged()  # else some of the files may be of a newer model
        meta = {key: value for key, value in model.meta.items() if key not in CHECKSUMS}
        archive.writestr("model.json", json.dumps(meta))
    session.addArtifacts(f"{packed}#{name}", archive=True)
    return name
