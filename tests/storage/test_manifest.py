"""The manifest of a model: files that differ from it are refused by name."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general
from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.attentions import Saved, load_attention, save_attention
from ctxembed.model.model import Model
from ctxembed.model.saved_senses import open_senses
from ctxembed.storage import folder
from tests.conftest import Run, write_listed

ATTENTION = "attention/learned"


@pytest.fixture
def listed(tiny: Path, tmp_path: Path) -> Path:
    """A model that lists its files, with an attention that lists its own."""
    return write_listed(tiny, tmp_path / "m")


def use(directory: Path) -> None:
    """Read every file of a model."""
    model = Model.open(directory)
    index = model.index
    assert index is not None
    assert len(model.vocabulary) == len(model.counts) == len(model.vectors)
    assert len(index.ids) and len(index.lines) and len(index.positions(0)) and index.rare
    load_attention(model, "learned")


def files(directory: Path) -> list[Path]:
    return sorted(item for item in directory.rglob("*") if item.is_file())


def names() -> list[str]:
    top = ["counts.npy", "model.json", "vectors.npy", "vocab.txt"]
    index = ["ids.npy", "lines.npy", "offsets.npy", "positions.npy", "rare.txt", "starts.npy"]
    layer = ["distance.npy", "layer.json", "word.npy", "word_words.npy"]
    return [*top, *(f"index/{name}" for name in index), *(f"{ATTENTION}/{n}" for n in layer)]


def test_a_sound_model_opens(listed: Path) -> None:
    use(listed)
    assert {str(file.relative_to(listed)) for file in files(listed)} == set(names())
    description = json.loads((listed / "model.json").read_text())
    vectors = description["contents"]["vectors.npy"]
    assert (vectors["dtype"], vectors["shape"]) == ("<f4", [10, 4])
    assert vectors["bytes"] == 128 + 160
    assert set(description["contents"]) == set(names()[:10]) - {"model.json"}


@pytest.mark.parametrize("name", names())
def test_no_flipped_bit_gets_through(name: str, listed: Path) -> None:
    data = bytearray((listed / name).read_bytes())
    rng = np.random.default_rng(1)
    for position in rng.integers(len(data), size=20).tolist():
        bit = 1 << int(rng.integers(8))
        data[position] ^= bit
        (listed / name).write_bytes(data)
        if name.endswith(".json") and same(data, listed / name, bit, position):
            data[position] ^= bit
            continue
        with pytest.raises(ModelError) as caught:
            use(listed)
        assert name.rpartition("/")[2] in str(caught.value)
        assert "again" in str(caught.value)
        data[position] ^= bit
    (listed / name).write_bytes(data)
    use(listed)


def same(data: bytearray, path: Path, bit: int, position: int) -> bool:
    """Tell whether a description says the same with one bit changed: a space may become a tab."""
    sound = bytearray(data)
    sound[position] ^= bit
    try:
        return bool(json.loads(data) == json.loads(sound))
    except ValueError:
        return False


def swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def integers(directory: Path) -> None:
    np.save(directory / "vectors.npy", np.load(directory / "vectors.npy").view(np.int32))


def big_endian(directory: Path) -> None:
    np.save(directory / "vectors.npy", np.load(directory / "vectors.npy").astype(">f4"))


def by_column(directory: Path) -> None:
    np.save(directory / "vectors.npy", np.asfortranarray(np.load(directory / "vectors.npy")))


def reversed_words(directory: Path) -> None:
    lines = (directory / "vocab.txt").read_text().splitlines(keepends=True)
    (directory / "vocab.txt").write_text("".join(reversed(lines)))


def other_value(directory: Path) -> None:
    description = json.loads((directory / "model.json").read_text())
    (directory / "model.json").write_text(
        json.dumps(description | {"tokens": description["tokens"] + 1})
    )


def fifo(directory: Path) -> None:
    (directory / "vectors.npy").unlink()
    os.mkfifo(directory / "vectors.npy")


def link(directory: Path) -> None:
    shutil.move(directory / "vectors.npy", directory.with_name("elsewhere.npy"))
    (directory / "vectors.npy").symlink_to(directory.with_name("elsewhere.npy"))


def device(directory: Path) -> None:
    (directory / "vectors.npy").unlink()
    (directory / "vectors.npy").symlink_to("/dev/zero")


def folder_instead(directory: Path) -> None:
    (directory / "vectors.npy").unlink()
    (directory / "vectors.npy").mkdir()


def deep(directory: Path) -> None:
    (directory / "model.json").write_text("[" * 200_000)


def starts_for_positions(directory: Path) -> None:
    swap(directory / "index/starts.npy", directory / "index/positions.npy")


DAMAGE = [
    integers, big_endian, by_column, reversed_words, other_value, folder_instead, deep,
    starts_for_positions,
]  # fmt: skip
POSIX_DAMAGE = [pytest.param(damage, marks=pytest.mark.posix) for damage in (fifo, link, device)]


@pytest.mark.parametrize("damage", [*DAMAGE, *POSIX_DAMAGE], ids=lambda damage: damage.__name__)
def test_nothing_else_is_taken_for_the_model(damage: object, listed: Path) -> None:
    assert callable(damage)
    damage(listed)
    with pytest.raises(ModelError, match="again"):
        use(listed)


@pytest.mark.parametrize("damage", [integers, big_endian, by_column, deep, *POSIX_DAMAGE])
def test_damage_in_a_model_without_checksums_is_refused(
    damage: object, tiny: Path, tmp_path: Path
) -> None:
    directory = shutil.copytree(tiny, tmp_path / "m")
    assert "contents" not in json.loads((directory / "model.json").read_text())
    assert Model.open(directory).vectors.shape == (10, 4)
    assert callable(damage)
    damage(directory)
    with pytest.raises(ModelError, match="again"):
        _ = Model.open(directory).vectors


def test_an_unlisted_file_is_ignored(listed: Path) -> None:
    shutil.copy(listed / "vectors.npy", listed / "output.npy")
    assert Model.open(listed).output is None


@pytest.mark.posix
def test_large_files_are_verified_once_and_when_they_change(
    listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "SMALL", 200)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    read: list[int] = []

    def counted(data: bytes) -> int:
        if len(data) > 200:  # a file, not the name of one
            read.append(len(data))
        return crc32(data)

    monkeypatch.setattr(folder, "crc32", counted)
    for expected in ([288], []):
        read.clear()
        assert Model.open(listed).vectors.shape == (10, 4)
        assert read == expected
    copy = shutil.copytree(listed, tmp_path / "copy")
    assert Model.open(copy).vectors.shape == (10, 4)
    assert read == [288]
    data = bytearray((copy / "vectors.npy").read_bytes())
    data[-1] ^= 1
    status = (copy / "vectors.npy").stat()
    (copy / "vectors.npy").write_bytes(data)
    os.utime(copy / "vectors.npy", ns=(status.st_atime_ns, status.st_mtime_ns))  # as if unchanged
    with pytest.raises(ModelError, match=r"vectors\.npy: damaged \(crc32"):
        _ = Model.open(copy).vectors
    (tmp_path / "cache/ctxembed/verified.json").write_text("[")
    assert Model.open(listed).vectors.shape == (10, 4)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")  # nothing can be remembered there
    assert Model.open(listed).vectors.shape == (10, 4)
    assert not folder.is_verified("x", os.stat(listed), "")


@pytest.mark.posix  # replaces files that are open
def test_an_open_model_answers_after_it_is_replaced(listed: Path, tmp_path: Path) -> None:
    opened = Model.open(listed)
    shutil.rmtree(listed)
    (tmp_path / "m").mkdir()
    (tmp_path / "m" / "senses.npz").write_text("of another model")
    assert open_senses(opened) == {}
    assert opened.vectors.shape == (10, 4)
    assert opened.vocabulary.words[0] == "the"
    assert opened.index is not None
    assert opened.index.words(opened.index.sentence(0)) == ["the", "apple", "juice", "sweet"]
    assert opened.attentions() == ["learned"]
    layer = load_attention(opened, "learned").layer
    assert isinstance(layer, Layer) and layer.own == general("cosine", 4).own


def test_a_limit_on_open_files_is_not_damage(
    listed: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    import errno

    opened, real = 0, os.open

    def few(name: object, *arguments: object, **options: object) -> int:
        nonlocal opened
        opened += 1
        if opened % 5 == 0:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(name, *arguments, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", few)
        with pytest.raises(CtxembedError, match="too many open files; raise the limit") as caught:
            for _ in range(9):
                use(listed)
    assert caught.value.exit_code == 1
    use(listed)


def test_check_reads_everything(listed: Path, run: Run) -> None:
    done = run("info", "--check", "-m", str(listed))
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert sorted(row[0] for row in rows) == sorted(names())
    assert {row[-1] for row in rows} == {"sound"}
    assert ["vectors.npy", "<f4", "10×4", "288"] in [row[:4] for row in rows]
    for name in ("counts.npy", "index/lines.npy"):
        data = bytearray((listed / name).read_bytes())
        data[-1] ^= 1
        (listed / name).write_bytes(data)
    done = run("info", "--check", "-m", str(listed))
    assert (done.returncode, done.stdout) == (3, "")
    for line, name in zip(done.stderr.splitlines(), ("counts.npy", "index/lines.npy"), strict=True):
        assert line.startswith(f"ctxembed: {listed / name}: damaged (crc32 ")
        assert line.endswith("; train the model again")


@pytest.mark.parametrize("name", ["offsets", "positions"])
def test_every_command_reports_damage(name: str, listed: Path, run: Run) -> None:
    path = listed / "index" / f"{name}.npy"
    np.save(path, np.load(path)[::-1])
    for line in ("show apple", "senses apple orange", "explore [apple]"):
        done = run(*line.split(), "-m", str(listed), "-o", str(listed.parent / "made"))
        assert (done.returncode, done.stdout) == (3, ""), (line, done)
        assert f"{name}.npy: damaged" in done.stderr


def spoil(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"4", b"5", 1))


@pytest.mark.parametrize("damage", [spoil, Path.unlink])
def test_a_damaged_attention_is_not_left_out(
    damage: Callable[[Path], None], often: Path, tmp_path: Path, run: Run
) -> None:
    directory = shutil.copytree(often, tmp_path / "m")
    frequency = np.arange(10, dtype=np.float32)
    save_attention(Model.open(directory), "learned", Saved(general("cosine", 4, 4, frequency)))
    assert run("senses", "bank", "--k", "2", "--save", "-m", "m").returncode == 0
    damage(directory / ATTENTION / "layer.json")
    for line in (("compare", "the [bank] of the river"), ("kwic", "bank")):
        done = run(*line, "-m", "m")
        assert (done.returncode, done.stdout) == (3, ""), done
        assert f"{ATTENTION}/layer.json: " in done.stderr


def test_checksums_are_added_to_a_model_from_before(tiny: Path, tmp_path: Path, run: Run) -> None:
    shutil.copytree(tiny, tmp_path / "old")
    done = run("info", "--check", "-m", "old")
    assert {line.split("\t")[-1] for line in done.stdout.splitlines()[1:]} == {"new"}
    assert "10 of 10 files have no checksum" in done.stderr
    assert "ctxembed info --check --add -m old" in done.stderr
    done = run("info", "--check", "-m", "old", "--add")
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.split("\t")[-1] for line in done.stdout.splitlines()[1:]} == {"sound"}
    reversed_words(tmp_path / "old")
    assert run("neighbors", "apple", "-m", "old").returncode == 3
