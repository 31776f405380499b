"""The tool calls of a response: each one whole, and once.

Servers drop, double, rename and reorder the events of a call, and no key is reliable. Events of
arguments have no call id, item ids change from event to event, and the final output has other ids.
So there is a record for each call; what is said finds it by whatever key fits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from .events import OutputItem, StreamEvent, load
from .same_calls import MadeCalls, absorb, excuse, is_made
from .tool_call import CallSource, CallState, FunctionCall, WholeCall, announced_text, text_of
from .tool_call_lookup import CallSearch, match_steps
from .unkeyed_arguments import place

__all__ = ["CallLedger", "WholeCall"]


class CallLedger:
    """All calls of one response."""

    def __init__(self) -> None:
        self._search = CallSearch()
        self._sent: dict[tuple[str | None, str | None, bytes], FunctionCall] = {}
        self.is_waiting = False
        """Whether the call of the arguments that came last has an item that isn't done."""

    def announce(self, item: OutputItem, index: int | None) -> None:
        """Take the beginning of a call."""
        record = self._search.announced(item, index)
        record.learn(item.id, index, item)
        record.told |= CallSource.ANNOUNCED
        record.announced_text = announced_text(item)
        self._search.note(record, item.call_id)

    def add(self, event: StreamEvent) -> None:
        """Take a piece of the arguments."""
        if event.delta:
            record = self._search.of_arguments(event)
            record.deltas.append(event.delta)
            record.is_heard = True
            record.told |= CallSource.PIECES
            self.is_waiting = not record.is_finished

    def complete(self, event: StreamEvent) -> None:
        """Take all of the arguments. The call isn't made yet: its item says whose they are."""
        record = self._search.of_arguments(event)
        record.name = record.name or event.name
        record.done_text = text_of(load(event.arguments)) or ""
        record.told |= CallSource.ARGUMENTS
        record.is_heard = True
        self.is_waiting = not record.is_finished

    def finish(self, item: OutputItem, index: int | None) -> list[WholeCall]:
        """Take the item when it is done. Its arguments count most.

        A call without any is made at the end: some servers have them in the final output alone.
        """
        record = self._search.finished(item, index)
        record.learn(item.id, index, item)
        record.told |= CallSource.ITEM
        self._search.note(record)
        if not self._settle(record, item):
            return []
        record.waits = not record.texts and not self._search.may_have_more(record)
        if not record.is_held:
            return self._send(record)
        if self._is_repeat(record):
            record.state = CallState.SENT
        return []

    def conclude(
        self, items: Sequence[OutputItem], *, is_complete: bool
    ) -> Iterator[WholeCall | None]:
        """Take the calls in the final output; only what fits no call that is known is new.

        With a response that isn't complete, only items that say they are can be emitted. None is
        the end of a step.
        """
        known = [one for one in self._search.records if one.has_item and not one.is_repeated]
        found: dict[int, FunctionCall] = {}
        for _ in match_steps(known, items, found):
            yield None
        told: list[FunctionCall] = []
        for position, item in enumerate(items):
            record = found.get(position) or self._search.new()
            record.told |= CallSource.END
            record.learn(item.id, None, item)
            is_done = is_complete or item.status == "completed" or record.is_held
            if is_done and self._settle(record, item):
                told.append(record)
            yield None
        records = self._search.records
        for record in filter(lambda record: record.is_held, records):
            yield from self._send(record)
            yield None
        made = MadeCalls()
        for record in filter(is_made, records):
            made.add(record)
            yield None
        if is_complete:
            told = records
        for is_new in (False, True):
            for record in told:
                is_whole = record.has_item and record.parameters is not None
                if is_whole and self._is_new(record) is is_new:
                    yield from self._send(record, made)
                yield None
        yield from absorb(records)
        if is_complete:
            yield from excuse(records)
        yield from place(records, told)
        for record in told:
            if not record.is_claimed:
                yield from self._send(record, made)
            yield None

    @property
    def is_holding(self) -> bool:
        """Whether a call is done that waits for the final output, as it has no arguments."""
        return any(record.is_held for record in self._search.records)

    @property
    def broken(self) -> list[str]:
        """The names of the calls that can't be sent to the editor; "" if the server named none."""
        made = {one.digest for one in filter(is_made, self._search.records)}
        return [
            one.name or ""
            for one in self._search.records
            if one.state is not CallState.SENT
            and not one.is_claimed
            and (one.name or (one.told & ~CallSource.PIECES and one.asked not in made))
        ]

    def _settle(self, record: FunctionCall, item: OutputItem) -> bool:
        """Take what an item says when it is done; tell whether its call can be made."""
        record.is_finished = True
        if record.state is CallState.SENT:
            return False
        if item.call_id:
            record.call_id = item.call_id
            self._search.note(record)
        record.item_text = text_of(item.arguments)
        if item.status == "incomplete":
            record.state = CallState.TRUNCATED
        return item.status != "incomplete"

    def _send(self, record: FunctionCall, made: MadeCalls | None = None) -> list[WholeCall]:
        """Return the call, unless it isn't whole, or was made."""
        if record.state is not CallState.OPEN or not record.name:
            return []
        parsed = record.parameters
        if parsed is None and record.is_held:
            parsed = dict[str, Any](), "{}"
        if parsed is None:
            return []
        parameters, text = parsed
        record.state = CallState.SENT
        is_repeat = self._is_repeat(record)
        record.deltas.clear()
        if not is_repeat and made is not None:
            record.is_repeated = made.has(record)
        call = WholeCall(record.call_id or "", record.name, parameters, text)
        return [] if record.is_repeated else [call]

    def _is_repeat(self, record: FunctionCall) -> bool:
        """Tell whether another record is the same call, by its id, name and parameters."""
        record.digest = record.asked
        key = (record.call_id, record.name, record.digest)
        same = self._sent.setdefault(key, record) if record.call_id else record
        if same is not record:
            same.told |= record.told
            record.is_repeated = True
        return record.is_repeated

    def _is_new(self, record: FunctionCall) -> bool:
        """Tell whether no call was made with its id and arguments."""
        return (record.call_id, record.name, record.asked) not in self._sent
