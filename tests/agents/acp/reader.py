"""A user who reads a recorded chat: its turns are run again, by all of the protocol's layer."""

from __future__ import annotations

from itertools import count
from typing import Any

import msgspec
import trio
from msgspec import Raw

from agents.acp.agent import AcpAgent
from agents.acp.session import AcpSession
from agents.events import (
    AskPermission,
    Await,
    Break,
    Decision,
    Event,
    PermissionAnswer,
    Prompt,
    Say,
    Stop,
)
from bridge.wire import ChatMessage, McpServerSpec, TextPart, ToolSpec
from tests.fakes.acp_peer import PeerAgent

JSON = dict[str, Any]
FOLDER = "/home/user/project"
"""Where every recorded agent works."""
EDITORS_TOOL = "get_errors"
"""A tool of the editor's; no agent has one of this name."""
SCHEMA: JSON = {
    "type": "object",
    "properties": {"filePaths": {"type": "array", "items": {"type": "string"}}},
    "required": ["filePaths"],
}
OFFERED = ToolSpec(EDITORS_TOOL, "Get the errors of files.", Raw(msgspec.json.encode(SCHEMA)))
PATIENCE = 60.0
DENIED = "You skipped it."


class Reader:
    """Who reads a chat, and answers its questions."""

    def __init__(self) -> None:
        self.shown: list[str] = []
        self.ours: list[str] = [""]
        """What we wrote ourselves in each response; the agent's words are an ellipsis."""

    def heading(self, text: str) -> None:
        """Begin another turn."""
        self.shown.append(f"# {text}\n\n")

    async def read(self, session: AcpSession, turn: JSON) -> None:
        """Say what the user said, and answer as the user did."""
        self.heading(turn["said"])
        words = ChatMessage("user", (TextPart(turn["said"]),))
        running = session.run(Prompt((words,), tools=(OFFERED,)))
        asked: list[AskPermission] = []
        while True:
            for event in await running.receive():
                self._take(event)
                if isinstance(event, AskPermission):
                    asked.append(event)
                if isinstance(event, Await):
                    for question in asked:
                        self.shown.append(_quoted(question, is_denied=turn.get("denied", False)))
                        running.answer(_answer(question, is_denied=turn.get("denied", False)))
                    asked.clear()
                    self.ours.append("")
                if isinstance(event, Stop | Break):
                    self.shown.append("\n\n")
                    self.ours.append("")
                    return

    def _take(self, event: Event) -> None:
        if isinstance(event, Say):
            self.shown.append(event.text)
            self.ours[-1] += event.text if event.by_us else "\n\n…\n\n"


def _answer(question: AskPermission, *, is_denied: bool) -> PermissionAnswer:
    if is_denied:
        return PermissionAnswer(question.call_id, Decision.DENIED, DENIED)
    return PermissionAnswer(question.call_id, Decision.ALLOWED)


def _quoted(question: AskPermission, *, is_denied: bool) -> str:
    message: str = question.details["message"]
    answer = "denied" if is_denied else "allowed"
    lines = [*message.split("\n"), "", f"*({answer})*"]
    return "\n\n" + "\n".join(f"> {line}".rstrip() for line in lines) + "\n\n"


async def read(recorded: JSON) -> Reader:
    """Return what a user has read who had the recorded chat."""
    turns = recorded["turns"]
    script = {**recorded, "turns": [turn["steps"] for turn in turns], "ignores_tools": True}
    reader = Reader()
    numbers = count()
    spec = McpServerSpec("The agent", "agent", cwd=FOLDER)
    with trio.fail_after(PATIENCE):
        async with trio.open_nursery() as nursery:
            agent = AcpAgent(
                spec,
                nursery,
                new_call_id=lambda: f"question-{next(numbers)}",
                connect=PeerAgent(script).connect,
                spares=False,
            )
            first = ChatMessage("user", (TextPart(turns[0]["said"]),))
            prompt = Prompt((first,), tools=(OFFERED,))
            async with agent.session(prompt) as session:
                for turn in turns:
                    await reader.read(session, turn)
            await agent.aclose()
            nursery.cancel_scope.cancel()
    return reader
