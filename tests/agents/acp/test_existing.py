"""Sessions that the agent has already: found again, listed, forked; and what is told again."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import pytest
import trio

from agents.acp.agent import AcpAgent
from agents.acp.existing import MOST_PAGES
from agents.acp.learned import Learned
from agents.acp.reopened import MOST_REPLAY_SECONDS, REPLAY_BEGINS_SECONDS, SILENCE_SECONDS
from agents.acp.session_open import SESSION_SECONDS
from agents.base import AgentError
from agents.events import Stop, StopReason
from agents.origin import FRESH, ForkOf, Origin, Resumed
from tests.fakes.acp_agents import agent_as_child, agent_in_process
from tests.fakes.acp_peer import PeerAgent
from tests.fakes.waiting import until

from .talk import answer_to, asking, rest_of

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
PROMPT = asking("x")
MEMORY: list[JSON] = [{"memory": True}]
LOST: JSON = {"error": {"code": -32603, "message": "No previous sessions found for this project."}}
TOOL_CALL: JSON = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "Old work"}
REPLAY: list[JSON] = [{"replay": True}, {"update": TOOL_CALL}]
OLD_ANSWER: JSON = {"result": None}
METHODS = ("session/new", "session/load", "session/resume", "session/fork")


def able(*methods: str) -> JSON:
    """Return what an agent says of itself that can do these."""
    found: JSON = {method: {} for method in ("close", *methods) if method != "load"}
    return {"agentCapabilities": {"loadSession": "load" in methods, "sessionCapabilities": found}}


def scripted(*methods: str, **script: Any) -> JSON:
    return {"agent": able(*methods), "otherwise": MEMORY, **script}


async def begin(agent: AcpAgent) -> str:
    """Tell a session something, close it, and return its handle."""
    async with agent.session(PROMPT) as session:
        assert await answer_to(session, "I am Ada") == "I am Ada"
        assert session.handle is not None
        return session.handle


async def go_on(agent: AcpAgent, origin: Origin) -> tuple[bool, str]:
    """Return whether the session knows the history, and what it was told."""
    async with agent.session(PROMPT, origin) as session:
        return session.knows_history, await answer_to(session, "who?")


def openings(peers: PeerAgent) -> list[str]:
    """Return how sessions were asked for, after the first."""
    asked = [message["method"] for message in peers.heard if message.get("method") in METHODS]
    return asked[1:]


KNOWN = True, "I am Ada / who?"
UNKNOWN = False, "who?"


# The ways.


@pytest.mark.parametrize(
    ("methods", "way"),
    [
        (("resume", "load"), "session/resume"),
        (("resume",), "session/resume"),
        (("load",), "session/load"),
    ],
)
@pytest.mark.checklist(19)
async def test_a_session_is_resumed_or_else_loaded(methods: tuple[str, ...], way: str) -> None:
    """Point 19: resume comes first, because it need not tell it all again."""
    async with agent_in_process(scripted(*methods), spares=False) as (agent, peers):
        handle = await begin(agent)
        assert await go_on(agent, Resumed(handle)) == KNOWN
        assert openings(peers) == [way]
        (asked,) = peers.asked(way)
        (opened,) = peers.asked("session/new")
        assert asked == {**opened, "sessionId": handle}
        assert peers.faults == []


@pytest.mark.checklist(19)
async def test_a_session_that_can_t_be_found_again_has_no_handle() -> None:
    """Point 19."""
    async with agent_in_process(scripted(), spares=False) as (agent, peers):
        async with agent.session(PROMPT) as session:
            assert session.handle is None
        assert await go_on(agent, Resumed("session-of-another-time")) == UNKNOWN
        assert await go_on(agent, ForkOf("session-of-another-time")) == UNKNOWN
        assert openings(peers) == ["session/new"] * 2


@pytest.mark.checklist(20)
async def test_a_null_for_an_answer_is_fine() -> None:
    """Point 20: what there is to choose is optional; the protocol's own example has null."""
    script = scripted("load", on={"session/load": [{"replay": True}, {"result": None}]})
    async with agent_in_process(script) as (agent, _):
        assert await go_on(agent, Resumed(await begin(agent))) == KNOWN


@pytest.mark.parametrize(
    "error",
    [
        {"code": -32002, "message": "Resource not found"},
        {"code": -32001, "message": "Session not found"},
        {"code": -32602, "message": "Unknown session id"},
        {"code": -32603, "message": "No previous sessions found for this project."},
        {"code": -32601, "message": "Method not found"},
    ],
    ids=lambda error: str(error["code"]),
)
@pytest.mark.checklist(17, 19)
async def test_what_can_t_be_resumed_is_loaded_and_else_opened_anew(
    error: JSON, caplog: pytest.LogCaptureFixture
) -> None:
    """Points 17 and 19: whatever the error; qwen says that it resumes, gemini that it loads."""
    caplog.set_level(logging.INFO)
    for broken, expected in (
        (["session/resume"], KNOWN),
        (["session/resume", "session/load"], UNKNOWN),
    ):
        failing: JSON = {method: [{"error": error}] for method in broken}
        script = scripted("resume", "load", on=failing)
        async with agent_in_process(script, spares=False) as (agent, peers):
            assert await go_on(agent, Resumed(await begin(agent))) == expected
            last = [] if expected == KNOWN else ["session/new"]
            assert openings(peers) == ["session/resume", "session/load", *last]
            assert error["message"] in caplog.text
            assert peers.faults == []


@pytest.mark.checklist(17)
async def test_a_refused_load_is_logged_with_the_agents_own_reason(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Point 17: the message of gemini's error is "Internal error", whatever it was."""
    error = {"code": -32603, "message": "Internal error", "data": {"details": "No such chat."}}
    script = scripted("load", on={"session/load": [{"error": error}]})
    async with agent_in_process(script) as (agent, _):
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
    (told,) = [record.message for record in caplog.records]
    assert told.endswith("not reopened by session/load: -32603 Internal error (No such chat.)")


@pytest.mark.checklist(17)
async def test_a_result_that_isn_t_one_is_a_failure() -> None:
    """Point 17."""
    failing: JSON = {"session/resume": [{"result": "yes"}], "session/load": [{"result": 7}]}
    script = scripted("resume", "load", on=failing)
    async with agent_in_process(script, spares=False) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
        assert openings(peers) == ["session/resume", "session/load", "session/new"]


@pytest.mark.checklist(4, 17)
async def test_a_session_that_ends_its_process_when_it_is_looked_for_is_opened_anew(
    autojump_clock: MockClock,
) -> None:
    """Points 4 and 17: in another process."""
    broken = scripted("resume", on={"session/resume": [{"sleep": 1}, {"exit": 9}]})
    async with agent_in_process({"runs": [broken, scripted()]}) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
        assert len(peers.peers) == 2


@pytest.mark.checklist(4, 17)
@pytest.mark.parametrize("exit_seconds", [0, 0.2])
async def test_a_session_whose_process_ends_while_it_tells_it_all_again_is_opened_anew(
    autojump_clock: MockClock, exit_seconds: float
) -> None:
    """Points 4 and 17."""
    broken = scripted("load", on={"session/load": [OLD_ANSWER, *REPLAY, {"exit": 9}]})
    async with agent_in_process({"runs": [broken, scripted()]}) as (agent, peers):
        peers.exit_seconds = exit_seconds
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
        assert len(peers.peers) == 2


@pytest.mark.checklist(17, 25)
async def test_an_agent_that_never_finds_the_session_is_not_asked_for_another(
    autojump_clock: MockClock,
) -> None:
    """Points 17 and 25: a new one, in another process. What comes too late is closed."""
    late = [{"sleep": SESSION_SECONDS + 5}]
    slow = scripted("resume", "load", on={"session/resume": late})
    async with agent_in_process({"runs": [slow, scripted()]}, spares=False) as (agent, peers):
        handle = await begin(agent)
        async with agent.session(PROMPT):  # so that the process stays
            began = trio.current_time()
            with trio.fail_after(SESSION_SECONDS + 1):
                assert await go_on(agent, Resumed(handle)) == UNKNOWN
            assert trio.current_time() >= began + SESSION_SECONDS
            assert peers.asked("session/load") == []
            await trio.sleep(10)
            assert handle not in peers.peers[0].memory
            assert peers.faults == []
        assert len(peers.peers) == 2


async def test_a_session_that_nobody_waits_for_any_more_is_closed(
    autojump_clock: MockClock,
) -> None:
    """Before and after it was found."""
    steps = [[{"sleep": 5}], [OLD_ANSWER, *({"replay": True}, {"sleep": 0.05}) * 100]]
    script = scripted("resume", on={"session/resume": steps})
    async with agent_in_process(script, spares=False) as (agent, peers):
        handle = await begin(agent)
        for patience in (1, 1):
            with trio.move_on_after(patience):
                async with agent.session(PROMPT, Resumed(handle)):
                    pass
            await trio.sleep(20)
            assert handle not in peers.peers[0].memory
        assert await go_on(agent, Resumed(handle)) == KNOWN
        assert peers.faults == []


@pytest.mark.checklist(19)
async def test_no_session_is_had_twice_on_a_process(autojump_clock: MockClock) -> None:
    """Point 19: neither while it is open nor while it is being opened; it leaks children."""
    script = scripted("resume", "load", on={"session/resume": [{"sleep": 1}]})
    async with agent_in_process(script, spares=False) as (agent, peers):
        handle = await begin(agent)
        found: list[tuple[bool, str]] = []

        async def look() -> None:
            found.append(await go_on(agent, Resumed(handle)))

        async with trio.open_nursery() as nursery:
            for _ in range(3):
                nursery.start_soon(look)
        assert sorted(found) == [UNKNOWN, UNKNOWN, KNOWN]
        async with agent.session(PROMPT, Resumed(handle)) as session:
            assert session.knows_history
            assert await go_on(agent, Resumed(handle)) == UNKNOWN
            assert (await answer_to(session, "?")).endswith("?")
        assert peers.faults == []


@pytest.mark.checklist(15)
async def test_a_login_may_be_asked_for_by_every_way() -> None:
    """Point 15: on load and resume, too; it is done once and the request made again."""
    script = {
        **scripted("resume"),
        "login_needed": ["session/resume"],
        "agent": {**able("resume"), "authMethods": [{"id": "browser", "name": "Log in"}]},
    }
    async with agent_in_process(script) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == KNOWN
        assert len(peers.asked("authenticate")) == 1


@pytest.mark.checklist(15)
async def test_a_login_that_can_t_be_done_is_told() -> None:
    """Point 15: a new session would need it, too."""
    script = {**scripted("resume"), "login_needed": ["session/resume"]}
    async with agent_in_process(script) as (agent, _):
        handle = await begin(agent)
        with pytest.raises(AgentError) as caught:
            await go_on(agent, Resumed(handle))
        assert caught.value.failure.kind == "NoPermissions"


# What is told again.


@pytest.mark.limit("agents.acp.reopened.SILENCE_SECONDS")
@pytest.mark.parametrize("way", ["resume", "load"])
@pytest.mark.parametrize(
    "steps",
    [
        [*REPLAY, OLD_ANSWER],
        [OLD_ANSWER, *REPLAY],
        [*REPLAY, OLD_ANSWER, {"sleep": SILENCE_SECONDS / 2}, *REPLAY],
        [OLD_ANSWER, *({"sleep": SILENCE_SECONDS / 2}, {"replay": True}) * 20],
    ],
    ids=["before", "after", "around", "slowly"],
)
@pytest.mark.checklist(18)
async def test_what_was_said_is_not_shown_again(
    autojump_clock: MockClock, way: str, steps: list[JSON]
) -> None:
    """Point 18: before the answer and past it; fast-agent tells it again when it resumes, too."""
    script = scripted(way, on={f"session/{way}": steps})
    async with agent_in_process(script) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == KNOWN
        assert peers.faults == []


@pytest.mark.limit("agents.acp.reopened.MOST_REPLAY_SECONDS")
@pytest.mark.checklist(18)
async def test_a_replay_that_never_ends_is_not_waited_for(autojump_clock: MockClock) -> None:
    """Point 18: bounded."""
    slowly = ({"sleep": SILENCE_SECONDS / 2}, {"replay": True}) * 1000
    script = scripted("load", on={"session/load": [OLD_ANSWER, *slowly]})
    async with agent_in_process(script) as (agent, _):
        handle = await begin(agent)
        with trio.fail_after(MOST_REPLAY_SECONDS + 0.1):
            async with agent.session(PROMPT, Resumed(handle)) as session:
                assert session.knows_history


@pytest.mark.checklist(18, 21)
async def test_a_replay_is_never_late_text_of_a_turn(autojump_clock: MockClock) -> None:
    """Points 18 and 21: what comes late is dropped in a replay, and kept between turns."""
    late: JSON = {"say": "late "}
    script = scripted(
        "load",
        on={"session/load": [late, OLD_ANSWER, late]},
        turns=[MEMORY, [{"stop": "end_turn"}, {"sleep": 1}, late]],
    )
    async with agent_in_process(script) as (agent, _):
        handle = await begin(agent)
        async with agent.session(PROMPT, Resumed(handle)) as session:
            assert await answer_to(session, "who?") == ""
            await trio.sleep(5)
            assert await answer_to(session, "who?") == "late I am Ada / who? / who?"


@pytest.mark.checklist(18)
async def test_a_replay_of_thousands_of_updates_is_no_burden() -> None:
    """Point 18: nothing of it is kept."""
    script = scripted("load", on={"session/load": [{"say": "x", "times": 5000}]})
    async with agent_in_process(script) as (agent, _):
        assert await go_on(agent, Resumed(await begin(agent))) == KNOWN


@pytest.mark.checklist(20)
async def test_what_there_is_to_choose_is_that_of_the_answer() -> None:
    """Point 20: not that of a replay."""
    old = {"sessionUpdate": "current_mode_update", "currentModeId": "plan"}
    modes = {
        "currentModeId": "code",
        "availableModes": [{"id": "code", "name": "Code"}, {"id": "plan", "name": "Plan"}],
    }
    steps = [{"update": old}, {"replay": True}, {"result": {"modes": modes}}]
    script = scripted("load", on={"session/load": steps})
    async with agent_in_process(script) as (agent, _):
        handle = await begin(agent)
        async with agent.session(PROMPT, Resumed(handle)) as session:
            chosen = session.channel.choices.modes
            assert chosen is not None
            assert chosen.current_mode_id == "code"


# What is told again of a load, or isn't.


FACTS: list[JSON] = [
    {"sessionUpdate": "available_commands_update", "availableCommands": []},
    {"sessionUpdate": "session_info_update", "title": "A chat"},
    {"sessionUpdate": "current_mode_update", "currentModeId": "plan"},
    {"sessionUpdate": "config_option_update", "configOptions": []},
    {"sessionUpdate": "usage_update", "used": 9, "size": 100},
    {"sessionUpdate": "plan", "entries": []},
    {"sessionUpdate": "notice", "severity": "info", "title": "Hello"},
    {"sessionUpdate": "_example.com/hello"},
]
TEXT: JSON = {"type": "text", "text": "x"}
DEEDS: list[JSON] = [
    {"sessionUpdate": "user_message_chunk", "content": TEXT},
    {"sessionUpdate": "agent_message_chunk", "content": TEXT},
    {"sessionUpdate": "agent_thought_chunk", "content": TEXT},
    TOOL_CALL,
    {"sessionUpdate": "tool_call_update", "toolCallId": "1"},
    {"sessionUpdate": "compaction_update", "compactionId": "1", "status": "completed"},
    {"sessionUpdate": "compaction_summary_chunk", "compactionId": "1", "content": TEXT},
]


@pytest.mark.limit("agents.acp.reopened.REPLAY_BEGINS_SECONDS")
@pytest.mark.checklist(17)
async def test_a_load_that_tells_nothing_again_leads_to_a_new_session(
    autojump_clock: MockClock, caplog: pytest.LogCaptureFixture
) -> None:
    """Point 17: qwen 0.15 loads every session, and one that is gone is empty."""
    script = scripted("load", keeps=False, loads_anything=True)
    async with agent_in_process(script, spares=False) as (agent, peers):
        handle = await begin(agent)
        began = trio.current_time()
        assert await go_on(agent, Resumed(handle)) == UNKNOWN
        assert trio.current_time() <= began + REPLAY_BEGINS_SECONDS + 1
        assert openings(peers) == ["session/load", "session/new"]
        assert {"sessionId": handle} in peers.asked("session/close")[1:]
        assert peers.asked("session/prompt")[-1]["sessionId"] != handle
        assert "it sent none of its old messages" in caplog.text
        assert peers.faults == []


@pytest.mark.checklist(17)
async def test_facts_about_a_session_are_not_what_was_said_in_it(
    autojump_clock: MockClock,
) -> None:
    """Point 17."""
    updates: list[JSON] = [{"update": update} for update in FACTS]
    script = scripted("load", on={"session/load": [*updates, OLD_ANSWER, *updates]})
    async with agent_in_process(script) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
        assert peers.faults == []


@pytest.mark.parametrize("update", DEEDS, ids=lambda update: update["sessionUpdate"])
@pytest.mark.checklist(17, 18)
async def test_anything_that_is_told_again_shows_that_a_session_is_remembered(
    autojump_clock: MockClock, update: JSON
) -> None:
    """Points 17 and 18: some tell nothing again but their calls; and it may come late."""
    late = {"sleep": REPLAY_BEGINS_SECONDS - 0.1}
    for steps in ([{"update": update}, OLD_ANSWER], [OLD_ANSWER, late, {"update": update}]):
        script = scripted("load", on={"session/load": steps})
        async with agent_in_process(script) as (agent, peers):
            assert await go_on(agent, Resumed(await begin(agent))) == KNOWN
            assert peers.faults == []


@pytest.mark.checklist(18)
async def test_a_resume_and_a_fork_need_tell_nothing_again(autojump_clock: MockClock) -> None:
    """Point 18."""
    async with agent_in_process(scripted("resume", "fork"), spares=False) as (agent, peers):
        handle = await begin(agent)
        assert await go_on(agent, Resumed(handle)) == KNOWN
        assert (await go_on(agent, ForkOf(handle)))[0]
        assert openings(peers) == ["session/resume", "session/fork"]


@pytest.mark.checklist(4, 17)
async def test_a_process_that_ends_before_it_tells_anything_again_is_not_waited_for(
    autojump_clock: MockClock,
) -> None:
    """Points 4 and 17."""
    broken = scripted("load", on={"session/load": [OLD_ANSWER, {"sleep": 0.1}, {"exit": 9}]})
    async with agent_in_process({"runs": [broken, scripted()]}) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
        assert len(peers.peers) == 2


@pytest.mark.checklist(17, 18)
async def test_a_greeting_at_a_resume_is_not_what_was_said(autojump_clock: MockClock) -> None:
    """Points 17 and 18: an agent that warns of something now may say nothing the next time."""
    async with trio.open_nursery() as nursery:
        learned = Learned(nursery)
        greeting: JSON = {"session/resume": [{"say": "An update is available."}]}
        script = scripted("resume", on=greeting)
        async with agent_in_process(script, learned=learned) as (agent, _):
            assert await go_on(agent, Resumed(await begin(agent))) == KNOWN
        async with agent_in_process(scripted("resume"), learned=learned) as (agent, peers):
            assert await go_on(agent, Resumed(await begin(agent))) == KNOWN
            assert peers.faults == []


@pytest.mark.checklist(17, 18)
async def test_a_resume_that_tells_nothing_again_is_believed_of_who_never_does(
    autojump_clock: MockClock,
) -> None:
    """Points 17 and 18: Hermes makes a new session where it has none, and replays what it has."""
    replaying: JSON = {"session/resume": [{"replay": True}]}
    async with trio.open_nursery() as nursery:
        learned = Learned(nursery)
        script = scripted("resume", on=replaying)
        async with agent_in_process(script, learned=learned) as (agent, _):
            assert await go_on(agent, Resumed(await begin(agent))) == KNOWN
        script = scripted("resume", on=replaying, keeps=False, loads_anything=True)
        async with agent_in_process(script, learned=learned, spares=False) as (agent, peers):
            assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
            assert openings(peers) == ["session/resume", "session/new"]
            assert peers.faults == []


REFUSED: list[JSON] = [{"stop": "refusal"}]


@pytest.mark.parametrize("origin", [Resumed, ForkOf])
@pytest.mark.checklist(17)
async def test_a_session_that_refuses_its_first_prompt_without_a_word_is_lost(
    autojump_clock: MockClock, origin: type[Resumed | ForkOf]
) -> None:
    """Point 17: Hermes and fast-agent refuse each prompt of a session that they don't know."""
    script = scripted("resume", "fork", turns=[MEMORY], otherwise=REFUSED)
    async with agent_in_process(script, spares=False) as (agent, peers):
        handle = await begin(agent)
        async with agent.session(PROMPT, origin(handle)) as session:
            with pytest.raises(AgentError, match="has lost the session of this chat"):
                await answer_to(session, "who?")
            assert session.lost is not None
        assert peers.faults == []


@pytest.mark.parametrize(
    ("steps", "way", "replays"),
    [
        ([{"say": "No."}, *REFUSED], "resume", False),
        (REFUSED, "resume", True),
        (REFUSED, "load", True),
        (REFUSED, "new", False),
    ],
    ids=["with a word", "resumed and told again", "loaded", "new"],
)
@pytest.mark.checklist(17)
async def test_a_refusal_in_a_session_that_is_known_is_the_models(
    autojump_clock: MockClock, steps: list[JSON], way: str, replays: bool
) -> None:
    """Point 17."""
    replay: JSON = {"session/resume": [{"replay": True}]} if replays else {}
    script = scripted(way, on=replay, turns=[MEMORY], otherwise=steps)
    async with agent_in_process(script, spares=False) as (agent, peers):
        async with agent.session(PROMPT) as session:
            await answer_to(session, "I am Ada")
            handle = session.channel.session_id
        async with agent.session(PROMPT, FRESH if way == "new" else Resumed(handle)) as session:
            for _ in range(2):
                events = await rest_of(session.run(PROMPT))
                assert events[-1] == Stop(StopReason.REFUSAL)
            assert session.lost is None
        assert peers.faults == []


# A method that isn't there.


MISSING: JSON = {"error": {"code": -32601, "message": '"Method not found": session/resume'}}


@pytest.mark.checklist(17, 19)
async def test_a_resume_that_is_no_method_is_asked_for_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Points 17 and 19: qwen 0.15 says that it resumes. Nor by another process."""
    caplog.set_level(logging.INFO)
    missing: JSON = {"session/resume": [MISSING]}
    async with trio.open_nursery() as nursery:
        learned = Learned(nursery)
        for asked in (["session/resume", "session/load"], ["session/load"]):
            script = scripted("resume", "load", on=missing)
            async with agent_in_process(script, learned=learned, spares=False) as (agent, peers):
                handle = await begin(agent)
                assert await go_on(agent, Resumed(handle)) == KNOWN
                assert (await go_on(agent, Resumed(handle)))[0]
                assert openings(peers) == [*asked, "session/load"]
                assert peers.faults == []
    (told,) = [one for one in caplog.records if "nor will another" in one.message]
    assert told.levelno == logging.INFO
    assert "Method not found" in told.message
    assert max(one.levelno for one in caplog.records) == logging.INFO


@pytest.mark.checklist(17, 19)
async def test_a_session_that_only_a_missing_method_would_find_has_no_handle() -> None:
    """Points 17 and 19."""
    script = scripted("resume", on={"session/resume": [MISSING]})
    async with agent_in_process(script, spares=False) as (agent, peers):
        assert await go_on(agent, Resumed(await begin(agent))) == UNKNOWN
        async with agent.session(PROMPT) as session:
            assert session.handle is None
        assert peers.faults == []


async def test_a_fork_that_is_no_method_is_asked_for_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Code Puppy says that it forks sessions."""
    script = scripted("load", "fork", on={"session/fork": [MISSING]})
    async with agent_in_process(script, spares=False) as (agent, peers):
        handle = await begin(agent)
        for _ in range(2):
            assert await go_on(agent, ForkOf(handle)) == UNKNOWN
        assert openings(peers) == ["session/fork", "session/new", "session/new"]
        assert caplog.records == []
        assert peers.faults == []


# Forks.


async def test_a_fork_is_a_session_of_its_own() -> None:
    script = scripted("fork", on={"session/fork": [*REPLAY]})
    async with agent_in_process(script, spares=False) as (agent, peers):
        async with agent.session(PROMPT) as session:
            await answer_to(session, "I am Ada")
            assert session.handle is not None
            async with agent.session(PROMPT, ForkOf(session.handle)) as fork:
                assert fork.knows_history
                assert fork.handle != session.handle
                assert await answer_to(fork, "who?") == "I am Ada / who?"
            assert await answer_to(session, "?") == "I am Ada / ?"
        assert openings(peers) == ["session/fork"]
        assert peers.faults == []


@pytest.mark.parametrize(
    "steps", [[LOST], [{"result": {}}], [{"result": {"sessionId": ""}}], [{"exit": 1}]]
)
@pytest.mark.checklist(17)
async def test_a_fork_that_fails_is_a_new_session(steps: list[JSON]) -> None:
    """Point 17."""
    script: JSON = {"runs": [scripted("fork", on={"session/fork": steps}), scripted()]}
    async with agent_in_process(script) as (agent, _):
        assert await go_on(agent, ForkOf(await begin(agent))) == UNKNOWN


# Lists.


async def listed(agent: AcpAgent, cwd: str | None = None) -> list[str] | None:
    async with agent.session(PROMPT) as session:
        found = await session.peer.existing.list(cwd)
        return None if found is None else [one.session_id for one in found]


async def test_the_sessions_are_listed_page_by_page() -> None:
    def page(number: int, cursor: str | None) -> list[JSON]:
        session = {"sessionId": f"s{number}", "cwd": "/"}
        return [{"result": {"sessions": [session, {"cwd": 7}], "nextCursor": cursor}}]

    pages = [page(1, "two"), page(2, "three"), page(3, None)]
    async with agent_in_process(scripted("list", on={"session/list": pages})) as (agent, peers):
        assert await listed(agent, "/work") == ["s1", "s2", "s3"]
        assert peers.asked("session/list") == [
            {"cwd": "/work"},
            {"cwd": "/work", "cursor": "two"},
            {"cwd": "/work", "cursor": "three"},
        ]


@pytest.mark.limit("agents.acp.existing.MOST_PAGES")
@pytest.mark.parametrize(
    ("cursors", "pages"), [(["a"] * 9, 2), ([f"c{n}" for n in range(3 * MOST_PAGES)], MOST_PAGES)]
)
async def test_a_list_without_end_has_one(cursors: list[str], pages: int) -> None:
    session = {"sessionId": "s", "cwd": "/"}
    answers = [[{"result": {"sessions": [session], "nextCursor": cursor}}] for cursor in cursors]
    async with agent_in_process(scripted("list", on={"session/list": answers})) as (agent, peers):
        assert await listed(agent) == ["s"] * pages
        assert len(peers.asked("session/list")) == pages


async def test_an_agent_that_doesn_t_list_isn_t_asked() -> None:
    async with agent_in_process(scripted()) as (agent, peers):
        assert await listed(agent) is None
        assert peers.asked("session/list") == []


@pytest.mark.parametrize("steps", [[LOST], [{"deaf": True}]])
async def test_a_list_that_fails_is_told(autojump_clock: MockClock, steps: list[JSON]) -> None:
    async with agent_in_process(scripted("list", on={"session/list": steps})) as (agent, _):
        with pytest.raises(AgentError):
            await listed(agent)


@pytest.mark.checklist(15)
async def test_a_login_may_be_asked_for_by_a_list() -> None:
    """Point 15."""
    methods = [{"id": "browser", "name": "Log in"}]
    script = {
        "agent": {**able("list"), "authMethods": methods},
        "login_needed": ["session/list"],
    }
    async with agent_in_process(script, spares=False) as (agent, peers):
        assert len(await listed(agent) or ()) == 1
        assert len(peers.asked("authenticate")) == 1


# With real processes.


@pytest.mark.parametrize(
    ("methods", "on", "expected"),
    [
        (("resume",), {}, KNOWN),
        (("load",), {}, KNOWN),
        (("load",), {"session/load": [*REPLAY, OLD_ANSWER, *REPLAY]}, KNOWN),
        (("resume", "load"), {"session/resume": [*REPLAY, OLD_ANSWER, *REPLAY]}, KNOWN),
        (("resume", "load"), {"session/resume": [LOST]}, KNOWN),
        (("resume",), {"session/resume": [LOST]}, UNKNOWN),
        ((), {}, UNKNOWN),
    ],
    ids=["resume", "load", "tool calls", "resume replays", "load instead", "fails", "neither"],
)
@pytest.mark.checklist(4, 17, 18, 19)
async def test_a_session_outlives_its_process(
    methods: tuple[str, ...], on: JSON, expected: tuple[bool, str]
) -> None:
    """Points 4, 17, 18, 19: the process is killed between turns, and another one finds it."""
    script = scripted(*methods, on=on, words={"die": [{"stop": "end_turn"}, {"kill": 9}]})
    async with agent_as_child(script, spares=False) as (agent, child):
        async with agent.session(PROMPT) as session:
            await answer_to(session, "I am Ada")
            handle = session.channel.session_id
            async with agent.session(PROMPT) as other:
                await answer_to(other, "die")
            await until(lambda: session.lost is not None)
        assert await go_on(agent, Resumed(handle)) == expected
        assert len(child.processes) == 2
        assert child.faults == []
