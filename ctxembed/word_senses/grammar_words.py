"""Words of grammar, whose entries in a dictionary are mostly other words: it is no IT."""

from collections.abc import Sequence

from ctxembed.context.parse import Written
from ctxembed.word_senses.dictionary import Sense

_PURE = """a an the i me my we us our you your he him his she her it its they them their who whom
whose what which this that these those and or nor if because as at for from into of than with"""
_MODAL = "can could may might must shall should will would"
_BEFORE = """a an the this that these those my your his her its our their some any no every each to
of by free in with"""  # before a modal they tell a noun or a verb: the can, free will, to can fruit
PURE, MODAL, BEFORE = (frozenset(words.split()) for words in (_PURE, _MODAL, _BEFORE))


def leave_out_grammar(senses: Sequence[Sense], written: Written) -> list[Sense]:
    """Return the senses that a target may have as it is written; mostly none for a word of grammar.

    A capital that tells a proper noun keeps them: IT, US, May.
    """
    target = written.target
    word = " ".join(written.words[target.start : target.stop]).lower()
    if written.capital or (word not in PURE and word not in MODAL):
        return list(senses)
    if word in PURE:
        return [sense for sense in senses if sense.part == "r"]  # as good, this big
    before = written.words[target.start - 1].lower() if target.start else ""
    return list(senses) if before in BEFORE else []
