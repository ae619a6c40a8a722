"""Text files, whole or line by line, and the one way to say that one is no text."""

import codecs
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

from ctxembed.errors import CorpusError, CtxembedError, read_failure
from ctxembed.text.streams import damage_told, open_bytes
from ctxembed.text.tokenizer import Marked, Tokenizer, parse_marked

_NO_TEXT = ("idna", "punycode", "unicode_escape", "raw_unicode_escape", "undefined")
LONGEST = 1 << 20  # bytes of a line; memory is bounded by it, whatever comes
WHOLE = 200 << 20  # bytes of a file that is read whole
MOST = 1_000_000  # lines that are kept in memory
BOM = "\ufeff"
OTHER = "; give the right --encoding (such as latin-1), or --errors replace to go on"
HOW = "write LABEL<tab>SENTENCE a line, the target in [brackets]"


def check_encoding(name: str, kind: type[CtxembedError] = CorpusError) -> None:
    """Refuse what is no encoding of text: hex, zlib and rot13 are codecs too.

    >>> check_encoding("Latin-1")
    >>> check_encoding("hex")
    Traceback (most recent call last):
    ctxembed.errors.CorpusError: unknown encoding 'hex'; try utf-8, latin-1 or cp1252
    """
    try:
        found = codecs.lookup(name)
        if found._is_text_encoding and found.name not in _NO_TEXT:
            text = codecs.getincrementaldecoder(name)("strict").decode("a b\n".encode(name), True)
            if text.strip("\ufeff") == "a b\n":
                return
    except (LookupError, ValueError, TypeError):  # a name with a NUL, or of no use here
        pass
    raise kind(f"unknown encoding {name!r:.60}; try utf-8, latin-1 or cp1252")


def wrong_byte(error: UnicodeDecodeError, encoding: str, line: int | None = 1) -> str:
    """Say which byte is at fault, and on which line, counted from the given one if there is one.

    >>> try: b"tea\\ncaf\\xe9\\n".decode()
    ... except UnicodeDecodeError as error: wrong_byte(error, "utf-8")
    'line 2: byte 0xe9 is not utf-8'
    """
    said = f"byte 0x{error.object[error.start]:02x} is not {encoding}"
    before = error.object[: error.start].decode(encoding, "replace").count("\n")
    return said if line is None else f"line {line + before}: {said}"


def decode(
    raw: bytes,
    name: object,
    line: int | None = 1,
    encoding: str = "utf-8",
    errors: str = "strict",
    *,
    hint: str = "",
    kind: type[CtxembedError] = CorpusError,
) -> str:
    """Turn bytes of a file, from a line on, into text."""
    try:
        return raw.decode(encoding, errors)
    except UnicodeDecodeError as error:
        raise kind(f"{name}: {wrong_byte(error, encoding, line)}{hint}") from None


def read_text(path: Path, encoding: str = "utf-8", kind: type[CtxembedError] = CorpusError) -> str:
    """Read a file whole."""
    try:
        with path.open("rb") as file:
            raw = file.read(WHOLE + 1)
    except OSError as error:
        raise kind(read_failure(path, error)) from None
    if len(raw) > WHOLE:
        raise kind(f"{path}: longer than {WHOLE >> 20} MiB, which is too long for this")
    return decode(raw, path, encoding=encoding, kind=kind).removeprefix(BOM).replace("\r\n", "\n")


def every_line(name: str | Path, errors: str = "strict") -> Iterator[str]:
    """Yield the lines of a file, or of stdin (`-`), without what ends them; empty ones count."""
    with damage_told(str(name)):
        stream = open_bytes(str(name))
        with nullcontext() if name == "-" else stream:
            lines = iter(lambda: stream.readline(LONGEST + 1), b"")
            empty = 0
            for number, raw in enumerate(lines, 1):
                empty = empty + 1 if len(raw) < 2 else 0
                if empty > MOST:
                    raise CorpusError(f"{name}: line {number}: {MOST:,} empty lines; is this text?")
                told = "stdin" if name == "-" else name
                if len(raw) > LONGEST:
                    raise CorpusError(
                        f"{told}: line {number} is longer than {LONGEST >> 20} MiB; write one"
                        " sentence, or one word, a line"
                    )
                text = decode(raw, told, number, errors=errors).rstrip("\r\n")
                yield text.removeprefix(BOM) if number == 1 else text


def numbered_lines(
    name: str | Path, most: int | None = None, errors: str = "strict"
) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that say anything; more than `most` are refused."""
    for number, line in enumerate(every_line(name, errors), 1):
        if most is not None and number > most:
            raise CorpusError(f"{name}: more than {most:,} lines; give fewer at a time")
        if line.strip():
            yield number, line


def labelled_lines(
    name: str | Path, tokenizer: Tokenizer, most: int | None = None
) -> Iterator[tuple[int, dict[str, str], Marked]]:
    """Yield the lines of a file of labelled sentences: number, cells by column, the sentence.

    Without a line of column names: label, sentence. Each sentence has one target in brackets.
    """
    columns = ["label", "sentence"]
    for number, line in numbered_lines(name, most):
        cells = line.split("\t")
        if number == 1 and {"label", "sentence"} <= set(cells):
            columns = cells
            continue
        where = f"{name}: line {number}"
        if len(cells) < max(2, len(columns)):
            raise CorpusError(f"{where}: {len(cells)} columns; {HOW}")
        row = dict(zip(columns, cells, strict=False))
        row["label"] = row["label"].strip()
        if not row["label"]:
            raise CorpusError(f"{where}: no label; {HOW}")
        marked = parse_marked(row["sentence"], tokenizer)
        if len(marked.targets) != 1:
            found = f"{len(marked.targets)} targets" if marked.targets else "no target"
            raise CorpusError(f"{where}: {found}; {HOW}")
        yield number, row, marked
