"""Decide whether and when to retry a request. Chance and time come in as arguments."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from email.utils import parsedate_to_datetime

MOST_SECONDS = 30.0
"""Longer waits that a server asks for are reported to the user instead."""
_FIRST, _LONGEST = 0.5, 8.0
_JITTER = 0.25


def wanted_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that an answer asks to wait, None if it doesn't say.

    A date is read against the server's own, so that no clock has to be right.
    """
    if (milliseconds := _number(headers.get("retry-after-ms"))) is not None:
        return milliseconds / 1000
    after = headers.get("retry-after")
    if (seconds := _number(after)) is not None:
        return seconds
    try:
        until, now = parsedate_to_datetime(after or ""), parsedate_to_datetime(headers["date"])
        return max(0.0, (until - now).total_seconds())
    except (KeyError, ValueError, TypeError, OverflowError):  # the last of a year or a zone
        return None


def wants_retry(headers: Mapping[str, str]) -> bool | None:
    """Return what an answer says of being asked again, None if nothing."""
    return {"true": True, "false": False}.get(headers.get("x-should-retry", "").lower())


def wait(retry: int, wanted: float | None, chance: Callable[[], float]) -> float | None:
    """Return the seconds before a retry, counted from 0; None: the server wants us to wait longer.

    `chance` is in [0, 1).
    """
    if wanted is not None and wanted > 0:
        return wanted if wanted <= MOST_SECONDS else None
    return min(_LONGEST, _FIRST * 2 ** min(retry, 10)) * (1 - _JITTER * chance())


def _number(text: str | None) -> float | None:
    try:
        value = float(text or "")
    except ValueError:
        return None
    return value if math.isfinite(value) and value >= 0 else None
