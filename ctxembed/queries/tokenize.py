"""List the sentences, words, subwords or characters of a text with their offsets."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from ctxembed.context.columns import SENTENCE
from ctxembed.errors import UsageError
from ctxembed.model.bundled import ModelLike, open_model
from ctxembed.model.model import Model
from ctxembed.table import Cell, Column, Table, answers
from ctxembed.text.boundaries import sentence_spans
from ctxembed.text.corpus import Block, Corpus
from ctxembed.text.languages import check_language
from ctxembed.text.subword import Characters, Subwords, learn
from ctxembed.text.tokenizer import Tokenizer

MAX_COUNTED = 1_000_000  # words that subwords of a sentence are learned from, in a second
TOKEN = Column("token", "the token; ## marks a subword that goes on with a word", "label")
TOKENS = Column("tokens", "the tokens of the sentence, with --per sentence", "text")
SPAN = (
    Column("start", "character of the text at which it begins, from 0"),
    Column("end", "character after it"),
)


@answers(SENTENCE, TOKEN, TOKENS, *SPAN)
def tokenize(
    text: str, *, unit: str = "word", pieces: int = 1000, per: str = "token",
    model: ModelLike = None, tokenizer: str = "word", cased: bool = False,
    language: str = "", lines: bool = False, encoding: str = "utf-8", errors: str = "strict",
) -> Table:  # fmt: skip
    """List the tokens of a text or a file with their offsets; a model has its own tokenizer.

    Subwords of a file are learned from it; those of a sentence from the words of a model, the
    default one if none is given.
    """
    check_language(language)
    kept: list[Block] | None = None
    notes = []
    opened = None if model is None else open_model(model)
    if unit == "subword" and opened is None and not names_file(text):
        opened = open_model(None)  # a sentence is too short to learn pieces from
    words = Tokenizer(tokenizer, cased, language=language)
    chosen: Tokenizer | None = None if opened is None else opened.vocabulary.tokenizer
    if opened is not None and chosen is not None:
        language = chosen.language
        if unit == "subword" and chosen.unit == "word":
            chosen = learn_subwords(chosen, scale_counts(opened), pieces)
            notes.append(f"pieces learned from the words of the model {opened.path.name}")
    elif unit == "subword":  # read twice, which a pipe cannot be
        kept = list(read_blocks(text, encoding, errors, lines))
        chosen = learn_subwords(words, count_words(words, kept).items(), pieces)
    else:
        chosen = make_tokenizer(words, unit)
    per_sentence = per == "sentence"

    def rows() -> Iterator[tuple[Cell, ...]]:
        blocks = read_blocks(text, encoding, errors, lines) if kept is None else kept
        return list_tokens(blocks, chosen, lines, per_sentence, language)

    return Table((SENTENCE, TOKENS if per_sentence else TOKEN, *SPAN), rows, notes)


def list_tokens(
    blocks: Iterable[Block],
    tokenizer: Tokenizer | None = None,
    lines: bool = False,
    per_sentence: bool = False,
    language: str = "",
) -> Iterator[tuple[Cell, ...]]:
    """Yield sentence, token, start and end; without a tokenizer, each sentence is a token."""
    number = 0
    for text, offset in sentences(blocks, lines, language):
        tokens = [(text, 0, len(text))] if tokenizer is None else list(tokenizer.tokens(text))
        number += bool(tokens)
        if per_sentence and tokens:
            yield number, " ".join(token for token, _, _ in tokens), offset, offset + len(text)
        elif tokens:
            yield from ((number, token, offset + i, offset + j) for token, i, j in tokens)


def sentences(
    blocks: Iterable[Block], lines: bool = False, language: str = ""
) -> Iterator[tuple[str, int]]:
    """Yield each sentence, and its offset in characters in its file."""
    file, before = 0, 0
    for block in blocks:
        if block.file != file:
            file, before = block.file, 0
        spans = sentence_spans(block.text, wrapped=block.wrapped, lines=lines, language=language)
        for start, end in spans:
            yield block.text[start:end], before + start
        before += len(block.text)


def names_file(source: str) -> bool:
    """Return whether a text is the name of a file, or - for stdin, and not a text itself."""
    looks_so = len(source.split()) == 1 and (os.sep in source or os.path.splitext(source)[1])
    return source == "-" or bool(looks_so) or os.path.exists(source)


def read_blocks(source: str, encoding: str, errors: str, lines: bool) -> Iterator[Block]:
    """Return the text of a file, of stdin for `-`, or the source itself if it names no file."""
    if not source.strip():
        raise UsageError("nothing to do: the text is empty")
    if names_file(source):
        corpus = Corpus([source], encoding=encoding, errors=errors, lines=lines, live=True)
        return (block for block, _ in corpus.blocks())
    return iter([Block(0, 1, source.encode("utf-8", "surrogatepass"), wrapped=not lines)])


def make_tokenizer(words: Tokenizer, unit: str) -> Tokenizer | None:
    """Return the tokenizer for words or characters; None for sentences."""
    if unit in ("sentence", "word"):
        return words if unit == "word" else None
    return Characters("whitespace", words.cased, language=words.language)


def count_words(words: Tokenizer, blocks: Iterable[Block]) -> Counter[str]:
    """Return how often each word occurs in a text."""
    counts: Counter[str] = Counter()
    for block in blocks:
        counts.update(words.words(block.text))
    return counts


def scale_counts(model: Model) -> Iterator[tuple[str, int]]:
    """Yield the words of a model with their counts, scaled down to at most MAX_COUNTED in all."""
    factor = min(1.0, MAX_COUNTED / max(1, int(model.counts.sum())))
    for word, count in zip(model.vocabulary.words, (model.counts * factor).round(), strict=True):
        if count >= 1:
            yield word, int(count)


def learn_subwords(words: Tokenizer, counts: Iterable[tuple[str, int]], pieces: int) -> Subwords:
    """Return the tokenizer of this many subwords, learned from words and their counts."""
    learned = learn(counts, pieces)
    return Subwords(words.kind, words.cased, language=words.language, learned=learned)
