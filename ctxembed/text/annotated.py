"""Read CoNLL-U and VRT: one token a line, with its lemma and part of speech."""

import html
import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ctxembed.errors import CorpusError
from ctxembed.text.lines import BOM, OTHER, wrong_byte
from ctxembed.text.records import MAX_TEXT, Record
from ctxembed.text.streams import name_read_errors, open_bytes
from ctxembed.text.tables import HashedStream

MAX_LINE = 1 << 20
CLOSING = (",", ".", ";", ":", "!", "?", ")", "]", "}", "”", "’", "»", "…")
VRT_COLUMNS = ("word", "pos", "lemma")
_TAG = re.compile(r"<(/?)([\w.-]+)((?:\s+[\w:.-]+\s*=\s*(?:\"[^\"]*\"|'[^']*'))*)\s*(/?)>")
_ATTRIBUTE = re.compile(r"([\w:.-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_ORDER = re.compile(r"<!--\s*#vrt positional-attributes:([^>]*)-->")


@dataclass
class _Draft:
    """A document while it is read."""

    id: str
    cells: dict[str, str] = field(default_factory=dict)
    parts: list[str] = field(default_factory=list)
    tokens: list[tuple[int, str, str]] = field(default_factory=list)
    size: int = 0  # bytes of the parts
    line_begins: bool = True

    def add(self, form: str, lemma: str, pos: str) -> None:
        """Add a token, after a space unless it is a mark that closes; spaces in it are one _."""
        form = "_".join(form.split())
        glued = self.line_begins or form in CLOSING
        if not glued:
            self._write(" ")
        self.tokens.append((self.size, lemma, pos))
        self._write(form)
        self.line_begins = False

    def end_sentence(self) -> None:
        if not self.line_begins:
            self._write("\n")
            self.line_begins = True

    def _write(self, text: str) -> None:
        self.parts.append(text)
        self.size += len(text.encode("utf-8", "replace"))
        if self.size > MAX_TEXT:
            raise CorpusError(f"{self.id}: a document of more than {MAX_TEXT:,} bytes")

    def finish(self, sentences: bool) -> Record:
        return Record(self.id, self.cells, "".join(self.parts), sentences, self.tokens)


def _lines(name: str, encoding: str, errors: str, digest: list[str]) -> Iterator[tuple[int, str]]:
    """Yield the numbered lines of a file; its checksum goes to digest."""
    with name_read_errors(name), open_bytes(name) as raw:
        stream = HashedStream(raw)
        text = io.TextIOWrapper(io.BufferedReader(stream, 1 << 16), encoding, errors)
        number = 0
        try:
            while line := text.readline(MAX_LINE + 1):
                number += 1
                if len(line) > MAX_LINE or "\0" in line:
                    problem = "a NUL character" if "\0" in line else "longer than 1 MiB"
                    raise CorpusError(f"{name}: line {number}: {problem}")
                yield number, line.removeprefix(BOM).rstrip("\n")
        except UnicodeDecodeError as error:
            raise CorpusError(f"{name}: {wrong_byte(error, encoding, None)}{OTHER}") from None
        finally:
            text.detach()
        digest.append(stream.finish())


def conllu_records(name: str, encoding: str, errors: str, digest: list[str]) -> Iterator[Record]:
    """Yield the documents of a CoNLL-U file, by # newdoc; without it the file is one.

    A token of several words (1-2) is read as it is written; lemmas and tags are joined by +.
    """
    draft, fresh, words_left = _Draft(name), True, 0
    joined: tuple[str, list[str], list[str]] | None = None
    for number, line in _lines(name, encoding, errors, digest):
        if line.startswith("#"):
            key, _, value = (part.strip() for part in line[1:].partition("="))
            if key in ("newdoc", "newdoc id"):
                if draft.tokens:
                    yield draft.finish(True)
                draft, fresh = _Draft(value or f"{name}:{number}"), True
            elif fresh and not draft.tokens and (key.startswith("meta::") or key in ("date",)):
                draft.cells[key.removeprefix("meta::")] = value
            continue
        if not line.strip():
            draft.end_sentence()
            joined = None
            continue
        cells = line.split("\t")
        if len(cells) != 10:
            raise CorpusError(f"{name}: line {number}: {len(cells)} columns; CoNLL-U has 10")
        own, form, lemma, upos = cells[:4]
        if "." in own:  # an empty node is not in the text
            continue
        if "-" in own:
            first, _, last = own.partition("-")
            if not (first.isdecimal() and last.isdecimal() and int(first) <= int(last)):
                raise CorpusError(f"{name}: line {number}: {own[:20]!r} is not a range of words")
            joined, words_left = (form, [], []), int(last) - int(first) + 1
            continue
        if joined is not None:
            joined[1].append(lemma)
            joined[2].append(upos)
            words_left -= 1
            if words_left <= 0:
                draft.add(joined[0], "+".join(joined[1]), "+".join(joined[2]))
                joined = None
            continue
        draft.add(form, "" if lemma == "_" and form != "_" else lemma, "" if upos == "_" else upos)
    draft.end_sentence()
    if draft.tokens:
        yield draft.finish(True)


def vrt_records(
    name: str, tag: str, encoding: str, errors: str, digest: list[str]
) -> Iterator[Record]:
    """Yield the documents of a VRT file: the elements with this name, or else the whole file.

    The columns are word, pos and lemma, unless a comment <!-- #vrt positional-attributes: ... -->
    names them.
    """
    draft, inside, count, split = _Draft(name), False, 0, False
    columns = list(VRT_COLUMNS)
    for number, line in _lines(name, encoding, errors, digest):
        if not line.strip():
            continue
        if line.startswith("<!--") or line.startswith("<?"):
            if match := _ORDER.match(line):
                columns = match[1].split()
                if "word" not in columns:
                    raise CorpusError(f"{name}: line {number}: no column is named word")
            continue
        match = _TAG.fullmatch(line.strip()) if line.startswith("<") else None
        if match is None:
            cells = [html.unescape(cell) for cell in line.split("\t")]
            token = dict(zip(columns, cells, strict=False))
            if token.get("word", "").strip():
                lemma, pos = (token.get(layer, "").strip() for layer in ("lemma", "pos"))
                draft.add(token["word"], lemma, pos)
            continue
        closes, element = bool(match[1]), match[2]
        if element == tag:
            draft.end_sentence()
            if draft.tokens:
                yield draft.finish(split)
            draft, inside, count = _Draft(f"{name}:{count + 1}"), not closes, count + (not closes)
            if inside:
                pairs = _ATTRIBUTE.findall(match[3])
                cells_of = {key: html.unescape(one or two) for key, one, two in pairs}
                draft.id = cells_of.pop("id", "") or draft.id
                draft.cells = cells_of
        else:
            split |= element == "s"
            if element in ("s", "p"):
                draft.end_sentence()
    draft.end_sentence()
    if draft.tokens:
        yield draft.finish(split)
