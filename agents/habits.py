"""Behaviour of an agent, seen in any of its sessions. Pure.

An agent sends its calls, and its announcements of them, in two ways. Some calls overtake their
announcement and the text before it. Only for such an agent is a wait of use.
"""

from __future__ import annotations

import attrs

MOST_MISSES = 3
"""Vain waits in a row for an agent, before it isn't waited for any more."""


@attrs.define(eq=False, repr=False)
class Announcing:
    """Whether an agent announces a kind of thing, at about the time when it comes."""

    _is_likely: bool = attrs.field(default=False, init=False)
    _misses: int = attrs.field(default=0, init=False)

    @property
    def is_expected(self) -> bool:
        """Whether an announcement is worth waiting for."""
        return self._is_likely and self._misses < MOST_MISSES

    def suppose(self) -> None:
        """Note that the agent announces something, though nothing waited for the announcement."""
        self._is_likely = True

    def confirm(self) -> None:
        """Note an announcement that came before its call, or while the call waited."""
        self._is_likely, self._misses = True, 0

    def miss(self) -> None:
        """Note that an announcement was waited for in vain."""
        self._misses += 1


@attrs.define(eq=False, repr=False)
class Habits:
    """The things that an agent announces."""

    calls: Announcing = attrs.field(factory=Announcing, init=False)
    """Its calls of the editor's tools."""
    questions: Announcing = attrs.field(factory=Announcing, init=False)
    """The calls that it asks permission for."""

    def suppose(self) -> None:
        """Note that the agent announces calls."""
        self.calls.suppose()
        self.questions.suppose()
