"""The memory of the process over thousands of turns: it mustn't grow, and must be small."""

from __future__ import annotations

from .editor import Chat, Editor, editing
from .harness import Result

GROWTH_LIMIT = 1.05
SESSIONS_LIMIT = 60.0
SESSIONS = 100
"""Live at any time; the bridge closes the one least recently used (`maxSessions`)."""
TURNS = 5
"""Of each conversation."""


def measure(early: int = 2_000, late: int = 10_000) -> list[Result]:
    """Measure conversations that run their course, then some that the user keeps stopping."""
    plain, size = _grow(early, late, cancels=False)
    cancelled, _ = _grow(early, late, cancels=True)
    return [
        plain,
        cancelled,
        Result("memory: sessions", size / 1e6, SESSIONS_LIMIT, "MB", f"{SESSIONS} of them live"),
    ]


def _grow(early: int, late: int, *, cancels: bool) -> tuple[Result, int]:
    """Return the growth from `early` to `late` turns, and the bytes at the end."""
    with editing() as editor:
        before = _talk(editor, 0, early, cancels=cancels)
        after = _talk(editor, early, late, cancels=cancels)
        live = editor.live_sessions()
    if live != SESSIONS:
        raise RuntimeError(f"{live} sessions are live, not {SESSIONS}")
    note = f"{before / 1e6:.1f} MB after {early:,} turns, {after / 1e6:.1f} MB after {late:,}"
    name = "memory: cancels" if cancels else "memory: turns"
    return Result(name, after / before, GROWTH_LIMIT, "x", note), after


def _talk(editor: Editor, done: int, until: int, *, cancels: bool) -> int:
    """Hold conversations until so many turns were made; return the bytes in memory."""
    for first in range(done, until, TURNS):
        chat = Chat(editor)
        chat.say(f"I have a problem, it is my {first}. one.")
        for turn in range(1, TURNS):
            match turn if cancels else 0:
                case 1:
                    chat.say(f"!hang {first}", cancel=True)
                case 3:
                    chat.say(f"!long 20000 {first}", cancel=True)
                case _:
                    chat.say(f"I told you {turn} times of problem {first}, you never remember.")
    return editor.child.resident_bytes()
