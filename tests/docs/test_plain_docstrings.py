"""Check that docstrings can be read at the first reading, in the folders that are held to it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from docs.generate import ROOT

from .test_plain_english import MOST_LONG, MOST_WORDS, sentences

FOLDERS = ["actors", "agents", "benchmarks", "bridge", "docs", "tooling", "vscodelm"]
_RIDDLE = re.compile(r"\W*(?:who|whoever|whom|whose|what|whatever|where|how)\b", re.IGNORECASE)


def docstrings(source: str) -> Iterator[str]:
    """Yield the docstrings of a module, its classes, functions and attributes."""
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield "\n".join(line.strip() for line in text.splitlines())
            case _:
                pass


def said(folder: Path) -> list[str]:
    """Return the sentences of all docstrings in a folder."""
    return [
        sentence
        for path in sorted(folder.rglob("*.py"))
        for text in docstrings(path.read_text(encoding="utf-8"))
        for sentence in sentences(text)
    ]


def riddles(every: list[str]) -> list[str]:
    """Return the sentences that begin with a riddle about their subject."""
    return [one for one in every if _RIDDLE.match(one) and not one.endswith("?")]


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_docstring_hides_its_subject(folder: str) -> None:
    every = said(ROOT / folder)
    assert every
    assert riddles(every) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_few_sentences_of_docstrings_are_long(folder: str) -> None:
    every = said(ROOT / folder)
    long = [one for one in every if len(one.split()) > MOST_WORDS]
    assert len(long) <= len(every) * MOST_LONG, "\n".join(long)


def test_a_riddle_is_noticed_in_each_kind_of_docstring(tmp_path: Path) -> None:
    source = '''"""What a module is about."""

A = 1
"""How many there are."""


class B:
    """Who holds it. A class."""

    def c(self) -> None:
        """Return it.

        Where it is none, nothing happens.
        """
'''
    (tmp_path / "a.py").write_text(source)
    assert riddles(said(tmp_path)) == [
        "What a module is about.",
        "How many there are.",
        "Who holds it.",
        "Where it is none, nothing happens.",
    ]
