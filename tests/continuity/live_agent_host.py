"""The model of the Agent Host against the whole system, with the progress tool.

What must hold beside what `live` says:

1. An agent is told to stop soon after its user has stopped: where the host offers the progress
   tool, within the longest response and the wait for a result.
2. What the host repeats by itself is no prompt.
"""

from __future__ import annotations

from collections.abc import Sequence

import attrs

from actors.progress.pace import LONGEST_SECONDS, STOPPED_SECONDS
from tests.host.agent_host import AgentHost
from tests.host.chat import Chat
from tests.host.request import Request

from .live import LiveWorld

STEP_SECONDS = 4.0
"""How long it may take until the host sees a call of the progress tool."""
TOLD_WITHIN = LONGEST_SECONDS + STEP_SECONDS + STOPPED_SECONDS + 1
WATCHED_SECONDS = 40.0
WAITED_LONG = 31.0
"""Seconds after which the same request is no repeat of the host's."""


@attrs.define(eq=False)
class LiveAgentHost(LiveWorld):
    """A window of the Agent Host, and a process of ours; `tests.host.agent_host_machine` drives it.

    A result of the progress tool comes at once, unless `is_slow`; after a stop it never comes.
    """

    is_slow: bool = attrs.field(default=False, init=False)
    _unheard: dict[Request, float] = attrs.field(factory=dict["Request", "float"], init=False)
    """What nobody listens to any more, and since when."""

    @property
    def agent_host(self) -> AgentHost:
        """The host."""
        assert isinstance(self.host, AgentHost)
        return self.host

    @property
    def told(self) -> int:
        """How often an agent was prompted."""
        return sum(window.prompts for window in self._windows)

    @property
    def open(self) -> Sequence[Request]:
        """The requests that aren't settled."""
        return [one.request for window in self._windows for one in window.open.values()]

    def is_working(self, chat: Chat) -> bool:
        """Return whether an agent works on a chat's newest request, and wasn't told to stop."""
        newest = self.host.newest[chat]
        return self._requests[newest.number].troupe.is_working(newest.first)

    def finish(self, chat: Chat, text: str = "") -> None:
        """End an answer, also if some of it is shown before."""
        super().finish(chat, text)
        if chat in self.host.streaming:
            super().finish(chat)

    def finish_unheard(self, request: Request) -> None:
        """End an answer that nobody reads."""
        self._requests[request.number].finish_unheard(request)
        self._take_in()

    def wait_long(self) -> None:
        """Let so much time pass that the same request is no repeat of the host's."""
        self.pass_time(WAITED_LONG)

    def pass_time(self, seconds: float) -> None:
        """Let time pass, in which the host gives the results that it is to give."""
        watched = min(seconds, WATCHED_SECONDS)
        rest = seconds - watched
        while watched > 0:
            # A clock that leaps is a machine that sleeps, and no result is missed in its sleep.
            step = 1.0 if self._unheard or self.is_slow else STEP_SECONDS
            super().pass_time(min(step, watched))
            watched -= step
            self._check_stops()
        if rest > 0:  # in one step, in which nobody can be told of a stop
            super().pass_time(rest)
            now = self._shared.stage.stepped.now
            self._unheard = dict.fromkeys(self._unheard, now)

    def be_quick(self) -> None:
        """Give what results are due, at once from now on."""
        self.is_slow = False
        self._take_in()

    def restart(self) -> None:
        """As in `LiveWorld`; what nobody listens to has ended."""
        super().restart()
        self._unheard.clear()

    def kill(self) -> None:
        """As in `LiveWorld`; what nobody listens to has ended."""
        super().kill()
        self._unheard.clear()

    def _take_in(self) -> None:
        super()._take_in()
        for request in self._left():
            self._unheard.setdefault(request, self._shared.stage.stepped.now)
        for chat in [] if self.is_slow else [*self.host.chats]:
            waits = chat.waiting
            if waits and chat.turns[-1].rounds[-1].answer.shows_progress:
                self.agent_host.show_progress(chat)

    def _left(self) -> list[Request]:
        """What the user has stopped: while it streamed, or before the host gave the result."""
        streaming = [one for one in self.open if one.chat is not None and not one.listening]
        paused = [
            request
            for chat, request in self.host.newest.items()
            if request.answer.shows_progress and not (chat.waiting or chat in self.host.streaming)
        ]
        return [one for one in (*streaming, *paused) if not one.answer.calls or one in paused]

    def _check_stops(self) -> None:
        if not self.profile.offers_progress:
            return
        now = self._shared.stage.stepped.now
        for request, since in [*self._unheard.items()]:
            if now - since <= TOLD_WITHIN:
                continue
            del self._unheard[request]
            window = self._requests[request.number]
            is_paced = request.chat is not None and not request.chat.explores
            if is_paced and window.troupe.is_working(request.first):
                raise AssertionError(f"nobody told the agent of {request.number} to stop")
