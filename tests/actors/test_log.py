from __future__ import annotations

import logging
from typing import TYPE_CHECKING

from actors.log import decision

if TYPE_CHECKING:
    import pytest


def test_a_decision_tells_about_whom_then_what_then_why(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "vscodelm"):
        decision("extends", new=1, turn=2, request=7, conversation=3)
    assert caplog.messages == ["request=7 conversation=3 turn=2 extends new=1"]


def test_decisions_are_not_even_put_together_where_nobody_reads_them(
    caplog: pytest.LogCaptureFixture,
) -> None:
    class Unspeakable:
        def __str__(self) -> str:
            raise AssertionError("nobody wants to know")

    with caplog.at_level(logging.WARNING, "vscodelm"):
        decision("extends", why=Unspeakable())
    assert caplog.messages == []
