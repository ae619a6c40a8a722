"""The engine that is chosen, and the settings it gets by default."""

import sys

import pytest

from ctxembed.errors import UsageError
from ctxembed.static import engine, gensim_engine, own_engine
from tests.conftest import Run, mentions


def test_the_own_engine_is_the_default_with_numba() -> None:
    assert engine.choose("auto", False) == ("own", own_engine.train, None)
    assert engine.choose("auto", True) == ("gensim", gensim_engine.train, None)
    assert engine.choose("gensim", False) == ("gensim", gensim_engine.train, None)
    with pytest.raises(UsageError, match="hierarchical-softmax"):
        engine.choose("own", True)


def test_options_given_are_kept() -> None:
    assert engine.fit_settings(5, hierarchical_softmax=True).negative == 0
    assert engine.fit_settings(5, dim=7, epochs=None).dim == 7
    assert engine.fit_settings(5, sample=0.0, window=3).sample == 0
    assert engine.fit_settings(5, workers=3).workers == 3


def test_without_gensim_the_extra_is_named(monkeypatch: pytest.MonkeyPatch, run: Run) -> None:
    monkeypatch.setitem(sys.modules, "gensim", None)  # as on Python 3.14, where it has no wheel
    assert engine.choose("auto", False)[0] == "own"
    with pytest.raises(UsageError, match=r"pip install 'ctxembed\[gensim\]'"):
        engine.choose("gensim", False)
    done = run("export", "vectors.kv")
    assert (done.returncode, mentions(done.stderr, "gensim missing")) == (2, True)
    assert run("export", "vectors.txt").returncode == 0
