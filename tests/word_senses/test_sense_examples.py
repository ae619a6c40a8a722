"""The sentences written for the meanings of today: each has its key and one target."""

import lzma
from collections import defaultdict

import pytest

from ctxembed.text.tokenizer import Tokenizer, parse_marked
from ctxembed.word_senses.dictionary import Dictionary, base_forms
from ctxembed.word_senses.sense_file import SenseFile, open_sources
from tests.conftest import ROOT

FILE = ROOT / "corpora" / "sense_examples.tsv.xz"


@pytest.fixture(scope="module")
def rows() -> list[list[str]]:
    lines = lzma.decompress(FILE.read_bytes()).decode("utf-8").splitlines()
    return [line.split("\t") for line in lines if not line.startswith("#")]


def test_keys_and_shares(rows: list[list[str]]) -> None:
    """Every key is a sense of the dictionary, with its share; those of a word are at most 100."""
    sources, total = open_sources(), defaultdict[str, float](float)
    for key, share, *_ in rows:
        lemma = key.split("%")[0]
        total[lemma] += float(share)
        senses = [s for source in sources for s in source.look_up(lemma.replace("_", " "))]
        kept = {sense.key: sense.share for sense in senses}
        assert kept[key] == float(share), key
    assert len({key for key, *_ in rows}) == len(rows) > 15_000
    assert max(total.values()) <= 100


def test_each_sentence_has_its_word_once_in_brackets(rows: list[list[str]]) -> None:
    dictionary, added = open_sources()
    assert isinstance(dictionary, Dictionary) and isinstance(added, SenseFile)
    parts = {sense.key: sense.part for senses in added.entries.values() for sense in senses}
    irregular, tokenizer = dictionary._find_irregular, Tokenizer()
    for key, _, *sentences in rows:
        lemma, _, rest = key.partition("%")
        part = parts[key] if key in parts else "?nvara"[int(rest[0])]
        assert sentences
        for sentence in sentences:
            marked = parse_marked(sentence, tokenizer)
            (target,) = marked.targets
            form = " ".join(marked.words[target.start : target.stop]).lower()
            forms = [base.lower() for base in base_forms(form, part, irregular)]
            assert lemma in forms or form[:2] == lemma[:2], sentence
