"""What the checks of the real agents came to: a plugin of pytest that makes a table of them.

The table is printed when the tests are over. It is written into the docs once every check was
carried out with every agent at its version, and nothing failed. A check counts from an earlier run,
too: pytest's cache keeps the outcomes, and the page has those that it was written with. Each report
of a test names its check and its agent, so xdist's workers need no other way to tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeAlias

import attrs
import msgspec
import pytest

from docs.generator import markdown

Kind: TypeAlias = Literal["passed", "can't", "missing", "failed"]
_MARKS: Mapping[Kind, str] = {
    "passed": "✔",
    "can't": "can't",
    "missing": "-",
    "failed": "✘",
}
_WORST: Sequence[Kind] = (*_MARKS,)
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "real-agents.md"
_TAG = "check of a real agent"
_KEPT = "real_agents/outcomes"


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
    """Say which check it is, and skip it where the agent can't pass it or isn't there."""
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
        reasons: Sequence[Kind] = ("can't", "missing")
        kind: Kind = next(one for one in reasons if f"{_TAG}: {one}" in told)
        outcome = Outcome(kind, str(told[f"{_TAG}: {kind}"][0]), notes)
    before = _collected.outcomes.get((agent, name))
    _collected.outcomes[agent, name] = outcome if before is None else before | outcome


def _last_line(report: pytest.TestReport) -> str:
    crash: Any = getattr(report.longrepr, "reprcrash", None)
    words: str = str(report.longrepr) if crash is None else crash.message
    return " ".join(words.split())[:160]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Print the table, and write it into the docs if it is whole."""
    if not _collected.outcomes:
        return
    from .agents import ALL_AGENTS
    from .checks import CHECKS

    versions = {agent.name: agent.version for agent in ALL_AGENTS}
    table = table_of(_collected.outcomes, [*versions], [*CHECKS])
    terminalreporter.section("checks of real agents")
    terminalreporter.write_line(as_text(table))
    cache: pytest.Cache | None = getattr(config, "cache", None)
    known = written(PAGE, versions)
    known |= _collected.outcomes if cache is None else remembered(cache, versions)
    if is_whole(known, [*versions], [*CHECKS]):
        page = as_page(table_of(known, [*versions], [*CHECKS]), versions, CHECKS)
        PAGE.write_text(page, encoding="utf-8")
        terminalreporter.write_line(f"\nIt is whole, and in {PAGE}.")


def remembered(cache: pytest.Cache, versions: Mapping[str, str]) -> Outcomes:
    """Return the newest outcome of each check at these versions, and keep all for the next run."""
    stored: Any = cache.get(_KEPT, {})  # pyright: ignore  # pytest gives it no type
    kept = msgspec.convert(stored, dict[str, dict[str, Outcome]])
    for (agent, check), outcome in _collected.outcomes.items():
        kept.setdefault(f"{agent} {versions.get(agent)}", {})[check] = outcome
    cache.set(_KEPT, msgspec.to_builtins(kept))
    return {
        (agent, check): outcome
        for agent, version in versions.items()
        for check, outcome in kept.get(f"{agent} {version}", {}).items()
    }


_FOOTNOTE = re.compile(r"^(\d+)\. [^:]+: (.+)$", re.MULTILINE)
_CELL = re.compile(r"(\S+)(?: ([^\[]*?))?(?: ?\[(\d+)\])?")


def written(page: Path, versions: Mapping[str, str]) -> dict[tuple[str, str], Outcome]:
    """Return the outcomes that a page has of the agents at these versions."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    reasons = dict(_FOOTNOTE.findall(text))
    lines = [line[2:-2].split(" | ") for line in text.splitlines() if line.startswith("| ")]
    head, _, *rows = lines or ([], [])
    known = [f"{name} {version}" for name, version in versions.items()]
    found: dict[tuple[str, str], Outcome] = {}
    for check, *cells in rows:
        for column, cell in zip(head[1:], cells, strict=True):
            outcome = _outcome_of(cell, reasons)
            if column in known and outcome is not None:
                found[column.partition(" ")[0], check] = outcome
    return found


def _outcome_of(cell: str, reasons: Mapping[str, str]) -> Outcome | None:
    """Return what a cell of the page says, None if it is no outcome."""
    kinds: dict[str, Kind] = {mark: kind for kind, mark in _MARKS.items()}
    parts = _CELL.fullmatch(cell.strip())
    if parts is None or parts[1] not in kinds:
        return None
    return Outcome(kinds[parts[1]], reasons.get(parts[3], ""), (parts[2],) if parts[2] else ())


def is_whole(outcomes: Outcomes, agents: Sequence[str], checks: Sequence[str]) -> bool:
    """Tell whether each agent went through each check, and nothing failed."""
    unsound = (None, "failed", "missing")
    found = (outcomes.get((agent, check)) for agent in agents for check in checks)
    return all((one and one.kind) not in unsound for one in found)
