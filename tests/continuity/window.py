"""A window: a process of ours, the host's requests to it, and what must hold for each (`live`)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import attrs

from bridge.wire import PROGRESS_TOOL, Part, TextPart, ToolCallPart
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
from .stepping import Act, Stage

IDLE_SECONDS = 3600.0
"""More than a chat that nobody uses is kept."""
LEAVING_SECONDS = 30.0


@attrs.define(eq=False)
class Exchange:
    """A request of the model's as it was sent, and what was taken of the answer."""

    request: Request
    sent: Sent
    shown: int = 0
    """How many parts the host has."""

    @property
    def shows_progress(self) -> bool:
        """Whether it ends with a call of the progress tool."""
        return any(call["toolName"] == PROGRESS_TOOL for call in self.sent.calls)


@attrs.define(eq=False)
class Shared:
    """What all windows have in common."""

    host: Host
    profile: Profile
    memories: Memories
    """What outlives our processes."""
    most_sessions: int
    knowledge: Knowledge = attrs.field(init=False)
    stage: Stage = attrs.field(factory=Stage, init=False)
    ours: set[int] = attrs.field(factory=set[int], init=False)
    """Answers in which the agent said nothing: what the host has of them, we said."""

    def __attrs_post_init__(self) -> None:
        self.knowledge = Knowledge(self.host.facts, by_words=not self.profile.names_chats)


@attrs.define(eq=False)
class Window:
    """A window of the editor, and the process of ours that it talks to."""

    shared: Shared
    troupe: Troupe
    homes: dict[Chat, Mind] = attrs.field(factory=dict["Chat", "Mind"], init=False)
    """Who answered each chat last."""
    open: dict[int, Exchange] = attrs.field(factory=dict["int", "Exchange"], init=False)
    prompts: int = attrs.field(default=0, init=False)
    """How often an agent was prompted."""
    _newest: dict[Chat, int] = attrs.field(factory=dict["Chat", "int"], init=False)
    """The request of each chat that was taken last."""
    _untaken: set[int] = attrs.field(factory=set[int], init=False)
    """Requests that no session has taken yet."""
    _takes: Counter[int] = attrs.field(factory=Counter[int], init=False)
    """How often each request was taken."""
    _current: dict[int, int] = attrs.field(factory=dict[int, int], init=False)
    """The newest of the requests that are the same, by the first."""
    _said: dict[int, str] = attrs.field(factory=dict[int, str], init=False)
    _editor: FakeEditor = attrs.field(init=False)
    _process: Act = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._start()

    # What the host does (`tests.host.model.Provider`).

    def ask(self, request: Request) -> None:
        self.shared.knowledge.note(request)
        others = [one for one in self.open.values() if one.request.chat is not request.chat]
        self._current[request.first] = request.number
        if request.repeats is None:
            self._said[request.number] = ""
            self._untaken.add(request.number)
        self._do(lambda: self._send(request))
        if self.shared.profile.names_chats:
            ended = [one for one in others if one.sent.is_settled and not one.shows_progress]
            assert not ended, f"{request.number} ended {ended}"
        if request.number not in self.open:
            return
        if not self.troupe.is_stopping():
            assert request.first not in self._untaken, "nobody answers"

    def cancel(self, request: Request) -> None:
        if request.number in self.open:
            sent = self.open[request.number].sent
            self._do(lambda: self._editor.cancel(sent))
            assert request.number not in self.open, "a cancelled request is still open"

    def cancel_all(self) -> None:
        """Cancel whatever is open."""
        for exchange in list(self.open.values()):
            self.cancel(exchange.request)

    def _send(self, request: Request) -> None:
        options = request.params["options"]
        private = {**options["modelOptions"], REQUEST: request.first}
        messages = [spelled_out(one) for one in request.messages]
        sent = self._editor.chat(
            messages if self.troupe.spells else request.messages,
            agent={"mcp_server": {"name": request.model, "command": "agent"}},
            options={**options, "modelOptions": private},
            model=request.model,
            settings={
                "maxSessions": self.shared.most_sessions,
                "tools": {"exclude": [] if self.troupe.calls_tools else ["*"]},
            },
        )
        self.open[request.number] = Exchange(request, sent)

    # What an agent does.

    def say(self, request: Request, *parts: Part) -> None:
        fact = request.answer.fact
        is_silent = not self._said[request.first]
        if self.troupe.spells and is_silent and any(isinstance(p, ToolCallPart) for p in parts):
            parts = (TextPart(""), *parts)  # a call can't spell who made it
        for part in parts:
            if not self._is_taken(request):
                return
            if isinstance(part, TextPart):
                before = self._said[request.first]
                part = TextPart(spelled(fact) + part.value) if self._spells(before) else part
                self._said[request.first] += part.value
            self._do(lambda part=part: self.troupe.say(request.first, part, fact))

    def _spells(self, before: str) -> bool:
        return self.troupe.spells and not before

    def text(self, chat: Chat, text: str) -> None:
        self.say(self.shared.host.streaming[chat], TextPart(text))

    def finish(self, chat: Chat, text: str = "") -> None:
        request = self.shared.host.streaming[chat]
        if text:
            self.text(chat, text)
        if self._is_taken(request):
            before = self._takes[request.first]
            self._do(lambda: self.troupe.finish(request.first))
            goes_on = self._takes[request.first] > before  # after a call of no tool
            assert goes_on or request.number not in self.open, "an answer that ended is open"

    def fail(self, chat: Chat) -> None:
        request = self.shared.host.streaming[chat]
        if self._is_taken(request):
            self._do(lambda: self.troupe.fail(request.first))
            assert request.number not in self.open, "an answer that has failed is still open"

    def finish_beside(self, request: Request) -> None:
        """Answer what is no part of a chat."""
        if self._is_taken(request):
            self.say(request, TextPart("ok"))
            self._do(lambda: self.troupe.finish(request.first))

    def finish_unheard(self, request: Request) -> None:
        """End an answer that nobody reads."""
        if self._is_taken(request):
            self.say(request, TextPart("too late"))
        if self._is_taken(request):
            self._do(lambda: self.troupe.finish(request.first))

    def crash(self, chat: Chat) -> None:
        """Let the agent crash that answers a chat."""
        request = self.shared.host.streaming[chat]
        if self._is_taken(request):
            self._do(lambda: self.troupe.crash(request.first))
            assert request.number not in self.open, "the agent is gone, and its answer still open"

    def lose(self, chat: Chat) -> None:
        """Let the agent crash that answered a chat last."""
        request = self._newest[chat]
        self._do(lambda: self.troupe.crash(request))

    def hurry(self) -> None:
        """Let every agent stop that takes its time to."""
        self._do(self.troupe.hurry)
        waiting = [one for one in self._untaken if self._current[one] in self.open]
        assert not waiting, f"nobody answers {waiting}"

    def _is_taken(self, request: Request) -> bool:
        return request.number in self.open and request.first not in self._untaken

    # What becomes of us.

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
        self._process = self.shared.stage.begin(self._serve)
        self._do(lambda: None)

    async def _serve(self) -> None:
        opened = self.shared.memories.opened()
        async with opened as memory, self.troupe.running(memory.points):
            connection = connected_to(
                self.troupe.agent_for, memory=memory.sessions, leaves_within=LEAVING_SECONDS
            )
            async with connection as self._editor:
                kinds = ["thinking", "data", *(["marker"] if self.shared.profile.marker else [])]
                await self._editor.initialize(*kinds).settled()
                await self._editor.has_ended.wait()

    def _leave(self) -> None:
        self._do(lambda: self._editor.close())
        self._process.finish()
        self.take_in()
        assert not self.open, "left unanswered"

    # What comes of it.

    def _do(self, what: Callable[[], object]) -> None:
        """Do something in our process, and take in what follows from it."""
        self.shared.stage.stepped.step(what)
        if self.troupe.reaction_seconds:
            for _ in range(4):
                self.shared.stage.stepped.pass_time(self.troupe.reaction_seconds / 4)
        self.take_in()

    def take_in(self) -> None:
        """Take in what has happened."""
        for taken in self.troupe.taken():
            self._check(taken)
        for number, exchange in list(self.open.items()):
            parts = exchange.sent.parts[exchange.shown :]
            exchange.shown += len(parts)
            self.shared.host.receive(exchange.request, parts)
            if exchange.sent.is_settled:
                del self.open[number]
                if self._current[exchange.request.first] == number:
                    self._untaken.discard(exchange.request.first)
                self._settle(exchange)

    def _settle(self, exchange: Exchange) -> None:
        number = exchange.request.first
        is_current = self._current[number] == exchange.request.number
        shown, said = ("".join(text.split()) for text in (exchange.sent.text, self._said[number]))
        is_refused = exchange.request.repeats is not None and "error" in (exchange.sent.reply or {})
        assert shown == said or not said or is_refused, f"said {said!r}, shown {shown!r}"
        is_beside = exchange.request.chat is None
        assert not (is_beside and exchange.shows_progress), "the host asks for one response"
        calls = [one for one in exchange.sent.calls if one["toolName"] != PROGRESS_TOOL]
        if is_current and not said and not calls:
            self.shared.ours.add(exchange.request.answer.fact)
        assert exchange.sent.reply is not None
        self.shared.host.settled(exchange.request, failed="error" in exchange.sent.reply)

    def _check(self, taken: Taken) -> None:
        number = self._current[taken.request]
        if number not in self.open:
            return  # the user moved on
        self._untaken.discard(taken.request)
        self.prompts += not taken.goes_on
        self._takes[taken.request] += 1
        request = self.open[number].request
        chat = request.chat
        if chat is None or self.shared.host.streaming.get(chat) is not request:
            return
        mind = self.troupe.mind(taken.request)
        self.homes[chat] = mind
        self._newest[chat] = taken.request
        if taken.is_first:
            mind.gaps |= {*chat.accepted()} - {*request.required} - {*mind.facts}
        left_out = mind.gaps | self.shared.ours
        required = [number for number in request.required if number not in left_out]
        fault = self.shared.knowledge.check(chat, required, mind.facts)
        if fault is not None and taken.goes_on and fault.startswith("was not told"):
            # What the user said comes after the turn that gets the results: it says nothing more.
            self._untaken.add(taken.request)
            self._do(lambda: self.troupe.finish(taken.request))
            return
        assert fault is None, f"the agent {fault}"
