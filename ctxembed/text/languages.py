"""What differs between languages when text is read: small letters, abbreviations, ordinals."""

import re
from collections.abc import Sequence
from functools import cache

from ctxembed.errors import UsageError

# A full stop after these ends no sentence. Written small, without their last full stop.
_ABBREVIATIONS = {
    "en": """
mr mrs ms dr prof st sr jr gen col capt lt sgt rev hon gov sen rep mt ft no vol fig vs cf
e.g i.e etc approx ca inc ltd co corp dept pp blvd
""",
    "de": """
dr prof hr fr frl nr bzw usw ca vgl bsp evtl ggf inkl exkl max min mio mrd str tel abs art bd hrsg
jh jhd jan feb apr jun jul aug sep sept okt nov dez mo di mi do sa so st sog u.a z.b d.h s.o s.u
geb gest verh anm aufl ausg bzgl einschl etc ff hl ing kap lt rd sen vs zit zzgl z d u o s i v
""",
    "fr": """
m mm mme mmes mlle mlles dr prof st ste art av bd boul cf chap env etc ex fig hab ibid id janv févr
juil sept oct nov déc n no p pp p.ex par ed éd réf s sq t tél vol vs
""",
    "es": """
sr sra sres sras srta d dña dr dra prof profa ud uds vd vds av avda c cap cf cía dpto ed ee ej etc
fig gral ing lic n no núm p pág págs pp p.ej s sig sta sto tel tít uu vol vs
""",
    "tr": """
dr prof doç yrd av sn sok cad mah apt no tel bkz krş vb vd vs örn yy çev ed haz s sf alb bnb gen
kur müh onb opr ord ort tic
""",
}
_STARTERS = {  # words that begin a sentence behind an abbreviation of single letters, as in U.S.
    "en": """the an it he she they we you this that these those there in on at as by for from
but and or so if when while after before since although however its his her their our my no not what
which how why with during one some many most both each""",
    "de": """der die das ein eine er sie es wir ihr ich dies diese dieser dieses in im am an auf aus
bei mit nach von vor zu doch aber und oder so wenn als während nachdem seit obwohl kein keine""",
    "fr": """le la les un une il elle ils elles on nous vous je ce cette ces dans en sur au aux
avec pour par mais et ou si quand après avant depuis son sa ses leur""",
    "es": """el la los las un una él ella ellos ellas nosotros yo este esta estos estas en con por
para pero si cuando después antes desde su sus no""",
    "tr": """bu şu bir ben biz siz onlar ama ve veya fakat ancak sonra önce çünkü eğer""",
}
ORDINALS = ("de", "tr")  # a number with a full stop is a rank: 3. Oktober, 19. yüzyıl
DOTTED_I = ("tr", "az")  # where I and i are two letters, ı and i when they are small
KNOWN = ("", *_ABBREVIATIONS, "az")


def check_language(language: str) -> str:
    """Return a language's short name; refuse one of which nothing is known."""
    if language not in KNOWN:
        raise UsageError(
            f"--language {language}: known are {', '.join(sorted(filter(None, KNOWN)))}; any other"
            " is read well without"
        )
    return language


@cache
def abbreviations(language: str) -> frozenset[str]:
    """The abbreviations of a language, English ones where none is told."""
    return frozenset(_ABBREVIATIONS.get(language or "en", "").split())


@cache
def starters(language: str) -> frozenset[str]:
    """The words with which sentences often begin."""
    return frozenset(_STARTERS.get(language or "en", "").split())


def make_small(word: str, language: str) -> str:
    """Write a word in small letters.

    >>> make_small("Işık İstanbul", "tr"), make_small("Işık İstanbul", "")
    ('ışık istanbul', 'işık istanbul')
    """
    if not word.isascii():
        word = word.replace("İ", "i")  # Python would leave a dot of its own behind the i
    if language in DOTTED_I:
        word = word.replace("I", "ı")
    return word.lower()


# Scripts whose words stand without spaces between them, and letters of a word that is no clause.
_NO_SPACES = {
    "Chinese or Japanese": ("\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff", 3.5),
    "Thai, Lao, Khmer or Burmese": ("\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff", 9.0),
}
_LOOKED_AT = 50_000  # words, the most frequent ones


def tell_no_spaces(words: Sequence[str], counts: Sequence[int]) -> list[str]:
    """Say so if words, each so frequent, look like whole clauses written without spaces."""
    notes = []
    total = sum(counts)
    for script, (letters, longest) in _NO_SPACES.items():
        inside = re.compile(f"[{letters}]")
        mine = [
            (len(word), count)
            for word, count in zip(words[:_LOOKED_AT], counts, strict=False)
            if inside.match(word)
        ]
        number = sum(count for _, count in mine)
        length = sum(size * count for size, count in mine) / max(1, number)
        if number > 0.3 * total and length > longest:
            notes.append(
                f"this text is written without spaces ({script}): its words are whole clauses,"
                f" {length:.1f} letters on average. --unit character trains on letters; or let a"
                " segmenter part the words and give --tokenizer whitespace"
            )
    return notes
