"""What differs between languages when text is read: abbreviations, ordinal numbers, spaces."""

import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from ctxembed.errors import UsageError

ORDINALS = ("de", "tr")  # a number with a full stop is an ordinal: 3. Oktober, 19. yüzyıl
KNOWN = ("", "en", "de", "fr", "es", "tr", "az")


def check_language(language: str) -> str:
    """Return the short name of a language; raise an error if it is not a known one."""
    if language not in KNOWN:
        known = ", ".join(sorted(filter(None, KNOWN)))
        raise UsageError(f"--language {language}: choose one of {known}, or leave it out")
    return language


@cache
def words_of(kind: str, language: str) -> frozenset[str]:
    """Return words of a language from words.tsv; English ones if it is unknown.

    kind: abbreviations, after which a full stop ends no sentence; starters, which begin a sentence
    after single letters such as U.S.; function, words without content. All in lowercase.
    """
    for line in Path(__file__).with_name("words.tsv").read_text(encoding="utf-8").splitlines():
        *key, words = line.split("\t")
        if key == [kind, language or "en"]:
            return frozenset(words.split())
    return frozenset()


# Scripts without spaces between words: their letters, and the mean length that no words have.
_NO_SPACES = {
    "Chinese or Japanese": ("\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", 3.5),
    "Thai, Lao, Khmer or Burmese": ("\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff", 9.0),
}
_SAMPLE_SIZE = 50_000  # most frequent words that are looked at


def describe_unspaced_text(words: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Return a note if words with these counts look like clauses written without spaces."""
    notes = []
    sample = list(zip(words[:_SAMPLE_SIZE], counts, strict=False))
    for script, (letters, max_length) in _NO_SPACES.items():
        sizes = [(len(word), count) for word, count in sample if re.match(f"[{letters}]", word)]
        number = sum(count for _, count in sizes)
        length = sum(size * count for size, count in sizes) / max(1, number)
        if number > 0.3 * sum(counts) and length > max_length:
            notes.append(
                f"this text has no spaces between words ({script}): {length:.1f} letters on"
                " average. Use --unit character, or segment the text and use --tokenizer whitespace"
            )
    return notes
