"""Read text whose words are labelled with senses: XML with a key file, or lines of a table."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ctxembed.context.parse import Occurrence, Written
from ctxembed.errors import CorpusError, UsageError
from ctxembed.evaluation.items import Reader, expect
from ctxembed.text.tokenizer import find_capitals
from ctxembed.word_senses.definitions import Definitions
from ctxembed.word_senses.dictionary import PARTS

MAX_XML_LINES = 500_000
TAGS = {"NOUN": "n", "VERB": "v", "ADJ": "a", "ADV": "r"}
COLUMNS = "[set, id,] [lemma, part (n, v, a, r),] sense keys and sentence with [target], by tabs"


@dataclass(frozen=True)
class Item:
    """A target in its sentence with the keys of its senses."""

    name: str  # of its set
    lemma: str  # as written, where no lemma is given
    part: str  # of speech; empty where it is not given
    gold: frozenset[str]
    occurrence: Occurrence

    def by_lemma(self) -> Occurrence:
        """Return the occurrence with its lemma in place of the form that was written."""
        assert self.occurrence.written is not None
        words, target = self.occurrence.written.words, self.occurrence.written.target
        lemma = self.lemma.split()
        own = range(target.start, target.start + len(lemma))
        spelled = [*words[: target.start], *lemma, *words[target.stop :]]
        written = replace(self.occurrence.written, words=spelled, target=own)
        return self.occurrence._replace(written=written)


def read_items(reader: Reader, files: Sequence[str], definitions: Definitions) -> Iterator[Item]:
    """Yield the labelled targets of files; an .xml file is followed by its key file."""
    waiting = list(files)
    while waiting:
        file = waiting.pop(0)
        if not file.endswith(".xml"):
            yield from _read_lines(reader, file, definitions)
        elif waiting and not waiting[0].endswith(".xml"):
            yield from _read_xml(reader, file, waiting.pop(0), definitions)
        else:
            raise UsageError(f"{file}: name its key file after it: DATA.xml GOLD.key.txt")


def _read_lines(reader: Reader, file: str, definitions: Definitions) -> Iterator[Item]:
    """Yield the targets of lines: the columns are counted from the last."""
    for number, line in reader.lines(file):
        with expect(COLUMNS, file, number):
            *before, keys, text = line.rstrip("\r\n").split("\t")
            lemma, part = before[-2:] if before else ("", "")
            name = before[0] if len(before) > 3 else Path(file).name.split(".")[0]
            item = _make_item(definitions, name, lemma, part, keys.split(), text)
        yield item


def _make_item(
    definitions: Definitions, name: str, lemma: str, part: str, keys: Sequence[str], text: str
) -> Item:
    """Return the target in brackets of a sentence; raise ValueError if something is wrong."""
    tokenizer = definitions.representations.model.vocabulary.tokenizer
    before, rest = text.split("[")
    target, after = rest.split("]")
    if not keys or part not in ("", *PARTS):
        raise ValueError(keys)
    plain = lemma.replace("_", " ").lower() or " ".join(tokenizer.words(target))
    own = tokenizer.words(target) or tokenizer.words(plain)  # a target without a letter: %
    left, right = tokenizer.words(before), tokenizer.words(after)
    capitals = (*find_capitals(text, tokenizer)[len(left) :], None)
    place = range(len(left), len(left) + len(own))
    written = Written([*left, *own, *right], place, capitals[0])
    rows = definitions.find_rows
    known = rows(target) or rows(plain)
    occurrence = Occurrence.join(rows(before), known, rows(after), written)
    return Item(name, plain, part, frozenset(keys), occurrence)


def _read_xml(reader: Reader, file: str, key: str, definitions: Definitions) -> Iterator[Item]:
    """Yield the instances of an XML file that its key file labels."""
    gold: dict[str, list[str]] = {}
    for number, line in reader.lines(key):
        with expect("the id of a target and its sense keys", key, number):
            name, *keys = line.split()
            gold[name] = [*gold.get(name, []), keys[0], *keys[1:]]
    labelled = 0
    for at, source, word, text in _read_instances(reader, file):
        if (own := gold.get(word.get("id", ""))) is not None:
            labelled += 1
            with expect(f"targets with a lemma and one of the tags {', '.join(TAGS)}", file, at):
                part = TAGS[word.get("pos", "")]
                item = _make_item(definitions, source, word["lemma"], part, own, text)
            yield item
    if labelled < len(gold):
        raise CorpusError(f"{key}: labels {len(gold)} targets, but {file} has {labelled} of them")


def _read_instances(reader: Reader, file: str) -> Iterator[tuple[int, str, Mapping[str, str], str]]:
    """Yield line, set, attributes and marked sentence of each instance of an XML file."""
    from xml.etree.ElementTree import ParseError, XMLPullParser

    parser: Any = XMLPullParser(("start", "end"))
    name, number = Path(file).name.split(".")[0], 0
    try:
        for number, line in reader.lines(file, MAX_XML_LINES):
            if "<!" in line and "<!--" not in line:
                raise CorpusError(f"{file}: line {number}: declarations are not read")
            parser.feed(line)
            for event, element in parser.read_events():
                if event == "start":
                    name = element.get("source") or name
                elif element.tag == "sentence":
                    words = [_plain(word.text) for word in element]
                    for i, word in enumerate(element):
                        if word.tag == "instance":
                            text = " ".join([*words[:i], f"[{words[i]}]", *words[i + 1 :]])
                            yield number, name, word.attrib, text
                    element.clear()
        parser.close()
    except ParseError as error:
        raise CorpusError(f"{file}: line {number}: not XML: {error}") from None


def _plain(text: str | None) -> str:
    """Return the words of an element without what would mark a target."""
    return (text or "").replace("_", " ").replace("[", "(").replace("]", ")").strip()
