"""What one session of an agent knows, and who it is for the test."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Protocol

import attrs

from agents.base import Agent
from agents.open_responses.checkpoints import PointMemory
from bridge.models import AgentChoice
from bridge.wire import Part


@attrs.define(eq=False)
class Mind:
    """A session, whether or not it is open: it is the same after a crash, if it is found again."""

    facts: list[int] = attrs.field(factory=list[int])
    """All that it was told, and said itself, in order; each has a number (`host.facts`)."""
    gaps: set[int] = attrs.field(factory=set[int])
    """What the host left out when it was told what was said before."""


@attrs.frozen
class Taken:
    """A session took a request."""

    request: int
    is_first: bool
    """It is the first one since the session was opened."""
    goes_on: bool
    """An open turn goes on for it: what is new beside results comes when that has ended."""


class Troupe(Protocol):
    """The agents of a test; what they say, the test says."""

    @property
    def spells(self) -> bool:
        """Whether only texts reach them, so that they know a fact by its `spelling`."""
        ...

    @property
    def calls_tools(self) -> bool:
        """Whether they are offered the editor's tools."""
        ...

    @property
    def reaction_seconds(self) -> float:
        """How long it may take until they have taken in what they were told."""
        ...

    def beside(self) -> Troupe:
        """Return the agents of another process of ours: what is kept on disk, both share."""
        ...

    def running(self, points: PointMemory) -> AbstractAsyncContextManager[None]:
        """Run them for as long as a process of ours does; afterwards nothing may be open.

        `points` is what it remembers of an endpoint's responses.
        """
        ...

    def agent_for(self, choice: AgentChoice) -> Agent:
        """Return the agent of a definition."""
        ...

    def taken(self) -> Sequence[Taken]:
        """Return what they took since they were asked last."""
        ...

    def mind(self, request: int) -> Mind:
        """Return the session that has taken a request."""
        ...

    def is_working(self, request: int) -> bool:
        """Return whether one works on a request, and wasn't told to stop."""
        ...

    def is_stopping(self) -> bool:
        """Return whether one takes its time to stop: requests may wait for it."""
        ...

    def say(self, request: int, part: Part, fact: int) -> None:
        """Say something; it is part of the answer of that fact."""
        ...

    def finish(self, request: int) -> None:
        """End the answer: wait for results, if there were calls."""
        ...

    def fail(self, request: int) -> None:
        """End the answer with a failure that the session outlives."""
        ...

    def crash(self, request: int) -> None:
        """Let the process crash that answers a request."""
        ...

    def dawdle(self) -> None:
        """Take one's time to stop, from now on."""
        ...

    def hurry(self) -> None:
        """Stop at once, whatever is to be stopped."""
        ...
