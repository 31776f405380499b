"""Turn the events of one response into the agent's events.

One machine for one HTTP answer:

    splitter, machine = SseSplitter(), StreamMachine(outward=call_ids.outward)
    async for chunk in body:
        for name, data in splitter.feed(chunk):
            batch = machine.feed(data, name)
    for name, data in splitter.finish():
        batch = machine.feed(data, name)
    batch = machine.finish()

The machine relies on no order, ids or completeness. `output` finds what is new in each event; this
module has the response as a whole, its beginning and its end.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator

from agents.events import Batch, Break, Event, Say, Stop, StopReason
from agents.loading import load
from agents.open_responses.http.errors import Fault, fault_of

from .dedupe import Doubles
from .events import (
    MEANINGS,
    NOTHING,
    TEXT_DELTA,
    Meaning,
    Snapshot,
    StreamEvent,
    read_event,
    read_snapshot,
)
from .hosted import hosted_kind
from .outcome import (
    ENDED_EARLY,
    ResponseOutcome,
    Status,
    error_beside,
    fault_behind,
    fault_in,
    fault_in_words,
    incomplete_reason_in,
    reason_in,
    stop_or_fault,
)
from .output import Output
from .text import Annotations
from .usage import read_usage, usage_record

_DONE = b"[DONE]"
_SAYS_ERROR = b"error:"
_MAX_NOTES = 20


class StreamMachine:
    """Emits the content of a response, each part once; the last event is one `Stop` or `Break`.

    `outward` names a call toward the editor (`CallIds.outward`). `previous_response_id` is the one
    that was sent. If the server's first snapshot doesn't echo it, the machine ends (`unchained`)
    before it emits anything, without a last event. `tools` are the names of the tools that were
    offered; None: not known. `origin` names the owner of the encrypted reasoning that is kept
    (`ConversionOptions`). `server` names it to the user.

    Before the first part a retry loses nothing. So hold back a `Break` from `feed` or `finish`
    where `outcome` allows a retry.
    """

    def __init__(
        self,
        *,
        outward: Callable[[str], str],
        annotations: Annotations = "inline",
        previous_response_id: str | None = None,
        tools: Collection[str] | None = None,
        origin: str = "",
        server: str = "The server",
    ) -> None:
        self._sent_response_id = previous_response_id
        self._is_confirmed = previous_response_id is None
        self._server = server
        self._output = Output(outward, annotations, tools, origin, server)
        self._record = self._output.record
        self._status: Status = "open"
        self._fault: Fault | None = None
        self._incomplete_reason: str | None = None
        self._doubles = Doubles()
        self._notes: dict[str, None] = {}
        self._odd = b""
        """The data that were read last, if they are no event that is known."""
        self._odd_type = ""

    @property
    def is_over(self) -> bool:
        """Whether nothing more will be said: what is fed now is ignored."""
        return self._status != "open"

    @property
    def outcome(self) -> ResponseOutcome:
        """The response, as far as it is known by now."""
        snapshot = self._record.snapshot
        return ResponseOutcome(
            status=self._status,
            response_id=snapshot.id,
            previous_response_id=snapshot.previous_response_id,
            store=snapshot.store,
            usage=read_usage(snapshot.usage),
            output=self._output.items,
            calls=tuple(self._output.calling.made),
            approvals=tuple(self._output.approvals.asked),
            has_emitted=self._output.has_emitted,
            fault=self._fault,
            incomplete_reason=self._incomplete_reason,
            notes=tuple(self._notes),
        )

    def feed(self, data: bytes, name: bytes = b"") -> Batch:
        """Take the data of one event; `name` counts where the data has no type of its own."""
        taken = self._take(data, name)
        if isinstance(taken, tuple):
            return taken
        return tuple(event for batch in taken for event in batch)

    def steps(self, data: bytes, name: bytes = b"") -> Iterable[Batch]:
        """Take the data of one event as `feed` does, in steps that are short; all must be taken."""
        taken = self._take(data, name)
        return (taken,) if isinstance(taken, tuple) else taken

    def finish(self) -> tuple[Event, ...]:
        """Take the end of the body.

        Without a terminal event before it, it is a failure, unless every item that began is done,
        and no error stands behind them. Nothing shows that the server keeps such a response.
        """
        if self._status != "open":
            return ()
        if not (self._is_confirmed and self._output.is_done):
            return self._fail(fault_in_words(self._odd) if self._odd else ENDED_EARLY)
        fault = fault_behind(self._odd, self._odd_type) if self._odd else None
        if fault is not None:
            return self._fail(fault)
        self._record.snapshot.store = None
        return tuple(filter(None, self._end(Meaning.COMPLETED, Snapshot())))

    # Events.

    def _take(self, data: bytes, name: bytes) -> tuple[Event, ...] | Iterator[Batch]:
        """Return what an event says: at once, or in steps."""
        if self._status != "open":
            return ()
        event = read_event(data)
        if event is None:
            return self.finish() if data.strip() == _DONE else self._take_words(data, name)
        if self._doubles.is_again(event, data):
            return ()
        if event.type == TEXT_DELTA and self._is_confirmed:
            self._odd = b""
            delta = event.delta
            if not delta:
                return ()
            return self._output.say_more(event, delta)
        return self._in_steps(event, data, name)

    def _take_words(self, data: bytes, name: bytes) -> tuple[Event, ...]:
        """Return what data says that is no JSON object: an error in words, or one within an event.

        Some servers write an error into an event that has begun: its lines are events, then.
        """
        words = data.strip()
        says_error = words[: len(_SAYS_ERROR)].lower() == _SAYS_ERROR
        if _means_error(name) or says_error:
            value = load(words)
            text = words[len(_SAYS_ERROR) :] if says_error else words
            return self._fail(fault_of(text.decode(errors="replace") if value is None else value))
        lines = [line for line in data.split(b"\n") if read_event(line) is not None]
        if not lines or len(lines[0]) == len(data):
            self._odd, self._odd_type = words, name.decode(errors="replace")
            self._note("an event that is no JSON object was left out")
        return tuple(event for line in lines for event in self.feed(line, name))

    def _in_steps(self, event: StreamEvent, data: bytes, name: bytes) -> Iterator[Batch]:
        """Take any event."""
        type_ = event.type or name.decode(errors="replace")
        meaning = MEANINGS.get(type_) or self._otherwise(type_, event, name)
        if meaning is None:
            self._odd, self._odd_type = data, type_
            self._note(f"an event of an unknown type was left out: {type_[:80]!r}")
            return
        event.type = type_
        if meaning is not Meaning.ALIVE:
            self._odd = b""
        if not self._is_confirmed and not self._confirm(meaning, event, data):
            self._status = "unchained"
            return
        for step in self._tell(meaning, event, data):
            yield () if step is None else (step,)

    def _otherwise(self, type_: str, event: StreamEvent, name: bytes) -> Meaning | None:
        """Return the meaning of an event whose type isn't in the list, or that has none."""
        if hosted_kind(type_) is not None:
            return Meaning.HOSTED
        is_error = event.object == "error" or (event.error != NOTHING and not event.type)
        if _means_error(name) or is_error:
            return Meaning.ERROR
        if event.object == "response" and not event.type:
            return Meaning.COMPLETED
        return None

    def _confirm(self, meaning: Meaning, event: StreamEvent, data: bytes) -> bool:
        """Tell whether the server continues the response that the request named."""
        match meaning:
            case Meaning.ALIVE | Meaning.ERROR | Meaning.FAILED:
                return True
            case Meaning.SNAPSHOT | Meaning.COMPLETED | Meaning.INCOMPLETE:
                snapshot = read_snapshot(data if event.response == NOTHING else event.response)
                self._record.learn(snapshot)
                self._is_confirmed = snapshot.previous_response_id == self._sent_response_id
                return self._is_confirmed
            case _:
                return False

    def _tell(self, meaning: Meaning, event: StreamEvent, data: bytes) -> Iterator[Event | None]:
        """Say what an event says; None is the end of a step that says nothing."""
        match meaning:
            case Meaning.SNAPSHOT:
                self._record.learn(read_snapshot(event.response))
            case Meaning.COMPLETED | Meaning.INCOMPLETE | Meaning.FAILED:
                yield None
                snapshot = read_snapshot(data if event.response == NOTHING else event.response)
                yield None
                self._record.learn(snapshot)
                yield None
                if meaning is Meaning.FAILED and not reason_in(snapshot):
                    snapshot.error = error_beside(load(data))
                yield from self._end(meaning, snapshot)
            case Meaning.ERROR:
                yield from self._fail(fault_of(load(data)))
            case _:
                yield from self._output.tell(meaning, event)

    # The end.

    def _end(self, meaning: Meaning, snapshot: Snapshot) -> Iterator[Event | None]:
        fault = fault_in(meaning, snapshot)
        if fault is not None:
            yield from self._fail(fault)
            return
        reason = self._incomplete_reason = incomplete_reason_in(meaning, snapshot)
        yield from self._output.conclude(is_complete=reason is None)
        if reason is None:
            yield from self._end_complete()
            return
        end = stop_or_fault(reason, has_emitted=self._output.has_emitted)
        if isinstance(end, Fault):
            yield from self._fail(end)
        else:
            yield from self._stop("incomplete", end)

    def _end_complete(self) -> Iterator[Event | None]:
        broken = self._output.broken
        if broken:
            names = ", ".join(f"`{name}`" if name else "a tool without a name" for name in broken)
            said = f"The model called {names} with arguments that are no JSON object"
            self._note(said)
            if not self._output.has_emitted:
                yield from self._fail(Fault(502, said, "invalid_tool_arguments"))
                return
            yield Say(f"\n\n*({said}; that call was left out.)*\n", by_us=True)
        yield from self._output.keep_reasoning()
        yield from self._stop(
            "completed", StopReason.REFUSAL if self._output.has_refused else StopReason.END_TURN
        )

    def _stop(self, status: Status, reason: StopReason) -> Iterator[Event | None]:
        yield from self._output.settle()
        yield from self._count_tokens()
        self._status = status
        yield Stop(reason)

    def _fail(self, fault: Fault) -> tuple[Event, ...]:
        usage = tuple(self._count_tokens())
        self._status, self._fault = "failed", fault
        return (*usage, Break(fault.failure(self._server)))

    def _count_tokens(self) -> Iterator[Event]:
        usage = read_usage(self._record.snapshot.usage)
        if usage is not None:
            yield usage_record(usage)

    def _note(self, note: str) -> None:
        if len(self._notes) < _MAX_NOTES:
            self._notes[note] = None


def _means_error(name: bytes) -> bool:
    """Tell whether the name of an event is that of an error."""
    meaning = MEANINGS.get(name.decode(errors="replace").lower())
    return meaning in (Meaning.ERROR, Meaning.FAILED)
