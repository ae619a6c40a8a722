"""What was learned for one model is not believed in another."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ctxembed.attention.layer import Layer
from ctxembed.attention.presets import general
from ctxembed.errors import ModelError
from ctxembed.model.attentions import Saved, load_attention, save_attention
from ctxembed.model.bundled import bundled_model
from ctxembed.model.model import Model
from ctxembed.model.write import write_description, write_files
from ctxembed.progress import Progress
from ctxembed.table import Table
from ctxembed.text.build_index import build, write_occurrences
from ctxembed.text.corpus import Corpus
from ctxembed.text.tokenizer import Tokenizer
from ctxembed.training.fit import fit_task
from ctxembed.training.learn import learn_attention
from tests.conftest import Run, mentions, write_tiny

SENTENCES = ["the river bank quay", "the bank money", "the apple juice sweet"] * 40


def write_other(folder: Path) -> None:
    """Write another model over the same text: the same words and sizes, other vectors."""
    write_tiny(folder, SENTENCES)
    np.save(folder / "vectors.npy", -np.load(folder / "vectors.npy"))
    shutil.rmtree(folder / "index")
    other = Model.open(folder)
    meta = {k: v for k, v in other.meta.items() if k in ("tokens", "tokenizer", "word2vec")}
    write_description(folder, other.vocabulary.words, other.counts, other.dim, meta)


def exchange(model: Model) -> None:
    """Put another model in the place of one that is open."""
    write_other(model.path.with_name("other"))
    model.path.rename(model.path.with_name("before"))
    model.path.with_name("other").rename(model.path)


def write_random(folder: Path) -> Path:
    """Write a model of forty words in any order, enough to learn attention from."""
    rng, text = np.random.default_rng(0), folder.with_name("random.txt")
    words = [*(f"w{n}" for n in range(38)), "river", "bank"]
    text.write_text("".join(" ".join(rng.choice(words, 8)) + "\n" for _ in range(1000)))
    (folder / "index").mkdir(parents=True)
    counted = build(Corpus([str(text)]), Tokenizer(), folder / "index", 1, Progress())
    write_occurrences(folder / "index", counted.counts)
    meta = {"tokens": counted.tokens, "tokenizer": {}, "files": counted.files}
    vectors = rng.normal(size=(40, 8)).astype(np.float32)
    write_files(folder, counted.types, counted.counts, vectors, None, meta)
    return folder


def learn(model: Model, _: Path) -> Table:
    return learn_attention(model, "new", steps=5)


def fit(model: Model, folder: Path) -> Table:
    task = folder / "task.tsv"
    task.write_text("a\tw1 river [bank]\nb\tw2 [bank] w3\n" * 10)
    return fit_task(model, str(task), "new", epochs=1)


@pytest.mark.posix  # replaces files that are open
@pytest.mark.parametrize("work", [learn, fit])
def test_a_model_replaced_while_attention_is_learned(
    work: Callable[[Model, Path], Table], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model.open(write_random(tmp_path / "m"))

    def late(*arguments: Any) -> None:
        exchange(model)
        save_attention(*arguments)

    monkeypatch.setattr(f"ctxembed.training.{work.__name__}.save_attention", late)
    with pytest.raises(ModelError, match=r"m: replaced by another model meanwhile; nothing was sa"):
        work(model, tmp_path)
    assert Model.open(tmp_path / "m").attentions() == []


def test_an_attention_of_another_model_is_refused(tiny: Path, tmp_path: Path, run: Run) -> None:
    mine = shutil.copytree(tiny, tmp_path / "mine")
    save_attention(Model.open(mine), "learned", Saved(general("cosine", 4)))
    layer = load_attention(Model.open(mine), "learned").layer
    assert isinstance(layer, Layer) and layer.own == general("cosine", 4).own
    write_other(tmp_path / "other")
    shutil.copytree(mine / "attention", tmp_path / "other" / "attention")
    done = run("explain", "the [bank] money", "-m", "other")
    assert (done.returncode, done.stdout) == (3, "")
    assert mentions(done.stderr, "other/attention/learned/layer.json model ctxembed learn")


def test_senses_of_another_model_are_refused(often: Path, tmp_path: Path, run: Run) -> None:
    mine = shutil.copytree(often, tmp_path / "mine")
    assert run("senses", "bank", "--k", "2", "--save", "-m", "mine").returncode == 0
    shutil.copytree(mine, tmp_path / "other")
    description = json.loads((tmp_path / "other" / "model.json").read_text())
    description["fingerprint"] = "another"
    (tmp_path / "other" / "model.json").write_text(json.dumps(description))
    done = run("kwic", "bank", "--where", "sense=1", "-m", "other")
    assert (done.returncode, done.stdout) == (3, "")
    assert mentions(done.stderr, "model ctxembed senses --save")


def test_a_model_without_a_fingerprint_still_opens(tiny: Path, tmp_path: Path) -> None:
    old = shutil.copytree(tiny, tmp_path / "old")
    description = json.loads((old / "model.json").read_text())
    del description["fingerprint"]
    (old / "model.json").write_text(json.dumps(description))
    save_attention(Model.open(old), "learned", Saved(general("cosine", 4)))
    assert "model" not in json.loads((old / "attention/learned/layer.json").read_text())
    assert load_attention(Model.open(old), "learned")
    shutil.copytree(old / "attention", shutil.copytree(tiny, tmp_path / "new") / "attention")
    assert load_attention(Model.open(tmp_path / "new"), "learned")
    assert load_attention(Model.open(bundled_model("everyday")), "learned")


def test_a_fingerprint_tells_models_apart(tmp_path: Path) -> None:
    one, same = (Model.open(write_tiny(tmp_path / name)) for name in ("one", "same"))
    longer = Model.open(write_tiny(tmp_path / "longer", SENTENCES))
    write_other(tmp_path / "other")
    assert one.fingerprint == same.fingerprint
    assert len({m.fingerprint for m in (one, longer, Model.open(tmp_path / "other"))}) == 3
