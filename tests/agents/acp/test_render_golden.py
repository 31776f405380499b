"""Whole turns as a user sees them; read the files in golden/.

`make golden` records them anew.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from .scenes import SCENES, render

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", SCENES)
def test_a_turn_is_shown_as_its_golden_file_has_it(
    name: str, request: pytest.FixtureRequest
) -> None:
    file = GOLDEN / f"{name}.md"
    shown = render(SCENES[name])
    if request.config.getoption("--update-golden"):
        file.write_text(shown, encoding="utf-8")
    assert shown == file.read_text(encoding="utf-8")


def test_every_golden_file_has_a_turn() -> None:
    assert {file.stem for file in GOLDEN.glob("*.md")} == set(SCENES)
