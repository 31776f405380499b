"""A tap on the wires between us and agents: a trace gets everything that goes over them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

Direction: TypeAlias = Literal["in", "out"]
"""`in` is what came to us, `out` what we sent."""

Tap: TypeAlias = Callable[[Direction, bytes], None]
"""Is given each line of one wire; several may come at once, each with its end."""

TapFor: TypeAlias = Callable[[str], Tap | None]
"""Makes the tap for a peer by its name; None where nothing is traced."""


def untapped(peer: str) -> Tap | None:
    """Trace nothing."""
    return None
