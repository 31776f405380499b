"""The glossary is short, and its words are names of the code."""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest

PAGE = Path(__file__).parents[2] / "docs/explanation/overview.md"
ROW = re.compile(r"^\| (\w+) \| ([^|]+) \| `([\w.]+)` \|$", re.MULTILINE)
MOST_WORDS = 20


def glossary() -> list[tuple[str, str, str]]:
    _, _, section = PAGE.read_text(encoding="utf-8").partition("\n## Glossary\n")
    return ROW.findall(section.partition("\n## ")[0])


def test_the_glossary_is_short_and_has_no_word_twice() -> None:
    words = [word for word, _, _ in glossary()]
    assert 0 < len(words) == len(set(words)) <= MOST_WORDS


@pytest.mark.parametrize("name", [name for _, _, name in glossary()])
def test_a_word_of_the_glossary_is_a_name_of_the_code(name: str) -> None:
    module, _, defined = name.rpartition(".")
    assert hasattr(importlib.import_module(module), defined)
