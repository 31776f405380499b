"""The model of the host against the whole system: `tests.host.world`, with real actors.

What must hold, whatever is done:

1. The session that answers a request of a chat knows every fact in the request, and nothing but
   what its user sees as accepted; each once, in order.
2. Nobody else's answer is ended by a request.
3. What is shown is what was said, and nothing else: nothing that is told again, for one.
4. Each request is answered, and settled exactly once (`tests.fakes.editor` holds us to that).
5. When we have left, no session is open.
"""

from __future__ import annotations

from collections.abc import Callable

import attrs

from bridge.wire import Part, TextPart, ToolCallPart
from tests.fakes.editor import FakeEditor, connected_to
from tests.fakes.editor import Request as Sent
from tests.host.chat import Chat
from tests.host.knowledge import Knowledge
from tests.host.model import Host
from tests.host.render import Profile
from tests.host.request import Request

from .memories import Memories
from .mind import Mind, Taken, Troupe
from .remembering import REQUEST
from .spelling import spelled, spelled_out
from .stepping import Stepped

IDLE_SECONDS = 3600.0
"""More than a chat that nobody uses is kept."""
PAUSE_SECONDS = 11.0
"""Between requests, so that none of them is one repeat too many."""
LEAVING_SECONDS = 30.0


@attrs.define(eq=False)
class Exchange:
    """A request of the model's as it was sent, and what was taken of the answer."""

    request: Request
    sent: Sent
    shown: int = 0
    """How many parts the host has."""


@attrs.define(eq=False)
class LiveWorld:
    """A host, and a process of ours that it talks to; it satisfies `tests.host.machine.World`."""

    profile: Profile
    troupe: Troupe
    memories: Memories
    """What outlives our processes."""
    most_sessions: int = 100
    host: Host = attrs.field(init=False)
    knowledge: Knowledge = attrs.field(init=False)
    homes: dict[Chat, Mind] = attrs.field(factory=dict["Chat", "Mind"], init=False)
    _newest: dict[Chat, int] = attrs.field(factory=dict["Chat", "int"], init=False)
    """The request of each chat that was taken last."""
    open: dict[int, Exchange] = attrs.field(factory=dict["int", "Exchange"], init=False)
    _untaken: set[int] = attrs.field(factory=set[int], init=False)
    """Requests that no session has taken yet."""
    _ours: set[int] = attrs.field(factory=set[int], init=False)
    """Answers in which the agent said nothing: what the host has of them, we said."""
    _said: dict[int, str] = attrs.field(factory=dict[int, str], init=False)
    _editor: FakeEditor = attrs.field(init=False)
    _leaves: Callable[[], None] = attrs.field(init=False)
    _process: Stepped = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self.host = Host(self, self.profile)
        self.knowledge = Knowledge(self.host.facts, by_words=not self.profile.private_keys)
        self._start()

    # What the host does (`tests.host.model.Provider`).

    def ask(self, request: Request) -> None:
        self._process.pass_time(PAUSE_SECONDS)
        self.knowledge.note(request)
        others = [one for one, its in self.open.items() if its.request.chat is not request.chat]
        self._said[request.number] = ""
        self._untaken.add(request.number)
        self._do(lambda: self._send(request))
        if self.profile.private_keys:
            ended = [one for one in others if one not in self.open]
            assert not ended, f"{request.number} ended {ended}"
        if request.number not in self.open:
            return
        if not self.troupe.is_stopping():
            assert request.number not in self._untaken, "nobody answers"

    def cancel(self, request: Request) -> None:
        if request.number in self.open:
            sent = self.open[request.number].sent
            self._do(lambda: self._editor.cancel(sent))
            assert request.number not in self.open, "a cancelled request is still open"

    def _send(self, request: Request) -> None:
        options = request.params["options"]
        private = {**options["modelOptions"], REQUEST: request.number}
        messages = [spelled_out(one) for one in request.messages]
        sent = self._editor.chat(
            messages if self.troupe.spells else request.messages,
            agent={"mcp_server": {"name": request.model, "command": "agent"}},
            options={**options, "modelOptions": private},
            model=request.model,
            settings={
                "maxSessions": self.most_sessions,
                "tools": {"exclude": [] if self.troupe.calls_tools else ["*"]},
            },
        )
        self.open[request.number] = Exchange(request, sent)

    # What an agent does.

    def say(self, request: Request, *parts: Part) -> None:
        fact = request.answer.fact
        is_silent = not self._said[request.number]
        if self.troupe.spells and is_silent and any(isinstance(p, ToolCallPart) for p in parts):
            parts = (TextPart(""), *parts)  # a call can't spell who made it
        for part in parts:
            if not self._is_taken(request):
                return
            if isinstance(part, TextPart):
                before = self._said[request.number]
                part = TextPart(spelled(fact) + part.value) if self._spells(before) else part
                self._said[request.number] += part.value
            self._do(lambda part=part: self.troupe.say(request.number, part, fact))

    def _spells(self, before: str) -> bool:
        return self.troupe.spells and not before

    def text(self, chat: Chat, text: str) -> None:
        self.say(self.host.streaming[chat], TextPart(text))

    def finish(self, chat: Chat, text: str = "") -> None:
        request = self.host.streaming[chat]
        if text:
            self.text(chat, text)
        if self._is_taken(request):
            self._do(lambda: self.troupe.finish(request.number))
            assert request.number not in self.open, "an answer that has ended is still open"

    def fail(self, chat: Chat) -> None:
        request = self.host.streaming[chat]
        if self._is_taken(request):
            self._do(lambda: self.troupe.fail(request.number))
            assert request.number not in self.open, "an answer that has failed is still open"

    def finish_beside(self) -> None:
        for request in list(self.host.beside):
            if self._is_taken(request):
                self.say(request, TextPart("ok"))
                self._do(lambda request=request: self.troupe.finish(request.number))

    def crash(self, chat: Chat) -> None:
        """Let the agent crash that answers a chat."""
        request = self.host.streaming[chat]
        if self._is_taken(request):
            self._do(lambda: self.troupe.crash(request.number))
            assert request.number not in self.open, "the agent is gone, and its answer still open"

    def lose(self, chat: Chat) -> None:
        """Let the agent crash that answered a chat last."""
        request = self._newest[chat]
        self._do(lambda: self.troupe.crash(request))

    def hurry(self) -> None:
        """Let every agent stop that takes its time to."""
        self._do(self.troupe.hurry)
        waiting = [one for one in self._untaken if one in self.open]
        assert not waiting, f"nobody answers {waiting}"

    def _is_taken(self, request: Request) -> bool:
        return request.number in self.open and request.number not in self._untaken

    # What becomes of us.

    def expire(self, chat: Chat) -> None:
        """Let so much time pass that no chat is kept."""
        self._process.pass_time(IDLE_SECONDS)
        self._do(lambda: None)

    def restart(self) -> None:
        """Leave, as when the window is loaded anew; another process comes."""
        self._leave()
        self._start()

    def kill(self) -> None:
        """End at once, without a word."""
        self._process.cancel()
        self.open.clear()
        self._untaken.clear()
        self._start()

    def close(self) -> None:
        if self._process.is_over:
            return
        try:
            self._leave()
        finally:
            if not self._process.is_over:
                self._process.cancel()

    def _start(self) -> None:
        self.homes.clear()
        self._newest.clear()
        self._process = Stepped(self._serve)
        self._do(lambda: None)

    async def _serve(self) -> None:
        async with self.memories.opened() as memory, self.troupe.running():
            connection = connected_to(
                self.troupe.agent_for, memory=memory, leaves_within=LEAVING_SECONDS
            )
            async with connection as self._editor:
                kinds = ["thinking", "data", *(["marker"] if self.profile.marker else [])]
                await self._editor.initialize(*kinds).settled()
                await self._editor.has_ended.wait()

    def _leave(self) -> None:
        self._do(lambda: self._editor.close())
        self._process.finish()
        self._take_in()
        assert not self.open, "left unanswered"

    # What comes of it.

    def _do(self, what: Callable[[], object]) -> None:
        """Do something in our process, and take in what follows from it."""
        self._process.step(what)
        if self.troupe.reaction_seconds:
            for _ in range(4):
                self._process.pass_time(self.troupe.reaction_seconds / 4)
        self._take_in()

    def _take_in(self) -> None:
        for taken in self.troupe.taken():
            self._check(taken)
        for number, exchange in list(self.open.items()):
            parts = exchange.sent.parts[exchange.shown :]
            exchange.shown += len(parts)
            self.host.receive(exchange.request, parts)
            if exchange.sent.is_settled:
                del self.open[number]
                self._untaken.discard(number)
                self._settle(exchange)

    def _settle(self, exchange: Exchange) -> None:
        number = exchange.request.number
        shown, said = ("".join(text.split()) for text in (exchange.sent.text, self._said[number]))
        assert shown == said or not said, f"said {said!r}, shown {shown!r}"
        if not said and not exchange.sent.calls:
            self._ours.add(exchange.request.answer.fact)
        assert exchange.sent.reply is not None
        self.host.settled(exchange.request, failed="error" in exchange.sent.reply)

    def _check(self, taken: Taken) -> None:
        if taken.request not in self.open:
            return  # the user moved on
        self._untaken.discard(taken.request)
        request = self.open[taken.request].request
        chat = request.chat
        if chat is None or self.host.streaming.get(chat) is not request:
            return
        mind = self.troupe.mind(taken.request)
        self.homes[chat] = mind
        self._newest[chat] = taken.request
        if taken.is_first:
            mind.gaps |= {*chat.accepted()} - {*request.required} - {*mind.facts}
        left_out = mind.gaps | self._ours
        required = [number for number in request.required if number not in left_out]
        fault = self.knowledge.check(chat, required, mind.facts)
        if fault is not None and taken.goes_on and fault.startswith("was not told"):
            # What the user said comes after the turn that gets the results: it says nothing more.
            self._untaken.add(taken.request)
            self._do(lambda: self.troupe.finish(taken.request))
            return
        assert fault is None, f"the agent {fault}"
