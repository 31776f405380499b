"""Programs that start agents, and where a user gets them. Pure."""

from __future__ import annotations

import re
from typing import Final

from bridge.fixes import OpenPage

NODE: Final = OpenPage("Install Node.js", "https://nodejs.org/en/download")
UV: Final = OpenPage("Install uv", "https://docs.astral.sh/uv/getting-started/installation/")
_PAGES: Final = {"npx": NODE, "node": NODE, "npm": NODE, "uvx": UV, "uv": UV}
_OLD_NODE = re.compile(
    r"\bEBADENGINE\b|\bUnsupported engine\b|\bnode(?:\.js)?\b[^\n]{0,60}"
    r"\b(?:or (?:newer|later|higher|above)|(?:is )?too old|(?:is )?(?:not |un)supported)\b",
    re.IGNORECASE,
)


def page_of(command: str) -> OpenPage | None:
    """Return the advice on installing a launcher, None if the command is no launcher."""
    name = command.replace("\\", "/").rpartition("/")[2].lower()
    return _PAGES.get(name.removesuffix(".exe").removesuffix(".cmd"))


def advice_on(command: str) -> str:
    """Return the same advice as a sentence; empty if the command is no launcher."""
    page = page_of(command)
    return "" if page is None else f"{page.title} from {page.url}, or by a package manager."


def wants_newer_node(last_words: str) -> bool:
    """Tell whether a program ended because its Node.js is too old, by what it wrote at the end."""
    return _OLD_NODE.search(last_words) is not None
