"""The table of what the checks of the real agents came to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import attrs
import pytest

from . import outcomes
from .agents import ALL_AGENTS
from .checks import CHECKS, SHORT, is_short
from .outcomes import Outcome, as_page, as_text, remembered, table_of, written
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
LACKS = Outcome("can't", "it sees nothing")
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


@pytest.mark.parametrize("kind", ["can't", "missing"])
def test_a_skip_tells_why(found: dict[tuple[str, str], Outcome], kind: Any) -> None:
    outcomes.pytest_runtest_logreport(report("setup", "skipped", **{kind: "it is deaf"}))
    assert found == {("ada", "edit"): Outcome(kind, "it is deaf")}


TESTS = """
import attrs
import pytest

from tests.real.agents import CLAUDE

ADA = attrs.evolve(CLAUDE, name="ada", lacks={"edit": "it is deaf"})
BOB = attrs.evolve(CLAUDE, name="bob", lacks={"image": "it sees nothing"})


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


def test_only_the_check_that_an_agent_lacks_is_left_out(
    found: dict[tuple[str, str], Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What another agent lacks, or of another check, counts for nothing."""
    monkeypatch.setattr(RealAgent, "why_missing", _is_there)
    file = tmp_path / "test_these.py"
    file.write_text(TESTS, encoding="utf-8")
    options = ["-q", "-c", "/dev/null", "-p", "no:cacheprovider", "--rootdir", str(tmp_path)]
    assert pytest.main([*options, str(file)], plugins=[outcomes]) == 1
    assert {name: (one.kind, one.why) for name, one in found.items()} == {
        ("ada", "edit"): ("can't", "it is deaf"),
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


class Kept:
    """pytest's cache: JSON that outlives a run."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def get(self, key: str, default: Any) -> Any:
        return json.loads(self.texts[key]) if key in self.texts else default

    def set(self, key: str, value: object) -> None:
        self.texts[key] = json.dumps(value)


@attrs.define
class Run:
    """A run of pytest, as far as the plugin asks about it."""

    cache: Kept


def test_only_a_whole_table_without_surprises_goes_into_the_docs(
    found: dict[tuple[str, str], Outcome], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    monkeypatch.setattr(outcomes, "PAGE", page)
    terminal: Any = Terminal()

    def end_of_run() -> None:
        run: Any = Run(Kept())
        outcomes.pytest_terminal_summary(terminal, run)

    end_of_run()
    assert terminal.lines == []
    found |= {(agent.name, check): Outcome("passed") for agent in ALL_AGENTS for check in CHECKS}
    last = found.popitem()
    end_of_run()
    assert "quiet log" in terminal.lines[1]
    assert not page.exists()
    for kind in ("failed", "missing"):
        found[last[0]] = Outcome(kind, "it broke")
        end_of_run()
        assert not page.exists()
    found |= [last]
    end_of_run()
    assert all(f"{agent.name} {agent.version}" in page.read_text() for agent in ALL_AGENTS)


def test_a_table_is_completed_by_what_earlier_runs_found_at_the_same_versions(
    found: dict[tuple[str, str], Outcome],
) -> None:
    cache: Any = Kept()
    found |= {("ada", "answer"): Outcome("passed", notes=("resume",)), ("bob", "edit"): LACKS}
    assert remembered(cache, {"ada": "1.0", "bob": "2.0"}) == found
    found.clear()
    found["ada", "edit"] = Outcome("failed", "it broke")
    assert remembered(cache, {"ada": "1.0", "bob": "2.1"}) == {
        ("ada", "answer"): Outcome("passed", notes=("resume",)),
        ("ada", "edit"): Outcome("failed", "it broke"),
    }
    found["ada", "edit"] = Outcome("passed")
    assert remembered(cache, {"ada": "1.0", "bob": "2.0"}) == {
        ("ada", "answer"): Outcome("passed", notes=("resume",)),
        ("ada", "edit"): Outcome("passed"),
        ("bob", "edit"): LACKS,
    }


def test_a_table_is_completed_by_what_the_page_has_of_the_same_versions(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    versions = dict.fromkeys(ORDER[0], "1.2")
    assert written(page, versions) == {}
    page.write_text(as_page(table_of(FOUND, *ORDER), versions, {"answer": "it answers"}))
    assert written(page, versions) == FOUND
    others = {name: one for name, one in FOUND.items() if name[0] != "bob"}
    assert written(page, versions | {"bob": "1.3"}) == others
    page.write_text(page.read_text().replace("✘ [2]", "unheard of [2]"))
    assert ("bob", "answer") not in written(page, versions)


def test_what_an_agent_lacks_is_a_check_or_another_ability_with_a_reason() -> None:
    assert {*SHORT} < {*CHECKS}
    for agent in ALL_AGENTS:
        assert {*agent.lacks} <= {*CHECKS, "thinking", "stream", "schemas"}
        assert all(agent.lacks.values())


def test_the_short_form_has_the_agents_that_vscodelm_comes_with() -> None:
    ready = {agent.name for agent in ALL_AGENTS if agent.ready}
    assert ready == {"claude", "codex", "opencode", "gemini", "copilot", "qwen"}
    assert {agent.name for agent in ALL_AGENTS if is_short(agent)} == {*ready, "fast-agent"}
    for agent in ALL_AGENTS:
        checks = {check for check in CHECKS if is_short(agent, check)}
        assert checks == ({*SHORT} if is_short(agent) else set())
