"""The tool calls of a response: each one whole, and once.

Servers drop, double, rename and reorder what they say of a call, and no key of it is safe: the
events of its arguments have no call id, item ids change from event to event, the final output has
other ones. So there is a record for each call; what is said finds it by whatever key fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .call_match import match
from .call_record import CallRecord, CallState, WholeCall, digest_of, parse, text_of
from .events import Item, StreamEvent, load

__all__ = ["CallLedger", "WholeCall"]


class CallLedger:
    """All calls of one response."""

    def __init__(self) -> None:
        self._records: list[CallRecord] = []
        self._sent: set[tuple[str, str, bytes]] = set()
        self._ids_stay = False
        """Whether an event was seen that has the item id of the item that was announced."""

    def announce(self, item: Item, index: int | None) -> None:
        """Take the beginning of a call."""
        record = self._announced(item, index)
        if record is None:
            record = self._new()
        record.learn(item.id, index, item)

    def add(self, event: StreamEvent) -> None:
        """Take a piece of the arguments."""
        if event.delta:
            self._of_arguments(event).deltas.append(event.delta)

    def complete(self, event: StreamEvent) -> list[WholeCall]:
        """Take all of the arguments: enough, if they are whole and the call is known."""
        record = self._of_arguments(event)
        record.name = record.name or event.name
        record.done_text = text_of(load(event.arguments))
        if not (record.call_id and record.name):
            return []
        return self._send(record)

    def finish(self, item: Item, index: int | None) -> list[WholeCall]:
        """Take the item when it is done. What it says of the arguments counts most."""
        record = self._finished(item, index)
        if record is None:
            record = self._new()
        record.learn(item.id, index, item)
        return self._settle(record, item)

    def conclude(self, items: Sequence[Item], *, is_complete: bool) -> list[WholeCall]:
        """Take the calls in the final output; only what fits no call that is known is new.

        With a response that isn't complete, only items that say they are can be emitted.
        """
        found = match(self._records, items)
        calls: list[WholeCall] = []
        for position, item in enumerate(items):
            record = found.get(position)
            if record is None:
                record = self._new()
            record.is_matched = True
            record.learn(item.id, None, item)
            if is_complete or item.status == "completed":
                calls += self._settle(record, item)
        if is_complete:
            for record in self._records:
                if not record.is_matched and record.state is CallState.OPEN:
                    calls += self._send(record, may_be_empty=record.done_text is not None)
        return calls

    @property
    def broken(self) -> list[str]:
        """The names of the calls that were made and can't be told to the editor."""
        return [
            record.name
            for record in self._records
            if record.name and record.state is not CallState.SENT
        ]

    # Sending.

    def _settle(self, record: CallRecord, item: Item) -> list[WholeCall]:
        if record.state is CallState.SENT:
            record.is_finished = True
            return []
        if item.call_id:
            record.call_id = item.call_id
        record.item_text = text_of(item.arguments)
        record.is_finished = True
        if item.status == "incomplete":
            record.state = CallState.TRUNCATED
            return []
        return self._send(record, may_be_empty=True)

    def _send(self, record: CallRecord, *, may_be_empty: bool = False) -> list[WholeCall]:
        """Return the call, unless it isn't whole, or was sent."""
        if record.state is CallState.SENT or not record.name:
            return []
        parsed = record.parameters
        if parsed is None and not record.texts and may_be_empty:
            parsed = dict[str, Any](), "{}"
        if parsed is None:
            return []
        parameters, text = parsed
        record.state = CallState.SENT
        record.digest = digest_of(parameters)
        record.deltas.clear()
        call = WholeCall(record.call_id or "", record.name, parameters, text)
        key = (call.call_id, call.name, record.digest)
        if call.call_id and key in self._sent:
            return []  # the same call, told twice
        self._sent.add(key)
        return [call]

    # Finding.

    def _new(self) -> CallRecord:
        record = CallRecord()
        self._records.append(record)
        return record

    def _by_item_id(self, item_id: str | None) -> CallRecord | None:
        """Return the newest with that id; some servers put the call id there."""
        if not item_id:
            return None
        return self._newest(lambda r: r.item_id == item_id) or self._newest(
            lambda r: r.call_id == item_id
        )

    def _newest(self, fits: Callable[[CallRecord], bool]) -> CallRecord | None:
        return next((record for record in reversed(self._records) if fits(record)), None)

    def _by_call_id(self, item: Item, index: int | None) -> CallRecord | None:
        """Return the one with that call id, if it isn't known to be another with the same."""
        if not item.call_id:
            return None
        same = [r for r in self._records if item.call_id == (r.call_id or r.item_id)]
        for record in same:
            if item.id and record.item_id == item.id:
                return record
        return next((record for record in same if not record.clashes(item.id, index)), None)

    def _at(self, index: int | None) -> CallRecord | None:
        return None if index is None else self._newest(lambda r: r.output_index == index)

    def _announced(self, item: Item, index: int | None) -> CallRecord | None:
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        record = self._at(index)
        if record is not None and record.call_id is None and not record.is_finished:
            return record  # its arguments came first
        return None

    def _finished(self, item: Item, index: int | None) -> CallRecord | None:
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        record = self._at(index)
        if record is None or record.is_finished or (record.name or item.name) != item.name:
            return None
        if record.state is CallState.SENT and record.digest != digest_of(parse(item.arguments)):
            return None
        return record

    def _of_arguments(self, event: StreamEvent) -> CallRecord:
        """Find the call of some arguments: by call id, item id, that as a call id, output index."""
        record = self._by_item_id(event.call_id) or self._by_item_id(event.item_id)
        if record is not None:
            self._ids_stay = True
        else:
            record = self._at(event.output_index)
            if record is not None and record.is_finished and event.item_id:
                record = None  # a server that gives all items the same index
        if record is None and event.output_index is None:
            is_known_by_id = bool(event.item_id) and self._ids_stay
            if not is_known_by_id:  # no key is left but the order
                record = self._newest(lambda r: not r.is_finished)
        if record is None:
            record = self._new()
        record.learn(event.item_id, event.output_index)
        record.call_id = record.call_id or event.call_id
        return record
