"""The port of the HTTP server: requests become messages to the History Actor, answers come back.

Nothing that the History Actor calls waits. Each answer has a buffer of its own, and its agent waits
for room in that, so a slow client holds up no other.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from itertools import count

import attrs
import trio
from msgspec import Raw  # noqa: TC002  # msgspec reads the annotations

from actors.editor_face import Result
from actors.forms.open_forms import OpenForms
from actors.messages import Asked, FromEditor
from actors.trace import Trace
from agents.breather import Breather
from bridge import methods
from bridge.errors import Failure
from bridge.history.message import joined
from bridge.history.transcript import TranscriptReader
from bridge.jsonrpc import error_line, notification_line, notification_lines, request_line
from bridge.models import AgentChoice
from bridge.redact import Hide, redact_text
from bridge.routing.chat_events import Cancelled
from bridge.tokens.gauge import Measured
from bridge.value import Value
from bridge.wire import (
    Capabilities,
    ChatMessage,
    ChatOptions,
    ChatParams,
    DataPart,
    Part,
    RequestId,
    ResponseCompleteParams,
    ResponsePartParams,
    Settings,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    UnknownPart,
)

MOST_UNSENT = 64 * 1024
"""Characters of an answer that its client hasn't taken, from which on the agent waits."""
_CAPABILITIES = Capabilities(thinking=True, usage=True, marker=True)
_OVERHEAD = 100
"""Characters that any part counts for, beside its text."""

log = logging.getLogger("vscodelm.http")


class Wanted(Value):
    """The request of a client to an agent."""

    model: str
    agent: AgentChoice
    messages: tuple[Raw, ...]
    options: ChatOptions
    settings: Settings


@attrs.define(eq=False, repr=False)
class HttpReply:
    """The answer to one request, as it comes. It is the room that its agent waits for."""

    request: RequestId
    failure: Failure | None = attrs.field(default=None, init=False)
    is_settled: bool = attrs.field(default=False, init=False)
    is_cancelled: bool = attrs.field(default=False, init=False)
    """Whether it was asked to end early."""
    _parts: list[Part] = attrs.field(factory=list["Part"], init=False)
    _said: list[Part] = attrs.field(factory=list["Part"], init=False)
    """The parts that were taken, as far as they belong to the history."""
    unsent: int = attrs.field(default=0, init=False)
    """Characters that wait to be taken."""
    _news: trio.Event = attrs.field(factory=trio.Event, init=False)
    _taken: trio.Event = attrs.field(factory=trio.Event, init=False)

    # By the History Actor and the agent.

    def show(self, parts: Sequence[Part]) -> None:
        """Take parts in."""
        self._parts += parts
        self.unsent += sum(map(_size_of, parts))
        self._news.set()

    def settle(self, failure: Failure | None) -> None:
        """Take in that there are no more."""
        self.failure, self.is_settled = failure, True
        self._news.set()
        self._taken.set()

    async def room(self) -> None:
        """Wait until the client has taken what is here, or wants no more."""
        while self.unsent >= MOST_UNSENT and not (self.is_settled or self.is_cancelled):
            self._taken = trio.Event()
            await self._taken.wait()

    # By the client's task.

    async def news(self) -> None:
        """Wait for parts, or for the end."""
        if not (self._parts or self.is_settled):
            self._news = trio.Event()
            await self._news.wait()

    def take(self) -> list[Part]:
        """Return the parts that have come since."""
        parts, self._parts, self.unsent = self._parts, [], 0
        self._said += filter(_is_said, parts)
        self._taken.set()
        return parts

    @property
    def message(self) -> ChatMessage | None:
        """Return what was taken as a message of the history; None if it says nothing."""
        content = joined(self._said)
        return ChatMessage("assistant", tuple(content)) if content else None

    def abandon(self) -> None:
        """Let the agent wait no more: the answer is to end."""
        self.is_cancelled = True
        self._taken.set()


def _is_said(part: Part) -> bool:
    is_marker = isinstance(part, DataPart) and part.mime_type == "stateful_marker"
    return isinstance(part, TextPart | ToolCallPart) or is_marker


def _size_of(part: Part) -> int:
    match part:
        case TextPart(value=value):
            return _OVERHEAD + len(value)
        case ThinkingPart(value=value):
            return _OVERHEAD + len(value)
        case UnknownPart(json=json):
            return _OVERHEAD + len(json)
        case _:
            return _OVERHEAD


def _show_no_form(_lines: bytes) -> None:
    """Never called: without the capability every question is declined before."""
    raise AssertionError("no client of the HTTP server can show a form")


@attrs.define(eq=False, repr=False)
class HttpPort:
    """Every client of the HTTP server, as one editor."""

    inbox: trio.MemorySendChannel[FromEditor]
    trace: Trace
    hide: Hide = redact_text
    forms: OpenForms = attrs.field(factory=lambda: OpenForms(_show_no_form), init=False)
    """Stays empty: no form can be shown."""
    _open: dict[RequestId, HttpReply] = attrs.field(
        factory=dict["RequestId", HttpReply], init=False
    )
    _reader: TranscriptReader = attrs.field(factory=TranscriptReader, init=False)
    _ids: count[int] = attrs.field(factory=lambda: count(1), init=False)

    # From the clients.

    async def ask(self, wanted: Wanted) -> HttpReply:
        """Ask an agent; raises `RpcError` where a message can't be read."""
        transcript = await Breather().do(self._reader.reading(wanted.messages))
        reply = HttpReply(next(self._ids))
        asked = Asked(
            reply.request,
            wanted.model,
            wanted.agent,
            transcript,
            wanted.options,
            wanted.settings,
            _CAPABILITIES,
            is_program=True,
            among_strangers=True,
            room=reply.room,
        )
        if self.trace.is_on:
            params = ChatParams(wanted.model, list(wanted.messages), options=wanted.options)
            self.trace.line("in", request_line(reply.request, methods.CHAT, params))
        self._open[reply.request] = reply
        try:
            await self.inbox.send(asked)
        except BaseException:
            del self._open[reply.request]  # it was never heard
            raise
        return reply

    async def cancel(self, reply: HttpReply) -> None:
        """End an answer early, if it isn't over."""
        reply.abandon()
        if reply.request in self._open:
            await self.inbox.send(Cancelled(reply.request))

    @property
    def replies(self) -> list[HttpReply]:
        """The answers that are open."""
        return [*self._open.values()]

    # From the History Actor.

    def show(self, request: RequestId, parts: Sequence[Part]) -> None:
        """Send parts of the answer to a request."""
        if self.trace.is_on:
            known = [part for part in parts if not isinstance(part, UnknownPart)]
            shown = [ResponsePartParams(request, part) for part in known]
            self.trace.lines("out", notification_lines(methods.RESPONSE_PART, shown))
        self._open[request].show(parts)

    def settle(
        self, request: RequestId, failure: Failure | None = None, told: Failure | None = None
    ) -> None:
        """End the answer to a request."""
        shown = None if failure is None else failure.without_secrets(self.hide)
        if self.trace.is_on:
            complete = ResponseCompleteParams(request)
            line = notification_line(methods.RESPONSE_COMPLETE, complete)
            ended = line if shown is None else error_line(request, shown.as_rpc_error())
            self.trace.lines("out", ended)
        if shown is not None:
            log.warning("request=%s failed kind=%s", request, shown.kind)
        self._open.pop(request).settle(shown)

    def answer(self, request: RequestId, result: Result | Failure) -> None:
        """Never called: nobody can ask for counters or decisions here, nor log in."""
        raise AssertionError("no client of the HTTP server asks for anything but answers")

    def learn(self, model: str, measured: Measured) -> None:
        """Have no estimates that could be better."""

    def let_go(self) -> None:
        """Hold the newest request no longer: its conversation has ended."""
        self._reader.let_go()
