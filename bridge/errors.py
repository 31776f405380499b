"""Errors, by the side that is at fault.

- `RpcError`: the client's. Something on the wire was wrong; it is answered with a JSON-RPC error.
- `Failure`: the agent's, or the world's. A value, not an exception: a turn ended with it.
- `LocalError`: our own. A caller in this process broke a rule. No code expects it: like any other
  exception, it becomes an internal error of the request that met it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias, TypeVar

import msgspec

from .fixes import Fix, without_secrets
from .value import Value
from .wire import ToldFailure

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603
REQUEST_FAILED = -32000

FailureKind: TypeAlias = Literal[
    "NoPermissions", "Blocked", "NotFound", "AgentFailed", "Unavailable", "Internal"
]


E = TypeVar("E", bound=Exception)


def first_error(group: BaseExceptionGroup[E]) -> E:
    """Return the first error in a group of groups, which is what nurseries make of one."""
    inner = group.exceptions[0]
    return first_error(inner) if isinstance(inner, BaseExceptionGroup) else inner


class LocalError(Exception):
    """A caller in this process broke a rule."""


class RpcError(Exception):
    """An error to answer a request with (JSON-RPC 2.0, section 5.1)."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.data = data


class Failure(Value):
    """Why a request failed: `message` is for a user to act on, `kind` for the host.

    `fixes` are remedies, for a host that shows them as buttons.
    """

    kind: FailureKind
    message: str
    detail: str = ""
    stderr_tail: str | None = None
    fixes: tuple[Fix, ...] = ()

    def without_secrets(self, hide: Callable[[str], str]) -> Failure:
        """Return the failure with `hide` applied to each of its texts."""
        tail = None if self.stderr_tail is None else hide(self.stderr_tail)
        fixes = without_secrets(self.fixes, hide)
        return Failure(self.kind, hide(self.message), hide(self.detail), tail, fixes)

    def as_rpc_error(self) -> RpcError:
        """Return the error that the request is settled with."""
        code = INTERNAL_ERROR if self.kind == "Internal" else REQUEST_FAILED
        return RpcError(code, self.message, self._data())

    def as_told(self) -> ToldFailure:
        """Return what goes with an answer that tells the failure in words."""
        return msgspec.convert({"message": self.message, **self._data()}, ToldFailure)

    def _data(self) -> dict[str, Any]:
        data: dict[str, Any] = {"kind": self.kind, "detail": self.detail or self.message}
        if self.stderr_tail is not None:
            data["stderrTail"] = self.stderr_tail
        if self.fixes:
            data["fixes"] = [msgspec.to_builtins(fix) for fix in self.fixes]
        return data


def internal(error: BaseException) -> Failure:
    """Return the failure of a request that met an error which nobody expected.

    It names the type of the error alone: the error's own words may hold a secret.
    """
    return Failure(
        "Internal",
        "vscodelm has an internal error. Send the message again. If it fails again, report it: the "
        "log of vscodelm has the details.",
        type(error).__name__,
    )
