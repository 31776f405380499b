"""What agents have shown of themselves, remembered by their name and version.

Some facts can't be negotiated, and show only when something has gone wrong. So that it goes wrong
once, they are kept in a small file, which all processes of a user share. Nothing depends on it: a
file that can't be read or written costs another lesson.
"""

from __future__ import annotations

import enum
import logging
from collections.abc import Callable, Iterable
from pathlib import Path

import attrs
import msgspec
import trio

from agents.guarded import Tasks
from agents.whole_file import write_whole
from bridge.value import Value

from .setup import Implementation

MOST_AGENTS = 200
"""Agents, each at one version, of which something is remembered; the oldest is forgotten."""
MOST_CHARACTERS = 200
"""Characters of a name or a version. What is learned of agents with longer ones isn't kept."""
MOST_FILE_BYTES = 1024 * 1024
"""Bytes of the file; a larger one isn't ours."""
READING_SECONDS = 1.0
"""How long the file is waited for."""

log = logging.getLogger("vscodelm.acp")


class Fact(enum.Enum):
    """What an agent may show of itself."""

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
    KEEPS_SERVERS = "keeps_servers"
    """It connects to no other server of a name that its process has had for a closed session."""
    LOAD_WITHOUT_TOOLS = "load_without_tools"
    """It never connects to the server that it is given with a session to load."""
    RESUME_WITHOUT_TOOLS = "resume_without_tools"
    """It never connects to the server that it is given with a session to resume."""
    FORK_WITHOUT_TOOLS = "fork_without_tools"
    """It never connects to the server that it is given with a session to fork."""


class Lesson(Value):
    """What an agent has shown. Facts that this program doesn't know are kept for one that does."""

    name: str
    version: str
    facts: tuple[str, ...]

    @property
    def _key(self) -> tuple[str, str]:
        return self.name, self.version

    def is_about(self, name: str, version: str) -> bool:
        """Return whether this is about the agent of that name and version."""
        return self._key == (name, version)


def decode(content: bytes) -> tuple[Lesson, ...]:
    """Return what a file has, the newest last; raises `ValueError` where it isn't one of ours."""
    try:
        return msgspec.json.decode(content, type=tuple[Lesson, ...])
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def encode(lessons: Iterable[Lesson]) -> bytes:
    """Return the content of a file."""
    return msgspec.json.format(msgspec.json.encode(list(lessons)), indent=2) + b"\n"


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


def _keep_nothing() -> None:
    """Do nothing."""


@attrs.define(eq=False)
class AgentFacts:
    """What is known of one agent at one version, by whatever process it runs in."""

    _facts: set[Fact] = attrs.field(factory=set[Fact])
    _keep: Callable[[], None] = _keep_nothing

    def has(self, fact: Fact) -> bool:
        """Return whether the agent has shown this."""
        return fact in self._facts

    def learn(self, fact: Fact) -> None:
        """Note that the agent has shown this. Doesn't wait."""
        if fact not in self._facts:
            self._facts.add(fact)
            self._keep()


@attrs.define(eq=False)
class Learned:
    """The facts of all agents. `find_file` says where they are kept; without it, nowhere."""

    tasks: Tasks
    find_file: Callable[[], Path] | None = None
    _known: dict[tuple[str, str], set[Fact]] = attrs.field(
        factory=dict[tuple[str, str], "set[Fact]"], init=False
    )
    _has_warned: bool = attrs.field(default=False, init=False)
    _writing: trio.Lock = attrs.field(factory=trio.Lock, init=False)

    async def of(self, about: Implementation | None) -> AgentFacts:
        """Return what is known of an agent that introduces itself so."""
        if about is None or not _is_kept(about):
            return AgentFacts()
        key = about.name, about.version
        facts = self._known.setdefault(key, set())
        if self.find_file is not None:
            with trio.move_on_after(READING_SECONDS):
                lessons = await trio.to_thread.run_sync(self._read, abandon_on_cancel=True)
                facts |= _facts_of(lessons, *key)

        def keep() -> None:
            if self.find_file is not None:
                self.tasks.start_soon(self._write, *key)

        return AgentFacts(facts, keep)

    async def _write(self, name: str, version: str) -> None:
        async with self._writing:
            facts = set(self._known[name, version])
            await trio.to_thread.run_sync(self._put, name, version, facts, abandon_on_cancel=True)

    def _put(self, name: str, version: str, facts: Iterable[Fact]) -> None:
        """Add facts to what the file has by now, in a thread."""
        assert self.find_file is not None, "only then something is kept"
        file = self.find_file()
        try:
            write_whole(file, encode(merged(self._read(), name, version, facts)))
        except (OSError, ValueError) as error:  # such as half a character in a name
            log.warning("%s can't be written: %s", file, error)

    def _read(self) -> tuple[Lesson, ...]:
        """Return what the file has, in a thread; one that can't be used is like none."""
        assert self.find_file is not None, "only then something is kept"
        file = self.find_file()
        try:
            with file.open("rb") as opened:
                content = opened.read(MOST_FILE_BYTES + 1)
            if len(content) > MOST_FILE_BYTES:
                raise ValueError("it is too large")
            return decode(content)
        except FileNotFoundError:
            return ()
        except (OSError, ValueError) as error:
            if not self._has_warned:
                self._has_warned = True
                log.warning("%s can't be used: %s", file, error)
            return ()


def _is_kept(about: Implementation) -> bool:
    return bool(about.name) and max(len(about.name), len(about.version)) <= MOST_CHARACTERS


def _facts_of(lessons: Iterable[Lesson], name: str, version: str) -> set[Fact]:
    told = {fact for lesson in lessons if lesson.is_about(name, version) for fact in lesson.facts}
    return {fact for fact in Fact if fact.value in told}
