"""The commands of docs/linguist.md run, and find what was planted in the invented speeches."""

import csv
import shlex
import shutil
from pathlib import Path

from tests.conftest import ROOT, Run

RIVER = ("river", "boats lie", "fishermen", "path along")


def commands() -> list[str]:
    text = (ROOT / "docs" / "linguist.md").read_text(encoding="utf-8")
    return [line.strip() for line in text.splitlines() if line.startswith("    ctxembed ")]


def label(file: Path) -> None:
    """Write a label into each line, by the words around it, as a person would."""
    with file.open(encoding="utf-8", newline="") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t"))
    for row in rows:
        near = f"{row['left'].rpartition('.')[2]} bank {row['right'].partition('.')[0]}".lower()
        row["label"] = "river" if any(word in near for word in RIVER) else "money"
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), delimiter="\t")
        writer.writeheader()
        writer.writerows(rows)


def test_the_page(run: Run, tmp_path: Path) -> None:
    (tmp_path / "corpora").mkdir()
    shutil.copy(ROOT / "corpora" / "speeches.csv", tmp_path / "corpora")
    outputs = {}
    for line in commands():
        words = shlex.split(line.partition(" >>")[0])[1:]
        done = run(*words, cwd=tmp_path)
        assert done.returncode == 0, (line, done.stderr)
        outputs[line.partition(" >>")[0]] = done
        if words[-1] == "lines.tsv":
            label(tmp_path / "lines.tsv")
    agree = next(done.stderr for line, done in outputs.items() if "--labels" in line)
    assert float(agree.split("κ ")[1].split(";")[0]) > 0.9
    trend = next(
        done.stderr for line, done in outputs.items() if line.endswith("--cluster speaker")
    )
    # planted: 80 points from 1900 to 1998; clusters average over nine years each
    falls = float(trend.split("falls by ")[1].split()[0])
    assert 60 < falls < 90 and "values of speaker permuted" in trend
    assert (tmp_path / "bank.svg").read_text(encoding="utf-8").count('opacity="0.16"') == 2
