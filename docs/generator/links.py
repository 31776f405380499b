"""Do the links of the pages lead somewhere? Only those inside the project can be known."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import unquote

from .markdown import anchor

_CODE = re.compile(r"`[^`\n]+`")
_FENCE = re.compile(r"(```+|~~~+)")
_LINK = re.compile(r"\]\((?P<target>(?:[^)\s\]]|\](?!\())+)\)")
_HEADING = re.compile(r"^#{1,6} (?P<text>.+)$", re.MULTILINE)
_ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:")


def broken(pages: Iterable[Path], root: Path) -> list[str]:
    """Return what is wrong, a line for each link."""
    return [fault for page in pages for fault in _faults(page, root)]


def _faults(page: Path, root: Path) -> Iterator[str]:
    name = page.relative_to(root).as_posix()
    for link in _LINK.finditer(_CODE.sub("", _unfenced(page))):
        target = link["target"]
        if _ELSEWHERE.match(target):
            continue
        file, _, section = target.partition("#")
        path = (page.parent / unquote(file)).resolve() if file else page
        if not path.is_relative_to(root) or not path.exists():
            yield f"{name}: {target} is not there"
        elif section and path.suffix == ".md" and section not in anchors(path):
            yield f"{name}: {target} has no such heading"


def anchors(page: Path) -> set[str]:
    """Return the names of a page's headings."""
    found: set[str] = set()
    for heading in _HEADING.finditer(_unfenced(page)):
        name = base = anchor(heading["text"])
        count = 0
        while name in found:  # GitHub numbers headings of one name
            count += 1
            name = f"{base}-{count}"
        found.add(name)
    return found


def _unfenced(page: Path) -> str:
    """Return a page without its blocks of code."""
    kept: list[str] = []
    fence = ""
    for line in page.read_text(encoding="utf-8").splitlines(keepends=True):
        found = _FENCE.match(line)
        if fence:
            fence = "" if line.rstrip() == fence else fence
        elif found is not None:
            fence = found[1]
        else:
            kept.append(line)
    return "".join(kept)
