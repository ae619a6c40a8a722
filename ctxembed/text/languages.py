"""What differs between languages when text is read: abbreviations, ordinal numbers, spaces."""

import re
from collections.abc import Sequence
from functools import cache

from ctxembed.errors import UsageError

# A full stop after these ends no sentence. In lowercase, without their last full stop.
_ABBREVIATIONS = {
    "en": """mr mrs ms dr prof st sr jr gen col capt lt sgt rev hon gov sen rep mt ft no vol fig vs
cf e.g i.e etc approx ca inc ltd co corp dept pp blvd""",
    "de": """dr prof hr fr frl nr bzw usw ca vgl bsp evtl ggf inkl exkl max min mio mrd str tel abs
art bd hrsg jh jhd jan feb apr jun jul aug sep sept okt nov dez mo di mi do sa so st sog u.a z.b d.h
s.o s.u geb gest verh anm aufl ausg bzgl einschl etc ff hl ing kap lt rd sen vs zit zzgl z d u o s i
v""",
    "fr": """m mm mme mmes mlle mlles dr prof st ste art av bd boul cf chap env etc ex fig hab ibid
id janv févr juil sept oct nov déc n no p pp p.ex par ed éd réf s sq t tél vol vs""",
    "es": """sr sra sres sras srta d dña dr dra prof profa ud uds vd vds av avda c cap cf cía dpto
ed ee ej etc fig gral ing lic n no núm p pág págs pp p.ej s sig sta sto tel tít uu vol vs""",
    "tr": """dr prof doç yrd av sn sok cad mah apt no tel bkz krş vb vd vs örn yy çev ed haz s sf
alb bnb gen kur müh onb opr ord ort tic""",
}
_STARTERS = {  # words that begin a sentence after an abbreviation of single letters, as in U.S.
    "en": """the an it he she they we you this that these those there in on at as by for from but
and or so if when while after before since although however its his her their our my no not what
which how why with during one some many most both each""",
    "de": """der die das ein eine er sie es wir ihr ich dies diese dieser dieses in im am an auf aus
bei mit nach von vor zu doch aber und oder so wenn als während nachdem seit obwohl kein keine""",
    "fr": """le la les un une il elle ils elles on nous vous je ce cette ces dans en sur au aux avec
pour par mais et ou si quand après avant depuis son sa ses leur""",
    "es": """el la los las un una él ella ellos ellas nosotros yo este esta estos estas en con por
para pero si cuando después antes desde su sus no""",
    "tr": "bu şu bir ben biz siz onlar ama ve veya fakat ancak sonra önce çünkü eğer",
}
ORDINALS = ("de", "tr")  # a number with a full stop is an ordinal: 3. Oktober, 19. yüzyıl
KNOWN = ("", *_ABBREVIATIONS, "az")


def check_language(language: str) -> str:
    """Return the short name of a language; raise an error if it is not a known one."""
    if language not in KNOWN:
        known = ", ".join(sorted(filter(None, KNOWN)))
        raise UsageError(f"--language {language}: choose one of {known}, or leave it out")
    return language


@cache
def words_of(table: str, language: str) -> frozenset[str]:
    """Return the "abbreviations" or "starters" of a language; English ones if it is unknown."""
    words = {"abbreviations": _ABBREVIATIONS, "starters": _STARTERS}[table]
    return frozenset(words.get(language or "en", "").split())


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
