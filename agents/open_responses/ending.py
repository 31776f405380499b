"""How a response ended, from its last snapshot."""

from __future__ import annotations

from typing import Any, cast

from agents.events import StopReason

from .events import Meaning, Snapshot
from .faults import Fault, fault_of

ENDED_EARLY = Fault(502, "The stream ended early", "stream_ended_early")

_OUT_OF_TOKENS = frozenset({"max_output_tokens", "max_tokens", "length"})
_FILTERED = frozenset({"content_filter", "content_policy"})


def fault_in(meaning: Meaning, snapshot: Snapshot) -> Fault | None:
    """Return why a response failed; None if it didn't. Its status counts, not the event's name."""
    if snapshot.status == "cancelled":
        return fault_of(snapshot.error or {"message": "The server cancelled the response"})
    if meaning is Meaning.FAILED or snapshot.status == "failed":
        why = {"message": "The response failed, and the server didn't say why"}
        return fault_of(snapshot.error or why)
    return None


def error_beside(event: Any) -> Any:
    """Return what an event says beside its response of why that failed; None if nothing."""
    return event if fault_of(event).message else None


def incomplete_reason_in(meaning: Meaning, snapshot: Snapshot) -> str | None:
    """Return why a response is incomplete, in the server's words; None if it isn't."""
    if meaning is not Meaning.INCOMPLETE and snapshot.status != "incomplete":
        return None
    details = snapshot.incomplete_details
    reason = cast("dict[str, Any]", details).get("reason") if isinstance(details, dict) else None
    return reason if isinstance(reason, str) else "unknown"


def stop_or_fault(reason: str, *, has_emitted: bool) -> StopReason | Fault:
    """Return what an incomplete response is; without a word it is a failure, mostly."""
    if reason in _OUT_OF_TOKENS:
        return StopReason.MAX_TOKENS
    if not has_emitted:
        return fault_of({"message": f"The response is incomplete ({reason})", "code": reason})
    return StopReason.REFUSAL if reason in _FILTERED else StopReason.END_TURN
