"""Annotations of a text, as Markdown links."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias, cast
from urllib.parse import quote

Citation: TypeAlias = tuple[str, str]
"""Address and title."""

_SPECIAL = re.compile(r"([\\`*_\[\]<>])")
_WEB = re.compile(r"https?://[^/\s]", re.IGNORECASE)
# Characters that may stand in an address between parentheses; quoted ones stay quoted.
_SAFE = "%/:?#[]@!$&'*+,;=~-._"


def link_of(annotation: Any) -> Citation | None:
    """Read an annotation; None if it has no address on the web: citations of files have none."""
    if not isinstance(annotation, dict):
        return None
    fields = cast("dict[str, Any]", annotation)
    nested = fields.get("url_citation")  # as Chat Completions has it
    if isinstance(nested, dict):
        fields = cast("dict[str, Any]", nested)
    url, title = fields.get("url"), fields.get("title")
    if not isinstance(url, str) or not _WEB.match(url):
        return None
    words = title.split() if isinstance(title, str) else []
    return quote(url, _SAFE), " ".join(words) or url


def as_inline(link: Citation) -> str:
    """Return a link that stands behind the text that it is for."""
    return f" {_markdown(link)}"


def as_list(links: Iterable[Citation]) -> str:
    """Return links that stand below the text."""
    return "\n\n" + "\n".join(f"- {_markdown(link)}" for link in links) + "\n"


def _markdown(link: Citation) -> str:
    url, title = link
    escaped = _SPECIAL.sub(r"\\\1", title)
    return f"[{escaped}]({url})"
