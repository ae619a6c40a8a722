"""Where words occur, as a picture."""

import re
from pathlib import Path

from tests.conftest import Run


def test_kwic_draws_where_words_occur(run: Run, tmp_path: Path) -> None:
    lines = ["the apple juice"] * 10 + ["the bank money"] * 10  # 60 words: 3 in each part
    (tmp_path / "t.txt").write_text("\n".join(lines) + "\n")
    train = ["train", "t.txt", "-o", "m", "--static-only", "--dim", "2", "--min-count", "1"]
    assert run(*train).returncode == 0
    done = run("kwic", "apple", "the", "money|bank", "-m", "m", "-f", "chart")
    assert done.returncode == 0
    lines_of = {line.split()[0]: re.findall(r"\d", line) for line in done.stdout.splitlines()[2:]}
    assert lines_of == {
        "apple": ["1"] * 10 + ["0"] * 10,
        "the": ["1"] * 20,
        "money|bank": ["0"] * 10 + ["2"] * 10,
    }
