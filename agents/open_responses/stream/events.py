"""The events of a stream: which there are, what they are also called, and how they are read.

All share one flat struct, since fields mean the same in each. Decoding skips unknown fields, and
leaves big ones raw until the event needs them. A tagged union would refuse unknown types, and null
where a text is due. An event that the struct refuses is read again field by field.
"""

from __future__ import annotations

import enum
from typing import Any, TypeVar, cast

import msgspec

from agents.loading import NOTHING, load
from agents.nesting import shallow
from bridge.jsonrpc import REFUSED


class Meaning(enum.Enum):
    """The subject of an event, for all names that servers use."""

    SNAPSHOT = enum.auto()
    COMPLETED = enum.auto()
    FAILED = enum.auto()
    INCOMPLETE = enum.auto()
    ITEM_ADDED = enum.auto()
    ITEM_DONE = enum.auto()
    PART_ADDED = enum.auto()
    PART_DONE = enum.auto()
    TEXT_DELTA = enum.auto()
    TEXT_DONE = enum.auto()
    ANNOTATION = enum.auto()
    REFUSAL_DELTA = enum.auto()
    REFUSAL_DONE = enum.auto()
    REASONING_DELTA = enum.auto()
    REASONING_DONE = enum.auto()
    SUMMARY_DELTA = enum.auto()
    SUMMARY_DONE = enum.auto()
    SUMMARY_PART_ADDED = enum.auto()
    SUMMARY_PART_DONE = enum.auto()
    ARGUMENTS_DELTA = enum.auto()
    ARGUMENTS_DONE = enum.auto()
    ERROR = enum.auto()
    HOSTED = enum.auto()
    """A tool that the server runs itself."""
    ALIVE = enum.auto()
    """It says nothing but that the server is there."""


TEXT_DELTA = "response.output_text.delta"

SPECIFIED: dict[str, Meaning] = {
    "response.created": Meaning.SNAPSHOT,
    "response.queued": Meaning.SNAPSHOT,
    "response.in_progress": Meaning.SNAPSHOT,
    "response.completed": Meaning.COMPLETED,
    "response.failed": Meaning.FAILED,
    "response.incomplete": Meaning.INCOMPLETE,
    "response.output_item.added": Meaning.ITEM_ADDED,
    "response.output_item.done": Meaning.ITEM_DONE,
    "response.content_part.added": Meaning.PART_ADDED,
    "response.content_part.done": Meaning.PART_DONE,
    TEXT_DELTA: Meaning.TEXT_DELTA,
    "response.output_text.done": Meaning.TEXT_DONE,
    "response.output_text.annotation.added": Meaning.ANNOTATION,
    "response.refusal.delta": Meaning.REFUSAL_DELTA,
    "response.refusal.done": Meaning.REFUSAL_DONE,
    "response.reasoning.delta": Meaning.REASONING_DELTA,
    "response.reasoning.done": Meaning.REASONING_DONE,
    "response.reasoning_summary_text.delta": Meaning.SUMMARY_DELTA,
    "response.reasoning_summary_text.done": Meaning.SUMMARY_DONE,
    "response.reasoning_summary_part.added": Meaning.SUMMARY_PART_ADDED,
    "response.reasoning_summary_part.done": Meaning.SUMMARY_PART_DONE,
    "response.function_call_arguments.delta": Meaning.ARGUMENTS_DELTA,
    "response.function_call_arguments.done": Meaning.ARGUMENTS_DONE,
    "error": Meaning.ERROR,
}
"""The events of Open Responses, 2026-04-24."""

ALIASES: dict[str, Meaning] = {
    "response.reasoning_text.delta": Meaning.REASONING_DELTA,  # as servers send it
    "response.reasoning_text.done": Meaning.REASONING_DONE,
    "thinking.delta": Meaning.REASONING_DELTA,  # some proxies
    "response.reasoning_summary.delta": Meaning.SUMMARY_DELTA,  # early texts on the protocol
    "response.reasoning_summary.done": Meaning.SUMMARY_DONE,
    "response.reasoning_part.added": Meaning.PART_ADDED,  # vLLM
    "response.reasoning_part.done": Meaning.PART_DONE,
    "response.cancelled": Meaning.FAILED,  # background responses
    "response.canceled": Meaning.FAILED,
    "response.done": Meaning.COMPLETED,  # proxies of Codex; its status counts
    "response.error": Meaning.ERROR,
    "keepalive": Meaning.ALIVE,
    "response.keepalive": Meaning.ALIVE,
    "ping": Meaning.ALIVE,
}

MEANINGS: dict[str, Meaning] = {**SPECIFIED, **ALIASES}


class StreamEvent(msgspec.Struct, gc=False):
    """Any event; what it doesn't have is None or null."""

    type: str = ""
    delta: str | None = None
    item_id: str | None = None
    output_index: int | None = None
    content_index: int | None = None
    summary_index: int | None = None
    sequence_number: int | None = None
    text: str | None = None
    refusal: str | None = None
    call_id: str | None = None
    name: str | None = None
    object: str | None = None
    arguments: msgspec.Raw = NOTHING
    item: msgspec.Raw = NOTHING
    part: msgspec.Raw = NOTHING
    annotation: msgspec.Raw = NOTHING
    response: msgspec.Raw = NOTHING
    error: msgspec.Raw = NOTHING


class Snapshot(msgspec.Struct):
    """A response as a whole; few servers send valid ones, so few fields are required."""

    id: str | None = None
    status: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    output: msgspec.Raw = NOTHING
    usage: Any = None
    error: Any = None
    incomplete_details: Any = None
    status_details: Any = None
    """The reason why it failed or is incomplete, as the Realtime API says it."""


class OutputItem(msgspec.Struct):
    """An item of the output."""

    type: str | None = None
    id: str | None = None
    item_id: str | None = None
    """The id again, in vLLM's items whose own id is null."""
    status: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: Any = None
    content: Any = None
    summary: Any = None


S = TypeVar("S", StreamEvent, Snapshot, OutputItem)

_decode_event = msgspec.json.Decoder(StreamEvent).decode
_decoders: dict[type[Any], Any] = {
    type_: msgspec.json.Decoder(type_).decode for type_ in (StreamEvent, Snapshot, OutputItem)
}
_ANY_JSON: dict[type[Any], tuple[str, ...]] = {
    type_: tuple(field.name for field in msgspec.structs.fields(type_) if field.type is Any)
    for type_ in _decoders
}
"""The fields of each that can be any JSON, and so of any depth."""
_decode_items = msgspec.json.Decoder(list[msgspec.Raw]).decode


def read_event(data: bytes) -> StreamEvent | None:
    """Read an event; None if it isn't a JSON object."""
    try:
        return _decode_event(data)
    except REFUSED:
        return _forgive(StreamEvent, data)


def read_snapshot(raw: msgspec.Raw | bytes) -> Snapshot:
    """Read a response; what isn't one is empty."""
    return _read(Snapshot, raw)


def read_item(raw: msgspec.Raw | bytes) -> OutputItem:
    """Read an item; null is an empty one."""
    item = _read(OutputItem, raw)
    item.id = item.id or item.item_id
    return item


def read_items(raw: msgspec.Raw | bytes) -> list[msgspec.Raw]:
    """Read the output of a response, each item left raw."""
    try:
        return _decode_items(raw)
    except REFUSED:
        return [msgspec.Raw(msgspec.json.encode(item)) for item in _list(load(raw))]


def _read(type_: type[S], raw: msgspec.Raw | bytes) -> S:
    try:
        read = _decoders[type_](raw)
    except REFUSED:
        return _forgive(type_, raw) or type_()
    for name in _ANY_JSON[type_]:
        setattr(read, name, shallow(getattr(read, name)))
    return read


def _forgive(type_: type[S], raw: msgspec.Raw | bytes) -> S | None:
    """Read field by field; a field that isn't what it should be is left out."""
    value = load(raw)
    if not isinstance(value, dict):
        return None
    given = cast("dict[str, Any]", value)
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(type_):
        if field.name not in given:
            continue
        if field.type is msgspec.Raw:
            fields[field.name] = msgspec.Raw(msgspec.json.encode(given[field.name]))
            continue
        try:
            fields[field.name] = msgspec.convert(given[field.name], field.type, strict=False)
        except msgspec.ValidationError:
            continue
    return type_(**fields)


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


# The parts of an item, as (index, text).


def texts_of(item: OutputItem) -> list[tuple[int, str]]:
    """Return the texts of a message, refusals among them."""
    return _texts(item.content, "text", "refusal")


def refuses(item: OutputItem) -> bool:
    """Tell whether a message is, or has, a refusal."""
    return bool(_texts(item.content, "refusal"))


def raw_reasoning_of(item: OutputItem) -> list[tuple[int, str]]:
    """Return the reasoning itself."""
    return _texts(item.content, "text")


def summaries_of(item: OutputItem) -> list[tuple[int, str]]:
    """Return the summary of the reasoning."""
    return _texts(item.summary, "text")


def annotations_of(value: Any) -> list[Any]:
    """Return the annotations of a part of a message, or of all parts of its content."""
    parts: list[Any] = [value] if isinstance(value, dict) else _list(value)
    fields = [cast("dict[str, Any]", part) for part in parts if isinstance(part, dict)]
    return [one for part in fields for one in _list(part.get("annotations"))]


def _texts(content: Any, *keys: str) -> list[tuple[int, str]]:
    if isinstance(content, str):
        return [(0, content)] if "text" in keys else []
    found: list[tuple[int, str]] = []
    for index, part in enumerate(_list(content)):
        fields = cast("dict[str, Any]", part if isinstance(part, dict) else {"text": part})
        text = next((fields[key] for key in keys if isinstance(fields.get(key), str)), "")
        if text:
            found.append((index, text))
    return found
