"""A wordnet of another language, in the tab format of the Open Multilingual Wordnet."""

import json
from pathlib import Path

import pytest

from ctxembed.errors import CorpusError
from ctxembed.word_senses.dictionary import Dictionary
from ctxembed.word_senses.multilingual import MultilingualWordnet
from ctxembed.word_senses.sense_file import open_sources
from tests.conftest import Run

LINES = """# a small wordnet\txxx\thttp://example.org\tfree
08420278-n\txxx:lemma\tbank
08420278-n\txxx:lemma\tmoney
09213565-n\txxx:lemma\tbank
09213565-n\txxx:def\t0\tthe side of a river
09213565-n\txxx:exe\t0\tthe river bank
09411430-n\txxx:lemma\triver
02084071-n\tlemma\thot_juice
99999999-n\txxx:lemma\tnothing
"""


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "wn-data-xxx.tab"
    path.write_text(LINES)
    return str(path)


def test_synsets_by_offset() -> None:
    dictionary = Dictionary.open()
    number = dictionary.find_synset("n", 8420278)
    assert number is not None
    assert dictionary.synset(number).words[0][0] == "depository_financial_institution"
    assert dictionary.find_synset("v", 8420278) is None
    assert dictionary.find_synset("n", 1) is None


def test_words_of_a_language(file: str) -> None:
    (wordnet,) = open_sources([file])
    river, money = wordnet.look_up("banks", "n")
    assert money.key == "bank%08420278-n"
    assert money.definition.startswith("a financial institution")
    assert money.synonyms == ["money"]
    assert river.definition == "the side of a river"
    assert river.examples == ["the river bank", "bank"]
    assert river.count > money.count > 0  # of the English words
    (dog,) = wordnet.look_up("hot juice")
    assert dog.definition.startswith("a member of the genus Canis")
    assert wordnet.look_up("nothing") == []
    assert wordnet.look_up("bank", "v") == []
    assert len(wordnet.sample(3)) == 3


def test_define_in_another_language(run: Run, file: str) -> None:
    done = run("define", "the river [bank]", "--dictionary", file, "-f", "json")
    first, second = json.loads(done.stdout)
    assert (first["sense_key"], second["sense_key"]) == ("bank%09213565-n", "bank%08420278-n")
    assert first["definition"] == "the side of a river"


@pytest.mark.parametrize("line", ["bank\tlemma\tmoney", "08420278-n\txxx:lemma", "08420278-n"])
def test_lines_that_are_no_wordnet(tmp_path: Path, line: str) -> None:
    path = tmp_path / "bad.tab"
    path.write_text(f"# nothing\n{line}\n")
    with pytest.raises(CorpusError, match=r"line 2: write OFFSET-PART"):
        MultilingualWordnet(str(path), Dictionary.open())
    path.write_text("# nothing\n")
    with pytest.raises(CorpusError, match="no word"):
        MultilingualWordnet(str(path), Dictionary.open())
