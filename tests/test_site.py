"""The documentation site: built without a warning, no dead link, and searched from disk."""

import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from ctxembed.cli.command import read_help
from ctxembed.cli.groups import COMMANDS
from ctxembed.cli.help_ import TOPICS
from ctxembed.cli.main import load_command
from tests.conftest import ROOT

pytest.importorskip("material", reason="pip install 'ctxembed[docs]'")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "-q", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder


class Links(HTMLParser):
    """The addresses that a page refers to, and the anchors that it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.loaded: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.anchors |= {values["id"]} if "id" in values else set()
        if tag == "a" and "href" in values:
            self.targets.append(values["href"])
        elif tag in ("link", "script", "img"):
            self.loaded += [values[name] for name in ("href", "src") if name in values]


def test_no_link_is_dead_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {page: Links(page) for page in site.rglob("*.html")}
    assert len(pages) > 50
    for page, links in pages.items():
        for target in [*links.targets, *links.loaded]:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                assert target not in links.loaded, f"{page} loads {target}"
                continue
            if page.name == "404.html" or not (parts.path or parts.fragment):
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert file.exists(), f"{page.relative_to(site)} -> {target}"
            if parts.fragment and file in pages:
                assert unquote(parts.fragment) in pages[file].anchors, f"{page} -> {target}"


def test_the_reference_has_every_command_option_and_column(site: Path) -> None:
    for name in COMMANDS:
        page = re.sub(r"<[^>]+>", "", (site / "reference" / f"{name}.html").read_text("utf-8"))
        command = load_command(name)
        for parameter in command.params:
            assert getattr(parameter, "hidden", False) or all(
                option in page for option in parameter.opts if option.startswith("-")
            )
        for columns in command.columns.values():
            assert all(column.name in page for column in columns)


def test_one_page_leads_to_every_command(site: Path) -> None:
    page = Links(site / "reference" / "commands.html")
    assert {f"{name}.html" for name in COMMANDS} <= {*page.targets}


def test_the_topics_of_help_are_pages(site: Path) -> None:
    page = (site / "reference" / "topic-exit-codes.html").read_text("utf-8")
    assert "<td>130</td>" in page
    for topic, (file, section) in TOPICS.items():
        shown = (site / "reference" / f"topic-{topic}.html").read_text("utf-8")
        words = re.findall(r"\w{4,}", read_help(file)[section])
        assert all(word in shown for word in words)


def test_programs_find_all_pages(site: Path) -> None:
    listed = re.findall(r"\]\((.*?)\)", (site / "llms.txt").read_text(encoding="utf-8"))
    assert len(listed) > 50
    assert all((site / path).exists() for path in listed)


def test_the_index_of_the_search_has_the_words_of_the_pages(site: Path) -> None:
    index = json.loads((site / "search" / "search_index.json").read_text(encoding="utf-8"))
    places = {entry["location"] for entry in index["docs"] if "pseudoword" in entry["text"]}
    assert any(place.startswith("explanation/attention.html") for place in places)
    assert not any("represen-" in entry["text"] for entry in index["docs"])  # of an output


def test_search_works_from_disk_without_a_network(site: Path) -> None:
    playwright = pytest.importorskip("playwright.sync_api")
    from tests.browser.conftest import FLAGS, find_chromium

    if find_chromium() is None:
        pytest.skip("needs chromium")
    errors: list[str] = []
    asked: list[str] = []

    def search() -> list[str]:
        with playwright.sync_playwright() as browsers:
            browser = browsers.chromium.launch(executable_path=find_chromium(), args=FLAGS)
            page = browser.new_page(viewport={"width": 1200, "height": 800})
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("request", lambda request: asked.append(request.url))
            page.goto((site / "index.html").as_uri())
            page.locator("input.md-search__input").first.fill("pseudoword")
            page.locator(".md-search-result__item a").first.wait_for(timeout=20_000)
            links = page.locator(".md-search-result__item a").evaluate_all(
                "all => all.map(one => one.href)"
            )
            browser.close()
        return [str(link) for link in links]

    with ThreadPoolExecutor(1) as pool:  # the tests of the page may run a browser in this thread
        links = pool.submit(search).result()
    assert any("explanation/attention.html" in link for link in links)
    assert errors == []
    assert {urlsplit(address).scheme for address in asked} <= {"file", "data", "blob"}
