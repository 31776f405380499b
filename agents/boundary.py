"""The boundary between chats: turn an exception into a failure of the request that met it.

Only an `AgentError` is expected: it has a failure for the user. Every other exception is an
internal error of that request, and its traceback is logged here, once. Nothing else decides this.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager
from typing import cast

from bridge.errors import Failure, first_error, internal

from .base import AgentError

log = logging.getLogger("vscodelm")


def failure_of(error: Exception, where: str) -> Failure:
    """Return the failure of a request that met `error`, which may be a group of errors.

    `where` says for the log which chat, agent or task it was: `agent=claude`.
    """
    expected, unexpected = ExceptionGroup("", [error]).split(AgentError)
    if unexpected is not None:
        cause = _sole(unexpected)
        log.error("%s failed: %s", where, type(cause).__name__, exc_info=cause)
        if expected is None:
            return internal(first_error(unexpected))
    assert expected is not None, "an error is one or the other"
    return first_error(expected).failure


def _sole(error: Exception) -> Exception:
    """Return the error without the groups that hold nothing else."""
    inner = cast("list[Exception]", list(getattr(error, "exceptions", ())))
    return _sole(inner[0]) if len(inner) == 1 else error


@contextmanager
def contained(where: str) -> Generator[None]:
    """Let no error of the block out; `where` as in `failure_of`. Cancellation passes."""
    try:
        yield
    except* Exception as group:
        log.info("%s ended: %s", where, failure_of(group, where).message)
