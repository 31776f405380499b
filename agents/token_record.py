"""The `usage` record, from which the host shows the tokens of a turn. Pure."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec

from .events import Attach

USAGE_MIME_TYPE = "usage"
MOST_TOKENS = 2**53 - 1
"""The largest whole number that JavaScript can count with; no count of tokens is larger."""


def token_record(record: Mapping[str, object]) -> Attach:
    """Return the record as the host takes it: its keys are those of Chat Completions."""
    return Attach(USAGE_MIME_TYPE, msgspec.json.encode(record))
