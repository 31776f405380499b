"""The tool calls of a response: each one whole, and once.

Servers drop, double, rename and reorder the events of a call, and no key is reliable. Events of
arguments have no call id, item ids change from event to event, and the final output has other ids.
So there is a record for each call; what is said finds it by whatever key fits.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from .events import OutputItem, StreamEvent, load
from .tool_call import CallState, FunctionCall, WholeCall, announced_text, text_of
from .tool_call_lookup import MOST_TRIED, CallSearch, match_steps
from .unkeyed_arguments import claim, place, strays

__all__ = ["CallLedger", "WholeCall"]


class CallLedger:
    """All calls of one response."""

    def __init__(self) -> None:
        self._search = CallSearch()
        self._sent: set[tuple[str, str, bytes]] = set()
        self.is_waiting = False
        """Whether the call of the arguments that came last has an item that isn't done."""

    def announce(self, item: OutputItem, index: int | None) -> None:
        """Take the beginning of a call."""
        record = self._search.announced(item, index)
        record.learn(item.id, index, item)
        record.is_announced = True
        record.announced_text = announced_text(item)
        self._search.note(record)

    def add(self, event: StreamEvent) -> None:
        """Take a piece of the arguments."""
        if event.delta:
            record = self._search.of_arguments(event)
            record.deltas.append(event.delta)
            self.is_waiting = not record.is_finished

    def complete(self, event: StreamEvent) -> list[WholeCall]:
        """Take all of the arguments: enough, if they are whole and the call is known."""
        record = self._search.of_arguments(event)
        record.name = record.name or event.name
        record.done_text = text_of(load(event.arguments)) or ""
        self.is_waiting = not record.is_finished
        if not (record.call_id and record.name):
            return []
        return self._send(record)

    def finish(self, item: OutputItem, index: int | None) -> list[WholeCall]:
        """Take the item when it is done. Its arguments count most."""
        record = self._search.finished(item, index)
        record.learn(item.id, index, item)
        self._search.note(record)
        return self._settle(record, item)

    def conclude(
        self, items: Sequence[OutputItem], *, is_complete: bool
    ) -> Iterator[WholeCall | None]:
        """Take the calls in the final output; only what fits no call that is known is new.

        With a response that isn't complete, only items that say they are can be emitted. None is
        the end of a step.
        """
        records = [record for record in self._search.records if not record.is_claimed]
        found: dict[int, FunctionCall] = {}
        for _ in match_steps(records, items, found):
            yield None
        for position, item in enumerate(items):
            record = found.get(position)
            if record is None:
                record = self._search.new()
                records.append(record)
            record.is_matched = True
            record.learn(item.id, None, item)
            if is_complete or item.status == "completed":
                yield from self._settle(record, item)
            yield None
        if is_complete:
            for record, text in place(records):
                record.done_text = text
                yield from self._send(record)
                yield None
            for record in records:
                if record.state is CallState.OPEN and not record.is_claimed:
                    yield from self._send(record, may_be_empty=record.is_told)
                yield None

    @property
    def broken(self) -> list[str]:
        """The names of the calls that can't be sent to the editor.

        A call that was announced, and nothing more, is one that was sent under other keys.
        """
        records = self._search.records
        sent = [record for record in records if record.state is CallState.SENT]
        others = Counter(record.name for record in sent if not record.is_announced)
        names: list[str] = []
        for record in records:
            if record.state is CallState.SENT or record.is_claimed or not record.name:
                continue
            if not record.is_told and others[record.name]:
                others[record.name] -= 1
            else:
                names.append(record.name)
        return names

    def _settle(self, record: FunctionCall, item: OutputItem) -> list[WholeCall]:
        if record.state is CallState.SENT:
            record.is_finished = True
            return []
        if item.call_id:
            record.call_id = item.call_id
            self._search.note(record)
        record.item_text = text_of(item.arguments)
        record.is_finished = True
        if item.status == "incomplete":
            record.state = CallState.TRUNCATED
            return []
        return self._send(record, may_be_empty=True)

    def _send(self, record: FunctionCall, *, may_be_empty: bool = False) -> list[WholeCall]:
        """Return the call, unless it isn't whole, or was sent."""
        if record.state is CallState.SENT or not record.name:
            return []
        parsed = record.parameters
        if parsed is None and not record.texts and may_be_empty and not self._may_have(record):
            parsed = dict[str, Any](), "{}"
        if parsed is None:
            return []
        parameters, text = parsed
        claim(self._search.nameless(), parameters)
        record.state = CallState.SENT
        record.digest = record.asked
        self._search.note(record)
        record.deltas.clear()
        call = WholeCall(record.call_id or "", record.name, parameters, text)
        key = (call.call_id, call.name, record.digest)
        if call.call_id and key in self._sent:
            return []  # the same call, told twice
        self._sent.add(key)
        return [call]

    def _may_have(self, record: FunctionCall) -> bool:
        """Tell whether there are arguments that may be those of a call that seems to have none."""
        found = strays(self._search.nameless(), [record], most=MOST_TRIED)
        return any(parameters for parameters, _ in found)
