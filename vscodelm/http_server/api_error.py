"""Errors in the specification's shape, with the status and the field that they are about. Pure."""

from __future__ import annotations

import re
from typing import Any

import msgspec

from bridge.errors import Failure

_TYPES = {
    404: "not_found",
    429: "too_many_requests",
    500: "server_error",
    502: "model_error",
    503: "model_error",
}
RETRY_SECONDS = 5
"""Seconds after which a client may try again where nothing says more."""
_STATUSES = {
    "NoPermissions": (403, "agent_needs_login"),
    "Blocked": (429, "agent_blocked"),
    "NotFound": (502, "agent_not_found"),
    "AgentFailed": (502, "agent_failed"),
    "Unavailable": (503, "agent_unavailable"),
    "Internal": (500, "internal_error"),
}
_PATH = re.compile(r" - at `\$\.?([^`]*)`$")


class ApiError(Exception):
    """An error to answer a request with."""

    def __init__(
        self, status: int, code: str, message: str, param: str | None = None, retry: int = 0
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.retry = retry
        """Seconds after which a client may try again; 0 says nothing."""

    @property
    def payload(self) -> dict[str, Any]:
        """The error itself."""
        kind = _TYPES.get(self.status, "invalid_request")
        return {"type": kind, "code": self.code, "message": self.message, "param": self.param}

    @property
    def body(self) -> bytes:
        """The body of a response."""
        return msgspec.json.encode({"error": self.payload})


def bad_request(message: str, param: str | None, code: str = "invalid_value") -> ApiError:
    """Return the error of a request that is wrong in a field."""
    return ApiError(400, code, message, param)


def not_decodable(error: Exception, place: str = "") -> ApiError:
    """Return the error of a body that is no JSON, or whose JSON is of another shape."""
    text = str(error)
    found = _PATH.search(text)
    if found is None and not isinstance(error, msgspec.ValidationError):
        return ApiError(400, "invalid_json", f"The body is no JSON: {text}")
    inner = "" if found is None else found[1]
    joint = "." if place and inner and not inner.startswith("[") else ""
    return bad_request(_PATH.sub("", text), f"{place}{joint}{inner}" or None)


def of_failure(failure: Failure) -> ApiError:
    """Return the error for a failure of the agent, whose texts have no secrets any more."""
    status, code = _STATUSES[failure.kind]
    retry = RETRY_SECONDS if status in (429, 503) else 0
    return ApiError(status, code, failure.message, retry=retry)
