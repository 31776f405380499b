"""Structured log lines: one a decision."""

from __future__ import annotations

import logging

log = logging.getLogger("vscodelm")


_IDS = ("request", "conversation", "turn")


def decision(what: str, **facts: object) -> None:
    """Log one decision: about whom, what, and why (`request=7 turn=2 extends new=1`)."""
    if log.isEnabledFor(logging.INFO):
        about = [f"{key}={facts.pop(key)}" for key in _IDS if key in facts]
        why = [f"{key}={value}" for key, value in facts.items()]
        log.info("%s", " ".join([*about, what, *why]))
