"""The events of a response, in the specification's order, with their sequence numbers. Pure.

An item is added before its content, and done after it. Texts of one voice in a row are one item.
Only the agent's own calls are open beside others, because an agent talks on while they run.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import attrs
import msgspec

from actors.presentation import OWN_CALL, OWN_IMAGE
from bridge.wire import (
    DataPart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UnknownPart,
)

from .api_error import ApiError
from .usage import ResponseUsage, usage_in

ResponseItem: TypeAlias = "dict[str, Any]"
_encode = msgspec.json.Encoder().encode
DONE = b"data: [DONE]\n\n"
"""Ends each event stream."""
KEEPALIVE = b": keepalive\n\n"
"""A comment in an event stream."""


class _Delta(msgspec.Struct, omit_defaults=True):
    type: str
    sequence_number: int
    item_id: str
    output_index: int
    delta: str
    content_index: int | msgspec.UnsetType = msgspec.UNSET
    logprobs: tuple[()] | msgspec.UnsetType = msgspec.UNSET
    summary_index: int | msgspec.UnsetType = msgspec.UNSET


class _OwnCallPart(msgspec.Struct):
    call_id: str
    name: str
    status: str
    arguments: msgspec.Raw = msgspec.Raw(b"null")
    output: str = ""


class _ImagePart(msgspec.Struct):
    mime_type: str
    result: str
    """The image, in base64."""


_decode_own = msgspec.json.Decoder(_OwnCallPart).decode
_decode_image = msgspec.json.Decoder(_ImagePart).decode
_OWN = (OWN_CALL, OWN_IMAGE)
"""The types of items that the specification doesn't have."""


@attrs.define(eq=False, repr=False)
class _OpenText:
    """An item that still gets text."""

    index: int
    item: ResponseItem
    texts: list[str] = attrs.field(factory=list[str], init=False)

    @property
    def is_message(self) -> bool:
        return self.item["type"] == "message"

    @property
    def id(self) -> str:
        return self.item["id"]


@attrs.define(eq=False, repr=False)
class EventWriter:
    """One response. Each method returns events, each with its type and its JSON."""

    fields: dict[str, Any]
    """The fields of the response that stay the same: its id, and those that repeat the request."""
    frames: bool = True
    """Whether the events are framed for an event stream; else each is JSON alone, in a line."""
    hides_own: bool = False
    """Whether the response leaves out items of our own types, for a client that can't skip them."""
    output: list[ResponseItem] = attrs.field(factory=list["ResponseItem"], init=False)
    status: str = attrs.field(default="in_progress", init=False)
    usage: ResponseUsage | None = attrs.field(default=None, init=False)
    _error: ApiError | None = attrs.field(default=None, init=False)
    _completed_at: int | None = attrs.field(default=None, init=False)
    _sequence: int = attrs.field(default=0, init=False)
    _text: _OpenText | None = attrs.field(default=None, init=False)
    _own: dict[str, int] = attrs.field(factory=dict[str, int], init=False)
    """The indexes of the agent's own calls that aren't over."""
    _out: list[bytes] = attrs.field(factory=list[bytes], init=False)

    def begin(self) -> bytes:
        """Say that the response has begun."""
        self._put("response.created", response=self.resource())
        self._put("response.in_progress", response=self.resource())
        return self._taken()

    def add(self, parts: Sequence[Part]) -> bytes:
        """Say the parts."""
        for part in parts:
            match part:
                case TextPart(value=value):
                    self._say(value, is_message=True)
                case ThinkingPart(value=value):
                    self._say("".join(value), is_message=False)
                case ToolCallPart():
                    self._call(part)
                case UnknownPart(kind=kind, json=json) if kind == OWN_CALL:
                    self._own_call(_decode_own(json))
                case UnknownPart(kind=kind, json=json) if kind == OWN_IMAGE:
                    self._image(_decode_image(json))
                case DataPart(mime_type="usage", data=data):
                    self.usage = usage_in(data) or self.usage
                case _:
                    pass  # marks of ours
        return self._taken()

    def end(
        self, now: int, failure: ApiError | None = None, *, is_cancelled: bool = False
    ) -> bytes:
        """Say that it is over; `now` is in seconds since 1970."""
        is_whole = failure is None and not is_cancelled
        self._close("completed" if is_whole else "incomplete")
        for index in list(self._own.values()):
            self._done(index, status="incomplete")
        self._completed_at = now if is_whole else None
        self.status = "completed" if is_whole else "incomplete"
        if failure is not None:
            self.status, self._error = "failed", failure
            self._put("error", error=failure.payload)
        self._put(f"response.{self.status}", response=self.resource())
        if self.frames:
            self._out.append(DONE)
        return self._taken()

    @property
    def keepalive(self) -> bytes:
        """A sign of life, which clients ignore."""
        return KEEPALIVE if self.frames else b""

    def resource(self) -> dict[str, Any]:
        """Return the response as it is now."""
        details = {"reason": "cancelled"} if self.status == "incomplete" else None
        error = self._error
        return {
            **self.fields,
            "object": "response",
            "completed_at": self._completed_at,
            "status": self.status,
            "incomplete_details": details,
            "output": self._output if self.hides_own else self.output,
            "error": None if error is None else {"code": error.code, "message": error.message},
            "usage": None if self.usage is None else self.usage.as_response,
        }

    @property
    def _output(self) -> list[ResponseItem]:
        return [item for item in self.output if item["type"] not in _OWN]

    @property
    def result(self) -> bytes:
        """The response as JSON."""
        return _encode(self.resource())

    # Items.

    def _open(self, prefix: str, item: ResponseItem) -> int:
        index = len(self.output)
        named = f"{prefix}_{self.fields['id'].partition('_')[2]}{index:02d}"
        item = {"id": named, **item}
        self.output.append(item)
        self._put("response.output_item.added", output_index=index, item=item)
        return index

    def _done(self, index: int, **changes: Any) -> None:
        self.output[index] = {**self.output[index], **changes}
        item = self.output[index]
        self._put("response.output_item.done", output_index=index, item=item)

    def _say(self, text: str, *, is_message: bool) -> None:
        if not text:
            return
        if self._text is not None and self._text.is_message is not is_message:
            self._close("completed")
        if self._text is None:
            self._text = self._begin_text(is_message=is_message)
        now = self._text
        now.texts.append(text)
        if is_message:
            self._delta("response.output_text.delta", now, text, content_index=0, logprobs=())
        else:
            self._delta("response.reasoning_summary_text.delta", now, text, summary_index=0)

    def _begin_text(self, *, is_message: bool) -> _OpenText:
        if is_message:
            message = {"type": "message", "status": "in_progress", "role": "assistant"}
            index = self._open("msg", {**message, "content": []})
            opened = _OpenText(index, self.output[index])
            self._put("response.content_part.added", **_place(opened), part=_spoken(""))
        else:
            index = self._open("rs", {"type": "reasoning", "summary": []})
            opened = _OpenText(index, self.output[index])
            part = _summary("")
            self._put("response.reasoning_summary_part.added", **_place(opened), part=part)
        return opened

    def _close(self, status: str) -> None:
        """End the text that is open."""
        ended, self._text = self._text, None
        if ended is None:
            return
        text = "".join(ended.texts)
        if ended.is_message:
            part, place = _spoken(text), _place(ended)
            self._put("response.output_text.done", **place, text=text, logprobs=[])
            self._put("response.content_part.done", **place, part=part)
            self._done(ended.index, content=[part], status=status)
        else:
            part, place = _summary(text), _place(ended)
            self._put("response.reasoning_summary_text.done", **place, text=text)
            self._put("response.reasoning_summary_part.done", **place, part=part)
            self._done(ended.index, summary=[part])

    def _call(self, part: ToolCallPart) -> None:
        self._close("completed")
        call = {"type": "function_call", "call_id": part.tool_call_id, "name": part.tool_name}
        index = self._open("fc", {**call, "arguments": "", "status": "in_progress"})
        arguments = _encode(part.parameters).decode()
        place = {"item_id": self.output[index]["id"], "output_index": index}
        self._put("response.function_call_arguments.delta", **place, delta=arguments)
        self._put(
            "response.function_call_arguments.done",
            **place,
            name=part.tool_name,
            arguments=arguments,
        )
        self._done(index, arguments=arguments, status="completed")

    def _own_call(self, call: _OwnCallPart) -> None:
        arguments = bytes(call.arguments).decode()
        known = self._own.get(call.call_id)
        if known is None:
            self._close("completed")
            begun = {"name": call.name, "arguments": arguments, "output": ""}
            known = self._open("tc", {"type": OWN_CALL, "status": "in_progress", **begun})
            self._own[call.call_id] = known
        if call.status != "in_progress":
            del self._own[call.call_id]
            self._done(known, status=call.status, arguments=arguments, output=call.output)

    def _image(self, image: _ImagePart) -> None:
        self._close("completed")
        begun = {"status": "in_progress", "mime_type": image.mime_type, "result": None}
        index = self._open("ig", {"type": OWN_IMAGE, **begun})
        self._done(index, status="completed", result=image.result)

    # Events.

    def _delta(self, kind: str, opened: _OpenText, text: str, **where: Any) -> None:
        event = _Delta(kind, self._sequence, opened.id, opened.index, text, **where)
        self._frame(kind, _encode(event))

    def _put(self, kind: str, **fields: Any) -> None:
        event = {"type": kind, "sequence_number": self._sequence, **fields}
        self._frame(kind, _encode(event))

    def _frame(self, kind: str, json: bytes) -> None:
        self._sequence += 1
        framed = b"event: %b\ndata: %b\n\n" % (kind.encode(), json) if self.frames else json + b"\n"
        self._out.append(framed)

    def _taken(self) -> bytes:
        out, self._out = self._out, []
        return b"".join(out)


def _place(text: _OpenText) -> dict[str, Any]:
    inner = "content_index" if text.is_message else "summary_index"
    return {"item_id": text.id, "output_index": text.index, inner: 0}


def _spoken(text: str) -> dict[str, Any]:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


def _summary(text: str) -> dict[str, Any]:
    return {"type": "summary_text", "text": text}
