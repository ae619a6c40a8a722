"""A model knows its files: what is not as it was written is refused, and says so."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

from ctxembed.attention.presets import general
from ctxembed.errors import CtxembedError, ModelError
from ctxembed.model.attentions import Saved, load_attention, save_attention
from ctxembed.model.model import Model
from ctxembed.storage import folder, verified
from ctxembed.storage.manifest import list_contents
from tests.conftest import Run

ATTENTION = "attention/learned"


@pytest.fixture
def listed(tiny: Path, tmp_path: Path) -> Path:
    """A model that lists its files, with an attention that lists its own."""
    place = shutil.copytree(tiny, tmp_path / "m")
    list_contents(place)
    frequency = np.arange(10, dtype=np.float32)
    save_attention(Model.open(place), "learned", Saved(general("cosine", 4, 4, frequency)))
    return place


def use(place: Path) -> None:
    """Read every file of a model."""
    model = Model.open(place)
    index = model.index
    assert index is not None
    assert len(model.vocabulary) == len(model.counts) == len(model.vectors)
    assert len(index.ids) and len(index.lines) and len(index.positions(0)) and index.rare
    load_attention(model, "learned")


def files(place: Path) -> list[Path]:
    return sorted(item for item in place.rglob("*") if item.is_file())


def names() -> list[str]:
    top = ["counts.npy", "model.json", "vectors.npy", "vocab.txt"]
    index = ["ids.npy", "lines.npy", "offsets.npy", "positions.npy", "rare.txt", "starts.npy"]
    layer = ["distance.npy", "layer.json", "word.npy", "word_words.npy"]
    return [*top, *(f"index/{name}" for name in index), *(f"{ATTENTION}/{n}" for n in layer)]


def test_a_sound_model_opens(listed: Path) -> None:
    use(listed)
    assert {str(file.relative_to(listed)) for file in files(listed)} == set(names())
    told = json.loads((listed / "model.json").read_text())
    vectors = told["contents"]["vectors.npy"]
    assert (vectors["dtype"], vectors["shape"]) == ("<f4", [10, 4])
    assert vectors["bytes"] == 128 + 160
    assert set(told["contents"]) == set(names()[:10]) - {"model.json"}


@pytest.mark.parametrize("name", names())
def test_no_flipped_bit_gets_through(name: str, listed: Path) -> None:
    data = bytearray((listed / name).read_bytes())
    rng = np.random.default_rng(1)
    for place in rng.integers(len(data), size=20).tolist():
        bit = 1 << int(rng.integers(8))
        data[place] ^= bit
        (listed / name).write_bytes(data)
        if name.endswith(".json") and same(data, listed / name, bit, place):
            data[place] ^= bit
            continue
        with pytest.raises(ModelError) as caught:
            use(listed)
        assert name.rpartition("/")[2] in str(caught.value)
        assert "again" in str(caught.value)
        data[place] ^= bit
    (listed / name).write_bytes(data)
    use(listed)


def same(data: bytearray, path: Path, bit: int, place: int) -> bool:
    """Tell whether a description says the same with one bit changed: a space may become a tab."""
    sound = bytearray(data)
    sound[place] ^= bit
    try:
        return bool(json.loads(data) == json.loads(sound))
    except ValueError:
        return False


def swap(one: Path, other: Path) -> None:
    aside = one.with_name("aside")
    one.rename(aside)
    other.rename(one)
    aside.rename(other)


def integers(place: Path) -> None:
    np.save(place / "vectors.npy", np.load(place / "vectors.npy").view(np.int32))


def big_endian(place: Path) -> None:
    np.save(place / "vectors.npy", np.load(place / "vectors.npy").astype(">f4"))


def by_column(place: Path) -> None:
    np.save(place / "vectors.npy", np.asfortranarray(np.load(place / "vectors.npy")))


def reversed_words(place: Path) -> None:
    lines = (place / "vocab.txt").read_text().splitlines(keepends=True)
    (place / "vocab.txt").write_text("".join(reversed(lines)))


def other_value(place: Path) -> None:
    told = json.loads((place / "model.json").read_text())
    (place / "model.json").write_text(json.dumps(told | {"tokens": told["tokens"] + 1}))


def fifo(place: Path) -> None:
    (place / "vectors.npy").unlink()
    os.mkfifo(place / "vectors.npy")


def link(place: Path) -> None:
    shutil.move(place / "vectors.npy", place.with_name("elsewhere.npy"))
    (place / "vectors.npy").symlink_to(place.with_name("elsewhere.npy"))


def device(place: Path) -> None:
    (place / "vectors.npy").unlink()
    (place / "vectors.npy").symlink_to("/dev/zero")


def folder_instead(place: Path) -> None:
    (place / "vectors.npy").unlink()
    (place / "vectors.npy").mkdir()


def deep(place: Path) -> None:
    (place / "model.json").write_text("[" * 200_000)


def starts_for_positions(place: Path) -> None:
    swap(place / "index/starts.npy", place / "index/positions.npy")


DAMAGE = [
    integers, big_endian, by_column, reversed_words, other_value, fifo, link, device,
    folder_instead, deep, starts_for_positions,
]  # fmt: skip


@pytest.mark.parametrize("damage", DAMAGE, ids=lambda damage: damage.__name__)
def test_nothing_else_is_taken_for_the_model(damage: object, listed: Path) -> None:
    assert callable(damage)
    damage(listed)
    with pytest.raises(ModelError, match="again"):
        use(listed)


@pytest.mark.parametrize("damage", [integers, big_endian, by_column, fifo, link, device, deep])
def test_a_model_from_before_is_refused_too(damage: object, tiny: Path, tmp_path: Path) -> None:
    place = shutil.copytree(tiny, tmp_path / "m")
    assert "contents" not in json.loads((place / "model.json").read_text())
    assert Model.open(place).vectors.shape == (10, 4)
    assert callable(damage)
    damage(place)
    with pytest.raises(ModelError, match="again"):
        _ = Model.open(place).vectors


def test_a_file_that_is_not_listed_is_none_of_the_models(listed: Path) -> None:
    shutil.copy(listed / "vectors.npy", listed / "output.npy")
    assert Model.open(listed).output is None


def test_large_files_are_verified_once_and_when_they_change(
    listed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(folder, "SMALL", 200)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    read: list[int] = []

    def counted(data: bytes) -> int:
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
    found = (copy / "vectors.npy").stat()
    (copy / "vectors.npy").write_bytes(data)
    os.utime(copy / "vectors.npy", ns=(found.st_atime_ns, found.st_mtime_ns))  # as if unchanged
    with pytest.raises(ModelError, match=r"vectors\.npy: damaged \(crc32"):
        _ = Model.open(copy).vectors
    (tmp_path / "cache/ctxembed/verified.json").write_text("[")
    assert Model.open(listed).vectors.shape == (10, 4)
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null")  # nothing can be remembered there
    assert Model.open(listed).vectors.shape == (10, 4)
    assert not verified.is_known("x", os.stat(listed), "")


def test_what_was_opened_is_answered_from(listed: Path, tmp_path: Path) -> None:
    opened = Model.open(listed)
    shutil.rmtree(listed)
    (tmp_path / "m").mkdir()
    assert opened.vectors.shape == (10, 4)
    assert opened.vocabulary.words[0] == "the"
    assert opened.index is not None
    assert opened.index.words(opened.index.sentence(0)) == ["the", "apple", "juice", "sweet"]
    assert opened.attentions() == ["learned"]
    assert load_attention(opened, "learned").layer.heads == general("cosine", 4).heads


def test_few_open_files_are_no_damage(
    listed: Path, monkeypatch: pytest.MonkeyPatch, run: Run
) -> None:
    import errno

    opened, real = 0, os.open

    def few(name: object, *given: object, **options: object) -> int:
        nonlocal opened
        opened += 1
        if opened % 5 == 0:
            raise OSError(errno.EMFILE, "Too many open files")
        return real(name, *given, **options)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(os, "open", few)
        with pytest.raises(CtxembedError, match="too many open files; raise the limit") as caught:
            for _ in range(9):
                use(listed)
    assert caught.value.exit_code == 1
    use(listed)


def test_check_reads_everything(listed: Path, run: Run) -> None:
    done = run("check", str(listed))
    assert (done.returncode, done.stderr) == (0, "")
    rows = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    assert sorted(row[0] for row in rows) == sorted(names())
    assert {row[-1] for row in rows} == {"sound"}
    assert ["vectors.npy", "<f4", "10×4", "288"] in [row[:4] for row in rows]
    for name in ("counts.npy", "index/lines.npy"):
        data = bytearray((listed / name).read_bytes())
        data[-1] ^= 1
        (listed / name).write_bytes(data)
    done = run("check", str(listed))
    assert (done.returncode, done.stdout) == (3, "")
    for line, name in zip(done.stderr.splitlines(), ("counts.npy", "index/lines.npy"), strict=True):
        assert line.startswith(f"ctxembed: {listed / name}: damaged (crc32 ")
        assert line.endswith("; train the model again")


@pytest.mark.parametrize("name", ["offsets", "positions"])
def test_no_question_reads_over_damage(name: str, listed: Path, run: Run) -> None:
    path = listed / "index" / f"{name}.npy"
    np.save(path, np.load(path)[::-1])
    for line in ("show apple", "senses apple orange", "report [apple]"):
        done = run(*line.split(), "-m", str(listed), "-o", str(listed.parent / "made"))
        assert (done.returncode, done.stdout) == (3, ""), (line, done)
        assert f"{name}.npy: damaged" in done.stderr


def spoil(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"4", b"5", 1))


@pytest.mark.parametrize("damage", [spoil, Path.unlink])
def test_a_damaged_attention_is_not_left_out(
    damage: Callable[[Path], None], often: Path, tmp_path: Path, run: Run
) -> None:
    place = shutil.copytree(often, tmp_path / "m")
    frequency = np.arange(10, dtype=np.float32)
    save_attention(Model.open(place), "learned", Saved(general("cosine", 4, 4, frequency)))
    assert run("senses", "bank", "--k", "2", "--save", "-m", "m").returncode == 0
    damage(place / ATTENTION / "layer.json")
    for line in (("compare", "the [bank] of the river"), ("kwic", "bank")):
        done = run(*line, "-m", "m")
        assert (done.returncode, done.stdout) == (3, ""), done
        assert f"{ATTENTION}/layer.json: " in done.stderr


def test_checksums_are_added_to_a_model_from_before(tiny: Path, tmp_path: Path, run: Run) -> None:
    shutil.copytree(tiny, tmp_path / "old")
    done = run("check", "old")
    assert {line.split("\t")[-1] for line in done.stdout.splitlines()[1:]} == {"new"}
    assert done.stderr == (
        "ctxembed: 10 of 10 files have no checksum; add it with: ctxembed check old --add\n"
    )
    done = run("check", "old", "--add")
    assert (done.returncode, done.stderr) == (0, "")
    assert {line.split("\t")[-1] for line in done.stdout.splitlines()[1:]} == {"sound"}
    reversed_words(tmp_path / "old")
    assert run("neighbors", "apple", "-m", "old").returncode == 3
