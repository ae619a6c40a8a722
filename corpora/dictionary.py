"""Compile WordNet 3.0 and labelled sentences into corpora/dictionary: corpora/dictionary.py DATA

sense_examples.tsv has sentences written for the meanings of today. DATA holds
wordnet/wordnet-3.0.tar.xz with WordNet's own files (data.noun, index.sense, noun.exc ...), its
LICENSE beside it, and wsd/semcor.tsv.xz: document, lemma, part of speech, sense keys and sentence
with the target in brackets. The same data and model give the same bytes.
"""

import argparse
import lzma
import os
import re
import shutil
import tarfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = "1"  # more may round otherwise

import numpy as np

from ctxembed.context.parse import Written
from ctxembed.context.representations import Representations
from ctxembed.model.bundled import open_model
from ctxembed.stats.vectors import unit
from ctxembed.text.tokenizer import parse_marked
from ctxembed.word_senses.definitions import Definitions, mean_direction
from ctxembed.word_senses.dictionary import (
    FILE,
    PARTS,
    Dictionary,
    Sense,
    Synset,
    code_offset,
    number_sense,
    write_dictionary,
    write_manifest,
)
from ctxembed.word_senses.labelled import centre, near_words, write_labelled
from ctxembed.word_senses.parts_of_speech import NEIGHBORS, UNSEEN, neighbor_words

HERE = Path(__file__).parent
FILES = {"n": "noun", "v": "verb", "a": "adj", "r": "adv"}
TYPES = {"n": "1", "v": "2", "a": "3", "r": "4", "s": "5"}  # in a sense key; s: satellite
ABOUT = "WordNet 3.0, Copyright 2006 by Princeton University; see LICENSE"
PARENTS = {"n": ("@", "@i"), "v": ("@",), "a": ("&",), "r": ("\\",)}  # relations of the order
WORDS = 1500  # neighbouring words that a part of speech is told from
PENALTY = 2e-6  # L2, of their weights
BATCH = 4000  # sentences
WRITTEN = 3  # times that a sentence of sense_examples.tsv counts: it was written for its sense
DIRECTIONS = 64  # of the projection
SHRINKAGE = 0.1  # even variance added to the measured one, as a share of its mean
MIN_OCCURRENCES = 3  # of the senses whose spread is measured


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


class Labelled:
    """A sentence with a labelled target."""

    def __init__(self, lemma: str, part: str, keys: str, text: str, count: int = 1) -> None:
        self.lemma, self.part, self.keys, self.count = lemma, part, keys.split(), count
        marked = parse_marked(text, TOKENIZER)
        self.written = Written(marked.words, marked.targets[0] if marked.targets else range(0))


def read_semcor(path: Path) -> Iterator[Labelled]:
    """Yield the labelled targets of SemCor."""
    with lzma.open(path, "rt", encoding="utf-8") as file:
        for line in file:
            _, lemma, part, keys, text = line.rstrip("\n").split("\t")
            if (item := Labelled(lemma, part, keys, text)).written.target:
                yield item


def read_examples(path: Path) -> tuple[list[Labelled], dict[str, float]]:
    """Return the sentences written for senses, and the share of each sense, by sense key."""
    items, shares = list[Labelled](), dict[str, float]()
    for line in path.read_text(encoding="utf-8").splitlines():
        if not line.startswith("#"):
            key, share, *texts = line.split("\t")
            lemma, _, rest = key.partition("%")
            shares[key] = float(share)
            items += (Labelled(lemma, "?nvara"[int(rest[0])], key, text, WRITTEN) for text in texts)
    return [item for item in items if item.written.target], shares


def fit_parts(dictionary: Dictionary, items: list[Labelled], folder: Path) -> None:
    """Fit the part of speech of words that may have several; add the weights to the dictionary."""
    from scipy.optimize import minimize
    from scipy.sparse import csr_matrix

    @lru_cache(None)
    def part_counts(word: str) -> dict[str, float]:
        totals: dict[str, float] = {}
        for sense in dictionary.look_up(word):
            totals[sense.part] = totals.get(sense.part, 0) + sense.count
        return totals

    beside = [neighbor_words(item.written) for item in items]
    frequent = Counter(word for four in beside for word in four).most_common(WORDS)
    words = sorted(word for word, _ in frequent)
    rows = {word: row for row, word in enumerate(words)}
    columns: list[int] = []
    ends, counts, golds = [0], [], []
    for item, four in zip(items, beside, strict=True):
        target = " ".join(item.written.words[i] for i in item.written.target)
        totals = part_counts(target)
        if len(totals) < 2 or item.part not in totals:
            continue
        columns += [i * WORDS + rows[word] for i, word in enumerate(four) if word in rows]
        ends.append(len(columns))
        own = [totals.get(part, -1.0) - (part == item.part) for part in PARTS]  # without this one
        counts.append([np.log(max(0.0, c) + UNSEEN) if p in totals else -np.inf
                       for c, p in zip(own, PARTS, strict=True)])  # fmt: skip
        golds.append(list(PARTS).index(item.part))
    x = csr_matrix((np.ones(len(columns)), columns, ends), (len(golds), 4 * WORDS))
    logs, gold = np.array(counts), np.eye(4)[golds]
    finite = np.where(np.isfinite(logs), logs, 0)
    closed = np.where(np.isfinite(logs), 0.0, -np.inf)

    def loss(parameters: Any) -> Any:
        weights, bias, scale = parameters[:-5].reshape(-1, 4), parameters[-5:-1], parameters[-1]
        scores = x @ weights + bias + scale * finite + closed
        p = np.exp(scores - scores.max(1, keepdims=True))
        p /= p.sum(1, keepdims=True)
        value = -np.log((p * gold).sum(1) + 1e-300).mean() + PENALTY * (weights**2).sum()
        d = (p - gold) / len(gold)
        slope = (x.T @ d + 2 * PENALTY * weights).ravel()
        return value, np.concatenate([slope, d.sum(0), [(d * finite).sum()]])

    start = np.zeros(16 * WORDS + 5)
    start[-1] = 1
    fitted = minimize(loss, start, jac=True, method="L-BFGS-B", options={"maxiter": 150}).x
    weights, bias, scale = fitted[:-5].reshape(-1, 4), fitted[-5:-1], fitted[-1]
    scores = x @ weights + bias + scale * finite + closed
    print(f"part of speech: {(scores.argmax(1) == golds).mean():.3f} of {len(golds)} right")
    np.save(folder / "parts.npy", weights.reshape(len(NEIGHBORS), WORDS, 4).astype("<f2"))
    meta = {key: dictionary.meta[key] for key in ("format", "about", "synsets", "sizes")}
    parts = {"words": words, "bias": bias.round(4).tolist(), "count": round(float(scale), 4)}
    write_manifest(folder, FILE, meta | {"parts": parts})


def sum_labelled(dictionary: Dictionary, items: list[Labelled], folder: Path, name: str) -> None:
    """Write the sums of the labelled senses of a model, the projection and the means."""
    definitions = Definitions(Representations.of(open_model(name)), [dictionary])
    model = definitions.representations.model
    name = model.path.name
    model.dequantize()
    senses: dict[str, Sense] = {}
    groups: list[
        list[int]
    ] = []  # the numbers of the labelled senses of each lemma that has several
    labels = {key for item in items for key in item.keys}
    for lemma, part in sorted({(item.lemma, item.part) for item in items}):
        own = {sense.key: sense for sense in dictionary.senses(lemma, part) if sense.key in labels}
        if len(own) > 1:
            senses |= own
            groups.append([number_sense(sense.synset, sense.place) for sense in own.values()])
    occurrences = []
    for item in items:
        words, target = item.written.words, item.written.target
        sides = (words[: target.start], words[target.start : target.stop], words[target.stop :])
        occurrences.append(definitions.find_occurrence(*map(" ".join, sides)))
    known = [i for i, item in enumerate(occurrences) if item.target]
    kinds = [
        np.concatenate([
            representation.vectors([occurrences[i] for i in known[first : first + BATCH]])
            for first in range(0, len(known), BATCH)
        ])
        for representation in (definitions.attention, definitions.bag)
    ]  # fmt: skip
    kinds += list(near_words(model, [occurrences[i] for i in known]))
    means = [mean_direction(vectors) for vectors in kinds]
    joined = np.concatenate([centre(*both) for both in zip(kinds, means, strict=True)], axis=1)
    labelled = [
        (row, number_sense(senses[key].synset, senses[key].place), items[i].count)
        for row, i in enumerate(known)
        for key in items[i].keys
        if key in senses
    ]
    rows, numbers, weights = map(np.array, zip(*labelled, strict=True))
    projection = discriminant(joined[rows], numbers, weights, groups)
    vectors = unit(joined @ projection)
    sums: dict[int, tuple[Any, float]] = {}
    for row, number, weight in labelled:
        total, count = sums.get(number, (0, 0))
        sums[number] = total + weight * vectors[row], count + weight
    texts = []
    for number in range(dictionary.meta["synsets"]):
        synset = dictionary.synset(number)
        plain = [word.replace("_", " ") for word, _, _ in synset.words]
        texts.append(
            Sense("", synset.part, "", synset.definition, synset.examples, plain, 0, number)
        )
    means[2:2] = map(mean_direction, definitions.text_vectors(texts))
    (folder / name).mkdir()
    write_labelled(folder / name, model, definitions.attention.name, sums, projection, means)
    print(f"{name}: {len(sums)} senses of {len(known)} occurrences")


def discriminant(vectors: Any, numbers: Any, weights: Any, groups: list[list[int]]) -> Any:
    """Return (D, k) the directions in which the senses of a word differ most (Fisher 1936).

    vectors: (n, D) of occurrences with the numbers of their senses (n,) and weights (n,). Distances
    are measured by the spread of the occurrences of one sense.
    """
    distinct, own = np.unique(numbers, return_inverse=True)
    counts = np.bincount(own, weights)
    sums = np.zeros((len(distinct), vectors.shape[1]), np.float32)
    np.add.at(sums, own, weights[:, None].astype(np.float32) * vectors)
    means = sums / counts[:, None].astype(np.float32)
    several = counts[own] >= MIN_OCCURRENCES
    apart = vectors[several] - means[own[several]]
    within = (apart.T @ apart).astype(np.float64) / len(apart)
    values, axes = np.linalg.eigh(
        within + SHRINKAGE * np.trace(within) / len(within) * np.eye(len(within))
    )
    whiten = (axes / np.sqrt(values)) @ axes.T
    between = np.zeros_like(within)
    for group in groups:
        rows = np.searchsorted(distinct, group)
        apart = means[rows] - sums[rows].sum(axis=0) / counts[rows].sum()
        between += (apart * counts[rows, None]).T @ apart
    _, axes = np.linalg.eigh(whiten.T @ between @ whiten)
    return (whiten @ axes[:, ::-1][:, :DIRECTIONS]).astype(np.float32)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("-o", "--output", type=Path, default=HERE / "dictionary")
    parser.add_argument(
        "--models", nargs="*", default=["english"], help="With labelled senses: names or paths."
    )
    arguments = parser.parse_args()
    TOKENIZER = open_model("english").vocabulary.tokenizer
    shutil.rmtree(arguments.output, ignore_errors=True)
    arguments.output.mkdir(parents=True)
    examples, estimates = read_examples(HERE / "sense_examples.tsv")
    archive = arguments.data / "wordnet/wordnet-3.0.tar.xz"
    compiled = compile_wordnet(archive, arguments.output, estimates)
    semcor = list(read_semcor(arguments.data / "wsd/semcor.tsv.xz"))
    fit_parts(compiled, semcor, arguments.output)
    for own in arguments.models:
        sum_labelled(compiled, semcor + examples, arguments.output, own)
