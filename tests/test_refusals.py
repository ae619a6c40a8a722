"""Wrong command lines: their exit codes and key words of their messages."""

import shlex
from pathlib import Path

import pytest

from tests.conftest import Run, mentions

# exit code | command line | words of the message
TINY = """
2 | ablate '[apple]' | 'apple' context word
2 | ablate '[apple juice]' | apple juice context word
4 | ablate 'the [quay] river' | 'quay' vocabulary
2 | ablate 'the apple' --word bank | --word bank sentence
2 | ablate 'the [apple]' --axis taste | --axis 'taste' NAME=WORD
4 | ablate 'the [apple]' --axis a=quay | --axis a 'quay' vocabulary
3 | ablate 'the [apple]' --attention mine | attention 'mine'
2 | ablate - | stdin empty
2 | ablate | Missing argument SENTENCE
2 | compare | Missing argument
2 | compare - | stdin empty
4 | compare '[aple] pie' | 'aple' vocabulary apple
4 | compare qq | word 'qq' vocabulary
2 | compare 'the [bank' | target [word]
3 | compare 'the [bank]' --attention nosuch | attention 'nosuch' general
4 | compare 'the [bank]' --axis x=nosuch | --axis x 'nosuch' vocabulary
2 | compare 'the [bank]' --axis x | NAME=WORD
2 | compare 'the [bank]' -n 0 | -n
2 | compare 'the bank' --word apple | --word apple sentence
2 | explain | sentence [Apple]
2 | explain '' | sentence
4 | explain '[aple] juice' | 'aple' vocabulary apple
4 | explain 'qq ww' | word qq ww vocabulary
4 | explain '🍎 🍏' | word 🍎 🍏 vocabulary
2 | explain 'the [apple' | target [word]
2 | explain 'the [] apple' | target [word]
2 | explain 'the apple' --word pear | --word pear sentence
2 | explain 'the apple' --word apple:3 | --word apple:3 sentence
2 | explain 'apple apple' --word apple:3 | sentence 2~times
2 | explain 'the apple' --word apple:x | --word apple:x
2 | explain 'the [apple]' --head 9 | --head 9 attention heads 1~to~4
2 | explain 'the [apple]' --head x | --head x attention heads 1~to~4
2 | explain '[apple]' --head each --recipe | --recipe
2 | explain '[apple]' --steps --top 2 | --sort --top
2 | explain '[apple]' -o x.npz | -o x.npz --steps
2 | explain '[apple]' --steps --recipe | --steps --recipe --check
4 | explain '[apple]' --over qq | word 'qq' vocabulary
3 | explain '[apple]' --attention nosuch | attention 'nosuch' general
2 | explain '[apple]' --attention bag | --attention bag attention
2 | explain a --attention random --general scaled | --general
2 | explain a --vectors phone-fruit -m x | --vectors --model
2 | explain a --weights tea | --weights table
2 | explain --weights tea --check | --weights table
2 | explain --weights tea --word coffee | --word coffee
5 | explain --weights nosuch | directory nosuch
5 | explain a --vectors nosuch | directory nosuch
2 | explain '{long}' --steps | --steps 200~words
4 | kwic zebra | 'zebra' vocabulary
1 | kwic apple --where sense=1 | 'apple' 3~times few
2 | kwic apple --where mood=1 | mood column file
2 | kwic apple --where sense | expected party=Dem
4 | kwic 'apple zebra' | apple zebra vocabulary
2 | kwic '!' | '!' word
2 | kwic 'the app*' --where sense=1 | the app* senses word
2 | kwic apple --sort size | 'size'
2 | kwic apple --axis taste | NAME=WORD
4 | kwic apple --axis x=zebra | --axis 'zebra'
2 | substitutes | Missing argument
2 | substitutes - | stdin empty
4 | substitutes '[aple] pie' | 'aple' vocabulary apple
3 | substitutes 'the [bank]' --attention nosuch | attention 'nosuch'
2 | substitutes 'the [bank]' -n 0 | -n
2 | substitutes 'the bank' --word apple | --word apple sentence
2 | define | Missing argument
2 | define - | stdin empty
4 | define '[aple] pie' | 'aple' vocabulary apple
4 | define 'zebraish' | zebraish
2 | define 'the bank' --word apple | --word apple sentence
2 | define 'the [bank]' --part x | '--part'
5 | define 'the [bank]' --dictionary missing.tsv | missing.tsv
2 | define 'the [bank' | brackets
5 | tokenize missing.txt | missing.txt folder
2 | tokenize ' ' | text empty
2 | tokenize 'a b' --unit syllable | '--unit'
3 | tokenize 'a b' -m nowhere | model nowhere
5 | tokenize - --encoding klingon | unknown encoding 'klingon'
"""
OFTEN = """
4 | ambiguity zebra | 'zebra' vocabulary
1 | ambiguity --min-count 1000 | word 1000~times --min-count
3 | ambiguity --attention mine --min-count 30 | attention 'mine'
2 | ambiguity - | stdin empty
4 | senses zebra | 'zebra' vocabulary
1 | senses phone | 'phone' 15~times senses
2 | senses bank --k two | --k 1~to~50
2 | senses bank --seed 99999999999 | 99999999999 number
2 | senses bank --k 0 | --k 0 1~to~50
1 | senses bank --k 9 | 9~senses --k
3 | senses bank --attention mine | attention 'mine'
2 | senses bank --save -m everyday | bundled model
"""


@pytest.mark.parametrize("row", TINY.strip().splitlines())
def test_refused(row: str, run: Run) -> None:
    check(row, run)


@pytest.mark.parametrize("row", OFTEN.strip().splitlines())
def test_refused_of_a_larger_corpus(row: str, run: Run, often: Path) -> None:
    check(row, run, often)


def check(row: str, run: Run, model: Path | None = None) -> None:
    """Run the command line of a row of the table and compare its end."""
    code, line, words = row.split(" | ")
    line = line.replace("{long}", "apple " * 300)
    done = run(*shlex.split(line), env={"CTXEMBED_MODEL": str(model)} if model else None)
    assert (done.returncode, done.stdout) == (int(code), "")
    assert mentions(done.stderr, words)
    assert "Traceback" not in done.stderr and len(done.stderr) < 250
