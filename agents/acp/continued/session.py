"""The sessions of chats that begin with `/continue`: their first answer is ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import attrs
import trio
from msgspec.structs import replace

from agents.acp.session import AcpSession
from agents.base import Turn, WrappedSession
from agents.events import Answer, Batch, Prompt, Say, Stop
from bridge.errors import Failure
from bridge.wire import Settings, ToolSpec

from .command import wish_in, wish_of

_ONLY_ANSWERS = Failure("NotFound", "no session was continued")
_TAKEN = Failure("AgentFailed", "another chat continues this session")


@attrs.define(eq=False, repr=False)
class ToldTurn(trio.abc.ReceiveChannel[Batch]):
    """A turn in which no agent takes part."""

    words: Sequence[Say]
    _is_over: bool = attrs.field(default=False, init=False)

    async def receive(self) -> Batch:
        """Return all of it, once."""
        await trio.lowlevel.checkpoint()
        if self._is_over:
            raise trio.EndOfChannel
        self._is_over = True
        return (*self.words, Stop())

    async def aclose(self) -> None:
        """End it."""
        self._is_over = True
        await trio.lowlevel.checkpoint()


class ContinuedSession(WrappedSession[AcpSession]):
    """A session that the agent had. The command is answered with `words`, and the agent goes on.

    It never `knows_history`: the chat had no messages before. Until it gets a message, another chat
    may take it: `on_told` is called with the first one.
    """

    def __init__(
        self, session: AcpSession, words: Sequence[Say], on_told: Callable[[], object]
    ) -> None:
        super().__init__(session)
        self.is_given_up = False
        """Whether it was closed, or another chat has it now."""
        self._words = words
        self._on_told = on_told
        self._has_begun = False
        """Whether the first turn has begun."""

    def give_up(self) -> None:
        """Be lost to this chat."""
        self.is_given_up = True
        self._on_told()

    @property
    def knows_history(self) -> bool:
        """No session of this chat's was asked for."""
        return False

    @property
    def lost(self) -> Failure | None:
        """As the agent has it, as long as the chat has it."""
        return _TAKEN if self.is_given_up else self.session.lost

    def run(self, prompt: Prompt) -> Turn:
        """Begin a turn. If the command wasn't answered before another message, it is left out."""
        if not self._has_begun:
            self._has_begun = True
            if wish_in((*prompt.transcript, *prompt.messages)) is not None:
                return ToldTurn(self._words)
            said = tuple(one for one in prompt.messages if wish_of(one) is None)
            prompt = replace(prompt, transcript=(), messages=said)
        self._on_told()
        return super().run(prompt)


class UnboundSession:
    """Answers one command in words. Then it is lost, so that the next message opens another.

    It satisfies `agents.base.AgentSession`.
    """

    handle: str | None = None
    knows_history = False
    process: int | None = None
    has_own_process = False
    lost: Failure | None = _ONLY_ANSWERS

    def __init__(self, words: Sequence[Say]) -> None:
        self._words = words

    def can_offer(self, tools: Sequence[ToolSpec], settings: Settings) -> bool:
        """Return true: it needs none."""
        return True

    async def renew(self, prompt: Prompt) -> None:
        """Do nothing."""
        await trio.lowlevel.checkpoint()

    def run(self, prompt: Prompt) -> Turn:
        """Answer."""
        return ToldTurn(self._words)

    def answer(self, answer: Answer) -> None:
        """Do nothing: nothing is asked."""

    async def cancel(self) -> None:
        """Do nothing: the turn ends at once."""
        await trio.lowlevel.checkpoint()
