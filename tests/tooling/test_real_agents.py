"""What becomes of a part of the real agents that can't be installed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tooling import real_agents
from tooling.real_agents import Part, main, run

COMPLAINT = "no such version"


def part(code: str) -> Part:
    """Return a part that is installed by a program in Python."""

    def install(folder: Path) -> None:
        run([sys.executable, "-c", code], folder)

    return Part("one", code, install, is_required=False)


FAILING = part(f"print('Looking.\\n{COMPLAINT}'); raise SystemExit(3)")
WORKING = part("pass")


@pytest.fixture
def installs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[Part], int]:
    """Return what installs a part into a folder of the test's."""
    monkeypatch.setattr(real_agents, "FOLDER", tmp_path)
    monkeypatch.setattr(real_agents, "MISSING", tmp_path / "missing.json")

    def install(one: Part) -> int:
        monkeypatch.setattr(real_agents, "PARTS", (one,))
        return main([one.name])

    return install


def test_a_part_that_fails_is_left_out_with_the_last_words_of_its_installation(
    installs: Callable[[Part], int], tmp_path: Path
) -> None:
    assert installs(FAILING) == 0
    reasons = json.loads((tmp_path / "missing.json").read_text(encoding="utf-8"))
    assert "status 3" in reasons["one"]
    assert COMPLAINT in reasons["one"]


def test_a_part_that_is_installed_later_is_missed_no_more(
    installs: Callable[[Part], int], tmp_path: Path
) -> None:
    installs(FAILING)
    assert installs(WORKING) == 0
    assert json.loads((tmp_path / "missing.json").read_text(encoding="utf-8")) == {}


def test_a_required_part_that_fails_fails_all(
    installs: Callable[[Part], int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert installs(FAILING._replace(is_required=True)) == 1
    assert COMPLAINT in capsys.readouterr().err
