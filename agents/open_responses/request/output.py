"""From the items of a response to items of the requests after it.

The server's items are kept, without the ids and states that only the server may set. A call has the
id that the server gave it last, because the server keeps it under that id.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar, cast

from agents.loading import fields_of, load, writable
from agents.open_responses.items import (
    ApprovalRequestItem,
    CallItem,
    CompactionItem,
    Item,
    MessageItem,
    OutputText,
    ReasoningItem,
    Refusal,
    Spoken,
)
from agents.open_responses.stream.approvals import is_approval
from agents.open_responses.stream.call_ids import inward
from agents.open_responses.stream.outcome import Called, ResponseOutcome
from agents.open_responses.stream.reasoning import reasoning_item
from agents.open_responses.stream.tool_call import text_of
from bridge.history.message import canonical_json
from bridge.value import Value
from bridge.work import Work

from .messages import OpenCall
from .names import fitting_name

K = TypeVar("K")


class Heard(Value):
    """A response, as later requests repeat it; `calls` are by the editor's ids.

    `approvals` are the server's ids of its questions, by the editor's ids.

    `is_chainable`: the server has all items, under the ids that we know. `kinds` are the kinds of
    its items, in the server's words.
    """

    items: tuple[Item, ...]
    calls: dict[str, OpenCall]
    approvals: dict[str, str]
    is_chainable: bool
    kinds: frozenset[str]


def heard(outcome: ResponseOutcome, said: str) -> Work[Heard]:
    """Return, in short steps, what a response comes to; `said` is what was shown of its text.

    Of a response that didn't complete, only that text and the calls count: its items are in an
    unknown state.
    """
    whole = outcome.status == "completed"
    calls = _Unclaimed(outcome.calls)
    approvals = {one.request_id: one.call_id for one in outcome.approvals}
    taken: set[str] = set()
    ids: dict[str, OpenCall] = {}
    items: list[Item] = []
    kinds: set[str] = set()
    for raw in outcome.output:
        yield
        one = fields_of(load(raw))
        kinds.add(_text(one, "type"))
        match one:
            case _ if not whole:
                pass
            case {"type": "message"}:
                items += _message(one)
            case {"type": "function_call"}:
                claimed = yield from calls.take(one)
                items += [_call(call, _text(one, "call_id"), ids, taken) for call in claimed]
            case {"type": "reasoning"}:
                reasoning = reasoning_item(one)
                items += [] if reasoning is None else [reasoning]
            case {"type": str(kind), "id": str(request_id)} if (
                is_approval(kind) and request_id in approvals
            ):
                items.append(_question(one, request_id))
            case {"type": "compaction", "encrypted_content": str(content)}:
                items = [CompactionItem(content)]
            case _:
                pass  # a tool of the server's own: only the server understands it
    if said.strip() and not any(isinstance(item, MessageItem) for item in items):
        items.insert(_before_calls(items), MessageItem("assistant", said))
    for call in calls.rest():
        yield
        items.append(_call(call, call.server_call_id, ids, taken))
    knows = all(call.server_call_id for call in outcome.calls)
    can_go_on = outcome.can_be_continued and knows
    asked = {call_id: request_id for request_id, call_id in approvals.items()} if whole else {}
    return Heard(tuple(_followed(items)), ids, asked, can_go_on, frozenset(kinds))


def _question(item: dict[str, Any], request_id: str) -> Item:
    arguments = text_of(item.get("arguments")) or "{}"
    return ApprovalRequestItem(
        request_id, _text(item, "server_label"), _text(item, "name"), arguments
    )


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


class _Unclaimed:
    """The calls that no item was found for yet, in their order; each is found without a search."""

    def __init__(self, calls: Iterable[Called]) -> None:
        self._left = dict(enumerate(calls))
        self._by_id = _places([(at, call.server_call_id) for at, call in self._left.items()])
        self._by_words: dict[tuple[str, bytes], list[int]] | None = None
        """Made when it is needed: most servers name each call by its id."""

    def take(self, item: dict[str, Any]) -> Work[list[Called]]:
        """Take the call out that an item is, in short steps: by its id, else by what it asks."""
        call_id, name, arguments = (_text(item, key) for key in ("call_id", "name", "arguments"))
        same_id = self._first(self._by_id.get(call_id)) if call_id else []
        if same_id or not self._left:
            return same_id
        if self._by_words is None:
            keys: list[tuple[int, tuple[str, bytes]]] = []
            for at, call in self._left.items():
                yield
                keys.append((at, (call.name, _words(call.arguments))))
            self._by_words = _places(keys)
        return self._first(self._by_words.get((name, _words(arguments))))

    def rest(self) -> Iterable[Called]:
        """Return the others."""
        return self._left.values()

    def _first(self, places: list[int] | None) -> list[Called]:
        while places:
            call = self._left.pop(places.pop(), None)  # None: it was found otherwise
            if call is not None:
                return [call]
        return []


def _places(keys: Sequence[tuple[int, K]]) -> dict[K, list[int]]:
    """Return where each key is; the first place is the last in its list."""
    found: dict[K, list[int]] = {}
    for at, key in reversed(keys):
        found.setdefault(key, []).append(at)
    return found


def _words(arguments: str) -> bytes:
    """Return what arguments say, however they are written."""
    raw = (arguments or "{}").encode("utf-8", "replace")
    value = writable(load(raw))
    return raw if value is None else canonical_json(value)


def _call(call: Called, server_id: str, ids: dict[str, OpenCall], taken: set[str]) -> Item:
    """Return the item of a call, and note its ids; `taken` are the server's ids in `ids`."""
    server_id = server_id or call.server_call_id or inward(call.call_id)
    if server_id in taken:
        server_id = call.call_id  # several calls in one of the server's
    taken.add(server_id)
    ids[call.call_id] = OpenCall(server_id, call.name)
    return CallItem(server_id, fitting_name(call.name), call.arguments.strip() or "{}")


def _before_calls(items: Sequence[Item]) -> int:
    return next((at for at, item in enumerate(items) if isinstance(item, CallItem)), len(items))


def _followed(items: Sequence[Item]) -> Iterable[Item]:
    """Leave out reasoning at the end: servers want the item that follows it."""
    last = max(
        (at for at, one in enumerate(items) if not isinstance(one, ReasoningItem)), default=-1
    )
    return items[: last + 1]
