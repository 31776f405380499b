"""Markdown, as GitHub reads it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(text: str) -> str:
    return text.replace("\n", " ").replace("|", "\\|")


def block(language: str, text: str) -> str:
    """Return a block of code."""
    return f"```{language}\n{text.rstrip()}\n```"


def sections(parts: Iterable[str]) -> str:
    """Return pieces with a blank line between them."""
    return "\n\n".join(part.strip() for part in parts if part.strip())


def anchor(heading: str) -> str:
    """Return the name by which a link finds a heading."""
    plain = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", heading).replace("`", "").strip().lower()
    return re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
