"""A dictionary of word senses: look a word up, in any of its forms; write such a dictionary.

Synsets (sets of synonyms, as in WordNet) are lines of text in blocks, each compressed alone: few
are read for a query. Lemmas are kept as hashes: the synsets spell them.
"""

import zlib
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import numpy as np
from numpy.typing import NDArray

from ctxembed.errors import ModelError
from ctxembed.model.bundled import corpora_directory
from ctxembed.storage.arrays import load
from ctxembed.storage.folder import Folder, open_failure
from ctxembed.storage.manifest import (
    apply_manifest,
    describe,
    manifest_checksum,
    read_json,
    write_json,
)

FORMAT = 1
FILE = "dictionary.json"
FIX = "install ctxembed again"
BLOCK = 256  # synsets compressed together; a query reads some twenty blocks
MAX_BYTES = 16 << 20  # of unpacked data; a damaged file may unpack to any size
SAMPLED_BLOCKS = 12
KEPT = 512  # blocks kept in memory: all of WordNet
KEPT_SYNSETS = 1 << 14
PART_CODE = 10**8  # see code_offset
MAX_SCANS = 200  # lookups that read a list through; after that its entries are sorted
HASHES = (1 << 24) - 1
MAX_PLACES = 64  # words of a synset; WordNet's largest has 28
PARTS = {"n": "noun", "v": "verb", "a": "adjective", "r": "adverb"}
ENDINGS = {  # WordNet's rules of detachment: an ending, and what replaces it in the lemma
    "n": "s: ses:s xes:x zes:z ches:ch shes:sh men:man ies:y",
    "v": "s: ies:y es:e es: ed:e ed: ing:e ing:",
    "a": "er: est: er:e est:e",
    "r": "",
}
RULES = {
    part: [tuple(rule.split(":")) for rule in rules.split()] for part, rules in ENDINGS.items()
}
Numbers = Sequence[int]  # of an array of 32 bits each


class Synset(NamedTuple):
    """A set of words that share a meaning."""

    kind: str  # in its sense keys: 1:05 for a noun (1) of animals (05)
    head: str  # of an adjective satellite: the head of its cluster, as in sense keys
    words: Sequence[tuple[str, int, int]]  # word, number in its sense key, count in a corpus
    definition: str
    examples: Sequence[str] = ()

    @property
    def part(self) -> str:
        """Its part of speech: n, v, a or r."""
        return "?nvara"[int(self.kind[0])]

    def to_line(self) -> str:
        """Return the synset as a line of text."""
        words = "|".join(
            f"{word} {number} {count}" if count else f"{word} {number}" if number else word
            for word, number, count in self.words
        )
        kind = f"{self.kind}:{self.head}" if self.head else self.kind
        return "\t".join((kind, words, self.definition, *self.examples))

    @classmethod
    def from_line(cls, line: str) -> "Synset":
        """Return the synset of a line.

        >>> Synset.from_line("1:13\\tapple 0 2|orchard_apple\\ta fruit").words
        [('apple', 0, 2), ('orchard_apple', 0, 0)]
        """
        kind, words, definition, *examples = line.split("\t")
        typed, file, *head = kind.split(":", 2)
        if typed not in list("12345"):
            raise ValueError(f"kind {kind!r}")
        split = [_split_word(text) for text in words.split("|")]
        return cls(f"{typed}:{file}", "".join(head), split, definition.rstrip(" ,;"), examples)


@dataclass(frozen=True)
class Sense:
    """One meaning of a lemma."""

    lemma: str  # hot dog
    part: str  # of speech: n, v, a or r
    key: str  # WordNet's sense key
    definition: str
    examples: Sequence[str]
    words: Sequence[str]  # all words of its synset
    count: float  # how often a corpus labelled by hand has it
    synset: int = -1  # -1: in a dictionary without synsets
    place: int = 0  # of the lemma among the words of the synset
    share: float = 0.0  # of 100 uses of the word today, an estimate; 0 where there is none

    @property
    def number(self) -> int:
        """A number of its own: of its synset and place, or where it has no synset, of its key."""
        return number_sense(self.synset, self.place) if self.synset >= 0 else number_key(self.key)

    @property
    def synonyms(self) -> list[str]:
        """The other words of its synset."""
        return [word for word in self.words if word.lower() != self.lemma]


class SenseSource(Protocol):
    """A dictionary: bundled, or in a file."""

    def look_up(self, word: str, part: str | None = None) -> list[Sense]: ...
    def sample(self, number: int) -> list[Sense]: ...


class Dictionary:
    """Lemmas with their senses, in a folder."""

    def __init__(self, files: Folder, meta: Mapping[str, Any]) -> None:
        self.files, self.meta = files, meta
        self.parts_of_speech: Any = None  # set by PartsOfSpeech.of
        self.block = lru_cache(KEPT)(self._block)
        self.synset = lru_cache(KEPT_SYNSETS)(self._synset)
        self.entry = lru_cache(KEPT_SYNSETS)(self._entry)
        self._lookups = 0  # of neighbours so far

    @classmethod
    def open(cls, path: Path | None = None) -> "Dictionary":
        """Return the dictionary in a folder, by default the bundled one."""
        files, meta = open_folder(path or corpora_directory() / "dictionary", FILE, FORMAT)
        if not isinstance(meta.get("synsets"), int) or not isinstance(meta.get("sizes"), dict):
            raise files.damage(FILE, "synsets or sizes is missing or wrong")
        return cls(files, meta)

    def _synset(self, number: int) -> Synset:
        """Return a synset; `synset` keeps the last ones."""
        try:
            return Synset.from_line(self._line(number))
        except ValueError:
            raise self.files.damage("synsets.npy", f"synset {number}") from None

    def text(self, number: int) -> str:
        """Return the definition of a synset, and its words on a line of their own."""
        _, words, definition = (*self._line(number).split("\t"), "", "")[:3]
        plain = " ".join(word.partition(" ")[0] for word in words.split("|"))
        return f"{definition}\n{plain}".replace("_", " ")

    def neighbors(self, number: int) -> list[int]:
        """Return the synsets related to one: hypernyms, hyponyms, parts, similar; no antonyms."""
        first, second = self._pairs
        own = slice(*_equal_rows(self._first, number))
        self._lookups += 1
        if self._lookups > MAX_SCANS:
            targets, order = self._sorted_pairs
            others = first[order[slice(*_equal_rows(targets, number))]]
        else:
            others = first[second == number]
        return [*second[own].tolist(), *others.tolist()]

    def find_synset(self, part: str, offset: int) -> int | None:
        """Return the number of a synset by its part of speech and offset in WordNet's own files."""
        codes, order = self._offsets
        code = code_offset(part, offset)
        row = int(np.searchsorted(codes, code, sorter=order))
        return int(order[row]) if row < len(order) and codes[order[row]] == code else None

    @cached_property
    def _codes(self) -> NDArray[np.uint32]:
        """(n,) part of speech and offset of each synset, as code_offset returns them."""
        codes: NDArray[np.uint32] = load(self.files / "offsets.npy")
        if codes.dtype != np.uint32 or codes.shape != (self.meta["synsets"],):
            raise self.files.damage("offsets.npy", f"shape {codes.shape}")
        return codes

    @cached_property
    def _offsets(self) -> tuple[NDArray[np.uint32], NDArray[np.intp]]:
        """The same, and the order that sorts them."""
        return self._codes, np.argsort(self._codes, kind="stable")

    def senses(self, lemma: str, part: str | None = None) -> list[Sense]:
        """Return the senses of a lemma, the most frequent of each part of speech first."""
        entry = self.entry(lemma.lower().replace(" ", "_"))
        return [sense for sense in entry if part in (None, sense.part)]

    def _entry(self, name: str) -> list[Sense]:
        """Return the senses of a lemma; `entry` keeps the last ones."""
        senses = []
        hashes, synsets = self._lemmas
        for row in range(*_equal_rows(hashes, hash_lemma(name))):
            synset = self.synset(synsets[row])
            for place, (word, *_) in enumerate(synset.words):
                if word.lower() == name:  # else another lemma with this hash
                    share = self.share(number_sense(synsets[row], place))
                    senses.append(_to_sense(name, synsets[row], synset, place, share))
                    break
        return senses

    def share(self, number: int) -> float:
        """Return the share of a sense in the uses of its lemma, by its number; 0 if unknown."""
        numbers, shares = self._shares
        first, last = _equal_rows(numbers, number)
        return float(shares[first]) if last > first else 0.0

    def look_up(self, word: str, part: str | None = None) -> list[Sense]:
        """Return the senses of all lemmas that a word may be a form of; none if unknown."""
        senses: dict[str, Sense] = {}
        for own in PARTS if part is None else (part,):
            for name in base_forms(word, own, self._find_irregular):
                senses |= {sense.key: sense for sense in self.senses(name, own)}
        return list(senses.values())

    def count_parts(self, word: str) -> list[int]:
        """Return how many senses of each part of speech a word may have, in the order of PARTS."""
        hashes, synsets = self._lemmas
        codes, counts = self._codes, []
        for own, part in enumerate(PARTS):
            senses = set[int]()
            for name in base_forms(word, part, self._find_irregular) if word else ():
                senses.update(synsets[slice(*_equal_rows(hashes, hash_lemma(name)))])
            counts.append(sum(int(codes[number]) // PART_CODE == own for number in senses))
        return counts

    def sample(self, number: int) -> list[Sense]:
        """Return about as many senses, from a few blocks spread over the dictionary."""
        per_block = max(1, number // SAMPLED_BLOCKS)
        senses = []
        for first in range(0, self.meta["synsets"], max(1, self.meta["synsets"] // SAMPLED_BLOCKS)):
            for own in range(first, min(first + per_block, self.meta["synsets"])):
                synset = self.synset(own)
                senses.append(_to_sense(synset.words[0][0].lower(), own, synset, 0))
        return senses

    def _find_irregular(self, form: str, part: str) -> list[str]:
        """Return the lemmas of an irregular form."""
        start = f"{part} {form} "
        row = bisect_left(self._exceptions, start)
        lines = self._exceptions[row : row + 1]
        return lines[0].split()[2:] if lines and lines[0].startswith(start) else []

    @cached_property
    def _first(self) -> Numbers:
        """(n,) the first synset of each relation."""
        return _to_numbers(self._pairs[0])

    @cached_property
    def _sorted_pairs(self) -> tuple[Numbers, NDArray[np.intp]]:
        """(n,) the second synset of each relation, sorted, and the order that sorts them."""
        second = self._pairs[1]
        order = np.argsort(second, kind="stable")
        return _to_numbers(second[order]), order

    @cached_property
    def _exceptions(self) -> list[str]:
        """Part of speech, form and lemmas of each irregular form, sorted."""
        return self._unpack("exceptions").decode("utf-8", "replace").split("\n")

    @cached_property
    def _lemmas(self) -> list[Numbers]:
        """(2, n) the sorted hashes of lemmas, and the synset of each."""
        return list(map(_to_numbers, self._read_pairs("lemmas")))

    @cached_property
    def _pairs(self) -> NDArray[np.uint32]:
        """(2, n) the two synsets of each relation, sorted by the first."""
        return self._read_pairs("neighbors")

    @cached_property
    def _shares(self) -> list[Numbers]:
        """(2, n) sorted numbers of senses, as Sense.number, and the share of each."""
        return list(map(_to_numbers, self._read_pairs("shares")))

    def _read_pairs(self, name: str) -> NDArray[np.uint32]:
        """Return (2, n) numbers, mapped."""
        pairs: NDArray[np.uint32] = load(self.files / f"{name}.npy")
        if pairs.dtype != np.uint32 or pairs.shape != (2, self.meta["sizes"].get(name)):
            raise self.files.damage(f"{name}.npy", f"shape {pairs.shape}")
        return pairs

    def _line(self, number: int) -> str:
        """Return the line of a synset."""
        block, line = divmod(number, BLOCK)
        try:
            return self.block(block)[line]
        except IndexError:
            raise self.files.damage("synsets.npy", f"synset {number}") from None

    def _unpack(self, name: str) -> bytes:
        return _decompress(self.files, name, load(self.files / f"{name}.npy").tobytes())

    @cached_property
    def _synsets(self) -> tuple[NDArray[np.uint8], list[int]]:
        """The compressed blocks, one after the other, and where each ends."""
        ends = load(self.files / "synsets_ends.npy").tolist()
        return load(self.files / "synsets.npy"), ends

    def _block(self, block: int) -> list[str]:
        """Return the lines of a block."""
        data, ends = self._synsets
        packed = data[ends[block - 1] if block else 0 : ends[block]].tobytes()
        try:
            return _decompress(self.files, "synsets", packed).decode().split("\n")
        except UnicodeDecodeError:
            raise self.files.damage("synsets.npy", f"block {block}") from None


def base_forms(word: str, part: str, irregular: Any = None) -> list[str]:
    """Return the lemmas that a word may be a form of, itself first; not all of them exist.

    >>> base_forms("hot dogs", "n"), base_forms("looked up", "v")
    (['hot_dogs', 'hot_dog'], ['looked_up', 'looke_up', 'look_up'])
    """
    name = "_".join(word.lower().split())

    def detach(form: str) -> list[str]:
        if irregular and (lemmas := irregular(form, part)):
            return list(lemmas)
        if part == "n" and form.endswith(("ss", "ful")):
            return []
        ends = [
            (end, new) for end, new in RULES[part] if form.endswith(end) and len(form) > len(end)
        ]
        doubled = [  # stopped, running, bigger
            stem[:-1]
            for end, _ in ends
            if (stem := form.removesuffix(end))[-1] == stem[-2:-1] and end[-1] in "dgrt"
        ]
        return [*(form.removesuffix(end) + new for end, new in ends), *doubled]

    forms = [name, *detach(name)]
    before, _, last = name.rpartition("_")
    first, _, rest = name.partition("_")
    if before:
        forms += [f"{before}_{base}" for base in detach(last) if part != "v"]
        forms += [f"{base}_{rest}" for base in detach(first)]
    if "-" in name:
        forms += [name.replace("-", "_"), name.replace("-", "")]
    return list(dict.fromkeys(forms))


def number_sense(synset: int, place: int) -> int:
    """Return one number for a synset and the place of a lemma in it."""
    return max(0, synset) * MAX_PLACES + place


def number_key(key: str) -> int:
    """Return a number for the key of a sense without synset, above those of all others."""
    return 1 << 31 | zlib.crc32(key.encode("utf-8", "surrogatepass")) >> 1


def code_offset(part: str, offset: int) -> int:
    """Return one number for a part of speech and an offset of eight digits."""
    return list(PARTS).index(part) * PART_CODE + offset


def hash_lemma(name: str) -> int:
    """Return 24 bits that depend on a lemma."""
    return zlib.crc32(name.encode("utf-8", "replace")) & HASHES


def open_folder(path: Path, name: str, newest: int) -> tuple[Folder, dict[str, Any]]:
    """Open a folder with the list of its files in `name`; return both, once they are checked.

    newest: the newest format of the list that can be read.
    """
    try:
        files = Folder(path, FIX)
    except (FileNotFoundError, NotADirectoryError):
        raise ModelError(f"{path}: no such dictionary; {FIX}") from None
    except OSError as error:
        raise open_failure(path, error, FIX) from None
    meta = read_json(files / name, newest)
    apply_manifest(files / name, meta)
    return files, meta


def write_dictionary(
    folder: Path,
    synsets: Sequence[Synset],
    entries: Mapping[str, Sequence[int]],
    pairs: Iterable[tuple[int, int]],
    exceptions: Iterable[Sequence[str]] = (),
    shares: Mapping[int, float] | None = None,
    **meta: Any,
) -> None:
    """Write a dictionary into an empty folder.

    entries: the synsets of each lemma in the order of its senses. pairs: related synsets.
    exceptions: part of speech, form and lemmas. shares: of 100 uses of a lemma today, how many have
    a sense, by Sense.number. meta: what is said of the dictionary.
    """
    lines = [synset.to_line() for synset in synsets]
    texts = ["\n".join(lines[i : i + BLOCK]).encode() for i in range(0, len(lines), BLOCK)]
    packed = [zlib.compress(text, 9) for text in texts]
    np.save(folder / "synsets.npy", np.frombuffer(b"".join(packed), np.uint8))
    np.save(folder / "synsets_ends.npy", np.array(list(accumulate(map(len, packed))), np.uint32))
    hashed = sorted((hash_lemma(name), name) for name in entries)
    lemmas = [(own, number) for own, name in hashed for number in entries[name]]
    related = sorted({(min(pair), max(pair)) for pair in pairs})
    estimated = [(number, round(share)) for number, share in sorted((shares or {}).items())]
    for name, numbers in (("lemmas", lemmas), ("neighbors", related), ("shares", estimated)):
        columns = np.array(numbers, "<u4").reshape(-1, 2).T
        np.save(folder / f"{name}.npy", np.ascontiguousarray(columns))
    text = "".join(f"\n{line}" for line in sorted(" ".join(line) for line in exceptions))
    _write_packed(folder / "exceptions.npy", text.encode())
    sizes = {"lemmas": len(lemmas), "neighbors": len(related), "shares": len(estimated)}
    described = {"format": FORMAT, **meta, "synsets": len(synsets), "sizes": sizes}
    write_manifest(folder, FILE, described)


def write_manifest(folder: Path, name: str, meta: dict[str, Any]) -> None:
    """Write a description that lists the files of a folder with their checksums."""
    files = Folder(folder, FIX)
    parts = sorted(path.name for path in folder.iterdir() if path.is_file() and path.name != name)
    meta = meta | {"contents": {part: describe(files / part) for part in parts}}
    write_json(folder / name, meta | {"generation": manifest_checksum(meta)})


def _to_numbers(array: NDArray[np.uint32]) -> Numbers:
    """Return the same numbers for Python, which finds a few of them sooner than numpy does."""
    numbers: Any = np.ascontiguousarray(array, np.uint32).data
    return cast(Numbers, numbers)


def _equal_rows(numbers: Numbers, number: int) -> tuple[int, int]:
    """Return the first row of a number in sorted ones, and the row after its last."""
    first = last = bisect_left(numbers, number)
    while last < len(numbers) and numbers[last] == number:
        last += 1
    return first, last


def _write_packed(path: Path, data: bytes) -> None:
    np.save(path, np.frombuffer(zlib.compress(data, 9), np.uint8))


def _decompress(files: Folder, name: str, packed: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        data = unpacker.decompress(packed, MAX_BYTES)
    except zlib.error:
        data = b""
    if not unpacker.eof:
        raise files.damage(f"{name}.npy", "cannot be unpacked")
    return data


def _to_sense(name: str, number: int, synset: Synset, place: int, share: float = 0.0) -> Sense:
    _, own, count = synset.words[place]
    return Sense(
        name.replace("_", " "),
        synset.part,
        f"{name}%{synset.kind}:{own:02d}:{synset.head or ':'}",
        synset.definition,
        synset.examples,
        [word.replace("_", " ") for word, _, _ in synset.words],
        count,
        number,
        place,
        share,
    )


def _split_word(text: str) -> tuple[str, int, int]:
    word, *numbers = text.split(" ")
    number, count = (*map(int, numbers), 0, 0)[:2]
    return word, number, count
