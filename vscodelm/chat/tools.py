"""The tools that the terminal offers to agents: asking the user, and telling the time."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, cast

import attrs
import msgspec

from bridge.wire import (
    PERMISSION_TOOL,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
    joined_text,
)

TIME_TOOL: Final = "current_time"

TOOLS: Final = (
    ToolSpec(
        PERMISSION_TOOL,
        "Ask the user whether something may be done.",
        msgspec.Raw(
            b'{"type":"object","properties":{"title":{"type":"string"},"kind":{"type":"string"}},'
            b'"required":["title"]}'
        ),
    ),
    ToolSpec(
        TIME_TOOL,
        "Return the user's date and time, with the offset from UTC.",
        msgspec.Raw(b'{"type":"object","properties":{}}'),
    ),
)


@attrs.frozen
class Permission:
    """A question of an agent: `details` are its other parameters, as Markdown or JSON."""

    title: str
    kind: str
    details: str

    @classmethod
    def of(cls, parameters: Any) -> Permission:
        """Return the request in a call's parameters, whatever they hold."""
        known: dict[str, Any] = {}
        if isinstance(parameters, dict):
            known = dict(cast("dict[str, Any]", parameters))
        title = str(known.pop("title", None) or "The agent wants to do something.")
        kind = str(known.pop("kind", None) or "other")
        message = known.get("message")
        if isinstance(message, str) and message:
            return cls(title, kind, message)  # it has all the rest
        rest = known if isinstance(parameters, dict) else parameters
        return cls(title, kind, indented_json(rest) if rest else "")


def indented_json(value: Any) -> str:
    """Return JSON for a person to read."""
    return msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def run_tool(call: ToolCallPart) -> ToolResultPart:
    """Return the result of a call that needs no user."""
    if call.tool_name == TIME_TOOL:
        return result_of(call, datetime.now().astimezone().isoformat(timespec="seconds"))
    return result_of(call, f"There is no tool {call.tool_name} here.", is_error=True)


def result_of(call: ToolCallPart, text: str, *, is_error: bool = False) -> ToolResultPart:
    """Return a text as a call's result."""
    return ToolResultPart(call.tool_call_id, [TextPart(text)], is_error)


def decided(call: ToolCallPart, *, allowed: bool) -> ToolResultPart:
    """Return the user's decision as a call's result, in the words that the bridge knows."""
    return result_of(call, "Approved" if allowed else "Denied by the user.")


def text_of(result: ToolResultPart) -> str:
    """Return the result of a tool of this chat as text."""
    return joined_text(result.result)
