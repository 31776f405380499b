"""From the events of one response to what an agent says.

One machine for one HTTP answer:

    splitter, machine = SseSplitter(), StreamMachine(outward=call_ids.outward)
    async for chunk in body:
        for name, data in splitter.feed(chunk):
            batch = machine.feed(data, name)
    for name, data in splitter.finish():
        batch = machine.feed(data, name)
    batch = machine.finish()

Nothing of a server's order, ids or completeness is taken for granted: `speech` and `calls` tell
what is new in what is said; here are the response as a whole, and its end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from agents.events import Batch, Break, CallTool, Event, Say, Stop, StopReason

from .calls import CallLedger, WholeCall
from .ending import ENDED_EARLY, fault_in, incomplete_reason_in, stop_or_fault
from .events import (
    MEANINGS,
    NOTHING,
    TEXT_DELTA,
    Item,
    Meaning,
    Snapshot,
    StreamEvent,
    load,
    read_event,
    read_item,
    read_items,
    read_snapshot,
)
from .faults import Fault, fault_of
from .outcome import Called, Outcome, Status
from .parallel import unwrap
from .speech import Annotations, Speech
from .usage import read_usage, usage_record

if TYPE_CHECKING:
    from msgspec import Raw

__all__ = ["Annotations", "StreamMachine"]

_DONE = b"[DONE]"
_MAX_NOTES = 20


class StreamMachine:
    """Says what a response says, each thing once; the last event is one `Stop` or `Break`.

    `outward` names a call toward the editor (`CallIds.outward`). `previous_response_id` is the one
    that was sent: unless the server's first snapshot echoes it, the machine is over (`unchained`)
    before anything is emitted, without a last event. `tools` are the names of the tools that were
    offered; None: not known. `server` names it to the user.

    Before the first part nothing is lost by asking again: a `Break` from `feed` or `finish` is to
    be held back where `outcome` allows a retry.
    """

    def __init__(
        self,
        *,
        outward: Callable[[str], str],
        annotations: Annotations = "inline",
        previous_response_id: str | None = None,
        tools: Collection[str] | None = None,
        server: str = "The server",
    ) -> None:
        self._outward = outward
        self._sent_response_id = previous_response_id
        self._is_confirmed = previous_response_id is None
        self._tools = tools
        self._server = server
        self._speech = Speech(annotations)
        self._ledger = CallLedger()
        self._called: list[Called] = []
        self._status: Status = "open"
        self._fault: Fault | None = None
        self._incomplete_reason: str | None = None
        self._snapshot = Snapshot()
        self._items: dict[int, Raw] = {}
        """The items that are done, by their order."""
        self._notes: dict[str, None] = {}
        self._last_data = b""
        self._first_number: int | None = None
        self._is_doubled = False
        """Whether every event comes twice."""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said: what is fed now is ignored."""
        return self._status != "open"

    @property
    def _has_emitted(self) -> bool:
        return self._speech.has_spoken or bool(self._called)

    @property
    def outcome(self) -> Outcome:
        """What is known of the response by now."""
        snapshot = self._snapshot
        return Outcome(
            status=self._status,
            response_id=snapshot.id,
            previous_response_id=snapshot.previous_response_id,
            model=snapshot.model,
            store=snapshot.store,
            usage=read_usage(snapshot.usage),
            output=self._output,
            calls=tuple(self._called),
            has_emitted=self._has_emitted,
            fault=self._fault,
            incomplete_reason=self._incomplete_reason,
            notes=tuple(self._notes),
        )

    @property
    def _output(self) -> tuple[Raw, ...]:
        """The final output; what was done, where the final output lacks calls, or is empty."""
        final = read_items(self._snapshot.output)
        emitted = {call.server_call_id for call in self._called}
        calls = [raw for raw in final if read_item(raw).type == "function_call"]
        if final and len(calls) >= len(emitted):
            return tuple(final)
        done: dict[str, Raw] = {}
        for place in sorted(self._items):
            item = read_item(self._items[place])
            done.setdefault(item.call_id or item.id or str(place), self._items[place])
        return tuple(done.values())

    def feed(self, data: bytes, name: bytes = b"") -> Batch:
        """Take the data of one event; `name` counts where the data has no type of its own."""
        if self._status != "open":
            return ()
        event = read_event(data)
        if event is None:
            if data.strip() == _DONE:
                return self.finish()
            self._note("an event that is no JSON object was left out")
            return ()
        if data == self._last_data and self._is_double(event):
            self._last_data = b""
            return ()
        self._last_data = data
        if event.type == TEXT_DELTA and self._is_confirmed:
            delta = event.delta
            if not delta:
                return ()
            return self._speech.say_more(event, delta)
        return self._take(event, data, name)

    def finish(self) -> Batch:
        """Take the end of the body. Without a terminal event before it, it is a failure."""
        if self._status != "open":
            return ()
        return self._fail(ENDED_EARLY)

    # Events.

    def _take(self, event: StreamEvent, data: bytes, name: bytes) -> Batch:
        """Take any event."""
        if self._first_number is None:
            self._first_number = event.sequence_number
        type_ = event.type or name.decode(errors="replace")
        meaning = MEANINGS.get(type_) or self._untyped(event)
        if meaning is None:
            self._note(f"an event of an unknown type was left out: {type_[:80]!r}")
            return ()
        if not self._is_confirmed and not self._confirm(meaning, event, data):
            self._status = "unchained"
            return ()
        return tuple(self._tell(meaning, event, data))

    def _is_double(self, event: StreamEvent) -> bool:
        """Tell whether an event that is just like the one before it is that one again.

        A number says so, unless the server gives all events the same; two beginnings say so of all
        that follows. Else it may be a word that is said twice.
        """
        number = event.sequence_number
        self._is_doubled |= event.type == "response.created"
        is_numbered = None not in (number, self._first_number)
        return self._is_doubled or (is_numbered and number != self._first_number)

    def _untyped(self, event: StreamEvent) -> Meaning | None:
        """Return the meaning of what has no type: an error, or a whole response."""
        if event.error != NOTHING and not event.type:
            return Meaning.ERROR
        if event.object == "response" and not event.type:
            return Meaning.COMPLETED
        return None

    def _confirm(self, meaning: Meaning, event: StreamEvent, data: bytes) -> bool:
        """Tell whether the server goes on from the response that it was told to go on from."""
        match meaning:
            case Meaning.ALIVE | Meaning.ERROR | Meaning.FAILED:
                return True
            case Meaning.SNAPSHOT | Meaning.COMPLETED | Meaning.INCOMPLETE:
                snapshot = read_snapshot(data if event.response == NOTHING else event.response)
                self._learn(snapshot)
                self._is_confirmed = snapshot.previous_response_id == self._sent_response_id
                return self._is_confirmed
            case _:
                return False

    def _tell(self, meaning: Meaning, event: StreamEvent, data: bytes) -> Iterator[Event]:
        match meaning:
            case Meaning.SNAPSHOT:
                self._learn(read_snapshot(event.response))
            case Meaning.COMPLETED | Meaning.INCOMPLETE | Meaning.FAILED:
                snapshot = read_snapshot(data if event.response == NOTHING else event.response)
                self._learn(snapshot)
                yield from self._end(meaning, snapshot)
            case Meaning.ERROR:
                yield from self._fail(fault_of(load(data)))
            case Meaning.ITEM_ADDED:
                self._begin_item(read_item(event.item), event.output_index)
            case Meaning.ITEM_DONE:
                yield from self._finish_item(event)
            case Meaning.ARGUMENTS_DELTA:
                self._ledger.add(event)
            case Meaning.ARGUMENTS_DONE:
                yield from self._call(self._ledger.complete(event))
            case _:
                yield from self._speech.tell(meaning, event)

    def _begin_item(self, item: Item, index: int | None) -> None:
        if item.type == "function_call":
            self._ledger.announce(item, index)
        else:
            self._speech.begin(item, index)

    def _finish_item(self, event: StreamEvent) -> Iterator[Event]:
        item, index = read_item(event.item), event.output_index
        if item.type is None:
            return
        self._items[len(self._items) if index is None else index] = event.item.copy()
        if item.type == "function_call":
            yield from self._call(self._ledger.finish(item, index))
        else:
            yield from self._speech.finish(item, index)

    # Calls.

    def _call(self, calls: Iterable[WholeCall]) -> Iterator[Event]:
        for call in calls:
            for one in unwrap(call, self._tools):
                call_id = self._outward(one.call_id)
                self._called.append(Called(call_id, one.call_id, one.name, one.arguments))
                yield CallTool(call_id, one.name, one.parameters)

    # The end.

    def _learn(self, snapshot: Snapshot) -> None:
        """Take over what a snapshot says; what it leaves out is as it was."""
        for name in ("id", "status", "previous_response_id", "model", "store", "usage"):
            value = getattr(snapshot, name)
            if value is not None:
                setattr(self._snapshot, name, value)
        if snapshot.output != NOTHING:
            self._snapshot.output = snapshot.output.copy()

    def _end(self, meaning: Meaning, snapshot: Snapshot) -> Iterator[Event]:
        fault = fault_in(meaning, snapshot)
        if fault is not None:
            yield from self._fail(fault)
            return
        reason = self._incomplete_reason = incomplete_reason_in(meaning, snapshot)
        yield from self._conclude(is_complete=reason is None)
        if reason is None:
            yield from self._end_complete()
            return
        end = stop_or_fault(reason, has_emitted=self._has_emitted)
        if isinstance(end, Fault):
            yield from self._fail(end)
        else:
            yield from self._stop("incomplete", end)

    def _conclude(self, *, is_complete: bool) -> Iterator[Event]:
        """Say what of the final output wasn't said."""
        items = [read_item(raw) for raw in read_items(self._snapshot.output)]
        yield from self._speech.conclude(items)
        calls = [item for item in items if item.type == "function_call"]
        yield from self._call(self._ledger.conclude(calls, is_complete=is_complete))

    def _end_complete(self) -> Iterator[Event]:
        broken = self._ledger.broken
        if broken:
            names = ", ".join(f"`{name}`" for name in dict.fromkeys(broken))
            said = f"The model called {names} with arguments that are no JSON object"
            self._note(said)
            if not self._has_emitted:
                yield from self._fail(Fault(502, said, "invalid_tool_arguments"))
                return
            yield Say(f"\n\n*({said}; that call was left out.)*\n", by_us=True)
        yield from self._stop(
            "completed", StopReason.REFUSAL if self._speech.has_refused else StopReason.END_TURN
        )

    def _stop(self, status: Status, reason: StopReason) -> Iterator[Event]:
        yield from self._count_tokens()
        self._status = status
        yield Stop(reason)

    def _fail(self, fault: Fault) -> Batch:
        usage = tuple(self._count_tokens())
        self._status, self._fault = "failed", fault
        return (*usage, Break(fault.failure(self._server)))

    def _count_tokens(self) -> Iterator[Event]:
        usage = read_usage(self._snapshot.usage)
        if usage is not None:
            yield usage_record(usage)

    def _note(self, note: str) -> None:
        if len(self._notes) < _MAX_NOTES:
            self._notes[note] = None
