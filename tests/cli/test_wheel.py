"""The built wheel, installed into an empty environment, has all that the checkout has."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.main import load_command
from tests.conftest import ROOT

pytest.importorskip("hatchling")


def shell(*line: str | Path, cwd: Path) -> str:
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "CTXEMBED_MODEL")}
    done = subprocess.run([*map(str, line)], capture_output=True, text=True, cwd=cwd, env=clean)
    assert done.returncode == 0, f"{line}: {done.stderr}"
    return done.stdout


@pytest.mark.posix
def test_installed_wheel(tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    shell(*pip, "wheel", "--no-deps", "--no-build-isolation", "-w", tmp_path, ROOT, cwd=tmp_path)
    (wheel,) = tmp_path.glob("ctxembed-*.whl")
    assert wheel.stat().st_size < 30_000_000
    shell(sys.executable, "-m", "venv", "--without-pip", "env", cwd=tmp_path)
    python = tmp_path / "env" / "bin" / "python"
    # Its requirements come from here instead of the network; the package itself must not.
    (site,) = (tmp_path / "env" / "lib").glob("python*/site-packages")
    installed = [path for path in sys.path if path.endswith("site-packages")]
    (site / "requirements.pth").write_text("\n".join(installed) + "\n")
    shell(*pip, "--python", python, "install", "--no-deps", wheel, cwd=tmp_path)

    folder = tmp_path / "elsewhere"
    folder.mkdir()
    where = shell(python, "-c", "import ctxembed; print(ctxembed.__file__)", cwd=folder)
    assert where.startswith(str(site))
    assert (site / "ctxembed" / "py.typed").is_file()
    pages = tmp_path / "env" / "share" / "man" / "man1"
    assert {page.name for page in pages.iterdir()} == {
        "ctxembed.1",
        *(f"ctxembed-{name}.1" for name in COMMANDS),
    }
    listed = re.findall(r'^"(corpora/.*?)" =', (ROOT / "pyproject.toml").read_text(), flags=re.M)
    assert len(listed) > 10  # what commands read; the rest of corpora/ builds it
    for name in listed:
        files = [ROOT / name] if (ROOT / name).is_file() else (ROOT / name).rglob("*")
        assert all((site / "ctxembed" / file.relative_to(ROOT)).exists() for file in files), name

    tool = tmp_path / "env" / "bin" / "ctxembed"
    assert shell(tool, "--version", cwd=folder).startswith("ctxembed ")
    every_help = (
        "from click.testing import CliRunner; from ctxembed.cli.main import cli, load_command;"
        "from ctxembed.cli.groups import COMMANDS;"
        "print(sum('Example: ' in CliRunner().invoke(cli, [n, '--help']).stdout for n in COMMANDS))"
    )
    assert shell(python, "-c", every_help, cwd=folder) == f"{len(COMMANDS)}\n"
    (folder / "corpus.txt").write_text("An apple a day keeps the doctor away.\n" * 30)
    shell(tool, "train", "corpus.txt", "--epochs", "1", "-o", "own", cwd=folder)
    assert "apple\tdoctor" in shell(
        tool, "similarity", "apple", "doctor", "--pairs", "-m", "own", cwd=folder
    )
    begun = time.perf_counter()
    bats = "The [bat] flew out of the cave at dusk", "He swung the [bat] at the ball"
    shell(tool, "compare", *bats, cwd=folder)
    assert time.perf_counter() - begun < 2  # half a second on an idle machine
    for name in ("info", "show", "neighbors", "similarity"):
        line = load_command(name).examples[0][1]
        assert shell("sh", "-c", line.replace("ctxembed", str(tool), 1), cwd=folder)
