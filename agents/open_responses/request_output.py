"""From the items of a response to items of the requests after it.

What the server wrote is kept, without the ids and states that only it may set. A call is known by
the id that the server gave it last, because that is the one under which it keeps it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

from agents.loading import load
from bridge.value import Value

from .call_ids import inward
from .outcome import Called, Outcome
from .reasoning_record import reasoning_item
from .request_items import (
    CallItem,
    CompactionItem,
    Item,
    MessageItem,
    OutputText,
    ReasoningItem,
    Refusal,
    Spoken,
)
from .request_messages import OpenCall
from .request_names import fitting_name

if TYPE_CHECKING:
    import msgspec


class Heard(Value):
    """A response, as later requests repeat it; `calls` are by the editor's ids.

    `is_chainable`: the server has all of it, under the ids that we know.
    """

    items: tuple[Item, ...]
    calls: dict[str, OpenCall]
    is_chainable: bool


def heard(outcome: Outcome, said: str) -> Heard:
    """Return what a response comes to; `said` is what the editor was shown of its text.

    Of a response that didn't complete, that is all that counts: its items are in an unknown state.
    """
    whole = outcome.status == "completed"
    written = [_object(raw) for raw in outcome.output] if whole else []
    calls = list(outcome.calls)
    ids: dict[str, OpenCall] = {}
    items: list[Item] = []
    for one in written:
        match one:
            case {"type": "message"}:
                items += _message(one)
            case {"type": "function_call"}:
                items += [_call(call, _text(one, "call_id"), ids) for call in _matching(one, calls)]
            case {"type": "reasoning"}:
                reasoning = reasoning_item(one)
                items += [] if reasoning is None else [reasoning]
            case {"type": "compaction", "encrypted_content": str(content)}:
                items = [CompactionItem(content)]
            case _:
                pass  # a tool of the server's own: only the server can make something of it
    if said.strip() and not any(isinstance(item, MessageItem) for item in items):
        items.insert(_before_calls(items), MessageItem("assistant", said))
    items += [_call(call, call.server_call_id, ids) for call in calls]
    knows = all(call.server_call_id for call in outcome.calls)
    return Heard(tuple(_followed(items)), ids, outcome.can_be_continued and knows)


def kind_of_item(raw: msgspec.Raw) -> str:
    """Return what an item of a response is, in the server's word."""
    return _text(_object(raw), "type")


def _object(raw: msgspec.Raw) -> dict[str, Any]:
    value = load(raw)
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def _text(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    return value if isinstance(value, str) else ""


def _objects(value: Any) -> list[dict[str, Any]]:
    parts = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("dict[str, Any]", part) for part in parts if isinstance(part, dict)]


def _message(item: dict[str, Any]) -> list[Item]:
    spoken: list[Spoken] = []
    for part in _objects(item.get("content")):
        match part:
            case {"type": "output_text" | "text", "text": str(text)} if text:
                spoken.append(OutputText(text))
            case {"type": "refusal", "refusal": str(refusal)} if refusal:
                spoken.append(Refusal(refusal))
            case _:
                pass
    if not any(isinstance(one, Refusal) or one.text.strip() for one in spoken):
        return []
    text = "".join(one.text for one in spoken if isinstance(one, OutputText))
    has_refused = any(isinstance(one, Refusal) for one in spoken)
    content = tuple(spoken) if has_refused else text
    phase = _text(item, "phase")
    known = phase if phase in ("commentary", "final_answer") else None
    return [MessageItem("assistant", content, known)]


def _matching(item: dict[str, Any], calls: list[Called]) -> list[Called]:
    """Take the call out of `calls` that an item is: by its id, else by what it asks."""
    call_id, name, arguments = (_text(item, key) for key in ("call_id", "name", "arguments"))
    for call in calls:
        if call_id and call.server_call_id == call_id:
            calls.remove(call)
            return [call]
    for call in calls:
        if (call.name, _json(call.arguments)) == (name, _json(arguments)):
            calls.remove(call)
            return [call]
    return []


def _json(text: str) -> Any:
    value = load((text or "{}").encode("utf-8", "replace"))
    return text if value is None else value


def _call(call: Called, server_id: str, ids: dict[str, OpenCall]) -> Item:
    server_id = server_id or call.server_call_id or inward(call.call_id)
    if any(server_id == other.server_id for other in ids.values()):
        server_id = call.call_id  # several calls in one of the server's
    ids[call.call_id] = OpenCall(server_id, call.name)
    return CallItem(server_id, fitting_name(call.name), call.arguments.strip() or "{}")


def _before_calls(items: Sequence[Item]) -> int:
    return next((at for at, item in enumerate(items) if isinstance(item, CallItem)), len(items))


def _followed(items: Sequence[Item]) -> Iterable[Item]:
    """Leave out reasoning at the end: servers want what came of it."""
    last = max(
        (at for at, one in enumerate(items) if not isinstance(one, ReasoningItem)), default=-1
    )
    return items[: last + 1]
