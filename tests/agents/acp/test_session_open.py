"""New sessions: whose each is, and what becomes of one that nobody gets."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

import attrs
import pytest
import trio
from msgspec.structs import replace

from agents.acp.agent import CLOSING_SECONDS
from agents.acp.login.authentication import Authentication
from agents.acp.quirks import KnownAgent
from agents.acp.session_channel import SessionChannel
from agents.acp.session_open import SESSION_SECONDS, Openings
from agents.acp.session_params import SessionParams
from agents.base import AgentError
from agents.events import Say
from agents.mcp import tool_servers as toolboxes
from agents.mcp.listener import RelayListener
from agents.mcp.offer import ToolsOwner
from agents.mcp.session_tools import Access, StdioAccess, Toolbox
from agents.mcp.tool_servers import Toolboxes
from agents.mcp.tools import ToolCatalogue
from agents.origin import ForkOf
from bridge.wire import ToolSpec
from tests.agents.acp.rpc.test_connection import Wire, connected
from tests.fakes.acp_agents import SPEC, agent_in_process

from .talk import answer_to, asking, rest_of, said, up_to

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
PROMPT = asking("x")
MIXING: JSON = {"repeats_ids": True, "otherwise": [{"memory": True}]}
"""An agent whose sessions all have one id, and which says everything that it was told there."""


@attrs.frozen
class Door:
    """A way in that notes its end."""

    end: Callable[[], None]

    def issue(self) -> Access:
        return StdioAccess("/us", (), ())

    def close(self) -> None:
        self.end()


@pytest.mark.limit("agents.acp.session_params.MOST_GIVEN")
def test_the_names_of_the_servers_of_a_process_are_bounded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("agents.acp.session_params.MOST_GIVEN", 3)
    given: dict[str, None] = {}
    for name in ("a", "b", "c", "a", "d"):
        params = SessionParams("/w", Toolbox(name, ToolCatalogue.of((), "vsc"), lambda: "1"), given)
        params.to_open()
        params.close()
    assert [*given] == ["c", "a", "d"], "the oldest is forgotten"


# Two sessions with one id.


async def test_an_agent_that_gives_two_chats_one_id_never_mixes_them() -> None:
    async with agent_in_process(MIXING) as (agent, peers):
        async with agent.session(PROMPT) as first, agent.session(PROMPT) as second:
            assert await answer_to(first, "I am Ada") == "I am Ada"
            assert await answer_to(second, "I am Bob") == "I am Bob"
            assert await answer_to(first, "who?") == "I am Ada / who?"
            assert await answer_to(second, "who?") == "I am Bob / who?"
        assert len(peers.peers) == 2
        assert peers.faults == []


async def test_chats_that_come_at_once_each_get_a_process_where_ids_are_repeated(
    autojump_clock: MockClock,
) -> None:
    answers: list[str] = []
    script = {**MIXING, "on": {"session/new": [{"sleep": 1}]}}
    async with agent_in_process(script) as (agent, peers):

        async def chat(name: str) -> None:
            async with agent.session(PROMPT) as session:
                await answer_to(session, name)
                await trio.sleep(5)
                answers.append(await answer_to(session, "?"))

        async with trio.open_nursery() as nursery:
            for number in range(5):
                nursery.start_soon(chat, f"chat {number}")
        assert sorted(answers) == [f"chat {number} / ?" for number in range(5)]
        assert peers.faults == []


async def test_what_is_said_late_of_a_chat_that_has_ended_is_not_heard_by_one_with_its_id() -> None:
    """The agent can't close sessions: it still has the first one under that id."""
    script: JSON = {**MIXING, "agent": {"agentCapabilities": {}}}
    async with agent_in_process(script) as (agent, peers):
        async with agent.session(PROMPT):  # so that the process stays
            for name in ("Ada", "Bob"):
                async with agent.session(PROMPT) as session:
                    assert await answer_to(session, name) == name
        assert peers.faults == []


async def test_an_id_can_come_again_when_its_session_is_closed(autojump_clock: MockClock) -> None:
    """Then there is nothing that could be mixed: some agents number what is open."""
    async with agent_in_process({"repeats_ids": True}, spares=False) as (agent, peers):
        for _ in range(3):
            async with agent.session(PROMPT) as session:
                assert await answer_to(session, "x") == "ok"
            await trio.sleep(1)
        assert len(peers.peers) == 1


async def test_a_fork_with_the_id_of_another_session_is_no_fork() -> None:
    script: JSON = {**MIXING, "agent": {"agentCapabilities": {"sessionCapabilities": {"fork": {}}}}}
    async with agent_in_process(script) as (agent, peers), agent.session(PROMPT) as first:
        assert await answer_to(first, "I am Ada") == "I am Ada"
        assert first.handle is not None
        async with agent.session(PROMPT, ForkOf(first.handle)) as second:
            assert not second.knows_history
            assert await answer_to(second, "who?") == "who?"
        assert len(peers.peers) == 2


# A turn that doesn't stop.


async def test_a_process_with_a_turn_that_does_not_stop_takes_no_session_and_ends_with_the_others(
    autojump_clock: MockClock,
) -> None:
    deaf: list[JSON] = [{"say": "working"}, {"deaf": True}]
    async with agent_in_process({"runs": [{"turns": [deaf]}, {}]}) as (agent, peers):
        async with trio.open_nursery() as nursery:
            stuck = agent.session(PROMPT)
            session = await stuck.__aenter__()
            turn = session.run(PROMPT)
            assert said(await up_to(turn, Say)) == "working"
            async with agent.session(PROMPT) as other:
                await session.cancel()
                nursery.start_soon(stuck.__aexit__, None, None, None)
                await trio.sleep(CLOSING_SECONDS / 2)
                async with agent.session(PROMPT) as newcomer:  # while its end is waited for
                    assert len(peers.peers) == 2
                    await trio.sleep(CLOSING_SECONDS)
                    assert await answer_to(other, "x") == "ok"
                    assert peers.running == 2
            await trio.sleep(1)
            assert peers.running == 1
            async with agent.session(PROMPT) as newcomer:
                assert await answer_to(newcomer, "x") == "ok"
        assert len(peers.peers) == 2


async def test_a_process_whose_turn_has_stopped_takes_sessions_again(
    autojump_clock: MockClock,
) -> None:
    async with agent_in_process({"turns": [[{"hang": True}]]}) as (agent, peers):
        async with agent.session(PROMPT) as first:
            turn = first.run(PROMPT)
            with trio.move_on_after(1):
                await rest_of(turn)
            await first.cancel()
            await trio.sleep(1)
            async with agent.session(PROMPT) as second:
                assert await answer_to(second, "x") == "ok"
        assert len(peers.peers) == 1


# What nobody gets is closed, with its token.


@attrs.define(eq=False)
class Desk:
    """Opens sessions over a wire, and keeps what was closed."""

    wire: Wire
    is_retired: bool = False
    closed: list[str] = attrs.field(factory=list[str])
    revoked: list[str] = attrs.field(factory=list[str])
    openings: Openings = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        connection = self.wire.connection
        authentication = Authentication(SPEC, {}, connection, (), KnownAgent(""), self.retire)
        self.openings = Openings(connection, authentication, self.retire, self.close)

    def retire(self) -> None:
        self.is_retired = True

    def close(self, channel: SessionChannel) -> None:
        self.closed.append(channel.session_id)
        self.wire.connection.subscribers.detach(channel.session_id)

    def params(self, name: str) -> SessionParams:
        """Return session parameters with a token that is revoked with them."""
        tools = Toolbox("vsc", ToolCatalogue.of((ToolSpec("t", "T."),), "vsc"), lambda: "1")
        tools.open(Door(partial(self.revoked.append, name)))
        return SessionParams("/", tools)

    async def answer(self, **answer: Any) -> None:
        """Answer the newest request."""
        (request, *_) = [one for one in await self.wire.heard() if "method" in one]
        await self.wire.say({"id": request["id"], **answer})


REFUSED: JSON = {"error": {"code": -32603, "message": "disk full"}}
OPENED: JSON = {"result": {"sessionId": "s"}}


async def test_a_spare_that_is_taken_and_then_refused_has_no_token_any_more() -> None:
    """Decision 0012: a token ends with its session, and there is none."""
    async with connected() as wire, trio.open_nursery() as nursery:
        desk = Desk(wire)
        desk.openings.open_in_advance(desk.params("spare"))
        refusals: list[str] = []

        async def take() -> None:
            try:
                await desk.openings.open(desk.params("mine"))
            except AgentError as error:
                refusals.append(error.failure.message)

        nursery.start_soon(take)
        await trio.testing.wait_all_tasks_blocked()
        await desk.answer(**REFUSED)
        assert ["disk full" in refusal for refusal in refusals] == [True]
        assert desk.revoked == ["spare", "mine"]


async def test_a_chat_that_gets_a_spare_has_no_second_token(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    open_boxes = 0

    def make(
        self: Toolboxes,
        specs: Sequence[ToolSpec],
        server: str = "",
        owner: ToolsOwner | None = None,
    ) -> Toolbox:
        nonlocal open_boxes
        open_boxes += 1
        box = Toolbox("vsc", ToolCatalogue.of(specs, "vsc"), lambda: "1")

        def close() -> None:
            nonlocal open_boxes
            open_boxes -= 1

        box.open(Door(close))
        return box

    async def prepare(self: Toolboxes) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(Toolboxes, "make", make)
    monkeypatch.setattr(Toolboxes, "prepare", prepare)
    monkeypatch.setattr(Toolboxes, "is_ready", True)
    prompt = replace(PROMPT, tools=(ToolSpec("t", "T."),))
    async with agent_in_process({"ignores_tools": True}) as (agent, _), agent.session(prompt):
        await trio.testing.wait_all_tasks_blocked()
        async with agent.session(prompt):
            assert open_boxes == 3, "of two chats, and of the next spare"


@pytest.fixture
def listeners(monkeypatch: pytest.MonkeyPatch) -> list[RelayListener]:
    """Open listeners that lead nowhere, and tell which were opened."""
    opened: list[RelayListener] = []

    @asynccontextmanager
    async def open_listener() -> AsyncGenerator[RelayListener]:
        opened.append(RelayListener("nowhere"))
        await trio.lowlevel.checkpoint()
        yield opened[-1]

    async def load(_module: str) -> None:
        await trio.lowlevel.checkpoint()

    monkeypatch.setattr(toolboxes, "open_listener", open_listener)
    monkeypatch.setattr(toolboxes, "load", load)
    return opened


IGNORES: JSON = {"ignores_tools": True}
WITH_TOOLS = replace(PROMPT, tools=(ToolSpec("t", "T."),))


async def test_a_door_that_fails_while_the_agent_starts_is_opened_again(
    autojump_clock: MockClock, listeners: list[RelayListener]
) -> None:
    async with agent_in_process({**IGNORES, "on": {"initialize": [{"sleep": 5}]}}) as (agent, _):

        async def fail() -> None:
            await trio.sleep(1)
            agent.toolboxes.close()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            async with agent.session(WITH_TOOLS) as session:
                assert await answer_to(session, "x") == "ok"
        assert len(listeners) == 2


async def test_a_door_that_fails_while_a_session_opens_costs_the_spare_alone(
    autojump_clock: MockClock, listeners: list[RelayListener]
) -> None:
    script = {**IGNORES, "on": {"session/new": [{"sleep": 5}]}}
    async with agent_in_process(script) as (agent, peers):

        async def fail() -> None:
            await trio.sleep(1)
            agent.toolboxes.close()

        async with trio.open_nursery() as nursery:
            nursery.start_soon(fail)
            async with agent.session(WITH_TOOLS) as session:
                assert await answer_to(session, "x") == "ok"
        await trio.testing.wait_all_tasks_blocked()
        assert len(peers.asked("session/new")) == len(peers.asked("session/close")) == 1


async def test_a_spare_that_fails_costs_no_session(
    listeners: list[RelayListener],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    make = Toolboxes.make

    def make_once(self: Toolboxes, specs: Sequence[ToolSpec], *_args: Any) -> Toolbox:
        monkeypatch.setattr(Toolboxes, "make", fail)
        return make(self, specs)

    def fail(self: Toolboxes, specs: Sequence[ToolSpec], owner: ToolsOwner) -> Toolbox:
        raise LookupError("spare")

    monkeypatch.setattr(Toolboxes, "make", make_once)
    async with agent_in_process(IGNORES) as (agent, peers):
        async with agent.session(WITH_TOOLS) as session:
            assert await answer_to(session, "x") == "ok"
        await trio.testing.wait_all_tasks_blocked()
        assert len(peers.asked("session/new")) == len(peers.asked("session/close")) == 1
    assert "spare session failed: LookupError" in caplog.text


async def test_a_spare_that_is_refused_before_anybody_takes_it_has_no_token_any_more() -> None:
    async with connected() as wire:
        desk = Desk(wire)
        desk.openings.open_in_advance(desk.params("spare"))
        await desk.answer(**REFUSED)
        assert desk.revoked == ["spare"]
        assert not desk.openings.has_spare


async def test_a_spare_with_the_id_of_another_session_has_no_token_and_closes_nothing() -> None:
    async with connected() as wire:
        desk = Desk(wire)
        wire.channel("s")
        desk.openings.open_in_advance(desk.params("spare"))
        await desk.answer(**OPENED)
        assert desk.revoked == ["spare"]
        assert desk.closed == []
        assert desk.is_retired
        assert wire.connection.subscribers.has("s")


@pytest.mark.parametrize("taken", [False, True])
async def test_a_session_that_opens_after_its_time_is_closed(
    autojump_clock: MockClock, taken: bool
) -> None:
    async with connected() as wire:
        desk = Desk(wire)
        mine = desk.params("mine")
        if taken:
            desk.openings.open_in_advance(mine)
        began = trio.current_time()
        with pytest.raises(AgentError):
            await desk.openings.open(desk.params("other") if taken else mine)
        assert trio.current_time() == began + SESSION_SECONDS
        assert desk.is_retired
        revoked = ["mine", "other"] if taken else ["mine"]
        assert desk.revoked == revoked
        await desk.answer(**OPENED)
        assert desk.closed == ["s"]
        assert desk.revoked == revoked
        assert not wire.connection.subscribers.has("s")


async def test_a_refusal_of_a_session_whose_chat_has_gone_is_not_kept_for_another() -> None:
    async with connected() as wire, trio.open_nursery() as nursery:
        desk = Desk(wire)
        nursery.start_soon(desk.openings.open, desk.params("mine"))
        await trio.testing.wait_all_tasks_blocked()
        nursery.cancel_scope.cancel()
        with trio.CancelScope(shield=True):
            await trio.testing.wait_all_tasks_blocked()
            assert desk.openings.has_spare
            await desk.answer(**REFUSED)
        assert not desk.openings.has_spare
        assert desk.revoked == ["mine"]
