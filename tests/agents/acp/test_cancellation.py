"""Cancelling an ACP agent wherever it may hang, through the whole system.

A scripted agent hangs at step k, and the request is cancelled. For every k: the request is settled
once (the fake editor sees to that). The agent is told once if it had been prompted, and never if
not. Nothing that it asks stays unanswered (it would say so). The next turn works, and no task and
no process is left. `tests/actors/test_cancellation.py` has all that no wire is needed for: edits,
editors that leave, and answers that don't come back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
import trio

from actors.response import DRAIN_SECONDS
from agents.acp.processes.process import INITIALIZE_SECONDS
from agents.acp.session_open import SESSION_SECONDS
from agents.acp.turn_machine import LATE_SECONDS
from bridge.wire import PERMISSION_TOOL
from tests.fakes.acp_agents import agent_as_child, agent_in_process
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.editor import Chat, Request, connected, tools

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]

AT_ONCE = 0.001
"""Seconds, in which an agent doesn't move unless we make it."""
CALL = {"toolCallId": "call-1", "title": "Delete everything", "kind": "delete"}
HANG: JSON = {"hang": True}

TURN: list[JSON] = [
    {"say": "One "},
    {"think": "hm"},
    {"say": "two ", "times": 3},
    {"update": {"sessionUpdate": "tool_call", **CALL}},
    {"update": {"sessionUpdate": "plan", "entries": [{"content": "It", "status": "pending"}]}},
    {"ask": CALL},
    {"ask": {**CALL, "toolCallId": "call-2"}},
    {"await": True},
    {"outcomes": True},
    {"request": "fs/read_text_file", "params": {"path": "/etc/passwd"}},
    {"await": True},
    {
        "update": {
            "sessionUpdate": "tool_call_update",
            "toolCallId": "call-1",
            "status": "completed",
        }
    },
    {"say": "three"},
]
STEPS = range(len(TURN) + 1)
PERMISSIONS = pytest.mark.parametrize("permissions", ["allow", "ask"])


def turn_that_hangs(k: int) -> list[JSON]:
    return [*TURN[:k], HANG]


async def until_stuck() -> None:
    """Let the mock clock run until nothing more happens, or the turn awaits an answer."""
    await trio.sleep(1)


def chat_of(editor: Any, permissions: str) -> Chat:
    return Chat(editor, options=tools(PERMISSION_TOOL), settings={"permissions": permissions})


async def free(chat: Chat, request: Request) -> None:
    """Cancel a request, unless it has ended in a question; the user's next words do that then."""
    if not request.is_settled:
        chat.editor.cancel(request)
        await request.settled(within=AT_ONCE)
        assert request.result == {}
    chat.keep(request)


def told(peers: PeerAgent) -> list[str]:
    """Return the last text of every prompt."""
    return [params["prompt"][-1]["text"] for params in peers.asked("session/prompt")]


@pytest.mark.limit("agents.acp.turn_machine.LATE_SECONDS")
@PERMISSIONS
@pytest.mark.parametrize("k", STEPS)
@pytest.mark.checklist(25)
async def test_a_cancel_frees_a_chat_wherever_its_agent_hangs(
    autojump_clock: MockClock, k: int, permissions: str
) -> None:
    """Points 24, 25."""
    script = {"turns": [turn_that_hangs(k)]}
    async with agent_in_process(script) as (agent, peers):
        async with connected(agent) as editor:
            chat = chat_of(editor, permissions)
            request = chat.ask("one")
            await until_stuck()
            await free(chat, request)
            shown = list(request.parts)
            answer = await chat.ask("two").settled(within=2 * LATE_SECONDS + 1)
            assert answer.text == "ok"
            assert request.parts == shown
            chat.keep(answer)
            assert (await chat.say("three")).text == "ok"
        assert len(peers.asked("session/cancel")) == 1
        assert told(peers) == ["one", "two", "three"]
        assert peers.faults == []
        assert agent.processes == 1


DEAF: dict[str, JSON] = {
    "from the beginning": {"turns": [[{"deaf": True}]]},
    "in mid-text": {"turns": [[{"say": "Well"}, {"deaf": True}]]},
    "when it stops": {
        "turns": [[{"say": "Well"}, HANG]],
        "when_cancelled": [{"say": "late"}, {"deaf": True}],
    },
    "on a question while it stops": {
        "turns": [[{"say": "Well"}, HANG]],
        "when_cancelled": [{"ask": CALL}, {"await": True}, {"deaf": True}],
    },
}


@pytest.mark.parametrize("where", DEAF)
@pytest.mark.checklist(25)
async def test_an_agent_that_never_stops_is_ended_and_the_next_turn_works(
    autojump_clock: MockClock, where: str
) -> None:
    """Point 25: bounded; then another process."""
    async with agent_in_process({"runs": [DEAF[where], {}]}) as (agent, peers):
        async with connected(agent, leaves_within=DRAIN_SECONDS + 3) as editor:
            chat = chat_of(editor, "ask")
            request = chat.ask("one")
            await until_stuck()
            await free(chat, request)
            answer = await chat.ask("two").settled(within=DRAIN_SECONDS + 3)
            assert answer.text == "ok"
            assert agent.processes == 1
            chat.keep(answer)
            assert (await chat.say("three")).text == "ok"
        assert len(peers.asked("session/cancel")) == 1
        assert len(peers.peers) == 2
        assert peers.faults == []


WEDGED: JSON = {"error": {"code": -32603, "message": "Internal error", "data": {"details": "x"}}}


@pytest.mark.parametrize("methods", [{}, {"resume": {}}], ids=["told again", "resumes"])
@pytest.mark.parametrize("load", [True, False])
@pytest.mark.checklist(24, 25)
async def test_a_stop_that_fails_costs_the_session_alone(
    autojump_clock: MockClock, methods: JSON, load: bool
) -> None:
    """Points 24 and 25: Hermes would say for ever that the next words are queued."""
    script: JSON = {
        "agent": {"agentCapabilities": {"loadSession": load, "sessionCapabilities": methods}},
        "turns": [[{"say": "Hello"}], [{"say": "Well"}, HANG]],
        "when_cancelled": [WEDGED],
        "wedges": True,
    }
    async with agent_in_process(script, spares=False) as (agent, peers):
        async with connected(agent) as editor:
            chat = chat_of(editor, "ask")
            await chat.say("zero")
            request = chat.ask("one")
            await until_stuck()
            await free(chat, request)
            answer = await chat.ask("two").settled(within=2 * LATE_SECONDS + 1)
            assert answer.text == "ok"
            chat.keep(answer)
            assert (await chat.say("three")).text == "ok"
        assert agent.processes == 1
        assert peers.asked("session/load") == peers.asked("session/resume") == []
        *_, anew, after = peers.asked("session/prompt")
        record = "".join(block["text"] for block in anew["prompt"])
        assert [record.count(one) for one in ("zero", "Hello", "one\n", "Well", "two")] == [1] * 5
        assert [block["text"] for block in after["prompt"]] == ["three"]
        assert after["sessionId"] == anew["sessionId"]
        assert peers.faults == []


@pytest.mark.checklist(24, 25)
async def test_a_stop_in_a_question_that_fails_costs_the_session_alone(
    autojump_clock: MockClock,
) -> None:
    """Points 24 and 25: the user denies it and goes on, with the same request."""
    turn: list[JSON] = [{"say": "Well"}, {"ask": CALL}, {"await": True}, HANG]
    script: JSON = {"turns": [turn], "when_cancelled": [WEDGED], "wedges": True}
    async with agent_in_process(script, spares=False) as (agent, peers):
        async with connected(agent) as editor:
            chat = chat_of(editor, "ask")
            request = await chat.ask("one").settled(within=5)
            chat.keep(request)
            answer = await chat.ask("two").settled(within=2 * LATE_SECONDS + 1)
            assert answer.text == "ok"
        *_, anew = peers.asked("session/prompt")
        record = "".join(block["text"] for block in anew["prompt"])
        assert [record.count(one) for one in ("one\n", "Well", "two")] == [1] * 3
        assert len(peers.asked("session/new")) == 2
        assert peers.faults == []


@pytest.mark.checklist(24)
async def test_a_stop_that_is_answered_with_an_abort_costs_nothing(
    autojump_clock: MockClock,
) -> None:
    """Point 24."""
    aborted = {"code": -32000, "message": "This operation was aborted"}
    script: JSON = {"turns": [[{"say": "Well"}, HANG]], "when_cancelled": [{"error": aborted}]}
    async with agent_in_process(script, spares=False) as (agent, peers):
        async with connected(agent) as editor:
            chat = chat_of(editor, "ask")
            request = chat.ask("one")
            await until_stuck()
            await free(chat, request)
            assert (await chat.say("two")).text == "ok"
        assert told(peers) == ["one", "two"]
        assert len(peers.asked("session/new")) == 1


@pytest.mark.parametrize("method", ["initialize", "session/new"])
async def test_a_cancel_while_an_agent_is_prepared_costs_it_nothing(
    autojump_clock: MockClock, method: str
) -> None:
    script = {"on": {method: [{"sleep": 30}]}}
    async with agent_in_process(script) as (agent, peers):
        async with connected(agent) as editor:
            chat = chat_of(editor, "ask")
            request = chat.ask("one")
            await until_stuck()
            await free(chat, request)
            answer = await chat.ask("two").settled(within=40)
            assert answer.text == "ok"
        assert peers.asked("session/cancel") == []
        (prompt,) = peers.asked("session/prompt")
        known = "".join(block["text"] for block in prompt["prompt"])
        assert known.count("one\n") == 1  # as a record: it was said before this session
        assert known.endswith("two")
        assert peers.faults == []


@pytest.mark.limit("agents.acp.session_open.SESSION_SECONDS")
@pytest.mark.parametrize(
    ("method", "patience"), [("initialize", INITIALIZE_SECONDS), ("session/new", SESSION_SECONDS)]
)
async def test_an_agent_that_never_gets_ready_is_ended_and_a_later_turn_works(
    autojump_clock: MockClock, method: str, patience: float
) -> None:
    async with agent_in_process({"runs": [{"on": {method: [HANG]}}, {}]}) as (agent, peers):
        async with connected(agent) as editor:
            chat = chat_of(editor, "ask")
            request = chat.ask("one")
            await until_stuck()
            await free(chat, request)
            answer = await chat.ask("two").settled(within=patience + 1)
            assert answer.text == "ok"
        assert peers.asked("session/cancel") == []
        assert len(peers.peers) == 2


@pytest.mark.parametrize("method", ["initialize", "session/new"])
async def test_leaving_while_an_agent_is_prepared_leaves_nothing(
    autojump_clock: MockClock, method: str
) -> None:
    async with agent_in_process({"on": {method: [HANG]}}) as (agent, peers):
        async with connected(agent, leaves_within=15) as editor:
            request = chat_of(editor, "ask").ask("one")
            await until_stuck()
            editor.close()
            await request.settled(within=AT_ONCE)
        assert peers.asked("session/prompt") == []


# With a real process: no clock but the machine's.

PATIENCE = 30.0


@pytest.mark.parametrize("ending", ["cancel", "leave"])
@pytest.mark.checklist(32)
@pytest.mark.parametrize("k", [0, 1, 3, 7, 10, 13])
async def test_no_process_is_left_wherever_a_child_hangs(k: int, ending: str) -> None:
    """Points 1, 25, 32: checked by the process group, when the agent's block ends."""
    async with agent_as_child({"turns": [turn_that_hangs(k)]}) as (agent, child):
        async with connected(agent, leaves_within=PATIENCE) as editor:
            chat = chat_of(editor, "allow")
            request = chat.ask("one")
            await child.hears("session/prompt")
            if ending == "cancel":
                editor.cancel(request)
                await request.settled()
                chat.keep(request)
                answer = await chat.ask("two").settled(within=PATIENCE)
                assert answer.text == "ok"
            else:
                editor.close()
                await request.settled()
        assert len(child.asked("session/cancel")) == 1
        assert child.faults == []
        assert len(child.processes) == 1


async def test_a_deaf_child_is_gone_when_the_next_turn_has_another() -> None:
    """Point 25, and 1: the group of the deaf one is killed."""
    deaf = {"turns": [[{"ignore": ["SIGTERM"]}, {"child": 1000}, {"deaf": True}]], "lingers": True}
    async with agent_as_child({"runs": [deaf, {}]}) as (agent, child):
        async with connected(agent, leaves_within=PATIENCE) as editor:
            chat = chat_of(editor, "allow")
            request = chat.ask("one")
            await child.hears("session/prompt")
            editor.cancel(request)
            await request.settled()
            answer = await chat.ask("two").settled(within=PATIENCE)
            assert answer.text == "ok"
        assert len(child.processes) == 2
