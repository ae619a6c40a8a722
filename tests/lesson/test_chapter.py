"""The chapters of the course as data."""

import pytest

from ctxembed.errors import UsageError
from ctxembed.lesson.chapter import (
    Page,
    Step,
    count_chapters,
    load_chapter,
    load_chapters,
    parse_chapter,
)

SOURCE = """\
title: Softmax: from scores
in short: It makes weights.
demo: yes
sentence: money [bank] grows
sentence: river [bank] flows
vectors: bank
axis: taste=fruit,sweet
open: steps

First line.
Second line.

$ ctxembed explain "money [bank] grows" --vectors bank
look: One,
 two.

$ ctxembed positions
look: Three.

try: Which
 one?
$ ctxembed positions --dim 2
"""


def test_every_part_of_a_chapter_is_read() -> None:
    chapter = parse_chapter(3, SOURCE)
    assert (chapter.number, chapter.title) == (3, "Softmax: from scores")
    assert chapter.short == "It makes weights."
    assert chapter.text == "First line. Second line."
    first, second = chapter.steps
    assert first.arguments == ["explain", "money [bank] grows", "--vectors", "bank"]
    assert (first.look, second.look) == ("One, two.", "Three.")
    assert chapter.task == Step("positions --dim 2", "Which one?")
    assert chapter.task.line == "ctxembed positions --dim 2"
    assert chapter.in_demo
    assert chapter.page == Page(
        ("money [bank] grows", "river [bank] flows"),
        vectors="bank",
        axes=(("taste", "fruit,sweet"),),
        open="steps",
    )


def test_chapters_are_numbered_in_their_order() -> None:
    chapters = load_chapters()
    assert [chapter.number for chapter in chapters] == sorted({c.number for c in chapters})
    assert len(chapters) == count_chapters()


def test_a_chapter_that_does_not_exist_is_refused() -> None:
    with pytest.raises(UsageError, match="no chapter 99: there are"):
        load_chapter(99)
