"""The output of one response: its text, thoughts and calls, from deltas and from whole items."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import TYPE_CHECKING

from agents.events import Event, Think
from agents.loading import fields_of, load

from .approvals import Approvals, is_approval
from .emitted_calls import Calling
from .events import Meaning, OutputItem, StreamEvent, read_item
from .hosted import HostedTools, hosted_kind, is_hosted
from .open_items import OpenItems
from .outcome import ResponseRecord
from .reasoning import record_of
from .text import Annotations, Speech
from .tool_calls import CallLedger

if TYPE_CHECKING:
    from msgspec import Raw


_BEGINNINGS = frozenset({Meaning.PART_ADDED, Meaning.SUMMARY_PART_ADDED})


class Output:
    """Takes the events that are about items; the arguments are those of `StreamMachine`."""

    def __init__(
        self,
        outward: Callable[[str], str],
        annotations: Annotations,
        tools: Collection[str] | None,
        origin: str,
        server: str,
    ) -> None:
        self.record = ResponseRecord()
        self.calling = Calling(outward, tools)
        self.approvals = Approvals(outward, server)
        self._hosted = HostedTools()
        self._speech = Speech(annotations)
        self._ledger = CallLedger()
        self._origin = origin
        self._open = OpenItems()

    @property
    def is_done(self) -> bool:
        """Whether it is whole, though the server didn't say so: each item that began is done."""
        return self._open.are_done and (self.has_emitted or self._ledger.is_holding)

    @property
    def has_emitted(self) -> bool:
        """Whether a part is out."""
        is_asking = bool(self.calling.made or self.approvals.asked)
        return self._speech.has_spoken or self._hosted.has_said or is_asking

    @property
    def has_refused(self) -> bool:
        """Whether there is a refusal in it."""
        return self._speech.has_refused

    @property
    def items(self) -> tuple[Raw, ...]:
        """Its items, as the server wrote them."""
        return self.record.output(self.calling.server_ids)

    @property
    def broken(self) -> list[str]:
        """The names of the calls that can't be sent to the editor, each once."""
        return list(dict.fromkeys(self._ledger.broken))

    def say_more(self, event: StreamEvent, delta: str) -> tuple[Event, ...]:
        """Take a delta of a text; this is what most events are."""
        said = self._speech.say_more(event, delta)
        self._open.is_amid |= bool(said)
        return self._hosted.leave() + said

    def tell(self, meaning: Meaning, event: StreamEvent) -> Iterator[Event]:
        """Take an event."""
        match meaning:
            case Meaning.ITEM_ADDED:
                yield from self._begin(read_item(event.item), event.output_index)
            case Meaning.ITEM_DONE:
                yield from self._finish(event)
            case Meaning.HOSTED:
                kind = hosted_kind(event.type) or ""
                if is_hosted(kind):
                    yield from self._hosted.begin(kind, event.item_id, event.output_index)
            case Meaning.ARGUMENTS_DELTA:
                self._ledger.add(event)
                self._open.is_amid |= self._ledger.is_waiting
            case Meaning.ARGUMENTS_DONE:
                self._ledger.complete(event)
                self._open.is_amid |= self._ledger.is_waiting
            case Meaning.ANNOTATION:  # some servers say them last
                yield from self._apart(self._speech.tell(meaning, event))
            case _:
                self._open.is_amid |= meaning in _BEGINNINGS
                for said in self._apart(self._speech.tell(meaning, event)):
                    self._open.is_amid = True
                    yield said

    def conclude(self, *, is_complete: bool) -> Iterator[Event | None]:
        """Say what of the final output wasn't said. None is the end of a step."""
        items: list[OutputItem] = []
        for raw in self.record.final:
            items.append(read_item(raw))
            yield None
        both = [*zip(self.record.final, items, strict=True)]
        hosted = [fields_of(load(raw)) for raw, item in both if is_hosted(item.type)]
        yield from self._hosted.conclude(hosted)
        for event in self._speech.conclude(items):
            if event is not None:
                yield from self._hosted.leave()
            yield event
        asking = [fields_of(load(raw)) for raw, item in both if is_approval(item.type)]
        yield from self._apart(self.approvals.conclude(asking))
        yield from self._hosted.leave()
        calls = [item for item in items if item.type == "function_call"]
        for call in self._ledger.conclude(calls, is_complete=is_complete):
            if call is None:
                yield None
            else:
                yield from self.calling.make([call])

    def settle(self) -> Iterator[None]:
        """Find out what its items are, in steps; nothing more is said after that."""
        return self.record.settle(self.calling.server_ids)

    def keep_reasoning(self) -> Iterator[Event | None]:
        """Give the editor what only the server can read, in case that we forget it.

        It is wanted back with the results of calls; where none was made, nobody needs it.
        """
        made = self.calling.made
        if not made:
            return
        yield from self.settle()
        kept = yield from record_of(self.items, made, self._origin)
        if kept is not None:
            yield Think("", id=self._speech.thinker_id, metadata=kept)

    def _begin(self, item: OutputItem, index: int | None) -> Iterator[Event]:
        self._open.begin(item, index)
        if item.type == "function_call":
            self._ledger.announce(item, index)
        elif is_hosted(item.type):
            yield from self._hosted.begin(item.type or "", item.id, index)
        else:
            self._speech.begin(item, index)

    def _finish(self, event: StreamEvent) -> Iterator[Event]:
        item, index = read_item(event.item), event.output_index
        if item.type is None:
            return
        self._open.finish(item, index)
        self.record.keep(event.item, index)
        if item.type == "function_call":
            yield from self._apart(self.calling.make(self._ledger.finish(item, index)))
        elif is_approval(item.type):
            yield from self._apart(self.approvals.ask(fields_of(load(event.item))))
        elif is_hosted(item.type):
            yield from self._hosted.finish(fields_of(load(event.item)), index)
        else:
            yield from self._apart(self._speech.finish(item, index))

    def _apart(self, events: Iterable[Event]) -> Iterator[Event]:
        """Say what stands behind the line of a hosted tool, and not in it."""
        for event in events:
            yield from self._hosted.leave()
            yield event
