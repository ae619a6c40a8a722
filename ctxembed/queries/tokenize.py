"""List the sentences, words, subwords or characters of a text with their offsets."""

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from ctxembed.context.columns import SENTENCE
from ctxembed.errors import UsageError
from ctxembed.model.bundled import ModelLike, open_model
from ctxembed.table import Cell, Column, Table, answers
from ctxembed.text.boundaries import sentence_spans
from ctxembed.text.corpus import Block, Corpus
from ctxembed.text.languages import check_language
from ctxembed.text.subword import Characters, Subwords, learn
from ctxembed.text.tokenizer import Tokenizer

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
    """List the tokens of a text or a file with their offsets; a model has its own tokenizer."""
    check_language(language)
    kept: list[Block] | None = None
    chosen: Tokenizer | None
    if model is not None:
        chosen = open_model(model).vocabulary.tokenizer
        language = chosen.language
    else:
        if unit == "subword":  # read twice, which a pipe cannot be
            kept = list(read_blocks(text, encoding, errors, lines))
        words = Tokenizer(tokenizer, cased, language=language)
        chosen = make_tokenizer(words, unit, kept or (), pieces)
    per_sentence = per == "sentence"

    def rows() -> Iterator[tuple[Cell, ...]]:
        blocks = read_blocks(text, encoding, errors, lines) if kept is None else kept
        return list_tokens(blocks, chosen, lines, per_sentence, language)

    return Table((SENTENCE, TOKENS if per_sentence else TOKEN, *SPAN), rows)


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


def read_blocks(source: str, encoding: str, errors: str, lines: bool) -> Iterator[Block]:
    """Return the text of a file, of stdin for `-`, or the source itself if it names no file."""
    if not source.strip():
        raise UsageError("nothing to do: the text is empty")
    names_file = len(source.split()) == 1 and (os.sep in source or os.path.splitext(source)[1])
    if source == "-" or names_file or os.path.exists(source):
        corpus = Corpus([source], encoding=encoding, errors=errors, lines=lines, live=True)
        return (block for block, _ in corpus.blocks())
    return iter([Block(0, 1, source.encode("utf-8", "surrogatepass"), wrapped=not lines)])


def make_tokenizer(
    words: Tokenizer, unit: str, blocks: Iterable[Block] = (), pieces: int = 1000
) -> Tokenizer | None:
    """Return the tokenizer for a unit, None for sentences; subwords are learned from the blocks."""
    if unit in ("sentence", "word"):
        return words if unit == "word" else None
    if unit == "character":
        return Characters("whitespace", words.cased, language=words.language)
    counts: Counter[str] = Counter()
    for block in blocks:
        counts.update(words.words(block.text))
    learned = learn(counts.items(), pieces)
    return Subwords(words.kind, words.cased, language=words.language, learned=learned)
