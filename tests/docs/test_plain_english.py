"""Check that pages and settings can be read at the first reading."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest

from docs.generate import ROOT

MOST_WORDS = 25
MOST_LONG = 0.05  # of the sentences of a text
DOCS = ROOT / "docs"
PAGES = [
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md")),
    *sorted(DOCS.glob("*.md")),
    *(page for room in ("how-to", "explanation") for page in sorted((DOCS / room).glob("*.md"))),
    # The words of the limits are docstrings, and the rest of that page is names of tests.
    *sorted(page for page in (DOCS / "reference").glob("*.md") if page.stem != "limits"),
    ROOT / "extension" / "README.md",
    *sorted((ROOT / "extension" / "media").glob("*.md")),
    ROOT / "tests" / "README.md",
]
MANIFEST = ROOT / "extension" / "package.json"
# The keys of the manifest whose values VS Code shows.
_SHOWN = re.compile(
    r"title|description|.*Description|enumDescriptions|.*EnumDescriptions|.*Message"
)
_CODE = re.compile(r"^( *)```.*?^\1```$", re.MULTILINE | re.DOTALL)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
_TABLE_HEAD = re.compile(r"^\|.*\|\n(?=\|[ :|-]+\|$)", re.MULTILINE)
_ITEM = re.compile(r" *(?:[-*]|\d+\.) +")
_LINK = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
# An ellipsis belongs to the name of a command and ends no sentence.
_END = re.compile(r"(?:(?<!\.)\.|[!?])[)\"'*_]*(?=\s+[\"'(*_]*[A-Z`$\d])")
_RIDDLE = re.compile(r"\W*(?:who|whoever|whom|whose|what|whatever)\b", re.IGNORECASE)


def blocks(text: str) -> Iterator[str]:
    """Yield the paragraphs, list items and table cells of a page, without code and headings."""
    text = _TABLE_HEAD.sub("", _COMMENT.sub("", _CODE.sub("", text)))
    block: list[str] = []
    for line in [*text.splitlines(), ""]:
        item = _ITEM.match(line)
        is_apart = not line.strip() or line.startswith(("#", "|", "    "))
        if block and (item or is_apart):
            yield " ".join(block)
            block = []
        if line.startswith("|"):
            yield from (cell.strip() for cell in line.strip("| ").split(" | "))
        elif not is_apart:
            block.append(line[item.end() :] if item else line.strip())


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences of a page in which links are their text and code is one word."""
    for block in blocks(text):
        plain = re.sub(r"`[^`]*`", "`code`", _LINK.sub(r"\1", block))
        start = 0
        for end in _END.finditer(plain):
            yield plain[start : end.end()].strip()
            start = end.end()
        if re.search(r"[a-z]", rest := plain[start:].strip()):
            yield rest


def riddles(text: str) -> list[str]:
    """Return the sentences that begin with a riddle about their subject."""
    return [one for one in sentences(text) if _RIDDLE.match(one) and not re.search(r"\?\W*$", one)]


def long_ones(text: str) -> tuple[list[str], int]:
    """Return the sentences with too many words, and how many the text may have."""
    every = list(sentences(text))
    long = [one for one in every if len(one.split()) > MOST_WORDS]
    return long, int(len(every) * MOST_LONG)


def shown_texts(value: Any, key: str = "") -> Iterator[str]:
    """Yield the texts of the manifest that VS Code shows."""
    if isinstance(value, str):
        if _SHOWN.fullmatch(key):
            yield value
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from shown_texts(one, key)
    elif isinstance(value, dict):
        for name, one in cast("dict[str, Any]", value).items():
            yield from shown_texts(one, name)


def manifest_text() -> str:
    """Return the texts of the settings and the commands as one page."""
    return "\n\n".join(shown_texts(json.loads(MANIFEST.read_text(encoding="utf-8"))))


def texts() -> dict[str, str]:
    """Return each text that is checked under the name of its file."""
    pages = {str(page.relative_to(ROOT)): page.read_text(encoding="utf-8") for page in PAGES}
    return {**pages, str(MANIFEST.relative_to(ROOT)): manifest_text()}


TEXTS = texts()


@pytest.mark.parametrize("name", TEXTS)
def test_no_sentence_hides_its_subject(name: str) -> None:
    assert riddles(TEXTS[name]) == []


@pytest.mark.parametrize("name", TEXTS)
def test_few_sentences_are_long(name: str) -> None:
    long, most = long_ones(TEXTS[name])
    assert len(long) <= most, "\n".join(long)


def test_sentences_are_found_in_paragraphs_lists_and_tables() -> None:
    page = """# What a heading says

Run *Add Agent...* in VS Code.
It asks (*twice*). `vscodelm` answers:

- Whoever asks. What then?
  It ends.

| what it is | who |
|---|---|
| An agent. | Who? |

```sh
Who is no sentence.
```

    Whose code?
"""
    assert list(sentences(page)) == [
        "Run *Add Agent...* in VS Code.",
        "It asks (*twice*).",
        "`code` answers:",
        "Whoever asks.",
        "What then?",
        "It ends.",
        "An agent.",
        "Who?",
    ]
    assert riddles(page) == ["Whoever asks."]


def test_long_sentences_are_counted_without_addresses() -> None:
    short = "A word" + " and [another](https://example.org/a%20b)" * 11 + ". "
    assert long_ones(short * 19) == ([], 0)
    long = "A word" + " and another" * 12 + ".\n"
    assert long_ones(short * 19 + long)[1] == 1
    assert len(long_ones(short * 19 + long)[0]) == 1


def test_the_settings_are_read() -> None:
    assert "Show Log" in manifest_text()
    assert len(list(sentences(manifest_text()))) > 60
