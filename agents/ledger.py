"""The open sessions of agents, for `lm/stats`: titles, commands, tokens and costs."""

from __future__ import annotations

import attrs
from msgspec import UNSET

from bridge.wire import AgentCommand, Cost, SessionUsage


@attrs.define(eq=False, repr=False)
class SessionRecord:
    """One session, as its agent describes it, and its tokens. None and "" are unknown."""

    agent: str
    title: str = ""
    commands: tuple[AgentCommand, ...] = ()
    used: int | None = None
    """Tokens in the agent's context."""
    window: int | None = None
    """The size of the context, in tokens."""
    cost: Cost | None = None
    """The cost of the session so far."""
    turns: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0

    def add_turn(self, prompt_tokens: int, completion_tokens: int) -> None:
        """Add the tokens of a turn."""
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def as_wire(self) -> SessionUsage:
        """Return it as `lm/stats` has it."""
        return SessionUsage(
            agent=self.agent,
            turns=self.turns,
            title=self.title or UNSET,
            used_tokens=UNSET if self.used is None else self.used,
            context_window=UNSET if self.window is None else self.window,
            prompt_tokens=self.prompt_tokens or UNSET,
            completion_tokens=self.completion_tokens or UNSET,
            cost=self.cost or UNSET,
            commands=list(self.commands) or UNSET,
        )


@attrs.define(eq=False, repr=False)
class Ledger:
    """The records of all open sessions, the most recently used last."""

    _records: dict[SessionRecord, None] = attrs.field(
        factory=dict["SessionRecord", None], init=False
    )

    def begin_turn(self, record: SessionRecord) -> None:
        """Note that a turn of the session begins."""
        self._records.pop(record, None)
        self._records[record] = None
        record.turns += 1

    def close(self, record: SessionRecord) -> None:
        """Forget a session."""
        self._records.pop(record, None)

    @property
    def sessions(self) -> list[SessionUsage]:
        """The sessions, as `lm/stats` has them."""
        return [record.as_wire() for record in self._records]
