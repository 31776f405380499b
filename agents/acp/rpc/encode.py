"""The lines that answer an agent."""

from __future__ import annotations

from typing import Any

from agents.acp.schema.errors import Error
from bridge.errors import RpcError
from bridge.jsonrpc import error_line, result_line
from bridge.wire import RequestId


def response_line(id_: RequestId | None, result: Any) -> bytes:
    """Return the line that answers a request, or refuses it with an `Error`."""
    if isinstance(result, Error):
        return error_line(id_, RpcError(result.code, result.message, result.data))
    return result_line(id_, result)
