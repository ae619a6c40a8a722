"""explore in a real browser: type, click, drag, and see it change."""

import math
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

import ctxembed
from ctxembed.model.bundled import bundled_model
from tests.browser.conftest import FLAGS, Opened, Tab, find_chromium
from tests.browser.test_report import HOSTILE, texts
from tests.conftest import ROOT, Run
from tests.web.served import Held, Served, explore, is_running

EVERYDAY = bundled_model("everyday")
APPLE = "Apple launched a new phone while I was eating an orange"
# Who made or sold computers and phones in the years that the encyclopaedia tells of.
MAKERS = re.compile(
    "amd|amiga|android|aol|atari|cisco|commodore|compaq|dell|ericsson|google|hp|ibm|intel|lg|"
    "microsoft|motorola|nintendo|nokia|oracle|palm|panasonic|philips|samsung|sega|siemens|sony|"
    "toshiba|verizon|xerox|yahoo"
)
FOOD = re.compile(".*(fruit|orange|pear|berry|pie|juice|cherry|banana|tree|tea|honey|sweet).*")


@pytest.fixture(scope="module")
def served(browser: object) -> Iterator[Served]:
    with explore(EVERYDAY) as server:
        yield server


@pytest.fixture(scope="module")
def english(browser: object) -> Iterator[Served]:
    with explore(bundled_model("english")) as server:
        yield server


def test_a_definition_changes_with_its_sentence(english: Served, opened: Opened) -> None:
    """Type, choose another word, take one away, add a sentence: each has its own definition."""
    tab = start(english, opened, "They moored the boat to the river [bank]")
    (first,) = texts(tab, ".definition p")
    assert first.startswith("bank here: sloping land")
    tab.page.locator('[data-key="word-6"]').first.focus()
    tab.page.keyboard.press("Delete")
    settled(tab)
    assert texts(tab, ".definition p")[0] != first  # at least how sure it is
    tab.page.get_by_label("sentence 1", exact=True).fill("She put money in the [bank]")
    settled(tab)
    assert texts(tab, ".definition p")[0].startswith("bank here: a financial institution")
    tab.page.get_by_role("button", name="+ another sentence").click()
    tab.page.get_by_label("sentence 2", exact=True).fill("They swam to the [bank] of the river")
    settled(tab)
    both = [texts(tab, f'[data-definition="{i}"] p')[0] for i in (0, 1)]
    assert "financial" in both[0] and both[1].startswith("bank here: sloping land")
    tab.page.get_by_label("attention").select_option("general")
    settled(tab)
    assert texts(tab, '[data-definition="1"] p')[0].startswith("bank here: ")
    tab.page.locator('[data-sentence="0"] [data-key="word-2"]').first.click()
    settled(tab)
    assert texts(tab, '[data-definition="0"] p')[0].startswith("money here: ")


def number(tab: Tab, representation: str, axis: str) -> float:
    """Return the cosine with all its digits: the tip has them."""
    cell = f'[data-representation="{representation}"] [data-axis="{axis}"] span'
    return float(tab.page.locator(cell).first.get_attribute("title") or "")


AXES = {"taste": ["fruit", "sweet", "juice"], "technology": ["phone", "company", "software"]}
WITH_AXES = "#" + urlencode(
    [("s", f"|[Apple]{APPLE[5:]}"), *(("axis", f"{a}={', '.join(w)}") for a, w in AXES.items())]
)


def start(served: Served, opened: Opened, text: str = "", width: int = 1280) -> Tab:
    tab = opened(served.address + WITH_AXES, width)
    tab.page.wait_for_selector(".arc")
    if text:
        tab.page.get_by_label("sentence 1", exact=True).fill(text)
    settled(tab)
    return tab


def settled(tab: Tab) -> None:
    tab.page.wait_for_timeout(600)  # longer than the page waits for another key
    tab.page.wait_for_selector('main[aria-busy="false"]')


def change(tab: Tab, removed: int, second: str) -> None:
    """Choose general attention at temperature 3.5, remove a word and write a second sentence."""
    tab.page.get_by_label("attention").select_option("general")
    tab.page.get_by_label("temperature", exact=True).fill("3.5")
    tab.page.locator(f'[data-key="word-{removed}"]').first.focus()
    tab.page.keyboard.press("Delete")
    tab.page.get_by_role("button", name="+ another sentence").click()
    tab.page.get_by_label("sentence 2", exact=True).fill(second)


def test_type_the_apple_sentence(english: Served, opened: Opened) -> None:
    tab = opened(english.address + WITH_AXES)
    box = tab.page.get_by_label("sentence 1", exact=True)
    box.fill("")
    box.press_sequentially(APPLE, delay=15)  # as a person types
    tab.page.wait_for_selector('.sentence .word[aria-label^="orange"]')
    settled(tab)
    assert box.input_value() == APPLE  # nothing that was typed is lost
    assert number(tab, "learned", "technology") > number(tab, "learned", "taste")
    like = texts(tab, "#meaning .like")[0].split(", ")
    table = ctxembed.compare(bundled_model("english"), f"[Apple]{APPLE[5:]}", number=4).records()
    (result,) = [row["like"] for row in table if row["representation"] == "together"]
    assert like == result  # in the command's order
    makers = [bool(MAKERS.fullmatch(word)) for word in like]  # who could launch a phone
    assert makers[0] and sum(makers) >= 3, like
    assert not any(map(FOOD.fullmatch, like)), like
    assert "launched" in texts(tab, "#meaning .because")[0]
    seen = re.search(r"is like (\w+) and (\w+)", (ROOT / "docs" / "examples.md").read_text("utf-8"))
    assert seen and set(seen.groups()) <= set(like)  # what a teacher is told to see


def test_the_sense_of_the_sentence(english: Served, opened: Opened) -> None:
    """The page defines the word as compare does, and shows its place among the saved senses."""
    tab = start(english, opened)
    for text in (f"[Apple]{APPLE[5:]}", "She ate an [apple] and a pear with honey"):
        tab.page.get_by_label("sentence 1", exact=True).fill(text)
        settled(tab)
        table = ctxembed.compare(bundled_model("english"), text)
        (learned,) = [row for row in table.records() if row["representation"] == "learned"]
        assert table.lead is not None
        lines = [line.strip() for line in table.lead() if not line.startswith(("  like", "  but"))]
        written = "Apple" if "Apple" in text else "apple"
        assert texts(tab, ".definition p") == [
            lines[0].replace("apple:", f"{written} here:"),
            *lines[1:],
        ]
        assert str(learned["definition"]) in " ".join(lines)
        assert texts(tab, "#meaning .sense") == []  # the definition says it
        tab.page.locator("#map").get_by_role("button", name="Draw the map of apple").or_(
            tab.page.locator("#map .here")
        ).first.wait_for()
        if tab.page.locator('[data-key="open-map"]').count():
            tab.page.locator('[data-key="open-map"]').click()
            tab.page.wait_for_selector("#map .here")
    saved = ctxembed.senses(bundled_model("english"), "apple").records()
    fractions = {row["sense"]: row["share"] for row in saved}
    shown = texts(tab, "#map .senses button")
    assert len(shown) == len(fractions) > 1
    for sense, share in fractions.items():
        assert shown[sense - 1].endswith(f" {round(100 * share)} %")


def test_take_a_word_away(served: Served, opened: Opened) -> None:
    tab = start(served, opened, APPLE)
    before = number(tab, "learned", "technology")
    tab.page.locator('.word[aria-label^="launched"]').first.hover()
    tab.page.locator('[aria-label="remove launched"]').click()
    tab.page.wait_for_selector('.word.gone[aria-label^="launched"]')
    settled(tab)
    without = "[Apple] a new phone while I was eating an orange"
    for row in ctxembed.compare(EVERYDAY, without, axes=AXES).records():
        if row["representation"] == "learned":
            expected = float(str(row["technology"]))
    assert number(tab, "learned", "technology") == pytest.approx(expected, abs=2e-5) != before
    tab.page.locator(".word.gone").first.click()
    tab.page.wait_for_selector('.word:not(.gone)[aria-label^="launched"]')
    settled(tab)
    assert number(tab, "learned", "technology") == before
    # the same by keyboard, and from the bars
    tab.page.locator('[data-key="word-4"]').first.focus()
    tab.page.keyboard.press("Delete")
    tab.page.wait_for_selector('.word.gone[aria-label^="phone"]')
    tab.page.locator('#worth [aria-label^="new"]').click()
    tab.page.wait_for_selector('.word.gone[aria-label^="new"]')
    tab.page.get_by_role("button", name="put all words back").click()
    tab.page.wait_for_selector('.word:not(.gone)[aria-label^="phone"]')


def test_drag_a_weight(served: Served, opened: Opened) -> None:
    tab = start(served, opened, APPLE)
    assert tab.page.locator("[data-grip]").count() == 0  # a contribution is no weight
    tab.page.locator('[data-key="draw-weight"]').click()
    settled(tab)
    before = texts(tab, "#meaning .says") + texts(tab, "#meaning .because")
    grip = tab.page.locator('[data-grip="10"]')  # orange
    box = grip.bounding_box()
    assert box
    tab.page.mouse.move(box["x"] + 12, box["y"] + box["height"] - 8)
    tab.page.mouse.down()
    tab.page.mouse.move(box["x"] + 12, box["y"] + 12, steps=6)
    tab.page.mouse.up()
    tab.page.wait_for_selector('[data-representation="by hand"]')
    settled(tab)
    assert number(tab, "by hand", "taste") > number(tab, "learned", "taste") + 0.1
    weights = tab.page.locator('[data-sentence="0"] .arc').all()
    total = sum(float(arc.get_attribute("data-value") or 0) for arc in weights)
    assert total == pytest.approx(1, abs=1e-3)
    after = texts(tab, "#meaning .says") + texts(tab, "#meaning .because")
    assert "orange" in after[1] and "orange" not in before[1]  # the sentence follows the weights
    assert after[0].startswith("With your weights, Apple here is like") and after[0] != before[0]
    tab.page.locator('[data-key="draw-contribution"]').click()
    settled(tab)
    parts = tab.page.locator('[data-sentence="0"] .arc').all()
    total = sum(float(arc.get_attribute("data-value") or 0) for arc in parts)
    assert total == pytest.approx(1, abs=1e-3)  # with the word's own part
    tab.page.locator('[data-key="draw-weight"]').click()
    settled(tab)
    tab.page.get_by_role("button", name="weights as computed").click()
    tab.page.wait_for_selector('[data-representation="by hand"]', state="detached")
    tab.page.locator('[data-key="word-10"]').first.focus()
    tab.page.keyboard.press("+")
    tab.page.wait_for_selector('[data-representation="by hand"]')


def test_heads_steps_and_temperature(served: Served, opened: Opened) -> None:
    tab = start(served, opened, APPLE)
    mean = texts(tab, "#sentence .sentence svg")
    tab.page.locator('#heads [aria-label="head 2"]').click()
    tab.page.wait_for_selector('[data-key="head-2"][aria-pressed="true"]')
    assert texts(tab, "#sentence .sentence svg") != mean
    settled(tab)
    for step in range(2, 7):
        tab.page.get_by_role("button", name="next step").click()
        tab.page.get_by_text(f"step {step} of 6").wait_for()
    launched = texts(tab, '#steps tr[data-token="launched"] td')
    rows = [
        row
        for row in ctxembed.explain(EVERYDAY, f"[Apple]{APPLE[5:]}", head="2").records()
        if row["token"] == "launched"
    ]
    assert f"{rows[0]['weight']:.2f}" in " ".join(launched)
    tab.page.get_by_label("attention").select_option("general")
    slider = tab.page.get_by_label("temperature", exact=True)
    slider.wait_for()
    settled(tab)
    hot = float(re.search(r"launched.*?(0\.\d\d)", texts(tab, "#worth svg")[0], re.S)[1])  # type: ignore[index]
    slider.fill("0")
    settled(tab)
    cold = float(re.search(r"launched.*?(0\.\d\d)", texts(tab, "#worth svg")[0], re.S)[1])  # type: ignore[index]
    assert cold < hot
    assert "cosine:0" in tab.page.url.replace("%3A", ":")


def test_the_link_brings_the_same_state_back(served: Served, opened: Opened) -> None:
    tab = start(served, opened, "Apple is better than orange")
    tab.page.get_by_label("attention").select_option("general")
    tab.page.locator('[data-key="head-3"]').click()
    tab.page.get_by_label("words of axis 1").fill("juice, pear")
    change(tab, 4, "Apple makes great phones")
    tab.page.locator('[data-sentence="1"] .arc').first.wait_for(state="attached")
    settled(tab)
    tab.page.locator('[data-key="draw-weight"]').click()
    settled(tab)
    tab.page.locator('[data-sentence="0"] [data-key="word-2"]').focus()
    for _ in range(4):
        tab.page.keyboard.press("+")  # better weighs more by hand
        settled(tab)
    tab.page.get_by_role("button", name="next step").click()
    settled(tab)
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.get_by_role("button", name="copy link").click()
    link = tab.page.evaluate("navigator.clipboard.readText()")
    assert link == tab.page.url
    other = opened(link)
    other.page.locator('[data-sentence="1"] .arc').first.wait_for(state="attached")
    settled(other)
    for selector in ("svg", "#meaning p", "#axes table", "#steps table", "#heads svg", "output"):
        assert texts(other, selector) == texts(tab, selector) != [], selector
    for selector in (".arc", ".fill", "#axes svg path"):  # and drawn alike
        drawn = f"[...document.querySelectorAll('{selector}')].map((e) => e.outerHTML)"
        assert other.page.evaluate(drawn) == tab.page.evaluate(drawn), selector
    assert other.page.locator('[data-representation="by hand"]').count() == 1
    assert texts(other, "output") == ["3.5"]
    assert other.page.url == link
    assert other.page.locator(".word.gone").count() == 1


def test_open_the_map_and_stop(served: Served, opened: Opened) -> None:
    tab = start(served, opened, "we sat on the [bank] of the river")
    tab.page.get_by_role("button", name="Draw the map of bank").click()
    tab.page.wait_for_selector("#map svg [data-sense]", timeout=60_000)
    here = tab.page.locator("#map .here circle").first.get_attribute("cx")
    tab.page.get_by_label("sentence 1", exact=True).fill("the [bank] lent us money")
    tab.page.wait_for_selector('.word[aria-label^="money"]')
    settled(tab)
    assert tab.page.locator("#map .here circle").first.get_attribute("cx") != here  # it moves
    assert any("of the variance" in note for note in texts(tab, "#map .notes li"))


def test_stop_the_map(opened: Opened, tmp_path: Path) -> None:
    """The search waits for us, so that no machine is quick enough to have ended it before."""
    held = Held(tmp_path)
    with explore(EVERYDAY, held=held) as served:
        tab = start(served, opened, "we sat on the [bank] of the river")
        other = start(served, opened, "the [bank] lent us money")
        for one in (tab, other):  # two tabs wait for one search
            one.page.get_by_role("button", name="Draw the map of bank").click()
            one.page.get_by_role("button", name="stop").wait_for()
        (process,) = held.wait_for()
        tab.page.get_by_text("occurrences", exact=True).wait_for()  # how far it is
        other.page.goto("about:blank")  # one is left
        tab.page.get_by_label("sentence 1", exact=True).fill("river [bank]")  # typing goes on
        tab.page.wait_for_selector('.word[aria-label^="river"]')
        assert is_running(process)
        press, start_button = "all => all.forEach(button => button.click())", "Draw the map of bank"
        for _ in range(200):  # typing may draw the button anew under the pointer
            if tab.page.get_by_role("button", name=start_button).is_visible():
                break
            tab.page.eval_on_selector_all('[data-key="stop-map"]', press)
            tab.page.wait_for_timeout(200)
        assert not is_running(process)
        assert tab.page.locator("#map svg").count() == 0
        held.release()
        tab.page.get_by_role("button", name=start_button).click()
        tab.page.wait_for_selector("#map svg [data-sense]", timeout=60_000)


def test_every_worked_example(served: Served, opened: Opened) -> None:
    tab = start(served, opened)
    menu = tab.page.get_by_label("worked examples")
    names = menu.locator("option:not([disabled])").all_inner_texts()
    assert len(names) >= 22
    for name in names:
        menu.select_option(label=name)
        settled(tab)
        assert tab.page.locator("#sentence svg, #bow svg").count() > 0, name
        assert "no word of this sentence" not in texts(tab, "#sentence")[0], name
        assert tab.page.locator(".error").count() == 0, (name, texts(tab, ".error"))
    menu.select_option(label="the weights of money bank grows")
    settled(tab)
    assert "bank = 0.25 money + 0.70 bank + 0.05 grows" in texts(tab, ".recipe")
    menu.select_option(label="phone · fruit = 0")
    settled(tab)
    for _ in range(2):
        tab.page.get_by_role("button", name="next step").click()
    settled(tab)
    assert "0.00" in texts(tab, '#steps tr[data-token="fruit"]')[0]
    menu.select_option(label="mat cat mat, cat rat rat: one-hot, counts, TF-IDF")
    settled(tab)
    assert texts(tab, "#bow .picture rect title") == [
        *("1 · cat: 1", "1 · mat: 2", "1 · rat: 0"),  # as vectorize orders them
        *("2 · cat: 1", "2 · mat: 0", "2 · rat: 2"),
    ]


def test_two_sequences(served: Served, opened: Opened) -> None:
    """A word of one sentence looks at another: bank looks at river and flows, as by hand."""
    tab = start(served, opened)
    menu = tab.page.get_by_label("worked examples")
    menu.select_option(label="two sequences: bank looks at river flows")
    settled(tab)
    tab.page.locator('[data-key="draw-weight"]').click()
    settled(tab)
    # bank = (.7, .7, 0) with river = (0, 1, .2) is .7, with flows = (0, .5, .5) is .35; softmax
    own = 1 / (1 + math.exp(0.35 - 0.7))
    weights = tab.page.locator(".arc").evaluate_all("all => all.map((e) => e.dataset.value)")
    assert sorted(map(float, weights)) == pytest.approx([1 - own, own], abs=1e-5)
    widths = tab.page.locator(".arc").evaluate_all(
        "all => all.map((e) => e.getAttribute('stroke-width'))"
    )
    assert sorted(map(float, widths)) == pytest.approx([16 * (1 - own), 16 * own], abs=0.01)
    assert texts(tab, '#steps tr[data-token="river"]') and not tab.page.locator("#map").is_visible()
    link = tab.page.url
    tab.page.get_by_role("button", name="remove the sentence it looks at").click()
    settled(tab)
    # one's own, by keyboard
    tab.page.get_by_label("sentence 1", exact=True).fill("the [bank] was old")
    menu.select_option(label="two sequences: one sentence looks at another")
    settled(tab)
    tab.page.locator('[data-key="draw-weight"]').click()
    tab.page.get_by_label("the sentence it looks at", exact=True).fill("the boat on the river")
    settled(tab)
    rows = ctxembed.explain(EVERYDAY, "the [bank] was old", over="the boat on the river").records()
    weights = tab.page.locator(".arc").evaluate_all("all => all.map((e) => e.dataset.value)")
    assert sorted(map(float, weights)) == pytest.approx(
        sorted(row["weight"] for row in rows if row["weight"]), abs=1e-4
    )
    tab.page.locator('[data-key="word-1"]').focus()
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    tab.page.wait_for_selector('.word.target[aria-label^="old"]')
    again = opened(link)
    again.page.wait_for_selector(".arc")
    settled(again)
    assert (
        again.page.get_by_label("the sentence it looks at", exact=True).input_value()
        == "river flows"
    )
    narrow = opened(link, 400)
    narrow.page.wait_for_selector(".arc")
    assert narrow.page.evaluate("document.documentElement.scrollWidth") <= 400


def test_take_it_away(served: Served, opened: Opened, tmp_path: Path) -> None:
    tab = start(served, opened, APPLE)
    settled(tab)
    for card in ("sentence", "axes", "heads", "worth", "alike"):
        for kind in ("SVG", "PNG", "TSV"):
            with tab.page.expect_download() as download:
                tab.page.locator(f"#{card} .tools").get_by_text(kind, exact=True).click()
            download.value.save_as(tmp_path / f"{card}.{kind}")
            assert (tmp_path / f"{card}.{kind}").stat().st_size > 100
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.locator("#sentence .tools").get_by_text("$", exact=True).click()
    line = tab.page.evaluate("navigator.clipboard.readText()")
    assert line == (
        f"ctxembed explain '[Apple]{APPLE[5:]}' --attention learned --head each"
        f" -m {bundled_model('everyday')}"
    )


def test_the_commands_print_what_is_shown(
    served: Served, opened: Opened, run: Run, tmp_path: Path
) -> None:
    """Each card's command, pasted into a shell, prints the numbers of the card's table."""
    tab = start(served, opened, APPLE)
    change(tab, 10, 'It\'s an [apple] pie; so "sweet" & $HOME')
    settled(tab)
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    for card in ("sentence", "meaning", "worth", "alike"):
        tools = tab.page.locator(f"#{card} .tools")
        with tab.page.expect_download() as download:
            tools.get_by_text("TSV", exact=True).click()
        download.value.save_as(tmp_path / "shown.tsv")
        tools.get_by_text("$", exact=True).click()
        line = tab.page.evaluate("navigator.clipboard.readText()")
        program, *words = shlex.split(line)
        assert program == "ctxembed"
        done = run(*words, "-f", "tsv", "--precision", "5")
        assert done.returncode == 0, (line, done.stderr)
        shown = (tmp_path / "shown.tsv").read_text(encoding="utf-8").splitlines()
        assert as_numbers(done.stdout.splitlines()) == as_numbers(shown), (card, line)


def as_numbers(lines: list[str]) -> list[list[Any]]:
    """Cells as they are, numbers as what they are worth."""

    def read(cell: str) -> Any:
        try:
            return pytest.approx(float(cell), abs=2e-4)
        except ValueError:
            return cell

    return [[read(cell) for cell in line.split("\t")] for line in lines]


def test_errors_are_shown_and_can_be_corrected(served: Served, opened: Opened) -> None:
    tab = start(served, opened)
    box = tab.page.get_by_label("sentence 1", exact=True)
    for text, message in (
        ("apple " * 130, "too long"),
        ("zzzz qqqq", "no word"),
        ("", "type a sent"),
    ):
        box.fill(text)
        settled(tab)
        assert message in texts(tab, "#sentence")[0] and not tab.page.locator("#axes").is_visible()
        box.fill("an [apple] pie")
        tab.page.wait_for_selector(".arc")
        settled(tab)
        assert not tab.page.locator(".error").count() and tab.page.locator("#axes").is_visible()
    tab.page.get_by_label("words of axis 1").fill("zzzz")
    settled(tab)
    assert "zzzz" in texts(tab, "#axes .error")[0]
    tab.page.get_by_label("words of axis 1").fill("pear")
    settled(tab)
    assert not tab.page.locator(".error").count() and number(tab, "static", "taste") > 0.5
    for _ in range(2):
        tab.page.get_by_title("remove this axis").first.click()
        settled(tab)
    tab.page.get_by_role("button", name="+ axis").click()
    tab.page.get_by_label("name of axis 1").fill("fruit")  # both within a moment
    tab.page.get_by_label("words of axis 1").fill("pear, peach")
    settled(tab)
    assert number(tab, "static", "fruit") > 0.5


@pytest.mark.parametrize(
    "odd", ["hand=zzz", "v=../../etc", "a=nothing", "h=99", "n=99&w=3:abc&axis=x", "g=hot", "over="]
)
def test_a_link_that_was_tampered_with(odd: str, served: Served, opened: Opened) -> None:
    """It says what is wrong, or takes it for what it can be; a sentence can still be typed."""
    tab = opened(f"{served.address}#s=%7Cthe+apple&{odd}")
    settled(tab)
    tab.page.get_by_label("sentence 1", exact=True).fill("an [apple] pie")
    settled(tab)
    assert tab.page.locator("#sentence .error, #sentence .arc, #sentence .hint").count() > 0


def test_hostile_text(served: Served, opened: Opened) -> None:
    tab = start(served, opened)
    for text in HOSTILE:
        tab.page.get_by_label("sentence 1", exact=True).fill(f"the apple {text} juice")
        tab.page.get_by_label("name of axis 1").fill(text)
        settled(tab)
    assert tab.page.locator("main script, main img, main iframe").count() == 0


def test_narrow_and_nothing_asked_elsewhere(served: Served, opened: Opened) -> None:
    tab = start(served, opened, APPLE, width=400)
    settled(tab)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= 400
    assert all(url.startswith(served.address) for url in tab.requested())
    tops = [
        word.bounding_box() for word in tab.page.locator('[data-sentence="0"] .word .box').all()
    ]
    assert [box["y"] for box in tops if box] == sorted(box["y"] for box in tops if box)


def test_another_site_cannot_send_requests(served: Served, opened: Opened) -> None:
    """A page of another origin, with the token in hand, gets nothing to read."""
    tab = opened("about:blank")
    script = """async ([address, mode]) => {
      try {
        const reply = await fetch(address + "ask", {method: "POST", mode, body: "{}",
          headers: mode === "cors" ? {"Content-Type": "application/json"} : {}});
        return `${reply.type} ${reply.status}`;
      } catch (error) { return "refused"; }
    }"""
    assert tab.page.evaluate(script, [served.address, "cors"]) == "refused"
    assert tab.page.evaluate(script, [served.address, "no-cors"]) in ("opaque 0", "refused")
    tab.errors.clear()


def rewrite() -> None:
    """Take the README's picture of the page anew; look at it before it is kept."""
    from playwright.sync_api import sync_playwright

    with explore(bundled_model("english")) as served, sync_playwright() as started:
        browser = started.chromium.launch(executable_path=find_chromium(), args=FLAGS)
        page = browser.new_page(viewport={"width": 1000, "height": 900})
        page.goto(served.address)
        settled(Tab(page))
        page.screenshot(path=ROOT / "docs" / "explore.png")
        browser.close()


if __name__ == "__main__":
    rewrite()
