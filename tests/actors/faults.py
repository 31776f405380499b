"""Faults to be planted into the actors (`tests.test_planted_faults`)."""

from __future__ import annotations

from tests.planted import Fault, Ground

GROUND = Ground("actors", "tests/actors", copied=("bridge", "actors", "agents", "tests"))

_BOUNDARY = ("tests/actors/test_boundary.py",)

FAULTS = [
    Fault(
        "an unexpected error of a session ends every chat",
        "session",
        "except* Exception as group:",
        "except* _Lost as group:",
        _BOUNDARY,
    ),
    Fault(
        "an unexpected error of one conversation's history ends every chat",
        "history",
        "            self._contain(message, error)\n",
        "            raise\n",
        _BOUNDARY,
    ),
    Fault(
        "a session that is being opened is waited for at the end",
        "handle",
        "            self._opening.cancel()\n\n",
        "            pass\n\n",
        ("tests/actors/test_system.py",),
    ),
    Fault(
        "a system rests while a request is open",
        "open_requests",
        "            if self._ids:\n",
        "            if False:\n",
        ("tests/actors/test_system.py",),
    ),
]
