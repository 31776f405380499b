"""Chat Completions as an adapter: its requests as those for a response, and its chunks. Pure."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import attrs
import msgspec

from bridge.wire import DataPart, Part, TextPart, ThinkingPart, ToolCallPart

from .api_error import ApiError, bad_request
from .body import FunctionTool, ResponseBody, checked, decoded
from .events import DONE, KEEPALIVE
from .items import check_number
from .usage import ResponseUsage, usage_in

_encode = msgspec.json.Encoder().encode


class _Function(msgspec.Struct):
    name: str
    arguments: str = ""


class _ToolCall(msgspec.Struct):
    id: str
    function: _Function


class _ChatMessage(msgspec.Struct):
    role: str
    content: str | list[dict[str, Any]] | None = None
    tool_calls: list[_ToolCall] | None = None
    tool_call_id: str | None = None


class CompletionBody(msgspec.Struct, kw_only=True):
    """The fields of `POST /chat/completions` that mean something here; others are ignored."""

    model: str | None = None
    messages: list[_ChatMessage]
    tools: list[FunctionTool] | None = None
    tool_choice: Any = None
    parallel_tool_calls: bool | None = None
    stream: bool | None = None
    stream_options: dict[str, Any] | None = None
    temperature: float | None = None
    top_p: float | None = None
    presence_penalty: float | None = None
    frequency_penalty: float | None = None
    max_tokens: int | None = None
    max_completion_tokens: int | None = None
    reasoning_effort: str | None = None
    response_format: dict[str, Any] | None = None
    n: int | None = None


_decode = msgspec.json.Decoder(CompletionBody).decode
_KINDS = {"text": "input_text", "refusal": "refusal"}
_PLACE = re.compile(r"input\[(\d+)\](\.role|\.content\[\d+\])?")


def read_completion(body: bytes) -> tuple[ResponseBody, bool, Sequence[int]]:
    """Return a request as one for a response, and whether its stream has the usage, too.

    The numbers say from which message each item of the input is.
    """
    given: CompletionBody = decoded(_decode, body)
    if given.n not in (None, 1):
        raise bad_request("A request gets only one answer.", "n", "unsupported")
    form = (given.response_format or {}).get("type", "text")
    if form != "text":
        raise bad_request("Agents answer with text only.", "response_format", "unsupported")
    if not given.messages:
        raise bad_request("There must be a message.", "messages")
    check_number(sum(1 + len(one.tool_calls or ()) for one in given.messages), "messages")
    found = [(item, at) for at, one in enumerate(given.messages) for item in _items(one)]
    choice = given.tool_choice
    limit = given.max_completion_tokens or given.max_tokens
    asked = ResponseBody(
        model=given.model,
        input=[msgspec.Raw(_encode(item)) for item, _ in found],
        tools=given.tools,
        tool_choice=choice,
        stream=given.stream,
        store=False,
        temperature=given.temperature,
        top_p=given.top_p,
        presence_penalty=given.presence_penalty,
        frequency_penalty=given.frequency_penalty,
        max_output_tokens=limit,
        reasoning={"effort": given.reasoning_effort} if given.reasoning_effort else None,
    )
    wants_usage = (given.stream_options or {}).get("include_usage") is True
    return checked(asked), wants_usage, [at for _, at in found]


def about_messages(error: ApiError, origins: Sequence[int]) -> ApiError:
    """Return an error about the items of an input as one about the messages that they are from."""
    place = error.param or ""
    if place == "input":
        place = "messages"
    elif found := _PLACE.match(place):
        place = f"messages[{origins[int(found[1])]}]{found[2] or ''}"
    return ApiError(error.status, error.code, error.message, place or None, error.retry)


def _items(message: _ChatMessage) -> list[dict[str, Any]]:
    """Return a message as the items of an input."""
    content = message.content
    if not isinstance(content, str):
        content = [_content(part) for part in content or ()]
    if message.role == "tool":
        call_id = message.tool_call_id or ""
        return [{"type": "function_call_output", "call_id": call_id, "output": content}]
    items: list[dict[str, Any]] = []
    if content or not message.tool_calls:
        items.append({"type": "message", "role": message.role, "content": content})
    for call in message.tool_calls or ():
        function = call.function
        named = {"type": "function_call", "call_id": call.id, "name": function.name}
        items.append({**named, "arguments": function.arguments})
    return items


def _content(part: dict[str, Any]) -> dict[str, Any]:
    kind = part.get("type")
    if kind == "file" and isinstance(part.get("file"), dict):
        return {"type": "input_file", **part["file"]}
    return {**part, "type": _KINDS.get(str(kind), "input_image")}


@attrs.define(eq=False, repr=False)
class CompletionWriter:
    """One completion, in chunks and as a whole. The agent's own calls can't be said here."""

    fields: dict[str, Any]
    """Id, model and time."""
    wants_usage: bool = False
    usage: ResponseUsage | None = attrs.field(default=None, init=False)
    _texts: list[str] = attrs.field(factory=list[str], init=False)
    _thoughts: list[str] = attrs.field(factory=list[str], init=False)
    _calls: list[dict[str, Any]] = attrs.field(factory=list[dict[str, Any]], init=False)
    _reason: str | None = attrs.field(default=None, init=False)

    def begin(self) -> bytes:
        """Say whose message it is."""
        return self._chunk({"role": "assistant", "content": ""})

    def add(self, parts: Sequence[Part]) -> bytes:
        """Say the parts."""
        chunks: list[bytes] = []
        for part in parts:
            match part:
                case TextPart(value=value):
                    self._texts.append(value)
                    chunks.append(self._chunk({"content": value}))
                case ThinkingPart(value=value):
                    text = "".join(value)
                    self._thoughts.append(text)
                    chunks.append(self._chunk({"reasoning_content": text}))
                case ToolCallPart(tool_call_id=call_id, tool_name=name, parameters=parameters):
                    function = {"name": name, "arguments": _encode(parameters).decode()}
                    call = {"id": call_id, "type": "function", "function": function}
                    chunk = {"tool_calls": [{"index": len(self._calls), **call}]}
                    self._calls.append(call)
                    chunks.append(self._chunk(chunk))
                case DataPart(mime_type="usage", data=data):
                    self.usage = usage_in(data) or self.usage
                case _:
                    pass
        return b"".join(chunks)

    def end(
        self, now: int, failure: ApiError | None = None, *, is_cancelled: bool = False
    ) -> bytes:
        """Say why it is over; `now` is in seconds since 1970."""
        if failure is not None:
            return b"data: %b\n\n" % failure.body + DONE
        self._reason = "tool_calls" if self._calls else "stop"
        chunks = [self._chunk({})]
        if self.wants_usage:
            usage = None if self.usage is None else self.usage.as_completion
            last: dict[str, Any] = {
                **self._head("chat.completion.chunk"),
                "choices": [],
                "usage": usage,
            }
            chunks.append(b"data: %b\n\n" % _encode(last))
        return b"".join([*chunks, DONE])

    @property
    def keepalive(self) -> bytes:
        """A sign of life, which clients ignore."""
        return KEEPALIVE

    @property
    def result(self) -> bytes:
        """The completion as JSON."""
        message: dict[str, Any] = {"role": "assistant", "content": "".join(self._texts) or None}
        if self._thoughts:
            message["reasoning_content"] = "".join(self._thoughts)
        if self._calls:
            message["tool_calls"] = self._calls
        choice = {"index": 0, "message": message, "finish_reason": self._reason, "logprobs": None}
        usage = None if self.usage is None else self.usage.as_completion
        head = self._head("chat.completion")
        return _encode({**head, "choices": [choice], "usage": usage})

    def _head(self, kind: str) -> dict[str, Any]:
        return {**self.fields, "object": kind}

    def _chunk(self, delta: dict[str, Any]) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": self._reason, "logprobs": None}
        head = self._head("chat.completion.chunk")
        return b"data: %b\n\n" % _encode({**head, "choices": [choice]})
