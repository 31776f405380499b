"""What a server sends, line by line: bytes in, values out; and the line of a request. Pure."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs
import msgspec
from msgspec import UNSET, Raw, UnsetType

from bridge import methods
from bridge.errors import RpcError
from bridge.jsonrpc import TooLong
from bridge.wire import KnownPart, Part, ProgressParams, RequestId, UnknownPart


class BadReply(Exception):
    """The server sent what isn't of the protocol, or says that we did."""


@attrs.frozen
class PartOf:
    """A part of the answer to a request."""

    request: RequestId
    part: Part


@attrs.frozen
class Settled:
    """The end of a request: a result, as raw JSON, or the error that it failed with."""

    request: RequestId
    outcome: Raw | RpcError


@attrs.frozen
class Told:
    """Any other notification."""

    method: str


Reply: TypeAlias = PartOf | ProgressParams | Settled | Told


class _Error(msgspec.Struct):
    code: int
    message: str
    data: Any = None


class _Line(msgspec.Struct):
    id: RequestId | UnsetType | None = UNSET
    method: str | UnsetType = UNSET
    params: Raw | UnsetType = UNSET
    result: Raw | UnsetType = UNSET
    error: _Error | UnsetType = UNSET


class _PartParams(msgspec.Struct, rename="camel"):
    request_id: RequestId
    part: Raw


class _Kind(msgspec.Struct):
    type: str


class _Request(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    method: str
    params: Any


_encode = msgspec.json.Encoder().encode
_decode_line = msgspec.json.Decoder(_Line).decode
_decode_params = msgspec.json.Decoder(_PartParams).decode
_decode_progress = msgspec.json.Decoder(ProgressParams).decode
_decode_kind = msgspec.json.Decoder(_Kind).decode
_part_decoder: msgspec.json.Decoder[Any] = msgspec.json.Decoder(KnownPart)
_KNOWN_KINDS = frozenset({"text", "tool_call", "tool_result", "thinking", "data"})
_NO_RESULT = Raw(b"null")


def request_line(request: RequestId, method: str, params: msgspec.Struct) -> bytes:
    """Return the line of a request."""
    return _encode(_Request(request, method, params)) + b"\n"


def parse_reply(line: bytes | TooLong) -> Reply:
    """Return what a line says; raises `BadReply`."""
    if isinstance(line, TooLong):
        raise BadReply(f"a line of {line.size} bytes")
    try:
        message = _decode_line(line)
        if message.method is not UNSET:
            return _notification(message.method, message.params)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReply(str(error)) from None
    if message.id is UNSET or message.id is None:
        # An error without an id is about a line of ours that couldn't be read.
        raise BadReply("no id" if message.error is UNSET else message.error.message)
    if message.error is not UNSET:
        error = message.error
        return Settled(message.id, RpcError(error.code, error.message, error.data))
    return Settled(message.id, _NO_RESULT if message.result is UNSET else message.result)


def _notification(method: str, params: Raw | UnsetType) -> PartOf | ProgressParams | Told:
    if method == methods.PROGRESS and params is not UNSET:
        return _decode_progress(params)
    if method != methods.RESPONSE_PART or params is UNSET:
        return Told(method)
    said = _decode_params(params)
    kind = _decode_kind(said.part).type
    if kind in _KNOWN_KINDS:
        return PartOf(said.request_id, _part_decoder.decode(said.part))
    return PartOf(said.request_id, UnknownPart(kind, bytes(said.part)))
