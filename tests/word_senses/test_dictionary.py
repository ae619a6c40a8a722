"""The dictionary: a small one written and read, known facts of WordNet, and damaged stores."""

import json
import math
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from ctxembed.errors import CorpusError, ModelError
from ctxembed.word_senses.dictionary import (
    FILE,
    Dictionary,
    Sense,
    Synset,
    base_forms,
    hash_lemma,
    write_dictionary,
    write_manifest,
)
from ctxembed.word_senses.sense_file import SenseFile, open_sources
from tests.conftest import ROOT, mentions

BUNDLED = ROOT / "corpora" / "dictionary"
SYNSETS = [
    Synset("1:14", "", [("bank", 0, 20), ("depository", 0, 0)], "a place for money", ["my bank"]),
    Synset("1:17", "", [("bank", 1, 25)], "sloping land"),
    Synset("1:13", "", [("hot_dog", 1, 0)], "a sausage in a bun"),
    Synset("1:05", "", [("goose", 0, 2)], "a bird"),
    Synset("2:40", "", [("bank", 0, 3), ("run", 2, 0)], "put money somewhere"),
    Synset("3:00", "", [("large", 0, 9)], "above average in size"),
    Synset("5:00", "large:00", [("Brobdingnagian", 0, 0)], "huge"),
]
ENTRIES = {
    "bank": [1, 0, 4], "depository": [0], "hot_dog": [2], "goose": [3], "run": [4], "large": [5],
    "brobdingnagian": [6],
}  # fmt: skip


def write_small(folder: Path) -> Path:
    folder.mkdir()
    exceptions = [("n", "geese", "goose"), ("v", "ran", "run")]
    write_dictionary(folder, SYNSETS, ENTRIES, [(5, 6), (0, 4), (4, 0)], exceptions, about="small")
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Dictionary:
    return Dictionary.open(write_small(tmp_path / "small"))


# a word as written | its sense keys
KEYS = """
bank | bank%1:17:01:: bank%1:14:00:: bank%2:40:00::
Banks | bank%1:17:01:: bank%1:14:00:: bank%2:40:00::
banked | bank%2:40:00::
geese | goose%1:05:00::
ran | run%2:40:02::
running | run%2:40:02::
hot dogs | hot_dog%1:13:01::
hot-dog | hot_dog%1:13:01::
larger | large%3:00:00::
brobdingnagian | brobdingnagian%5:00:00:large:00
river |
"""


@pytest.mark.parametrize("row", KEYS.strip().splitlines())
def test_look_up_in_any_form(row: str, small: Dictionary) -> None:
    word, _, keys = row.partition("|")
    assert [sense.key for sense in small.look_up(word.strip())] == keys.split()


def test_senses(small: Dictionary) -> None:
    shore, money, _ = small.look_up("bank")
    assert money == Sense(
        "bank", "n", "bank%1:14:00::", "a place for money", ["my bank"], ["bank", "depository"],
        20, 0, 0,
    )  # fmt: skip
    assert (shore.count, shore.synonyms, money.synonyms) == (25, [], ["depository"])
    assert [sense.key for sense in small.look_up("bank", "v")] == ["bank%2:40:00::"]
    assert small.neighbors(0) == [4]  # each relation once
    assert small.neighbors(4) == [0]
    assert small.neighbors(6) == [5]
    assert small.neighbors(1) == []


def test_base_forms() -> None:
    assert base_forms("boxes", "n") == ["boxes", "boxe", "box"]
    assert "stop" in base_forms("stopped", "v")
    assert "big" in base_forms("bigger", "a")
    assert base_forms("glass", "n") == ["glass"]
    assert base_forms("", "n") == [""]
    assert base_forms("s", "n") == ["s"]


def test_wordnet() -> None:
    """Facts that WordNet itself publishes: wnstats(7WN) and its web page."""
    dictionary = Dictionary.open()
    assert dictionary.meta["synsets"] == 117_659
    assert [len(dictionary.senses("bank", part)) for part in "nvar"] == [10, 8, 0, 0]
    assert len(dictionary.senses("dog", "n")) == 7
    first = dictionary.senses("dog")[0]
    assert (first.key, first.count) == ("dog%1:05:00::", 42)
    assert first.words == ["dog", "domestic dog", "Canis familiaris"]
    assert first.examples == ["the dog barked all night"]
    above = {
        word for n in dictionary.neighbors(first.synset) for word, *_ in dictionary.synset(n).words
    }
    assert {"canine", "domestic_animal", "puppy", "poodle"} <= above
    assert dictionary.look_up("mice")[0].lemma == "mouse"
    assert {sense.lemma for sense in dictionary.look_up("better", "a")} >= {"better", "good"}
    assert dictionary.look_up("piece of cake")[0].definition == "any undertaking that is easy to do"
    assert dictionary.look_up("xyzzyq") == []


def test_licence() -> None:
    licence = (BUNDLED / "LICENSE").read_text()
    assert mentions(licence, "WordNet~3.0 Princeton~University Permission~to~use")
    assert mentions(Dictionary.open().meta["about"], "WordNet~3.0 Princeton LICENSE")


def relist(folder: Path) -> None:
    """List the files of a folder anew, as someone would who means harm."""
    meta = json.loads((folder / FILE).read_text())
    write_manifest(
        folder, FILE, {k: v for k, v in meta.items() if k not in ("contents", "generation")}
    )


def save(folder: Path, name: str, data: bytes) -> None:
    np.save(folder / f"{name}.npy", np.frombuffer(data, np.uint8))
    relist(folder)


def save_lemmas(folder: Path, pairs: list[list[int]]) -> None:
    np.save(folder / "lemmas.npy", np.array(pairs, np.uint32))
    relist(folder)


def change_meta(folder: Path, **values: object) -> None:
    meta = json.loads((folder / FILE).read_text()) | values
    (folder / FILE).write_text(json.dumps(meta))
    relist(folder)


# what is done to a dictionary, and what the error names
DAMAGE: dict[str, tuple[Callable[[Path], object], str]] = {
    "gone": (lambda f: shutil.rmtree(f), "small no~such~dictionary"),
    "no description": (lambda f: (f / FILE).unlink(), "dictionary.json missing"),
    "no list": (lambda f: (f / FILE).write_text("[1]"), "dictionary.json damaged"),
    "newer": (lambda f: change_meta(f, format=9), "dictionary.json format~9 Upgrade"),
    "no number": (lambda f: change_meta(f, synsets="7"), "dictionary.json damaged"),
    "no file": (lambda f: (f / "lemmas.npy").unlink(), "lemmas.npy missing"),
    "short": (lambda f: (f / "synsets.npy").write_bytes(b"\x93NUMPY"), "synsets.npy damaged"),
    "no zlib": (lambda f: save(f, "synsets", b"x" * 300), "synsets.npy damaged unpacked"),
    "bomb": (
        lambda f: save(f, "exceptions", zlib.compress(bytes(1 << 26))),
        "exceptions.npy unpacked",
    ),
    "too few": (lambda f: save_lemmas(f, [[1], [1]]), "lemmas.npy damaged"),
    "no pairs": (lambda f: save(f, "lemmas", bytes(8)), "lemmas.npy damaged"),
    "too far": (
        lambda f: save_lemmas(f, [[hash_lemma("goose")] * 9, [2**32 - 1] * 9]),
        "synsets.npy synset",
    ),
    "no exceptions": (lambda f: save(f, "exceptions", b""), "exceptions.npy damaged"),
}  # fmt: skip


@pytest.mark.parametrize("name", DAMAGE)
def test_damage_is_named(name: str, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "small")
    harm, words = DAMAGE[name]
    harm(folder)
    with pytest.raises(ModelError) as error:
        Dictionary.open(folder).look_up("geese")
    assert mentions(str(error.value), words)
    assert mentions(str(error.value), "install~ctxembed~again") or "Upgrade" in str(error.value)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("line", ["", "1:14", "x:14\tgoose\ta bird", "1:05\tgoose x\ta bird"])
def test_damaged_synsets(line: str, tmp_path: Path) -> None:
    folder = write_small(tmp_path / "small")
    packed = zlib.compress("\n".join([line] * 7).encode())
    np.save(folder / "synsets_ends.npy", np.array([len(packed)], np.uint32))
    save(folder, "synsets", packed)
    with pytest.raises(ModelError, match=r"synsets\.npy: damaged \(synset \d\)"):
        Dictionary.open(folder).look_up("goose")


def test_one_bit(tmp_path: Path) -> None:
    folder = write_small(tmp_path / "small")
    for path in sorted(folder.glob("*.npy")):
        whole = path.read_bytes()
        path.write_bytes(whole[:-1] + bytes([whole[-1] ^ 1]))
        with pytest.raises(ModelError, match=f"{path.name}: damaged"):
            dictionary = Dictionary.open(folder)
            dictionary.look_up("goose")
            dictionary.neighbors(0)
        path.write_bytes(whole)


def test_sense_file(tmp_path: Path) -> None:
    path = tmp_path / "own.tsv"
    path.write_text(
        "# mine\nword\tpart\tlabel\tdefinition\n\n"
        "Gift\tn\tpoison\tein giftiger Stoff\tdas Gift der Schlange\n"
        "New York\t\tcity\ta city\ngift\tv\tgive\tto give\t\tshe gifted it\n"
    )
    senses = SenseFile(str(path))
    gift = senses.look_up("Gift")
    assert [(s.key, s.part) for s in gift] == [("gift%poison", "n"), ("gift%give", "v")]
    assert gift[1].examples == ["she gifted it"]
    assert math.isnan(gift[0].count)
    assert senses.look_up("gifted") == [gift[1]]
    assert senses.look_up("new  york")[0].lemma == "new york"
    assert senses.look_up("river") == []
    assert senses.sample(2) == [gift[0], gift[1]]


# a line of a file | the error
WRONG = """
word only | line~1 write WORD
gift\tx\tlabel\tdefinition | line~1 PART
gift\tn\t\tdefinition | line~1 LABEL
# nothing | no~senses
gift\tn\ta\tb\\ngift\tn\ta\tc | line~2 second gift%a
"""


@pytest.mark.parametrize("row", WRONG.strip().splitlines())
def test_wrong_sense_files(row: str, tmp_path: Path) -> None:
    text, _, words = row.partition(" | ")
    path = tmp_path / "own.tsv"
    path.write_text(text.replace("\\t", "\t").replace("\\n", "\n") + "\n")
    with pytest.raises(CorpusError) as error:
        SenseFile(str(path))
    assert mentions(str(error.value), f"own.tsv {words}")


def test_senses_of_today() -> None:
    """Each has two examples with the word in them, which WordNet's own senses lack."""
    wordnet, added = open_sources()
    assert isinstance(added, SenseFile)
    for senses in added.entries.values():
        for sense in senses:
            assert len(sense.examples) == 2, sense.key
            for example in sense.examples:
                assert sense.lemma[:-1] in example.lower(), sense.key
            assert sense.definition not in {s.definition for s in wordnet.look_up(sense.lemma)}
    assert len(added.entries) > 60
