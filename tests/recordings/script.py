"""A recording in the making, with its labels, and the messages that hosts put into requests."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

import attrs
from msgspec.structs import replace

from bridge import methods
from vscodelm.replay.labels import Label
from vscodelm.replay.recording import Happening, read_recording

JSON = dict[str, Any]

SYSTEM = "You help with the house.\nVSCODE_TARGET_SESSION_LOG: /logs/{session}\nBe kind."
PREAMBLE = "<environment_info>\nA house with three floors.\n</environment_info>"
AGENT_TOOLS = tuple(f"tool_{number}" for number in range(1, 9))
SUMMARISER = "Your task is to create a comprehensive, detailed summary of what was said."
COMPACT_NOW = (
    "The conversation has grown too large for the context window and must be compacted now."
)
SUMMARISE = "Summarize the conversation history so far."


def text(value: str) -> JSON:
    """Return a part that is text."""
    return {"type": "text", "value": value}


def image(data: str) -> JSON:
    """Return a part that is an image; `data` is base64."""
    return {"type": "data", "mimeType": "image/png", "data": data}


def call(call_id: str, name: str = "tool_1", **parameters: Any) -> JSON:
    """Return a part that calls a tool."""
    return {"type": "tool_call", "toolCallId": call_id, "toolName": name, "parameters": parameters}


def result(call_id: str, value: str = "done") -> JSON:
    """Return a part that answers a call."""
    return {"type": "tool_result", "toolCallId": call_id, "result": [text(value)]}


def message(role: Literal["user", "assistant", "system"], *parts: JSON) -> JSON:
    """Return a message."""
    return {"role": role, "content": list(parts)}


def user(*parts: JSON) -> JSON:
    """Return a message of the user's side."""
    return message("user", *parts)


def wrapped(said: str) -> str:
    """Return what the host makes of the newest thing that the user typed."""
    return (
        "<context>\nIt is a quiet day.\n</context>\n"
        f"<reminderInstructions>\nBe brief.\n</reminderInstructions>\n{reduced(said)}"
    )


def reduced(said: str) -> str:
    """Return what is left of it where the host rebuilds the turn."""
    return f"<userRequest>\n{said}\n</userRequest>\n"


@attrs.define
class Script:
    """A recording in the making, and its labels."""

    lines: list[bytes] = attrs.field(factory=list[bytes])
    """Written at once, so that what a host does to its history later changes no request."""
    labels: dict[str, Label] = attrs.field(factory=dict[str, Label])

    def jsonl(self) -> bytes:
        """Return the recording."""
        return b"".join(line + b"\n" for line in self.lines)

    def happenings(self) -> Iterable[Happening]:
        """Return what happened."""
        return read_recording(self.lines)

    def request(
        self,
        label: Label,
        messages: Sequence[JSON],
        tools: Iterable[str] = AGENT_TOOLS,
        model_options: JSON | None = None,
        model: str = "m",
        initiator: str | None = None,
    ) -> int:
        """Send a request; return its number."""
        number = len(self.labels) + 1
        self.labels[str(number)] = label
        params = {
            "modelId": model,
            "messages": list(messages),
            "options": {
                "tools": [{"name": name} for name in tools],
                "modelOptions": model_options or {},
                "toolMode": 1,
                **({} if initiator is None else {"requestInitiator": initiator}),
            },
        }
        self._line("request", number, method=methods.CHAT, params=params)
        return number

    def accept(self, *new_from: int) -> None:
        """Say that the newest request may be read in another way, too."""
        newest = str(len(self.labels))
        self.labels[newest] = replace(self.labels[newest], alt_new_from=new_from)

    def part(self, request: int, part: JSON) -> None:
        """Answer with a part."""
        params = {"requestId": request, "part": part}
        self._line("part", request, method=methods.RESPONSE_PART, params=params)

    def cancel(self, request: int) -> None:
        """Cancel a request."""
        self._line("cancel", request)

    def end(self, request: int, error: str | None = None) -> None:
        """End a request."""
        if error is None:
            self._line("end", request, status="complete")
        else:
            self._line("end", request, status="error", message=error)

    def answer(self, request: int, *parts: JSON) -> None:
        """Answer with these parts, to the end."""
        for part in parts:
            self.part(request, part)
        self.end(request)

    def _line(self, kind: str, seq: int, **rest: Any) -> None:
        self.lines.append(json.dumps({"kind": kind, "seq": seq, **rest}).encode())
