"""A hook of hatch: the README of a package index, where only whole addresses lead anywhere."""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

ROOT = Path(__file__).parent.parent
LINK = re.compile(r"(!?)(\[[^\]]*\])\((?!https?:|#)([^)\s]+)\)")


class ReadmeHook(MetadataHookInterface):
    """Writes the README into the metadata of the package, with whole addresses."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Add the README to the metadata."""
        text = (ROOT / "README.md").read_text(encoding="utf-8")
        text = write_addresses(text, metadata["urls"]["Source"])
        metadata["readme"] = {"content-type": "text/markdown", "text": text}


def write_addresses(text: str, source: str) -> str:
    """Return Markdown whose links to files lead to the repository, pictures to their bytes.

    >>> write_addresses("![a](b.svg) [c](d.md#e) [f](#g)", "https://host/it")
    '![a](https://host/it/raw/main/b.svg) [c](https://host/it/blob/main/d.md#e) [f](#g)'
    """
    kind = {"!": "raw", "": "blob"}
    return LINK.sub(lambda m: f"{m[1]}{m[2]}({source}/{kind[m[1]]}/main/{m[3]})", text)
