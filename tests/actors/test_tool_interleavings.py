"""Calls of the editor's tools in any order of events: from the agent to the editor, and back.

Everything between is the real thing: the MCP server, the desk, the turn, the session and the
history. The agent calls, takes back, and ends its turns as it likes, also when nobody waits for it;
the editor brings what results it likes, in what order and how many messages it likes, cancels, and
takes back what was said. A ledger says at the end what became of each call and each result.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from typing import Any

import attrs
import pytest
import trio
from hypothesis import given, settings
from hypothesis import strategies as st
from trio.testing import (
    MockClock,
    memory_stream_one_way_pair,
    memory_stream_pair,
    wait_all_tasks_blocked,
)

from actors.plan import NO_RESULT
from agents.acp.agent import AcpAgent
from agents.acp.session import AcpSession
from agents.acp.transport.base import Link
from agents.base import Agent
from agents.events import TURN_CANCELLED, Prompt
from agents.mcp.call_broker import CLOSED, NO_TURN
from agents.mcp.session_tools import Toolbox, load_now
from agents.origin import FRESH, Origin
from bridge.jsonrpc import LineSplitter
from bridge.wire import McpServerSpec
from tests.agents.mcp.client import Client
from tests.fakes.acp_peer import PeerLink
from tests.fakes.editor import Chat, FakeEditor, Request, connected, text, tools, user

JSON = dict[str, Any]

REFUSALS = {NO_RESULT, TURN_CANCELLED, CLOSED, NO_TURN}
ELSEWHERE = "This tool belongs to another chat"
"""A call that comes late may be one of another chat's, which has a turn."""


@attrs.define(eq=False)
class Line:
    """What one process of the puppet's says."""

    _unsaid: bytearray = attrs.field(factory=bytearray, init=False)
    _news: trio.Event = attrs.field(factory=trio.Event, init=False)

    def say(self, message: JSON) -> None:
        self._unsaid += json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n"
        self._news.set()

    async def speak(self, sink: trio.abc.SendStream) -> None:
        while True:
            await self._news.wait()
            self._news = trio.Event()
            unsaid, self._unsaid = self._unsaid, bytearray()
            await sink.send_all(unsaid)


@attrs.define(eq=False)
class Puppet:
    """An ACP agent whose turns end when the test says so, or with a cancel."""

    prompts: str = ""
    """Everything that it was told."""
    _open: dict[str, tuple[Any, Line]] = attrs.field(
        factory=dict[str, "tuple[Any, Line]"], init=False
    )
    """The ids of the prompts that aren't answered, by session, and where to answer."""
    _sessions: count[int] = attrs.field(factory=count, init=False)

    @asynccontextmanager
    async def connect(self) -> AsyncGenerator[Link]:
        to_puppet, source = memory_stream_one_way_pair()
        sink, from_puppet = memory_stream_one_way_pair()
        line = Line()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._hear, source, line)
            nursery.start_soon(line.speak, sink)
            yield PeerLink(from_puppet, to_puppet)
            nursery.cancel_scope.cancel()

    def end_turns(self) -> None:
        for session, (_, line) in list(self._open.items()):
            content = {"type": "text", "text": "done"}
            update = {"sessionUpdate": "agent_message_chunk", "content": content}
            params = {"sessionId": session, "update": update}
            line.say({"method": "session/update", "params": params})
            self._stop(session, "end_turn")

    async def _hear(self, source: trio.abc.ReceiveStream, line: Line) -> None:
        splitter = LineSplitter()
        async for chunk in source:
            for heard in splitter.feed(bytes(chunk)):
                assert isinstance(heard, bytes)
                self._do(json.loads(heard), line)

    def _do(self, message: JSON, line: Line) -> None:
        match message:
            case {"method": "initialize", "id": id_}:
                line.say({"id": id_, "result": {"protocolVersion": 1}})
            case {"method": "session/new", "id": id_}:
                line.say({"id": id_, "result": {"sessionId": f"s{next(self._sessions)}"}})
            case {"method": "session/prompt", "id": id_, "params": params}:
                assert params["sessionId"] not in self._open, "two prompts at once"
                self._open[params["sessionId"]] = id_, line
                self.prompts += "".join(block["text"] for block in params["prompt"])
            case {"method": "session/cancel", "params": {"sessionId": session}}:
                if session in self._open:  # it may have ended at the same moment
                    self._stop(session, "cancelled")
            case _:
                raise AssertionError(message)

    def _stop(self, session: str, reason: str) -> None:
        id_, line = self._open.pop(session)
        line.say({"id": id_, "result": {"stopReason": reason}})


@attrs.define(eq=False)
class Hands:
    """The agent's connection to the server of one session."""

    client: Client
    box: Toolbox

    async def call(self, number: int) -> None:
        params = {"name": "tool", "arguments": {"n": number}}
        await self.client.send(self.client.message("tools/call", params, id=number))

    async def take_back(self, number: int) -> None:
        await self.client.notify("notifications/cancelled", {"requestId": number})


@attrs.define(eq=False)
class World(Agent):
    """An agent, an editor, and the ledger."""

    nursery: trio.Nursery
    puppet: Puppet = attrs.field(factory=Puppet)
    hands: list[Hands] = attrs.field(factory=list[Hands])
    answers: dict[int, list[tuple[str, bool]]] = attrs.field(
        factory=dict[int, "list[tuple[str, bool]]"]
    )
    """What each call was answered with, by its number."""
    callers: dict[int, Hands] = attrs.field(factory=dict[int, Hands])
    taken_back: set[int] = attrs.field(factory=set[int])
    brought: set[int] = attrs.field(factory=set[int])
    """Calls of which the editor has brought a result, in a history that still stands."""
    unbrought: set[int] = attrs.field(factory=set[int])
    """And those whose results went with what the user took back."""
    said: count[int] = attrs.field(factory=count)
    agent: AcpAgent = attrs.field(init=False)
    chat: Chat = attrs.field(init=False)
    request: Request | None = None

    def __attrs_post_init__(self) -> None:
        spec = McpServerSpec("puppet", "puppet")
        ids = count()
        self.agent = AcpAgent(
            spec,
            self.nursery,
            new_call_id=lambda: f"call-{next(ids)}",
            connect=self.puppet.connect,
            spares=False,
        )

    @asynccontextmanager
    async def session(self, prompt: Prompt, origin: Origin = FRESH) -> AsyncGenerator[AcpSession]:
        """Open a session of the agent's; its hands are connected. This is an `Agent`."""
        async with self.agent.session(prompt, origin) as session:
            box = session.channel.tools
            assert box is not None
            theirs, ours = memory_stream_pair()
            self.nursery.start_soon(box.serve, ours)
            client = Client(theirs)
            await client.introduce()
            self.nursery.start_soon(self._listen, client)
            self.hands.append(Hands(client, box))
            yield session

    async def _listen(self, client: Client) -> None:
        splitter = LineSplitter()
        async for chunk in client.stream:
            for line in splitter.feed(bytes(chunk)):
                assert isinstance(line, bytes)
                message: JSON = json.loads(line)
                assert "result" in message, message
                (block,) = message["result"]["content"]
                answer = block["text"], bool(message["result"].get("isError"))
                self.answers.setdefault(message["id"], []).append(answer)

    # What may happen.

    async def call(self, which: int) -> None:
        if self.hands:
            number = len(self.callers)
            self.callers[number] = self.hands[-1 - which % len(self.hands)]
            await self.callers[number].call(number)

    async def take_back_call(self, which: int) -> None:
        if self.callers:
            number = which % len(self.callers)
            if number not in self.answers:
                self.taken_back.add(number)
            await self.callers[number].take_back(number)

    def ask(self, draw: Any, *, brings: bool = True) -> None:
        """Send the next request: results of any of the calls that have none, and maybe words."""
        self._settle()
        if self.request is not None:
            return
        results: list[JSON] = []
        if brings:
            for call in draw(st.permutations(self._open_calls())):
                if draw(st.integers(0, 3)):
                    number = call["parameters"]["n"]
                    self.brought.add(number)
                    result = [text(f"<result {number}>")]
                    id_ = call["toolCallId"]
                    results.append({"type": "tool_result", "toolCallId": id_, "result": result})
        words = [user(f"word {next(self.said)}")] if not results or draw(st.booleans()) else []
        together = draw(st.booleans())
        messages = [user(*results)] if together and results else [user(one) for one in results]
        at = draw(st.integers(0, len(messages)))
        self.request = self.chat.ask(*messages[:at], *words, *messages[at:])

    def cancel(self) -> None:
        if self.request is not None and not self.request.is_settled:
            self.chat.editor.cancel(self.request)

    def take_back_words(self, draw: Any) -> None:
        """Let the user edit what was said, and ask again from there."""
        self._settle()
        places = [at for at, one in enumerate(self.chat.history) if _is_words(one)]
        if self.request is not None or not places:
            return
        at = draw(st.sampled_from(places))
        gone = json.dumps(self.chat.history[at:])
        for number in list(self.brought):
            if f"<result {number}>" in gone:
                self.unbrought.add(number)
        self.chat.take_back(len(self.chat.history) - at)
        self.ask(draw, brings=False)

    def _settle(self) -> None:
        if self.request is not None and self.request.is_settled:
            assert self.request.result == {}
            self.chat.keep(self.request)
            self.request = None

    def _open_calls(self) -> list[JSON]:
        parts = [part for one in self.chat.history for part in one["content"]]
        done = {part["toolCallId"] for part in parts if part["type"] == "tool_result"}
        calls = [part for part in parts if part["type"] == "tool_call"]
        return [call for call in calls if call["toolCallId"] not in done]

    async def come_to_an_end(self, draw: Any) -> None:
        """Let the chat go on to where nothing is open."""
        for _ in range(10):
            self.puppet.end_turns()
            await pass_time(1.0)
            if self.request is None or self.request.is_settled:
                break
        assert self.request is None or self.request.is_settled, "a turn neither ends nor goes on"
        self.ask(draw, brings=False)

    # What must be so.

    def check(self, dropped: set[str], shown: dict[int, str]) -> None:
        """Look at the ledger, when the editor and its sessions have gone."""
        for number in self.callers:
            answers = self.answers.get(number, [])
            if number in self.taken_back:
                assert len(answers) <= 1  # it may have been answered at the same moment
            else:
                assert len(answers) == 1, f"call {number} was answered {answers}"
            for words, is_error in answers:
                if is_error:
                    assert words in REFUSALS or words.startswith(ELSEWHERE), words
                else:
                    assert words == f"<result {number}>", "the result of another call"
                    assert number in self.brought
        # What was taken back as its result was on its way, the SDK doesn't answer any more.
        for number in self.brought - self.unbrought - self.taken_back:
            has_come = (f"<result {number}>", False) in self.answers.get(number, [])
            is_told = f"<result {number}>" in self.puppet.prompts
            is_dropped = shown[number] in dropped
            assert has_come or is_told or is_dropped, f"lost: result {number}"
        for hands in self.hands:
            assert hands.box.calls.out == 0
            assert hands.box.calls.due == float("inf")
            assert hands.box._callers == {}  # pyright: ignore[reportPrivateUsage]  # who waits
        boxes = self.agent.toolboxes
        assert boxes.names._taken == set()  # pyright: ignore[reportPrivateUsage]  # the same
        listener = boxes._listener  # pyright: ignore[reportPrivateUsage]  # the same
        assert listener is None or listener._passes == []  # pyright: ignore[reportPrivateUsage]  # the same


def _is_words(message: JSON) -> bool:
    return message["role"] == "user" and any(
        "word" in p.get("value", "") for p in message["content"]
    )


async def pass_time(seconds: float) -> None:
    await trio.sleep(seconds)
    await wait_all_tasks_blocked()


@contextmanager
def drops() -> Generator[set[str]]:
    """Collect the ids of the calls whose results are said to be dropped, with a reason."""
    found: set[str] = set()

    class Note(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            words = record.getMessage()
            head, mark, reason = words.partition(" result dropped: ")
            if mark:
                assert reason
                found.add(head.rpartition("call=")[2])

    logger, note = logging.getLogger("vscodelm"), Note()
    level = logger.level
    logger.addHandler(note)
    logger.setLevel(logging.INFO)
    try:
        yield found
    finally:
        logger.removeHandler(note)
        logger.setLevel(level)


def calls_shown(editor: FakeEditor) -> dict[int, str]:
    """Return the ids of the calls that the editor got; each comes to it once."""
    shown = [call for request in editor.requests for call in request.calls]
    found = {call["parameters"]["n"]: call["toolCallId"] for call in shown}
    assert len(found) == len(shown), "a call came to the editor twice"
    return found


async def at_once(
    do: Callable[..., object], *args: object, abandon_on_cancel: bool = False
) -> object:
    """Do here what else a thread does: beside one, the clock jumps at another moment each time."""
    await trio.lowlevel.checkpoint()
    return do(*args)


EVENTS = (
    ["call"] * 6 + ["take back a call"] + ["wait"] * 4 + ["ask"] * 5 + ["end"] + ["cancel", "edit"]
)


@pytest.mark.slow
@settings(parent=settings(), max_examples=max(20, settings().max_examples // 4))
@given(st.data())
def test_every_call_is_answered_once_and_no_result_is_lost(data: st.DataObject) -> None:
    load_now("server")

    async def happen(world: World, event: str) -> None:
        match event:
            case "call":
                await world.call(data.draw(st.sampled_from([0, 0, 0, 0, 1, 2])))
            case "take back a call":
                await world.take_back_call(data.draw(st.integers(0, 9)))
            case "wait":
                await pass_time(data.draw(st.sampled_from([0.01, 0.06, 0.06, 0.4])))
            case "ask":
                world.ask(data.draw)
            case "end":
                world.puppet.end_turns()
            case "cancel":
                world.cancel()
            case _:
                world.take_back_words(data.draw)
        if data.draw(st.booleans()):
            await wait_all_tasks_blocked()

    async def main() -> None:
        with trio.fail_after(3600), drops() as dropped:
            async with trio.open_nursery() as nursery:
                world = World(nursery)
                async with connected(world) as editor:
                    world.chat = Chat(editor, options=tools("tool"))
                    world.ask(data.draw)
                    await wait_all_tasks_blocked()
                    for event in data.draw(
                        st.lists(st.sampled_from(EVENTS), min_size=20, max_size=60)
                    ):
                        await happen(world, event)
                    await world.come_to_an_end(data.draw)  # what is open
                    await world.come_to_an_end(data.draw)  # what was said last, to be heard
                await wait_all_tasks_blocked()
                world.check(dropped, calls_shown(editor))
                nursery.cancel_scope.cancel()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(trio.to_thread, "run_sync", at_once)
        trio.run(main, clock=MockClock(autojump_threshold=0))
