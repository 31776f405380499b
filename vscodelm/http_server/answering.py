"""Answers to requests: from what a client asks to what it reads, and what is kept of it."""

from __future__ import annotations

import secrets
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

import attrs
import msgspec
import trio
from msgspec import Raw

from agents.breather import Breather
from bridge.errors import RpcError
from bridge.history.transcript import decode_message
from bridge.models import Catalogue, Model
from bridge.value import Value
from bridge.wire import ChatMessage, ChatOptions, Permissions, ToolResultPart
from bridge.work import Work

from .api_error import RETRY_SECONDS, ApiError, bad_request, of_failure
from .body import OfferedFunctions, ResponseBody, echo, model_options, offer_of
from .compaction import Restorer, compact
from .completions import CompletionWriter
from .events import EventWriter
from .items import check_number, check_results, messages_of
from .lineage import (
    answer_of,
    can_skip_nothing,
    policy,
    referred,
    response_of,
    system_message,
    user_item,
)
from .port import HttpPort, HttpReply, Wanted
from .records import KeptResponse, ResponseRecords, raws

MOST_OPEN = 256
"""Answers that may be open at once."""
HOLD_SECONDS = 0.1
"""Seconds that a stream waits for its first part, so that an early failure has its own status."""
BUSY_SECONDS = 1.0
"""Seconds that a request waits until the response that it continues is over."""
KEEPALIVE_SECONDS = 15.0
"""Seconds of silence after which a stream shows that it is still there."""
END_SECONDS = 5.0
"""Seconds that an answer may take to end after it was cancelled, or after its client has left."""
FAREWELL_SECONDS = 2.0
"""Seconds for open answers to reach their clients at the shutdown."""

Send: TypeAlias = Callable[[bytes], Awaitable[None]]
"""Sends a piece of an answer, and waits until there is room for the next."""
AnswerWriter: TypeAlias = EventWriter | CompletionWriter
"""Writes one answer as its client reads it, by calls of `begin`, `add` and `end` in this order.

Each call returns bytes of an event stream. At the end `result` is the whole as JSON."""


class Query(Value):
    """A request that can be asked, and what is to be kept of it."""

    id: str
    wanted: Wanted
    offer: OfferedFunctions
    line: tuple[Raw, ...]
    """All messages but the instructions, which hold for one response."""
    asked: tuple[Raw, ...]
    """Those of them that are kept with this response."""
    items: tuple[Raw, ...]
    previous: str | None
    is_kept: bool


@attrs.define(eq=False, repr=False)
class OpenAnswer:
    """An answer that is being written."""

    query: Query
    writer: AnswerWriter
    reply: HttpReply
    is_over: trio.Event = attrs.field(factory=trio.Event, init=False)


@attrs.define(eq=False, repr=False)
class ShortMemory:
    """The newest response of one connection that keeps nothing; it forgets one that failed."""

    id: str | None = None
    messages: tuple[Raw, ...] = ()

    def line(self, response: str) -> list[Raw] | None:
        """Return the messages up to a response."""
        return [*self.messages] if response == self.id else None

    def take(self, answer: OpenAnswer) -> None:
        """Remember only this response; one that failed only makes forget."""
        self.forget()
        said = answer.reply.message
        if answer.reply.failure is None and said is not None:
            self.id = answer.query.id
            self.messages = (*answer.query.line, *raws([said]))

    def forget(self) -> None:
        """Remember nothing."""
        self.id, self.messages = None, ()


@attrs.define(eq=False, repr=False)
class Answering:
    """Answers every client of the server."""

    port: HttpPort
    records: ResponseRecords
    catalogue: Catalogue
    permissions: Permissions
    key: bytes = attrs.field(repr=False)
    """Signs compaction items."""
    _open: dict[str, OpenAnswer] = attrs.field(factory=dict[str, OpenAnswer], init=False)
    _places: int = attrs.field(default=MOST_OPEN, init=False)
    _freed: trio.Event = attrs.field(factory=trio.Event, init=False)

    def change_catalogue(self, catalogue: Catalogue) -> None:
        """Take other models."""
        self.catalogue = catalogue

    async def leave(self) -> None:
        """Cancel every answer that is open, and wait a moment for their clients to read that."""
        with trio.move_on_after(FAREWELL_SECONDS):
            for answer in list(self._open.values()):
                await self.port.cancel(answer.reply)
            while self._places < MOST_OPEN:
                self._freed = trio.Event()
                await self._freed.wait()

    # Before an answer.

    async def query(self, body: ResponseBody, short: ShortMemory | None = None) -> Query:
        """Return what a request asks; raises `ApiError`."""
        model = self.model(body.model or "")
        offer = offer_of(body.tools, body.tool_choice)
        if body.input is None:
            raise bad_request("There must be an input.", "input", "missing_required_parameter")
        before, is_short = await self._before(body.previous_response_id, short)
        new = await self.messages(body.input)
        asked = await Breather().do(_encoded(new))
        front = raws([system_message(body.instructions)]) if body.instructions else ()
        messages = (*front, *before, *asked)
        if not messages:
            raise bad_request("There must be a message.", "input")
        await Breather().do(_check(messages, new))
        options = ChatOptions(tools=offer.tools, model_options=dict(model_options(body)))
        settings = policy(model.settings, self.permissions)
        items = (user_item(body.input),) if isinstance(body.input, str) else tuple(body.input)
        return Query(
            f"resp_{secrets.token_hex(16)}",
            Wanted(model.information.id, model.agent, messages, options, settings),
            offer,
            (*before, *asked),
            (*before, *asked) if is_short else asked,
            items,
            None if is_short else body.previous_response_id,
            body.store is not False,
        )

    def writer(
        self, body: ResponseBody, query: Query, *, frames: bool = True, agent: str = ""
    ) -> EventWriter:
        """Return the writer of a response; `agent` is what the client says that it is."""
        fields = {"id": query.id, "created_at": int(time.time())}
        hides_own = frames and not body.stream and can_skip_nothing(agent)
        return EventWriter({**fields, **echo(body, query.offer)}, frames, hides_own)

    def completion_writer(self, query: Query, *, wants_usage: bool) -> CompletionWriter:
        """Return the writer of a completion."""
        named = f"chatcmpl-{response_of(query.id)}"
        fields = {"id": named, "created": int(time.time()), "model": query.wanted.model}
        return CompletionWriter(fields, wants_usage)

    def model(self, name: str) -> Model:
        """Return a model; raises `ApiError`."""
        found = self.catalogue.find(name)
        if found is None:
            known = ", ".join(one.information.id for one in self.catalogue.models)
            text = f"There is no model {name!r}. The models are: {known}."
            raise ApiError(404, "model_not_found", text, "model")
        return found

    async def _before(
        self, previous: str | None, short: ShortMemory | None
    ) -> tuple[Sequence[Raw], bool]:
        """Return the messages before a request, and whether only the connection knows them."""
        if previous is None:
            return (), False
        known = None if short is None else short.line(previous)
        if known is not None:
            return known, True
        with trio.move_on_after(BUSY_SECONDS):  # a client that has just left may be back
            while ending := self._ending(previous):
                await ending.is_over.wait()
        if previous in self._open:
            text = "A response is still being written here. Wait for its end, or cancel it."
            raise ApiError(409, "conversation_busy", text, "previous_response_id")
        line = await self.records.line(previous)
        if line is None:
            text = f"Previous response with id {previous!r} not found."
            raise ApiError(404, "previous_response_not_found", text, "previous_response_id")
        return line, False

    def _ending(self, previous: str) -> OpenAnswer | None:
        """Return an answer whose end a request waits for: the one that it continues.

        Or one that continues the same response, and was cancelled: the chat goes on after it. Any
        other one gets a branch beside it.
        """
        for one in self._open.values():
            is_beside = one.query.previous == previous and one.reply.is_cancelled
            if one.query.id == previous or is_beside:
                return one
        return None

    async def messages(self, given: str | Sequence[Raw]) -> list[ChatMessage]:
        """Return the messages of an input; what its references mean is looked up first."""
        check_number(1 if isinstance(given, str) else len(given))
        known: dict[str, list[ChatMessage]] = {}
        for name in await Breather().do(referred(given)):
            found = await self.records.find(f"resp_{response_of(name)}")
            if found is not None:
                known.update(await Breather().do(answer_of(found[0])))
        restorer = Restorer(self.key)

        def unfold(kind: str, named: str) -> Work[Sequence[ChatMessage]]:
            if kind == "compaction":
                return (yield from restorer.restore(named))
            if named not in known:
                raise ApiError(404, "item_not_found", f"Item {named!r} not found.", "input")
            return known[named]

        return await Breather().do(messages_of(given, unfold))

    async def compacted(self, body: ResponseBody) -> str:
        """Return the content of an item for a transcript."""
        self.model(body.model or "")
        before, _ = await self._before(body.previous_response_id, None)
        new = await self.messages(body.input or [])
        front = [system_message(body.instructions)] if body.instructions else []
        old = await Breather().do(_decoded(before))
        return await trio.to_thread.run_sync(compact, [*front, *old, *new], self.key)

    # An answer.

    @contextmanager
    def place(self) -> Generator[None]:
        """Take one of the places for open answers; raises `ApiError` if there is none."""
        if not self._places:
            text = f"{MOST_OPEN} answers are open already. Try again later."
            raise ApiError(429, "too_many_requests", text, retry=RETRY_SECONDS)
        self._places -= 1
        try:
            yield
        finally:
            self._places += 1
            self._freed.set()

    async def begin(self, query: Query, writer: AnswerWriter) -> OpenAnswer:
        """Ask the agent; raises `ApiError` if it fails at once."""
        try:
            reply = await self.port.ask(query.wanted)
        except RpcError as error:
            raise bad_request(error.message, "input") from None
        answer = self._open[query.id] = OpenAnswer(query, writer, reply)
        try:
            with trio.move_on_after(HOLD_SECONDS):
                await reply.news()
        except BaseException:
            await self._leave(answer)
            raise
        if reply.failure is not None and not reply.unsent:
            await self._close(answer)
            raise of_failure(reply.failure)
        return answer

    async def pump(
        self, answer: OpenAnswer, send: Send | None, short: ShortMemory | None = None
    ) -> ApiError | None:
        """Write an answer to its end; return its failure. One that is left early is cancelled.

        `short` remembers it for its connection.
        """
        reply, writer = answer.reply, answer.writer
        try:
            written = writer.begin()
            while True:
                written += writer.add(reply.take())
                if reply.is_settled:
                    break
                if send is not None and written:
                    await send(written)
                written = b""
                with trio.move_on_after(KEEPALIVE_SECONDS) as waiting:
                    await reply.news()
                if waiting.cancelled_caught:
                    written = writer.keepalive
            written += await self._close(answer)
        except BaseException:
            await self._leave(answer)
            raise
        if short is not None:
            short.take(answer)
        if send is not None:
            await send(written)
        return None if reply.failure is None else of_failure(reply.failure)

    async def _leave(self, answer: OpenAnswer) -> None:
        """End an answer whose client has left; its session stays for the next request."""
        if answer.is_over.is_set():
            return
        try:
            with trio.move_on_after(END_SECONDS, shield=True):
                await self.port.cancel(answer.reply)
                while not answer.reply.is_settled:
                    await answer.reply.news()
                    answer.writer.add(answer.reply.take())
                await self._close(answer)
        finally:
            self._open.pop(answer.query.id, None)
            answer.is_over.set()  # nobody waits longer for it, even if the core is stuck

    async def _close(self, answer: OpenAnswer) -> bytes:
        """Write the end of an answer that is settled, and keep it."""
        reply, query = answer.reply, answer.query
        added = answer.writer.add(reply.take())
        failure = None if reply.failure is None else of_failure(reply.failure)
        ended = answer.writer.end(int(time.time()), failure, is_cancelled=reply.is_cancelled)
        if query.is_kept and isinstance(answer.writer, EventWriter):
            said = reply.message
            await self.records.keep(
                KeptResponse(
                    query.id,
                    query.previous,
                    query.asked,
                    None if said is None else raws([said])[0],
                    query.items,
                    answer.writer.result,
                )
            )
        self._open.pop(query.id, None)
        answer.is_over.set()
        return added + ended

    # Responses by their ids.

    async def resource(self, response: str) -> bytes:
        """Return a response as it is; raises `ApiError`."""
        answer = self._open.get(response)
        if answer is not None:
            return answer.writer.result
        return (await self._kept(response))[0]

    async def items(self, response: str) -> list[Raw]:
        """Return the items of a response's input; raises `ApiError`."""
        answer = self._open.get(response)
        if answer is not None:
            return [*answer.query.items]
        return msgspec.json.decode((await self._kept(response))[1], type=list[Raw])

    async def _kept(self, response: str) -> tuple[bytes, bytes]:
        found = await self.records.find(response)
        if found is None:
            raise _not_found(response)
        return found

    async def drop(self, response: str) -> None:
        """Forget a response; raises `ApiError`."""
        if response in self._open:
            raise ApiError(
                409, "response_in_progress", "The response isn't complete: cancel it first."
            )
        if not await self.records.drop(response):
            raise _not_found(response)

    async def cancel(self, response: str) -> bytes:
        """End a response early, and return it; one that is over stays as it is."""
        answer = self._open.get(response)
        if answer is not None:
            with trio.move_on_after(END_SECONDS):
                await self.port.cancel(answer.reply)
                await answer.is_over.wait()
            return answer.writer.result
        return await self.resource(response)


def _not_found(response: str) -> ApiError:
    return ApiError(404, "response_not_found", f"Response with id {response!r} not found.")


def _encoded(messages: Sequence[ChatMessage]) -> Work[tuple[Raw, ...]]:
    found: list[Raw] = []
    for message in messages:
        found += raws([message])
        yield
    return tuple(found)


def _decoded(messages: Sequence[Raw]) -> Work[list[ChatMessage]]:
    found: list[ChatMessage] = []
    for raw in messages:
        found.append(decode_message(raw, "input"))
        yield
    return found


def _check(messages: Sequence[Raw], new: Sequence[ChatMessage]) -> Work[None]:
    """Raise `ApiError` if a new result answers no call, or if another result is missing."""
    if any(isinstance(part, ToolResultPart) for message in new for part in message.content):
        yield from check_results((yield from _decoded(messages)))
