"""Models and vectors by Apache Spark: the same as by reading here."""

import gzip
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.errors import CtxembedError
from ctxembed.model.bundled import corpora_directory
from ctxembed.model.model import Model
from ctxembed.queries.contextualize import contextualize
from ctxembed.text.corpus import Corpus
from ctxembed.text.sampling import hash_numbers
from ctxembed.training.train import train

pytest.importorskip("pyspark", reason="pip install 'ctxembed[spark]', or make test-spark")
pytest.importorskip("pyarrow", reason="pip install 'ctxembed[spark]', or make test-spark")
pytestmark = pytest.mark.filterwarnings("ignore")  # Spark's own

from ctxembed.training.contextualize_on_spark import contextualize_on_spark  # noqa: E402
from ctxembed.training.spark import open_session  # noqa: E402
from ctxembed.training.train_on_spark import train_on_spark  # noqa: E402

HOW: dict[str, Any] = {"workers": 1, "attention": False, "epochs": 2, "dim": 8}


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    # as spark-submit would say it: two workers; a task may fail four times
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--master local[2,4] --conf spark.ui.enabled=false pyspark-shell"
    )
    session = open_session()
    yield session
    session.stop()


@pytest.fixture(scope="module")
def shards(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight files, one of them packed, with ties in their counts."""
    folder = tmp_path_factory.mktemp("shards")
    lines = (corpora_directory() / "everyday.txt").read_text(encoding="utf-8").splitlines()[:8000]
    for number in range(8):
        text = "\n".join(lines[number * 1000 : number * 1000 + 1000]) + "\n"
        if number == 3:
            (folder / f"{number}.txt.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"{number}.txt").write_text(text, encoding="utf-8")
    return folder


def read(folder: Path) -> Corpus:
    return Corpus([str(folder)], lines=True)


def test_vocabulary_counts_and_vectors_are_those_of_a_reading_here(
    session: Any, shards: Path, tmp_path: Path
) -> None:
    train_on_spark(read(shards), tmp_path / "there", per_word=10**6, **HOW)
    train(read(shards), tmp_path / "here", **HOW)
    for name in ("vocab.txt", "counts.npy", "vectors.npy", "output.npy"):
        assert (tmp_path / "there" / name).read_bytes() == (tmp_path / "here" / name).read_bytes()
    for name in ("ids.npy", "offsets.npy", "lines.npy", "positions.npy", "starts.npy"):
        if name == "ids.npy":  # rare words have other numbers
            one, other = (np.load(tmp_path / m / "index" / name) for m in ("there", "here"))
            known = one < len(Model.open(tmp_path / "here").vocabulary.words)
            np.testing.assert_array_equal(one[known], other[known])
            continue
        one, other = (np.load(tmp_path / m / "index" / name) for m in ("there", "here"))
        np.testing.assert_array_equal(one, other)


def test_the_sample_is_the_same_with_two_partitions_and_with_eight(
    session: Any, shards: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = []
    for tasks in (2, 8):
        monkeypatch.setattr("ctxembed.training.spark.MAX_TASKS", tasks)
        train_on_spark(read(shards), tmp_path / str(tasks), per_word=20, train_words=30_000, **HOW)
        models.append(tmp_path / str(tasks))
    for name in ("ids.npy", "offsets.npy", "lines.npy", "positions.npy"):
        one, other = ((folder / "index" / name).read_bytes() for folder in models)
        assert one == other
    model = Model.open(models[0])
    index = model.index
    assert index is not None
    row = model.vocabulary.row("the")
    listed, count = len(index.positions(row)), int(model.counts[row])
    assert count > 1000
    assert abs(listed - 20) < 5 * np.sqrt(20)
    sentence = int(index.sentence_of(index.positions(row))[0])
    name, line = index.source_of(sentence)
    assert hash_numbers(name, np.array([line - 1]), 1)[0] < 20 / count
    text = Path(name).read_bytes()
    text = gzip.decompress(text) if name.endswith("gz") else text
    words = model.vocabulary.tokenizer.words(text.decode().splitlines()[line - 1])
    assert index.words(index.sentence(sentence)) == words
    assert model.meta["sampled"]["sentences"] == len(index.offsets) - 1


def test_a_truncated_file_is_named_and_the_others_are_read(
    session: Any, shards: Path, tmp_path: Path
) -> None:
    for path in shards.iterdir():
        data = path.read_bytes()
        (tmp_path / path.name).write_bytes(data[:-200] if path.suffix == ".gz" else data)
    table = train_on_spark(read(tmp_path), tmp_path / "model", per_word=5, **HOW).to_table()
    notes = [note for note in table.notes if "3.txt.gz" in note]
    assert len(notes) == 1
    assert "7 of 8 files were read" in notes[0]
    assert table.records()[0] == {"property": "sentences", "value": 7000}
    with pytest.raises(CtxembedError, match=r"3\.txt\.gz"):
        train_on_spark(Corpus([str(tmp_path / "3.txt.gz")]), tmp_path / "none", **HOW)


@pytest.mark.posix
def test_vectors_are_the_local_ones_also_when_a_worker_dies(
    session: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sentences = ["an [apple] a day", "", "no target", "the [bank] of the river", "a [zzz] here"]
    lines = tmp_path / "lines.txt"
    lines.write_text("\n".join(sentences * 3000) + "\n", encoding="utf-8")
    died = tmp_path / "died"
    from ctxembed.training import contextualize_on_spark as module

    of_file = module._of_file

    def dies_once(*arguments: Any) -> Iterator[dict[str, Any]]:
        for number, rows in enumerate(of_file(*arguments)):
            yield rows
            if number == 1 and not died.exists():
                died.touch()
                os.kill(os.getpid(), signal.SIGKILL)

    monkeypatch.setattr(module, "_of_file", dies_once)
    out = str(tmp_path / "out.parquet")
    table = contextualize_on_spark("everyday", [str(lines)], out)
    assert died.exists()
    summary = {row["property"]: row["value"] for row in table.records()}
    assert (summary["vectors"], summary["errors"], summary["files_done_before"]) == (6000, 6000, 0)
    rows = sorted(session.read.parquet(out).where("error is null").collect(), key=lambda r: r[1])
    here = contextualize("everyday", sentences * 3000).records()
    assert [row["sentence"] for row in rows] == [row["sentence"] for row in here]
    np.testing.assert_array_equal(
        np.array([row["vector"] for row in rows], np.float32),
        np.array([row["vector"] for row in here], np.float32),
    )
    again = contextualize_on_spark("everyday", [str(lines)], out)
    summary = {row["property"]: row["value"] for row in again.records()}
    assert (summary["vectors"], summary["files_done_before"]) == (6000, 1)


def test_parquet_written_here_holds_the_same_columns(tmp_path: Path) -> None:
    from pyarrow.parquet import read_table

    from ctxembed.output.arrays import write_table

    table = contextualize("everyday", ["an [apple] a day", "the [bank] of the river"])
    assert write_table(tmp_path / "x.parquet", table) == (2, 64)
    read = read_table(tmp_path / "x.parquet").to_pydict()
    assert read["target"] == ["apple", "bank"]
    expected = contextualize("everyday", ["an [apple] a day"]).records()[0]["vector"]
    np.testing.assert_array_equal(np.array(read["vector"][0], np.float32), expected)
