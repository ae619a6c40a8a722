"""Function words by language: lists of 25 languages, a file of one's own, or English by default."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice
from pathlib import Path

from ctxembed.errors import CorpusError
from ctxembed.text.languages import words_of
from ctxembed.text.lines import read_text

FREQUENT = 100  # words of a vocabulary by which its language is recognised
MIN_SHARE = 0.35  # of them that must be function words of a language


@cache
def lists() -> dict[str, frozenset[str]]:
    """Return the function words of each language, by its short name."""
    path = Path(__file__).with_name("function_words.tsv")
    rows = (line.split("\t") for line in path.read_text(encoding="utf-8").splitlines())
    return {name: frozenset(words.split()) for name, words in rows} | {
        "en": words_of("function", "en")
    }


def detect_language(words: Iterable[str]) -> str:
    """Return the language of a vocabulary, the most frequent words first; "" if none is clear.

    >>> detect_language("die der und in zu den das nicht von sie ist des sich mit dem".split())
    'de'
    >>> detect_language("0 1 2 3".split())
    ''
    """
    frequent = [word.lower() for word in islice(words, FREQUENT)]
    shares = {
        name: sum(word in known for word in frequent) / max(1, len(frequent))
        for name, known in lists().items()
    }
    best = max(shares, key=lambda name: shares[name])
    return best if shares[best] >= MIN_SHARE else ""


def stop_words(words: Sequence[str], language: str = "", path: str | None = None) -> frozenset[str]:
    """Return the function words of a language, or of the language that words are in; or of a file.

    words: of a vocabulary, the most frequent first. English ones are always among them: names and
    quotations are often English. Of other languages, only frequency tells a function word.
    """
    if path is not None:
        return read_function_words(path)
    known = lists()
    name = language if language in known else detect_language(words)
    return known["en"] | known.get(name, frozenset())


def read_function_words(path: str) -> frozenset[str]:
    """Return the words of a file, one or more on a line; # begins a comment."""
    text = read_text(Path(path))
    lines = (line.partition("#")[0] for line in text.splitlines())
    found = frozenset(word.lower() for line in lines for word in line.split())
    if not found or "\0" in text:
        raise CorpusError(f"{path}: no words in it; --stopwords takes a text of words")
    return found
