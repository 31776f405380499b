"""Turn unexpected errors into errors of their request; the only place that does.

httpx, ssl, idna, msgspec and json raise more kinds of error than they document, and a server can
provoke most of them. Only code that handles what a server sent belongs in here. A broken rule of
our own is never taken for a fault of the server.
"""

from __future__ import annotations

import logging
from collections.abc import Generator
from contextlib import contextmanager

from bridge.errors import Failure, LocalError

from .errors import EndpointError

_OURS = (EndpointError, LocalError, AssertionError)
_MOST_DETAIL = 1000

log = logging.getLogger("vscodelm.open_responses")


@contextmanager
def expecting_anything(
    server: str, doing: str, *, but: tuple[type[Exception], ...] = ()
) -> Generator[None]:
    """Raise `EndpointError` for an error of any kind but `but`; `doing` is what fails by it."""
    try:
        yield
    except (*_OURS, *but):
        raise
    except Exception as error:
        log.warning("%s: %s failed", server, doing, exc_info=True)
        kind = type(error).__name__
        text = f"{server} can't be used: {doing} failed ({kind}). The log says more."
        detail = f"{kind}: {error}"[:_MOST_DETAIL]
        raise EndpointError(Failure("AgentFailed", text, detail)) from None
