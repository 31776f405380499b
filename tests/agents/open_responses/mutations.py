"""What servers do to a stream, each as a function of its events; any of them can come together.

`takes` names what a mutation takes away: sources of texts (`deltas`, `wholes`, `parts`, `items`,
`final`) and of calls (`added`, `call deltas`, `arguments`, `items`, `final`), and kinds of keys
(`index`, `ids`, `call ids`). What is left decides whether the answer can be known at all.
"""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterable, Sequence
from itertools import count
from typing import Any, cast

import attrs

JSON = dict[str, Any]
Events = list[JSON]

_ARGUMENTS = "response.function_call_arguments."
_TERMINALS = ("response.completed", "response.failed", "response.incomplete", "error")


@attrs.frozen
class Mutation:
    """A habit of some server's."""

    name: str
    apply: Callable[[Events], Events]
    takes: frozenset[str] = frozenset()

    def __str__(self) -> str:
        return self.name


def mutate(events: Events, mutations: Iterable[Mutation]) -> Events:
    """Apply some mutations in order, but a doubling last, as copies are equal.

    The last deltas are lost first: what comes after a lost piece of a text can't be taken back.
    """
    events = copy.deepcopy(events)
    order = ("no last deltas", "", "doubled events")
    for mutation in sorted(
        mutations, key=lambda one: order.index(one.name) if one.name in order else 1
    ):
        events = mutation.apply(events)
    return events


def taken(mutations: Iterable[Mutation]) -> frozenset[str]:
    """Return all that some mutations take away."""
    return frozenset(one for mutation in mutations for one in mutation.takes)


def knows_texts(mutations: Iterable[Mutation]) -> bool:
    """Tell whether a source of all texts is left."""
    return not taken(mutations) >= {"deltas", "wholes", "parts", "items", "final"}


def knows_calls(mutations: Iterable[Mutation], *, has_empty: bool) -> bool:
    """Tell whether a source of all calls is left: names are only in items.

    Of a call without arguments there are no deltas.
    """
    gone = taken(mutations)
    needed = {"arguments"} if has_empty else {"call deltas", "arguments"}
    return not {"items", "final"} <= gone or ("added" not in gone and not needed <= gone)


def response_of(events: Events) -> JSON:
    """Return the response of the terminal event."""
    return next(e["response"] for e in reversed(events) if "response" in e)


# What is left out.


def _kind(event: JSON) -> str:
    return str(event.get("type", ""))


def _is_delta(event: JSON) -> bool:
    return _kind(event).endswith(".delta")


def _is_call_event(event: JSON) -> bool:
    return _kind(event).startswith(_ARGUMENTS)


def _is_whole(event: JSON) -> bool:
    kind = _kind(event)
    return kind.endswith((".done",)) and "item" not in event and "part" not in event


def dropping(fits: Callable[[JSON], bool]) -> Callable[[Events], Events]:
    """Return what leaves out the events that fit."""
    return lambda events: [event for event in events if not fits(event)]


def _without_final_output(events: Events) -> Events:
    response_of(events)["output"] = []
    return events


def _without_last_deltas(events: Events) -> Events:
    """Leave out the last delta before each whole."""
    return [
        event
        for event, following in zip(events, [*events[1:], JSON()], strict=True)
        if not (_is_delta(event) and _is_whole(following))
    ]


def _without(*fields: str) -> Callable[[Events], Events]:
    def apply(events: Events) -> Events:
        return [{k: v for k, v in event.items() if k not in fields} for event in events]

    return apply


# What is changed.


def _rotate_ids(events: Events) -> Events:
    """Give every event another item id."""
    numbers = count()
    for event in events:
        if "item_id" in event:
            event["item_id"] = f"rotated_{next(numbers)}"
        if isinstance(event.get("item"), dict):
            event["item"]["id"] = f"rotated_{next(numbers)}"
    return _other_ids_at_the_end(events)


def _other_ids_at_the_end(events: Events) -> Events:
    for number, item in enumerate(response_of(events).get("output") or ()):
        item["id"] = f"tmp_{number}"
    return events


def _other_call_ids_at_the_end(events: Events) -> Events:
    for number, item in enumerate(response_of(events).get("output") or ()):
        if "call_id" in item:
            item["call_id"] = f"chatcmpl-tool-{number}"
    return events


def _call_id_as_item_id(events: Events) -> Events:
    call_ids = {
        event["item"]["id"]: event["item"]["call_id"]
        for event in events
        if isinstance(event.get("item"), dict)
        and event["item"].get("type") == "function_call"
        and "id" in event["item"]
    }
    for event in events:
        if _is_call_event(event) and "item_id" in event:
            event["item_id"] = call_ids.get(event["item_id"], event["item_id"])
    return events


def _arguments_as_objects(events: Events) -> Events:
    for item in (item for event in events for item in items_in(event)):
        item["arguments"] = _load(item.get("arguments"))
    return events


def _arguments_written_anew(events: Events) -> Events:
    """Write the arguments of the final output in another way."""
    for item in response_of(events).get("output") or ():
        value = _load(item.get("arguments"))
        if isinstance(value, dict):
            backwards = dict(reversed(cast("JSON", value).items()))
            item["arguments"] = json.dumps(backwards, indent=1)
    return events


def _load(arguments: Any) -> Any:
    """Return arguments as an object, if they are one."""
    try:
        return json.loads(arguments)
    except (TypeError, ValueError):
        return arguments


def items_in(event: JSON) -> list[JSON]:
    """Return the items that an event has."""
    if isinstance(event.get("item"), dict):
        return [event["item"]]
    response = cast("JSON", event.get("response") or {})
    return list(response.get("output") or ())


def _growing_content_index(events: Events) -> Events:
    numbers = count()
    for event in events:
        if "content_index" in event:
            event["content_index"] = next(numbers)
    return events


def _index_0_when_added(events: Events) -> Events:
    for event in events:
        item = cast("JSON", event.get("item") or {})
        is_call = item.get("type") == "function_call"
        if _kind(event) == "response.output_item.added" and not is_call and "output_index" in event:
            event["output_index"] = 0
    return events


_ALIASES = {
    "response.reasoning_text": "response.reasoning",
    "response.reasoning": "response.reasoning_text",
    "response.reasoning_summary_text": "response.reasoning_summary",
}


def _rename(events: Events) -> Events:
    for event in events:
        stem, _, end = _kind(event).rpartition(".")
        if stem in _ALIASES:
            event["type"] = f"{_ALIASES[stem]}.{end}"
    return events


# What is added, and moved.


def _double_events(events: Events) -> Events:
    numbered = [{**event, "sequence_number": n} for n, event in enumerate(events)]
    return [copy.deepcopy(event) for event in numbered for _ in range(2)]


def _double_items(events: Events) -> Events:
    """Tell each call that is done again, under another item id, at another index."""
    numbers = count(100)
    doubled: Events = []
    for event in events:
        doubled.append(event)
        if _kind(event) == "response.output_item.done" and cast("JSON", event["item"] or {}).get(
            "call_id"
        ):
            again = copy.deepcopy(event)
            again["item"]["id"] = f"fc_again_{next(numbers)}"
            if "output_index" in again:
                again["output_index"] = next(numbers)
            doubled.append(again)
    return doubled


def _done_before_last_delta(events: Events) -> Events:
    moved = list(events)
    for place in range(1, len(moved)):
        before, event = moved[place - 1], moved[place]
        same = before.get("item_id") == event.get("item_id")
        if _is_whole(event) and _is_delta(before) and same:
            moved[place - 1], moved[place] = event, before
    return moved


def _item_before_its_end(events: Events) -> Events:
    moved = list(events)
    for place in range(1, len(moved)):
        before, event = moved[place - 1], moved[place]
        is_item = _kind(event) == "response.output_item.done"
        if (
            is_item
            and _is_whole(before)
            and before.get("output_index") == event.get("output_index")
        ):
            moved[place - 1], moved[place] = event, before
    return moved


def _chatter(events: Events) -> Events:
    """Put in what everybody ignores."""
    chatter: Sequence[JSON] = (
        {"type": "keepalive"},
        {"type": "ping"},
        {"type": "acme:trace_event", "delta": "x"},
        {"type": "response.web_search_call.searching", "item_id": "ws_1", "output_index": 0},
        {"type": "response.output_item.done", "item": None, "output_index": 77},
        {"type": "response.output_text.annotation.added", "annotation": None},
    )
    return [one for event in events for one in (*chatter, event)]


def _after_the_end(events: Events) -> Events:
    return [*events, *copy.deepcopy(events)]


def _nulls(events: Events) -> Events:
    """Say null for what isn't known, as some servers do."""
    for event in events:
        event.setdefault("delta", None)
        event.setdefault("item", None)
        event.setdefault("response", None)
        event.setdefault("call_id", None)
    return events


def _only_the_end(events: Events) -> Events:
    return [events[0], *(event for event in events[1:] if _kind(event) in _TERMINALS)]


ALL_WHOLES = {"deltas", "wholes", "parts", "call deltas", "arguments"}

MUTATIONS: tuple[Mutation, ...] = tuple(
    Mutation(name, apply, frozenset(takes))
    for name, apply, takes in (
        ("no added", dropping(lambda e: _kind(e) == "response.output_item.added"), {"added"}),
        ("no deltas", dropping(_is_delta), {"deltas", "call deltas"}),
        ("no last deltas", _without_last_deltas, {"deltas", "call deltas"}),
        (
            "no text.done",
            dropping(lambda e: _is_whole(e) and not _is_call_event(e)),
            {"wholes"},
        ),
        ("no parts", dropping(lambda e: "_part." in _kind(e)), {"parts"}),
        (
            "no arguments.done",
            dropping(lambda e: _is_whole(e) and _is_call_event(e)),
            {"arguments"},
        ),
        ("no item.done", dropping(lambda e: _kind(e) == "response.output_item.done"), {"items"}),
        ("only the end", _only_the_end, {*ALL_WHOLES, "added", "items"}),
        ("empty final output", _without_final_output, {"final"}),
        ("no output index", _without("output_index"), {"index"}),
        ("no item id", _without("item_id"), {"ids"}),
        ("no sequence number", _without("sequence_number"), set[str]()),
        ("rotating ids", _rotate_ids, {"ids"}),
        ("other ids at the end", _other_ids_at_the_end, set[str]()),
        ("other call ids at the end", _other_call_ids_at_the_end, {"call ids"}),
        ("call id as item id", _call_id_as_item_id, set[str]()),
        ("arguments as objects", _arguments_as_objects, set[str]()),
        ("arguments written anew", _arguments_written_anew, set[str]()),
        ("growing content index", _growing_content_index, set[str]()),
        ("index 0 when added", _index_0_when_added, set[str]()),
        ("other names", _rename, set[str]()),
        ("doubled events", _double_events, set[str]()),
        ("doubled items", _double_items, set[str]()),
        ("done before the last delta", _done_before_last_delta, set[str]()),
        ("item before its end", _item_before_its_end, set[str]()),
        ("chatter", _chatter, set[str]()),
        ("all again after the end", _after_the_end, set[str]()),
        ("nulls", _nulls, set[str]()),
    )
)
