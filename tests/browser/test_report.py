"""The page as a file, in a real browser."""

import base64
import gzip
import json
import random
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ctxembed
from ctxembed.model.bundled import bundled_model
from tests.browser.conftest import Opened, Tab
from tests.conftest import ROOT, TEXT, in_process, write_tiny

SENTENCE = "[Apple] launched the phone , the orange juice"
HOSTILE = (
    "</script><script>window.hacked=1</script>",
    "<img src=x onerror=window.hacked=1>",
    '"><svg onload=window.hacked=1>',
    "javascript:window.hacked=1//<!--<script>",
    "{{script}} ]]> \u2028\u202e\x07 &lt;b&gt;",
    "'+(window.hacked=1)+' ${window.hacked=1} __proto__",
)
WriteReport = Callable[..., str]


@pytest.fixture
def write_report(tmp_path: Path, often: Path) -> WriteReport:
    """Write a report; return its address."""

    def write(*arguments: str, model: Path = often) -> str:
        file = tmp_path / "report.html"
        done = in_process(
            ["explore", *arguments, "-o", str(file)], "", {"CTXEMBED_MODEL": str(model)}, tmp_path
        )
        assert done.returncode == 0, done.stderr
        return file.as_uri()

    return write


def texts(tab: Tab, selector: str) -> list[str]:
    result: list[str] = tab.page.locator(selector).all_text_contents()
    return result


def arcs(tab: Tab) -> dict[str, float]:
    """Return the width of each arc by its weight."""
    return {
        arc.get_attribute("data-value") or "": float(arc.get_attribute("stroke-width") or 0)
        for arc in tab.page.locator(".arc").all()
    }


def test_words_arcs_and_heads(write_report: WriteReport, opened: Opened, often: Path) -> None:
    address = write_report(SENTENCE, "--axis", "taste=juice,sweet", "--axis", "technology=phone")
    tab = opened(address)
    tab.page.wait_for_selector(".arc")
    assert tab.requested() == [address]  # the file itself, and nothing else ever
    mean = ctxembed.explain(often, SENTENCE).records()
    for drawn in ("contribution", "weight"):
        tab.page.locator(f'[data-key="draw-{drawn}"]').click()
        tab.page.wait_for_selector(f'[data-key="draw-{drawn}"][aria-pressed="true"]')
        numbers = [row[drawn] for row in mean if row[drawn]]
        assert sorted(map(float, arcs(tab))) == pytest.approx(sorted(numbers), abs=2e-5)
        for number, width in arcs(tab).items():
            assert width == pytest.approx(max(0.5, 16 * abs(float(number))), abs=0.01)
    assert tab.page.locator(".word.target").get_attribute("aria-label", timeout=0) == (
        "Apple, the target"
    )
    # one head
    tab.page.get_by_role("button", name="2", exact=True).click()
    tab.page.wait_for_selector('[data-key="head-2"][aria-pressed="true"]')
    second = [r["weight"] for r in ctxembed.explain(often, SENTENCE, head="2").records()]
    shown = sorted(float(weight) for weight in arcs(tab))
    assert shown == pytest.approx(sorted(w for w in second if w), abs=2e-5)
    # static beside contextual, as the command prints it
    for row in ctxembed.compare(
        often, SENTENCE, axes={"taste": ["juice", "sweet"], "technology": ["phone"]}
    ).records():
        cell = f'[data-representation="{row["representation"]}"] [data-axis="technology"]'
        assert texts(tab, cell) == [f"{row['technology']:.2f}"]


def test_each_sentence_has_its_definition(write_report: WriteReport, opened: Opened) -> None:
    sentences = ("They moored the boat to the river [bank]", "She put money in the [bank]")
    tab = opened(write_report(*sentences, model=bundled_model("english")))
    tab.page.wait_for_selector(".definition p")
    assert texts(tab, '[data-definition="0"] p')[0].startswith("bank here: sloping land")
    first = ctxembed.compare("english", sentences[0])
    assert (
        first.lead
        and texts(tab, '[data-definition="0"] p')[0].split(": ", 1)[1]
        == (next(iter(first.lead())).split(": ", 1)[1])
    )


def test_hover_click_and_keyboard(write_report: WriteReport, opened: Opened) -> None:
    tab = opened(write_report(SENTENCE))
    tab.page.wait_for_selector(".arc")
    before = arcs(tab)
    word = tab.page.locator('.word[aria-label^="phone"]').first
    word.hover()
    tab.page.wait_for_selector('.word.target[aria-label^="phone"]')
    assert arcs(tab) != before
    tab.page.mouse.move(2, 2)
    tab.page.wait_for_selector('.word.target[aria-label^="Apple"]')
    assert arcs(tab) == before
    word.click()
    tab.page.wait_for_selector('[data-key="word-3"][aria-pressed="true"]')
    tab.page.mouse.move(2, 2)
    tab.page.locator('[data-key="word-3"]').first.focus()
    tab.page.keyboard.press("ArrowLeft")
    tab.page.keyboard.press("ArrowLeft")
    assert tab.page.evaluate("document.activeElement.dataset.key") == "word-1"
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector('[data-key="word-1"][aria-pressed="true"]')
    assert tab.page.evaluate("document.activeElement.dataset.key") == "word-1"  # not lost


def test_the_map(write_report: WriteReport, opened: Opened) -> None:
    tab = opened(write_report(SENTENCE))
    tab.page.wait_for_selector("#map svg [data-sense]")
    tab.page.locator("#map .map-box svg").scroll_into_view_if_needed()
    where = tab.page.locator("#map .here circle").first.bounding_box()
    assert where
    points = tab.page.evaluate("document.querySelector('#map path[data-sense]').getAttribute('d')")
    x, y = re.match(r"M([\d.]+),([\d.]+)", points).groups()  # type: ignore[union-attr]
    box = tab.page.locator("#map .map-box svg").bounding_box()
    assert box
    at = box["x"] + float(x) + 3, box["y"] + float(y)
    tab.page.mouse.move(*at)
    tip = tab.page.locator("#map .tip").inner_text()
    assert "[apple]" in tip
    tab.page.mouse.click(*at)
    tab.page.wait_for_selector("#map .near li")
    near = texts(tab, "#map .near li")
    assert len(near) == 12 and all("[apple]" in text for text in near)
    tab.page.get_by_label("search the occurrences").fill("launched")
    tab.page.wait_for_selector("#map [role=status]")
    assert re.fullmatch(r"15 of 45", texts(tab, "#map [role=status]")[0])
    tab.page.get_by_role("button", name="zoom in").click()
    first = tab.page.locator('#map [data-key="sense-1"]')
    first.click()
    tab.page.wait_for_selector('#map [data-key="sense-1"][aria-pressed="false"]')
    assert not tab.page.locator('#map path[data-sense="1"]').first.get_attribute("d")
    assert any("of the variance" in note for note in texts(tab, "#map .notes li"))


def test_downloads(write_report: WriteReport, opened: Opened, tmp_path: Path, often: Path) -> None:
    tab = opened(write_report(SENTENCE))
    tab.page.wait_for_selector("#alike svg")
    for card in ("sentence", "axes", "heads", "worth", "map", "alike"):
        if card == "axes":
            continue  # no axis was asked for
        for kind in ("SVG", "PNG", "TSV"):
            with tab.page.expect_download() as download:
                tab.page.locator(f"#{card} .tools").get_by_text(kind, exact=True).click()
            file = tmp_path / download.value.suggested_filename
            download.value.save_as(file)
            assert file.name == f"{card}.{kind.lower()}"
            if kind == "PNG":
                assert file.read_bytes().startswith(b"\x89PNG") and file.stat().st_size > 2000
            elif kind == "SVG":
                from xml.dom.minidom import parseString

                drawn = parseString(file.read_text(encoding="utf-8"))
                assert drawn.documentElement and drawn.documentElement.tagName == "svg"
                assert "var(" not in file.read_text() and "<script" not in file.read_text()
    lines = (tmp_path / "sentence.tsv").read_text().splitlines()
    table = ctxembed.explain(often, SENTENCE, head="each")
    assert lines[0].split("\t") == table.names
    assert len(lines) == 1 + len(table.records())
    tab.page.locator("#sentence .tools").get_by_text("table", exact=True).click()
    assert len(texts(tab, "#sentence .rows tbody tr")) == len(lines) - 1


def test_light_and_dark_and_narrow(write_report: WriteReport, opened: Opened) -> None:
    address = write_report(SENTENCE, "--axis", "taste=juice", "--axis", "technology=phone")
    papers = {}
    for scheme in ("light", "dark"):
        for width in (1280, 400):
            tab = opened(address, width, color_scheme=scheme)
            tab.page.wait_for_selector("#alike svg")
            assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
            paper = "getComputedStyle(document.body).backgroundColor"
            papers[scheme] = tab.page.evaluate(paper)
    assert papers["light"] != papers["dark"]
    tab.page.get_by_role("button", name="light or dark").click()
    assert tab.page.evaluate(paper) == papers["light"]
    tab.page.emulate_media(media="print")
    assert not tab.page.locator(".tools").first.is_visible()


def test_from_right_to_left(write_report: WriteReport, opened: Opened, tmp_path: Path) -> None:
    words = ["یہ", "سیب", "میٹھا", "ہے"]
    folder = tmp_path / "urdu"
    ctxembed.import_(str(vectors(tmp_path, words)), folder)
    tab = opened(write_report("یہ [سیب] میٹھا ہے", model=folder))
    tab.page.wait_for_selector(".arc")
    middles = []
    for word in words:
        box = tab.page.locator(f'.word[aria-label^="{word}"] .box').bounding_box()
        assert box
        middles.append(box["x"])
    assert middles == sorted(middles, reverse=True)  # the first word stands at the right
    heads = [t for t in texts(tab, "#heads .picture > text") if t in words]  # and so do its heads
    assert heads == words[::-1]


def vectors(folder: Path, words: list[str]) -> Path:
    rng = np.random.default_rng(1)
    lines = [f"{word} {' '.join(f'{n:.3f}' for n in rng.normal(size=5))}" for word in words]
    (folder / "v.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder / "v.txt"


def test_five_thousand_points_stay_below_a_megabyte(
    write_report: WriteReport, opened: Opened, tmp_path: Path
) -> None:
    chance = random.Random(1)
    letters = "abcdefghijklmnopqrstuvwxyz"
    some = ["".join(chance.choices(letters, k=chance.randint(3, 11))) for _ in range(300)]

    def line(word: str) -> str:
        return " ".join([*chance.choices(some, k=7), "apple", word, *chance.choices(some, k=7)])

    text = [line(chance.choice(("juice", "sweet", "phone", "launched"))) for _ in range(6000)]
    folder = write_tiny(tmp_path / "many", [*text, "the orange bank", "money river"])
    address = write_report("the sweet [apple] juice", model=folder)
    size = (tmp_path / "report.html").stat().st_size
    assert size < 1_000_000
    tab = opened(address)
    tab.page.wait_for_selector("#map svg [data-sense]")
    packed = tab.page.evaluate("document.getElementById('data').textContent")
    data = json.loads(gzip.decompress(base64.b64decode(packed)))
    (points,) = [item for item in data["answers"] if item["question"] == "map"]
    assert len(points["rows"]) == 5000
    assert any("5000 of 6000" in note for note in texts(tab, "#map .notes li"))


def test_a_long_sentence_stays_below_a_megabyte(
    write_report: WriteReport, opened: Opened, tmp_path: Path
) -> None:
    """Words for which there is no room cannot be clicked, and the page says so."""
    whole = ctxembed.open("everyday").path
    said = [line for line in (ROOT / "corpora" / "everyday.txt").read_text().splitlines() if line]
    words = " ".join(said[::97]).replace("apple", "pear").split()[:80]
    address = write_report(f"the [apple] {' '.join(words)}", model=whole)
    assert (tmp_path / "report.html").stat().st_size < 1_000_000
    tab = opened(address)
    tab.page.wait_for_selector("#map svg [data-sense]")
    assert any(re.match(r"\d+ words cannot be clicked", line) for line in texts(tab, "footer div"))
    assert not any("points are drawn" in note for note in texts(tab, "#map .notes li"))
    buttons = tab.page.locator(".sentence .word[role=button]")
    assert 1 < buttons.count() < 40
    tab.page.locator(".sentence .word:not([role=button])").last.click()
    buttons.last.click()
    tab.page.wait_for_selector('.sentence .word.target[aria-pressed="true"]')
    assert tab.page.locator(".arc").count() > 10 and "no word" not in texts(tab, "#sentence")[0]
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 1280


@pytest.mark.parametrize("text", HOSTILE)
def test_text_never_becomes_markup(
    text: str, write_report: WriteReport, opened: Opened, tmp_path: Path
) -> None:
    line = re.sub(r"[\[\]\s]+", " ", text)
    folder = write_tiny(tmp_path / "m", [f"the apple {line} juice", *TEXT] * 30)
    sentence = f"the [apple] {text.replace('[', '').replace(']', '')} juice"
    tab = opened(write_report(sentence, "--axis", f"{text.replace('=', ' ')}=juice", model=folder))
    tab.page.wait_for_selector("#map svg [data-sense]")
    for card in ("sentence", "map"):
        tab.page.locator(f"#{card} .tools").get_by_text("table", exact=True).click()
    assert tab.page.locator("main script, main img, main iframe").count() == 0
    with tab.page.expect_download() as download:
        tab.page.locator("#sentence .tools").get_by_text("SVG", exact=True).click()
    download.value.save_as(tmp_path / "s.svg")
    alone = opened((tmp_path / "s.svg").as_uri())
    assert alone.page.evaluate("document.documentElement.tagName") == "svg"
