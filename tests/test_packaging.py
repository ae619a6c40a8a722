"""The conda recipe has the version and the requirements of the package."""

import re

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
