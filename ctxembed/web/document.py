"""The page as one HTML file: its style, its script and its data inside, and nothing from elsewhere.

The policy lets run what has the hash of our own script, and nothing else: what a corpus or a
sentence says is data (JSON in which no `<` is left), and the script writes it as text.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib.resources import files
from typing import Any

# Joined in this order into one script; they are small so that each can be read.
SCRIPTS = (
    "dom", "table", "source", "state", "export", "card", "shapes", "sentence", "heat", "axes",
    "steps", "bars", "map", "meaning", "cross", "main", "notes", "top", "start",
)  # fmt: skip


def asset(name: str) -> str:
    """Read a file of the page."""
    return (files("ctxembed.web") / "assets" / name).read_text(encoding="utf-8")


def document(data: Mapping[str, Any], title: str) -> str:
    """Return the page with its data; `live` in the data lets it ask the server it came from."""
    style = asset("page.css")
    script = "\n".join(asset(f"{name}.js") for name in SCRIPTS)
    parts = {
        "policy": policy(script, style, live=bool(data.get("live"))),
        "title": escape(title),
        "style": style,
        "data": as_script(data),
        "script": script,
    }
    pieces = re.split(r"\{\{(\w+)\}\}", asset("page.html"))  # a name at each odd place
    return "".join(parts[piece] if i % 2 else piece for i, piece in enumerate(pieces))


def policy(script: str, style: str, *, live: bool) -> str:
    """Say what the page may do: run its own script, and ask nobody, or only where it came from."""
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_digest(script)}'",
            f"style-src '{_digest(style)}'",
            "img-src data: blob:",
            "connect-src 'self'" if live else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def as_script(data: Mapping[str, Any]) -> str:
    r"""Write data as JSON that can stand inside a script element.

    >>> as_script({"text": "</script><b>"})
    '{"text":"\\u003c/script>\\u003cb>"}'
    """
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    text = text.encode("utf-8", "backslashreplace").decode()  # JSON has the same escape for those
    for character in "<\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return text


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
