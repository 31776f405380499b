"""A real agent at work: a real `vscodelm` before it, with a fake editor, and a model behind it."""

from __future__ import annotations

import os
import signal
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import attrs
import trio

from tests.e2e.process import Process, started
from tests.fakes.editor import ASKING, Chat, FakeEditor
from tests.fakes.groups import groups_of_children
from tests.fakes.waiting import until

from .model_server import ModelServer, model_server
from .real_agent import RealAgent, bare_environment

JSON = dict[str, Any]
PATIENCE = 180.0
"""Seconds; some agents need ten to start where every core is busy, and a minute among many."""


@attrs.frozen
class Bench:
    """An agent, and who is at both its sides."""

    agent: RealAgent
    process: Process
    server: ModelServer
    definition: JSON
    work: Path
    home: Path

    @property
    def editor(self) -> FakeEditor:
        """Who asks."""
        return self.process.editor

    def chat(self, **settings: Any) -> Chat:
        """Open a chat window with the agent."""
        return Chat(self.editor, agent=self.definition, options=ASKING, settings=settings)

    def groups(self) -> list[int]:
        """Return the process groups that the agent runs in."""
        return groups_of_children(self.process.it.pid)


@asynccontextmanager
async def at_work(
    agent: RealAgent, folder: Path, *arguments: str, capabilities: Sequence[str] = ()
) -> AsyncGenerator[Bench]:
    """Start a bridge for an agent, with these arguments, and an editor with these capabilities.

    In the end no process may be left that knows the folder.
    """
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    async with alone(home), model_server() as server:
        definition = agent.definition(home, work, server.url)
        async with started(*arguments, env=bare_environment(home), inherits=False) as process:
            process.editor.patience = PATIENCE
            process.editor.initialize("thinking", "usage", *capabilities)
            yield Bench(agent, process, server, definition, work, home)


@asynccontextmanager
async def alone(home: Path) -> AsyncGenerator[None]:
    """Check that in the end no process is left that has this home; and end those that are."""
    try:
        yield
        with suppress(trio.TooSlowError):
            await until(lambda: left_behind(home) == [])
        left = {process: command_of(process) for process in left_behind(home)}
        assert left == {}, left
    finally:
        for process in left_behind(home):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


def command_of(process: int) -> str:
    """Return the command line of a process; nothing if it has ended."""
    try:
        return (Path("/proc") / str(process) / "cmdline").read_bytes().replace(b"\0", b" ").decode()
    except OSError:
        return ""


def left_behind(home: Path) -> list[int]:
    """Return every process that has this home, in whichever group it hides."""
    wanted = f"HOME={home}".encode()
    left: list[int] = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # it has ended, or is none of ours
        if wanted in environment:
            left.append(int(process.name))
    return left
