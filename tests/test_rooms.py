"""The import order of the packages: each imports only from those above it."""

import ast
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.conftest import ROOT

ROOMS = (
    "stats", "storage", "text", "static", "attention", "model", "context", "word_senses",
    "explanation", "queries", "evaluation", "training", "lesson", "integrations", "output", "web",
    "cli",
)  # fmt: skip
FOR_ALL = ("errors", "table", "progress")  # import nothing of ctxembed but each other
GENSIM = "ctxembed.static.gensim_engine"  # the only module that imports gensim
BY_NAME = ("ctxembed", "ctxembed.cli.main")  # import modules by names in a table

Graph = dict[str, set[str]]


def find_modules(package: Path) -> dict[str, Path]:
    """Return the modules of a package with their files."""
    files = {
        path.relative_to(package.parent).with_suffix(""): path for path in package.rglob("*.py")
    }
    return {".".join(name.parts).removesuffix(".__init__"): path for name, path in files.items()}


def imports(package: Path) -> Graph:
    """Return what each module imports, wherever in it: in functions and for types alone too."""
    modules = find_modules(package)
    return {name: set(_imported(name, path, modules)) for name, path in modules.items()}


def _imported(name: str, path: Path, modules: dict[str, Path]) -> Iterator[str]:
    here = (name if path.name == "__init__.py" else name.rpartition(".")[0]).split(".")
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = here[: len(here) + 1 - node.level] if node.level else []
            base = ".".join([*above, *([node.module] if node.module else [])])
            for alias in node.names:
                inside = f"{base}.{alias.name}"
                lazy = base == "ctxembed" and alias.name not in ("__version__", "look_up")
                yield inside if inside in modules or lazy else base
        elif isinstance(node, ast.Call) and name not in BY_NAME:
            called = getattr(node.func, "id", None) or getattr(node.func, "attr", None)
            if called in ("import_module", "__import__"):
                argument = node.args[0] if node.args else None
                yield str(argument.value) if isinstance(argument, ast.Constant) else "?"


def find_faults(graph: Graph) -> list[str]:
    """Name every import that goes down, cannot be followed, or is gensim's, and one cycle."""
    faults = []
    for module, imported in sorted(graph.items()):
        for other in sorted(imported):
            arrow = f"{module} imports {other}"
            if other.split(".")[0] == "gensim" and module != GENSIM:
                faults.append(arrow)
            elif other == "?" or (other.split(".")[0] == "ctxembed" and other not in graph):
                faults.append(f"{arrow}, which is no module")
            elif other in graph and _height(other) > _height(module):
                faults.append(f"{arrow}, from a lower room")
    try:
        TopologicalSorter({m: imported & set(graph) for m, imported in graph.items()}).prepare()
    except CycleError as error:
        faults.append(f"a cycle: {' <- '.join(error.args[1])}")
    return faults


def _height(module: str) -> int:
    """Return how far down a module lies; what every room may use lies on top of all."""
    _, _, inside = module.partition(".")
    room = inside.split(".")[0]
    if room in ("", *FOR_ALL):
        return -1
    return ROOMS.index("cli" if room == "__main__" else room)


def test_rooms() -> None:
    graph = imports(ROOT / "ctxembed")
    assert {module.split(".")[1] for module in graph if "." in module} == {
        *ROOMS,
        *FOR_ALL,
        "__main__",
    }
    assert sum(map(len, graph.values())) > 500  # it sees them
    assert find_faults(graph) == []


TREE = {
    "__init__.py": "",
    "errors.py": "import os",
    "table.py": "from ctxembed.errors import Error",
    "text/__init__.py": "",
    "text/tokenizer.py": "from ctxembed import errors",
    "text/lines.py": "from .tokenizer import split\nfrom .. import table\nfrom . import tokenizer",
    "static/gensim_engine.py": "def train():\n    import gensim.models",
    "queries/show.py": "from ctxembed.text import lines\nfrom ctxembed import __version__",
}


# a file | its text | the fault
FAULTS = r"""
cli/main.py | import ctxembed.queries.show | none
text/up.py | from ctxembed.queries.show import x | ctxembed.queries.show, from a lower room
text/up.py | def f():\n  from ..queries import show | ctxembed.queries.show, from a lower
text/up.py | if TYPE_CHECKING:\n  from ctxembed.queries import show | from a lower room
text/up.py | import_module('ctxembed.queries.show') | from a lower room
text/up.py | importlib.import_module(name) | ?, which is no module
text/up.py | from ctxembed import show | ctxembed.show, which is no module
progress.py | import ctxembed.text.tokenizer | ctxembed.text.tokenizer, from a lower room
errors.py | def f():\n  from ctxembed import table | a cycle: ctxembed.
text/tokenizer.py | def f():\n  from . import lines | a cycle: ctxembed.text.
static/space.py | def f():\n  from gensim.models import KeyedVectors | gensim.models
static/space.py | __import__('gensim') | ctxembed.static.space imports gensim
"""


@pytest.mark.parametrize("row", FAULTS.strip().splitlines())
def test_the_checker_finds_what_it_should(row: str, tmp_path: Path) -> None:
    file, text, fault = row.split(" | ")
    for name, content in (TREE | {file: text.replace("\\n", "\n")}).items():
        path = tmp_path / "ctxembed" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    faults = find_faults(imports(tmp_path / "ctxembed"))
    assert len(faults) == (fault != "none")
    assert fault.replace("none", "") in "".join(faults)
