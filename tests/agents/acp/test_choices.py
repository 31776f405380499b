"""Choices of the host's picker reach the agent before the next prompt, once each."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest
import trio
import trio.testing
from msgspec.structs import replace

from agents.acp.session_choices import CHANGE_SECONDS, NOT_ASKING, NOT_CHANGED
from agents.base import AgentSession
from agents.events import Break, Prompt, Stop
from agents.offered import Properties
from agents.origin import Resumed
from bridge.models import AgentChoice
from bridge.wire import ConfigurationProperty, Permissions, Settings
from tests.agents.talk import rest_of, said
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.acp_peer import PeerAgent

from .talk import asking

if TYPE_CHECKING:
    from trio.testing import MockClock

JSON = dict[str, Any]
SET = ("session/set_config_option", "session/set_mode", "session/set_model")
MODEL: JSON = {
    "id": "llm",
    "name": "Model",
    "category": "model",
    "type": "select",
    "currentValue": "small",
    "options": [{"value": "small", "name": "Small"}, {"value": "big", "name": "Big"}],
}
EFFORT: JSON = {
    "id": "thinking",
    "name": "Effort",
    "category": "thought_level",
    "type": "select",
    "currentValue": "low",
    "options": [{"value": "low", "name": "Low"}, {"value": "high", "name": "High"}],
}
SEARCH: JSON = {"id": "web", "name": "Web search", "type": "boolean", "currentValue": False}
MODES: JSON = {
    "currentModeId": "auto",
    "availableModes": [{"id": one, "name": one.title()} for one in ("auto", "default", "plan")],
}
SESSION: JSON = {"configOptions": [MODEL, EFFORT, SEARCH], "modes": MODES}
CHOICE = AgentChoice.of({"acp": {"name": "one", "command": "one"}})


Told: TypeAlias = tuple[dict[str, ConfigurationProperty], bool]
"""The choices as an agent reports them, and whether a new session has their defaults."""


def kept_in(told: list[Told]) -> Callable[[Properties, bool], None]:
    def offer(properties: Properties, is_new: bool) -> None:
        told.append((dict(properties), is_new))

    return offer


def picking(settings: Settings | None = None, **configuration: str) -> Prompt:
    return replace(asking("x", settings=settings), configuration=configuration)


async def answer(session: AgentSession, prompt: Prompt) -> str:
    with trio.fail_after(10 * CHANGE_SECONDS):
        events = [event async for batch in session.run(prompt) for event in batch]
    assert events[-1] == Stop()
    return said(events)


def changes(peers: PeerAgent) -> list[JSON]:
    """Return what was changed, in order, without the session's id."""
    return [
        {key: value for key, value in message["params"].items() if key != "sessionId"}
        for message in peers.heard
        if message.get("method") in SET
    ]


@asynccontextmanager
async def session_with(script: JSON) -> AsyncGenerator[tuple[AgentSession, PeerAgent], None]:
    async with agent_in_process(script) as (agent, peers), agent.session(picking()) as session:
        yield session, peers


async def test_choices_are_made_before_the_prompt_and_the_model_first(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        prompt = picking(web="true", reasoningEffort="high", mode="plan", model="big")
        assert await answer(session, prompt) == "ok"
        assert changes(peers) == [
            {"configId": "llm", "value": "big"},
            {"modeId": "plan"},
            {"configId": "thinking", "value": "high"},
            {"configId": "web", "value": True, "type": "boolean"},
        ]
        methods = [message.get("method") for message in peers.heard]
        assert methods.index("session/set_mode") < methods.index("session/prompt")
        assert peers.faults == []


async def test_each_change_is_sent_once_and_going_back_keeps_the_session(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        for model in ("big", "big", "small", "big"):
            await answer(session, picking(model=model))
        await answer(session, picking())
        values = [change["value"] for change in changes(peers)]
        assert values == ["big", "small", "big", "small"]
        assert len({prompt["sessionId"] for prompt in peers.asked("session/prompt")}) == 1


async def test_a_choice_of_the_picker_comes_before_the_settings(autojump_clock: MockClock) -> None:
    settings = Settings(model="small", mode="default")
    async with session_with({"session": SESSION}) as (session, peers):
        await answer(session, picking(settings, model="big", mode="plan"))
        assert changes(peers) == [{"configId": "llm", "value": "big"}, {"modeId": "plan"}]


async def test_the_settings_count_again_where_a_choice_is_taken_back(
    autojump_clock: MockClock,
) -> None:
    """The agent's own first values don't: the settings name others."""
    settings = Settings(model="big", mode="plan")
    async with session_with({"session": SESSION}) as (session, peers):
        await answer(session, picking(settings, model="small", mode="default"))
        await answer(session, picking(settings))
        assert changes(peers) == [
            {"modeId": "default"},
            {"configId": "llm", "value": "big"},
            {"modeId": "plan"},
        ]


async def test_a_value_that_is_offered_no_more_is_told_and_skipped(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        gone = picking(model="huge", reasoningEffort="high")
        first = await answer(session, gone)
        assert "'huge'" in first
        assert first.count("\n") <= 2
        assert first.endswith("ok")
        assert await answer(session, gone) == "ok"
        assert changes(peers) == [{"configId": "thinking", "value": "high"}]
        assert await answer(session, picking(reasoningEffort="high")) == "ok"
        assert await answer(session, gone) == first, "it was chosen anew"


@pytest.mark.parametrize("gone", ["gone", "yolo"])
async def test_a_mode_that_is_offered_no_more_leaves_the_one_in_which_the_agent_asks(
    autojump_clock: MockClock, gone: str
) -> None:
    about = {"name": "qwen-code", "version": "1"}
    script = {"agent": {"agentInfo": about}, "session": SESSION}
    async with session_with(script) as (session, peers):
        await answer(session, picking(mode=gone))
        assert changes(peers) == [{"modeId": "default"}]


async def test_a_model_that_is_offered_no_more_leaves_that_of_the_settings(
    autojump_clock: MockClock,
) -> None:
    async with session_with({"session": SESSION}) as (session, peers):
        assert "'gone'" in await answer(session, picking(Settings(model="big"), model="gone"))
        assert changes(peers) == [{"configId": "llm", "value": "big"}]


async def test_a_silent_agent_can_t_hang_the_turn(autojump_clock: MockClock) -> None:
    script = {"session": SESSION, "on": {"session/set_config_option": [[{"deaf": True}]] * 3}}
    async with session_with(script) as (session, peers):
        began = trio.current_time()
        words = await answer(session, picking(model="big", reasoningEffort="high", web="true"))
        assert trio.current_time() <= began + CHANGE_SECONDS + 1
        assert f"{CHANGE_SECONDS:.0f} s" in words
        assert words.endswith("ok")
        assert len(changes(peers)) == 1, "one that is silent is not asked again in this turn"
        script["on"].clear()
        whole = picking(model="big", reasoningEffort="high", web="true")
        assert await answer(session, whole) == "ok"
        assert [change["value"] for change in changes(peers)] == ["big", "big", "high", True]
        assert await answer(session, whole) == "ok"
        assert len(changes(peers)) == 4, "each is made now"


async def test_a_choice_that_a_stop_interrupts_is_made_before_the_next_prompt(
    autojump_clock: MockClock,
) -> None:
    script = {"session": SESSION, "on": {"session/set_config_option": [[{"deaf": True}]] * 3}}
    async with session_with(script) as (session, peers):
        turn = session.run(picking(model="big", reasoningEffort="high"))
        async with trio.open_nursery() as nursery:
            nursery.start_soon(rest_of, turn)
            with trio.fail_after(CHANGE_SECONDS):
                while not changes(peers):
                    await trio.testing.wait_all_tasks_blocked()
                await session.cancel()
        assert peers.asked("session/prompt") == []
        script["on"].clear()
        assert await answer(session, picking(model="big", reasoningEffort="high")) == "ok"
        assert [change["value"] for change in changes(peers)] == ["big", "big", "high"]


async def test_a_choice_that_needs_a_login_fails_with_the_way_to_log_in(
    autojump_clock: MockClock,
) -> None:
    refused = {"error": {"code": -32000, "message": "Authentication required"}}
    script = {"session": SESSION, "on": {"session/set_config_option": [refused]}}
    async with session_with(script) as (session, peers):
        with trio.fail_after(CHANGE_SECONDS):
            events = await rest_of(session.run(picking(model="big")))
        last = events[-1]
        assert isinstance(last, Break)
        assert last.failure.kind == "NoPermissions"
        assert peers.asked("session/prompt") == []


LOW = [{**MODEL, "currentValue": "big"}, EFFORT, SEARCH]
HIGH = [{**MODEL, "currentValue": "big"}, {**EFFORT, "currentValue": "high"}, SEARCH]
BARE = [{**MODEL, "currentValue": "big"}, SEARCH]


@pytest.mark.parametrize(
    ("answers", "sent", "words"),
    [
        ([LOW, HIGH], ["high", "big", "high"], ""),
        ([LOW, LOW], ["high", "big", "high"], "its reasoningEffort from 'high' to 'low'"),
        ([BARE], ["high", "big"], "doesn't offer 'high' as its reasoningEffort"),
    ],
)
async def test_a_choice_that_another_one_undoes_is_made_once_more_or_told(
    autojump_clock: MockClock, answers: list[list[JSON]], sent: list[str], words: str
) -> None:
    script: JSON = {"session": SESSION, "on": {}}
    async with session_with(script) as (session, peers):
        assert await answer(session, picking(reasoningEffort="high")) == "ok"
        results = [[{"result": {"configOptions": options}}] for options in answers]
        script["on"]["session/set_config_option"] = results
        whole = picking(reasoningEffort="high", model="big")
        told = await answer(session, whole)
        assert words in told
        assert (told == "ok") is (words == "")
        assert [change["value"] for change in changes(peers)] == sent
        assert await answer(session, whole) == "ok"
        assert len(changes(peers)) == len(sent), "it is told once, and then left alone"


async def test_a_refused_choice_is_told_with_the_agent_s_reason(autojump_clock: MockClock) -> None:
    error = {"error": {"code": -32603, "message": "not in your plan"}}
    script = {"session": SESSION, "on": {"session/set_config_option": [error]}}
    async with session_with(script) as (session, _):
        words = await answer(session, picking(model="big"))
        assert "not in your plan" in words
        assert words.endswith("ok")


async def test_a_choice_that_the_agent_changes_itself_is_shown_and_left_alone(
    autojump_clock: MockClock,
) -> None:
    new = [{**MODEL, "currentValue": "small"}, {**EFFORT, "currentValue": "high"}, SEARCH]
    update = {"sessionUpdate": "config_option_update", "configOptions": new}
    script = {"session": SESSION, "turns": [[{"update": update}, {"say": "changed"}]]}
    async with session_with(script) as (session, peers):
        words = await answer(session, picking(model="big"))
        assert "🔀 Model: `Small`" in words
        assert "🔀 Effort: `High`" in words
        before = len(changes(peers))
        assert await answer(session, picking(model="big")) == "ok"
        assert len(changes(peers)) == before, "the user's choice was made once"


@pytest.mark.parametrize("answered", [{}, {"result": {}}], ids=["with the options", "empty"])
async def test_our_own_change_is_not_shown(autojump_clock: MockClock, answered: JSON) -> None:
    new = [{**MODEL, "currentValue": "big"}, EFFORT, SEARCH]
    update = {"sessionUpdate": "config_option_update", "configOptions": new}
    script = {"session": SESSION, "turns": [[{"update": update}, {"say": "fine"}]]}
    if answered:
        script["on"] = {"session/set_config_option": [[answered]]}
    async with session_with(script) as (session, _):
        assert await answer(session, picking(model="big")) == "fine"


@pytest.mark.parametrize(
    "picked", [{}, {"model": "big"}, {"mode": "default"}, {"mode": "plan"}, {"mode": "auto"}]
)
async def test_the_agent_s_choices_are_reported_with_the_defaults_that_count_unpicked(
    autojump_clock: MockClock, picked: dict[str, str]
) -> None:
    told: list[Told] = []
    about = {"name": "qwen-code", "version": "1"}
    script = {"agent": {"agentInfo": about}, "session": SESSION}
    async with (
        agent_in_process(script, report_choices=kept_in(told)) as (agent, _),
        agent.session(picking()) as session,
    ):
        await answer(session, replace(picking(), configuration=picked))
    newest, _ = told[-1]
    assert list(newest) == ["model", "mode", "reasoningEffort", "web"]
    assert newest["model"].default == "small"
    assert newest["mode"].default == "default", "it asks in this mode, so it was put into it"


async def test_a_mode_that_is_picked_no_more_leaves_the_one_in_which_the_agent_asks(
    autojump_clock: MockClock,
) -> None:
    """The session began in another one, in which the agent decides by itself."""
    about = {"name": "qwen-code", "version": "1"}
    script = {"agent": {"agentInfo": about}, "session": SESSION}
    async with session_with(script) as (session, peers):
        await answer(session, picking(mode="plan"))
        await answer(session, picking())
        assert changes(peers) == [{"modeId": "plan"}, {"modeId": "default"}]


async def test_the_values_of_the_settings_count_when_nothing_is_picked_any_more(
    autojump_clock: MockClock,
) -> None:
    settings = Settings(model="Big", mode="Plan")
    async with session_with({"session": SESSION}) as (session, peers):
        await answer(session, picking(settings, model="small", mode="default"))
        await answer(session, picking(settings))
        values = [change.get("value", change.get("modeId")) for change in changes(peers)]
        assert values == ["default", "big", "plan"]


async def test_options_that_change_in_a_turn_are_reported_at_once(
    autojump_clock: MockClock,
) -> None:
    told: list[Told] = []
    update = {"sessionUpdate": "config_option_update", "configOptions": [SEARCH]}
    script = {"session": SESSION, "turns": [[{"update": update}, {"say": "a"}, {"hang": True}]]}
    async with (
        agent_in_process(script, report_choices=kept_in(told)) as (agent, _),
        agent.session(picking()) as session,
    ):
        turn = session.run(picking())
        with trio.fail_after(5):
            await turn.receive()
        assert list(told[-1][0]) == ["mode", "web"]
        await session.cancel()
        await rest_of(turn)


QWEN: JSON = {"agentInfo": {"name": "qwen-code", "version": "1"}}
ALL_MODES: JSON = {
    "currentModeId": "auto",
    "availableModes": [{"id": one, "name": one.title()} for one in ("auto", "default", "yolo")],
}
LAX = {"agent": QWEN, "session": {"modes": ALL_MODES}}
STRICT: list[Permissions] = ["read_only", "deny"]


def lax(*turns: list[JSON]) -> JSON:
    return {**LAX, "turns": [*turns]} if turns else LAX


def moded(peers: PeerAgent) -> list[str]:
    return [change["modeId"] for change in changes(peers)]


@pytest.mark.parametrize("permissions", STRICT)
@pytest.mark.parametrize("value", ["yolo", "Yolo"])
async def test_a_mode_without_questions_isn_t_chosen_where_the_permissions_forbid_it(
    autojump_clock: MockClock, permissions: Permissions, value: str
) -> None:
    """Whether by the picker or by the settings. Each choice is told in one line, once."""
    settings = Settings(permissions=permissions)
    async with session_with(LAX) as (session, peers):
        picked = picking(settings, mode=value)
        words = await answer(session, picked)
        assert moded(peers) == ["default"]
        assert words.startswith(f"> ⚠️ **{NOT_CHANGED}**: ")
        assert f"'{value}'" in words
        assert f"'{permissions}'" in words
        assert words.count("\n") == 2
        assert words.endswith("ok")
        assert await answer(session, picked) == "ok"
        assert await answer(session, picking(settings)) == "ok"
        assert await answer(session, picked) == words, "it was chosen anew"
        set_by = picking(replace(settings, mode=value))
        assert await answer(session, set_by) == "ok", "it is the same choice, told already"
        assert moded(peers) == ["default"]
    async with session_with(LAX) as (session, peers):
        assert await answer(session, set_by) == words
        assert moded(peers) == ["default"]


async def test_a_mode_without_questions_ends_when_the_permissions_forbid_it(
    autojump_clock: MockClock,
) -> None:
    """Under the other permissions it is the user's own choice."""
    async with session_with(LAX) as (session, peers):
        assert await answer(session, picking(mode="yolo")) == "ok"
        forbidden = picking(Settings(permissions="read_only"), mode="yolo")
        assert "'yolo'" in await answer(session, forbidden)
        allowed = picking(Settings(permissions="allow"), mode="yolo")
        assert await answer(session, allowed) == "ok"
        assert moded(peers) == ["yolo", "default", "yolo"]
        assert "'yolo'" in await answer(session, forbidden)


async def test_of_two_choices_the_one_counts_that_the_permissions_allow(
    autojump_clock: MockClock,
) -> None:
    settings = Settings(permissions="read_only", mode="plan")
    async with session_with({"agent": QWEN, "session": {"modes": MODES}}) as (session, peers):
        assert "'auto'" in await answer(session, picking(settings, mode="auto"))
        assert moded(peers) == ["plan"]


async def test_a_choice_that_is_taken_back_brings_no_mode_without_questions(
    autojump_clock: MockClock,
) -> None:
    """The first mode of the agent was one, while all was allowed."""
    async with session_with(LAX) as (session, peers):
        await answer(session, picking(Settings(permissions="allow"), mode="default"))
        await answer(session, picking(Settings(permissions="read_only")))
        assert moded(peers) == ["default"]


@pytest.mark.parametrize("picked", [{}, {"mode": "default"}])
async def test_an_agent_that_leaves_the_mode_itself_is_told_of_and_changed_back(
    autojump_clock: MockClock, picked: dict[str, str]
) -> None:
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "yolo"}
    turn = [{"update": update}, {"say": "done"}]
    async with session_with(lax(turn, [{"say": "ok"}], turn)) as (session, peers):
        prompt = replace(picking(Settings(permissions="read_only")), configuration=dict(picked))
        words = await answer(session, prompt)
        assert "🔀 Mode: `yolo`" in words
        assert "> ⚠️ **The agent may act without asking you**: " in words
        assert await answer(session, prompt) == "ok"
        assert moded(peers) == ["default", "default"]
        asking = replace(prompt, settings=Settings())
        words = await answer(session, asking)
        assert "🔀 Mode: `yolo`" in words
        assert "⚠️" not in words


async def test_a_choice_of_the_user_s_that_changes_the_mode_as_well_lets_the_agent_ask(
    autojump_clock: MockClock,
) -> None:
    mode = {**EFFORT, "id": "m", "category": "mode", "currentValue": "default"}
    mode["options"] = [{"value": one, "name": one} for one in ("auto", "default")]
    changed = {
        "configOptions": [{**MODEL, "currentValue": "big"}, {**mode, "currentValue": "auto"}]
    }
    script = {
        "agent": QWEN,
        "session": {"configOptions": [MODEL, mode]},
        "on": {"session/set_config_option": [[{"result": changed}], []]},
    }
    async with session_with(script) as (session, peers):
        await answer(session, picking(model="big"))
        made = [(change["configId"], change["value"]) for change in changes(peers)]
        assert made == [("llm", "big"), ("m", "default")]


async def test_an_option_without_questions_is_treated_like_a_mode(
    autojump_clock: MockClock,
) -> None:
    option: JSON = {
        "id": "allow_all",
        "name": "Allow All",
        "category": "permissions",
        "type": "select",
        "currentValue": "off",
        "options": [{"value": "on", "name": "On"}, {"value": "off", "name": "Off"}],
    }
    on = {**option, "currentValue": "on"}
    update = {"sessionUpdate": "config_option_update", "configOptions": [on]}
    script: JSON = {
        "agent": {"agentInfo": {"name": "Copilot", "version": "1"}},
        "session": {"configOptions": [option]},
        "turns": [[{"update": update}], [], []],
    }
    settings = Settings(permissions="deny")
    async with session_with(script) as (session, peers):
        words = await answer(session, picking(settings))
        assert "🔀 Allow All: `On`" in words
        assert "> ⚠️ **The agent may act without asking you**: " in words
        assert "'on'" in await answer(session, picking(settings, allow_all="on"))
        assert changes(peers) == [{"configId": "allow_all", "value": "off"}]
        await answer(session, picking(allow_all="on"))
        assert changes(peers)[1:] == [{"configId": "allow_all", "value": "on"}]


async def test_without_a_mode_in_which_the_agent_asks_nothing_is_sent_to_it(
    autojump_clock: MockClock,
) -> None:
    only: JSON = {"currentModeId": "auto", "availableModes": [{"id": "auto", "name": "Auto"}]}
    async with session_with({"agent": QWEN, "session": {"modes": only}}) as (session, peers):
        with trio.fail_after(5):
            events = await rest_of(session.run(picking(Settings(permissions="deny"))))
        assert isinstance(events[-1], Break)
        assert "has no mode 'default'" in events[-1].failure.message
        assert peers.asked("session/prompt") == []
        assert await answer(session, picking()) == "ok", "the user is asked where that can be"


async def test_where_an_agent_never_asks_the_permissions_that_it_ignores_are_named_once(
    autojump_clock: MockClock,
) -> None:
    about: JSON = {"agentInfo": {"name": "pi-acp", "version": "1"}}
    async with session_with({"agent": about}) as (session, _):
        assert await answer(session, picking()) == "ok"
        prompt = picking(Settings(permissions="read_only"))
        words = await answer(session, prompt)
        assert words.startswith(f"> ⚠️ **{NOT_ASKING}**: ")
        assert "'read_only'" in words
        assert await answer(session, prompt) == "ok"


async def test_an_agent_that_leaves_the_host_s_default_for_a_mode_without_questions_is_brought_back(
    autojump_clock: MockClock,
) -> None:
    """A host may send a default with each request, which is no choice of the user's."""
    update = {"sessionUpdate": "current_mode_update", "currentModeId": "auto"}
    async with session_with(lax([{"update": update}], [])) as (session, peers):
        for _ in range(2):
            await answer(session, picking(mode="default"))
        assert moded(peers) == ["default", "default"]


@pytest.mark.parametrize("permissions", ["ask", "allow"])
async def test_what_an_agent_changes_itself_is_no_default_of_other_chats(
    autojump_clock: MockClock, permissions: Permissions
) -> None:
    """Hosts send the defaults with the requests of every chat."""
    told: list[Told] = []
    mode = {**EFFORT, "id": "m", "category": "mode", "currentValue": "auto"}
    mode["options"] = [{"value": one, "name": one} for one in ("auto", "default")]
    new = [{**MODEL, "currentValue": "big"}, mode]
    update = {"sessionUpdate": "config_option_update", "configOptions": new}
    script = {
        "agent": QWEN,
        "session": {"configOptions": [MODEL, mode]},
        "turns": [[{"update": update}, {"say": "done"}]],
    }
    async with (
        agent_in_process(script, report_choices=kept_in(told)) as (agent, _),
        agent.session(picking()) as session,
    ):
        await answer(session, picking(Settings(permissions=permissions)))
        newest, is_new = told[-1]
        assert (newest["model"].default, newest["mode"].default) == ("small", "default")
        assert is_new


async def test_a_session_that_existed_before_tells_no_defaults(autojump_clock: MockClock) -> None:
    told: list[Told] = []
    able: JSON = {"sessionCapabilities": {"resume": {}, "close": {}}}
    script: JSON = {"agent": {"agentCapabilities": able}, "session": SESSION}
    async with agent_in_process(script, spares=False, report_choices=kept_in(told)) as (agent, _):
        async with agent.session(picking()) as session:
            await answer(session, picking(model="big"))
            assert session.handle is not None
            handle = session.handle
        async with agent.session(picking(), Resumed(handle)) as session:
            await answer(session, picking(model="big"))
            assert session.knows_history
    assert [is_new for _, is_new in told] == [True, False]
