"""JSON-RPC 2.0, one JSON object a line: bytes in, requests and notifications out.

Nothing here waits. `LineSplitter` takes any chunking and costs one pass over the bytes;
`parse_line` turns one line into an `RpcRequest`, `RpcNotification` or `RpcResponse`, or raises
`InvalidLine`. Parameters stay raw until the method is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, TypeAlias, TypeVar

import msgspec
from msgspec import UNSET, Raw, UnsetType

from .errors import INVALID_PARAMS, INVALID_REQUEST, PARSE_ERROR, RpcError
from .value import Value
from .wire import RequestId

MAX_LINE = 256 * 1024 * 1024
"""Longest line taken, in bytes; a longer one is refused and skipped."""
REFUSED = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
"""The errors of msgspec for JSON that it can't read."""

T = TypeVar("T")


class TooLong(Value):
    """A line of `size` bytes that was skipped."""

    size: int


class LineSplitter:
    """Cuts a byte stream into lines, without their line ends."""

    def __init__(self, limit: int = MAX_LINE) -> None:
        self._limit = limit
        self._chunks: list[bytes] = []  # the unfinished line; joined once, when it ends
        self._size = 0

    def feed(self, chunk: bytes) -> list[bytes | TooLong]:
        """Return the lines that `chunk` completes; blank ones are left out."""
        if b"\n" not in chunk:  # as most of a long line; far quicker than to cut it
            self._keep(chunk)
            return []
        *ended, rest = chunk.split(b"\n")
        lines: list[bytes | TooLong] = []
        for piece in ended:
            line = self._end(piece)
            if isinstance(line, TooLong) or line.strip():
                lines.append(line)
        self._keep(rest)
        return lines

    def finish(self) -> list[bytes | TooLong]:
        """Return the last line, if the stream ended without a line end."""
        return self.feed(b"\n")

    def _end(self, piece: bytes) -> bytes | TooLong:
        if not self._chunks and self._size == 0 and len(piece) <= self._limit:
            return piece
        self._keep(piece)
        size, chunks = self._size, self._chunks
        self._size, self._chunks = 0, []
        return TooLong(size) if size > self._limit else b"".join(chunks)

    def _keep(self, piece: bytes) -> None:
        self._size += len(piece)
        if self._size > self._limit:
            self._chunks.clear()  # only its size is remembered from here on
        elif piece:
            self._chunks.append(piece)


class RpcRequest(Value):
    """A request: it is answered exactly once."""

    id: RequestId
    method: str
    params: Raw | UnsetType


class RpcNotification(Value):
    """A notification."""

    method: str
    params: Raw | UnsetType


class RpcResponse(Value):
    """A response to a request of ours. `id` is None if it has none that could be read."""

    id: RequestId | None
    result: Raw | UnsetType
    error: Raw | UnsetType


class InvalidLine(Exception):
    """A line that isn't a JSON-RPC message; `error` answers `request` (None: null)."""

    def __init__(self, error: RpcError, request: RequestId | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.request = request


class _Envelope(msgspec.Struct):
    jsonrpc: Raw | UnsetType = UNSET
    id: Raw | UnsetType = UNSET
    method: Raw | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: Raw | UnsetType = UNSET


Incoming: TypeAlias = RpcRequest | RpcNotification | RpcResponse
_decode_envelope = msgspec.json.Decoder(_Envelope).decode
_decode_id = msgspec.json.Decoder(RequestId).decode
_decode_method = msgspec.json.Decoder(str).decode
_EMPTY_OBJECT = Raw(b"{}")


def parse_line(line: bytes) -> Incoming:
    """Return the message on a line; raises `InvalidLine` with the error to answer with."""
    envelope = _open_envelope(line)
    id_ = _read_id(envelope.id)
    if envelope.method is UNSET:
        if envelope.result is not UNSET or envelope.error is not UNSET:
            return RpcResponse(id_, envelope.result, envelope.error)
        raise _invalid("Invalid request: `method` is missing", id_)
    try:
        method = _decode_method(envelope.method)
    except msgspec.DecodeError:
        raise _invalid("Invalid request: `method` must be a string", id_) from None
    if envelope.jsonrpc is UNSET or bytes(envelope.jsonrpc) != b'"2.0"':
        raise _invalid('Invalid request: `jsonrpc` must be "2.0"', id_)
    if envelope.id is UNSET:
        return RpcNotification(method, envelope.params)
    if id_ is None:
        raise _invalid("Invalid request: `id` must be a string or an integer")
    return RpcRequest(id_, method, envelope.params)


def _open_envelope(line: bytes) -> _Envelope:
    try:
        line.decode()  # msgspec checks the encoding of decoded values, not of raw ones
        try:
            return _decode_envelope(line)
        except msgspec.ValidationError:
            raise
        except msgspec.DecodeError:
            repaired = repair_surrogates(line)
            if repaired == line:
                raise
            return _decode_envelope(repaired)
    except msgspec.ValidationError as error:
        what = "a batch" if line.lstrip()[:1] == b"[" else str(error)
        raise _invalid(f"Invalid request: one JSON object a line is expected; {what}") from None
    except REFUSED as error:
        raise InvalidLine(RpcError(PARSE_ERROR, f"Parse error: {error}")) from None


def _invalid(message: str, id_: RequestId | None = None) -> InvalidLine:
    return InvalidLine(RpcError(INVALID_REQUEST, message), id_)


def _read_id(raw: Raw | UnsetType) -> RequestId | None:
    if raw is UNSET:
        return None
    try:
        return _decode_id(raw)
    except msgspec.DecodeError:
        return None


@cache
def decoder_of(type_: type[Any]) -> msgspec.json.Decoder[Any]:
    """Make a decoder when it is first needed: it takes longer than to import its type."""
    return msgspec.json.Decoder(type_)


def decode_params(decoder: msgspec.json.Decoder[T], params: Raw | UnsetType) -> T:
    """Return the typed parameters; raises `RpcError` (-32602) with the path of what is wrong."""
    return decode_at(decoder.decode, _EMPTY_OBJECT if params is UNSET else params, "$")


def decode_at(decode: Callable[[bytes | Raw], T], raw: bytes | Raw, path: str) -> T:
    """Decode a piece of the parameters that stands at `path`; errors carry the whole path.

    If a line was read in one pass (`bridge.methods.read_chat`), text that isn't UTF-8 is noticed
    only here. Such a line isn't JSON, even if its beginning could be read.
    """
    try:
        return decode(raw)
    except UnicodeDecodeError as error:
        raise RpcError(PARSE_ERROR, f"Parse error: {error} - at `{path}`") from None
    except (msgspec.DecodeError, RecursionError) as error:
        raise RpcError(INVALID_PARAMS, f"Invalid params: {_whole_path(str(error), path)}") from None


_PATH = re.compile(r" - at `\$(?P<rest>[^`]*)`$")


def _whole_path(message: str, path: str) -> str:
    found = _PATH.search(message)
    if found is None:
        return f"{message} - at `{path}`"
    return f"{message[: found.start()]} - at `{path}{found['rest']}`"


# A JavaScript string may be cut inside a surrogate pair, and JSON.stringify writes the half as an
# escape, which msgspec refuses. The pairs are matched first so that only the halves are left over.
_SURROGATE = re.compile(
    rb"\\\\|(?P<pair>\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2})"
    rb"|(?P<half>\\u[dD][89a-fA-F][0-9a-fA-F]{2})"
)


def repair_surrogates(raw: bytes) -> bytes:
    """Replace escapes of single surrogates by that of U+FFFD."""
    return _SURROGATE.sub(lambda m: rb"\ufffd" if m["half"] else m[0], raw)


# Outgoing messages.

_encoder = msgspec.json.Encoder()
_encode = _encoder.encode
_encode_lines = _encoder.encode_lines


class _ResultReply(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId | None
    result: Any


class _ErrorObject(msgspec.Struct, omit_defaults=True):
    code: int
    message: str
    data: Any = None


class _ErrorReply(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId | None
    error: _ErrorObject


class _Request(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    method: str
    params: Any


class _Notification(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any


def request_line(id_: RequestId, method: str, params: Any) -> bytes:
    """Return the line of a request of ours."""
    return _encode(_Request(id_, method, params)) + b"\n"


def result_line(id_: RequestId | None, result: Any) -> bytes:
    """Return the line that answers `id_`; None is JSON's null, if that was the id."""
    return _encode(_ResultReply(id_, result)) + b"\n"


def error_line(id_: RequestId | None, error: RpcError) -> bytes:
    """Return the line that refuses `id_`; None is JSON's null, where the id isn't known."""
    return _encode(_ErrorReply(id_, _ErrorObject(error.code, error.message, error.data))) + b"\n"


def notification_line(method: str, params: Any) -> bytes:
    """Return the line of a notification."""
    return _encode(_Notification(method, params)) + b"\n"


def notification_lines(method: str, params: Iterable[Any]) -> bytes:
    """Return the lines of several notifications of one method."""
    return _encode_lines([_Notification(method, one) for one in params])
