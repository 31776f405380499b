"""Lines to an agent."""

from __future__ import annotations

from typing import Any

import msgspec

from agents.acp.schema.errors import Error
from agents.acp.schema.methods import Method, P
from bridge.wire import RequestId


class _Request(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId
    method: str
    params: Any


class _Notification(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    method: str
    params: Any


class _Response(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId | None
    result: Any


class _ErrorResponse(msgspec.Struct, tag_field="jsonrpc", tag="2.0"):
    id: RequestId | None
    error: Error


_encode = msgspec.json.Encoder().encode


def request_line(id_: RequestId, method: Method[P, Any], params: P) -> bytes:
    """Return the line that asks something."""
    return _encode(_Request(id_, method.name, params)) + b"\n"


def notification_line(method: str, params: msgspec.Struct) -> bytes:
    """Return the line that says something."""
    return _encode(_Notification(method, params)) + b"\n"


def response_line(id_: RequestId | None, result: msgspec.Struct) -> bytes:
    """Return the line that answers a request, or refuses it with an `Error`."""
    is_error = isinstance(result, Error)
    return _encode(_ErrorResponse(id_, result) if is_error else _Response(id_, result)) + b"\n"
