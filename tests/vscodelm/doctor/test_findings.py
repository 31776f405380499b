from __future__ import annotations

import pytest

from bridge.fixes import OpenPage, RunCommand
from vscodelm.doctor.findings import Finding, Report, State, duration

PAGE = OpenPage("KEY", "https://example.org")


@pytest.mark.parametrize(
    ("seconds", "told"),
    [(0, "0 ms"), (0.0123, "12 ms"), (0.1, "0.1 s"), (12.34, "12.3 s"), (90, "1.5 min")],
)
def test_a_duration_is_for_people(seconds: float, told: str) -> None:
    assert duration(seconds) == told


@pytest.mark.parametrize(
    ("states", "usable"),
    [((), False), (("ok",), True), (("ok", "note"), True), (("ok", "failed", "ok"), False)],
)
def test_an_agent_can_be_used_if_nothing_failed(states: tuple[State, ...], usable: bool) -> None:
    report = Report("it", tuple(Finding("end", state, "so") for state in states))
    assert report.is_usable is usable
    assert report.as_json()["usable"] is usable


def test_json_has_what_is_there_and_nothing_else() -> None:
    told = Report(
        "it",
        (
            Finding("end", "ok", "fine"),
            Finding(
                "prompt", "failed", "no", 1.23456, (("a", "b"),), "do", "err", {"k": 1}, (PAGE,)
            ),
        ),
    ).as_json()
    assert told == {
        "agent": "it",
        "usable": False,
        "findings": [
            {"step": "end", "state": "ok", "summary": "fine"},
            {
                "step": "prompt",
                "state": "failed",
                "summary": "no",
                "seconds": 1.235,
                "facts": {"a": "b"},
                "advice": "do",
                "stderr": "err",
                "data": {"k": 1},
                "fixes": [{"type": "page", "title": "KEY", "url": "https://example.org"}],
            },
        ],
    }


def test_a_finding_is_shown_without_secrets() -> None:
    found = Finding(
        *("command", "ok", "KEY", 1.0, (("a", "KEY"),), "KEY", "KEY", {"b": ["KEY", 1]}),
        (PAGE, RunCommand("Log in", "agent", ("KEY",))),
    )

    def hide(text: str) -> str:
        return text.replace("KEY", "-")

    page = OpenPage("-", "https://example.org")
    shown = Finding("command", "ok", "-", 1.0, (("a", "-"),), "-", "-", {"b": ["-", 1]}, (page,))
    assert found.without_secrets(hide) == shown
