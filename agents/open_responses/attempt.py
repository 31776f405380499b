"""One response: requested with retries, passed on as it comes, and kept.

Until the first part is out, a retry loses nothing. If the server has lost the previous response,
the whole conversation is sent.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import attrs
import trio
from msgspec.structs import replace

from agents.breather import Breather
from agents.events import Attach, Batch, Break, CallTool, Counted, Event, Prompt, Say, Stop
from agents.json_limits import MOST_JSON_VALUES
from agents.open_responses.http.body import terminal_event
from agents.open_responses.http.client import EndpointAnswer, check_size
from agents.open_responses.http.errors import EndpointError, no_stream, scrubbed
from agents.open_responses.http.retry import wait
from agents.open_responses.http.unexpected import expecting_anything
from agents.open_responses.request.body import options_body, tools_body, whole_body
from agents.open_responses.request.names import fitting_name
from agents.open_responses.stream.hosted import is_image
from agents.open_responses.stream.machine import StreamMachine
from agents.open_responses.stream.sse import SseOverflow, SseSplitter
from bridge.errors import Failure

from .endpoint import Endpoint
from .pictures import picture_link
from .response_chain import NextRequest, ResponseChain, Shown

MOST_SHOWN_EVENTS = 256
"""Events of a response that are shown at once: a response may end in thousands of calls."""

log = logging.getLogger("vscodelm.open_responses")


@attrs.define(eq=False, repr=False)
class ResponseAttempt:
    """Asks for one response after the other; `show` waits until the editor has taken a batch."""

    endpoint: Endpoint
    chain: ResponseChain
    prompt: Prompt
    show: Callable[[Batch], Awaitable[None]]
    _tools: dict[str, Any] = attrs.field(init=False)
    _names: dict[str, str] = attrs.field(init=False)
    """The editor's names of the tools that are offered, by the server's."""
    _breather: Breather = attrs.field(factory=Breather, init=False)

    def __attrs_post_init__(self) -> None:
        self._tools = tools_body(self.prompt.tools, required=self.prompt.tool_required)
        self._names = {fitting_name(tool.name): tool.name for tool in self.prompt.tools}

    async def run(self) -> Stop | Break:
        """Return how the next response ended."""
        setup = self.endpoint.setup(self.chain, self._tools)
        retries = 0
        while True:
            ask = self.chain.ask(setup, stateful=self.endpoint.spec.stateful)
            attempt = _Attempt(self, ask)
            has_thought = self.chain.has_thought
            try:
                last = await attempt.run()
            finally:
                if not attempt.shown.is_empty:
                    with trio.CancelScope(shield=True):  # shown text counts, even after a failure
                        await self._hear(attempt, setup)
            if not attempt.shown.is_empty:
                if not has_thought:
                    await self._count(attempt)
                return self._told(last)
            if attempt.is_unknown_response:
                log.info("%s doesn't know response=%s", self.server, ask.previous_response_id)
                self.chain.miss()
                continue
            seconds = self._wait(attempt, retries)
            if seconds is None:
                await self._hear(attempt, setup)
                return self._told(last)
            log.info("%s is asked again in %.1f seconds", self.server, seconds)
            await trio.sleep(seconds)
            retries += 1

    @property
    def server(self) -> str:
        """The endpoint's name."""
        return self.endpoint.client.server

    def machine(self, ask: NextRequest) -> StreamMachine:
        """Return a machine for the answer to a request."""
        return StreamMachine(
            outward=self.endpoint.call_ids.outward,
            annotations=self.endpoint.spec.annotations,
            previous_response_id=ask.previous_response_id,
            tools=tuple(self._names),
            origin=self.endpoint.origin,
            server=self.server,
        )

    def body(self, ask: NextRequest) -> bytes:
        """Return the body of a request."""
        endpoint = self.endpoint
        return whole_body(
            endpoint.spec,
            options_body(endpoint.spec, endpoint.further, self.prompt.model_options),
            self._tools,
            instructions=self.chain.instructions,
            items=ask.items,
            previous_response_id=ask.previous_response_id,
        )

    def named(self, events: Iterable[Event]) -> list[Event]:
        """Return events, with the tools called as the editor calls them.

        The name of one that isn't offered stays.
        """
        return [
            replace(event, name=self._names.get(event.name, event.name))
            if isinstance(event, CallTool)
            else event
            for event in events
        ]

    async def _hear(self, attempt: _Attempt, setup: bytes) -> None:
        steps = self.chain.hear(attempt.machine.outcome, attempt.shown, setup)
        await self._breather.do(steps)

    async def _count(self, attempt: _Attempt) -> None:
        """Tell how many tokens the request had, if all of them were the editor's."""
        usage = attempt.machine.outcome.usage
        if usage is None or not usage.input_tokens:
            return
        if attempt.shown.is_whole and self.chain.is_whole:
            await self.show((Counted(usage.input_tokens),))

    def _wait(self, attempt: _Attempt, retries: int) -> float | None:
        """Return the seconds until the next try, None if there is none."""
        if not attempt.can_retry or retries >= self.endpoint.spec.retries:
            return None
        return wait(retries, attempt.retry_after, self.endpoint.chance)

    def _told(self, last: Stop | Break | None) -> Stop | Break:
        match last:
            case Break(failure=failure):
                return Break(scrubbed(failure, self.endpoint.client.secrets))
            case Stop():
                return last
            case None:
                raise AssertionError("what goes on from nothing is asked again, in full")


@attrs.define(eq=False, repr=False)
class _Attempt:
    """One request, and its answer."""

    response: ResponseAttempt
    ask: NextRequest
    shown: Shown = attrs.field(factory=Shown, init=False)
    machine: StreamMachine = attrs.field(init=False)
    _error: EndpointError | None = attrs.field(default=None, init=False)
    _breather: Breather = attrs.field(factory=Breather, init=False)

    def __attrs_post_init__(self) -> None:
        self.machine = self.response.machine(self.ask)

    @property
    def can_retry(self) -> bool:
        if self._error is not None:
            return self._error.can_retry
        fault = self.machine.outcome.fault
        return fault is not None and fault.is_retryable

    @property
    def retry_after(self) -> float | None:
        return None if self._error is None else self._error.retry_after

    @property
    def is_unknown_response(self) -> bool:
        """Whether the response that was to be gone on from isn't there."""
        if self.ask.previous_response_id is None:
            return False
        outcome = self.machine.outcome
        if outcome.status == "unchained":
            return True
        if self._error is not None:
            return self._error.is_unknown_response
        return outcome.fault is not None and outcome.fault.is_unknown_response

    async def run(self) -> Stop | Break | None:
        """Return how it ended; None if the server went on from something else."""
        client = self.response.endpoint.client
        try:
            async with client.post(self.response.body(self.ask)) as answer:
                read = self._stream if answer.kind == "stream" else self._whole
                last = await read(answer)
        except EndpointError as error:
            self._error = error
            last = Break(error.failure)
        outcome = self.machine.outcome
        self.shown.is_whole = isinstance(last, Stop)
        log.info("%s response=%s status=%s", client.server, outcome.response_id, outcome.status)
        for note in outcome.notes:
            log.warning("%s %s", client.server, note)
        return last

    async def _stream(self, answer: EndpointAnswer) -> Stop | Break | None:
        splitter = SseSplitter()
        while True:
            chunk = await answer.receive()
            events: list[Event] = []
            try:
                frames = splitter.finish() if chunk is None else splitter.feed(chunk)
            except SseOverflow as error:
                text = f"{self.response.server} sent an event that is too long."
                raise EndpointError(Failure("AgentFailed", text, str(error))) from None
            for _, data in frames:
                if len(data) > MOST_JSON_VALUES:  # a shorter one can't have more
                    await check_size(data, self.response.server)
                if answer.record.tap is not None:
                    answer.record.body(data)
            with expecting_anything(self.response.server, "reading its answer"):
                for name, data in frames:
                    await self._read(data, name, events)
            if chunk is None:
                events += self.machine.finish()
            last = await self._pass_on(events)
            if last is not None or self.machine.is_over:
                await answer.end()
                return last

    async def _whole(self, answer: EndpointAnswer) -> Stop | Break | None:
        body = await answer.whole()
        event = terminal_event(body)
        if event is None:
            start = body[:200].decode(errors="replace")
            raise no_stream(self.response.server, "JSON of another kind", start)
        events: list[Event] = []
        with expecting_anything(self.response.server, "reading its answer"):
            await self._read(event, b"", events)
        return await self._pass_on(events)

    async def _read(self, data: bytes, name: bytes, events: list[Event]) -> None:
        """Take an event of the server's, and add what it says; a long one is read step by step."""
        for batch in self.machine.steps(data, name):
            events += batch
            await self._breather.rest()

    async def _pass_on(self, events: list[Event]) -> Stop | Break | None:
        """Show events; keep back how it ended, which may be to ask again."""
        last: Stop | Break | None = None
        if events and isinstance(ending := events[-1], Stop | Break):
            last = ending
            events.pop()
        if isinstance(last, Break) and not self.machine.outcome.has_emitted:
            events.clear()  # it is asked again, perhaps: its usage isn't that of the answer
        if any(map(is_image, events)):
            events = await self._with_links(events)
        for start in range(0, len(events), MOST_SHOWN_EVENTS):
            batch = self.response.named(events[start : start + MOST_SHOWN_EVENTS])
            await self.response.show(batch)
            self.shown.add(batch)
            await self._breather.rest()
        return last

    async def _with_links(self, events: list[Event]) -> list[Event]:
        """Return events with a link behind each image: chats don't show images of a model's."""
        linked: list[Event] = []
        for event in events:
            linked.append(event)
            if isinstance(event, Attach) and is_image(event):
                kept = await self.response.endpoint.pictures.keep(event)
                linked.append(Say(picture_link(event, kept), by_us=True))
        return linked
