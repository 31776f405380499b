"""A turn: what is shown, answered and broken off."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio
import trio.testing
from msgspec.structs import replace

from agents import breather
from agents.events import (
    CANCELLED,
    Await,
    Break,
    CallTool,
    Prompt,
    Say,
    Stop,
    StopReason,
    ToolAnswer,
)
from agents.open_responses.agent import OpenResponsesAgent
from agents.open_responses.response_chain import ResponseChain
from agents.open_responses.turn import EndpointTurn
from bridge.errors import LocalError
from bridge.wire import OpenResponsesSpec, Settings, ToolSpec
from tests.agents.talk import said
from tests.fakes.responses_events import Call, Output, Text
from tests.fakes.responses_server import Context, Plan, ResponsesServer, remember, responses_server
from tests.fakes.waiting import until

from .endpoints import TOOLS, agent_at, asking, events_of, failure_in, rest_of
from .words import PNG, assistant, system, user


async def until_hung_up(server: ResponsesServer, times: int = 1) -> None:
    """Wait until the server has noticed that nobody listens."""
    await until(lambda: server.hung_up >= times)


@pytest.mark.limit("agents.open_responses.turn._MOST_IN_VAIN")
async def test_a_model_that_calls_only_what_is_not_offered_is_stopped() -> None:
    """Such calls are answered without the editor, so that nobody else would stop it."""

    def model(context: Context) -> Sequence[Output]:
        if context.users[-1] != "go":
            return [Text("here")]
        name = "read_file" if len(server.bodies) == 5 else "gone"
        return [Text("."), Call(name, {})]

    async with responses_server(model) as server, agent_at(server) as agent:
        async with agent.session(asking("")) as session:
            events = await events_of(session, "go")
            assert events[-1] == Stop(StopReason.MAX_TURN_REQUESTS)
            assert len(server.bodies) == 5 + 8
            assert said(await events_of(session, "and now?")) == "here"
        kinds = [item["type"] for item in server.bodies[-1]["input"]]
        assert kinds == ["function_call_output", "message"]


async def test_a_server_s_ids_may_repeat_and_ours_do_not() -> None:
    def model(context: Context) -> Sequence[Output]:
        return [Text("done")] if context.results else [Call("read_file", {}, call_id="call_0")]

    async with responses_server(model) as server, agent_at(server) as agent:
        async with agent.session(asking("")) as one, agent.session(asking("")) as other:
            events = [*await events_of(one), *await events_of(one), *await events_of(other)]
        ids = [event.call_id for event in events if isinstance(event, CallTool)]
        assert len(set(ids)) == 3
        answered = [body["input"][0]["call_id"] for body in server.bodies[1::2]]
        assert answered == ["call_0"] * 3


@pytest.mark.parametrize("tries", range(3))
async def test_an_endpoint_that_is_cancelled_is_hung_up_on_at_once(tries: int) -> None:
    plan = [
        Plan(wait=trio.Event()),
        Plan(outputs=[], ending="hang"),
        Plan(outputs=[Text("Well")], ending="hang"),
    ][tries]
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        server.plans.append(plan)
        turn = session.run(asking("one"))
        if tries == 2:
            with trio.fail_after(5):
                assert isinstance((await turn.receive())[0], Say)
        else:
            await until(lambda: bool(server.heard))
        await session.cancel()
        assert (await rest_of(session, turn))[-1] == CANCELLED
        await until_hung_up(server)
        assert said(await events_of(session, "two")) == "one / two"


async def test_a_cancel_while_a_long_chat_is_taken_in_leaves_it_to_the_next_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(breather, "WORK_SECONDS", 0.0)  # others have their turn after each step
    earlier = tuple(user(f"earlier {n}") for n in range(20))
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        turn = session.run(replace(asking("one"), transcript=earlier))
        for _ in range(5):
            await trio.lowlevel.checkpoint()
        await session.cancel()
        with trio.fail_after(5):
            assert [batch async for batch in turn] == [(CANCELLED,)]
        server.plans.append(Plan(outputs=[Text("well")]))
        assert await events_of(session, "two")
    (body,) = server.bodies
    assert [item["content"] for item in body["input"]] == [
        *(f"earlier {n}" for n in range(20)),
        "one",
        "two",
    ]


async def test_a_cancel_while_tools_run_leaves_calls_that_are_answered_for() -> None:
    async with responses_server() as server, agent_at(server) as agent:
        async with agent.session(asking("")) as session:
            server.plans.append(Plan(outputs=[Call("read_file", {})]))
            turn = session.run(asking("one"))
            with trio.fail_after(5):
                while not isinstance((await turn.receive())[-1], Await):
                    pass
            await session.cancel()
            assert await rest_of(session, turn) == [CANCELLED]
            assert said(await events_of(session, "two")) == "one / two"
        result, question = server.bodies[-1]["input"]
        assert "No result was recorded" in result["output"]
        assert question["content"] == "two"
        assert server.bodies[-1]["previous_response_id"]


async def test_a_cancel_during_the_wait_for_a_retry_ends_it() -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        server.plans.append(Plan(503, {"retry-after": "20"}, b"busy"))
        turn = session.run(asking("one"))
        await until(lambda: bool(server.heard))
        with trio.fail_after(5):
            await session.cancel()
            assert await rest_of(session, turn) == [CANCELLED]


@pytest.mark.parametrize("seconds", [breather.WORK_SECONDS, 0.0])
async def test_what_was_not_taken_is_not_remembered(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was is, also where others have their turn while it is remembered."""
    monkeypatch.setattr(breather, "WORK_SECONDS", seconds)
    async with responses_server() as server, agent_at(server) as agent:
        async with agent.session(asking("")) as session:
            server.plans.append(Plan(outputs=[Text("abcdef", pieces=6)]))
            turn = session.run(asking("one"))
            with trio.fail_after(5):
                taken = said(await turn.receive())
            await session.cancel()
            taken += said(await rest_of(session, turn))
            await events_of(session, "two")
        assert [item["content"] for item in server.bodies[-1]["input"]] == ["one", taken, "two"]
        assert taken != "abcdef"


async def test_an_editor_that_does_not_read_stops_the_server() -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        server.plans.append(Plan(outputs=[Text("x" * 30_000_000, pieces=30)]))
        turn = session.run(asking("one"))
        with trio.fail_after(30):
            await turn.receive()
        await turn.aclose()
        await until_hung_up(server)
        with pytest.raises(trio.ClosedResourceError):
            await turn.receive()


async def test_a_message_that_can_not_be_told_breaks_the_turn_and_no_more() -> None:
    fields = {"image_in_non_user_message": "error"}
    async with responses_server() as server, agent_at(server, **fields) as agent:
        async with agent.session(asking("")) as session:
            bad = Prompt((user("a"), assistant(PNG), user("b")), tools=TOOLS)
            events = await rest_of(session, session.run(bad))
            assert isinstance(events[-1], Break)
            assert "image" in failure_in(events).message
            assert said(await events_of(session, "c")) == "c"
        assert len(server.bodies) == 1


async def test_a_turn_whose_nursery_is_cancelled_can_still_be_closed() -> None:
    async with responses_server() as server, trio.open_nursery() as outer:
        server.plans.append(Plan(outputs=[], ending="hang"))
        async with trio.open_nursery() as nursery:
            agent = OpenResponsesAgent(OpenResponsesSpec(server.base_url, "small"), nursery)
            async with agent.session(asking("")) as session:
                session.run(asking("one"))
                await until(lambda: bool(server.heard))
                nursery.cancel_scope.cancel()
        assert outer.cancel_scope.cancel_called is False


async def test_the_newest_settings_say_what_of_a_message_is_told() -> None:
    text = "<userMemory>\nnotes\n</userMemory>\n<userRequest>\nGo\n</userRequest>"
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        await events_of(session, text)
        await events_of(session, text, settings=Settings(context="request"))
    assert [body["input"][0]["content"] for body in server.bodies] == [text, "Go"]


async def test_a_turn_is_run_to_its_end_before_the_next() -> None:
    async with (
        responses_server(remember) as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        session.run(asking("one"))
        with pytest.raises(LocalError, match="still runs"):
            session.run(asking("two"))


async def test_a_turn_waits_for_what_a_closed_one_still_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Both change the conversation."""
    respond = EndpointTurn._respond  # pyright: ignore[reportPrivateUsage]
    gate = trio.Event()

    async def linger(turn: EndpointTurn) -> Stop | Break:
        try:
            return await respond(turn)
        finally:
            with trio.CancelScope(shield=True):
                await gate.wait()

    monkeypatch.setattr(EndpointTurn, "_respond", linger)
    async with (
        responses_server(remember) as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        first = session.run(asking("one"))
        await first.receive()
        await first.aclose()
        second = session.run(asking("two"))
        await trio.testing.wait_all_tasks_blocked(0.1)
        asked = len(server.bodies)
        gate.set()
        assert asked == 1
        assert "two" in said(await rest_of(session, second))


async def test_answers_that_nobody_waits_for_have_no_effect() -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        session.answer(ToolAnswer("gw-x", "stray"))
        turn = session.run(asking("one"))
        session.answer(ToolAnswer("gw-x", "stray"))
        await session.cancel()
        await session.cancel()
        assert (await rest_of(session, turn))[-1] == CANCELLED


# What the newest request has otherwise.


def instructed(text: str, system_prompt: str, *tools: str) -> Prompt:
    offered = tuple(ToolSpec(name) for name in tools)
    return Prompt((user(text),), tools=offered, system=(system(system_prompt),))


async def test_each_request_has_the_newest_system_prompt() -> None:
    """A server carries instructions over to nothing, so what was said with others is told anew."""
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        for text, prompt in (("one", "a"), ("two", "a"), ("three", "b"), ("four", "b")):
            await rest_of(session, session.run(instructed(text, prompt)))
    assert [body["instructions"] for body in server.bodies] == ["a", "a", "b", "b"]
    assert [len(body["input"]) for body in server.bodies] == [1, 1, 5, 1]


@pytest.mark.parametrize("role", ["developer", "system"])
async def test_a_system_prompt_that_is_an_item_is_the_newest_too(role: str) -> None:
    async with (
        responses_server() as server,
        agent_at(server, system_messages=role) as agent,
        agent.session(asking("")) as session,
    ):
        for text, prompt in (("one", "a"), ("two", "b"), ("three", "b")):
            await rest_of(session, session.run(instructed(text, prompt)))
    said_by_role = [
        [item["content"] for item in body["input"] if item["role"] == role]
        for body in server.bodies
    ]
    assert said_by_role == [["a"], ["b"], []]


async def test_the_request_after_a_call_has_what_is_new_by_then() -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        server.plans.append(Plan(outputs=[Call("read_file", {})]))
        turn = session.run(instructed("go", "a", "read_file"))
        with trio.fail_after(5):
            while not isinstance((await turn.receive())[-1], Await):
                pass
        await session.renew(instructed("ignored", "b", "read_file", "more"))
        (call_id,) = session.chain.open_calls
        session.answer(ToolAnswer(call_id, "done"))
        await rest_of(session, turn)
    first, second = server.bodies
    assert [first["instructions"], second["instructions"]] == ["a", "b"]
    assert [tool["name"] for tool in second["tools"]] == ["read_file", "more"]
    assert [item["type"] for item in second["input"]] == [
        "message",
        "function_call",
        "function_call_output",
    ]


async def test_a_system_prompt_that_can_not_be_told_fails_the_request_alone() -> None:
    async with (
        responses_server() as server,
        agent_at(server, image_in_non_user_message="error") as agent,
        agent.session(asking("")) as session,
    ):
        bad = Prompt((user("one"),), system=(system(PNG),))
        failure = failure_in(await rest_of(session, session.run(bad)))
        assert "can't be sent to the endpoint" in failure.message
        assert server.heard == []
        assert said(await events_of(session, "two")) == "one / two"


async def test_what_is_new_has_no_effect_before_the_first_turn() -> None:
    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        await session.renew(instructed("x", "b"))
        await events_of(session, "one")
    assert "instructions" not in server.bodies[0]


async def test_an_error_that_nobody_expected_breaks_the_turn_and_no_more(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise RuntimeError("odd")

    async with (
        responses_server() as server,
        agent_at(server) as agent,
        agent.session(asking("")) as session,
    ):
        with monkeypatch.context() as broken:
            broken.setattr(ResponseChain, "ask", fail)
            assert failure_in(await events_of(session, "one")).kind == "Internal"
        assert said(await events_of(session, "two"))
    assert len([record for record in caplog.records if record.exc_info]) == 1
