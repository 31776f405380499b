"""The wheel is tested where no source of vscodelm can stand in for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tooling import wheel


def test_the_tests_are_laid_out_without_the_sources(tmp_path: Path) -> None:
    wheel.lay_out(wheel.ROOT, tmp_path)
    there = {path.name for path in tmp_path.iterdir()}
    assert there.isdisjoint(wheel.PACKAGES)
    assert {"tests", "docs", "pyproject.toml"} <= there
    assert not (tmp_path / "extension/node_modules").exists()


def test_all_that_is_left_out_exists() -> None:
    for path in (*wheel.LEFT_OUT, *wheel.SOURCES):
        assert (wheel.ROOT / path).exists(), path


@pytest.mark.parametrize(
    ("system", "program"), [("posix", "bin/python"), ("nt", "Scripts/python.exe")]
)
def test_a_program_is_found_on_each_system(
    system: str, program: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    environment = Path("env")  # a path is of the system that made it
    monkeypatch.setattr(os, "name", system)
    assert wheel.program_of(environment, "python").as_posix() == f"env/{program}"
