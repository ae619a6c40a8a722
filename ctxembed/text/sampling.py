"""Sample sentences: enough of every word, drawn by hashing; or a mixture of two corpora.

Each sentence has a number in [0, 1), the hash of its file, its position and the seed. It is kept if
that is below N / count of its rarest word. Frequent words then occur more often with rare words
than in the corpus, so only those of their occurrences are listed whose sentence is below N / their
own count: an even sample.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ctxembed.progress import Progress
from ctxembed.text.build_index import build, sentence_writer, write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.lines import write_lines
from ctxembed.text.numbering import BLOCK, number_corpus
from ctxembed.text.original import Ints
from ctxembed.text.tokenizer import Tokenizer

INDEXED, TRAINED = 1, 2  # what a sentence was drawn for, as bits


def hash_numbers(name: str, sentences: Ints, seed: int) -> NDArray[np.float64]:
    """Return a pseudorandom number in [0, 1) for each sentence of a file, hashed by splitmix64.

    >>> hash_numbers("a.txt", np.arange(3), 1).round(3).tolist()
    [0.009, 0.106, 0.974]
    """
    key = blake2b(f"{seed}\n{name}".encode("utf-8", "surrogateescape"), digest_size=8).digest()
    with np.errstate(over="ignore"):  # arithmetic modulo 2^64 is intended
        x = (sentences.astype(np.uint64) + 1) * np.uint64(0x9E3779B97F4A7C15)
        x += np.uint64(int.from_bytes(key, "little"))
        x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        x ^= x >> np.uint64(31)
    return np.asarray((x >> np.uint64(11)) * 2.0**-53)


@dataclass(frozen=True)
class Counts:
    """The words of one file, in order of appearance, and their counts."""

    words: list[str]
    counts: Ints
    first: Ints  # the position of each word's first occurrence
    sentences: int
    blocks: int  # documents between blank lines, or by pattern
    sha256: str


def count_file(corpus: Corpus, tokenizer: Tokenizer) -> Counts:
    """Return the words, sentences and blocks of a one-file corpus, counted, and its checksum."""
    entries: dict[str, list[int]] = {}
    tokens = sentences = blocks = 0
    for part, begins, _ in number_corpus(corpus, tokenizer):
        _, first, number = np.unique(part.ids, return_index=True, return_counts=True)
        for word, at, times in zip(part.types, first.tolist(), number.tolist(), strict=True):
            entries.setdefault(word, [0, tokens + at])[0] += times
        tokens += len(part.ids)
        sentences += len(part.lengths)
        blocks += int(np.count_nonzero(begins & BLOCK))
    table = np.array(list(entries.values()), np.int64).reshape(-1, 2)
    (source,) = corpus.sources
    return Counts(list(entries), table[:, 0], table[:, 1], sentences, blocks, source.sha256)


@dataclass(frozen=True)
class Plan:
    """What is drawn: `per_word` sentences of each word, and a share of all for word2vec."""

    words: Sequence[str]  # with a vector, the most frequent first
    counts: Ints  # (V,) in the whole corpus
    per_word: int
    share: float  # of all sentences, for training
    seed: int

    @property
    def limits(self) -> NDArray[np.float64]:
        """(V+1,) a sentence below this number is listed for the word; 0 for rare words."""
        return np.append(np.minimum(1.0, self.per_word / np.maximum(1, self.counts)), 0.0)


@dataclass(frozen=True)
class Drawn:
    """Some sentences of a file; ids past the vocabulary are rows of `rare`."""

    ids: NDArray[np.int32]  # (tokens,)
    lengths: NDArray[np.int32]  # (S,)
    lines: NDArray[np.int32]  # (S,) on which each begins
    numbers: Ints  # (S,) of each among all sentences of the file
    blocks: NDArray[np.int32]  # (S,) number of the block of the file
    drawn_for: NDArray[np.uint8]  # (S,) INDEXED, TRAINED or both
    rare: list[str]

    def select(self, bit: int) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        """Return which sentences were drawn for a purpose, and which ids (tokens,) are theirs."""
        selected = self.drawn_for & bit > 0
        return np.flatnonzero(selected), np.repeat(selected, self.lengths)


def draw_file(corpus: Corpus, tokenizer: Tokenizer, plan: Plan) -> Iterator[Drawn]:
    """Yield the sentences of a corpus of one file that are drawn, in their order."""
    (source,) = corpus.sources
    rows = {word: row for row, word in enumerate(plan.words)}
    limits = plan.limits
    block_number, before = -1, 0
    for part, begins, _ in number_corpus(corpus, tokenizer):
        if not len(begins):
            continue
        types = part.types
        ids = np.array([rows.get(word, -1) for word in types], np.int32)[part.ids]
        starts = np.concatenate([[0], np.cumsum(part.lengths)[:-1]]).astype(np.intp)
        numbers = before + np.arange(len(part.lengths))
        before += len(part.lengths)
        in_block = block_number + np.cumsum(begins & BLOCK > 0)
        block_number = int(in_block[-1])
        limit = np.maximum.reduceat(limits[ids], starts)  # of the rarest word of each sentence
        kept = hash_numbers(source.name, numbers, plan.seed) < limit
        even = hash_numbers(source.name, numbers, plan.seed + 1) < plan.share
        drawn_for = (INDEXED * kept + TRAINED * even).astype(np.uint8)
        some = np.flatnonzero(drawn_for)
        tokens = np.repeat(drawn_for > 0, part.lengths)
        unknown = np.flatnonzero(tokens & (ids < 0))
        names, row = np.unique(part.ids[unknown], return_inverse=True)
        ids[unknown] = len(plan.words) + row
        yield Drawn(
            ids=ids[tokens], lengths=part.lengths[some], lines=part.lines[some],
            numbers=numbers[some], blocks=in_block[some].astype(np.int32),
            drawn_for=drawn_for[some], rare=[types[name] for name in names],
        )  # fmt: skip


@dataclass(frozen=True)
class Sampled:
    """The size of a sample that was written."""

    by_file: list[int]  # sentences in the index, of each file
    tokens: int  # in the index
    documents: int
    trained: Ints  # (V,) how often each word is in the sample for training


def write_sampled(
    drawn: Iterable[tuple[int, Drawn]], names: list[str], plan: Plan, kind: str,
    folder: Path, training: Path,
) -> Sampled:  # fmt: skip
    """Write the index of drawn sentences, and to `training` the even sample that word2vec reads.

    drawn: files by number, in order, and some of their sentences. kind: what a document is.
    """
    known, limits = len(plan.words), plan.limits
    rare: dict[str, int] = {}
    by_file = [0] * len(names)
    counts, trained = np.zeros((2, known + 1), np.int64)
    listed, begins = [np.zeros(0, np.bool_)], [np.zeros(0, np.bool_)]
    last = (-1, -1)  # the file and the document of the sentence before
    with sentence_writer(folder) as index, sentence_writer(training) as even:
        for file, some in drawn:
            # a file's rare words are numbered by appearance among all
            table = [known + rare.setdefault(word, len(rare)) for word in some.rare]
            ids = np.append(np.arange(known), table).astype(np.int32)[some.ids]
            rows = np.minimum(ids, known)
            selected, tokens = some.select(INDEXED)
            index(ids[tokens], some.lengths[selected], some.lines[selected])
            by_file[file] += len(selected)
            chances = hash_numbers(names[file], some.numbers[selected], plan.seed)
            below = np.repeat(chances, some.lengths[selected]) < limits[rows[tokens]]
            listed.append(below)
            counts += np.bincount(rows[tokens][below], minlength=known + 1)
            if len(selected):
                documents = {"line": some.lines, "file": np.zeros_like(some.lines)}
                document = documents.get(kind, some.blocks)[selected]
                before = last[1] if last[0] == file else -1
                begins.append(document != np.append(before, document[:-1]))
                last = file, int(document[-1])
            selected, tokens = some.select(TRAINED)
            even(ids[tokens], some.lengths[selected], some.lines[selected])
            trained += np.bincount(rows[tokens], minlength=known + 1)
    write_lines(folder / "rare.txt", list(rare))
    offsets = np.load(folder / "offsets.npy")
    firsts = offsets[:-1][np.concatenate(begins)]
    np.save(folder / "documents.npy", np.append(firsts, offsets[-1:]))
    write_occurrences(folder, counts[:-1], np.concatenate(listed))
    return Sampled(by_file, int(offsets[-1]), len(firsts), trained[:-1])


def read_index(corpus: Corpus, tokenizer: Tokenizer, folder: Path, progress: Progress) -> Index:
    """Return a corpus as an index of all its words, built in a new folder."""
    folder.mkdir()
    counted = build(corpus, tokenizer, folder, 1, progress)
    return Index(folder, counted.types, counted.files)


def write_mixture(texts: Sequence[Index], share: float, words: int, seed: int, path: Path) -> None:
    """Write `words` words in whole sentences of two texts, a share of them from the second.

    With one seed, what a larger share takes from a text contains what a smaller one takes.
    """
    second = round(share * words)
    drawn = []
    for number, (text, size) in enumerate(zip(texts, (words - second, second), strict=True)):
        order = draw_sentences(text.offsets, size, np.random.default_rng((seed, number)))
        drawn += [(text, int(sentence)) for sentence in order]
    shuffled = np.random.default_rng((seed, len(texts))).permutation(len(drawn))
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for index, sentence in (drawn[i] for i in shuffled):
            file.write(" ".join(index.words(index.sentence(sentence))) + "\n")


def draw_sentences(offsets: Ints, words: int, rng: np.random.Generator) -> Ints:
    """Return the numbers of random sentences that together have at least `words` words."""
    order = rng.permutation(len(offsets) - 1)
    total = np.cumsum(np.diff(offsets)[order])
    return order[: np.searchsorted(total, words) + 1] if words else order[:0]
