"""ACP agents whose sessions remember every word: the real `AcpAgent`, over processes of the test's.

They know a fact by its spelling in a text.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import count

import attrs
import trio
from trio.testing import MemoryReceiveStream, memory_stream_one_way_pair

from agents.acp.agent import AcpAgent
from agents.acp.session import AcpSession
from agents.acp.transport.base import Link
from agents.base import AgentSession
from agents.open_responses.checkpoints import PointMemory
from bridge.models import AgentChoice
from bridge.wire import McpServerSpec, Part, TextPart, ThinkingPart
from tests.fakes.acp_peer import PeerLink

from .acp_process import AcpReach, Process
from .mind import Mind, Taken
from .noted import NotedAgent
from .spelling import read

_SPEC = McpServerSpec("remembering", "remembering-acp")


@attrs.define(eq=False)
class AcpMinds:
    """Such agents, one for each definition; it satisfies `mind.Troupe`, and `acp_process.Disk`."""

    reach: AcpReach
    forgets: bool
    one_session_each: bool = False
    """Whether each session takes a process for itself."""
    dawdles: bool = False
    spells: bool = attrs.field(default=True, init=False)
    calls_tools: bool = attrs.field(default=False, init=False)
    reaction_seconds: float = attrs.field(default=0.4, init=False)
    kept: dict[str, Mind] = attrs.field(factory=dict["str", "Mind"])
    """The sessions of all of them."""
    _nursery: trio.Nursery = attrs.field(init=False)
    _agents: dict[bytes, NotedAgent] = attrs.field(factory=dict["bytes", "NotedAgent"], init=False)
    _processes: list[Process] = attrs.field(factory=list["Process"], init=False)
    _notes: dict[str, Taken] = attrs.field(factory=dict["str", "Taken"], init=False)
    """The request that each session is about to be told."""
    _sessions: dict[int, tuple[Process, str]] = attrs.field(
        factory=dict["int", "tuple[Process, str]"], init=False
    )
    _minds: dict[int, Mind] = attrs.field(factory=dict["int", "Mind"], init=False)
    """The session that took each request."""
    _newest: dict[str, int] = attrs.field(factory=dict["str", "int"], init=False)
    """The newest request that each session took."""
    _taken: list[Taken] = attrs.field(factory=list["Taken"], init=False)
    _ids: count[int] = attrs.field(factory=lambda: count(1), alias="ids")

    def beside(self) -> AcpMinds:
        return AcpMinds(
            self.reach, self.forgets, self.one_session_each, kept=self.kept, ids=self._ids
        )

    @asynccontextmanager
    async def running(self, points: PointMemory) -> AsyncGenerator[None, None]:
        self._agents.clear()
        self._sessions.clear()
        self._minds.clear()
        self._taken.clear()
        async with trio.open_nursery() as self._nursery:
            yield
            assert not any(one.open for one in self._processes), "a session is left open"
            self._nursery.cancel_scope.cancel()
        assert not self._processes, "a process is left"
        self.dawdles = False
        if self.forgets:
            self.kept.clear()

    def agent_for(self, choice: AgentChoice) -> NotedAgent:
        if choice.key not in self._agents:
            agent = AcpAgent(
                _SPEC,
                self._nursery,
                new_call_id=lambda: f"acp-{next(self._ids)}",
                connect=self._connect,
                spares=False,
            )
            self._agents[choice.key] = NotedAgent(agent, self._note)
        return self._agents[choice.key]

    @asynccontextmanager
    async def _connect(self) -> AsyncGenerator[Link, None]:
        sink, source = memory_stream_one_way_pair()
        out = MemoryReceiveStream()
        link = PeerLink(out, sink)
        process = Process(self, out, link)
        self._processes.append(process)
        async with trio.open_nursery() as nursery:
            nursery.start_soon(process.run, source)
            try:
                yield link
            finally:
                self._processes.remove(process)
                nursery.cancel_scope.cancel()

    def _note(self, taken: Taken, session: AgentSession) -> None:
        assert isinstance(session, AcpSession)
        name = session.channel.session_id
        self._notes[name] = taken
        if taken.goes_on:  # nothing need be told it: its turn goes on
            self._take(next(one for one in self._processes if name in one.open), name, taken)
            self._notes[name] = attrs.evolve(taken, is_first=False, goes_on=False)

    # What a process does.

    def keep(self, mind: Mind) -> str:
        """Give a session an id, and keep it."""
        session = f"session-{next(self._ids)}"
        self.kept[session] = mind
        return session

    def be_told(self, process: Process, session: str, told: str) -> None:
        """Take in a prompt."""
        process.open[session].facts += read(told)
        self._take(process, session, self._notes.pop(session))

    def _take(self, process: Process, session: str, taken: Taken) -> None:
        self._newest[session] = taken.request
        self._sessions[taken.request] = process, session
        self._minds[taken.request] = process.open[session]
        self._taken.append(taken)

    # What the test has them do.

    def taken(self) -> Sequence[Taken]:
        taken, self._taken = self._taken, []
        return taken

    def mind(self, request: int) -> Mind:
        return self._minds[request]

    def is_working(self, request: int) -> bool:
        if request not in self._sessions or self._newest[self._sessions[request][1]] != request:
            return False
        process, session = self._sessions[request]
        return session in process.prompted and session not in process.cancelled

    def is_stopping(self) -> bool:
        return self.dawdles

    def say(self, request: int, part: Part, fact: int) -> None:
        process, session = self._sessions[request]
        match part:
            case TextPart(value=text):
                self.mind(request).facts += read(text)
                process.update(session, "agent_message_chunk", text)
            case ThinkingPart(value=text):
                process.update(session, "agent_thought_chunk", str(text))
            case _:
                pass  # these call no tools

    def finish(self, request: int) -> None:
        process, session = self._sessions[request]
        process.finish(session, result={"stopReason": "end_turn"})

    def fail(self, request: int) -> None:
        process, session = self._sessions[request]
        process.finish(session, error={"code": -32603, "message": "it fell over"})

    def crash(self, request: int) -> None:
        process, _ = self._sessions[request]
        process.end(1)
        if self.forgets:
            for session in process.open:
                self.kept.pop(session, None)
        process.open.clear()

    def dawdle(self) -> None:
        self.dawdles = True

    def hurry(self) -> None:
        self.dawdles = False
        for process in self._processes:
            process.stop()
