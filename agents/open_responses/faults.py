"""What a server says went wrong, in whatever shape, and what that means for us.

The same words come as the body of an HTTP error, as an `error` event, and inside `response.failed`.
"""

from __future__ import annotations

from bridge.errors import Failure, FailureKind
from bridge.value import Value


class Fault(Value):
    """A fault of a server's: `status` is HTTP's, or the one that would fit."""

    status: int
    message: str
    code: str = ""
    param: str = ""
    type: str = ""

    @property
    def kind(self) -> FailureKind:
        """What the host is told."""
        raise NotImplementedError

    @property
    def is_retryable(self) -> bool:
        """Whether asking again may help: not with a quota, a key or a request that is wrong."""
        raise NotImplementedError

    @property
    def is_unknown_response(self) -> bool:
        """Whether it says that the `previous_response_id` isn't known (any more)."""
        raise NotImplementedError

    def failure(self, server: str) -> Failure:
        """Return what the user is told; `server` names it."""
        raise NotImplementedError


def read_fault(body: bytes, status: int) -> Fault:
    """Read the body of an HTTP answer with an error status: JSON of any known shape, text, HTML."""
    raise NotImplementedError
