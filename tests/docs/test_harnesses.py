"""Check the table of features by harness: each cell has a test that exists, or says "no"."""

from __future__ import annotations

import ast
import re

import pytest

from docs.generate import ROOT
from docs.generator.harnesses import FEATURES, Cell

CELLS = [
    pytest.param(cell, id=f"{feature}: {harness}")
    for feature, cells in FEATURES.items()
    for harness, cell in zip(("local", "Agent Host"), cells, strict=True)
]


def exists(test: str) -> bool:
    """Return whether a test is in the file that it names, as a function or by its title."""
    file, _, name = test.partition("::")
    path = ROOT / file
    if not path.is_file():
        return False
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return any(
            isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef) and one.name == name
            for one in ast.parse(source).body
        )
    begins = r"\btest(?:\.(?:skipIf|runIf)\(\w+\))?\(\s*"  # the long ones don't run always
    return re.search(rf'{begins}"{re.escape(name)}",', source) is not None


@pytest.mark.parametrize("cell", CELLS)
def test_a_cell_is_proved_or_says_no(cell: Cell) -> None:
    assert [test for test in cell.tests if not exists(test)] == []
    is_open = cell.says in ("no", "not tried") or cell.says.startswith("no: ")
    assert is_open != bool(cell.tests)


@pytest.mark.parametrize(
    "test",
    [
        "tests/recordings/cases.py::none",
        "tests/recordings/none.py::fork",
        "extension/e2e/person.test.ts::a chat of three",
    ],
)
def test_a_test_that_is_gone_is_missed(test: str) -> None:
    assert not exists(test)
