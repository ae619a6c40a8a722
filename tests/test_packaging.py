"""The conda recipe has the version and the requirements of the package; an index has its README."""

import re

import pytest

import ctxembed
from tests.conftest import ROOT

RECIPE = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")


def test_the_version() -> None:
    assert re.findall(r'set version = "(.*?)"', RECIPE) == [ctxembed.__version__]


def test_the_requirements() -> None:
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    (block,) = re.findall(r"^dependencies = \[\n(.*?)^\]", project, flags=re.M | re.S)
    wanted = dict(re.findall(r'"([\w-]+)(?:\[\w+\])?(>=[\d.]+)', block))
    run = RECIPE.partition("  run:")[2].partition("test:")[0]
    listed = dict(re.findall(r"- ([\w-]+) (>=[\d.]+)", run))
    assert f'requires-python = "{listed.pop("python")}"' in project
    assert listed == wanted
    assert len(wanted) == 10


def test_the_readme_of_a_package_index_has_whole_addresses() -> None:
    core = pytest.importorskip("hatchling.metadata.core")
    manager = pytest.importorskip("hatchling.plugin.manager").PluginManager()
    text = core.ProjectMetadata(str(ROOT), manager).core.readme
    targets = re.findall(r"\]\((.*?)\)", text)
    assert len(targets) > 15
    assert all(target.startswith(("https://", "#")) for target in targets)
    start = "https://github.com/ctxembed/ctxembed/"
    files = [re.sub(r"#.*", "", target) for target in targets if target.startswith(start)]
    assert all((ROOT / re.sub(r".*?/main/", "", file)).exists() for file in files)
    assert f"{start}raw/main/docs/apple.svg" in targets
