"""The tool calls of a response: each one whole, and once.

Servers drop, double, rename and reorder what they say of a call, and no key of it is safe: the
events of its arguments have no call id, item ids change from event to event, the final output has
other ones. So there is a record for each call; what is said finds it by whatever key fits.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Sequence
from typing import Any, cast

import attrs
import msgspec

from bridge.value import Value

from .events import Item, StreamEvent, load


class WholeCall(Value):
    """A call that can be emitted; `arguments` is the server's text of its parameters."""

    call_id: str
    name: str
    parameters: dict[str, Any]
    arguments: str


class _State(enum.Enum):
    OPEN = enum.auto()
    SENT = enum.auto()
    TRUNCATED = enum.auto()
    """Its item is said to be incomplete."""


@attrs.define(eq=False)
class _Record:
    item_id: str | None = None
    output_index: int | None = None
    call_id: str | None = None
    name: str | None = None
    deltas: list[str] = attrs.field(factory=list[str])
    done_text: str | None = None
    item_text: str | None = None
    state: _State = _State.OPEN
    is_finished: bool = False
    """Whether its item is done."""
    digest: bytes = b""
    """Of the parameters that were sent."""
    is_matched: bool = False
    """Whether it was found in the final output."""

    @property
    def texts(self) -> tuple[str, ...]:
        """What is known of its arguments, the best first."""
        given = (self.item_text, self.done_text, "".join(self.deltas))
        return tuple(text for text in given if text and not text.isspace())

    @property
    def parameters(self) -> tuple[dict[str, Any], str] | None:
        """The first text that is a JSON object, as that and as it is."""
        for text in self.texts:
            parameters = load(text.encode("utf-8", "replace"))
            if isinstance(parameters, dict):
                return cast("dict[str, Any]", parameters), text
        return None

    def learn(self, item_id: str | None, index: int | None, item: Item | None = None) -> None:
        """Fill in the keys that weren't known."""
        self.item_id = self.item_id or item_id
        self.output_index = index if self.output_index is None else self.output_index
        if item is not None:
            self.call_id = self.call_id or item.call_id
            self.name = self.name or item.name

    def clashes(self, item_id: str | None, index: int | None) -> bool:
        """Tell whether it is known to be at another place, under another id."""
        return (
            bool(self.item_id and item_id and self.item_id != item_id)
            and None not in (self.output_index, index)
            and self.output_index != index
        )


class CallLedger:
    """All calls of one response."""

    def __init__(self) -> None:
        self._records: list[_Record] = []
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
        record.done_text = _text(load(event.arguments))
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
        found = self._match(items)
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
                if not record.is_matched and record.state is _State.OPEN:
                    calls += self._send(record, may_be_empty=record.done_text is not None)
        return calls

    @property
    def broken(self) -> list[str]:
        """The names of the calls that were made and can't be told to the editor."""
        return [
            record.name
            for record in self._records
            if record.name and record.state is not _State.SENT
        ]

    # Sending.

    def _settle(self, record: _Record, item: Item) -> list[WholeCall]:
        if record.state is _State.SENT:
            record.is_finished = True
            return []
        if item.call_id:
            record.call_id = item.call_id
        record.item_text = _text(item.arguments)
        record.is_finished = True
        if item.status == "incomplete":
            record.state = _State.TRUNCATED
            return []
        return self._send(record, may_be_empty=True)

    def _send(self, record: _Record, *, may_be_empty: bool = False) -> list[WholeCall]:
        """Return the call, unless it isn't whole, or was sent."""
        if record.state is _State.SENT or not record.name:
            return []
        parsed = record.parameters
        if parsed is None and not record.texts and may_be_empty:
            parsed = dict[str, Any](), "{}"
        if parsed is None:
            return []
        parameters, text = parsed
        record.state = _State.SENT
        record.digest = _digest(parameters)
        record.deltas.clear()
        call = WholeCall(record.call_id or "", record.name, parameters, text)
        key = (call.call_id, call.name, record.digest)
        if call.call_id and key in self._sent:
            return []  # the same call, told twice
        self._sent.add(key)
        return [call]

    # Finding.

    def _new(self) -> _Record:
        record = _Record()
        self._records.append(record)
        return record

    def _by_item_id(self, item_id: str | None) -> _Record | None:
        """Return the newest with that id; some servers put the call id there."""
        if not item_id:
            return None
        return self._newest(lambda r: r.item_id == item_id) or self._newest(
            lambda r: r.call_id == item_id
        )

    def _newest(self, fits: Callable[[_Record], bool]) -> _Record | None:
        return next((record for record in reversed(self._records) if fits(record)), None)

    def _by_call_id(self, item: Item, index: int | None) -> _Record | None:
        """Return the one with that call id, if it isn't known to be another with the same."""
        if not item.call_id:
            return None
        same = [record for record in self._records if record.call_id == item.call_id]
        for record in same:
            if item.id and record.item_id == item.id:
                return record
        return next((record for record in same if not record.clashes(item.id, index)), None)

    def _at(self, index: int | None) -> _Record | None:
        return None if index is None else self._newest(lambda r: r.output_index == index)

    def _announced(self, item: Item, index: int | None) -> _Record | None:
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        record = self._at(index)
        if record is not None and record.call_id is None and not record.is_finished:
            return record  # its arguments came first
        return None

    def _finished(self, item: Item, index: int | None) -> _Record | None:
        record = self._by_call_id(item, index) or self._by_item_id(item.id)
        if record is not None:
            return record
        record = self._at(index)
        if record is None or record.is_finished or (record.name or item.name) != item.name:
            return None
        if record.state is _State.SENT and record.digest != _digest(_parse(item.arguments)):
            return None
        return record

    def _of_arguments(self, event: StreamEvent) -> _Record:
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

    def _match(self, items: Sequence[Item]) -> dict[int, _Record]:
        """Find the final items among the records, by the surest sign first; each is found once."""
        digests = [_digest(_parse(item.arguments)) for item in items]
        found: dict[int, _Record] = {}
        taken: set[int] = set()

        def is_same(sign: int, position: int, record: _Record) -> bool:
            item = items[position]
            has_name = record.name == item.name
            is_sent = record.state is _State.SENT
            match sign:
                case 0:
                    same_id = bool(item.call_id) and record.call_id == item.call_id
                    return same_id and is_sent and record.digest == digests[position]
                case 1:
                    return bool(item.call_id) and record.call_id == item.call_id
                case 2:
                    return bool(item.id) and record.item_id == item.id
                case 3:
                    return has_name and is_sent and record.digest == digests[position]
                case 4:
                    parsed = record.parameters
                    return (
                        has_name
                        and not is_sent
                        and parsed is not None
                        and _digest(parsed[0]) == digests[position]
                    )
                case _:
                    return not is_sent and (has_name or record.name is None)

        for sign in range(6):
            for position in range(len(items)):
                if position in found:
                    continue
                for number, record in enumerate(self._records):
                    if number not in taken and is_same(sign, position, record):
                        found[position] = record
                        taken.add(number)
                        break
        return found


def _text(arguments: Any) -> str | None:
    """Return arguments as text; some servers write the object itself."""
    if isinstance(arguments, dict):
        return msgspec.json.encode(arguments).decode()
    return arguments if isinstance(arguments, str) else None


def _parse(arguments: Any) -> Any:
    text = _text(arguments)
    return {} if text is None or not text.strip() else load(text.encode("utf-8", "replace"))


def _digest(parameters: Any) -> bytes:
    """Return what is equal for equal JSON."""
    return msgspec.json.encode(parameters, order="sorted")
