"""The bundled corpora can be named wherever a corpus is, unless there is a file of this name."""

from pathlib import Path

from ctxembed.model.bundled import find_corpus
from tests.conftest import ROOT, Run


def test_a_bundled_corpus_is_found_by_its_name(tmp_path: Path) -> None:
    assert Path(find_corpus("everyday.txt")).samefile(ROOT / "corpora" / "everyday.txt")
    assert Path(find_corpus("corpora/apple.txt")).samefile(ROOT / "corpora" / "apple.txt")
    for other in ("everyday", "missing.txt", "-", "s3://bucket/apple.txt", ""):
        assert find_corpus(other) == other


def test_a_file_of_this_name_comes_first(run: Run, tmp_path: Path) -> None:
    line = ("train", "apple.txt", "--static-only", "--epochs", "1", "--dim", "4", "-o")
    bundled = run(*line, "bundled", "-f", "tsv")
    assert "sentences\t4\n" in bundled.stdout
    assert "apple.txt: the corpus that comes with ctxembed" in bundled.stderr
    (tmp_path / "apple.txt").write_text("An apple a day keeps the doctor away. An apple.\n")
    own = run(*line, "own", "-f", "tsv")
    assert "sentences\t2\n" in own.stdout
    assert "comes with" not in own.stderr
