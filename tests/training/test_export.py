"""Exported vectors, as gensim and numpy read them back."""

from pathlib import Path

import numpy as np
import pytest

from ctxembed.model.model import Model
from ctxembed.storage.manifest import list_contents
from tests.conftest import Run, mentions

TEXT = """10 4
the 0.1 0.1 0.1 0.1
apple 0.9 0.3 0.0 0.0
bank 0.0 0.0 0.8 0.6
orange 1.0 0.0 0.0 0.0
juice 0.8 0.0 0.0 0.6
sweet 0.6 0.0 0.0 0.0
phone 0.0 1.0 0.0 0.0
money 0.0 0.0 1.0 0.0
river 0.0 0.0 0.0 1.0
launched 0.0 0.8 0.6 0.0
"""


def test_text_on_stdout(run: Run) -> None:
    done = run("export", "-")
    assert (done.stdout, done.stderr, done.returncode) == (TEXT, "", 0)


def test_summary_and_file(run: Run, tmp_path: Path) -> None:
    done = run("export", "v.vec", "-f", "csv")
    assert done.stdout == ("property,value\nwords,10\ndim,4\nformat,word2vec text\nfile,v.vec\n")
    assert (tmp_path / "v.vec").read_text() == TEXT
    assert sorted(item.name for item in tmp_path.iterdir()) == ["v.vec"]


@pytest.mark.parametrize("name", ["v.txt", "v.bin"])
def test_gensim_reads_word2vec(run: Run, tmp_path: Path, model: Model, name: str) -> None:
    from gensim.models import KeyedVectors

    assert run("export", name).returncode == 0
    read = KeyedVectors.load_word2vec_format(str(tmp_path / name), binary=name.endswith("bin"))
    assert read.index_to_key == model.vocabulary.words
    np.testing.assert_array_equal(read.vectors, model.vectors)


def test_gensim_loads_keyed_vectors(run: Run, tmp_path: Path, model: Model) -> None:
    from gensim.models import KeyedVectors

    assert run("export", "v.kv").returncode == 0
    read = KeyedVectors.load(str(tmp_path / "v.kv"))
    assert read.index_to_key == model.vocabulary.words
    np.testing.assert_array_equal(read.vectors, model.vectors)
    assert read.get_vecattr("the", "count") == 6
    assert read.most_similar("phone", topn=1)[0][0] == "launched"


def test_array_and_words(run: Run, tmp_path: Path, model: Model) -> None:
    done = run("export", "v.npy")
    assert done.stdout.endswith("file\tv.npy\nfile\tv.vocab.txt\n")
    np.testing.assert_array_equal(np.load(tmp_path / "v.npy"), model.vectors)
    assert (tmp_path / "v.vocab.txt").read_text().split() == model.vocabulary.words


def test_a_file_is_overwritten(run: Run, tmp_path: Path) -> None:
    for options in ([], ["--force"]):
        (tmp_path / "v.txt").write_text("mine")
        assert run("export", "v.txt", *options).returncode == 0
        assert (tmp_path / "v.txt").read_text() == TEXT


def test_a_word_list_is_overwritten_with_its_array(run: Run, tmp_path: Path) -> None:
    """A v.vocab.txt without v.npy was not named by the user and may be something else."""
    words = tmp_path / "v.vocab.txt"
    words.write_text("mine")
    done = run("export", "v.npy")
    assert done.returncode == 2 and mentions(done.stderr, "v.vocab.txt exists --force")
    assert words.read_text() == "mine" and not (tmp_path / "v.npy").exists()
    assert run("export", "v.npy", "--force").returncode == 0
    for options in ([], ["--force"]):
        words.write_text("mine")
        assert run("export", "v.npy", *options).returncode == 0
        assert words.read_text() != "mine"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("v.xyz", "v.xyz: unknown format; end the name in .txt, .vec, .bin, .npy, .kv"),
        ("no/v.txt", "no: no such directory"),
    ],
)
def test_wrong_names(run: Run, name: str, message: str) -> None:
    done = run("export", name)
    assert (done.stdout, done.stderr, done.returncode) == ("", f"ctxembed: {message}\n", 2)


def test_a_word_with_a_space_is_not_torn_apart(run: Run, tmp_path: Path) -> None:
    (tmp_path / "v.txt").write_text("new york 1 2\npear 3 4\nplum 5 6\n".replace("new york", "x"))
    assert run("import", "v.txt", "-o", "m").returncode == 0
    vocab = tmp_path / "m" / "vocab.txt"
    vocab.write_text(vocab.read_text().replace("x\n", "new york\n"))
    list_contents(tmp_path / "m")  # as if it had been written so
    done = run("export", "-", "-m", "m")
    assert done.returncode == 2
    assert mentions(done.stderr, "new york space")
    assert run("export", "w.npy", "-m", "m").returncode == 0


def test_projector(run: Run, tmp_path: Path, model: Model) -> None:
    done = run("export", "projector/", "-n", "4", "-f", "csv")
    assert "words,4\ndim,4\nformat,embedding projector\n" in done.stdout
    tensors = np.loadtxt(tmp_path / "projector" / "tensors.tsv", delimiter="\t")
    header, *rows = (tmp_path / "projector" / "metadata.tsv").read_text().splitlines()
    assert header == "word\tcount"
    words = [row.split("\t")[0] for row in rows]
    np.testing.assert_allclose(tensors, [model[word] for word in words], rtol=1e-5)
    left = model.counts[[model.vocabulary.row(w) for w in model.vocabulary.words if w not in words]]
    assert min(int(row.split("\t")[1]) for row in rows) >= left.max()
    assert run("export", "projector/").returncode == 0  # again, over the old one
    assert len((tmp_path / "projector" / "metadata.tsv").read_text().splitlines()) == 11
    (tmp_path / "file").write_text("")
    assert run("export", "file/").returncode == 2
    assert run("export", "missing/folder/").returncode == 2


def test_tensorboard_reads_the_projector_files(run: Run, tmp_path: Path) -> None:
    plugin = pytest.importorskip("tensorboard.plugins.projector.projector_plugin")
    run("export", "projector/")
    read = plugin._read_tensor_tsv_file(str(tmp_path / "projector" / "tensors.tsv"))
    assert np.asarray(read).shape == (10, 4)


def test_the_most_frequent_words_in_other_formats(run: Run, tmp_path: Path) -> None:
    assert run("export", "v.txt", "-n", "3").returncode == 0
    assert (tmp_path / "v.txt").read_text().startswith("3 4\n")
    assert run("export", "-", "-n", "2").stdout.startswith("2 4\n")
