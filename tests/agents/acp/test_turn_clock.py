"""The clock of a turn: with a real session it decides by the times that it is given.

No test here runs in trio, so whatever reads its clock fails.
"""

from __future__ import annotations

import attrs
import pytest
from trio.testing import MemoryReceiveStream, MemorySendStream

from agents.acp.connected_agent import ConnectedAgent
from agents.acp.learned import AgentFacts
from agents.acp.options import Choices
from agents.acp.prompt.budget import ContextWindow
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.rpc.connection import Connection
from agents.acp.schema.content import ToolCallUpdate
from agents.acp.schema.initialize import InitializeResponse
from agents.acp.schema.methods import PermissionOption, RequestPermissionRequest
from agents.acp.session import IGNORED, AcpSession
from agents.acp.session_channel import SessionChannel
from agents.acp.turn_machine import TurnMachine
from agents.acp.turn_states import (
    TRANSITIONS,
    TURN_EVENTS,
    Cancelling,
    LateTimeOver,
    PromptSent,
    Returned,
    TurnEvent,
    TurnState,
)
from agents.events import (
    AskPermission,
    Await,
    Decision,
    PermissionAnswer,
    Say,
    Stop,
    ToolAnswer,
)
from agents.habits import Habits
from agents.mcp.session_tools import IGNORED_SECONDS, Access, HttpAccess, Toolbox
from agents.mcp.tools import ToolCatalogue
from agents.workspace import Workspace
from bridge.wire import McpServerSpec, ToolSpec

from .test_turn_machine import BLOCKS, DONE, EVENTS, READ, bring


@attrs.define
class Host:
    """The process of an agent that never starts."""

    spec: McpServerSpec = attrs.field(factory=lambda: McpServerSpec("Agent", "agent"))
    edits_by_editor: bool = False
    workspace: Workspace = attrs.field(factory=Workspace)
    pid: int | None = None
    is_ending: bool = False
    is_usable: bool = True
    has_spares: bool = False

    def retire(self) -> None:
        self.is_usable = False


class Url:
    """A way in that nobody takes."""

    def issue(self) -> Access:
        return HttpAccess("http://127.0.0.1/", "Bearer token")

    def close(self) -> None:
        pass


@attrs.define
class Turn:
    """The machine of a turn, and the session that it decides about."""

    channel: SessionChannel
    tools: Toolbox
    machine: TurnMachine


@pytest.fixture
def turn() -> Turn:
    connection = Connection("Agent", MemoryReceiveStream(), MemorySendStream())
    about, facts, window = InitializeResponse(1), AgentFacts(), ContextWindow()
    peer = ConnectedAgent(Host(), connection, about, facts, window)
    tools = Toolbox("vsc", ToolCatalogue.of((ToolSpec("read_file"),), "vsc"), lambda: "call-1")
    tools.open(Url())
    channel = SessionChannel(connection, "s1", Choices(), tools=tools)
    habits = Habits()
    session = AcpSession(peer, channel, root="/", new_call_id=lambda: "ask-1", habits=habits)
    renderer = Renderer(SessionView(), root="/", offer=tools)
    return Turn(channel, tools, TurnMachine(channel, session, renderer, "ask", habits, "Agent"))


@pytest.mark.parametrize("event", TURN_EVENTS)
@pytest.mark.parametrize("state", TurnState)
def test_no_step_reads_the_clock(turn: Turn, state: TurnState, event: type[TurnEvent]) -> None:
    bring(turn.machine, state)
    turn.machine.apply(EVENTS[event], 1)
    assert turn.machine.state is TRANSITIONS[state][event].then


def test_questions_and_calls_are_gathered_by_given_times(turn: Turn) -> None:
    machine, channel = turn.machine, turn.channel
    machine.apply(PromptSent(BLOCKS), 1000)
    option = PermissionOption("yes", "Yes", "allow_once")
    request = RequestPermissionRequest("s1", ToolCallUpdate("c1", title="Delete"), (option,))
    channel.be_asked(7, request, 0)
    assert [type(one) for one in machine.hear(1001)] == [AskPermission]
    turn.tools.calls.arrive("key", READ, 1001)
    due = machine.deadline(1001)
    assert 1001 < due < 1002
    assert machine.elapsed(due) == (READ, Await())
    machine.answer(PermissionAnswer("ask-1", Decision.ALLOWED))
    machine.answer(ToolAnswer("another", "late"))
    assert not channel.is_open(7)


def test_a_turn_is_cancelled_at_the_given_time(turn: Turn) -> None:
    turn.machine.apply(PromptSent(BLOCKS), 1000)
    turn.machine.apply(Cancelling(), 1003)
    assert turn.channel.cancelled_at == 1003


@pytest.mark.parametrize(("seconds", "is_told"), [(0, True), (-1, False)])
def test_an_agent_ignores_its_tools_by_the_given_time(
    turn: Turn, seconds: float, is_told: bool
) -> None:
    end = 1000 + IGNORED_SECONDS + seconds
    turn.machine.apply(PromptSent(BLOCKS), 1000)
    turn.machine.apply(Returned(DONE), end)
    shown = turn.machine.apply(LateTimeOver(), end)
    words = (Say(f"\n\n{IGNORED}\n\n", by_us=True),) if is_told else ()
    assert shown == (*words, Stop())
