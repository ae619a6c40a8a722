"""A dataset that Hugging Face's library saved is a corpus: its column of texts."""

from pathlib import Path

import pytest

from ctxembed.errors import CorpusError
from ctxembed.text.corpus import Corpus
from tests.conftest import Run

TEXTS = [
    "An apple a day keeps the doctor away.", "The bank of the river.", "A river flows.",
]  # fmt: skip
ROWS = {"text": TEXTS, "label": [1, 0, 0]}


def read(folder: Path) -> str:
    return "".join(block.text for block, _ in Corpus([str(folder)], text_column="text").blocks())


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    datasets = pytest.importorskip("datasets")
    folder = tmp_path_factory.mktemp("saved")
    whole = datasets.Dataset.from_dict(ROWS)
    whole.save_to_disk(folder / "one")
    splits = {"train": whole.select([0, 1]), "test": whole.select([2])}
    datasets.DatasetDict(splits).save_to_disk(folder / "splits")
    return folder


def test_a_saved_dataset_and_its_splits(saved: Path) -> None:
    text = read(saved / "one")
    assert all(row in text for row in TEXTS)
    assert "label" not in text and "features" not in text  # dataset_info.json is no text
    assert read(saved / "splits").count("river") == 2
    assert "apple" not in read(saved / "splits" / "test")


def test_train_on_a_dataset(saved: Path, run: Run) -> None:
    line = ("--text-column", "text", "--static-only", "--min-count", "1", "--dim", "4", "-o", "m")
    assert run("train", str(saved / "one"), *line).returncode == 0
    found = run("kwic", "river", "-m", "m", "-f", "csv").stdout
    assert found.count("river") >= 2


def test_feather_is_read_too(tmp_path: Path) -> None:
    feather = pytest.importorskip("pyarrow.feather")
    arrow = pytest.importorskip("pyarrow")
    feather.write_feather(arrow.table(ROWS), str(tmp_path / "a.arrow"))
    assert "An apple a day" in read(tmp_path)


def test_damaged_files_and_missing_columns_are_named(tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    (tmp_path / "a.arrow").write_bytes(b"\xff\xff\xff\xff" + b"\0" * 100)
    with pytest.raises(CorpusError, match=r"a\.arrow: not a \.arrow file that can be read"):
        read(tmp_path)
    (tmp_path / "a.arrow").write_bytes(b"ARROW1\0\0 and no more")
    with pytest.raises(CorpusError, match=r"a\.arrow: not a \.arrow file that can be read"):
        read(tmp_path)


def test_a_dataset_needs_the_name_of_its_column(saved: Path, run: Run) -> None:
    (file,) = (saved / "one").glob("*.arrow")
    done = run("train", str(file))
    assert done.returncode != 0
    assert "--text-column" in done.stderr
    done = run("train", str(file), "--text-column", "body")
    assert "no column 'body'" in done.stderr
