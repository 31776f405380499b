"""MCP's messages on a wire of lines, as the SDK wants to read and write them.

The SDK reads from the wire itself: each task between the two would cost every call its turn in the
loop.
"""

from __future__ import annotations

import json
import logging
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, cast

import anyio
import attrs
from anyio.abc import AsyncResource, ObjectReceiveStream
from anyio.lowlevel import checkpoint
from mcp.shared.message import SessionMessage
from mcp_types.jsonrpc import (
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCMessage,
    jsonrpc_message_adapter,
)
from pydantic import ValidationError

from agents.breather import Breather
from agents.json_limits import has_too_many_values
from bridge.jsonrpc import TooLong, repair_surrogates
from bridge.work import Work

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

MOST_VALUES = 50_000
"""In one message: numbers, texts, lists and objects."""
MOST_BATCH = 100
"""Messages in one batch."""
MOST_BATCH_VALUES = 10_000
"""In all messages of one batch."""
MOST_UNSENT_BYTES = 16 * 1024 * 1024
"""Bytes that an agent may leave unread; then its connection is ended. The last line may be of any
size."""
log = logging.getLogger("vscodelm.mcp")


class Source(Protocol):
    """A source of lines."""

    async def receive(self) -> Sequence[bytes | TooLong] | None:
        """Return the next lines; None at the end."""
        ...


class Answers(Protocol):
    """A receiver of messages."""

    async def send(self, message: SessionMessage, /) -> None:
        """Send a message."""
        ...


@attrs.define(eq=False, repr=False)
class McpReceiveStream(ObjectReceiveStream[SessionMessage]):
    """Incoming messages. A line that is no message is answered here, by `answers`."""

    _source: Source
    _answers: Answers
    _breather: Breather = attrs.field(factory=Breather, init=False)
    _read: deque[JSONRPCMessage | Unread] = attrs.field(
        factory=deque["JSONRPCMessage | Unread"], init=False
    )

    async def receive(self) -> SessionMessage:
        """Return the next message; raises `anyio.EndOfStream`."""
        while True:
            while self._read:
                message = self._read.popleft()
                if not isinstance(message, Unread):
                    return SessionMessage(message)
                await self._answers.send(SessionMessage(message.answer))
            lines = await self._source.receive()
            if lines is None:
                raise anyio.EndOfStream
            for line in lines:
                self._read.extend(await self._breather.do(messages(line)))

    async def aclose(self) -> None:
        """Read no more; what is read from belongs to somebody else."""


@attrs.frozen
class Unread:
    """A line that is no message, and its answer, which has no id."""

    answer: JSONRPCError

    @classmethod
    def of(cls, code: int, words: str) -> Unread:
        """Return the answer with this error."""
        error = ErrorData(code=code, message=words)
        return cls(JSONRPCError(jsonrpc="2.0", id=None, error=error))


def messages(line: bytes | TooLong) -> Work[Sequence[JSONRPCMessage | Unread]]:
    """Return the messages in a line, in short steps.

    A batch is several: one era of the protocol had them, and each is answered by itself. A message
    that is too large is refused before it is decoded.
    """
    if isinstance(line, TooLong):
        return (Unread.of(PARSE_ERROR, f"a line of {line.size} bytes is too long"),)
    is_batch = line.lstrip().startswith(b"[")
    most = MOST_BATCH_VALUES if is_batch else MOST_VALUES
    if (yield from has_too_many_values(line, most)):
        what = "a batch" if is_batch else "a message"
        return (Unread.of(INVALID_REQUEST, f"{what} may have at most {most:,} values"),)
    if not is_batch:
        try:
            return (jsonrpc_message_adapter.validate_json(line, by_name=False),)
        except ValidationError as error:
            if not any(one["type"] == "json_invalid" for one in _errors(error)):
                return (_NO_MESSAGE,)
    try:
        # not its bytes: `json` would take the bytes of half a character for one
        value = json.loads(repair_surrogates(line).decode(errors="replace"))
    except (ValueError, RecursionError):
        return (Unread.of(PARSE_ERROR, "this is not JSON"),)
    if not isinstance(value, list):
        return (_message(value),)
    batch = cast("list[Any]", value)
    if len(batch) > MOST_BATCH:
        words = f"a batch may have at most {MOST_BATCH} messages"
        return (Unread.of(INVALID_REQUEST, words),)
    return [_message(item) for item in batch]


def _errors(error: ValidationError) -> list[ErrorDetails]:
    return error.errors(include_url=False, include_context=False, include_input=False)


def _message(value: Any) -> JSONRPCMessage | Unread:
    try:
        return jsonrpc_message_adapter.validate_python(value, by_name=False)
    except ValidationError:
        return _NO_MESSAGE


_NO_MESSAGE = Unread.of(INVALID_REQUEST, "this is not a message of JSON-RPC")


class Sink(Protocol):
    """A receiver of lines."""

    def write_now(self, data: bytes) -> int:
        """Write what there is room for, and return how much that was."""
        ...

    async def send(self, data: bytes) -> bool:
        """Write all of it; return whether there is still somebody who may read it."""
        ...


@attrs.define(eq=False, repr=False)
class Outgoing(AsyncResource):
    """Messages on their way out, each a line; `run` must run meanwhile.

    Cancelling a call stops the task that answers it, and that must not leave half a line behind.
    So that task never waits in the midst of a line: it writes as much as there is room for, which
    is mostly all of it, and `run` writes what is left.
    """

    _sink: Sink
    _waiting: deque[bytes] = attrs.field(factory=deque["bytes"], init=False)
    """Lines, the first maybe only the rest of one."""
    _size: int = attrs.field(default=0, init=False)
    """Bytes that wait."""
    _until: anyio.CancelScope | None = attrs.field(default=None, init=False)
    """The scope that ends the connection, while it runs."""
    _news: anyio.Event = attrs.field(factory=anyio.Event, init=False)
    _drained: anyio.Event = attrs.field(factory=anyio.Event, init=False)
    """Set when nothing waits any more."""
    _is_closed: bool = attrs.field(default=False, init=False)

    async def send(self, message: SessionMessage) -> None:
        """Write a message, or leave it to `run` and wait; raises `anyio.ClosedResourceError`."""
        if self._is_closed:
            raise anyio.ClosedResourceError
        text = message.message.model_dump_json(by_alias=True, exclude_unset=True)
        line = text.encode() + b"\n"
        if not self._waiting:
            line = line[self._sink.write_now(line) :]
        if not line:
            await checkpoint()
            return
        if self._size >= MOST_UNSENT_BYTES:
            self._give_up()
            raise anyio.ClosedResourceError
        self._waiting.append(line)
        self._size += len(line)
        self._news.set()
        await self._drained.wait()

    def _give_up(self) -> None:
        """End the connection of an agent that asks and doesn't read."""
        log.warning("an agent's connection is ended: it doesn't read the answers to its requests")
        self._is_closed = True
        if self._until is not None:
            self._until.cancel()

    async def run(self, until: anyio.CancelScope) -> None:
        """Write what is left, until nothing more can come or nobody reads; then cancel `until`."""
        is_read, self._until = True, until
        try:
            while is_read and (self._waiting or not self._is_closed):
                while self._waiting and (is_read := await self._sink.send(self._waiting[0])):
                    self._size -= len(self._waiting.popleft())
                self._drained.set()
                if is_read and not self._is_closed:
                    self._news, self._drained = anyio.Event(), anyio.Event()
                    await self._news.wait()
        finally:  # stopped, too: nothing is written from here on, so no task may wait for it
            self._is_closed = True
            self._drained.set()
        until.cancel()

    async def aclose(self) -> None:
        """Take no more; what waits is written, if `run` isn't stopped."""
        self._is_closed = True
        self._news.set()
