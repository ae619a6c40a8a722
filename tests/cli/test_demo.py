"""The demo is the short way through the lesson, and its last sentences are answered rightly.

tests/lesson/test_claims.py reads the claims of its chapters from the output of their commands.
"""

import json
import re
import shlex
from pathlib import Path

from ctxembed.cli.demo import END
from ctxembed.lesson.chapter import count_chapters, load_chapters
from tests.conftest import Run, in_process


def test_the_demo_is_five_chapters_of_the_lesson(run: Run, tmp_path: Path) -> None:
    done = run("demo")
    assert done.returncode == 0, done.stderr
    chosen = [chapter for chapter in load_chapters() if chapter.in_demo]
    assert len(chosen) == 5
    words = " ".join(done.stdout.split())
    at = 0
    for chapter in chosen:
        for part in (chapter.title, chapter.text, *(step.line for step in chapter.steps)):
            at = words.index(" ".join(part.split()), at)
    assert f"All {count_chapters()} chapters" in done.stdout
    assert [*tmp_path.iterdir()] == []  # what commands write is removed


def test_the_sentences_to_type_are_answered_rightly(tmp_path: Path) -> None:
    """What the reader is to type, with the english model: the meaning is the right one."""
    right = [
        {"rodent", "carnivore", "bird", "birds"},
        {"rat", "rats", "mice", "rabbit", "rabbits", "dog"},
    ]
    lines = re.findall(r"\$ ctxembed (.+)", END)
    assert len(lines) == 3
    for line, words in zip(lines, right, strict=False):
        done = in_process(
            [*shlex.split(line), "-f", "json"], "", {"CTXEMBED_MODEL": None}, tmp_path
        )
        assert done.returncode == 0, done.stderr
        rows = {row["representation"]: row for row in json.loads(done.stdout)}
        assert words & set(rows["together"]["like"]), rows["together"]
    done = in_process(shlex.split(lines[2]), "", {"CTXEMBED_MODEL": None}, tmp_path)
    assert done.returncode == 0, done.stderr
    assert "boats" in done.stdout
