"""Every test that the page about security names is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from docs.generate import ROOT

PAGE = ROOT / "docs" / "explanation" / "security.md"
_NAMED = re.compile(r"`((?:tests|extension)/[^`:]+)::([^`]+)`")
NAMED = sorted(set(_NAMED.findall(PAGE.read_text(encoding="utf-8"))))


def is_there(path: Path, name: str) -> bool:
    """Tell whether a file has a test of that name."""
    if not path.is_file():
        return False
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return re.search(rf"^\s*(?:async )?def {re.escape(name)}\(", text, re.MULTILINE) is not None
    return f'test("{name}"' in text


@pytest.mark.parametrize(("path", "name"), NAMED)
def test_each_boundary_has_the_tests_that_the_page_names(path: str, name: str) -> None:
    assert is_there(ROOT / path, name)


def test_each_row_of_a_boundary_names_a_test() -> None:
    boundaries = PAGE.read_text(encoding="utf-8").partition("| boundary |")[2]
    rows = re.findall(r"^\| (?!boundary|---)(.*) \|$", boundaries, re.MULTILINE)
    bare = [row for row in rows if "::" not in row]
    assert bare == []
    assert len(NAMED) > 40


def test_a_test_that_is_not_there_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "test_a.py"
    file.write_text("async def test_one(): ...\n# def test_two():\n")
    assert is_there(file, "test_one")
    assert not is_there(file, "test_on")
    assert not is_there(file, "test_two")
    assert not is_there(tmp_path / "test_b.py", "test_one")
