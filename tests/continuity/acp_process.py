"""A process of an ACP agent whose sessions remember every word; its wire is in memory.

It says what the test says. It speaks as much of the protocol as that takes, and no tool is called.
"""

from __future__ import annotations

import enum
import json
from typing import Any, Protocol

import attrs
from trio.testing import MemoryReceiveStream

from tests.fakes.acp_peer import PeerLink

from .mind import Mind

JSON = dict[str, Any]

_NOT_FOUND: JSON = {"code": -32002, "message": "Resource not found"}


class AcpReach(enum.Enum):
    """What an agent can find again, and how."""

    NOTHING = "nothing"
    RESUME = "resume"
    LOAD = "load"
    """It tells again what was said."""
    FORK = "fork"
    """Copies, and what it can resume."""

    def about(self, *, one_session_each: bool) -> JSON:
        """Return what it says of itself; a known agent's name tells what can't be negotiated."""
        sessions: JSON = {"close": {}}
        if self in (AcpReach.RESUME, AcpReach.FORK):
            sessions["resume"] = {}
        if self is AcpReach.FORK:
            sessions["fork"] = {}
        abilities = {"loadSession": self is AcpReach.LOAD, "sessionCapabilities": sessions}
        name = "OpenCode" if one_session_each else "remembering"
        about = {"name": name, "version": "1"}
        return {"protocolVersion": 1, "agentInfo": about, "agentCapabilities": abilities}


class Disk(Protocol):
    """What an agent's processes share, and who hears of what they are told."""

    reach: AcpReach
    one_session_each: bool
    dawdles: bool
    """Whether they take their time to stop."""
    kept: dict[str, Mind]
    """Every session that there was."""

    def keep(self, mind: Mind) -> str:
        """Give a session an id, and keep it."""
        ...

    def be_told(self, process: Process, session: str, told: str) -> None:
        """Take in a prompt."""
        ...


@attrs.define(eq=False)
class Process:
    """A process of an agent's."""

    disk: Disk
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
                one_session_each = self.disk.one_session_each
                self._answer(message, self.disk.reach.about(one_session_each=one_session_each))
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
                self.disk.be_told(self, session, json.dumps(params, ensure_ascii=False))
            case "session/cancel":
                self.cancelled.add(session)
                if not self.disk.dawdles:
                    self.stop()
            case method:
                assert "id" not in message, f"nobody asks for {method}"

    def _begin(self, mind: Mind) -> str:
        session = self.disk.keep(mind)
        self.open[session] = mind
        return session

    def _find(self, message: JSON, session: str, method: str) -> None:
        found = self.disk.kept.get(session)
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
