"""What are the sentences, words, subwords and characters of a text, and where do they stand?"""

from collections import Counter
from collections.abc import Iterable, Iterator

from ctxembed.table import Cell, Table
from ctxembed.text.corpus import Block
from ctxembed.text.subword import Characters, Subwords, learn
from ctxembed.text.tokenizer import Tokenizer, sentence_spans

Token = tuple[str, int, int]  # itself, where it begins and ends
UNITS = ("sentence", "word", "subword", "character")


def tokenize(
    blocks: Iterable[Block],
    tokenizer: Tokenizer | None = None,
    *,
    lines: bool = False,
    per_sentence: bool = False,
) -> Table:
    """List tokens with the characters of the text at which they begin and end.

    Without a tokeniser the sentences themselves are the tokens.
    """
    found = enumerate(_tokens(blocks, tokenizer, lines), 1)
    if per_sentence:
        return Table(
            ("sentence", "tokens", "start", "end"),
            (
                (number, " ".join(token for token, _, _ in tokens), start, end)
                for number, (tokens, start, end) in found
            ),
        )
    rows: Iterator[tuple[Cell, ...]] = (
        (number, *token) for number, (tokens, _, _) in found for token in tokens
    )
    return Table(("sentence", "token", "start", "end"), rows)


def make_tokenizer(
    unit: str,
    blocks: Iterable[Block],
    *,
    kind: str = "word",
    cased: bool = False,
    pieces: int = 1000,
) -> Tokenizer | None:
    """Make the tokeniser of a unit, None for sentences; subwords are learned from the text."""
    if unit == "sentence":
        return None
    if unit == "character":
        return Characters("whitespace", cased)
    words = Tokenizer(kind, cased)
    if unit == "word":
        return words
    counts: Counter[str] = Counter()
    for block in blocks:
        counts.update(words.words(block.text))
    return Subwords(kind, cased, learned=learn(counts.items(), pieces))


def sentences(blocks: Iterable[Block], lines: bool = False) -> Iterator[tuple[str, int]]:
    """Yield each sentence, and at which character of its file it begins."""
    file, before = 0, 0
    for block in blocks:
        if block.file != file:
            file, before = block.file, 0
        for start, end in sentence_spans(block.text, wrapped=block.wrapped, lines=lines):
            yield block.text[start:end], before + start
        before += len(block.text)


def _tokens(
    blocks: Iterable[Block], tokenizer: Tokenizer | None, lines: bool
) -> Iterator[tuple[list[Token], int, int]]:
    """Yield the tokens of each sentence that has any, and where the sentence begins and ends."""
    for text, place in sentences(blocks, lines):
        tokens = [(text, 0, len(text))] if tokenizer is None else list(tokenizer.tokens(text))
        if tokens:
            moved = [(token, place + start, place + end) for token, start, end in tokens]
            yield moved, place, place + len(text)
