"""Decoding of a server's lines: bytes in, values out. Pure."""

from __future__ import annotations

from typing import Any, TypeAlias

import attrs
import msgspec
from msgspec import UNSET, Raw, UnsetType

from bridge import methods
from bridge.errors import RpcError
from bridge.jsonrpc import TooLong
from bridge.wire import Part, ProgressParams, RequestId, decode_part, decode_part_params


class BadReply(Exception):
    """The server broke the protocol, or says that we did."""


@attrs.frozen
class PartOf:
    """A part of the answer to a request."""

    request: RequestId
    part: Part


@attrs.frozen
class RequestSettled:
    """The end of a request: a result, as raw JSON, or the error that it failed with."""

    request: RequestId
    outcome: Raw | RpcError


@attrs.frozen
class OtherNotification:
    """Any other notification."""

    method: str


ServerMessage: TypeAlias = PartOf | ProgressParams | RequestSettled | OtherNotification


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


_decode_line = msgspec.json.Decoder(_Line).decode
_decode_progress = msgspec.json.Decoder(ProgressParams).decode
_NO_RESULT = Raw(b"null")


def parse_reply(line: bytes | TooLong) -> ServerMessage:
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
        # An error without an id is about one of our lines, which the server couldn't read.
        raise BadReply("no id" if message.error is UNSET else message.error.message)
    if message.error is not UNSET:
        error = message.error
        return RequestSettled(message.id, RpcError(error.code, error.message, error.data))
    return RequestSettled(message.id, _NO_RESULT if message.result is UNSET else message.result)


def _notification(
    method: str, params: Raw | UnsetType
) -> PartOf | ProgressParams | OtherNotification:
    if method == methods.PROGRESS and params is not UNSET:
        return _decode_progress(params)
    if method != methods.RESPONSE_PART or params is UNSET:
        return OtherNotification(method)
    said = decode_part_params(params)
    return PartOf(said.request_id, decode_part(said.part))
