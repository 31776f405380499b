"""ACP agents whose sessions remember every word: the real `AcpAgent`, over peers in this process.

A peer says what the test says, and knows a fact by its spelling in a text. It speaks as much of the
protocol as that takes, and no tool is called.
"""

from __future__ import annotations

import enum
import json
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from itertools import count
from typing import Any

import attrs
import trio
from trio.testing import MemoryReceiveStream, memory_stream_one_way_pair

from agents.acp.agent import AcpAgent
from agents.acp.link import Link
from agents.acp.session import AcpSession
from agents.base import AgentSession
from bridge.models import AgentChoice
from bridge.wire import McpServerSpec, Part, TextPart, ThinkingPart
from tests.fakes.acp_peer import PeerLink

from .mind import Mind, Taken
from .noted import NotedAgent
from .spelling import read

JSON = dict[str, Any]

_SPEC = McpServerSpec("remembering", "remembering-acp")
_NOT_FOUND: JSON = {"code": -32002, "message": "Resource not found"}


class AcpReach(enum.Enum):
    """What an agent can find again, and how."""

    NOTHING = "nothing"
    RESUME = "resume"
    LOAD = "load"
    """It tells again what was said."""
    FORK = "fork"
    """Copies, and what it can resume."""

    @property
    def about(self) -> JSON:
        """What it says of itself."""
        sessions: JSON = {"close": {}}
        if self in (AcpReach.RESUME, AcpReach.FORK):
            sessions["resume"] = {}
        if self is AcpReach.FORK:
            sessions["fork"] = {}
        abilities = {"loadSession": self is AcpReach.LOAD, "sessionCapabilities": sessions}
        about = {"name": "remembering", "version": "1"}
        return {"protocolVersion": 1, "agentInfo": about, "agentCapabilities": abilities}


@attrs.define(eq=False)
class Process:
    """A process of an agent's."""

    minds: AcpMinds
    out: MemoryReceiveStream
    """What the other side reads."""
    link: PeerLink
    open: dict[str, Mind] = attrs.field(factory=dict["str", "Mind"])
    prompted: dict[str, Any] = attrs.field(factory=dict[str, Any])
    """The prompt that each session answers."""
    cancelled: set[str] = attrs.field(factory=set[str])

    async def run(self, source: MemoryReceiveStream) -> None:
        """Listen until the other side goes."""
        rest = bytearray()
        while chunk := await source.receive_some():
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                self._hear(json.loads(line))
        self.end(0)

    def end(self, status: int) -> None:
        """Be gone."""
        if not self.link.has_ended.is_set():
            self.link.status = status
            self.link.has_ended.set()
            self.out.put_eof()

    def _hear(self, message: JSON) -> None:
        params: JSON = message.get("params", {})
        session: str = params.get("sessionId", "")
        match message.get("method"):
            case "initialize":
                self._answer(message, self.minds.reach.about)
            case "session/new":
                self._answer(message, {"sessionId": self._begin(Mind())})
            case "session/resume" | "session/load" | "session/fork" as method:
                self._find(message, session, method)
            case "session/close":
                del self.open[session]
                self._answer(message, {})
            case "session/prompt":
                assert session in self.open, "a prompt of a session that isn't open"
                assert session not in self.prompted, "a prompt while another runs"
                self.prompted[session] = message
                self.minds.be_told(self, session, json.dumps(params, ensure_ascii=False))
            case "session/cancel":
                self.cancelled.add(session)
                if not self.minds.dawdles:
                    self.stop()
            case method:
                assert "id" not in message, f"nobody asks for {method}"

    def _begin(self, mind: Mind) -> str:
        session = self.minds.keep(mind)
        self.open[session] = mind
        return session

    def _find(self, message: JSON, session: str, method: str) -> None:
        found = self.minds.kept.get(session)
        if found is None:
            self._send({"id": message["id"], "error": _NOT_FOUND})
            return
        if method == "session/fork":
            self._answer(message, {"sessionId": self._begin(Mind([*found.facts], {*found.gaps}))})
            return
        assert session not in self.open, f"{method} of a session that is open"
        self.open[session] = found
        if method == "session/load":
            for fact in found.facts:
                self.update(session, "user_message_chunk", f"told again: {fact}")
                self.update(session, "agent_message_chunk", f"told again: {fact}")
        self._answer(message, {})

    def _answer(self, message: JSON, result: JSON) -> None:
        self._send({"id": message["id"], "result": result})

    def _send(self, message: JSON) -> None:
        line = json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        if not self.link.has_ended.is_set():
            self.out.put_data(line)

    def update(self, session: str, kind: str, text: str) -> None:
        """Say a piece of text."""
        update: JSON = {"sessionUpdate": kind, "content": {"type": "text", "text": text}}
        params = {"sessionId": session, "update": update}
        self._send({"method": "session/update", "params": params})

    def finish(self, session: str, **ending: Any) -> None:
        """Answer the prompt of a session."""
        message = self.prompted.pop(session, None)
        self.cancelled.discard(session)
        if message is not None:
            self._send({"id": message["id"], **ending})

    def stop(self) -> None:
        """Stop what is to be stopped."""
        for session in [*self.cancelled]:
            self.finish(session, result={"stopReason": "cancelled"})


@attrs.define(eq=False)
class AcpMinds:
    """Such agents, one for each definition; it satisfies `mind.Troupe`."""

    reach: AcpReach
    forgets: bool
    dawdles: bool = False
    spells: bool = attrs.field(default=True, init=False)
    calls_tools: bool = attrs.field(default=False, init=False)
    reaction_seconds: float = attrs.field(default=0.4, init=False)
    kept: dict[str, Mind] = attrs.field(factory=dict["str", "Mind"], init=False)
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
    _taken: list[Taken] = attrs.field(factory=list["Taken"], init=False)
    _ids: count[int] = attrs.field(factory=lambda: count(1), init=False)

    @asynccontextmanager
    async def running(self) -> AsyncGenerator[None, None]:
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
        self._notes[session.dialogue.session_id] = taken

    # What a process does.

    def keep(self, mind: Mind) -> str:
        """Give a session an id, and keep it."""
        session = f"session-{next(self._ids)}"
        self.kept[session] = mind
        return session

    def be_told(self, process: Process, session: str, told: str) -> None:
        """Take in a prompt."""
        taken = self._notes.pop(session)
        process.open[session].facts += read(told)
        self._sessions[taken.request] = process, session
        self._minds[taken.request] = process.open[session]
        self._taken.append(taken)

    # What the test has them do.

    def taken(self) -> Sequence[Taken]:
        taken, self._taken = self._taken, []
        return taken

    def mind(self, request: int) -> Mind:
        return self._minds[request]

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
                del self.kept[session]
        process.open.clear()

    def dawdle(self) -> None:
        self.dawdles = True

    def hurry(self) -> None:
        self.dawdles = False
        for process in self._processes:
            process.stop()
