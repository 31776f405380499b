"""What users of VS Code's Agent Host do, and what it does by itself: the rules of `machine` for it.

It has no ask mode, no button for another answer, no edit at the cursor and no titles. Nothing tells
us of a stop, so an answer goes on behind the user's back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, cast

import hypothesis.strategies as st
from hypothesis.stateful import initialize, precondition, rule

from bridge.routing.outcome import Reason

from . import machine
from .agent_host import REPEATS, AgentHost
from .chat import Answer, Chat, Ending
from .machine import HostMachine, answers, pick_of, picks, words
from .render import Profile
from .request import Request
from .world import World

AGENT_HOST = Profile(private_keys=False, says_stop=False, agent_host=True, offers_progress=True)
WITHOUT_PROGRESS = Profile(private_keys=False, says_stop=False, agent_host=True)
JOINS = "REPEAT" in Reason.__members__
"""Whether a request that is repeated while its turn runs joins that turn."""
_NO_RULE: Any = None


class AgentHostWorld(machine.World, Protocol):
    """A world of the Agent Host."""

    @property
    def told(self) -> int:
        """How often an agent was given something."""
        ...

    @property
    def open(self) -> Sequence[Request]:
        """The requests that aren't settled."""
        ...

    def finish_unheard(self, request: Request) -> None:
        """End an answer that nobody reads."""
        ...

    def wait_long(self) -> None:
        """Let so much time pass that the same request is no repeat of the host's."""
        ...


class AgentHostRules(HostMachine):
    """One window whose chats are the Agent Host's."""

    profiles = (AGENT_HOST, WITHOUT_PROGRESS)
    cut_while_streaming = 0

    # What its users and itself can't do.
    switch_mode = regenerate = undo = ask_beside = drop_images = _NO_RULE
    go_on_after_a_pause = retry = reload = _NO_RULE

    @property
    def host(self) -> AgentHost:
        return cast("AgentHost", super().host)

    @property
    def _world(self) -> AgentHostWorld:
        return cast("AgentHostWorld", self.world)

    # What nobody tells us of.

    def _unheard(self) -> list[Request]:
        """Answers that the user has stopped, and the provider still gives."""
        return [one for one in self._world.open if one.chat is not None and not one.listening]

    @precondition(lambda self: self._unheard())
    @rule(pick=picks)
    def finish_unheard(self, pick: int) -> None:
        self._world.finish_unheard(pick_of(self._unheard(), pick))

    @rule(forgets=st.booleans())
    def restart(self, forgets: bool) -> None:
        """The window and our process begin anew, and maybe the Agent Host."""
        self.host.begin_anew(forgets=forgets)
        self.world.restart()

    # What becomes of a summary when its user goes back to the message behind it was not recorded.
    # So at least one message stays behind it, which shows the branch of the chat that goes on.

    def _changeable(self, chat: Chat) -> list[int]:
        turn, part = chat.summary.before if chat.summary else (-1, -1)
        first = turn + 1 if part < 0 else turn + 2
        turns = enumerate(chat.turns)
        return [at for at, one in turns if at >= first and not one.notice]

    def _changing(self) -> list[Chat]:
        return [chat for chat in self._told() if self._changeable(chat)]

    @precondition(lambda self: self._changing())
    @rule(pick=picks, turn=picks, text=words)
    def edit(self, pick: int, turn: int, text: str) -> None:
        chat = pick_of(self._changing(), pick)
        self.host.edit(chat, pick_of(self._changeable(chat), turn), text)

    @precondition(lambda self: self._changing())
    @rule(pick=picks, turn=picks)
    def restore(self, pick: int, turn: int) -> None:
        chat = pick_of(self._changing(), pick)
        self.host.restore(chat, pick_of(self._changeable(chat), turn))
        self.gone_back.add(chat)

    # What it does by itself.

    @precondition(lambda self: self._waiting())
    @rule(pick=picks, image=st.booleans(), order=picks)
    def next_round(self, pick: int, image: bool, order: int = 0) -> None:
        chat = pick_of(self._waiting(), pick)
        if not self._leading(chat):
            self.host.run_tools(chat, image=image, order=order)
            self.host.next_round(chat)

    def _told_before(self) -> list[Chat]:
        return [chat for chat in self.quiet() if chat.turns]

    @precondition(lambda self: self._told_before())
    @rule(pick=picks)
    def notify(self, pick: int) -> None:
        chat = pick_of(self._told_before(), pick)
        self.host.notify(chat, f"Shell command {next(self.calls)} has completed.")
        self.gone_back.discard(chat)

    @precondition(lambda self: self._told_before())
    @rule(pick=picks)
    def leave_out(self, pick: int) -> None:
        self.host.leave_out(pick_of(self._told_before(), pick))

    # Repeats. The user doesn't ask for them, so no agent hears of one.

    @precondition(lambda self: self.host.streaming)
    @rule(pick=picks, repeats=st.integers(0, REPEATS))
    def fail(self, pick: int, repeats: int = REPEATS) -> None:
        """The host repeats what failed, until its user stops that."""
        chat = pick_of(list(self.host.streaming), pick)
        self.world.fail(chat)
        for _ in range(repeats):
            if chat in self.host.streaming or chat.turns[-1].ending is not Ending.FAILED:
                return
            if chat.explores:
                return
            self._repeat(chat)
            assert chat.turns[-1].ending is Ending.FAILED, "it doesn't get the same failure at once"

    @precondition(lambda self: self._ended(Ending.FAILED))
    @rule(pick=picks)
    def try_again(self, pick: int) -> None:
        chat = pick_of(self._ended(Ending.FAILED), pick)
        self._world.wait_long()
        if chat not in self.host.streaming and chat.turns[-1].ending is Ending.FAILED:
            self.host.try_again(chat)
            assert chat in self.host.streaming, "what the user wants is taken for a repeat"

    def _repeatable(self) -> list[Chat]:
        """Chats whose request is told from that of another sub-agent with the same task."""
        return [
            chat
            for chat in self.host.streaming
            if not chat.explores and not (chat.led_by and len(chat.turns[-1].rounds) == 1)
        ]

    @precondition(lambda self: JOINS and self._repeatable())
    @rule(pick=picks)
    def repeat_after_ten_minutes(self, pick: int) -> None:
        """The host drops a request that takes so long, and sends it again: it joins the turn."""
        chat = pick_of(self._repeatable(), pick)
        answer = self.host.streaming[chat].answer
        before = _shown(answer)
        self._repeat(chat)
        assert answer.ending is Ending.OPEN, "the turn is over"
        assert _shown(answer) == before, "it doesn't get what there was"

    @precondition(lambda self: JOINS and self._repeatable())
    @rule(pick=picks, text=answers)
    def repeat_after_the_end(self, pick: int, text: str) -> None:
        """The answer ended while the host dropped its request."""
        chat = pick_of(self._repeatable(), pick)
        request = self.host.streaming[chat]
        self.world.finish(chat, text)
        answer = chat.turns[-1].rounds[-1].answer
        if answer is not request.answer or answer.ending is not Ending.COMPLETE:
            return
        before = _shown(answer)
        self._repeat(chat)
        assert answer.ending is Ending.COMPLETE, "it isn't answered at once"
        assert _shown(answer) == before, "it doesn't get the answer"

    def _repeat(self, chat: Chat) -> None:
        told = self._world.told
        self.host.repeat(chat)
        assert self._world.told == told, "a prompt is executed twice"


class AgentHostMachine(AgentHostRules):
    """Against the router. When a response ends with a call of the progress tool is chance here."""

    world: World
    keeps_sessions: bool = True

    @initialize(pick=picks)
    def _begin(self, pick: int) -> None:
        self.begin(World(pick_of(self.profiles, pick), self.keeps_sessions))

    def _pausable(self) -> list[Chat]:
        return [
            chat
            for chat, request in self.host.streaming.items()
            if self.host.profile.offers_progress and not (chat.explores or request.answer.calls)
        ]

    @precondition(lambda self: self._pausable())
    @rule(pick=picks)
    def show_progress(self, pick: int) -> None:
        self.world.show_progress(pick_of(self._pausable(), pick))

    @precondition(lambda self: self._pausable())
    @rule(pick=picks, text=words)
    def show_and_go_on(self, pick: int, text: str) -> None:
        """So it nearly always is: the result comes at once."""
        chat = pick_of(self._pausable(), pick)
        self.world.text(chat, text)
        self.world.show_progress(chat)
        self.host.show_progress(chat)


def _shown(answer: Answer) -> tuple[object, ...]:
    thoughts = "".join(part["value"] for part in answer.parts if part["type"] == "thinking")
    return answer.text, thoughts, [call["toolCallId"] for call in answer.calls]
