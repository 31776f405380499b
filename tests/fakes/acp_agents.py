"""`AcpAgent`s over the scripted peer: in this process, or as a program in a child process."""

from __future__ import annotations

import json
import sys
import tempfile
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from itertools import count
from pathlib import Path
from typing import Any

import attrs
import trio

from agents.acp.agent import AcpAgent
from agents.base import AgentSession, no_account
from agents.events import Prompt
from agents.origin import FRESH, Origin
from bridge.models import AgentChoice
from bridge.wire import ListedSession, McpServerSpec

from . import acp_program
from .acp_peer import PeerAgent
from .groups import group_members
from .waiting import until

JSON = dict[str, Any]

SPEC = McpServerSpec("fake", "fake-acp")


@asynccontextmanager
async def agent_in_process(
    script: JSON, **options: Any
) -> AsyncGenerator[tuple[AcpAgent, PeerAgent], None]:
    """Open an agent whose processes are peers in this one; on exit none of them runs."""
    peers = PeerAgent(script)
    numbers = count()
    async with trio.open_nursery() as nursery:
        yield (
            AcpAgent(
                SPEC,
                nursery,
                new_call_id=lambda: f"acp-{next(numbers)}",
                connect=peers.connect,
                **options,
            ),
            peers,
        )
        nursery.cancel_scope.cancel()
    assert peers.running == 0


@attrs.frozen
class OfChats:
    """The agent, as a chat has it."""

    agent: AcpAgent

    async def prepare(self) -> None:
        await self.agent.prepare()

    def session(
        self, prompt: Prompt, origin: Origin = FRESH
    ) -> AbstractAsyncContextManager[AgentSession]:
        return self.agent.session_of_chat(prompt, origin)

    async def log_in(self, choice: AgentChoice, method_id: str) -> None:
        raise no_account("It")

    async def log_out(self, choice: AgentChoice) -> None:
        raise no_account("It")

    async def sessions_of(self, choice: AgentChoice) -> list[ListedSession]:
        return await self.agent.sessions()


@attrs.frozen
class ChildAgent:
    """What the program kept of what it heard."""

    folder: Path

    def spec(self) -> McpServerSpec:
        """Return the definition that starts the program."""
        arguments = ("-S", acp_program.__file__, self.script, self.log)
        return McpServerSpec("fake", sys.executable, tuple(map(str, arguments)))

    @property
    def script(self) -> Path:
        return self.folder / "script.json"

    @property
    def log(self) -> Path:
        return self.folder / "log.jsonl"

    @property
    def heard(self) -> list[JSON]:
        """Every message that any of the processes heard, and what they themselves noted."""
        if not self.log.exists():
            return []
        return [json.loads(line) for line in self.log.read_text().splitlines()]

    @property
    def faults(self) -> list[str]:
        """What they found wrong with their client."""
        return [entry["fault"] for entry in self.heard if "fault" in entry]

    @property
    def processes(self) -> list[int]:
        """Every process that was started, in order; each leads a group."""
        return [entry["process"] for entry in self.heard if "process" in entry]

    @property
    def living(self) -> list[int]:
        """Every process that is left of their groups."""
        return [member for group in self.processes for member in group_members(group)]

    def asked(self, method: str) -> list[JSON]:
        """Return the parameters of every message of that method."""
        return [entry["params"] for entry in self.heard if entry.get("method") == method]

    async def hears(self, method: str) -> None:
        """Wait until a message of that method was heard."""
        await until(lambda: bool(self.asked(method)))


@asynccontextmanager
async def child_program(script: JSON) -> AsyncGenerator[ChildAgent, None]:
    """Put a script where the program finds it; on exit no process of it is left."""
    with tempfile.TemporaryDirectory() as folder:
        child = ChildAgent(Path(folder))
        child.script.write_text(json.dumps(script))
        yield child
        # Killed is not gone yet, on a busy machine.
        await until(lambda: child.living == [])


@asynccontextmanager
async def agent_as_child(
    script: JSON, **options: Any
) -> AsyncGenerator[tuple[AcpAgent, ChildAgent], None]:
    """Open an agent whose processes are real ones."""
    async with child_program(script) as child, trio.open_nursery() as nursery:
        yield child_agent(child, nursery, **options), child
        nursery.cancel_scope.cancel()


def child_agent(child: ChildAgent, nursery: trio.Nursery, **options: Any) -> AcpAgent:
    """Return an agent that runs as this program."""
    numbers = count()
    return AcpAgent(child.spec(), nursery, new_call_id=lambda: f"acp-{next(numbers)}", **options)
