"""Answer `wordlist`: the most frequent words of a corpus, or word sequences, lemmas, tags."""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from ctxembed.context.occurrences import corpus_of
from ctxembed.errors import UsageError
from ctxembed.model.bundled import on_model
from ctxembed.model.model import Model
from ctxembed.table import Cell, Column, Table
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import MANY, is_content

WORDLIST = (
    Column("rank", "1 is the most frequent"),
    Column("word", "the word; with --length several, with --layer a lemma or part of speech",
           "label"),
    Column("count", "how often it occurs"),
    Column("per_million", "and in a million words"),
    Column("documents", "documents that have it"),
    Column("dp", "Gries' deviation of proportions: 0 is spread over the documents by their length,"
           " 1 is all in the shortest one"),
)  # fmt: skip
MAX_LENGTH = 5
Ints = NDArray[np.int64]


@on_model(*WORDLIST)
def wordlist(
    model: Model, *, number: int = 50, length: int = 1, layer: str | None = None,
    min_count: int = 1, content: bool = False,
) -> Table:  # fmt: skip
    """Return the most frequent words of the corpus, with their spread over the documents.

    length: of word sequences within sentences. layer: lemma or pos, in place of words.
    content: without function words; a sequence must not begin or end with one.
    """
    index = corpus_of(model)
    tokens, name_of = _read_tokens(index, layer)
    starts, codes, members = _sequences(index, tokens, length)
    counts = np.bincount(codes, minlength=len(members))
    frequency = np.bincount(tokens) / len(tokens)
    rows = list[tuple[Cell, ...]]()
    sizes = np.diff(index.documents).astype(np.float64)
    order = np.argsort(-counts, kind="stable")
    by_code = np.argsort(codes, kind="stable")
    ends = np.cumsum(counts)
    for code in order.tolist():
        if counts[code] < min_count or len(rows) == number:
            break
        words = name_of(members[code])
        edges = ((words[at], float(frequency[members[code][at]])) for at in (0, -1))
        large = len(frequency) > MANY
        if content and not all(is_content(word, share if large else 0.0) for word, share in edges):
            continue
        positions = starts[by_code[ends[code] - counts[code] : ends[code]]]
        documents = np.bincount(index.document_of(positions), minlength=len(sizes))
        spread = 0.5 * float(np.abs(documents / counts[code] - sizes / sizes.sum()).sum())
        count = int(counts[code])
        rows.append((
            len(rows) + 1, " ".join(words), count, 1e6 * count / len(tokens),
            int(np.count_nonzero(documents)), spread,
        ))  # fmt: skip
    kinds = "words" if length == 1 else f"sequences of {length} words"
    texts = f"{len(sizes)} document{'s' * (len(sizes) != 1)}"
    note = f"{len(tokens)} words in {texts}, {len(members)} different {kinds}"
    return Table(WORDLIST, rows, [note])


def _read_tokens(index: Index, layer: str | None) -> tuple[Ints, Callable[[Ints], list[str]]]:
    """Return the number of every token, and a function from numbers to their words."""
    if layer is None:
        return np.asarray(index.ids, np.int64), lambda ids: index.words(ids.astype(np.int32))
    if layer not in index.layers:
        raise UsageError(f"--layer {layer}: this corpus has none; index it from CoNLL-U or VRT")
    found = index.layers[layer]
    values: Sequence[str] = [value or "-" for value in found.values]
    return np.asarray(found.numbers, np.int64), lambda ids: [values[i] for i in ids.tolist()]


def _sequences(index: Index, tokens: Ints, length: int) -> tuple[Ints, Ints, Ints]:
    """Return where sequences within sentences begin, their numbers, and the tokens (n, length).

    Numbers are by first appearance in sorted order; a sequence is coded one word at a time, so
    that memory does not grow with its length.
    """
    if not 1 <= length <= MAX_LENGTH:
        raise UsageError(f"--length {length}: give 1 to {MAX_LENGTH}")
    ends = np.repeat(index.offsets[1:], np.diff(index.offsets))  # (tokens,) of each one's sentence
    starts = np.flatnonzero(np.arange(len(tokens)) + length <= ends)
    if not len(starts):
        raise UsageError(f"--length {length}: no sentence is that long")
    codes = np.zeros(len(starts), np.int64)
    for step in range(length):
        codes = codes * (int(tokens.max()) + 1) + tokens[starts + step]
        _, first, codes = np.unique(codes, return_index=True, return_inverse=True)
        codes = codes.ravel()
    members = np.stack([tokens[starts[first] + step] for step in range(length)], axis=1)
    return starts, codes, members
