"""MCP's messages as they come in on a wire of lines, as the SDK wants to read them.

The SDK reads from the wire itself: each task between the two would cost every call its turn in the
loop.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol, Self, cast

import anyio
import attrs
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
    from types import TracebackType

    from pydantic_core import ErrorDetails

MOST_VALUES = 50_000
"""In one message: numbers, texts, lists and objects."""
MOST_BATCH = 100
"""Messages in one batch."""
MOST_BATCH_VALUES = 10_000
"""In all messages of one batch."""


class Source(Protocol):
    """Where lines come from."""

    async def receive(self) -> Sequence[bytes | TooLong] | None:
        """Return the next lines; None at the end."""
        ...


class Answers(Protocol):
    """Where messages go."""

    async def send(self, message: SessionMessage, /) -> None:
        """Send a message."""
        ...


@attrs.define(eq=False)
class Incoming:
    """What comes in. What is no message is answered here, by `answers`."""

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

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Read no more; what is read from belongs to somebody else."""

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self.aclose()


@attrs.frozen
class Unread:
    """What is no message, and the answer to it; the answer has no id."""

    answer: JSONRPCError

    @classmethod
    def of(cls, code: int, words: str) -> Unread:
        """Return the answer with this error."""
        error = ErrorData(code=code, message=words)
        return cls(JSONRPCError(jsonrpc="2.0", id=None, error=error))


def messages(line: bytes | TooLong) -> Work[Sequence[JSONRPCMessage | Unread]]:
    """Return the messages in a line, in short steps.

    A batch is several: one era of the protocol had them, and each is answered by itself. What is
    too much is refused as a whole, before it is decoded.
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
