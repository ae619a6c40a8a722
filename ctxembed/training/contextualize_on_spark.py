"""Contextual vectors of files on a cluster's storage, read and written by Apache Spark."""

import atexit
import json
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from ctxembed.context.representations import representations_of
from ctxembed.context.sentences import Skipped, choose_way
from ctxembed.errors import CtxembedError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.progress import SILENT, Progress
from ctxembed.queries.contextualize import contextual_vectors
from ctxembed.table import PROPERTIES, Table
from ctxembed.text.corpus import Corpus
from ctxembed.text.lines import every_line
from ctxembed.training.spark import job, on_files, open_session

SCHEMA = (
    "file string, sentence long, target string, position int, vector array<float>, error string"
)
TOGETHER = 256  # files committed at once; what is committed is not done again
SHOWN = 3  # mistakes told
SEALS = ("contents", "generation", "crc32")  # of a whole model: here its index is left out


@on_model(*PROPERTIES)
def contextualize_on_spark(
    model: Model,
    files: Sequence[str],
    output: str,
    *,
    every_word: bool = False,
    attention: str | None = None,
    general: str | None = None,
    progress: Progress = SILENT,
) -> Table:
    """Write the vectors of the marked words of every line of files, a row each, as Parquet.

    A file whose rows are there already is not read again. A line, or a file, that cannot be used is
    a row with its error.
    """
    choose_way(representations_of(model), attention, general)  # a mistake is told at once
    session = open_session()
    names = [source.name for source in Corpus(list(files)).sources]
    done = _done(session, output)
    left = [name for name in names if name not in done]
    place = _ship(session, model)
    for first in range(0, len(left), TOGETHER):
        some = left[first : first + TOGETHER]

        def rows(numbers: Iterator[int], some: Sequence[str] = some) -> Iterator[dict[str, Any]]:
            for number in numbers:
                yield from _of_file(place, some[number], every_word, attention, general)

        with job(session, progress, "contextualizing"):
            on_files(session, len(some), rows, SCHEMA).write.mode("append").parquet(output)
    return _summary(session, output, len(names), len(done & set(names)))


def _of_file(
    place: str, name: str, every_word: bool, attention: str | None, general: str | None
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one file, in batches as they are run; this is done where the file is."""
    model = _opened(place)
    way = choose_way(representations_of(model), attention, general)
    skipped = Skipped()
    try:
        lines = map(str.strip, every_line(name))
        for targets, vectors in contextual_vectors(
            model, way, lines, every_word=every_word, skipped=skipped
        ):
            yield {
                "file": [name] * len(targets),
                "sentence": [target.sentence for target in targets],
                "target": [target.name for target in targets],
                "position": [target.item.position for target in targets],
                "vector": list(vectors),
                "error": [None] * len(targets),
            }
    except CtxembedError as error:
        skipped.lines.append((0, str(error)))
    number = len(skipped.lines)
    yield {
        "file": [name] * number,
        "sentence": [line or None for line, _ in skipped.lines],
        **{column: [None] * number for column in ("target", "position", "vector")},
        "error": [error for _, error in skipped.lines],
    }


@cache
def _opened(place: str) -> Model:
    """Open the model once in each process: where it was shipped to, or where it is."""
    from pyspark import SparkFiles

    shipped = Path(SparkFiles.getRootDirectory()) / place
    return Model.open(shipped if shipped.exists() else Path(place))


@cache
def _ship(session: Any, model: Model) -> str:
    """Send the model without its index to each executor, once; return where it is there."""
    folder = tempfile.mkdtemp(prefix="ctxembed-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)  # executors may come later
    name = f"ctxembed-{model.meta.get('generation', 'model')}"
    packed = Path(folder) / f"{name}.zip"
    with zipfile.ZipFile(packed, "w") as archive:
        for path in sorted(model.path.rglob("*")):
            inside = path.relative_to(model.path)
            if path.is_file() and inside.parts[0] not in ("index", "model.json"):
                archive.write(path, inside)
        model.check_unchanged()  # else some of it may be another's
        told = {key: value for key, value in model.meta.items() if key not in SEALS}
        archive.writestr("model.json", json.dumps(told))
    session.addArtifacts(f"{packed}#{name}", archive=True)
    return name


def _done(session: Any, output: str) -> set[str]:
    """List the files whose rows are there already."""
    from pyspark.errors import AnalysisException

    try:
        return {
            row["file"] for row in session.read.parquet(output).select("file").distinct().collect()
        }
    except AnalysisException:  # nothing is there, or nothing was written yet
        return set()


def _summary(session: Any, output: str, files: int, before: int) -> Table:
    made = session.read.parquet(output)
    wrong = made.where("error is not null")
    told = wrong.orderBy("file", "sentence").limit(SHOWN).collect()
    number = wrong.count()
    lines = (f"line {row['sentence']}: " if row["sentence"] else "" for row in told)
    notes = [f"{row['file']}: {line}{row['error']}" for row, line in zip(told, lines, strict=True)]
    if number > SHOWN:
        notes.append(f"{number - SHOWN} more lines could not be used; they are rows with an error")
    rows = [
        ("files", files),
        ("files_done_before", before),
        ("vectors", made.where("error is null").count()),
        ("errors", number),
        ("output", output),
    ]
    return Table(PROPERTIES, rows, notes)
