"""Encrypted reasoning, as the editor keeps it: in the metadata of a thinking part.

Only the server can read it, and within a tool loop it wants it back. The session knows it, but not
after a restart; then it is restored from what the editor repeats. Hosts join the thinking parts of
a response and keep the metadata of the last one. So all reasoning goes into one record.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from typing import TYPE_CHECKING, Any, cast

from agents.loading import load
from agents.open_responses.items import ReasoningItem
from bridge.value import Value

from .events import OutputItem, read_item, summaries_of
from .outcome import Called

if TYPE_CHECKING:
    from msgspec import Raw

_KEY = "openResponses"


class KeptReasoning(Value):
    """Reasoning, and the editor's id of the call that it led to; "": it led to the answer."""

    item: ReasoningItem
    call_id: str = ""


def reasoning_item(item: Any) -> ReasoningItem | None:
    """Return reasoning as a server takes it back: encrypted, or in its own words."""
    match item:
        case {"encrypted_content": str(encrypted)} if encrypted:
            content = None
        case {"content": content} if content:
            encrypted = None
        case _:
            return None
    texts = summaries_of(OutputItem(summary=cast("dict[str, Any]", item).get("summary")))
    shown = tuple({"type": "summary_text", "text": text} for _, text in texts)
    return ReasoningItem(shown, content, encrypted)


def record_of(
    output: Sequence[Raw], calls: Sequence[Called], origin: str
) -> Generator[None, None, dict[str, object] | None]:
    """Return the record of a response's encrypted reasoning, in steps; None if there is none.

    `origin` says whose it is: another server, or another model, can't read it.
    """
    kept: list[dict[str, object]] = []
    ids = {call.server_call_id: call.call_id for call in calls}
    for place, raw in enumerate(output):
        yield
        item = reasoning_item(load(raw)) if read_item(raw).type == "reasoning" else None
        if item is None or item.encrypted_content is None:
            continue
        follows = [read_item(one) for one in output[place + 1 : place + 2]]
        call_id = next((ids.get(one.call_id or "", "") for one in follows), "")
        summary = [part["text"] for part in item.summary]
        one = {"encrypted": item.encrypted_content, "summary": summary, "call": call_id}
        kept.append({key: value for key, value in one.items() if value})
    return {_KEY: {"origin": origin, "reasoning": kept}} if kept else None


def kept_in(metadata: Any, origin: str) -> list[KeptReasoning]:
    """Return the reasoning of a record from that owner; none if the record isn't ours."""
    match metadata:
        case {"openResponses": {"origin": str(known), "reasoning": list()}} if known == origin:
            kept = cast("dict[str, dict[str, list[Any]]]", metadata)[_KEY]["reasoning"]
            return [one for one in map(_kept, kept) if one is not None]
        case _:
            return []


def _kept(value: Any) -> KeptReasoning | None:
    match value:
        case {"encrypted": str(encrypted)}:
            fields = cast("dict[str, Any]", value)
        case _:
            return None
    summary = fields.get("summary")
    texts = cast("list[Any]", summary) if isinstance(summary, list) else []
    shown = tuple({"type": "summary_text", "text": text} for text in texts if isinstance(text, str))
    call_id = fields.get("call")
    return KeptReasoning(
        ReasoningItem(shown, None, encrypted), call_id if isinstance(call_id, str) else ""
    )
