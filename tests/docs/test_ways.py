"""Check the two ways that the overview shows: few steps, and each names code that exists."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from docs.generate import ROOT

PAGE = ROOT / "docs" / "explanation" / "overview.md"
MOST_STEPS = 12
_STEP = re.compile(r"^\d+\. (.+(?:\n {2,}.+)*)", re.MULTILINE)
_PLACE = re.compile(r"`([\w.]+)`\s+in\s+`([\w/]+\.py)`")


def steps_of(way: str) -> list[str]:
    """Return the numbered steps below a heading of the overview."""
    section = re.search(
        rf"^## {re.escape(way)}\n(.*?)(?=^## |\Z)",
        PAGE.read_text(encoding="utf-8"),
        re.MULTILINE | re.DOTALL,
    )
    assert section is not None, way
    return _STEP.findall(section[1])


def defines(path: Path, name: str) -> bool:
    """Tell whether a file defines a function, a class, or a method as `Class.method`."""
    if not path.is_file():
        return False
    body: list[ast.stmt] = ast.parse(path.read_text(encoding="utf-8")).body
    for word in name.split("."):
        found = next(
            (
                one
                for one in body
                if isinstance(one, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
                and one.name == word
            ),
            None,
        )
        if found is None:
            return False
        body = found.body
    return True


@pytest.mark.parametrize("way", ["The way of a request", "The way of a part"])
def test_each_step_of_a_way_names_code_that_exists(way: str) -> None:
    steps = steps_of(way)
    assert 6 <= len(steps) <= MOST_STEPS
    for step in steps:
        places = _PLACE.findall(step)
        assert places, step
        missing = [f"{name} in {path}" for name, path in places if not defines(ROOT / path, name)]
        assert missing == []


def test_a_name_that_does_not_exist_is_noticed(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text("class A:\n    async def run(self): ...\n\ndef route(): ...\n")
    assert defines(file, "A.run")
    assert defines(file, "route")
    assert not defines(file, "run")
    assert not defines(file, "A.route")
    assert not defines(tmp_path / "b.py", "route")
