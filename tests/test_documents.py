"""ARCHITECTURE.md and CONTRIBUTING.md name files and functions that are there."""

import re
import textwrap

import pytest

import ctxembed
from tests.conftest import ROOT

DOCUMENTS = ("ARCHITECTURE.md", "CONTRIBUTING.md")


def sources() -> dict[str, str]:
    """Return the text of every file that a document may name, by each end of its path."""
    by_file: dict[str, str] = {}
    for path in [
        *ROOT.glob("ctxembed/**/*.py"),
        *ROOT.glob("ctxembed/cli/help/*.txt"),
        *ROOT.glob("tests/**/*.*"),
        *ROOT.glob("*.md"),
        *ROOT.glob("docs/*.md"),
        *ROOT.glob("packaging/*.py"),
    ]:
        if "__pycache__" not in path.parts:
            parts = path.relative_to(ROOT).parts
            for first in range(len(parts)):
                by_file["/".join(parts[first:])] = path.read_text(encoding="utf-8")
    return by_file


@pytest.mark.parametrize("name", DOCUMENTS)
def test_what_is_named_is_there(name: str) -> None:
    text, there = (ROOT / name).read_text(), sources()
    named = set(re.findall(r"[\w./]+\.(?:py|md|txt|tsv)\b", text))
    made_up = {
        n for n in named if re.search(r"NAME|\bcorpus\.txt|(?<!\w)(queries|cli)/(test_)?norm", n)
    }
    assert len(named - made_up) > 10
    assert sorted(named - made_up - set(there)) == []
    for file, thing in re.findall(r"`([\w/]+\.py)`\s+`([\w.]+)`", text):
        last = thing.rpartition(".")[2]
        assert re.search(rf"\b(def|class) {last}\b|^{last}\b", there[file], re.M), (file, thing)


def test_the_readme_links_to_the_documents() -> None:
    readme = (ROOT / "README.md").read_text()
    assert all(name in readme for name in DOCUMENTS)


def test_each_test_that_a_promise_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)(?:\.py)?`", (ROOT / "SECURITY.md").read_text()))
    files = list((ROOT / "tests").rglob("test_*.py"))
    defined = {name for file in files for name in re.findall(r"def (test_\w+)", file.read_text())}
    assert named - defined - {file.stem for file in files} == set()
    assert len(named) > 8


def test_each_promise_names_a_test() -> None:
    text = (ROOT / "SECURITY.md").read_text()
    promises = text.partition("## What is promised")[2].partition("## ")[0].split("\n- **")[1:]
    assert len(promises) > 8
    for promise in promises:
        assert re.search(r"`(tests/\w+/)?test_\w+(\.py)?`", promise), promise[:60]


def test_the_names_that_are_stable_are_there() -> None:
    """The example of docs/PYTHON.md runs, and each name of ctxembed or a model in it exists."""
    text = (ROOT / "docs" / "PYTHON.md").read_text()
    code = re.search(r"(?m)(?:^    .*\n|^\n)+(?=\nA model)", text)
    assert code is not None
    exec(textwrap.dedent(code[0]), {})
    named = re.findall(r"\bctxembed\.([a-z_]+)\(", text)
    assert len(named) > 1 and all(hasattr(ctxembed, name) for name in named)
    calls = re.findall(r"`model\.([a-z_]+)\(", text)
    assert len(calls) > 2 and all(hasattr(ctxembed.Model, name) for name in calls)
    errors = set(re.findall(r"`(\w+Error)`", text))
    assert errors <= set(ctxembed.__all__) and len(errors) == 5
