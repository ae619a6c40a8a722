"""What the page draws: contributions and weights, one rounding, axes of the word's own senses."""

import re
from collections.abc import Iterator
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

import pytest

import ctxembed
from ctxembed.model.bundled import bundled_model
from tests.browser.conftest import Opened, Tab
from tests.browser.test_explore import APPLE, EVERYDAY, settled
from tests.browser.test_report import WriteReport, texts, write_report
from tests.web.served import Served, explore

__all__ = ["write_report"]
LONG = (
    "On a cold morning in autumn the old [bank] by the river lent money to farmers who had lost "
    "their boats again"
)


@pytest.fixture(scope="module")
def served(browser: object) -> Iterator[Served]:
    with explore(EVERYDAY) as server:
        yield server


def show(served: Served, opened: Opened, *sentences: str, width: int = 1280, more: str = "") -> Tab:
    link = "&".join(f"s=%7C{sentence.replace(' ', '+')}" for sentence in sentences)
    tab = opened(f"{served.address}#{link}{more}", width)
    settled(tab)
    return tab


def numbers_of(tab: Tab, word: str, name: str) -> str:
    labels = tab.page.locator(f'.word[aria-label^="{word}"]').first.get_attribute("aria-label")
    found = re.fullmatch(rf"{word}, {name} (-?\d\.\d+)", labels or "")
    assert found, labels
    return found[1]


def test_an_unknown_target_is_said_to_be_unknown(served: Served, opened: Opened) -> None:
    tab = show(served, opened, "The zorgblat sat on the [flibbering]")
    assert "“flibbering” is not in the vocabulary" in texts(tab, "#sentence .error")[0]
    assert tab.page.locator(".arc, .word.target").count() == 0
    assert not tab.page.locator("#meaning").is_visible()  # nothing is said of another word
    tab.page.locator('.word[aria-label^="sat"]').click()
    tab.page.wait_for_selector('.word.target[aria-label^="sat"]')
    settled(tab)
    assert tab.page.locator(".arc").count() > 0 and tab.page.locator("#meaning").is_visible()


@pytest.mark.parametrize("drawn", ["contribution", "weight"])
def test_a_number_is_the_same_everywhere(drawn: str, served: Served, opened: Opened) -> None:
    """In the sentence, in All heads, in What each word is worth, and in the tables."""
    tab = show(served, opened, f"[Apple]{APPLE[5:]}", more=f"&d={drawn}")
    rows = ctxembed.explain(EVERYDAY, f"[Apple]{APPLE[5:]}").records()
    tab.page.locator("#worth .tools").get_by_text("table", exact=True).click()
    names = texts(tab, "#worth .rows th")
    for row in rows:
        if row["weight"] is None:
            continue
        word, expected = str(row["token"]), f"{row[drawn]:.2f}".replace("-0.00", "0.00")
        written = "I" if word == "i" else word
        assert numbers_of(tab, written, drawn) == expected
        tip = next(t for t in texts(tab, "#worth svg title") if t.startswith(f"{word} · {drawn}"))
        squares = [t for t in texts(tab, "#heads svg title") if f" · {word}: " in t]
        cells = next(
            line.locator("td").all_text_contents()
            for line in tab.page.locator("#worth .rows tbody tr").all()
            if line.locator("td").nth(2).inner_text() == word
        )
        whole = {"contribution": "all", "weight": "mean"}[drawn]
        assert tip.split(": ")[1] == expected == cells[names.index(drawn)]
        assert f"{whole} · {word}: {expected}" in squares


def test_steps_open_on_the_head_that_contributes_most(
    served: Served, opened: Opened, write_report: WriteReport
) -> None:
    sentence = f"[Apple]{APPLE[5:]}"
    sums: dict[str, float] = {}
    for row in ctxembed.explain(EVERYDAY, sentence, head="each").records():
        if row["head"] != "own":
            sums[row["head"]] = sums.get(row["head"], 0.0) + row["contribution"]
    best = max(sums, key=lambda head: sums[head])
    tab = show(served, opened, sentence)
    assert texts(tab, "#steps .bar .hint")[0].startswith(f"head {best} of 4, the one that contrib")
    report = opened(write_report(sentence, model=EVERYDAY))
    report.page.wait_for_selector("#steps table")
    assert texts(report, "#steps .bar .hint") == texts(tab, "#steps .bar .hint")
    for one in (tab, report):
        for _ in range(5):
            one.page.get_by_role("button", name="next step").click()
            settled(one)
    assert texts(report, "#steps table") == texts(tab, "#steps table") != []


def test_axes_are_those_of_the_target(served: Served, opened: Opened) -> None:
    tab = show(served, opened, f"[Apple]{APPLE[5:]}")
    apple = texts(tab, "#axes thead th")
    assert {"fruit", "company"} <= set(apple)
    tab.page.get_by_label("sentence 1", exact=True).fill("we sat on the [bank] of the river")
    settled(tab)
    bank = texts(tab, "#axes thead th")
    assert {"river", "money"} <= set(bank) and not {"fruit", "company"} & set(bank)
    tab.page.get_by_label("words of axis 1").fill("loan, interest")
    settled(tab)
    tab.page.locator('[data-sentence="0"] [data-key="word-1"]').click()  # sat
    settled(tab)
    assert tab.page.get_by_label("words of axis 1").input_value() == "loan, interest"  # typed: kept
    tab.page.get_by_role("button", name="axes of the word's senses").click()
    settled(tab)
    assert "one sense here" in texts(tab, "#axes .hint")[-1]


def test_two_sentences_side_by_side(served: Served, opened: Opened) -> None:
    both = ("money [bank] grows", "the river [bank] flows over")
    for width, beside in ((1600, True), (700, False)):
        tab = show(served, opened, *both, width=width)
        first, second = (
            tab.page.locator(f'[data-sentence="{i}"] svg.words').bounding_box() for i in (0, 1)
        )
        assert first and second
        assert (abs(first["y"] - second["y"]) < 40) is beside
        assert (first["x"] + first["width"] <= second["x"]) is beside


def test_twenty_two_words_on_one_line(served: Served, opened: Opened) -> None:
    tab = show(served, opened, LONG, width=1600)
    boxes = [box.bounding_box() for box in tab.page.locator(".words .word .box").all()]
    tops = [box["y"] for box in boxes if box]
    assert len(tops) == 22 and max(tops) - min(tops) < 2
    assert max(box["x"] + box["width"] for box in boxes if box) < 1580


def test_a_phone_shows_labels_and_steps_whole(served: Served, opened: Opened) -> None:
    tab = show(served, opened, LONG, width=390, more="&n=3")
    for step in (3, 4, 5):
        tab.page.locator(f'[data-key="part-{step}"]').first.click()
        settled(tab)
        sizes = tab.page.locator("#steps .scroll").evaluate("e => [e.scrollWidth, e.clientWidth]")
        assert sizes[0] <= sizes[1], step
    written = "all => all.map((e) => e.lastChild.textContent)"
    labels = tab.page.locator("#heads .picture > text").evaluate_all(written)
    assert {"all", "head 1", "head 4", "river", "boats"} <= set(labels)
    words = tab.page.locator("#heads .picture > text[text-anchor=end]").all()
    boxes = [word.bounding_box() for word in words]
    tops = sorted(box["y"] for box in boxes if box)
    assert all(b - a > 10 for a, b in pairwise(tops))  # none over another


def test_a_saved_picture_has_a_margin(served: Served, opened: Opened, tmp_path: Path) -> None:
    tab = show(served, opened, f"[Apple]{APPLE[5:]}")
    with tab.page.expect_download() as download:
        tab.page.locator("#sentence .tools").get_by_text("SVG", exact=True).click()
    download.value.save_as(tmp_path / "s.svg")
    box = re.search(r'viewBox="(\S+) (\S+) (\S+) (\S+)"', (tmp_path / "s.svg").read_text())
    size = "e => [e.viewBox.baseVal.width, e.viewBox.baseVal.height]"
    shown = tab.page.locator("svg.words").evaluate(size)
    assert box
    x, y, width, height = map(float, box.groups())
    assert (x, y) == (-20, -20) and width == pytest.approx(shown[0] + 40)
    assert height == pytest.approx(shown[1] + 40 + 22)  # and a line that says what is drawn
    assert "contribution: how much of the vector comes from a word" in (
        tmp_path / "s.svg"
    ).read_text(encoding="utf-8")
    with tab.page.expect_download() as download:
        tab.page.locator("#sentence .tools").get_by_text("PNG", exact=True).click()
    download.value.save_as(tmp_path / "s.png")
    header = (tmp_path / "s.png").read_bytes()[16:24]  # width and height, four bytes each
    pixels = int.from_bytes(header[:4], "big"), int.from_bytes(header[4:], "big")
    assert pixels == pytest.approx((2 * width, 2 * height), abs=1)


def overlap(one: Any, other: Any) -> bool:
    """Tell whether two boxes have a point in common."""
    return all(
        one[start] < other[start] + other[size] and other[start] < one[start] + one[size]
        for start, size in (("x", "width"), ("y", "height"))
    )


def test_the_map_of_a_model_without_its_corpus(opened: Opened) -> None:
    """It promises no occurrences, its labels do not overlap, and other words have no map."""
    with explore(bundled_model("english")) as english:
        tab = show(english, opened, "money [bank] grows", "the river [bank] flows over")
        assert "occurrence" not in texts(tab, "#map")[0]
        tab.page.locator('[data-key="open-map"]').click()
        tab.page.wait_for_selector("#map .here")
        settled(tab)
        labels = tab.page.locator("#map svg.map text, #map .map-box text").all()
        boxes = [label.bounding_box() for label in labels]
        assert len(boxes) == 4  # two senses, two sentences
        assert not any(overlap(a, b) for a, b in combinations(boxes, 2))
        tab.page.get_by_label("sentence 1", exact=True).fill("the [zebra] ran")
        settled(tab)
        assert not tab.page.locator("#map").is_visible()
