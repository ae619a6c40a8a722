"""Whatever replaces a model while it is asked, an answer is wholly of the old or of the new one."""

import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from ctxembed.ask.compare import compare
from ctxembed.ask.neighbors import neighbors
from ctxembed.ask.show import vector
from ctxembed.attention.starts import general
from ctxembed.store.attentions import Saved, save_attention
from ctxembed.store.contents import list_contents
from ctxembed.store.model import Model
from ctxembed.store.whole import written_whole
from tests.conftest import write_tiny

QUERIES, REPLACEMENTS = 500, 100


def other_model(folder: Path) -> Path:
    """Write a model of the same words whose every answer is another."""
    write_tiny(folder)
    rng = np.random.default_rng(1)
    np.save(folder / "vectors.npy", rng.normal(size=(10, 4)).astype(np.float32))
    return folder


def ask(path: Path) -> str:
    """Ask a few things of a model, opened for it."""
    model = Model.open(path)
    rows: list[object] = [compare(model, "the [bank] money").records()]
    rows += [neighbors(model, "apple").records(), vector(model, "bank").records()]
    index = model.index
    assert index is not None
    return str([*rows, index.words(index.sentence(2)), model.attentions()])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_only_whole_answers(tmp_path: Path) -> None:
    models = write_tiny(tmp_path / "one"), other_model(tmp_path / "two")
    right = []
    for number, place in enumerate(models):
        list_contents(place)
        opened = Model.open(place)
        save_attention(opened, "learned", Saved(general("cosine", 4, 1 + number)))
        right.append(ask(place))
    assert right[0] != right[1]
    target = shutil.copytree(models[0], tmp_path / "m")
    writer = os.fork()
    if writer == 0:
        code = 1
        try:
            for turn in range(REPLACEMENTS):
                with written_whole(target, replace=True) as work:
                    shutil.copytree(models[1 - turn % 2], work, dirs_exist_ok=True)
            code = 0
        finally:
            os._exit(code)
    seen, ended, status = [0, 0], 0, 0
    try:
        while sum(seen) < QUERIES or not ended:
            seen[right.index(ask(target))] += 1  # any other answer is an error here
            ended, status = (ended, status) if ended else os.waitpid(writer, os.WNOHANG)
    finally:
        if not ended:
            os.kill(writer, signal.SIGKILL)
            os.waitpid(writer, 0)
    assert status == 0
    assert min(seen) > 0
