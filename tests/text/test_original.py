"""Quotes show the text as it was written."""

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctxembed.errors import ModelError
from ctxembed.progress import Progress
from ctxembed.text import numbering, original
from ctxembed.text.build_index import build
from ctxembed.text.corpus import Corpus
from ctxembed.text.index import Index
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.train import _divide
from tests.text.test_numbering import PIECES, SPACES

TEXTS = st.lists(st.sampled_from(PIECES + SPACES), min_size=1, max_size=60).map("".join)


def no_spaces(text: str) -> str:
    return "".join(text.split())


@settings(deadline=None, max_examples=60)
@given(TEXTS, st.sampled_from(["word", "character", "subword"]), st.sampled_from([3, 1000]))
def test_every_token_has_its_byte_offset(text: str, unit: str, longest: int) -> None:
    tokenizer = Tokenizer("whitespace" if unit == "character" else "word")
    if not tokenizer.words(text):
        return
    with (
        tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as name,
        pytest.MonkeyPatch.context() as patch,
    ):
        patch.setattr(numbering, "MAX_SENTENCE", longest)  # long sentences are split
        patch.setattr(original, "PIECE", 7)  # and text is cut anywhere
        folder = Path(name)
        (folder / "c.txt").write_text(text, encoding="utf-8", newline="")
        (folder / "index").mkdir()
        corpus = Corpus([str(folder / "c.txt")], document="file")
        counted = build(corpus, tokenizer, folder / "index", 1, Progress(), keep=True)
        if unit != "word":
            tokenizer, counted = _divide(folder, tokenizer, counted, unit, 30)
        index = Index(folder / "index", counted.types, counted.files, lambda: tokenizer)
        assert index.original is not None
        for position, row in enumerate(index.ids.tolist()):
            left, hit, right = index.original.around(position, 1, 10_000)
            assert (
                tokenizer.normalise(hit).casefold()
                == counted.types[row].removeprefix("##").casefold()
            )
            assert no_spaces(text).endswith(no_spaces(left + hit + right))
            near = index.original.around(position, 1, 5)
            assert left.endswith(near[0]) and right.startswith(near[2]) and near[1] == hit
            assert len(near[0].strip()) <= 5 and len(near[2].strip()) <= 5


@pytest.mark.parametrize("lines", [True, False])
def test_opening_marks_belong_to_their_document(lines: bool, tmp_path: Path) -> None:
    texts = ["The first bank closed.", "“Old bank” is a novel.", "— [A bank] (note)", "$5 bank!"]
    between = "\n" if lines else "\n\n"
    (tmp_path / "c.txt").write_text(between.join(texts))
    corpus = Corpus([str(tmp_path / "c.txt")], document="line" if lines else "block")
    counted = build(corpus, Tokenizer(), tmp_path, 1, Progress(), keep=True)
    index = Index(tmp_path, counted.types, counted.files, Tokenizer)
    assert index.original is not None
    positions = np.flatnonzero(index.ids == list(counted.types).index("bank"))
    quotes = [
        "".join(index.original.around(int(position), 1, 80)).strip() for position in positions
    ]
    assert quotes == texts


def test_a_damaged_copy_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("one two three " * 1000)
    counted = build(Corpus([str(tmp_path / "c.txt")]), Tokenizer(), tmp_path, 1, Progress(), True)
    packed = np.load(tmp_path / "text.npy")
    packed[9:99] = 0
    np.save(tmp_path / "text.npy", packed)
    index = Index(tmp_path, counted.types, counted.files)
    with pytest.raises(ModelError, match=r"text\.npy: damaged; train the model again"):
        assert index.original
        index.original.around(0, 1, 10)
