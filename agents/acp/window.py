"""How much an agent has room for, and how much of that a record of the past may take."""

from __future__ import annotations

import attrs

USUAL_WINDOW = 200_000
"""Tokens that an agent is taken to have room for while it hasn't said how many they are."""
_BYTES_PER_TOKEN = 3
"""Few: prose has more, but Chinese, Japanese and Korean as many, and no text that people write has
far fewer. To count the tokens of a long chat takes longer than anybody who waits should."""


@attrs.define(eq=False)
class ContextWindow:
    """The context of an agent's sessions, as the last one that told of it has it.

    A session that must be told what was said says so too late, so it is known by the others.
    """

    tokens: int | None = None
    """None: it hasn't said how many they are."""

    def with_news_of(self, other: ContextWindow) -> ContextWindow:
        """Take over what a session told before it was known whose it is."""
        self.tokens = other.tokens or self.tokens
        return self

    @property
    def record_budget(self) -> int:
        """How many bytes of UTF-8 a record may take: half of it, for there is more to come."""
        return (self.tokens or USUAL_WINDOW) * _BYTES_PER_TOKEN // 2
