"""A real agent over several lifetimes of `vscodelm`: who restarts it finds the same state folder.

    async with world_of(agent, folder) as world:
        async with world.lifetime() as bench:
            chat = bench.chat()
            await chat.say("Hello, my name is Ada")
        async with world.lifetime() as bench:
            chat.editor = bench.editor
            await chat.say("RECALL")

Each lifetime has a log with a line for each decision, and a trace of the agent's wire.
"""

from __future__ import annotations

import json
import os
import re
import signal
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import attrs
import trio

from tests.e2e.process import Process, started
from tests.fakes.waiting import until

from .bench import PATIENCE, Bench, alone, left_behind
from .model_server import ModelServer, model_server
from .real_agent import RealAgent, bare_environment

JSON = dict[str, Any]
_SESSION_METHODS = frozenset({"session/new", "session/resume", "session/load", "session/fork"})
_CHOOSING_METHODS = frozenset(
    {"session/set_config_option", "session/set_mode", "session/set_model"}
)


@attrs.frozen
class World:
    """What is there before a process of ours begins, and after it has ended."""

    agent: RealAgent
    server: ModelServer
    definition: JSON
    work: Path
    home: Path
    folder: Path
    lifetimes: list[Lifetime] = attrs.field(factory=list["Lifetime"], init=False)

    @asynccontextmanager
    async def lifetime(self, *, is_killed: bool = False) -> AsyncGenerator[Lifetime]:
        """Start a process. One that `is_killed` must have been when the block ends."""
        traces = self.folder / f"traces-{len(self.lifetimes)}"
        options = (
            *("--state-dir", str(self.folder / "state")),
            *("--trace-dir", str(traces), "--log-level", "info"),
        )
        environment = bare_environment(self.home)
        status = -signal.SIGKILL if is_killed else 0
        async with started(*options, env=environment, inherits=False, status=status) as process:
            process.editor.patience = PATIENCE
            process.editor.initialize("thinking", "usage")
            bench = Bench(self.agent, process, self.server, self.definition, self.work, self.home)
            lifetime = Lifetime(bench, traces)
            self.lifetimes.append(lifetime)
            yield lifetime

    async def remembers(self, sessions: int) -> None:
        """Wait until that many sessions are in the store, at rest."""
        file = self.folder / "state" / "store" / "sessions.db"

        def count() -> int:
            with closing(sqlite3.connect(file)) as database:
                (found,) = database.execute("SELECT count(*) FROM session").fetchone()
            return int(found)

        await until(lambda: count() == sessions)

    def end_orphans(self) -> None:
        """End the agents of a process that was killed: some don't heed the end of their input."""
        for process in left_behind(self.home):
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)


@attrs.frozen
class Lifetime:
    """A process of ours with the agent, from its start to its end."""

    bench: Bench
    traces: Path

    @property
    def process(self) -> Process:
        """The process."""
        return self.bench.process

    @property
    def ways(self) -> list[str]:
        """How sessions were had of the agent that it has opened for a chat, in order."""
        return [one["method"] for one in self._told(_SESSION_METHODS)]

    @property
    def changes(self) -> list[JSON]:
        """The choices that the agent was told, in order."""
        return [one["params"] for one in self._told(_CHOOSING_METHODS)]

    @property
    def prompted(self) -> set[str]:
        """The ids of the sessions that were given a prompt."""
        return {one["params"]["sessionId"] for one in self._told(frozenset({"session/prompt"}))}

    def _told(self, methods: frozenset[str]) -> list[JSON]:
        """Return what the agent was sent of these methods, in order."""
        lines = [line for file in self.traces.iterdir() for line in file.read_text().splitlines()]
        messages = [json.loads(line) for line in lines]
        return [
            one["message"]
            for one in messages
            if one.get("direction") == "out"
            and "peer" in one
            and isinstance(one["message"], dict)
            and one["message"].get("method") in methods
        ]

    async def began(self, sessions: int) -> list[str]:
        """Return how that many sessions of chats began, in order, with the reasons."""
        await until(lambda: len(self._beginnings) >= sessions)
        return self._beginnings

    @property
    def _beginnings(self) -> list[str]:
        found = re.findall(
            r"turn=\d+ ((?:fresh|replayed|resumed|forked|stored)\b.*)",
            self.process.stderr.decode(errors="replace"),
        )
        return [line.strip() for line in found]

    async def kill(self) -> None:
        """Kill the process, as a machine that runs out of memory would; nobody will answer.

        What it had written before is heard first.
        """
        os.kill(self.process.it.pid, signal.SIGKILL)
        with trio.fail_after(PATIENCE):
            await self.bench.editor.has_ended.wait()
        self.bench.editor.open.clear()


@asynccontextmanager
async def world_of(agent: RealAgent, folder: Path) -> AsyncGenerator[World]:
    """Serve an agent's model. In the end no process may be left that knows the folder."""
    home, work = folder / "home", folder / "work"
    home.mkdir()
    work.mkdir()
    async with alone(home), model_server() as server:
        yield World(agent, server, agent.definition(home, work, server.url), work, home, folder)
