"""Remember facts about agents by name and version.

Some facts can't be negotiated, and show only when something has gone wrong. A small file keeps
them, so that it goes wrong only once. All processes of a user share the file. Nothing depends on
it: without it, the same fault happens once more.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import attrs
import trio

from agents.acp.schema.initialize import Implementation
from agents.files import KeptRows
from agents.guarded import Tasks
from bridge.value import Value

MOST_AGENTS = 200
"""Remembered agents, each at one version; the oldest is forgotten."""
MOST_CHARACTERS = 200
"""Characters of a name or a version. Facts about agents with longer ones aren't kept."""
MOST_FILE_BYTES = 1024 * 1024
"""Bytes of the file; a larger one isn't ours."""
READING_SECONDS = 1.0
"""Seconds to wait for the file."""


class Fact(enum.Enum):
    """A fact that an agent's behaviour may show."""

    SESSIONS_SHARE_TOOLS = "sessions_share_tools"
    """A call for one session came to the MCP server of another."""
    RESUME_MISSING = "resume_missing"
    """It says that it resumes sessions, and doesn't know the method."""
    RESUME_REPLAYS = "resume_replays"
    """It tells again what was said in a session that it resumes, as it does when it loads one."""
    FORK_MISSING = "fork_missing"
    """It says that it forks sessions, and doesn't know the method."""
    ASKS_FOR_TOOLS = "asks_for_tools"
    """It asked for the editor's tools in some session."""
    ASKS_BEFORE_PROMPT = "asks_before_prompt"
    """It asked for the editor's tools in some session before the first prompt of that session."""
    KEEPS_SERVERS = "keeps_servers"
    """It connects to no other server of a name that its process has had for a closed session."""
    LOAD_WITHOUT_TOOLS = "load_without_tools"
    """It never connects to the server that comes with a session to load."""
    RESUME_WITHOUT_TOOLS = "resume_without_tools"
    """It never connects to the server that comes with a session to resume."""
    OPEN_WITHOUT_TOOLS = "open_without_tools"
    """It ignores the server that comes with a session that its process still has open."""
    FORK_WITHOUT_TOOLS = "fork_without_tools"
    """It never connects to the server that comes with a session to fork."""


class Lesson(Value):
    """The facts about an agent. Unknown ones are kept for other versions of this program."""

    name: str
    version: str
    facts: tuple[str, ...]

    def is_about(self, name: str, version: str) -> bool:
        """Return whether this is about the agent of that name and version."""
        return (self.name, self.version) == (name, version)


def merged(
    lessons: Iterable[Lesson], name: str, version: str, facts: Iterable[Fact]
) -> tuple[Lesson, ...]:
    """Return the lessons with these facts of an agent, which is the newest then."""
    others: list[Lesson] = []
    known = {fact.value: None for fact in facts}
    for lesson in lessons:
        if lesson.is_about(name, version):
            known.update(dict.fromkeys(lesson.facts))
        else:
            others.append(lesson)
    return (*others, Lesson(name, version, tuple(sorted(known))))[-MOST_AGENTS:]


@attrs.define(eq=False, repr=False)
class AgentFacts:
    """The facts about one version of an agent, in any of its processes."""

    _facts: set[Fact] = attrs.field(factory=set[Fact])
    _keep: Callable[[], None] = lambda: None

    def has(self, fact: Fact) -> bool:
        """Return whether the agent has shown this."""
        return fact in self._facts

    def learn(self, fact: Fact) -> None:
        """Note that the agent has shown this. Doesn't wait."""
        if fact not in self._facts:
            self._facts.add(fact)
            self._keep()


@attrs.define(eq=False, repr=False)
class Learned:
    """The facts of all agents. `find_file` says where they are kept; without it, nowhere."""

    tasks: Tasks
    find_file: Callable[[], Path] | None = None
    _known: dict[tuple[str, str], set[Fact]] = attrs.field(
        factory=dict[tuple[str, str], "set[Fact]"], init=False
    )
    _rows: KeptRows[Lesson] | None = attrs.field(default=None, init=False)
    _writing: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    def __attrs_post_init__(self) -> None:
        if self.find_file is not None:
            self._rows = KeptRows(self.find_file, Lesson, MOST_FILE_BYTES)

    async def of(self, about: Implementation | None) -> AgentFacts:
        """Return what is known of an agent that introduces itself so."""
        if about is None or not _is_kept(about):
            return AgentFacts()
        key = about.name, about.version
        facts = self._known.setdefault(key, set())
        rows = self._rows
        if rows is not None:
            with trio.move_on_after(READING_SECONDS):
                lessons = await trio.to_thread.run_sync(rows.read, abandon_on_cancel=True)
                facts |= _facts_of(lessons, *key)

        def keep() -> None:
            if rows is not None:
                self.tasks.start_soon(self._write, rows, *key)

        return AgentFacts(facts, keep)

    async def _write(self, rows: KeptRows[Lesson], name: str, version: str) -> None:
        async with self._writing:
            facts = set(self._known[name, version])
            change = partial(merged, name=name, version=version, facts=facts)
            await trio.to_thread.run_sync(rows.change, change, abandon_on_cancel=True)


def _is_kept(about: Implementation) -> bool:
    return bool(about.name) and max(len(about.name), len(about.version)) <= MOST_CHARACTERS


def _facts_of(lessons: Iterable[Lesson], name: str, version: str) -> set[Fact]:
    told = {fact for lesson in lessons if lesson.is_about(name, version) for fact in lesson.facts}
    return {fact for fact in Fact if fact.value in told}
