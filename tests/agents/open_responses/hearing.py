"""What was said on a stream, for tests: the events of a machine, taken together."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from typing import Any

import attrs

from agents.events import Attach, Break, CallTool, Event, Say, Stop, Think
from agents.open_responses.stream.call_ids import CallIds
from agents.open_responses.stream.machine import StreamMachine
from agents.open_responses.stream.outcome import ResponseOutcome
from agents.open_responses.stream.sse import SseSplitter

JSON = dict[str, Any]


def is_usage(event: Attach) -> bool:
    return event.mime_type == "usage"


@attrs.frozen
class Heard:
    """Everything that was said, in order, and what is known afterwards."""

    events: Sequence[Event]
    outcome: ResponseOutcome

    @property
    def text(self) -> str:
        """What the agent said; not what we said."""
        return "".join(e.text for e in self.events if isinstance(e, Say) and not e.by_us)

    @property
    def shown(self) -> str:
        """What was said by anybody."""
        return "".join(e.text for e in self.events if isinstance(e, Say))

    @property
    def thought(self) -> str:
        """The reasoning."""
        return "".join(e.text for e in self.events if isinstance(e, Think))

    @property
    def calls(self) -> list[tuple[str, Any]]:
        """Names and parameters of the calls."""
        return [(e.name, e.parameters) for e in self.events if isinstance(e, CallTool)]

    @property
    def call_ids(self) -> list[str]:
        """The ids of the calls, as the editor knows them."""
        return [e.call_id for e in self.events if isinstance(e, CallTool)]

    @property
    def usage(self) -> JSON | None:
        """The record of tokens; None without one."""
        records = [json.loads(e.data) for e in self.events if isinstance(e, Attach) and is_usage(e)]
        assert len(records) <= 1
        return records[0] if records else None

    @property
    def end(self) -> Event:
        """The last event, which is the only one of its kind."""
        endings = [e for e in self.events if isinstance(e, Stop | Break)]
        assert endings == [self.events[-1]]
        return endings[0]

    @property
    def hash(self) -> str:
        """The text's, as the shared recordings have it."""
        return hashlib.sha256(self.text.encode()).hexdigest()[:16]


def hear(events: Iterable[JSON], **options: Any) -> Heard:
    """Feed a machine with events."""
    machine = StreamMachine(outward=options.pop("outward", CallIds().outward), **options)
    said: list[Event] = []
    for event in events:
        said += machine.feed(json.dumps(event).encode())
    said += machine.finish()
    return Heard(said, machine.outcome)


def hear_bytes(chunks: Iterable[bytes], **options: Any) -> Heard:
    """Feed a splitter, and a machine with what it gives."""
    splitter = SseSplitter()
    machine = StreamMachine(outward=options.pop("outward", CallIds().outward), **options)
    said: list[Event] = []
    for chunk in chunks:
        for name, data in splitter.feed(chunk):
            said += machine.feed(data, name)
    for name, data in splitter.finish():
        said += machine.feed(data, name)
    said += machine.finish()
    return Heard(said, machine.outcome)
