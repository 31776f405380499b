"""Server-sent events, as every dialect here streams them."""

from __future__ import annotations

import json
from itertools import count
from typing import Any

ENDLESS = count()
"""As many pieces as a peer takes: whoever sends them waits between two, until the peer leaves."""


def event(value: dict[str, Any], name: str | None = None) -> bytes:
    """Return one event, with its name where the dialect names them."""
    head = "" if name is None else f"event: {name}\n"
    return f"{head}data: {json.dumps(value)}\n\n".encode()
