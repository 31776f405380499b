"""The table of what the checks of the real agents came to."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from . import outcomes
from .agents import ALL_AGENTS
from .checks import CHECKS, SHORT, is_short
from .outcomes import Outcome, as_page, as_text, table_of
from .real_agent import RealAgent

TAG = "check of a real agent"
FOUND = {
    ("ada", "answer"): Outcome("passed"),
    ("ada", "image"): Outcome("can't", "it sees nothing"),
    ("ada", "processes"): Outcome("passed", notes=("2, 300 MB",)),
    ("bob", "answer"): Outcome("failed", "it is mute"),
    ("bob", "image"): Outcome("can't", "it sees nothing"),
    ("eve", "answer"): Outcome("missing", "no such package"),
}
ORDER = ["eve", "ada", "nobody", "bob"], ["answer", "edit", "image", "processes"]


def report(
    when: str = "call", outcome: str = "passed", tag: str = TAG, **more: Any
) -> pytest.TestReport:
    told = [(tag, ("ada", "edit")), *((f"{tag}: {key}", value) for key, value in more.items())]
    return pytest.TestReport(
        nodeid="test",
        location=("file", 1, "test"),
        keywords={},
        outcome=outcome,  # pyright: ignore[reportArgumentType]  any of them
        longrepr="E   it is\n  broken" if outcome == "failed" else None,
        when=when,  # pyright: ignore[reportArgumentType]  any of them
        user_properties=told,
    )


@pytest.fixture(name="found")
def _found(monkeypatch: pytest.MonkeyPatch) -> dict[tuple[str, str], Outcome]:
    """Let reports go where no table is made of them."""
    collected = outcomes._Collected()  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(outcomes, "_collected", collected)
    return collected.outcomes


def test_the_table_has_what_was_carried_out_in_order_with_reasons_below() -> None:
    assert as_text(table_of(FOUND, *ORDER)).splitlines() == [
        "           eve    ada          bob",
        "answer     - [1]  ✔            ✘ [2]",
        "image             can't [3]    can't [4]",
        "processes         ✔ 2, 300 MB",
        "",
        "[1] eve: no such package",
        "[2] bob: it is mute",
        "[3] ada: it sees nothing",
        "[4] bob: it sees nothing",
    ]


def test_the_page_has_the_versions_and_what_each_check_shows() -> None:
    page = as_page(
        table_of(FOUND, *ORDER), dict.fromkeys(ORDER[0], "1.2"), {"answer": "it answers"}
    )
    assert "\n|  | eve 1.2 | ada 1.2 | bob 1.2 |\n| --- | --- | --- | --- |\n" in page
    assert "\n| processes |  | ✔ 2, 300 MB |  |\n\n1. eve: no such package\n" in page
    assert page.endswith("\n\n- *answer*: it answers.\n")


def test_of_two_tests_of_a_check_the_worse_counts(found: dict[tuple[str, str], Outcome]) -> None:
    outcomes.pytest_runtest_logreport(report(note="first"))
    outcomes.pytest_runtest_logreport(report(outcome="failed"))
    outcomes.pytest_runtest_logreport(report(note="first"))
    outcomes.pytest_runtest_logreport(report(note="second"))
    assert found == {("ada", "edit"): Outcome("failed", "E it is broken", ("first", "second"))}


def test_a_failure_before_or_after_the_test_itself_is_one(
    found: dict[tuple[str, str], Outcome],
) -> None:
    for phase in ("setup", "teardown"):
        found.clear()
        outcomes.pytest_runtest_logreport(report())
        outcomes.pytest_runtest_logreport(report(phase))
        assert found["ada", "edit"].kind == "passed"
        outcomes.pytest_runtest_logreport(report(phase, "failed"))
        assert found["ada", "edit"].kind == "failed"


@pytest.mark.parametrize("kind", ["can't", "missing", "fails"])
def test_a_skip_tells_why(found: dict[tuple[str, str], Outcome], kind: Any) -> None:
    outcomes.pytest_runtest_logreport(report("setup", "skipped", **{kind: "it is deaf"}))
    assert found == {("ada", "edit"): Outcome(kind, "it is deaf")}


def test_a_check_that_is_known_to_fail_and_passes_has_passed(
    found: dict[tuple[str, str], Outcome],
) -> None:
    outcomes.pytest_runtest_logreport(report(fails="it is deaf"))
    assert found == {("ada", "edit"): Outcome("passed")}
    outcomes.pytest_runtest_logreport(report(outcome="skipped", fails="it is deaf", note="no"))
    assert found == {("ada", "edit"): Outcome("fails", "it is deaf", ("no",))}
    outcomes.pytest_runtest_logreport(report("teardown", "failed", fails="it is deaf"))
    assert found["ada", "edit"].kind == "failed", "nobody knew of that"


TESTS = """
import attrs
import pytest

from tests.real.agents import CLAUDE

ADA = attrs.evolve(CLAUDE, name="ada", fails={"edit": "it is deaf"})
BOB = attrs.evolve(CLAUDE, name="bob", fails={"image": "it sees nothing"})


@pytest.mark.check("edit")
@pytest.mark.parametrize("stage", [ADA, BOB])
def test_edit(stage):
    raise AssertionError("it is broken")


@pytest.mark.check("answer")
@pytest.mark.parametrize("stage", [ADA])
def test_answer(stage):
    pass
"""


def _is_there(_: RealAgent) -> None:
    """Stand in for `why_missing`: here nothing need be installed."""


def test_only_the_check_that_is_known_to_fail_may_fail(
    found: dict[tuple[str, str], Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is known of another agent, or of another check, counts for nothing."""
    monkeypatch.setattr(RealAgent, "why_missing", _is_there)
    file = tmp_path / "test_these.py"
    file.write_text(TESTS, encoding="utf-8")
    options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    assert pytest.main([*options, str(file)], plugins=[outcomes]) == 1
    assert {name: (one.kind, one.why) for name, one in found.items()} == {
        ("ada", "edit"): ("fails", "it is deaf"),
        ("bob", "edit"): ("failed", "AssertionError: it is broken"),
        ("ada", "answer"): ("passed", ""),
    }


def test_other_tests_are_no_checks(found: dict[tuple[str, str], Outcome]) -> None:
    outcomes.pytest_runtest_logreport(report(tag="other"))
    assert found == {}


class Terminal:
    """The terminal, as far as the plugin writes to it."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str) -> None:
        self.lines.append(title)

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def test_only_a_whole_table_goes_into_the_docs(
    found: dict[tuple[str, str], Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    monkeypatch.setattr(outcomes, "PAGE", page)
    terminal: Any = Terminal()
    outcomes.pytest_terminal_summary(terminal)
    assert terminal.lines == []
    found |= {(agent.name, check): Outcome("passed") for agent in ALL_AGENTS for check in CHECKS}
    last = found.popitem()
    outcomes.pytest_terminal_summary(terminal)
    assert "quiet log" in terminal.lines[1]
    assert not page.exists()
    found |= [last]
    outcomes.pytest_terminal_summary(terminal)
    assert all(f"{agent.name} {agent.version}" in page.read_text() for agent in ALL_AGENTS)


def test_what_an_agent_lacks_is_a_check_or_another_ability_with_a_reason() -> None:
    assert {*SHORT} < {*CHECKS}
    for agent in ALL_AGENTS:
        assert {*agent.lacks} <= {*CHECKS, "thinking", "stream", "schemas"}
        assert {*agent.fails} <= {*CHECKS} - {*agent.lacks}
        assert all([*agent.lacks.values(), *agent.fails.values()])


def test_the_short_form_has_the_agents_that_vscodelm_comes_with() -> None:
    ready = {agent.name for agent in ALL_AGENTS if agent.ready}
    assert ready == {"claude", "codex", "opencode", "gemini", "copilot", "qwen"}
    assert {agent.name for agent in ALL_AGENTS if is_short(agent)} == {*ready, "fast-agent"}
    for agent in ALL_AGENTS:
        checks = {check for check in CHECKS if is_short(agent, check)}
        assert checks == ({*SHORT} if is_short(agent) else set())
