"""Collect the state of a response from its stream: its snapshots, its items and its end."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from agents.events import StopReason
from agents.loading import NOTHING, fields_of, load
from agents.open_responses.http.errors import UNKNOWN, Fault, fault_of, sole
from bridge.value import Value

from .approvals import Approval
from .events import Meaning, Snapshot, read_item, read_items

if TYPE_CHECKING:
    from msgspec import Raw

Status: TypeAlias = Literal["open", "completed", "incomplete", "failed", "unchained"]
"""Progress of a response. `unchained`: the server doesn't continue the response that was named.
Nothing was or will be emitted, and the full conversation must be sent.
"""


class Called(Value):
    """A tool call that was emitted: the id that the editor knows, and the server's own."""

    call_id: str
    server_call_id: str
    name: str
    arguments: str


class TokenUsage(Value):
    """The tokens of a response; None if the server didn't report them."""

    input_tokens: int
    output_tokens: int
    total_tokens: int
    cached_tokens: int | None = None
    reasoning_tokens: int | None = None


class ResponseOutcome(Value):
    """A response, from its newest snapshot at the time of asking.

    `previous_response_id` is what the server says it goes on from. `store` None: it didn't say.
    `output` are the items of the response as the server wrote them: JSON objects, in their order,
    with the encrypted content of reasoning. `calls` are the tool calls among them that were
    emitted, and `approvals` the questions that were asked. `has_emitted`: a part is out, so nothing
    may be asked again. `fault` is set with `failed`. The session decides by it, and by
    `has_emitted`, whether to retry. `incomplete_reason` is the server's word. `notes` are surprises
    worth a line in the log.
    """

    status: Status = "open"
    response_id: str | None = None
    previous_response_id: str | None = None
    store: bool | None = None
    usage: TokenUsage | None = None
    output: tuple[Raw, ...] = ()
    calls: tuple[Called, ...] = ()
    approvals: tuple[Approval, ...] = ()
    has_emitted: bool = False
    fault: Fault | None = None
    incomplete_reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def can_be_continued(self) -> bool:
        """Whether a next request may name this response as the previous one.

        Not where two calls were emitted under one id of the server's: it couldn't tell the answers
        apart, so it must be told in full.
        """
        ids = [call.server_call_id for call in self.calls]
        is_kept = self.store is True and bool(self.response_id)
        return self.status == "completed" and is_kept and len(set(ids)) == len(ids)


ENDED_EARLY = Fault(502, "The stream ended early", "stream_ended_early")

_LONGEST_WORDS = 200
"""Bytes of plain text that are shown."""
_OUT_OF_TOKENS = frozenset({"max_output_tokens", "max_tokens", "length"})
_CANCELLED = frozenset({"cancelled", "canceled"})
_FILTERED = frozenset({"content_filter", "content_policy"})


def fault_in(meaning: Meaning, snapshot: Snapshot) -> Fault | None:
    """Return why a response failed; None if it didn't. Its status counts, not the event's name."""
    told = reason_in(snapshot)
    if snapshot.status in _CANCELLED:
        return fault_of(told or {"message": "The server cancelled the response"})
    if meaning is Meaning.FAILED or snapshot.status == "failed":
        why = {"message": "The response failed, and the server didn't say why"}
        return fault_of(told or why)
    return None


def reason_in(snapshot: Snapshot) -> Any:
    """Return what a response says of why it failed: its error, in words of its details if need be.

    None if it says nothing.
    """
    error, details = fields_of(snapshot.error), _error_in_details(snapshot.status_details)
    if error and details:
        message = fault_of(error).message or fault_of(details).message
        return {**error, "message": message}
    return snapshot.error or details


def _error_in_details(details: Any) -> Any:
    """Return what `status_details` say of why a response failed; None if nothing."""
    match details:
        case str():
            return details.strip() or None
        case {"error": error} if error:
            return error
        case {"message": str(message)} if message:
            return cast("dict[str, Any]", details)
        case {"reason": str(reason)} if reason:
            return {"message": f"The response failed ({reason})", "code": reason}
        case _:
            return None


def error_beside(event: Any) -> Any:
    """Return what an event says beside its response of why that failed; None if nothing."""
    return event if fault_of(event).message else None


def fault_in_words(words: bytes) -> Fault:
    """Return why a stream ended early: what was read last, if that has words and is no event."""
    value = load(words)
    if value is None:
        return fault_of(words[:_LONGEST_WORDS].decode(errors="replace"))
    is_event = "." in str(fields_of(value).get("type"))
    is_told = bool(value) and not is_event and isinstance(value, dict | list | str)
    fault = fault_of(value) if is_told else ENDED_EARLY
    return fault if fault.message else ENDED_EARLY


def fault_behind(words: bytes, type_: str) -> Fault | None:
    """Return the failure that is told behind items that are all done; None if it is no failure.

    An event of another type may be an extension, and a single word may be how a server ends.
    """
    value = load(words)
    fields = fields_of(sole(value))
    typed = fields.get("type") or type_
    if typed not in ("", "message") and "error" not in str(typed).lower():
        return None
    fault = fault_in_words(words)
    is_text = isinstance(value, str) or (value is None and not words.startswith((b"{", b"[", b'"')))
    is_said = is_text and (" " in fault.message or fault.status != UNKNOWN)
    return fault if (fields or is_said) and fault is not ENDED_EARLY else None


def incomplete_reason_in(meaning: Meaning, snapshot: Snapshot) -> str | None:
    """Return why a response is incomplete, in the server's words; None if it isn't."""
    if meaning is not Meaning.INCOMPLETE and snapshot.status != "incomplete":
        return None
    details = snapshot.incomplete_details or snapshot.status_details
    reason = fields_of(details).get("reason")
    return reason if isinstance(reason, str) else "unknown"


def stop_or_fault(reason: str, *, has_emitted: bool) -> StopReason | Fault:
    """Return what an incomplete response is; without a word it is a failure, mostly."""
    if reason in _OUT_OF_TOKENS:
        return StopReason.MAX_TOKENS
    if not has_emitted:
        return fault_of({"message": f"The response is incomplete ({reason})", "code": reason})
    return StopReason.REFUSAL if reason in _FILTERED else StopReason.END_TURN


class ResponseRecord:
    """A response; `snapshot` is all that its snapshots said, the newest first."""

    def __init__(self) -> None:
        self.snapshot = Snapshot()
        self._items: dict[int, Raw] = {}
        """The items that are done, by their order."""
        self._final: list[Raw] | None = None
        self._output: tuple[int, tuple[Raw, ...]] | None = None
        """The value of `output`, for so many calls."""

    @property
    def final(self) -> list[Raw]:
        """The items of the final output."""
        if self._final is None:
            self._final = read_items(self.snapshot.output)
        return self._final

    def learn(self, snapshot: Snapshot) -> None:
        """Take over what a snapshot says; what it leaves out is as it was."""
        for name in ("id", "status", "previous_response_id", "store", "usage"):
            value = getattr(snapshot, name)
            if value is not None:
                setattr(self.snapshot, name, value)
        if snapshot.output != NOTHING:
            self.snapshot.output = snapshot.output.copy()
            self._final = self._output = None

    def keep(self, item: Raw, index: int | None) -> None:
        """Take an item that is done."""
        self._items[len(self._items) if index is None else index] = item.copy()
        self._output = None

    def output(self, called: Collection[str]) -> tuple[Raw, ...]:
        """Return the final output; what was done, where that lacks calls, or is empty.

        `called` are the server's ids of the calls that were emitted.
        """
        for _ in self.settle(called):
            pass
        return () if self._output is None else self._output[1]

    def settle(self, called: Collection[str]) -> Iterator[None]:
        """Find out what `output` returns, step by step; until something else is learned."""
        count = len(set(called))
        if self._output is not None and self._output[0] == count:
            return
        calls = 0
        for raw in self.final:
            calls += read_item(raw).type == "function_call"
            yield
        if self.final and calls >= count:
            self._output = count, tuple(self.final)
            return
        done: dict[str, Raw] = {}
        for place in sorted(self._items):
            item = read_item(self._items[place])
            done.setdefault(item.call_id or item.id or str(place), self._items[place])
            yield
        self._output = count, tuple(done.values())
