"""Errors of the protocol between us and an agent."""

from __future__ import annotations

from typing import Any

from bridge.wire import Wire

REQUEST_CANCELLED = -32800
AUTH_REQUIRED = -32000
RESOURCE_NOT_FOUND = -32002


class ProtocolFault(Exception):
    """The agent sent an invalid message; the error names the field and its place.

    It costs the one message. In a request it is answered with -32602, in a response the request has
    failed, and a notification is left out.
    """


class Error(Wire):
    """An error that a request was answered with."""

    code: int
    message: str
    data: Any = None
