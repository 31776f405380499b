"""OpenAI's Responses, as Codex speaks it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import count
from typing import Any

import attrs

from ..scenario import Call, Forever, Given, Said, Say, Scenario, Speaker, Step, Think, Tool
from .sse import ENDLESS, event

JSON = dict[str, Any]
PATH = "/responses"

_SPEAKERS: dict[str, Speaker] = {
    "system": "system",
    "developer": "system",
    "user": "user",
    "assistant": "assistant",
}


def read(body: JSON) -> Given:
    """Return what the model is given."""
    items = body["input"]
    if isinstance(items, str):
        items = [{"role": "user", "content": items}]
    system = Said("system", body.get("instructions") or "")
    said = (one for item in items for one in _said(item))
    return Given((system, *said), tuple(_tools(body.get("tools") or ())))


def _tools(offered: Sequence[JSON], namespace: str = "") -> Iterator[Tool]:
    """Yield the tools that are functions; a namespace is a group of them."""
    for tool in offered:
        match tool["type"]:
            case "function":
                description = tool.get("description") or ""
                yield Tool(tool["name"], tool["parameters"], description, namespace)
            case "namespace":
                yield from _tools(tool["tools"], tool["name"])
            case _:
                pass  # what its maker's servers have


def _said(item: JSON) -> Iterator[Said]:
    match item.get("type", "message"):
        case "message":
            text, images = _content(item["content"])
            yield Said(_SPEAKERS[item["role"]], text, images)
        case "function_call" | "custom_tool_call":
            yield Said("assistant", "")
        case "function_call_output" | "custom_tool_call_output":
            yield Said("tool", *_content(item["output"]), call_id=item.get("call_id") or "")
        case _:
            pass  # reasoning, and what else an agent hands back


def _content(content: str | list[JSON] | JSON) -> tuple[str, tuple[str, ...]]:
    if isinstance(content, str):
        return content, ()
    parts = [content] if isinstance(content, dict) else content
    return (
        "\n".join(part["text"] for part in parts if "text" in part),
        tuple(part["image_url"].partition(",")[2] for part in parts if "image_url" in part),
    )


@attrs.frozen
class _Message:
    """What is said in one go, piece by piece."""

    texts: tuple[str, ...]


def _messages(steps: Sequence[Step]) -> Iterator[_Message | Call | Think | Forever]:
    """Yield the steps, with texts that follow one another as one message."""
    texts: list[str] = []
    for step in steps:
        if isinstance(step, Say):
            texts.append(step.text)
            continue
        if texts:
            yield _Message(tuple(texts))
            texts = []
        yield step
    if texts:
        yield _Message(tuple(texts))


def write(scenario: Scenario, number: int) -> Iterator[bytes]:
    """Yield the reply's events; what follows an endless one is never reached."""
    order = count()
    items: list[JSON] = []

    def tell(kind: str, **more: Any) -> bytes:
        return event({"type": kind, "sequence_number": next(order), **more}, kind)

    def response(status: str) -> JSON:
        usage = {
            "input_tokens": 100,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 10,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 110,
        }
        head: JSON = {"id": f"resp-{number}", "object": "response", "created_at": 1}
        return head | {"status": status, "model": "scripted", "output": items, "usage": usage}

    def begin(item: JSON) -> bytes:
        return tell("response.output_item.added", output_index=len(items), item=item)

    def end(item: JSON) -> bytes:
        items.append(item)
        return tell("response.output_item.done", output_index=len(items) - 1, item=item)

    yield tell("response.created", response=response("in_progress"))
    for index, step in enumerate(_messages(scenario.steps)):
        id_ = f"item-{number}-{index}"
        place: JSON = {"item_id": id_, "output_index": len(items), "content_index": 0}
        message: JSON = {"type": "message", "id": id_, "role": "assistant", "content": []}
        match step:
            case _Message(texts):
                yield begin(message | {"status": "in_progress"})
                for text in texts:
                    yield tell("response.output_text.delta", delta=text, **place)
                part: JSON = {"type": "output_text", "text": "".join(texts), "annotations": []}
                yield end(message | {"status": "completed", "content": [part]})
            case Forever(text):
                yield begin(message | {"status": "in_progress"})
                for _ in ENDLESS:
                    yield tell("response.output_text.delta", delta=text, **place)
            case Think(text):
                thought: JSON = {"type": "reasoning", "id": id_, "summary": []}
                yield begin(thought)
                place = {"item_id": id_, "output_index": len(items), "summary_index": 0}
                part = {"type": "summary_text", "text": ""}
                yield tell("response.reasoning_summary_part.added", part=part, **place)
                yield tell("response.reasoning_summary_text.delta", delta=text, **place)
                yield end(thought | {"summary": [part | {"text": text}]})
            case Call(name, arguments, namespace):
                call: JSON = {"type": "function_call", "id": id_, "call_id": f"call-{id_}"}
                call |= {"name": name, "arguments": "", "status": "in_progress"}
                call |= {"namespace": namespace} if namespace else {}
                yield begin(call)
                yield end(call | {"arguments": json.dumps(arguments), "status": "completed"})
    yield tell("response.completed", response=response("completed"))
