"""Read the documents of an XML file: the elements with one name, their attributes as metadata."""

from collections import Counter
from collections.abc import Iterator
from xml.parsers import expat

from ctxembed.errors import CorpusError
from ctxembed.text.records import MAX_TEXT, Record
from ctxembed.text.streams import name_read_errors, open_bytes
from ctxembed.text.tables import HashedStream

CHUNK = 1 << 16
MAX_DEPTH, MAX_ATTRIBUTES = 1000, 200
IDS = ("xml:id", "id", "n")
# Elements within a sentence, of TEI and HTML; all others begin a new line.
INLINE = frozenset({
    "a", "abbr", "add", "b", "bibl", "c", "choice", "cite", "code", "corr", "date", "del",
    "distinct", "em", "emph", "expan", "foreign", "g", "gap", "gloss", "hi", "i", "idno", "lb",
    "lem", "measure", "mentioned", "milestone", "name", "note", "num", "orgname", "orig", "pb",
    "pc", "persname", "geogname", "placename", "q", "quote", "ref", "reg", "rs", "said", "seg",
    "sic", "socalled", "span", "strong", "sub", "sup", "supplied", "surname", "term", "time",
    "title", "u", "unclear", "w",
})  # fmt: skip


class _Documents:
    """Collects records while expat reads."""

    def __init__(self, name: str, tag: str) -> None:
        self.name, self.tag = name, tag
        self.ready = list[Record]()
        self.open = list[dict[str, str]]()  # attributes of the elements that are open
        self.depth = 0  # of the open document; 0 outside
        self.pieces, self.paragraphs, self.size, self.count = list[str](), list[str](), 0, 0
        self.seen = Counter[str]()

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        if len(self.open) >= MAX_DEPTH or len(attributes) > MAX_ATTRIBUTES:
            raise CorpusError(f"{self.name}: elements or attributes are nested too deep")
        self.seen[_local(tag)] += 1
        self.open.append(attributes)
        if not self.depth and self.tag in (tag, _local(tag)):
            self.depth, self.pieces, self.paragraphs, self.size = len(self.open), [], [], 0
        elif self.depth and _local(tag).lower() not in INLINE:
            self.flush()

    def text(self, data: str) -> None:
        if self.depth:
            self.size += len(data)
            if self.size > MAX_TEXT:
                raise CorpusError(f"{self.name}: a document of more than {MAX_TEXT:,} letters")
            self.pieces.append(data)

    def end(self, tag: str) -> None:
        if self.depth == len(self.open):
            self.flush()
            self.count += 1
            cells = dict[str, str]()
            for attributes in self.open:  # those of the elements around it, too
                cells |= {k: v for k, v in attributes.items() if not k.startswith("xmlns")}
            own = self.open[-1]
            key = next((key for key in IDS if own.get(key)), "")
            kept = {_local(k): v for k, v in cells.items() if k not in IDS}
            about = own.get(key) or f"{self.name}:{self.count}"
            self.ready.append(Record(about, kept, "\n".join(self.paragraphs)))
            self.depth = 0
        elif self.depth and _local(tag).lower() not in INLINE:
            self.flush()
        self.open.pop()

    def flush(self) -> None:
        if line := " ".join("".join(self.pieces).split()):
            self.paragraphs.append(line)
        self.pieces = []

    def refuse(self, *_: object) -> None:
        raise CorpusError(f"{self.name}: it declares entities, which are not read; remove them")


def _local(tag: str) -> str:
    return tag.rpartition(":")[2]


def xml_records(name: str, tag: str, digest: list[str]) -> Iterator[Record]:
    """Yield a record for each element with this name; the checksum of the file goes to digest.

    Elements within a document that are not of a sentence begin a new line.
    """
    found = _Documents(name, tag)
    parser = expat.ParserCreate()
    parser.buffer_text = True
    parser.StartElementHandler, parser.EndElementHandler = found.start, found.end
    parser.CharacterDataHandler, parser.EntityDeclHandler = found.text, found.refuse
    any_record = False
    with name_read_errors(name), open_bytes(name) as raw:
        stream = HashedStream(raw)
        while True:
            data = stream.read(CHUNK) or b""
            try:
                parser.Parse(data, not data)
            except expat.ExpatError as error:
                reason = expat.ErrorString(error.code)
                raise CorpusError(f"{name}: line {error.lineno}: not XML: {reason}") from None
            any_record |= bool(found.ready)
            yield from found.ready
            found.ready = []
            if not data:
                break
        digest.append(stream.finish())
    if not any_record:
        tags = ", ".join(f"{name} ({number})" for name, number in found.seen.most_common(8))
        raise CorpusError(f"{name}: no element {tag!r}; --document-tag is one of {tags}")
