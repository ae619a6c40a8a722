"""Which words of a sentence carry its content."""

_ENGLISH = """
a an the this that these those some any no each every all both either neither such
i me my mine we us our ours you your yours he him his she her hers it its they them their theirs
myself yourself himself herself itself ourselves themselves who whom whose which what
and or but nor so yet if because although though while when where after before until since as than
of in on at by for with from to into onto over under up down out off about between through during
against without within along across behind beside near upon toward towards
be am is are was were been being have has had having do does did doing done will would shall should
can could may might must not n't there here then now just also very too only even again still ever
never always often how why more most much many few other another same own
isn't aren't wasn't weren't don't doesn't didn't won't wouldn't can't couldn't i'm it's he's she's
"""
_FUNCTION = frozenset(_ENGLISH.split())
MANY = 1000  # words of a vocabulary; in a smaller one a frequent word may be any word
COMMON = 0.01  # share of the corpus; more frequent words are function words in any language


def is_content(word: str, frequency: float) -> bool:
    """Tell whether a word carries content: no English function word, and not too frequent.

    >>> is_content("apple", 0.003), is_content("the", 0.06), is_content("und", 0.03)
    (True, False, False)
    """
    return word.lower() not in _FUNCTION and frequency < COMMON
