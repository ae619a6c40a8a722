"""What are the sentences, words, subwords and characters of a text, and where do they stand?"""

import os
from collections import Counter
from collections.abc import Iterable, Iterator

from ctxembed.context.columns import SENTENCE
from ctxembed.errors import UsageError
from ctxembed.model.bundled import as_model
from ctxembed.model.model import Model
from ctxembed.table import Cell, Column, Table, answers
from ctxembed.text.corpus import Block, Corpus
from ctxembed.text.languages import check_language
from ctxembed.text.sentence_ends import sentence_spans
from ctxembed.text.subword import Characters, Subwords, learn
from ctxembed.text.tokenizer import Tokenizer

Token = tuple[str, int, int]  # itself, where it begins and ends
TOKEN = Column("token", "the token; ## marks a subword that goes on with a word", "label")
TOKENS = Column("tokens", "the tokens of the sentence, with --per sentence", "text")
SPAN = (
    Column("start", "character of the text at which it begins, from 0"),
    Column("end", "character behind it"),
)


@answers(SENTENCE, TOKEN, TOKENS, *SPAN)
def tokenize(
    text: str,
    *,
    unit: str = "word",
    pieces: int = 1000,
    per: str = "token",
    model: Model | str | None = None,
    tokenizer: str = "word",
    cased: bool = False,
    language: str = "",
    lines: bool = False,
    encoding: str = "utf-8",
    errors: str = "strict",
) -> Table:
    """List the tokens of a text or a file, and the characters at which they begin and end.

    model: tokenise as this model does.
    """
    check_language(language)
    kept: list[Block] | None = None
    chosen: Tokenizer | None
    if model is not None:
        chosen = as_model(model).vocabulary.tokenizer
        language = chosen.language
    else:
        if unit == "subword":  # read twice, as a pipe cannot be
            kept = list(read_blocks(text, encoding, errors, lines))
        chosen = make_tokenizer(
            unit, kept or (), kind=tokenizer, cased=cased, language=language, pieces=pieces
        )

    def rows() -> Iterator[tuple[Cell, ...]]:
        blocks = read_blocks(text, encoding, errors, lines) if kept is None else kept
        return list_tokens(
            blocks, chosen, lines=lines, per_sentence=per == "sentence", language=language
        )

    return Table((SENTENCE, TOKENS if per == "sentence" else TOKEN, *SPAN), rows)


def list_tokens(
    blocks: Iterable[Block],
    tokenizer: Tokenizer | None = None,
    *,
    lines: bool = False,
    per_sentence: bool = False,
    language: str = "",
) -> Iterator[tuple[Cell, ...]]:
    """Yield sentence, token, start and end; without a tokeniser sentences are the tokens."""
    found = enumerate(_tokens(blocks, tokenizer, lines, language), 1)
    if per_sentence:
        return (
            (number, " ".join(token for token, _, _ in tokens), start, end)
            for number, (tokens, start, end) in found
        )
    return ((number, *token) for number, (tokens, _, _) in found for token in tokens)


def read_blocks(source: str, encoding: str, errors: str, lines: bool) -> Iterator[Block]:
    """Give a file's text, stdin's for `-`, or the text itself where it names no file."""
    if not source.strip():
        raise UsageError("nothing to do: the text is empty")
    names_file = len(source.split()) == 1 and (os.sep in source or os.path.splitext(source)[1])
    if source == "-" or names_file or os.path.exists(source):
        corpus = Corpus([source], encoding=encoding, errors=errors, lines=lines)
        return (block for block, _ in corpus.blocks())
    return iter([Block(0, 1, source.encode("utf-8", "surrogatepass"), wrapped=not lines)])


def make_tokenizer(
    unit: str,
    blocks: Iterable[Block],
    *,
    kind: str = "word",
    cased: bool = False,
    language: str = "",
    pieces: int = 1000,
) -> Tokenizer | None:
    """Make the tokeniser of a unit, None for sentences; subwords are learned from the text."""
    if unit == "sentence":
        return None
    if unit == "character":
        return Characters("whitespace", cased, language=language)
    words = Tokenizer(kind, cased, language=language)
    if unit == "word":
        return words
    counts: Counter[str] = Counter()
    for block in blocks:
        counts.update(words.words(block.text))
    return Subwords(kind, cased, language=language, learned=learn(counts.items(), pieces))


def sentences(
    blocks: Iterable[Block], lines: bool = False, language: str = ""
) -> Iterator[tuple[str, int]]:
    """Yield each sentence, and at which character of its file it begins."""
    file, before = 0, 0
    for block in blocks:
        if block.file != file:
            file, before = block.file, 0
        for start, end in sentence_spans(
            block.text, wrapped=block.wrapped, lines=lines, language=language
        ):
            yield block.text[start:end], before + start
        before += len(block.text)


def _tokens(
    blocks: Iterable[Block], tokenizer: Tokenizer | None, lines: bool, language: str
) -> Iterator[tuple[list[Token], int, int]]:
    """Yield the tokens of each sentence that has any, and where the sentence begins and ends."""
    for text, place in sentences(blocks, lines, language):
        tokens = [(text, 0, len(text))] if tokenizer is None else list(tokenizer.tokens(text))
        if tokens:
            moved = [(token, place + start, place + end) for token, start, end in tokens]
            yield moved, place, place + len(text)
