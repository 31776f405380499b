"""Our own recordings: decided as labelled, and told as in golden/."""

from __future__ import annotations

from pathlib import Path

import pytest

from vscodelm.replay.explain import explain

from .cases import CASES, played

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", CASES)
def test_every_request_is_decided_as_labelled(name: str) -> None:
    script = played(name)
    told = explain(script.happenings(), script.labels)
    assert not told.is_different, "\n".join(told.lines)


@pytest.mark.parametrize("name", CASES)
def test_what_is_told_of_it_is_as_it_was(name: str, request: pytest.FixtureRequest) -> None:
    script = played(name)
    told = explain(script.happenings(), script.labels)
    text = "\n".join([CASES[name].__doc__ or "", "", *told.lines, ""])
    path = GOLDEN / f"{name}.txt"
    if request.config.getoption("--update-golden", default=False):
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8"), "make golden writes it anew; review the diff"


def test_no_golden_file_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == CASES.keys()
