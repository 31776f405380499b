"""Convert the items of a request's `input` to messages of a chat. Pure.

A client repeats our output items, or only some of them, in pieces of its own. The router compares
the joined text and the calls, so the items of one voice in a row become one message.
"""

from __future__ import annotations

import re
from base64 import b64decode
from binascii import Error as NotBase64
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias, cast

import attrs
import msgspec
from msgspec import Raw, UnsetType

from bridge.depth import is_too_deep
from bridge.wire import (
    ChatMessage,
    DataPart,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from bridge.work import Work

from .api_error import bad_request, not_decodable

MOST_ITEMS = 20_000
"""Items of one request's input."""
CALL_ID_CHARACTERS = 64
"""Characters of the id of a call."""
_MOST_NAMED = 8
"""Calls without a result that an error names."""
_PIECE_CHARACTERS = 1024 * 1024
"""Characters of base64 that are decoded in one step: whole groups of four."""
_DATA_URL = re.compile(r"data:([^;,]+)((?:;[^;,]+)*?)(;base64)?,", re.IGNORECASE)

Unfold: TypeAlias = Callable[[str, str], Work[Sequence[ChatMessage]]]
"""Returns the messages that a compaction item, or a reference to an item, stands for.

It is called with the kind and the content or the id; raises `ApiError`."""


class _Content(msgspec.Struct):
    type: str = "input_text"
    text: str | None = None
    refusal: str | None = None
    image_url: str | dict[str, Any] | None = None
    filename: str | None = None
    file_data: str | None = None
    file_url: str | None = None
    file_id: str | None = None
    video_url: str | None = None


class _Item(msgspec.Struct):
    type: str | UnsetType = msgspec.UNSET
    role: str = ""
    content: str | list[_Content] | None = None
    call_id: str = ""
    name: str = ""
    arguments: str = ""
    output: str | list[_Content] | None = None
    id: str | None = None
    encrypted_content: str | None = None


_decode = msgspec.json.Decoder(_Item).decode
_ROLES: dict[str, Role] = {
    "user": "user",
    "assistant": "assistant",
    "system": "system",
    "developer": "system",
}


@attrs.define(eq=False, repr=False)
class _Conversion:
    """The parts of each message so far; the newest still grows while items of its voice follow."""

    unfold: Unfold
    _grown: list[tuple[Role, list[Part]]] = attrs.field(
        factory=list[tuple["Role", list["Part"]]], init=False
    )
    _voice: str = attrs.field(default="", init=False)

    @property
    def messages(self) -> list[ChatMessage]:
        return [ChatMessage(role, tuple(parts)) for role, parts in self._grown]

    def add(self, role: Role, voice: str, parts: Sequence[Part]) -> None:
        if voice and voice == self._voice:
            self._grown[-1][1].extend(parts)
        else:
            self._grown.append((role, [*parts]))
        self._voice = voice

    def take(self, item: _Item, place: str) -> Work[None]:
        kind = "message" if isinstance(item.type, UnsetType) else item.type
        match kind:
            case "message":
                yield from self._message(item, place)
            case "function_call":
                call = ToolCallPart(_call_id(item, place), item.name, _arguments(item, place))
                self.add("assistant", "assistant", [call])
            case "function_call_output":
                result = ToolResultPart(_call_id(item, place), (yield from _output(item.output)))
                self.add("user", "results", [result])
            case "compaction" | "item_reference":
                given = item.encrypted_content if kind == "compaction" else item.id
                if not given:
                    field = "encrypted_content" if kind == "compaction" else "id"
                    raise bad_request("This field is required.", f"{place}.{field}")
                for message in (yield from self.unfold(kind, given)):
                    is_answer = message.role == "assistant"
                    self.add(message.role, message.role if is_answer else "", message.content)
            case _:
                pass  # reasoning is the agent's own; items of another kind are another server's

    def _message(self, item: _Item, place: str) -> Work[None]:
        role = _ROLES.get(item.role)
        if role is None:
            known = ", ".join(_ROLES)
            raise bad_request(f"The role must be one of {known}.", f"{place}.role")
        content = item.content or ""
        parts: list[Part] = [TextPart(content)] if isinstance(content, str) else []
        if not isinstance(content, str):
            for at, one in enumerate(content):
                parts.append((yield from _part(one, f"{place}.content[{at}]")))
        self.add(role, "assistant" if role == "assistant" else "", parts)


def check_number(items: int, field: str = "input") -> None:
    """Raise `ApiError` if a request has too many items; before any is read."""
    if items > MOST_ITEMS:
        raise bad_request(f"At most {MOST_ITEMS:,} items can be taken.", field)


def messages_of(given: str | Sequence[Raw], unfold: Unfold) -> Work[list[ChatMessage]]:
    """Return the messages of an `input`, item by item; raises `ApiError` with a fault's place."""
    if isinstance(given, str):
        return [ChatMessage("user", (TextPart(given),))]
    conversion = _Conversion(unfold)
    for index, raw in enumerate(given):
        place = f"input[{index}]"
        try:
            item = _decode(raw)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise not_decodable(error, place) from None
        yield from conversion.take(item, place)
        yield
    return conversion.messages


def check_results(messages: Iterable[ChatMessage]) -> Work[None]:
    """Raise `ApiError` if a result answers no call before it, or if another one is missing.

    A step is a message. A turn goes on when all calls of the newest answer have results. A request
    with none of them is a new question. A client may repeat the calls that it has results for.
    """
    called: set[str] = set()
    newest: dict[str, bool] = {}
    """The calls of the newest answer, and whether each has a result."""
    for message in messages:
        yield
        calls = [part.tool_call_id for part in message.content if isinstance(part, ToolCallPart)]
        called.update(calls)
        if message.role == "assistant" and not (calls and newest.keys() >= {*calls}):
            newest = dict.fromkeys(calls, False)
        for part in message.content:
            if isinstance(part, ToolResultPart) and part.tool_call_id in newest:
                newest[part.tool_call_id] = True
            elif isinstance(part, ToolResultPart) and part.tool_call_id not in called:
                text = (
                    f"No tool call found for function call output with call_id {part.tool_call_id}."
                )
                raise bad_request(text, "input", "tool_call_not_found")
    missing = [call for call, has_result in newest.items() if not has_result]
    if missing and len(missing) < len(newest):
        named = ", ".join(missing[:_MOST_NAMED])
        more = f", and {len(missing) - _MOST_NAMED} more" if len(missing) > _MOST_NAMED else ""
        text = f"No tool output found for function call {named}{more}."
        raise bad_request(text, "input", "tool_output_not_found")


def _call_id(item: _Item, place: str) -> str:
    if not 1 <= len(item.call_id) <= CALL_ID_CHARACTERS:
        text = f"It must have 1 to {CALL_ID_CHARACTERS} characters."
        raise bad_request(text, f"{place}.call_id")
    return item.call_id


def _arguments(item: _Item, place: str) -> Any:
    if not item.arguments.strip():
        return {}
    try:
        found = (
            None if is_too_deep(item.arguments.encode()) else msgspec.json.decode(item.arguments)
        )
    except msgspec.DecodeError:
        found = None
    if not isinstance(found, dict):
        raise bad_request("It must be a JSON object, as a string.", f"{place}.arguments")
    return cast("dict[str, Any]", found)


def _output(output: str | list[_Content] | None) -> Work[Any]:
    """Return a result as VS Code sends one: text, or a list of parts."""
    if not isinstance(output, list):
        return [{"type": "text", "value": output or ""}]
    parts: list[Part] = []
    for one in output:
        part = yield from _part(one, "input")
        parts.append(part)
    return [msgspec.to_builtins(part) for part in parts]


def _part(content: _Content, place: str) -> Work[Part]:
    if content.refusal is not None and content.text is None:
        return TextPart(content.refusal)
    if content.text is not None:
        return TextPart(content.text)
    match content.image_url:
        case str(url) | {"url": str(url)}:
            return (yield from _media(url, "image", place))
        case _:
            pass
    if content.file_data is not None:
        return (yield from _file(content.filename or "file", content.file_data, place))
    where = content.file_url or content.video_url or content.file_id
    if where is not None:
        return TextPart(f"[{content.filename or 'file'}: {where}]")
    raise bad_request("Nothing in this content can be read.", place, "unsupported_content")


def _media(url: str, kind: str, place: str) -> Work[Part]:
    """Return the data of a data URL. Another address isn't fetched: the agent reads where it is."""
    found = _DATA_URL.match(url)
    if found is None:
        return TextPart(f"[{kind}: {url}]")
    return DataPart(found[1].lower(), (yield from _bytes_of(url, found.end(), place)))


def _file(name: str, data: str, place: str) -> Work[Part]:
    found = _DATA_URL.match(data)
    mime = found[1].lower() if found else "application/octet-stream"
    content = yield from _bytes_of(data, found.end() if found else 0, place)
    is_text = mime.startswith("text/") or mime == "application/json"
    if is_text:
        return TextPart(f'<file name="{name}">\n{content.decode(errors="replace")}\n</file>')
    return DataPart(mime, content)


def _bytes_of(encoded: str, start: int, place: str) -> Work[bytes]:
    """Decode base64 from a place on; a step is a piece of it."""
    pieces: list[bytes] = []
    for at in range(start, len(encoded), _PIECE_CHARACTERS):
        piece = encoded[at : at + _PIECE_CHARACTERS]
        try:
            if "=" in piece and at + _PIECE_CHARACTERS < len(encoded):
                raise NotBase64
            pieces.append(b64decode(piece, validate=True))
        except (NotBase64, ValueError):
            raise bad_request("The data is no base64.", place) from None
        yield
    return b"".join(pieces)
