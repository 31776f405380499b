"""One turn with an endpoint, as a channel of batches: requests and answers until no tool is called.

A task of its own reads the answers and waits until each batch is taken, so that an editor that
doesn't read stops the server. The chain keeps the part of a turn that the editor took.
"""

from __future__ import annotations

import attrs
import trio
from msgspec.structs import replace

from agents.boundary import failure_of
from agents.breather import Breather
from agents.events import (
    CANCELLED,
    Answer,
    AskPermission,
    Await,
    Batch,
    Break,
    CallTool,
    Decision,
    PermissionAnswer,
    Prompt,
    Stop,
    StopReason,
    ToolAnswer,
)
from agents.open_responses.http.errors import untellable
from agents.open_responses.request.content import ConversionError

from .attempt import ResponseAttempt
from .endpoint import Endpoint
from .response_chain import ResponseChain

_MOST_IN_VAIN = 8
"""Most responses in a row that may call only tools that aren't offered; each costs money."""


@attrs.define(eq=False, repr=False)
class EndpointTurn(trio.abc.ReceiveChannel[Batch]):
    """A turn. It begins by taking in the messages for its conversation."""

    endpoint: Endpoint
    chain: ResponseChain
    prompt: Prompt
    former: trio.Event | None = None
    """Set when the task of the turn before is over: two would change the chain at once."""
    ended: trio.Event = attrs.field(factory=trio.Event, init=False)
    """Set when the turn's task is over."""
    _send: trio.MemorySendChannel[Batch] = attrs.field(init=False)
    _receive: trio.MemoryReceiveChannel[Batch] = attrs.field(init=False)
    _until_cancelled: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _until_closed: trio.CancelScope = attrs.field(factory=trio.CancelScope, init=False)
    _asked: dict[str, ToolAnswer | PermissionAnswer | None] = attrs.field(
        factory=dict[str, "ToolAnswer | PermissionAnswer | None"], init=False
    )
    """The answers to the calls and questions that came and aren't with the server yet."""
    _answered: trio.Event = attrs.field(factory=trio.Event, init=False)
    _in_vain: int = attrs.field(default=0, init=False)
    """Number of responses so far without a call of an offered tool."""
    _is_over: bool = attrs.field(default=False, init=False)
    _breather: Breather = attrs.field(factory=Breather, init=False)

    def __attrs_post_init__(self) -> None:
        # size 0: a slow editor must stop the server, and a cancel leaves nothing behind
        self._send, self._receive = trio.open_memory_channel[Batch](0)

    @property
    def runs(self) -> bool:
        """Whether the last event is still to come, and somebody to receive it."""
        return not (self._is_over or self._until_closed.cancel_called)

    async def run(self) -> None:
        """Be the turn's task."""
        last: Stop | Break = CANCELLED
        try:
            with self._send, self._until_closed:
                try:
                    with self._until_cancelled:
                        last = await self._respond()
                except* Exception as group:
                    last = Break(failure_of(group, f"endpoint={self.endpoint.client.server}"))
                await self._send.send((last,))
        finally:
            self.ended.set()

    async def _respond(self) -> Stop | Break:
        if self.former is not None:
            await self.former.wait()
        try:
            await Breather().do(self.chain.take_in())
        except ConversionError as error:
            return Break(untellable(error))
        while True:
            try:
                self.chain.instruct(self.prompt.system)
            except ConversionError as error:
                return Break(untellable(error))
            self._in_vain += 1
            response = ResponseAttempt(self.endpoint, self.chain, self.prompt, self._show)
            last = await response.run()
            if isinstance(last, Break) or not self.chain.open_calls:
                return last
            await self._send.send((Await(),))
            while None in self._asked.values():
                self._answered = trio.Event()
                await self._answered.wait()
            answers = [answer for answer in self._asked.values() if answer is not None]
            self._asked.clear()
            await self._breather.do(self.chain.answer(answers))
            if self._in_vain >= _MOST_IN_VAIN:
                return Stop(StopReason.MAX_TURN_REQUESTS)

    async def _show(self, batch: Batch) -> None:
        """Wait until a batch is taken. A call can be answered as soon as it is."""
        calls = [event for event in batch if isinstance(event, CallTool)]
        asked = [event for event in batch if isinstance(event, CallTool | AskPermission)]
        self._asked |= {one.call_id: None for one in asked}
        offered = {tool.name for tool in self.prompt.tools}
        if any(call.name in offered for call in calls):
            self._in_vain = 0
        await self._send.send(batch)

    def renew(self, prompt: Prompt) -> None:
        """Take what the next request is made with; settings count from the next turn on."""
        self.prompt = replace(prompt, settings=self.prompt.settings)

    def answer(self, answer: Answer) -> None:
        """Take the first answer to a call or a question."""
        if not isinstance(answer, ToolAnswer | PermissionAnswer):
            return
        if self._asked.get(answer.call_id, answer) is None:
            self._asked[answer.call_id] = answer
            self._answered.set()
            if isinstance(answer, PermissionAnswer) and answer.decision is Decision.ALLOWED:
                self._in_vain = 0

    def cancel(self) -> None:
        """Break the answer off."""
        self._until_cancelled.cancel()

    def close(self) -> None:
        """Close the turn; its receiver gets the end of the channel."""
        self._until_closed.cancel()
        self._receive.close()

    async def aclose(self) -> None:
        """Close the turn; it never waits for anything."""
        self.close()
        await trio.lowlevel.checkpoint()

    async def receive(self) -> Batch:
        """Return the next events."""
        batch = await self._receive.receive()
        self._is_over = isinstance(batch[-1], Stop | Break)
        return batch
