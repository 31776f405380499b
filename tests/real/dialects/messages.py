"""Anthropic's Messages, as Claude Code speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ..scenario import Call, Forever, Given, Said, Say, Scenario, Speaker, Think, Tool
from .sse import ENDLESS, event

JSON = dict[str, Any]
PATH = "/messages"
COUNT_PATH = "/messages/count_tokens"


def read(body: JSON) -> Given:
    """Return what the model is given."""
    system = Said("system", _text(body.get("system") or ""))
    said = (one for message in body["messages"] for one in _said(message))
    tools = (tool for tool in body.get("tools") or () if "input_schema" in tool)
    return Given(
        (system, *said),
        tuple(
            Tool(tool["name"], tool["input_schema"], tool.get("description") or "")
            for tool in tools
        ),
    )


def _said(message: JSON) -> Iterator[Said]:
    """Yield a message part by part: results of tools stand in the user's."""
    speaker: Speaker = message["role"]
    for block in _blocks(message["content"]):
        match block["type"]:
            case "text":
                yield Said(speaker, block["text"])
            case "image":
                yield Said(speaker, "", (block["source"]["data"],))
            case "tool_result":
                result = _text(block.get("content") or "")
                yield Said("tool", result, call_id=block.get("tool_use_id") or "")
            case _:
                yield Said(speaker, "")


def _blocks(content: str | list[JSON]) -> list[JSON]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text(content: str | list[JSON]) -> str:
    return "\n".join(block["text"] for block in _blocks(content) if "text" in block)


def count_tokens(_body: JSON) -> JSON:
    """Return the answer to the question how long a request is."""
    return {"input_tokens": 100}


def write(scenario: Scenario, number: int) -> Iterator[bytes]:
    """Yield the reply's events; what follows an endless one is never reached."""

    def tell(kind: str, **more: Any) -> bytes:
        return event({"type": kind, **more}, kind)

    def block(index: int, start: JSON, *deltas: JSON) -> Iterator[bytes]:
        yield tell("content_block_start", index=index, content_block=start)
        for delta in deltas:
            yield tell("content_block_delta", index=index, delta=delta)
        yield tell("content_block_stop", index=index)

    head: JSON = {"id": f"msg-{number}", "type": "message", "role": "assistant", "content": []}
    usage = {"input_tokens": 100, "output_tokens": 1}
    head |= {"model": "scripted", "stop_reason": None, "stop_sequence": None, "usage": usage}
    reason = "end_turn"
    yield tell("message_start", message=head)
    for index, step in enumerate(scenario.steps):
        match step:
            case Say(text):
                delta = {"type": "text_delta", "text": text}
                yield from block(index, {"type": "text", "text": ""}, delta)
            case Forever(text):
                start = {"type": "text", "text": ""}
                yield tell("content_block_start", index=index, content_block=start)
                for _ in ENDLESS:
                    delta = {"type": "text_delta", "text": text}
                    yield tell("content_block_delta", index=index, delta=delta)
            case Think(text):
                start = {"type": "thinking", "thinking": "", "signature": ""}
                thought = {"type": "thinking_delta", "thinking": text}
                signature = {"type": "signature_delta", "signature": "c2lnbmVk"}
                yield from block(index, start, thought, signature)
            case Call(name, arguments):
                reason = "tool_use"
                start = {"type": "tool_use", "id": f"toolu_{number}_{index}", "name": name}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(arguments)}
                yield from block(index, start | {"input": {}}, delta)
    delta = {"stop_reason": reason, "stop_sequence": None}
    yield tell("message_delta", delta=delta, usage={"output_tokens": 10})
    yield tell("message_stop")
