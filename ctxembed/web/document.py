"""The page as one HTML file with its style, script and data; it loads nothing.

The Content-Security-Policy allows only our own script, by its hash. Text from a corpus is data
(compressed JSON), and the script inserts it as text nodes.
"""

import base64
import gzip
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

from ctxembed.output.sheet import SHAPES
from ctxembed.web.words import WIDTHS

# Joined in this order into one script.
SCRIPTS = (
    "dom", "table", "source", "state", "export", "card", "shapes", "sentence", "axes", "steps",
    "map", "meaning", "reading", "main", "sentences", "controls", "show", "notes", "exercise",
    "lesson", "top", "start",
)  # fmt: skip


def asset(name: str) -> str:
    """Return the text of a file in assets/."""
    return (files("ctxembed.web") / "assets" / name).read_text(encoding="utf-8")


def document(data: Mapping[str, Any], title: str) -> str:
    """Return the page with its data; with `live` it asks its server."""
    style = asset("page.css")
    script = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    parts = {"title": escape(title), "style": style, "script": script}
    parts["policy"] = policy(script, style, live=bool(data.get("live")))
    parts["data"] = pack({"shapes": SHAPES, "widths": WIDTHS, **data})
    pieces = re.split(r"\{\{(\w+)\}\}", asset("page.html"))  # a name at each odd index
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def policy(script: str, style: str, *, live: bool) -> str:
    """Return the Content-Security-Policy: only its own script, and requests only if live."""
    return (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        f"img-src data: blob:; connect-src {'self' if live else 'none'!r}; base-uri 'none'; "
        "form-action 'none'"
    )


def pack(data: Mapping[str, Any]) -> str:
    """Return data as JSON, compressed, in base64: it cannot end its script element.

    >>> "<" in pack({"text": "</script><b>"})
    False
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    encoded = text.encode("utf-8", "backslashreplace")  # JSON has the same escapes for surrogates
    return base64.b64encode(gzip.compress(encoded, mtime=0)).decode()


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
