"""Recognise files that ctxembed wrote: tables, pictures, pages, exported vectors."""

import re
from pathlib import Path

HEAD = 4096  # bytes that are looked at
GENERATOR = '<meta name="generator" content="ctxembed">'  # in every page that ctxembed writes
# The first two columns of tables, and the first column where numbers of words or axes follow it.
OPENINGS = {
    "sentence": "target token tokens word", "property": "value", "file": "dtype line",
    "representation": "dim probe set", "position": "d1 p0", "distance": "head_1", "epoch": "loss",
    "word": "property neighbor file collocate key_of count k d1 vector", "rank": "word",
    "set": "metric", "target": "head token rank removed representation position", "k": "score",
    "sense": "share collocate", "collocate": "count", "word1": "word2",
}  # fmt: skip
NUMBERED = ("word", "sentence", "label")
_NUMBER = re.compile(r"-?\d[\d.]*(?:e-?\d+)?")
_CELL = re.compile(r'"([^"]*)": ("|\[|null|-?\d[\d.]*(?:e-?\d+)?)')


def is_own_file(path: Path, head: bytes) -> bool:
    """Return whether the first bytes of a file are those of a file that ctxembed wrote."""
    text = head.decode("utf-8", "replace")
    if text.startswith(("<svg", "<!doctype html")):
        return 'class="ctxembed"' in text[:200] or GENERATOR in text
    if path.name.endswith(".vocab.txt"):  # the word list of an exported array
        return path.with_name(path.name.removesuffix(".vocab.txt") + ".npy").exists()
    first, *rest = _rows(text) or [[]]
    row = rest[0] if rest else []
    if len(first) == 2 and all(map(str.isdecimal, first)):  # word2vec: number of words and numbers
        return len(row) > 1 and all(map(_NUMBER.fullmatch, row[1 : int(first[1][:4]) + 1][:9]))
    if first[:2] == ["word", "sense"]:  # not enough: other people label words with senses
        del first[0]
    if len(first) < 2 or (first[0] == "sentence" and not _NUMBER.fullmatch("".join(row[:1]))):
        return False
    if first[1] in OPENINGS.get(first[0], "").split():
        return True
    return first[0] in NUMBERED and len(row) > 1 and all(map(_NUMBER.fullmatch, row[1:]))


def _rows(text: str) -> list[list[str]]:
    """Return the cells of the column names and of the first row, or of the first two lines.

    >>> _rows('[\\n  {"word": "pear", "count": 3}\\n]\\n')
    [['word', 'count'], ['"', '3']]
    """
    if match := re.match(r'(?:\[\s*)?\{(".*)', text):
        cells = _CELL.findall(match[1])
        return [[name for name, _ in cells], [value for _, value in cells]]
    lines = [line for line in text.split("\n")[:6] if not re.match(r"\\|[-| ]*$", line)][:2]
    for separator in ("\t", "|", "&", ",", "  ", " "):
        if lines and separator in lines[0]:
            cut = (line.replace("\\_", "_").strip("|\\ ").split(separator) for line in lines)
            return [[cell.strip() for cell in cells if cell.strip()] for cells in cut]
    return []
