"""The course on the page: a chapter sets the page and points at a card; exercises hide numbers."""

import math
from collections.abc import Iterator

import pytest

from ctxembed.lesson.chapter import Chapter, load_chapters
from tests.browser.conftest import Opened, Tab
from tests.browser.test_explore import EVERYDAY, settled
from tests.browser.test_report import SENTENCE, WriteReport, texts, write_report
from tests.web.served import Served, explore

__all__ = ["write_report"]
CHAPTERS = load_chapters()


@pytest.fixture(scope="module")
def served(browser: object) -> Iterator[Served]:
    with explore(EVERYDAY) as server:
        yield server


def check_chapter(tab: Tab, chapter: Chapter) -> None:
    """The page has the chapter's text and sentences, and points at a card that is shown."""
    settled(tab)
    assert texts(tab, "#lesson h2") == [f"{chapter.number}. {chapter.title}"]
    assert chapter.text in texts(tab, "#lesson p")
    assert {chapter.task.line, *(step.line for step in chapter.steps)} == set(
        texts(tab, "#lesson .command")
    )
    assert tab.page.locator(".error").count() == 0, texts(tab, ".error")
    assert tab.page.locator(".card.pointed:visible").count() == 1
    assert texts(tab, "#lesson .points")[0].startswith("→ Look at: ")
    drawn = " ".join(texts(tab, "#sentence .word > text, #bow svg text"))
    for sentence in chapter.page.sentences:
        for word in sentence.replace("[", "").replace("]", "").split():
            assert word.strip(".,?") in drawn, (chapter.title, word)


def step_through(tab: Tab) -> None:
    """Open the course, go to its end, and back by one."""
    tab.page.locator('[data-key="lesson"]').click()
    for chapter in CHAPTERS:
        check_chapter(tab, chapter)
        if chapter is not CHAPTERS[-1]:
            tab.page.locator('[data-key="lesson-next"]').click()
    assert not tab.page.locator('[data-key="lesson-next"]').is_enabled()
    tab.page.locator('[data-key="lesson-back"]').click()
    check_chapter(tab, CHAPTERS[-2])


def test_each_chapter_sets_the_page(served: Served, opened: Opened) -> None:
    tab = opened(served.address)
    settled(tab)
    step_through(tab)
    tab.page.locator('[data-key="lesson-close"]').click()
    settled(tab)
    assert not tab.page.locator("#lesson").is_visible()
    assert tab.page.locator(".pointed").count() == 0


def number_of(title: str) -> int:
    return next(chapter.number for chapter in CHAPTERS if chapter.title == title)


def test_the_recurrent_network_of_a_chapter(served: Served, opened: Opened) -> None:
    tab = opened(f"{served.address}#l={number_of('One word after another')}")
    settled(tab)
    assert tab.page.locator("#recurrent.pointed").is_visible()
    assert any("backward river" in text for text in texts(tab, "#recurrent svg text"))
    (river,) = (row for row in texts(tab, "#recurrent tr") if "river" in row)
    assert river.endswith("0.09")  # what the chapter says, rounded
    tab.page.locator('[data-key="lesson-next"]').click()
    settled(tab)
    assert not tab.page.locator("#recurrent").is_visible()


def test_numbers_after_an_urdu_word_stay_with_their_words(served: Served, opened: Opened) -> None:
    tab = opened(f"{served.address}#l={number_of('Encoder and decoder')}")
    settled(tab)
    (recipe,) = texts(tab, ".recipe")
    assert recipe.endswith("= 0.02 I + 0.02 am + 0.96 good")
    assert tab.page.locator(".recipe bdi").count() == 4
    order = tab.page.evaluate("""() => {
      const words = [...document.querySelectorAll(".recipe bdi")];
      return words.map((word) => word.getBoundingClientRect().left);
    }""")
    assert order == sorted(order)


def test_words_of_vectors_with_waves_are_said_to_be_without(served: Served, opened: Opened) -> None:
    tab = opened(f"{served.address}#l={number_of('Order')}")
    settled(tab)
    assert tab.page.locator("#meaning .because").count() == 0
    assert "Without the waves" in texts(tab, "#meaning")[0]
    tab.page.locator('[data-key="lesson-back"]').click()
    settled(tab)
    assert tab.page.locator("#meaning .because").count() == 1


def test_each_chapter_in_a_report(write_report: WriteReport, opened: Opened) -> None:
    address = write_report(SENTENCE)
    tab = opened(address)
    settled(tab)
    step_through(tab)
    states = opened(f"{address}#l={number_of('One word after another')}")
    settled(states)
    assert states.page.locator("#recurrent.pointed tr").count() > 10
    linked = opened(f"{address}#l={CHAPTERS[-1].number}")
    check_chapter(linked, CHAPTERS[-1])
    linked.page.locator('[data-key="lesson-close"]').click()
    settled(linked)
    assert "launched" in " ".join(texts(linked, "#sentence .word > text"))  # its own sentence again


def test_a_link_to_a_chapter(served: Served, opened: Opened) -> None:
    tab = opened(f"{served.address}#l={CHAPTERS[-1].number}")
    check_chapter(tab, CHAPTERS[-1])
    tab.page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    tab.page.locator('[data-key="lesson-link"]').click()
    link = tab.page.evaluate("navigator.clipboard.readText()")
    assert link == f"{served.address}#l={CHAPTERS[-1].number}"
    state = opened(tab.page.url)  # the address of the whole state opens it too
    check_chapter(state, CHAPTERS[-1])
    none = opened(f"{served.address}#l=999")
    settled(none)
    assert not none.page.locator("#lesson").is_visible() and none.page.locator(".arc").count()


@pytest.mark.parametrize("width", [1280, 390])
def test_an_exercise_hides_numbers_in_their_places(
    width: int, served: Served, opened: Opened
) -> None:
    """money · bank = 0.7, bank · bank = 0.98, grows · bank = 0.35: the softmax by hand."""
    (chapter,) = (one for one in CHAPTERS if one.title == "Softmax")
    tab = opened(f"{served.address}#l={chapter.number}", width)
    settled(tab)
    assert tab.page.evaluate("document.documentElement.scrollWidth") <= width
    powers = {"money": math.exp(0.7), "bank": math.exp(0.98), "grows": math.exp(0.35)}
    total = math.fsum(powers.values())
    tab.page.locator('[data-key="hide-numbers"]').click()
    settled(tab)
    tab.page.locator('[data-key="other-numbers"]').click()
    settled(tab)
    heads = texts(tab, "#steps thead th")
    hidden = tab.page.locator("#steps .hidden-number")
    assert hidden.count() == 4
    for i in range(4):
        box = hidden.nth(i)
        token = box.evaluate("e => e.closest('tr').dataset.token")
        column = box.evaluate("e => e.closest('td').cellIndex")
        expected = {
            "q·k": math.log(powers[token]), "= score": math.log(powers[token]),
            "eˢᶜᵒʳᵉ": powers[token], "÷ sum": powers[token] / total,
        }[heads[column]]  # fmt: skip
        box.fill(f"{expected + 0.3:.2f}")
        box.press("Enter")
        assert "wrong" in (box.get_attribute("class") or "")
        assert f"{i} of 4 numbers right" in texts(tab, ".exercise [role=status]")[0]
        box.fill([f"{expected:.2f}", f"{expected:.2f}".replace(".", ","), f"{100 * expected:.0f} %",
                  f"{100 * expected:.0f}/100"][i])  # fmt: skip
        box.press("Enter")
        assert "right" in (box.get_attribute("class") or "")
    assert "4 of 4 numbers right" in texts(tab, ".exercise [role=status]")[0]
    assert any("right. e to the power of" in line or "÷" in line for line in texts(tab, ".good"))
    tab.page.locator('[data-key="show-numbers"]').click()
    settled(tab)
    assert tab.page.locator(".hidden-number").count() == 0
    assert f"{powers['bank'] / total:.2f}" in texts(tab, '#steps tr[data-token="bank"]')[0]


def test_what_comes_out_of_the_numbers_shown_is_right(served: Served, opened: Opened) -> None:
    """With a scale of 0.125 shown as 0.13, a score worked out by hand differs; it is right too."""
    tab = opened(f"{served.address}#s=%7C[Apple]+launched+a+new+phone&n=6")
    settled(tab)
    cell = "tr[data-token=launched] [data-how*='×']"
    exact, shown, how = tab.page.locator(f"#steps {cell}").first.evaluate(
        "e => [e.dataset.value, e.dataset.shown, e.dataset.how]"
    )
    first, *terms = how.split(" + ")
    product, scale = map(float, first.split(" × "))
    assert scale == 0.13  # 1 / 8
    by_hand = product * scale + math.fsum(map(float, terms))
    assert float(shown) == pytest.approx(by_hand) and abs(by_hand - float(exact)) > 0.02


def test_numbers_of_a_picture_are_hidden_too(served: Served, opened: Opened) -> None:
    (chapter,) = (one for one in CHAPTERS if one.title == "A recipe")
    tab = opened(f"{served.address}#l={chapter.number}")
    settled(tab)
    recipes = texts(tab, ".recipe")
    assert recipes[0] == "bank = 0.33 money + 0.44 bank + 0.23 grows"
    tab.page.locator('[data-key="hide-numbers"]').click()
    settled(tab)
    hidden = tab.page.locator("#sentence svg .hidden-number")
    assert hidden.count() == 4 and tab.page.locator(".recipe").count() == 0  # it would tell them
    for i in range(4):
        where = hidden.nth(i).bounding_box()
        assert where and where["width"] > 30
        for guess in ("0.33", "0.44", "0.23"):  # one of them is right
            hidden.nth(i).fill(guess)
            hidden.nth(i).press("Enter")
            if "right" in (hidden.nth(i).get_attribute("class") or ""):
                break
    assert "4 of 4 numbers right" in texts(tab, ".exercise [role=status]")[0]
    assert any("e^0.98 ÷" in line or "e^0.70 ÷" in line for line in texts(tab, ".good"))
