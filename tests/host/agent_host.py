"""The model of VS Code's Agent Host, which runs its agent in a process of its own.

Nothing tells the provider of a stop. What failed is repeated, and so is what takes ten minutes.
Results are in the order of their completion, and the host opens turns of its own.
"""

from __future__ import annotations

from typing import ClassVar

import attrs

from . import prompts
from .chat import Answer, Chat, Ending, Result, Turn
from .facts import Json, Kind
from .model import Host
from .render import after, render
from .request import Relation, Request

REPEATS = 5
"""How often the host repeats by itself what failed, within 16 seconds."""


@attrs.define(eq=False)
class AgentHost(Host):
    """One window of the editor, whose agent is the Agent Host's."""

    interrupted: ClassVar[str] = prompts.INTERRUPTED

    def stop(self, chat: Chat, *, kept: bool, visible: int | None = None) -> None:
        """Stop the answer, or the tools that run after it; an answer is gone."""
        super().stop(chat, kept=False, visible=visible)

    def fork(self, chat: Chat, turns: int) -> Chat:
        """Open a copy of the beginning of a chat; nothing says that it is one."""
        copy = super().fork(chat, turns)
        copy.conversation_id = copy.name
        return copy

    def compact(self, chat: Chat) -> None:
        """The command: a summary of all, for which no tools are offered; it leaves no message."""
        messages = after(render(chat, self.profile), prompts.HOST_SUMMARY_REQUEST)
        self._aside(messages, self.options.utility(), chat.model)
        self._summarise(chat, (len(chat.turns), -1))
        chat.summaries[-1] = attrs.evolve(chat.summaries[-1], is_whole=True)

    def summarise(self, chat: Chat, before: tuple[int, int], *, fork: bool) -> None:
        """Put a summary in place of a prefix, made beside the chat, with tools.

        `fork`: the request for it has all answers; else those without calls are left out of it.
        """
        answers = [one.answer for turn in chat.turns for one in turn.rounds]
        long = [answer for answer in answers if not (fork or answer.calls or answer.left_out)]
        for answer in long:
            answer.left_out = True
        messages = after(render(chat, self.profile), prompts.HOST_SUMMARY_REQUEST)
        for answer in long:
            answer.left_out = False
        self._aside(messages, self.options.fork(chat), chat.model)
        self._summarise(chat, before)

    def notify(self, chat: Chat, text: str) -> None:
        """Tell of a shell, or of a sub-agent, that has ended: it opens a turn."""
        number = chat.turns[-1].number + 1
        turn = Turn(number, chat.mode, text, self._word(chat, text), notice=True)
        self._begin(chat, turn)
        self._ask(chat, Relation.GOES_ON)

    def run_tool(self, chat: Chat, call_id: str, text: str) -> None:
        """Let one tool return."""
        newest = chat.turns[-1].newest
        assert newest is not None
        for call in chat.waiting:
            if call["toolCallId"] == call_id:
                newest.results.append(Result(call_id, self._fact(Kind.RESULT, call_id), text))

    def show_progress(self, chat: Chat, *, order: int = 0) -> None:
        """Give the result of the progress tool, at once."""
        self.run_tools(chat, text="", order=order)
        self._ask(chat, Relation.GOES_ON, is_soon=True)

    def repeat(self, chat: Chat, *, is_soon: bool = True) -> Request:
        """Send the newest request again, and take the answer to that in the place of what came."""
        former = self.newest[chat]
        former.listening = False
        former.answer.parts.clear()
        former.answer.ending = Ending.OPEN
        request = attrs.evolve(
            former,
            number=next(self._numbers),
            relation=Relation.TAKES_BACK,
            listening=True,
            is_soon=is_soon,
            repeats=former.first,
        )
        self.streaming[chat] = self.newest[chat] = request
        self.provider.ask(request)
        return request

    def leave_out(self, chat: Chat) -> None:
        """Leave whole answers out of the requests, because the chat is too long."""
        for answer in _whole(chat):
            answer.left_out = True

    def begin_anew(self, *, forgets: bool) -> None:
        """Load the window anew: what runs is cut, and tools are interrupted.

        `forgets`: the Agent Host's process begins anew, too, and what was thought is gone.
        """
        for chat in [*self.streaming]:
            if chat in self.streaming:
                self.stop(chat, kept=False)
        self.chats[:] = [chat for chat in self.chats if chat.led_by is None]
        for chat in self.chats:
            self._results(chat, lambda call: self.interrupted)
            for one in [one for turn in chat.turns for one in turn.rounds]:
                one.answer.is_forgotten |= forgets
        for request in self.beside:
            request.listening = False
            request.answer.ending = Ending.STOPPED
        self.beside.clear()

    def settled(self, request: Request, *, failed: bool) -> None:
        """Take the end of an answer, but not of one that is awaited under another number."""
        if request.chat is None or self.streaming.get(request.chat) is request:
            super().settled(request, failed=failed)

    def receive(self, request: Request, parts: list[Json]) -> None:
        """Take what comes for what is awaited."""
        if request.listening:
            request.answer.parts.extend(parts)

    def _begin(self, chat: Chat, turn: Turn) -> None:
        turn.sent = next(self._numbers)
        super()._begin(chat, turn)

    def _arrange(self, newest: object) -> None:
        """Leave results in the order of their completion."""


def _whole(chat: Chat) -> list[Answer]:
    answers = [one.answer for turn in chat.turns for one in turn.rounds]
    return [one for one in answers if one.ending is Ending.COMPLETE and not one.calls]
