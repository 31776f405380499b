"""An agent definition: its processes, its sessions, its logins."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import pytest
import trio
from msgspec.structs import replace
from trio.testing import wait_all_tasks_blocked

from agents.acp.agent import IDLE_SECONDS, AcpAgent
from agents.acp.processes.process import INITIALIZE_SECONDS
from agents.acp.session_open import FRESH_SECONDS
from agents.base import AgentError
from agents.events import AskPermission, Decision, PermissionAnswer, Prompt, Say
from bridge.errors import Failure
from bridge.wire import ChatMessage, McpServerSpec, Role, Settings, TextPart
from tests.fakes.acp_agents import agent_as_child, agent_in_process
from tests.fakes.groups import group_members
from tests.fakes.waiting import until

from .talk import answer_to, asking, call, questions, rest_of, said, up_to

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
CLAUDE = "@agentclientprotocol/claude-agent-acp"
PROMPT = asking("x")
HANG: list[JSON] = [{"hang": True}]


async def failure_of(agent: AcpAgent) -> Failure:
    """Open a session, which must fail."""
    with pytest.raises(AgentError) as caught:
        async with agent.session(PROMPT):
            pass
    return caught.value.failure


async def use(agent: AcpAgent) -> None:
    """Open a session, run a turn, close it."""
    async with agent.session(PROMPT) as session:
        assert await answer_to(session, "x") == "ok"


# Starting.


async def test_nothing_is_started_before_it_is_needed() -> None:
    async with agent_in_process({}) as (agent, peers):
        await wait_all_tasks_blocked()
        assert peers.peers == []
        assert agent.processes == 0


async def test_sessions_that_come_at_once_start_one_process(autojump_clock: MockClock) -> None:
    """And it is introduced once."""
    script = {"on": {"initialize": [{"sleep": 5}]}}
    async with agent_in_process(script) as (agent, peers):
        async with trio.open_nursery() as nursery:
            for _ in range(10):
                nursery.start_soon(use, agent)
        assert len(peers.peers) == 1
        assert len(peers.asked("initialize")) == 1
        assert peers.faults == []


@pytest.mark.checklist(14, 16)
async def test_we_say_version_1_and_offer_nothing_that_we_don_t_serve() -> None:
    """Points 11, 14, 16: neither files nor terminals, but a login in a terminal of the user's."""
    async with agent_in_process({}) as (agent, peers):
        await use(agent)
        (introduction,) = peers.asked("initialize")
        assert introduction["protocolVersion"] == 1
        assert introduction["clientCapabilities"] == {
            "session": {"configOptions": {"boolean": {}}, "notices": {}, "compaction": {}},
            "auth": {"terminal": True},
            "_meta": {"terminal-auth": True},
        }
        assert introduction["clientInfo"]["name"] == "vscodelm"
        (opened, *_) = peers.asked("session/new")
        assert opened["cwd"].startswith("/")
        assert opened["mcpServers"] == []


@pytest.mark.checklist(14)
async def test_an_agent_that_says_little_of_itself_is_fine() -> None:
    """Point 14: agentInfo, agentCapabilities and authMethods are optional, and may be null."""
    nothing: JSON = {"agentInfo": None, "agentCapabilities": None, "authMethods": None}
    for about in ({}, nothing):
        steps = [{"result": {"protocolVersion": 1, **about}}]
        async with agent_in_process({"on": {"initialize": steps}}) as (agent, peers):
            await use(agent)
            assert peers.faults == []


@pytest.mark.parametrize(
    "answer",
    [
        {"result": {"protocolVersion": 2}},
        {"result": {"protocolVersion": 0}},
        {
            "error": {
                "code": -32022,
                "message": "Unsupported protocol version",
                "data": {"requested": 1, "supported": [2]},
            }
        },
    ],
)
@pytest.mark.checklist(14)
async def test_another_version_is_a_clear_error(answer: JSON) -> None:
    """Point 14."""
    async with agent_in_process({"on": {"initialize": [answer]}}) as (agent, peers):
        failure = await failure_of(agent)
        assert failure.kind == "AgentFailed"
        assert "version 1" in failure.message
        with trio.fail_after(5):
            while agent.processes:
                await wait_all_tasks_blocked()
        assert peers.running == 0


@pytest.mark.checklist(5)
async def test_a_launcher_may_take_a_minute(autojump_clock: MockClock) -> None:
    """Point 5: at least 60 s for initialize, because npx and uvx download."""
    async with agent_in_process({"on": {"initialize": [{"sleep": 90}]}}) as (agent, _):
        await use(agent)


@pytest.mark.limit("agents.acp.processes.process.INITIALIZE_SECONDS")
@pytest.mark.checklist(5)
async def test_an_agent_that_never_introduces_itself_is_given_up(
    autojump_clock: MockClock,
) -> None:
    """Point 5; with what it wrote to stderr, which may be why."""
    script = {"start": [{"stderr": "waiting for a key\n"}], "on": {"initialize": HANG}}
    async with agent_in_process(script) as (agent, _):
        began = trio.current_time()
        failure = await failure_of(agent)
        assert trio.current_time() == began + INITIALIZE_SECONDS
        assert failure.kind == "Unavailable"
        assert failure.stderr_tail == "waiting for a key\n"


@pytest.mark.checklist(5)
async def test_a_turn_may_take_for_ever(autojump_clock: MockClock) -> None:
    """Point 5: no time limit on session/prompt."""
    script = {"turns": [[{"sleep": 86_400}, {"say": "done"}]]}
    async with agent_in_process(script) as (agent, _), agent.session(PROMPT) as session:
        with trio.fail_after(100_000):
            events = [event async for batch in session.run(PROMPT) for event in batch]
        assert said(events) == "done"


# Ending badly.


@pytest.mark.checklist(3, 4)
async def test_an_agent_that_ends_before_it_is_ready_says_why() -> None:
    """Point 4: told apart from a command that isn't there, with status and stderr."""
    start = [{"stderr": "npm ERR! 404\n"}, {"exit": 3}]
    async with agent_in_process({"runs": [{"start": start}, {}]}) as (agent, peers):
        failure = await failure_of(agent)
        assert "before it was ready" in failure.message
        assert "status 3" in failure.message
        assert failure.stderr_tail is not None
        assert "npm ERR! 404" in failure.stderr_tail
        await use(agent)
        assert len(peers.peers) == 2


UNMAINTAINED = "old-agent is no longer maintained.\nUse `new-agent acp` instead.\n"


@pytest.mark.limit("agents.acp.rpc.connection.NOISE_LINES")
@pytest.mark.checklist(4)
async def test_an_agent_that_ends_before_it_is_ready_may_say_why_on_stdout() -> None:
    """Point 4: kimi-cli 1.52 does, and ends with status 0. Only its last lines are shown."""
    noise = "".join(f"loading part {number}\n" for number in range(50))
    start = [{"garbage": noise + UNMAINTAINED}, {"exit": 0}]
    async with agent_in_process({"start": start}) as (agent, _):
        failure = await failure_of(agent)
        assert failure.message == (
            'fake ended before it was ready (status 0). It said: "loading part 47 loading part 48 '
            'loading part 49 old-agent is no longer maintained. Use `new-agent acp` instead.".'
        )


async def test_what_an_agent_wrote_on_stdout_long_ago_is_not_why_it_ended(
    autojump_clock: MockClock,
) -> None:
    script = {"start": [{"garbage": UNMAINTAINED}], "turns": [[{"exit": 0}]]}
    async with agent_in_process(script) as (agent, _), agent.session(PROMPT) as session:
        with pytest.raises(AgentError, match=r"fake ended \(status 0\)") as caught:
            await rest_of(session.run(PROMPT))
        assert "maintained" not in caught.value.failure.message


async def test_a_start_that_fails_fails_everybody_who_waits_for_it(
    autojump_clock: MockClock,
) -> None:
    script = {"runs": [{"on": {"initialize": [{"sleep": 1}, {"exit": 3}]}}, {}]}
    async with agent_in_process(script) as (agent, peers):
        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(failure_of, agent)
        await use(agent)
        assert len(peers.peers) == 2


@pytest.mark.parametrize("ends", [{"exit": 3}, {"exit": 0}, {"kill": 9}, {"close_stdout": True}])
@pytest.mark.checklist(4)
async def test_a_crash_fails_every_session_and_the_next_one_starts_anew(
    autojump_clock: MockClock, ends: JSON
) -> None:
    """Point 4: in mid-turn and between turns, with status and stderr."""
    crash: list[JSON] = [{"say": "a"}, {"sleep": 1}, {"stderr": "Segfault\n"}, ends, *HANG]
    async with agent_in_process({"runs": [{"turns": [[], crash]}, {}]}) as (agent, peers):
        async with agent.session(PROMPT) as idle, agent.session(PROMPT) as session:
            await rest_of(idle.run(PROMPT))
            turn = session.run(PROMPT)
            assert said(await up_to(turn, Say)) == "a"
            for run in (lambda: turn, lambda: session.run(PROMPT), lambda: idle.run(PROMPT)):
                with pytest.raises(AgentError) as caught:
                    await rest_of(run())
                failure = caught.value.failure
                assert failure.kind == "AgentFailed"
                assert failure.stderr_tail is not None
                assert "Segfault" in failure.stderr_tail
            await session.cancel()
            await use(agent)
        assert len(peers.peers) == 2


@pytest.mark.checklist(4)
async def test_a_crash_while_permission_is_asked_ends_the_wait(autojump_clock: MockClock) -> None:
    """Point 4: permission waits are cancelled."""
    crash: list[JSON] = [{"ask": call()}, {"sleep": 1}, {"exit": 1}]
    script = {"turns": [crash]}
    async with agent_in_process(script) as (agent, _), agent.session(PROMPT) as session:
        turn = session.run(PROMPT)
        (question,) = questions(await up_to(turn, AskPermission))
        with pytest.raises(AgentError):
            await rest_of(turn)
        session.answer(PermissionAnswer(question.call_id, Decision.ALLOWED))


async def test_a_crash_while_a_session_opens_is_told(autojump_clock: MockClock) -> None:
    """Point 4."""
    script = {"runs": [{"on": {"session/new": [{"sleep": 1}, {"exit": 9}]}}, {}]}
    async with agent_in_process(script) as (agent, peers):
        assert "status 9" in (await failure_of(agent)).message
        await use(agent)
        assert len(peers.peers) == 2


async def test_a_session_that_can_t_be_opened_is_told_and_the_process_stays() -> None:
    error = {"error": {"code": -32603, "message": "Internal error", "data": "disk full"}}
    async with agent_in_process({"on": {"session/new": [[error]]}}) as (agent, peers):
        assert "disk full" in (await failure_of(agent)).message
        await use(agent)
        assert len(peers.peers) == 1


# Ending well.


@pytest.mark.limit("agents.acp.agent.IDLE_SECONDS")
async def test_a_process_that_nobody_uses_ends(autojump_clock: MockClock) -> None:
    """Lazy both ways; the next session starts another."""
    async with agent_in_process({}) as (agent, peers):
        async with agent.session(PROMPT) as session:
            await trio.sleep(10 * IDLE_SECONDS)
            assert agent.processes == 1
            assert await answer_to(session, "x") == "ok"
        await trio.sleep(IDLE_SECONDS / 2)
        async with agent.session(PROMPT):
            await trio.sleep(10 * IDLE_SECONDS)
            assert agent.processes == 1
        assert len(peers.peers) == 1
        await trio.sleep(IDLE_SECONDS - 1)
        assert agent.processes == 1
        await trio.sleep(2)
        assert agent.processes == 0
        await use(agent)
        assert len(peers.peers) == 2


async def test_a_session_is_closed_where_the_agent_can() -> None:
    async with agent_in_process({}, spares=False) as (agent, peers):
        await use(agent)
        await wait_all_tasks_blocked()
        (opened,) = peers.asked("session/close")
        assert opened["sessionId"] == peers.asked("session/prompt")[0]["sessionId"]
    script: JSON = {"agent": {"agentCapabilities": {}}}
    async with agent_in_process(script) as (agent, peers):
        await use(agent)
        await wait_all_tasks_blocked()
        assert peers.asked("session/close") == []


@pytest.mark.limit("agents.acp.connected_agent.MOST_CLOSING")
@pytest.mark.parametrize(("closed", "kept"), [(3, 3), (4, 3)])
async def test_an_agent_that_never_says_that_it_closed_a_session_costs_no_memory(
    monkeypatch: pytest.MonkeyPatch, closed: int, kept: int
) -> None:
    monkeypatch.setattr("agents.acp.connected_agent.MOST_CLOSING", 3)
    silent = {"on": {"session/close": [{"deaf": True}]}}
    async with agent_in_process(silent, spares=False) as (agent, peers):
        async with agent.session(PROMPT) as open_session:
            for _ in range(closed):
                async with agent.session(PROMPT):
                    pass
            await wait_all_tasks_blocked()
            assert open_session.peer.connection.unanswered == kept
        assert peers.asked("$/cancel_request") == []


async def test_an_agent_that_asks_and_does_not_read_fails_its_chats_and_says_why(
    autojump_clock: MockClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("agents.acp.rpc.connection.MOST_UNSENT_BYTES", 0)
    asks: list[JSON] = [{"request": "fs/read_text_file", "params": {}}, {"hang": True}]
    async with agent_in_process({"turns": [asks]}) as (agent, peers):
        async with agent.session(PROMPT) as session:
            with pytest.raises(AgentError, match="doesn't read the answers"):
                await rest_of(session.run(PROMPT))
        await trio.sleep(1)
        assert peers.running == 0


# Sessions opened in advance.


async def test_the_second_session_is_there_at_once(autojump_clock: MockClock) -> None:
    """Starting slowly is the users' first complaint."""
    async with agent_in_process({"on": {"session/new": [{"sleep": 5}]}}) as (agent, peers):
        await use(agent)
        await trio.sleep(10)
        began = trio.current_time()
        async with agent.session(PROMPT):
            assert trio.current_time() == began
        await trio.sleep(10)
        assert len(peers.asked("session/new")) == 3
        assert peers.faults == []


async def test_a_session_on_its_way_is_waited_for(autojump_clock: MockClock) -> None:
    script: JSON = {"on": {"session/new": [[], [{"sleep": 5}], [{"deaf": True}]]}}
    async with agent_in_process(script) as (agent, _):
        await use(agent)
        began = trio.current_time()
        await use(agent)
        assert trio.current_time() < began + 6


@pytest.mark.limit("agents.acp.session_open.FRESH_SECONDS")
async def test_a_session_that_grew_old_unused_is_closed(autojump_clock: MockClock) -> None:
    async with agent_in_process({}) as (agent, peers):
        async with agent.session(PROMPT):
            await trio.sleep(FRESH_SECONDS + 1)
            async with agent.session(PROMPT):
                await wait_all_tasks_blocked()
                assert len(peers.asked("session/close")) == 1
                assert len(peers.asked("session/new")) == 4
        assert peers.faults == []


async def test_a_session_that_was_given_up_serves_the_next(autojump_clock: MockClock) -> None:
    async with agent_in_process({"on": {"session/new": [{"sleep": 5}]}}) as (agent, peers):
        with trio.move_on_after(1):
            async with agent.session(PROMPT):
                pass
        await use(agent)
        await trio.sleep(10)
        assert len(peers.asked("session/new")) == 2
        assert peers.faults == []


@pytest.mark.parametrize(
    "about",
    [
        {"agentCapabilities": {}},
        {"agentInfo": {"name": "OpenCode", "version": "1"}},
    ],
    ids=["can't close", "one session each"],
)
async def test_no_session_is_opened_in_advance_where_it_costs(about: JSON) -> None:
    async with agent_in_process({"agent": about}) as (agent, peers):
        await use(agent)
        await wait_all_tasks_blocked()
        assert len(peers.asked("session/new")) == 1


async def test_an_agent_whose_sessions_disturb_each_other_has_a_process_for_each(
    autojump_clock: MockClock,
) -> None:
    """`known.sessions_share_tools`; also before that is known."""
    about = {"agentInfo": {"name": "OpenCode", "version": "1"}, "agentCapabilities": {}}
    async with agent_in_process({"agent": about}) as (agent, peers):
        async with AsyncExitStack() as stack:
            async with trio.open_nursery() as nursery:
                for _ in range(3):
                    session = agent.session(PROMPT)
                    nursery.start_soon(stack.enter_async_context, session)
            await stack.enter_async_context(agent.session(PROMPT))
            assert agent.processes == 4
        assert [len(peer.memory) for peer in peers.peers] == [1, 1, 1, 1]
        await trio.sleep(1)
        assert agent.processes == 0, "they can't be used again"


@pytest.mark.parametrize(
    ("about", "has_one"),
    [
        ({"agentInfo": {"name": "OpenCode", "version": "1"}}, True),
        ({"agentInfo": {"name": CLAUDE, "version": "1"}}, True),
        ({"agentInfo": {"name": CLAUDE, "version": "1"}, "agentCapabilities": {}}, False),
        ({}, False),
    ],
    ids=["OpenCode", "Claude", "Claude that closes no session", "another"],
)
async def test_who_starts_a_process_for_a_session_frees_it_with_that(
    about: JSON, has_one: bool
) -> None:
    async with agent_in_process({"agent": about}) as (agent, _), agent.session(PROMPT) as session:
        assert session.has_own_process is has_one


async def test_a_process_for_one_session_serves_the_next_when_that_is_closed() -> None:
    about = {"agentInfo": {"name": "OpenCode", "version": "1"}}
    async with agent_in_process({"agent": about}) as (agent, peers):
        for _ in range(3):
            await use(agent)
        assert len(peers.peers) == 1


async def test_one_process_at_most_is_kept_without_a_session(autojump_clock: MockClock) -> None:
    """Whichever was used last; the others end, and the next session starts none."""
    about = {"agentInfo": {"name": "OpenCode", "version": "1"}}
    async with agent_in_process({"agent": about}) as (agent, peers):
        async with AsyncExitStack() as stack:
            for _ in range(4):
                await stack.enter_async_context(agent.session(PROMPT))
            assert agent.processes == 4
        await trio.sleep(1)
        assert agent.processes == 1
        await use(agent)
        assert len(peers.peers) == 4
        async with agent.session(PROMPT):
            await use(agent)
            await trio.sleep(1)
            assert agent.processes == 2, "one that is used, and a spare"


async def test_a_session_that_is_cancelled_in_mid_turn_is_left_in_order(
    autojump_clock: MockClock,
) -> None:
    """The agent is told, has let go of the turn and has closed the session; its process stays."""
    async with agent_in_process({"turns": [HANG]}, spares=False) as (agent, peers):
        with trio.move_on_after(1):
            async with agent.session(PROMPT) as session:
                await rest_of(session.run(PROMPT))
        await wait_all_tasks_blocked()
        told = [message["method"] for message in peers.heard]
        assert told[-3:] == ["session/prompt", "session/cancel", "session/close"]
        await use(agent)
        assert len(peers.peers) == 1
        assert peers.faults == []


# Logging in.

METHOD = {"id": "browser", "name": "Log in"}
NEEDED: JSON = {"login_needed": ["session/new"], "agent": {"authMethods": [METHOD]}}


@pytest.mark.checklist(15)
async def test_nobody_is_logged_in_who_isn_t_asked_to() -> None:
    """Point 15: no eager authenticate, it may open a browser."""
    async with agent_in_process({"agent": {"authMethods": [METHOD]}}) as (agent, peers):
        await use(agent)
        assert peers.asked("authenticate") == []


@pytest.mark.parametrize("method", ["session/new", "session/prompt"])
@pytest.mark.checklist(15)
async def test_a_login_that_is_asked_for_is_done_once_and_the_request_made_again(
    method: str,
) -> None:
    """Point 15: on new, and on prompt, too."""
    async with agent_in_process({**NEEDED, "login_needed": [method]}) as (agent, peers):
        async with agent.session(PROMPT) as session:
            assert await answer_to(session, "x") == "ok"
            assert await answer_to(session, "x") == "ok"
        assert peers.asked("authenticate") == [{"methodId": "browser"}]
        assert peers.faults == []


async def test_sessions_that_need_a_login_at_once_log_in_once(autojump_clock: MockClock) -> None:
    script = {**NEEDED, "on": {"authenticate": [{"sleep": 5}]}}
    async with agent_in_process(script) as (agent, peers):
        async with trio.open_nursery() as nursery:
            for _ in range(5):
                nursery.start_soon(use, agent)
        assert len(peers.asked("authenticate")) == 1


async def test_a_login_is_not_tried_twice_for_one_request() -> None:
    """Point 15: then it is told, and the next request tries another process."""
    refused = {"error": {"code": -32000, "message": "Authentication required"}}
    deaf = {"agent": {"authMethods": [METHOD]}, "on": {"session/new": [refused]}}
    async with agent_in_process({"runs": [deaf, {}]}) as (agent, peers):
        failure = await failure_of(agent)
        assert failure.kind == "NoPermissions"
        assert len(peers.asked("authenticate")) == 1
        await use(agent)


@pytest.mark.limit("agents.acp.login.authentication.LOGIN_SECONDS")
@pytest.mark.parametrize("answer", [{"error": {"code": 1, "message": "no"}}, {"deaf": True}])
async def test_a_login_that_fails_is_told(autojump_clock: MockClock, answer: JSON) -> None:
    """Point 15."""
    refusing = {**NEEDED, "on": {"authenticate": [answer]}}
    async with agent_in_process({"runs": [refusing, {}]}) as (agent, _):
        failure = await failure_of(agent)
        assert failure.kind == ("AgentFailed" if "error" in answer else "NoPermissions")
        await use(agent)


@pytest.mark.checklist(15)
async def test_a_login_is_not_tried_twice_for_one_prompt(autojump_clock: MockClock) -> None:
    """Point 15."""
    refused = {"error": {"code": -32000, "message": "Authentication required"}}
    deaf = {"agent": {"authMethods": [METHOD]}, "otherwise": [refused]}
    async with agent_in_process({"runs": [deaf, {}]}) as (agent, peers):
        async with agent.session(PROMPT) as session:
            turn = session.run(PROMPT)
            with pytest.raises(AgentError) as caught:
                await rest_of(turn)
        assert caught.value.failure.kind == "NoPermissions"
        assert len(peers.asked("authenticate")) == 1
        assert len(peers.asked("session/prompt")) == 2


TERMINAL = {"id": "login", "name": "Log in", "type": "terminal", "args": ["login"]}
LEGACY = {
    "id": "login",
    "name": "Log in",
    "_meta": {"terminal-auth": {"command": "fake-acp", "args": ["login"], "label": "Log in"}},
}


@pytest.mark.parametrize("method", [TERMINAL, LEGACY], ids=["terminal", "legacy"])
@pytest.mark.checklist(15)
async def test_a_login_in_a_terminal_is_the_users_and_a_new_process_sees_it(method: JSON) -> None:
    """Point 15: the command is told, and the agent restarted."""
    needed = {"login_needed": ["session/new"], "agent": {"authMethods": [method]}}
    async with agent_in_process({"runs": [needed, {}]}) as (agent, peers):
        failure = await failure_of(agent)
        assert failure.kind == "NoPermissions"
        assert "fake-acp login" in failure.message
        assert peers.asked("authenticate") == []
        await use(agent)
        assert len(peers.peers) == 2


@pytest.mark.parametrize("methods", [[], [METHOD, {"id": "key", "name": "API key"}]])
@pytest.mark.checklist(16)
async def test_a_login_without_a_plain_way_is_told(methods: list[JSON]) -> None:
    """Points 15 and 16: none, or several. The session is lost, because its process must be."""
    needed = {"login_needed": ["session/prompt"], "agent": {"authMethods": methods}}
    async with agent_in_process({"runs": [needed, {}]}) as (agent, peers):
        async with agent.session(PROMPT) as session:
            with pytest.raises(AgentError) as caught:
                await rest_of(session.run(PROMPT))
            assert caught.value.failure.kind == "NoPermissions"
        assert peers.asked("authenticate") == []
        await use(agent)
        assert len(peers.peers) == 2


# Logins and logouts that the user asks for.

SEVERAL = [METHOD, {"id": "other", "name": "Another way"}, TERMINAL]
CHOICE: JSON = {"login_needed": ["session/new"], "agent": {"authMethods": SEVERAL}}
CAN_LOG_OUT: JSON = {
    "agentCapabilities": {"auth": {"logout": {}}, "sessionCapabilities": {"close": {}}}
}


async def test_after_a_login_that_the_user_chose_the_next_session_is_in_that_process() -> None:
    async with agent_in_process(CHOICE) as (agent, peers):
        failure = await failure_of(agent)
        assert [fix.title for fix in failure.fixes] == [
            *("Log in", "Log in", "Log In: Another way"),
        ]
        await agent.log_in("other")
        await use(agent)
        assert peers.asked("authenticate") == [{"methodId": "other"}]
        assert len(peers.peers) == 2, "the one that wanted a login, and the one that had it"


@pytest.mark.parametrize("method", ["login", "unknown"])
async def test_no_agent_is_asked_for_a_login_in_a_terminal_or_an_unknown_one(method: str) -> None:
    async with agent_in_process(CHOICE) as (agent, peers):
        with pytest.raises(AgentError, match="has no login method"):
            await agent.log_in(method)
        assert peers.asked("authenticate") == []


@pytest.mark.parametrize("answer", [{"error": {"code": 1, "message": "no"}}, {"deaf": True}])
async def test_a_chosen_login_that_fails_is_told(autojump_clock: MockClock, answer: JSON) -> None:
    script = {**CHOICE, "on": {"authenticate": [answer]}}
    async with agent_in_process({"runs": [script, {}]}) as (agent, _):
        with pytest.raises(AgentError, match="no" if "error" in answer else "within 300 seconds"):
            await agent.log_in("other")
        await use(agent)


async def test_after_a_logout_every_new_session_has_another_process() -> None:
    async with agent_in_process({"agent": CAN_LOG_OUT}, spares=False) as (agent, peers):
        async with agent.session(PROMPT) as session:
            await agent.log_out()
            assert peers.asked("logout") == [{}]
            assert await answer_to(session, "still here?") == "ok"
        await use(agent)
        assert len(peers.peers) == 2


@pytest.mark.parametrize("answer", [{"error": {"code": 1, "message": "no"}}, {"deaf": True}])
async def test_a_logout_that_fails_is_told(autojump_clock: MockClock, answer: JSON) -> None:
    script = {"agent": CAN_LOG_OUT, "on": {"logout": [answer]}}
    async with agent_in_process(script) as (agent, _):
        with pytest.raises(AgentError, match="no" if "error" in answer else "within 300 seconds"):
            await agent.log_out()
        await use(agent)


async def test_an_agent_without_a_logout_is_logged_out_with_its_own_program() -> None:
    async with agent_in_process({}) as (agent, peers):
        with pytest.raises(AgentError, match="with its own program") as caught:
            await agent.log_out()
        assert (caught.value.failure.kind, caught.value.failure.fixes) == ("NotFound", ())
        assert peers.asked("logout") == []


# With a real process.


async def test_a_command_that_isn_t_there_is_told() -> None:
    """Point 4."""
    async with trio.open_nursery() as nursery:
        spec = McpServerSpec("it", "no-such-command-here")
        agent = AcpAgent(spec, nursery, new_call_id=lambda: "")
        failure = await failure_of(agent)
        assert failure.kind == "NotFound"
        assert "no-such-command-here" in failure.message
        assert agent.processes == 0


async def test_noise_and_large_lines_of_a_child_do_no_harm() -> None:
    """Points 3, 8, 9."""
    big = "x" * 3_000_000
    script: JSON = {
        "start": [
            {"garbage": "Loaded cached credentials.\n\r\n"},
            {"stderr": "e" * 100, "times": 999},
        ],
        "turns": [[{"stderr": "e" * 200_000}, {"garbage": "oops\n"}, {"say": big}, {"say": "end"}]],
    }
    async with agent_as_child(script) as (agent, child):
        async with agent.session(PROMPT) as session:
            assert await answer_to(session, "x") == f"{big}end"
        assert child.faults == []


@pytest.mark.parametrize("ends", [{"exit": 5}, {"kill": 9}])
async def test_a_crash_of_a_child_is_told_while_its_own_child_holds_the_pipes(ends: JSON) -> None:
    """Points 2 and 4: and nobody is left of the group."""
    crash: list[JSON] = [{"child": 1000}, {"say": "a"}, {"stderr": "last words\n"}, ends]
    async with agent_as_child({"runs": [{"turns": [crash]}, {}]}) as (agent, child):
        async with agent.session(PROMPT) as session:
            turn = session.run(PROMPT)
            with pytest.raises(AgentError) as caught:
                await rest_of(turn)
            failure = caught.value.failure
            assert ("status 5" if "exit" in ends else "signal 9") in failure.message
            assert failure.stderr_tail == "last words"
        await use(agent)
        await until(lambda: not group_members(child.processes[0]))
        assert len(child.processes) == 2


async def test_many_sessions_share_a_child() -> None:
    async with agent_as_child({"otherwise": [{"memory": True}]}) as (agent, child):
        answers: list[str] = []

        async def chat(name: str) -> None:
            async with agent.session(PROMPT) as session:
                await answer_to(session, name)
                answers.append(await answer_to(session, "?"))

        async with trio.open_nursery() as nursery:
            for n in range(20):
                nursery.start_soon(chat, f"chat {n}")
        assert sorted(answers) == sorted(f"chat {n} / ?" for n in range(20))
        assert len(child.processes) == 1
        assert child.faults == []


# The host's system prompt.


async def test_a_system_prompt_is_told_again_only_when_it_is_another() -> None:
    """With the full context; an agent that hears only what the user asked has its own."""

    def prompt(text: str, system: str, *before: ChatMessage) -> Prompt:
        return Prompt(
            (*before, say("user", text)),
            settings=Settings(context="full"),
            system=(say("system", system),),
        )

    def say(role: Role, text: str) -> ChatMessage:
        return ChatMessage(role, (TextPart(text),))

    async with agent_in_process({}) as (agent, peers), agent.session(PROMPT) as session:
        for one in (
            prompt("one", "A", say("system", "A")),
            prompt("two", "A"),
            prompt("three", "B"),
            prompt("four", "B"),
        ):
            await rest_of(session.run(one))
        told = [
            "".join(block["text"] for block in heard["prompt"])
            for heard in peers.asked("session/prompt")
        ]
    assert ["<system>\nA" in text for text in told] == [True, False, False, False]
    assert ["<system>\nB" in text for text in told] == [False, False, True, False]


async def test_a_system_prompt_of_a_turn_that_never_began_is_told_with_the_next() -> None:
    full = Settings(context="full")
    system = (ChatMessage("system", (TextPart("A"),)),)
    async with agent_in_process({}) as (agent, peers), agent.session(PROMPT) as session:
        await answer_to(session, "one")
        turn = session.run(replace(asking("two", settings=full), system=system))
        await session.cancel()
        await rest_of(turn)
        await rest_of(session.run(replace(asking("three", settings=full), system=system)))
        *_, last = peers.asked("session/prompt")
    assert len(peers.asked("session/prompt")) == 2
    assert "<system>\nA" in "".join(block["text"] for block in last["prompt"])


# What an agent has room for.


@pytest.mark.parametrize("early", [False, True])
@pytest.mark.parametrize(("size", "most"), [(2_000, 3_000), (0, 300_000)])
async def test_a_record_has_room_in_what_the_agents_sessions_say_that_there_is(
    early: bool, size: int, most: int
) -> None:
    """A session says it after it was told the record; so it is taken from others, too."""
    usage: JSON = {"update": {"sessionUpdate": "usage_update", "used": 1, "size": size}}
    script: JSON = {"otherwise": [usage, {"say": "ok"}]}
    if early:
        script = {"on": {"session/new": [usage]}, "otherwise": [{"say": "ok"}]}
    chat = tuple(ChatMessage("user", (TextPart("word " * 100),)) for _ in range(1_000))
    async with agent_in_process(script) as (agent, peers), agent.session(PROMPT) as first:
        await rest_of(first.run(PROMPT))
        async with agent.session(PROMPT) as second:
            await rest_of(second.run(replace(PROMPT, transcript=chat)))
        prompt = [one for one in peers.heard if one.get("method") == "session/prompt"][-1]
    told = "".join(block["text"] for block in prompt["params"]["prompt"])
    assert most * 0.75 < len(told.encode()) <= most + 10
    assert "earlier entries are left out" in told


async def test_the_size_of_the_context_is_reported_once_for_each_session(
    autojump_clock: MockClock,
) -> None:
    sizes: list[int] = []
    steps: list[JSON] = [
        {"update": {"sessionUpdate": "usage_update", "used": used, "size": 200}}
        for used in (1, 2, 3)
    ]
    async with (
        agent_in_process({"otherwise": [*steps, {"say": "ok"}]}, report_window=sizes.append) as (
            agent,
            _,
        ),
        agent.session(asking("x")) as session,
    ):
        await answer_to(session, "one")
        await answer_to(session, "two")
    assert sizes == [200]
