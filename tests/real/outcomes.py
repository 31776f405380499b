"""What the checks of the real agents came to: a plugin of pytest that makes a table of them.

The table is printed when the tests are over. It is written into the docs once every check was
carried out with every agent, at its version: in this run or, if only some tests are run again, in
an earlier one, which pytest's cache remembers. Each report of a test carries which check of which
agent it is, so that xdist's workers need nothing else to tell.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import pytest

from docs.generator import markdown

Kind: TypeAlias = Literal["passed", "can't", "fails", "missing", "failed"]
_MARKS: Mapping[Kind, str] = {
    "passed": "✔",
    "can't": "can't",
    "fails": "fails",
    "missing": "-",
    "failed": "✘",
}
_WORST: Sequence[Kind] = (*_MARKS,)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "real-agents.md"
_TAG = "check of a real agent"


@attrs.frozen
class Outcome:
    """What a check of an agent came to; `why` is what can't be done, or what has failed."""

    kind: Kind
    why: str = ""
    notes: tuple[str, ...] = ()

    def __or__(self, other: Outcome) -> Outcome:
        """Join what two tests of one check came to: the worse counts."""
        worse = max(self, other, key=lambda one: _WORST.index(one.kind))
        return attrs.evolve(worse, notes=tuple(dict.fromkeys((*self.notes, *other.notes))))


Outcomes: TypeAlias = Mapping[tuple[str, str], Outcome]
"""By agent and check."""


@attrs.frozen
class Table:
    """A table with a row for each check, a column for each agent, and footnotes."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    footnotes: Sequence[str]


def table_of(outcomes: Outcomes, agents: Sequence[str], checks: Sequence[str]) -> Table:
    """Return the table of what was carried out; agents and checks keep their order."""
    there = [agent for agent in agents if any(one == agent for one, _ in outcomes)]
    footnotes: dict[str, int] = {}
    rows: list[list[str]] = []
    for check in checks:
        found = [outcomes.get((agent, check)) for agent in there]
        if any(found):
            cells = [_cell(a, one, footnotes) for a, one in zip(there, found, strict=True)]
            rows.append([check, *cells])
    return Table(["", *there], rows, [*footnotes])


def _cell(agent: str, outcome: Outcome | None, footnotes: dict[str, int]) -> str:
    if outcome is None:
        return ""
    words = [_MARKS[outcome.kind], *([", ".join(outcome.notes)] if outcome.notes else [])]
    if outcome.why:
        number = footnotes.setdefault(f"{agent}: {outcome.why}", len(footnotes) + 1)
        words.append(f"[{number}]")
    return " ".join(words)


def as_text(table: Table) -> str:
    """Return the table for a terminal."""
    lines = [table.head, *table.rows]
    widths = [max(len(line[column]) for line in lines) for column in range(len(table.head))]
    shown = [
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        for line in lines
    ]
    notes = [f"[{number}] {one}" for number, one in enumerate(table.footnotes, 1)]
    return "\n".join([*shown, *([""] if notes else []), *notes])


def as_page(table: Table, versions: Mapping[str, str], checks: Mapping[str, str]) -> str:
    """Return the page of the docs."""
    head = [table.head[0], *(f"{name} {versions[name]}" for name in table.head[1:])]
    grid = markdown.table(head, table.rows)
    notes = "\n".join(f"{number}. {one}" for number, one in enumerate(table.footnotes, 1))
    shown = "\n".join(f"- *{name}*: {words}." for name, words in checks.items())
    return "\n\n".join([_HEAD, grid, *([notes] if notes else []), _CHECKS, shown]) + "\n"


_HEAD = """# Checks of real agents

`make test-agents` has written this page. It puts each agent through each check, with a scripted
model in place of its own, and with no network.

- ✔: the check passed. Behind it stands what was measured, or which way the agent took.
- can't: the agent doesn't offer this, or fails in the same way with the official SDK's client.
- fails: vscodelm doesn't pass this check with the agent yet. The footnote tells why.
- ✘: the check failed, and nobody expected it. `-`: the agent could not be installed.

[Real agents](../explanation/real-agents.md) tells how they are tested, and what was learnt."""
_CHECKS = "## The checks"


# The plugin.


@attrs.define
class _Collected:
    """What has come in, and the test that is running here."""

    outcomes: dict[tuple[str, str], Outcome] = attrs.field(factory=dict[tuple[str, str], Outcome])
    running: pytest.Item | None = None


_collected = _Collected()


def note(words: str) -> None:
    """Show something behind the mark of the check that is running."""
    assert _collected.running is not None
    _collected.running.user_properties.append((f"{_TAG}: note", words))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Say which check it is, and skip it where the agent can't pass it or isn't there.

    A check that is known to fail runs all the same, and may pass.
    """
    mark = item.get_closest_marker("check")
    if mark is None or not isinstance(item, pytest.Function):
        return
    agent: Any = item.callspec.params["stage"]
    (name,) = mark.args
    item.user_properties.append((_TAG, (agent.name, name)))
    _collected.running = item
    reasons = {"missing": agent.why_missing(), "can't": agent.lacks.get(name)}
    for kind, why in reasons.items():
        if why is not None:
            item.user_properties.append((f"{_TAG}: {kind}", why))
            pytest.skip(f"{agent.name}: {why}")
    known: str | None = agent.fails.get(name)
    if known is not None:
        item.user_properties.append((f"{_TAG}: fails", known))
        item.add_marker(pytest.mark.xfail(reason=known, strict=False))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Take in what became of a test, in whichever process it ran."""
    told: dict[str, list[Any]] = {}
    for key, value in report.user_properties:
        told.setdefault(key, []).append(value)
    if _TAG not in told or (report.when != "call" and report.passed):
        return
    agent, name = told[_TAG][0]
    notes = tuple(map(str, told.get(f"{_TAG}: note", ())))
    outcome = Outcome("passed", notes=notes)
    if report.failed:
        outcome = Outcome("failed", _last_line(report))
    elif report.skipped:
        reasons: Sequence[Kind] = ("can't", "missing", "fails")
        kind: Kind = next(one for one in reasons if f"{_TAG}: {one}" in told)
        outcome = Outcome(kind, str(told[f"{_TAG}: {kind}"][0]), notes)
    before = _collected.outcomes.get((agent, name))
    _collected.outcomes[agent, name] = outcome if before is None else before | outcome


def _last_line(report: pytest.TestReport) -> str:
    crash: Any = getattr(report.longrepr, "reprcrash", None)
    words: str = str(report.longrepr) if crash is None else crash.message
    return " ".join(words.split())[:160]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the table, and write it into the docs if it is whole."""
    outcomes = _collected.outcomes
    if not outcomes:
        return
    from .agents import ALL_AGENTS
    from .checks import CHECKS

    names = [agent.name for agent in ALL_AGENTS]
    table = table_of(outcomes, names, [*CHECKS])
    terminalreporter.section("checks of real agents")
    terminalreporter.write_line(as_text(table))
    if all((name, check) in outcomes for name in names for check in CHECKS):
        versions = {agent.name: agent.version for agent in ALL_AGENTS}
        PAGE.write_text(as_page(table, versions, CHECKS), encoding="utf-8")
        terminalreporter.write_line(f"\nIt is whole, and in {PAGE}.")
