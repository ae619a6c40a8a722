"""Other forms of a word that is not in a vocabulary: its case, its joiners, its number."""

from collections.abc import Iterator

SHORTEST = 3  # letters of a singular: "as" is no plural of "a"


def other_forms(word: str) -> Iterator[str]:
    """Yield other ways to write a word, the likeliest first; some may come twice.

    >>> list(other_forms("E-mail"))
    ['e-mail', 'E-mail', 'E-MAIL', 'E-mail', 'E-mail', 'Email', 'E-mails', 'e-mails']
    """
    yield from (word.lower(), word.capitalize(), word.upper())
    yield word.removesuffix("'s").removesuffix("'")
    yield word.replace("'", "")
    yield word.replace("-", "")
    yield from (*numbers(word), *numbers(word.lower()))


def numbers(word: str) -> Iterator[str]:
    """Yield the English plural of a singular, or what a plural may be of.

    >>> [list(numbers(word)) for word in ("nail", "city", "boxes", "glass", "a")]
    [['nails'], ['cities'], ['boxe', 'box'], ['glasses'], []]
    """
    if len(word) > SHORTEST and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        yield word[:-3] + "y" if word.endswith("ies") else word[:-1]
        if word.endswith("es"):
            yield word[:-2]
    elif len(word) >= SHORTEST and word[-1].isalpha():
        if word.endswith("y") and word[-2] not in "aeiou":
            yield word[:-1] + "ies"
        else:
            yield word + ("es" if word.endswith(("s", "x", "z", "ch", "sh")) else "s")
