"""The page as a file: its content security policy, and data that stays data."""

import base64
import gzip
import hashlib
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from ctxembed.web.document import SCRIPTS, asset, document, pack


class Parts(HTMLParser):
    """Read a page as a browser does: each element, and the text of scripts and styles."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside: dict[str, str] = {}
        self.within = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self.within = (dict(attrs).get("type") or tag) if tag in ("script", "style") else ""

    def handle_endtag(self, tag: str) -> None:
        self.within = ""

    def handle_data(self, data: str) -> None:
        if self.within:
            self.inside[self.within] = self.inside.get(self.within, "") + data


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def unpack(text: str) -> Any:
    return json.loads(gzip.decompress(base64.b64decode(text)))


def policy_of(parts: Parts) -> dict[str, str]:
    (content,) = [
        attributes["content"] or ""
        for tag, attributes in parts.tags
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    return {part.split()[0]: " ".join(part.split()[1:]) for part in content.split(";")}


@pytest.mark.parametrize("live", [False, True])
def test_only_the_script_of_the_page_runs(live: bool) -> None:
    parts = Parts(document({"live": live}, "a title"))
    policy = policy_of(parts)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == digest(parts.inside["module"])
    assert policy["style-src"] == digest(parts.inside["style"])
    assert policy["connect-src"] == ("'self'" if live else "'none'")


@pytest.mark.parametrize(
    "text",
    ["</script><script>x()</script>", "<!--<script>", "{{script}}", "\u2028", "\ud800"],
)
def test_data_never_ends_its_element(text: str) -> None:
    page = document({"text": text, text: [text]}, f"{text}</title><b>")
    assert [tag for tag, _ in Parts(page).tags if tag in ("script", "b")] == ["script"] * 2
    read = unpack(Parts(page).inside["text/plain"])
    assert read.pop("shapes") and read.pop("widths") and read == {"text": text, text: [text]}
    assert "<" not in pack({"text": text})


def test_the_page_loads_nothing_from_elsewhere() -> None:
    page = document({"live": False}, "t")
    addresses = set(re.findall(r"\b(?:https?:)?//[\w.-]+\.\w+[^\s\"'`]*", page))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which is never loaded
    for name in SCRIPTS:
        written = asset(f"{name}.js")
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "eval(", "document.write"):
            assert word not in written, name
    assert len(page) < 120_000
