"""Compile WordNet 3.0 and labelled sentences: python -m corpora.dictionary DATA

sense_examples.tsv.xz has sentences written for the meanings of today. DATA holds
wordnet/wordnet-3.0.tar.xz with WordNet's own files (data.noun, index.sense, noun.exc ...), its
LICENSE beside it, wsd/semcor.tsv.xz and wsd/glosses.tsv.xz: document, lemma, part of speech, sense
keys and sentence with the target in brackets. The same data and model give the same bytes.
"""

import corpora.same_bytes  # isort: skip  # noqa: F401  # before numpy

import argparse
import re
import shutil
import tarfile
from collections import defaultdict
from functools import lru_cache
from pathlib import Path

import numpy as np

from corpora.fit_parts import fit_parts
from corpora.fit_senses import fit_senses
from corpora.labelled_sentences import read_examples, read_labelled
from ctxembed.word_senses.dictionary import (
    PARTS,
    Dictionary,
    Synset,
    code_offset,
    number_key,
    number_sense,
    write_dictionary,
)

HERE = Path(__file__).parent
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
TYPES = {"n": "1", "v": "2", "a": "3", "r": "4", "s": "5"}  # in a sense key; s: satellite
ABOUT = "WordNet 3.0, Copyright 2006 by Princeton University; see LICENSE"
PARENTS = {"n": ("@", "@i"), "v": ("@",), "a": ("&",), "r": ("\\",)}  # relations of the order


def read_archive(path: Path) -> dict[str, list[str]]:
    """Return the lines of each file in the archive."""
    with tarfile.open(path) as archive:
        files = {item.name: archive.extractfile(item) for item in archive if item.isfile()}
        return {
            name: file.read().decode("latin-1").splitlines() for name, file in files.items() if file
        }


def split_gloss(gloss: str) -> tuple[str, list[str]]:
    """Return the definition and the examples of a gloss.

    >>> split_gloss('a fruit; "an apple a day" - a saying')
    ('a fruit', ['an apple a day'])
    """
    examples = [text.strip() for text in re.findall(r'"([^"]+)"', gloss)]
    definition = re.sub(r';?\s*"[^"]*"[^;"]*', "", gloss).strip(" ;")
    return definition, [text for text in examples if text]


class Line:
    """A synset as data.noun and the others have it."""

    def __init__(self, part: str, line: str) -> None:
        head, _, gloss = line.partition(" | ")
        fields = head.split()
        size = int(fields[3], 16)
        self.part, self.name, self.satellite = part, part + fields[0], fields[2] == "s"
        self.kind = f"{TYPES[fields[2]]}:{fields[1]}"
        spelled = (re.sub(r"\((a|p|ip)\)$", "", word) for word in fields[4 : 4 + 2 * size : 2])
        self.words = list(zip(spelled, (int(x, 16) for x in fields[5::2]), strict=False))
        at, number = 5 + 2 * size, int(fields[4 + 2 * size])
        self.related = [
            (fields[i], fields[i + 2].replace("s", "a") + fields[i + 1])
            for i in range(at, at + 4 * number, 4)
        ]
        self.definition, self.examples = split_gloss(gloss.strip())


def order_lines(lines: dict[str, Line]) -> list[Line]:
    """Return synsets so that each comes soon after its hypernym: neighbours share blocks."""
    below: defaultdict[str, list[str]] = defaultdict(list)
    roots: list[str] = []
    for name, line in lines.items():
        if line.part == "a" and not line.satellite:
            parents = []
        else:
            kinds = PARENTS[line.part]
            parents = [b for a, b in line.related if a in kinds and lines[b].part == line.part]
        (below[parents[0]] if parents else roots).append(name)
    ordered: dict[str, Line] = {}
    for root in (*roots, *lines):  # some adverbs point at each other
        waiting = [root]
        while waiting:
            name = waiting.pop()
            if name not in ordered:
                ordered[name] = lines[name]
                waiting += reversed(below[name])
    return list(ordered.values())


def compile_wordnet(path: Path, folder: Path, shares: dict[str, float]) -> Dictionary:
    """Write the dictionary of a WordNet archive into a folder; check every sense key.

    shares: of 100 uses of a word today, how many have a sense, by sense key.
    """
    files = read_archive(path)
    counts: dict[tuple[str, str], int] = {}
    keys_of: dict[tuple[str, str], str] = {}
    order: defaultdict[str, list[tuple[int, int, str, str]]] = defaultdict(list)
    for text in files["index.sense"]:
        key, offset, number, count = text.split()
        lemma, _, rest = key.partition("%")
        part = "?nvara"[int(rest[0])]
        counts[lemma, part + offset] = int(count)
        keys_of[lemma, part + offset] = key
        order[lemma].append((list(PARTS).index(part), int(number), part + offset, key))
    read = (
        Line(part, text)
        for part, name in FILES.items()
        for text in files[f"data.{name}"]
        if not text.startswith("  ")
    )
    lines = order_lines({line.name: line for line in read})
    numbers = {line.name: number for number, line in enumerate(lines)}
    heads = {line.name: line.words[0] for line in lines}
    synsets = []
    for line in lines:
        head = ""
        if line.satellite:
            word, own = heads[next(other for symbol, other in line.related if symbol == "&")]
            head = f"{word.lower()}:{own:02d}"
        words = [(word, own, counts.get((word.lower(), line.name), 0)) for word, own in line.words]
        synsets.append(Synset(line.kind, head, words, line.definition, line.examples))
    pairs = (
        (numbers[line.name], numbers[other])
        for line in lines
        for symbol, other in line.related
        if symbol != "!"  # antonyms are not alike
    )
    entries = {name: [numbers[at] for _, _, at, _ in sorted(own)] for name, own in order.items()}
    exceptions = [
        (part, *text.split()) for part, name in FILES.items() for text in files[f"{name}.exc"]
    ]
    estimated = {
        number_sense(numbers[line.name], place): shares[key]
        for line in lines
        for place, (word, _) in enumerate(line.words)
        if (key := keys_of[word.lower(), line.name]) in shares
    }
    estimated |= {number_key(key): share for key, share in shares.items() if ":" not in key}
    licence = (path.parent / "LICENSE").read_text(encoding="utf-8")
    (folder / "LICENSE").write_text(licence, encoding="utf-8")
    offsets = [code_offset(line.part, int(line.name[1:])) for line in lines]
    np.save(folder / "offsets.npy", np.array(offsets, np.uint32))
    write_dictionary(folder, synsets, entries, pairs, exceptions, estimated, about=ABOUT)
    dictionary = Dictionary.open(folder)
    dictionary.block = lru_cache(None)(dictionary._block)
    for name, senses in order.items():
        keys = [key for *_, key in sorted(senses)]
        if (written := [sense.key for sense in dictionary.senses(name)]) != keys:
            raise SystemExit(f"{name}: sense keys {written}, expected {keys}")
    return dictionary


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=HERE / "dictionary")
    parser.add_argument(
        "--models", nargs="*", default=["english"], help="With labelled senses: names or paths."
    )
    arguments = parser.parse_args()
    shutil.rmtree(arguments.output, ignore_errors=True)
    arguments.output.mkdir(parents=True)
    examples, estimates = read_examples(HERE / "sense_examples.tsv.xz")
    archive = arguments.data / "wordnet/wordnet-3.0.tar.xz"
    compiled = compile_wordnet(archive, arguments.output, estimates)
    labelled = [*read_labelled(arguments.data / "wsd/semcor.tsv.xz"), *examples]
    glosses = list(read_labelled(arguments.data / "wsd/glosses.tsv.xz"))
    fit_parts(compiled, labelled, glosses, arguments.output)
    for own in arguments.models:
        fit_senses(compiled, labelled, arguments.output, own)
