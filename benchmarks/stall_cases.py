"""The worst input at the limits of docs/reference/limits.md: lines of the editor and the peers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import attrs
import msgspec

from .canned_agent import SESSION
from .editor import KILOBYTE, message

encode = msgspec.json.encode

Kind: TypeAlias = Literal["eliza", "acp", "open_responses"]


@attrs.frozen
class Case:
    """The editor's request, and its agent's answer: an endpoint's response, an agent's lines.

    `agent` is how the wire names the agent that is asked.
    """

    agent: Kind
    answer: bytes = b""
    messages: tuple[bytes, ...] = (message("user", "Go"),)
    count: str | None = None
    """A text whose tokens are asked for, instead of a chat."""


@attrs.frozen
class Size:
    """The size of the cases; smaller in tests."""

    calls: int = 16_000
    line_bytes: int = 10_000_000
    output_bytes: int = 1_000_000

    @property
    def kilobytes(self) -> int:
        """Number of texts of a thousand characters in a long line."""
        return self.line_bytes // 1_000


Make: TypeAlias = Callable[[Size], Case]
"""Makes a case as large as it is told."""


# Endpoints.


def _http(status: bytes, kind: bytes, body: bytes) -> bytes:
    head = b"HTTP/1.1 %s\r\ncontent-type: %s\r\ncontent-length: %d\r\nconnection: close\r\n\r\n"
    return head % (status, kind, len(body)) + body


def _stream(*events: dict[str, Any]) -> Case:
    body = b"".join(b"data: %s\n\n" % encode(event) for event in events)
    return Case("open_responses", _http(b"200 OK", b"text/event-stream", body))


def _call(number: int, name: str) -> dict[str, Any]:
    ids = {"id": f"fc_{name}{number}", "call_id": f"call_{name}{number}"}
    arguments = f'{{"a":{number}}}'
    return {"type": "function_call", **ids, "name": "look", "arguments": arguments}


def _end(output: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


def _calls_in_the_end(size: Size) -> Case:
    return _stream(_end([_call(number, "a") for number in range(size.calls)]))


def _calls_with_other_ids(size: Size) -> Case:
    done = [
        {"type": "response.output_item.done", "item": _call(number, "a")}
        for number in range(size.calls)
    ]
    return _stream(*done, _end([_call(number, "b") for number in range(size.calls)]))


def _messages_in_the_end(size: Size) -> Case:
    content = [{"type": "output_text", "text": "a text"}]
    return _stream(
        _end([{"type": "message", "id": f"m{n}", "content": content} for n in range(size.calls)])
    )


def _error(size: Size) -> Case:
    words = "<script " * (size.output_bytes // 8)
    body = encode({"error": {"message": words, "code": words}})
    return Case("open_responses", _http(b"400 Bad Request", b"application/json", body))


# Agents.


def _update(**update: Any) -> Case:
    params = {"sessionId": SESSION, "update": update}
    line = {"jsonrpc": "2.0", "method": "session/update", "params": params}
    return Case("acp", encode(line) + b"\n")


def _tool(*content: dict[str, Any]) -> Case:
    about = {"toolCallId": "1", "title": "Look", "kind": "edit", "status": "completed"}
    return _update(sessionUpdate="tool_call", **about, content=content)


def _diff(size: Size) -> Case:
    lines = [f"line {number} {KILOBYTE[:80]}\n" for number in range(size.line_bytes // 200)]
    old, new = "".join(lines), "".join(lines[::-1])
    return _tool({"type": "diff", "path": "/a.txt", "oldText": old, "newText": new})


def _said(size: Size) -> Case:
    text = "\n".join([KILOBYTE] * size.kilobytes)
    return _update(sessionUpdate="agent_message_chunk", content={"type": "text", "text": text})


def _output_of(text: str) -> Case:
    return _tool({"type": "content", "content": {"type": "text", "text": text}})


def _backticks(size: Size) -> Case:
    return _output_of("`" * size.output_bytes)


def _fences(size: Size) -> Case:
    return _output_of("```\n" * (size.output_bytes // 4))


# The editor.


def _history(size: Size, agent: Kind, answer: bytes = b"") -> Case:
    roles = ("user", "assistant")
    history = [message(roles[n % 2], f"{n} {KILOBYTE}") for n in range(size.kilobytes)]
    return Case(agent, answer, messages=(*history, message("user", "Go")))


def _history_for_eliza(size: Size) -> Case:
    return _history(size, "eliza")


def _history_for_an_agent(size: Size) -> Case:
    return _history(size, "acp")


def _history_for_an_endpoint(size: Size) -> Case:
    return _history(size, "open_responses", _stream(_end([])).answer)


def _image(size: Size) -> Case:
    part = {"type": "data", "mimeType": "image/png", "data": b"\x89" * (size.line_bytes * 3 // 4)}
    content = [{"type": "text", "value": "Go"}, part]
    return Case("eliza", messages=(encode({"role": "user", "content": content}),))


def _count(size: Size) -> Case:
    return Case("eliza", count=" ".join([KILOBYTE] * size.kilobytes))


def _count_of_marks(size: Size) -> Case:
    return Case("eliza", count="[{" * (size.line_bytes // 2))


ANSWERS: dict[str, Make] = {
    "an endpoint's calls in the end": _calls_in_the_end,
    "an endpoint's calls with other ids in the end": _calls_with_other_ids,
    "an endpoint's messages in the end": _messages_in_the_end,
}
"""Cases that are measured twice: piece by piece, and as a whole."""
HELD: dict[str, Make] = {
    **ANSWERS,
    "an endpoint's long error": _error,
    "an agent's long text": _said,
    "an agent's long change of a file": _diff,
    "a tool's output of backticks": _backticks,
    "a tool's output of fences": _fences,
    "an editor's large image": _image,
    "the count of a long text": _count,
    "the count of many marks": _count_of_marks,
    "a long history for Eliza": _history_for_eliza,
    "a long history for an agent": _history_for_an_agent,
    "a long history for an endpoint": _history_for_an_endpoint,
}
"""Cases that must hold the limit, by name."""
