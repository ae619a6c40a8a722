"""Apache Spark: the session, the progress of its tasks, and its errors in one line."""

import os
import re
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ctxembed.errors import CtxembedError
from ctxembed.progress import Progress

Rows = Callable[[Iterator[int]], Iterator[dict[str, Any]]]  # file numbers -> batches of rows
TICK = 0.2  # seconds between two updates of the progress bar
MAX_TASKS = 10_000  # a file is a task, unless there are very many


def open_session() -> Any:
    """Return the current Spark session, or start one: local, spark-submit's or SPARK_REMOTE's."""
    try:
        import pandas  # noqa: F401
        import pyarrow  # noqa: F401
        from pyspark.errors import PySparkException
        from pyspark.sql import SparkSession
    except ImportError as error:
        needed = f"--on spark needs {error.name}; install it with: pip install 'ctxembed[spark]'"
        raise CtxembedError(needed) from None
    if "SPARK_REMOTE" not in os.environ and "MASTER" not in os.environ:
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # local: the same Python
    try:
        builder = SparkSession.builder.appName("ctxembed")
        if "SPARK_REMOTE" not in os.environ:  # no progress bars of Spark's, and errors only
            builder = builder.config("spark.ui.showConsoleProgress", "false")
            builder = builder.config("spark.log.level", "ERROR")
        return builder.getOrCreate()
    except (PySparkException, FileNotFoundError) as error:
        if "JAVA_GATEWAY_EXITED" in str(error) or isinstance(error, FileNotFoundError):
            raise CtxembedError("Spark needs Java 17 or later; set JAVA_HOME") from None
        raise CtxembedError(f"cannot start Spark: {error_cause(error)}") from None


def error_cause(error: BaseException) -> str:
    """Return the one line of an error that names its cause, without the tracebacks.

    >>> error_cause(RuntimeError("thrown:\\nTraceback\\n  File x\\nOSError: no room\\n\\nat java"))
    'OSError: no room'
    """
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    causes = [line for line in lines if re.match(r"[\w.]*(Error|Exception): ", line)]
    return causes[-1] if causes else (lines or [type(error).__name__])[0]


@contextmanager
def job_progress(session: Any, progress: Progress, name: str) -> Iterator[None]:
    """Show a progress bar of tasks while a job runs; raise its failure as a CtxembedError."""
    with progress.stage(name, None, "task") as stage:
        ended = threading.Event()

        def show_completed_tasks(tracker: Any) -> None:
            done: dict[int, int] = {}
            while not ended.wait(TICK):
                for number in tracker.getActiveStageIds():
                    info = tracker.getStageInfo(number)
                    if info:
                        stage.advance(info.numCompletedTasks - done.get(number, 0))
                        stage.say(f"of {info.numTasks}")
                        done[number] = info.numCompletedTasks

        if "SPARK_REMOTE" not in os.environ:  # a remote session does not report its tasks
            tracker = session.sparkContext.statusTracker()
            threading.Thread(target=show_completed_tasks, args=(tracker,), daemon=True).start()
        try:
            yield
        except Exception as error:
            if type(error).__module__.startswith(("pyspark", "py4j")):
                raise CtxembedError(f"Spark failed: {error_cause(error)}") from None
            raise
        finally:
            ended.set()


def on_files(session: Any, number: int, rows: Rows, schema: str) -> Any:
    """Return a frame of the rows, of a Spark schema, that a function yields for files 0, 1, ..."""

    def record_batches(batches: Iterator[Any]) -> Iterator[Any]:
        import pyarrow as pa

        kinds = {
            "string": pa.string(), "long": pa.int64(), "int": pa.int32(), "binary": pa.binary(),
            "array<float>": pa.list_(pa.float32()),
        }  # fmt: skip
        pairs = (field.split() for field in schema.split(", "))
        fields = pa.schema([(name, kinds[kind]) for name, kind in pairs])
        files = (file for batch in batches for file in batch.column(0).to_pylist())
        for columns in rows(files):
            yield pa.RecordBatch.from_pydict(columns, schema=fields)

    return session.range(0, number, 1, min(number, MAX_TASKS)).mapInArrow(record_batches, schema)
