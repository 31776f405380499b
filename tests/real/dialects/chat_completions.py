"""OpenAI's chat completions, as fast-agent, OpenCode and many others speak it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..scenario import Call, Forever, Given, Said, Say, Scenario, Speaker, Think, Tool
from .sse import ENDLESS, event

JSON = dict[str, Any]
PATH = "/chat/completions"

_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
    "tool": "tool",
}
_USAGE = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}


def read(body: JSON) -> Given:
    """Return what the model is given."""
    return Given(
        tuple(_said(message) for message in body["messages"]),
        tuple(_tool(tool["function"]) for tool in body.get("tools") or ()),
    )


def _tool(function: JSON) -> Tool:
    description = function.get("description") or ""
    return Tool(function["name"], function.get("parameters") or {}, description)


def _said(message: JSON) -> Said:
    content = message.get("content") or ""
    parts: list[JSON] = [{"text": content}] if isinstance(content, str) else content
    return Said(
        _SPEAKERS[message["role"]],
        "\n".join(part["text"] for part in parts if "text" in part),
        tuple(part["image_url"]["url"].partition(",")[2] for part in parts if "image_url" in part),
        message.get("tool_call_id") or "",
    )


def write_whole(scenario: Scenario, number: int) -> JSON:
    """Return the reply for an agent that wants it in one piece; it must have an end."""
    message: JSON = {"role": "assistant", "content": ""}
    for index, step in enumerate(scenario.steps):
        match step:
            case Say(text) | Forever(text):
                message["content"] += text
            case Think(text):
                message["reasoning_content"] = message.get("reasoning_content", "") + text
            case Call(name, arguments):
                function = {"name": name, "arguments": json.dumps(arguments)}
                call: JSON = {"id": f"call-{number}-{index}", "type": "function"}
                message.setdefault("tool_calls", []).append(call | {"function": function})
    finish = "tool_calls" if "tool_calls" in message else "stop"
    choice: JSON = {"index": 0, "message": message, "finish_reason": finish}
    head: JSON = {"id": f"chat-{number}", "object": "chat.completion", "created": 1}
    return head | {"model": "scripted", "choices": [choice], "usage": _USAGE}


def write(scenario: Scenario, number: int) -> Iterator[bytes]:
    """Yield the reply's events; what follows an endless one is never reached."""

    def chunk(delta: JSON, finish: str | None = None, **more: Any) -> bytes:
        choice: JSON = {"index": 0, "delta": delta, "finish_reason": finish}
        head: JSON = {"id": f"chat-{number}", "object": "chat.completion.chunk", "created": 1}
        return event(head | {"model": "scripted", "choices": [choice]} | more)

    calls = 0
    yield chunk({"role": "assistant", "content": ""})
    for step in scenario.steps:
        match step:
            case Say(text):
                yield chunk({"content": text})
            case Think(text):
                yield chunk({"reasoning_content": text})
            case Forever(text):
                for _ in ENDLESS:
                    yield chunk({"content": text})
            case Call(name, arguments):
                function = {"name": name, "arguments": ""}
                call: JSON = {"index": calls, "id": f"call-{number}-{calls}", "type": "function"}
                yield chunk({"tool_calls": [call | {"function": function}]})
                rest: JSON = {"index": calls, "function": {"arguments": json.dumps(arguments)}}
                yield chunk({"tool_calls": [rest]})
                calls += 1
    yield chunk({}, "tool_calls" if calls else "stop")
    yield event(
        {"id": f"chat-{number}", "object": "chat.completion.chunk", "created": 1}
        | {"model": "scripted", "choices": [], "usage": _USAGE}
    )
    yield b"data: [DONE]\n\n"
