"""Logs go to stderr, one line a decision, without secrets: tracebacks included."""

from __future__ import annotations

import logging
import sys
from typing import TYPE_CHECKING

from bridge.redact import Hide

if TYPE_CHECKING:
    from types import TracebackType

log = logging.getLogger("vscodelm")


class RedactingFormatter(logging.Formatter):
    """Formats `key=value` lines, and hides secrets in the whole, as in a traceback below it."""

    def __init__(self, hide: Hide) -> None:
        super().__init__("time=%(asctime)s level=%(levelname)s %(message)s", datefmt="%H:%M:%S")
        self._hide = hide

    def format(self, record: logging.LogRecord) -> str:
        """Return the record as text."""
        return self._hide(super().format(record))


def set_up_logging(level: str, hide: Hide) -> None:
    """Log to stderr from that level on; `hide` takes secrets out of each record.

    An exception that nobody catches is logged, too, because Python would print it as it is.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter(hide))
    logging.basicConfig(handlers=[handler], level=level.upper())
    logging.raiseExceptions = (
        False  # Python would print the arguments of a record that it can't log
    )
    sys.excepthook = _log_uncaught


def _log_uncaught(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    log.critical("ended by an unexpected error", exc_info=(kind, error, trace))
