"""Apache Spark: the session, how far its tasks are, and what stopped them."""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress

TICK = 0.2  # seconds between two looks at the tasks
MOST_TASKS = 10_000  # a file is a task, unless there are very many


def open_session() -> Any:
    """Return the session there is, or what spark-submit, SPARK_REMOTE or nothing asks for."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        raise CtxembedError(
            f"--on spark needs more packages ({error.name}); install them with:"
            " pip install 'ctxembed[spark]'"
        ) from None
    if "SPARK_REMOTE" not in os.environ and "MASTER" not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # local: the same Python
    try:
        builder = SparkSession.builder.appName("ctxembed")
        if "SPARK_REMOTE" not in os.environ:  # our bars, and only what is wrong
            builder = builder.config("spark.ui.showConsoleProgress", "false")
            builder = builder.config("spark.log.level", "ERROR")
        return builder.getOrCreate()
    except (PySparkException, FileNotFoundError) as error:
        if "JAVA_GATEWAY_EXITED" in str(error) or isinstance(error, FileNotFoundError):
            raise CtxembedError(
                "Spark found no Java that runs; install Java 17 or later, or set JAVA_HOME"
            ) from None
        raise CtxembedError(f"no Spark session: {in_short(error)}") from None


def in_short(error: BaseException) -> str:
    """Return what went wrong, without the lists of calls of Python and Java.

    >>> in_short(RuntimeError("thrown:\\nTraceback\\n  File x\\nOSError: no room\\n\\nat java"))
    'OSError: no room'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    return (told or lines or [type(error).__name__])[-1 if told else 0]


@contextmanager
def job(session: Any, progress: Progress, name: str) -> Iterator[None]:
    """Draw a bar of the tasks done while a job runs; say in one line what stopped it."""
    with progress.stage(name, None, "task") as stage:
        ended = threading.Event()

        def watch(tracker: Any) -> None:
            done: dict[int, int] = {}
            while not ended.wait(TICK):
                for number in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(number)
                    if info:
                        stage.advance(info.numCompletedTasks - done.get(number, 0))
                        stage.say(f"of {info.numTasks}")
                        done[number] = info.numCompletedTasks

        if "SPARK_REMOTE" not in os.environ:  # a remote session does not tell of its tasks
            tracker = session.sparkContext.statusTracker()
            threading.Thread(target=watch, args=(tracker,), daemon=True).start()
        try:
            yield
        except Exception as error:
            if type(error).__module__.startswith(("pyspark", "py4j")):
                raise CtxembedError(f"Spark gave up: {in_short(error)}") from None
            raise
        finally:
            ended.set()


Rows = Callable[[Iterator[int]], Iterator[dict[str, Any]]]  # of some files, batch by batch


def on_files(session: Any, number: int, rows: Rows, schema: str) -> Any:
    """Run a function over the numbers of files where they are, in partitions that keep their order.

    schema: of what it makes, in Spark's words.
    """

    def run(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        kinds = {
            "string": pa.string(),
            "long": pa.int64(),
            "int": pa.int32(),
            "binary": pa.binary(),
            "array<float>": pa.list_(pa.float32()),
        }
        pairs = (field.split() for field in schema.split(", "))
        fields = pa.schema([(name, kinds[kind]) for name, kind in pairs])
        files = (file for batch in batches for file in batch.column(0).to_pylist())
        for columns in rows(files):
            yield pa.RecordBatch.from_pydict(columns, schema=fields)

    return session.range(0, number, 1, min(number, MOST_TASKS)).mapInArrow(run, schema)
