"""The endpoints over a real socket on the loopback, with Eliza behind them: so no mock clock."""

from __future__ import annotations

from base64 import b64encode
from pathlib import Path
from typing import Any

import pytest
import trio
import trio.testing

from agents.events import Await, Break, CallTool, Say, ToolAnswer
from bridge.errors import Failure
from tests.fakes.acp_agents import agent_in_process
from tests.fakes.http_face import PATIENCE, events_in, open_face, text_of
from tests.fakes.scripted_agent import Hang, ScriptedAgent
from tests.fakes.waiting import until
from vscodelm.http_server.app import DRAIN_SECONDS, Guarded
from vscodelm.http_server.gate import gate_of
from vscodelm.http_server.port import MOST_UNSENT

WEATHER: dict[str, Any] = {
    "type": "function",
    "name": "get_weather",
    "description": "The weather.",
    "parameters": {"type": "object", "properties": {"place": {"type": "string"}}},
}


async def test_the_models_are_listed(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        listed = (await face.get("models")).json()
    assert [model["id"] for model in listed["data"]] == ["eliza"]


async def test_a_text_is_answered_with_a_message(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        response = await face.respond("I am sad", metadata={"a": "b"}, temperature=0.5)
    (message,) = response["output"]
    assert message["role"] == "assistant"
    assert "sad" in text_of(response)
    assert (response["status"], response["usage"]) == ("completed", None)
    assert (response["metadata"], response["temperature"]) == ({"a": "b"}, 0.5)


async def test_a_stream_has_the_events_in_their_order(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        events = await face.events("Hello!")
    kinds = [event["type"].removeprefix("response.") for event in events]
    deltas = [event["delta"] for event in events if "delta" in event["type"]]
    assert [kind for kind in kinds if kind != "output_text.delta"] == [
        "created",
        "in_progress",
        "output_item.added",
        "content_part.added",
        "output_text.done",
        "content_part.done",
        "output_item.done",
        "completed",
    ]
    assert "".join(deltas) == text_of(events[-1]["response"])


async def test_a_response_goes_on_from_the_one_before(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("My dog ate the homework.")
        second = await face.respond("Hm.", previous_response_id=first["id"])
        assert "dog" in text_of(second)
        assert second["previous_response_id"] == first["id"]


async def test_the_agents_session_goes_on_with_only_what_is_new(tmp_path: Path) -> None:
    agent = ScriptedAgent(lambda session, _prompt: [Say(f"prompt {len(session.prompts)}")])
    async with open_face(tmp_path, agent) as face:
        first = await face.respond("one", instructions="Be brief.")
        second = await face.respond("two", previous_response_id=first["id"])
        whole = [
            {"role": "user", "content": "one"},
            *first["output"],
            {"role": "user", "content": "two"},
            *second["output"],
            {"role": "user", "content": "three"},
        ]
        third = await face.respond(whole)
    assert [text_of(one) for one in (first, second, third)] == ["prompt 1", "prompt 2", "prompt 3"]


async def test_lineage_survives_a_restart(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("My dog ate the homework.")
    async with open_face(tmp_path) as face:
        second = await face.respond("Hm.", previous_response_id=first["id"])
        assert "dog" in text_of(second)
        assert (await face.get(f"responses/{first['id']}")).json() == first


async def test_a_response_that_is_not_the_newest_gets_a_branch(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("My dog ate the homework.")
        await face.respond("I like cats.", previous_response_id=first["id"])
        other = await face.respond("Hm.", previous_response_id=first["id"])
    assert "cats" not in text_of(other)
    assert "dog" in text_of(other)


async def test_what_is_not_stored_can_not_be_gone_on_from(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("Hello!", store=False)
        body = {"model": "eliza", "input": "x", "previous_response_id": first["id"]}
        error = await face.fails(404, body)
        assert (await face.get(f"responses/{first['id']}")).status_code == 404
    assert error["code"] == "previous_response_not_found"
    assert error["param"] == "previous_response_id"


async def test_a_response_is_read_and_deleted(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("Hello!")
        second = await face.respond("Hm.", previous_response_id=first["id"])
        place = f"responses/{first['id']}"
        items = (await face.get(f"{place}/input_items")).json()
        assert (await face.get(place)).json() == first
        assert (await face.http.delete(place)).json()["deleted"] is True
        assert (await face.get(place)).status_code == 404
        assert (await face.http.delete(place)).status_code == 404
        body = {"model": "eliza", "input": "x", "previous_response_id": second["id"]}
        assert (await face.fails(404, body))["code"] == "previous_response_not_found"
    assert items["data"][0]["content"] == [{"type": "input_text", "text": "Hello!"}]


async def test_the_items_of_an_input_come_in_pages(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        items = [{"role": "user", "content": f"word {n}"} for n in range(5)]
        made = await face.respond(items)
        place = f"responses/{made['id']}/input_items"
        page = (await face.get(f"{place}?limit=2&order=asc")).json()
        rest = (await face.get(f"{place}?order=asc&after={page['last_id']}")).json()
        newest = (await face.get(f"{place}?limit=1")).json()
        limits = ["0", "101", "x", "00100000", f"001{'9' * 5000}", "\N{SUPERSCRIPT TWO}"]
        wrong = [await face.get(f"{place}?limit={one}") for one in limits]
    assert [item["content"] for item in page["data"]] == ["word 0", "word 1"]
    assert page["has_more"] is True
    assert [item["content"] for item in rest["data"]] == ["word 2", "word 3", "word 4"]
    assert newest["data"][0]["content"] == "word 4"
    assert [one.status_code for one in wrong] == [400] * len(limits)


async def test_pages_go_on_after_equal_ids_and_not_after_an_unknown_one(tmp_path: Path) -> None:
    ids = ["x", "x", "y", "x", "item_5", ""]
    items = [{"role": "user", "content": str(n), "id": name} for n, name in enumerate(ids)]
    async with open_face(tmp_path) as face:
        place = f"responses/{(await face.respond(items))['id']}/input_items"
        seen: list[str] = []
        page = (await face.get(f"{place}?limit=1&order=asc")).json()
        for _ in ids:
            seen += [item["content"] for item in page["data"]]
            page = (await face.get(f"{place}?limit=1&order=asc&after={page['last_id']}")).json()
            if not page["data"]:
                break
        unknown = await face.get(f"{place}?after=nobody")
    assert seen == ["0", "1", "2", "3", "4", "5"]
    assert (unknown.status_code, unknown.json()["error"]["param"]) == (400, "after")


async def test_calls_end_a_response_and_their_results_resume_the_turn(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        asked = '!tool get_weather {"place": "Rome"}\n!tool get_weather {"place": "Oslo"}'
        response = await face.respond(asked, tools=[WEATHER])
        calls = [item for item in response["output"] if item["type"] == "function_call"]
        assert [call["arguments"] for call in calls] == ['{"place":"Rome"}', '{"place":"Oslo"}']
        results = [
            {"type": "function_call_output", "call_id": one["call_id"], "output": f"it is {word}"}
            for one, word in zip(calls, ("hot", "cold"), strict=True)
        ]
        ended = await face.respond(
            results[::-1], tools=[WEATHER], previous_response_id=response["id"]
        )
        whole = [{"role": "user", "content": asked}, *response["output"], *results]
        again = await face.respond(whole, tools=[WEATHER])
    assert text_of(ended).index("it is hot") < text_of(ended).index("it is cold")
    assert again["status"] == "completed"


async def test_a_turn_waits_for_all_results_and_some_of_them_are_refused(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        asked = '!tool get_weather {"place": "Rome"}\n!tool get_weather {"place": "Oslo"}'
        response = await face.respond(asked, tools=[WEATHER])
        calls = [item for item in response["output"] if item["type"] == "function_call"]
        results = [
            {"type": "function_call_output", "call_id": one["call_id"], "output": f"it is {word}"}
            for one, word in zip(calls, ("hot", "cold"), strict=True)
        ]
        body = {"model": "eliza", "tools": [WEATHER], "previous_response_id": response["id"]}
        error = await face.fails(400, {**body, "input": results[1:]})
        ended = await face.respond(results, tools=[WEATHER], previous_response_id=response["id"])
    assert error["param"] == "input"
    assert error["message"] == f"No tool output found for function call {calls[0]['call_id']}."
    assert "it is hot" in text_of(ended)
    assert "it is cold" in text_of(ended)


async def test_a_question_in_place_of_results_ends_the_calls_with_an_error(tmp_path: Path) -> None:
    call = CallTool("c1", "get_weather", {})
    agent = ScriptedAgent([[call, Await(), Say("well")], [Say("hello")]])
    async with open_face(tmp_path, agent) as face:
        first = await face.respond("Rome?", tools=[WEATHER])
        second = await face.respond("Hi!", tools=[WEATHER], previous_response_id=first["id"])
    (answer,) = agent.answers
    assert isinstance(answer, ToolAnswer)
    assert answer.is_error
    assert "hello" in text_of(second)


async def test_a_result_without_its_call_is_refused(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        item = {"type": "function_call_output", "call_id": "nobody", "output": "x"}
        error = await face.fails(400, {"model": "eliza", "input": [item]})
    assert error["code"] == "tool_call_not_found"


async def test_a_reference_stands_for_an_item_of_a_kept_response(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("My dog ate the homework.")
        reference = {"type": "item_reference", "id": first["output"][0]["id"]}
        said = {"role": "user", "content": "My dog ate the homework."}
        second = await face.respond([said, reference, {"role": "user", "content": "Hm."}])
        assert "dog" in text_of(second)
        unknown = {"type": "item_reference", "id": "msg_unknown"}
        error = await face.fails(404, {"model": "eliza", "input": [unknown]})
    assert error["code"] == "item_not_found"


@pytest.mark.parametrize(
    ("permissions", "offered", "answer"),
    [
        ("read_only", False, "denied"),
        ("allow", False, "allowed"),
        ("ask", False, "denied"),
        ("ask", True, None),
    ],
)
async def test_an_agent_acts_by_the_servers_policy(
    tmp_path: Path, permissions: Any, offered: bool, answer: str | None
) -> None:
    tool = {"type": "function", "name": "symposium-agent-action"}
    tools = [tool] if offered else []
    async with open_face(tmp_path, permissions=permissions) as face:
        response = await face.respond("!permission Delete everything", tools=tools)
        if answer is None:
            (call,) = [one for one in response["output"] if one["type"] == "function_call"]
            assert call["name"] == "symposium-agent-action"
            result = {"type": "function_call_output", "call_id": call["call_id"]}
            response = await face.respond(
                [{**result, "output": "Approved"}],
                tools=tools,
                previous_response_id=response["id"],
            )
    assert (answer or "allowed") in text_of(response)


async def test_the_agents_own_calls_are_items_that_a_client_may_skip(tmp_path: Path) -> None:
    call = {"sessionUpdate": "tool_call", "toolCallId": "1", "title": "List", "kind": "execute"}
    news = {"sessionUpdate": "tool_call_update", "toolCallId": "1", "status": "completed"}
    output = [{"type": "content", "content": {"type": "text", "text": "a.txt"}}]
    turn = [
        {"say": "Let me look. "},
        {"update": {**call, "status": "in_progress", "rawInput": {"command": "ls"}}},
        {"update": {**news, "content": output}},
        {"say": "There is a file."},
    ]
    turns = [turn, [{"memory": True}]]
    async with (
        agent_in_process({"turns": turns}) as (agent, _),
        open_face(tmp_path, agent) as face,
    ):
        events = await face.events("Look!")
        response = events[-1]["response"]
        skipped = [item for item in response["output"] if item["type"] == "message"]
        whole = [
            {"role": "user", "content": "Look!"},
            *skipped,
            {"role": "user", "content": "Go on."},
        ]
        second = await face.respond(whole)
    (own,) = [item for item in response["output"] if item["type"] == "vscodelm:tool_call"]
    assert (own["name"], own["status"], own["output"]) == ("execute", "completed", "a.txt")
    assert own["arguments"] == '{"command":"ls"}'
    assert "🔧" not in text_of(response)
    assert text_of(second).count("Look!") == 1  # the session went on


async def test_the_image_of_an_agent_is_an_item_and_the_text_tells_of_it(tmp_path: Path) -> None:
    data = b64encode(b"\x89PNG" + b"x" * 9_000).decode()
    content = {"type": "image", "data": data, "mimeType": "image/png"}
    update = {"sessionUpdate": "agent_message_chunk", "content": content}
    turn = [{"say": "Here it is."}, {"update": update}]
    asked = {"role": "user", "content": "Draw!"}
    async with (
        agent_in_process({"turns": [turn, [{"memory": True}], turn]}) as (agent, _),
        open_face(tmp_path, agent) as face,
    ):
        events = await face.events("Draw!")
        response = events[-1]["response"]
        second = await face.respond([asked, *response["output"], {**asked, "content": "Go on."}])
        body = {"model": "eliza", "messages": [{**asked, "content": "Draw once more!"}]}
        (choice,) = (await face.post("chat/completions", body)).json()["choices"]
    (image,) = [item for item in response["output"] if item["type"] == "vscodelm:image"]
    assert (image["result"], image["mime_type"]) == (data, "image/png")
    assert "Image (image/png" in text_of(response)
    assert text_of(second).count("Draw!") == 1  # the session went on
    assert "Image (image/png" in choice["message"]["content"]


async def test_thinking_comes_as_the_summary_of_reasoning(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        events = await face.events("!think")
    kinds = [event["type"].removeprefix("response.") for event in events]
    assert kinds.index("reasoning_summary_part.added") < kinds.index("reasoning_summary_text.delta")
    assert kinds.index("reasoning_summary_part.done") < kinds.index("content_part.added")
    reasoning, message = events[-1]["response"]["output"]
    assert reasoning["summary"][0]["text"]
    assert message["content"][0]["text"]


async def test_a_failure_before_the_first_part_has_a_status_of_its_own(tmp_path: Path) -> None:
    agent = ScriptedAgent(lambda _session, _prompt: [Break(Failure("AgentFailed", "It died."))])
    async with open_face(tmp_path, agent) as face:
        for fields in ({}, {"stream": True}):
            error = await face.fails(502, {"model": "eliza", "input": "x", **fields})
            assert (error["code"], error["message"]) == ("agent_failed", "It died.")


async def test_a_failure_amid_a_stream_ends_it(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        *_, error, failed = await face.events("!error")
        kept = (await face.get(f"responses/{failed['response']['id']}")).json()
    assert error["error"]["code"] == "agent_failed"
    assert failed["type"] == "response.failed"
    assert failed["response"] == kept
    assert kept["output"][0]["status"] == "incomplete"


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"background": True}, "background"),
        ({"text": {"format": {"type": "json_schema"}}}, "text.format"),
        ({"tool_choice": "required"}, "tool_choice"),
        ({"model": None}, "model"),
        ({"input": None}, "input"),
        ({"input": 5}, "input"),
        ({"tools": [{"type": "web_search"}]}, "tools[0].type"),
        ({"input": [{"role": "nobody", "content": "x"}]}, "input[0].role"),
    ],
)
async def test_a_refusal_names_the_field(
    tmp_path: Path, fields: dict[str, Any], param: str
) -> None:
    async with open_face(tmp_path) as face:
        error = await face.fails(400, {"model": "eliza", "input": "x", **fields})
    assert error["param"] == param
    assert error["type"] == "invalid_request"


async def test_an_unknown_model_and_an_unknown_path_are_not_found(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        error = await face.fails(404, {"model": "nobody", "input": "x"})
        assert (error["code"], error["param"]) == ("model_not_found", "model")
        assert (await face.get("nothing")).json()["error"]["code"] == "not_found"
        assert (await face.get("responses/compact")).json()["error"]["code"] == "response_not_found"
        refused = await face.get("chat/completions")
        assert (refused.status_code, refused.headers["allow"]) == (405, "POST")
        refused = await face.http.put("responses/x")
        assert refused.status_code == 405
        assert {*refused.headers["allow"].split(", ")} == {"GET", "HEAD", "DELETE"}


async def test_a_client_that_leaves_cancels_its_turn_and_the_next_request_goes_on(
    tmp_path: Path,
) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("My dog ate the homework.")
        body = {"model": "eliza", "input": "!hang", "stream": True}
        body["previous_response_id"] = first["id"]
        with trio.fail_after(PATIENCE):
            async with face.http.stream("POST", "responses", json=body) as stream:
                assert stream.status_code == 200
            await until(lambda: not face.answering.port.replies)
        after = await face.respond("Hm.", previous_response_id=first["id"])
    assert "dog" in text_of(after)


async def test_a_response_is_cancelled_by_its_id_and_stays_as_far_as_it_came(
    tmp_path: Path,
) -> None:
    async with open_face(tmp_path) as face:
        text = ""
        ended: dict[str, Any] = {}
        body = {"model": "eliza", "input": "!hang", "stream": True}
        with trio.fail_after(PATIENCE):
            async with face.http.stream("POST", "responses", json=body) as stream:
                async for chunk in stream.aiter_text():
                    text += chunk
                    if not ended and "delta" in text:
                        named = text.split('"id":"')[1].split('"')[0]
                        running = (await face.get(f"responses/{named}")).json()
                        assert running["status"] == "in_progress"
                        assert (await face.http.delete(f"responses/{named}")).status_code == 409
                        items = await face.get(f"responses/{named}/input_items")
                        assert len(items.json()["data"]) == 1
                        ended = (await face.post(f"responses/{named}/cancel", {})).json()
        last = events_in(text)[-1]
        assert last["type"] == "response.incomplete"
        assert last["response"] == ended
        assert ended["incomplete_details"] == {"reason": "cancelled"}
        assert (await face.post(f"responses/{ended['id']}/cancel", {})).json() == ended
        assert (await face.post("responses/nobody/cancel", {})).status_code == 404


@pytest.mark.limit("vscodelm.http_server.answering.BUSY_SECONDS")
async def test_a_response_that_is_being_written_can_not_be_continued(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        body = {"model": "eliza", "input": "!hang", "stream": True}
        error: dict[str, Any] = {}
        other: dict[str, Any] = {}
        text, named = "", ""
        with trio.fail_after(PATIENCE):
            async with face.http.stream("POST", "responses", json=body) as stream:
                async for piece in stream.aiter_text():
                    text += piece
                    if "delta" in text and not named:
                        named = text.split('"id":"')[1].split('"')[0]
                        error = await face.fails(409, {**body, "previous_response_id": named})
                        other = await face.respond("Hello!")  # a chat of somebody else
                        await face.post(f"responses/{named}/cancel", {})
    assert error["code"] == "conversation_busy"
    assert other["status"] == "completed"


async def test_requests_that_continue_one_response_are_branches_also_at_the_same_moment(
    tmp_path: Path,
) -> None:
    agent = ScriptedAgent(
        lambda session, prompt: (
            [Say(f"{len(session.prompts)} ")]
            + ([Hang()] if "wait" in str(prompt) else [Say("done")])
        )
    )
    async with open_face(tmp_path, agent) as face:
        first = await face.respond("one")
        fields = {"previous_response_id": first["id"]}
        said: list[str] = []

        async def ask(text: str) -> None:
            said.append(text_of(await face.respond(text, **fields)))

        with trio.fail_after(PATIENCE):
            body = {"model": "eliza", "input": "wait", "stream": True, **fields}
            async with face.http.stream("POST", "responses", json=body) as stream:
                assert stream.status_code == 200
                async with trio.open_nursery() as nursery:
                    for text in ("a", "b", "c"):
                        nursery.start_soon(ask, text)
    assert said == ["1 done"] * 3  # the session of the first response is waiting elsewhere


@pytest.mark.limit("vscodelm.http_server.port.MOST_UNSENT")
async def test_a_client_that_does_not_read_stops_the_agent_and_no_other(tmp_path: Path) -> None:
    piece = "word " * 2_000
    agent = ScriptedAgent(lambda _session, _prompt: [*[Say(piece)] * 4_000, Hang()])
    async with open_face(tmp_path, agent) as face:
        body = {"model": "eliza", "input": "Talk!", "stream": True}
        with trio.fail_after(PATIENCE):
            async with face.http.stream("POST", "responses", json=body):
                (reply,) = face.answering.port.replies
                await until(lambda: reply.unsent >= MOST_UNSENT)
                assert reply.unsent < 2 * MOST_UNSENT
                assert (await face.get("models")).status_code == 200


async def test_compaction_restores_the_transcript(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        first = await face.respond("My dog ate the homework.")
        body = {"model": "eliza", "previous_response_id": first["id"], "instructions": "Be kind."}
        compacted = (await face.post("responses/compact", body)).json()
        (item,) = compacted["output"]
        response = await face.respond([item, {"role": "user", "content": "Hm."}])
        changed = {**item, "encrypted_content": "x" + item["encrypted_content"]}
        error = await face.fails(400, {"model": "eliza", "input": [changed]})
        nameless = await face.fails(400, {"input": "x"}, "responses/compact")
    assert "dog" in text_of(response)
    assert error["code"] == "invalid_compaction"
    assert nameless["param"] == "model"


async def test_chat_completions_are_answered_by_the_same_core(tmp_path: Path) -> None:
    async with open_face(tmp_path) as face:
        body: dict[str, Any] = {
            "model": "eliza",
            "messages": [{"role": "user", "content": '!tool get_weather {"place": "Rome"}'}],
            "tools": [{"type": "function", "function": {"name": "get_weather"}}],
        }
        (choice,) = (await face.post("chat/completions", body)).json()["choices"]
        (call,) = choice["message"]["tool_calls"]
        result = {"role": "tool", "tool_call_id": call["id"], "content": "hot"}
        body["messages"] += [choice["message"], result]
        body["stream"] = True
        stream = (await face.post("chat/completions", body)).text
    assert choice["finish_reason"] == "tool_calls"
    assert call["function"] == {"name": "get_weather", "arguments": '{"place":"Rome"}'}
    assert "hot" in stream
    assert stream.endswith("data: [DONE]\n\n")


@pytest.mark.limit("vscodelm.http_server.app.DRAIN_SECONDS")
async def test_a_client_that_does_not_read_a_refusal_is_left(
    autojump_clock: trio.testing.MockClock,
) -> None:
    async def sleep(*_: Any) -> Any:
        await trio.sleep_forever()

    guarded = Guarded(sleep, gate_of("token-of-this-test", "127.0.0.1", 1, ()))
    scope = {"type": "http", "headers": [(b"host", b"127.0.0.1:1")]}
    with trio.fail_after(DRAIN_SECONDS + 1):
        await guarded(scope, sleep, sleep)
    assert trio.current_time() >= DRAIN_SECONDS


async def test_the_error_of_a_completion_names_its_message(tmp_path: Path) -> None:
    messages = [{"role": "user", "content": "Hello!"}, {"role": "nobody", "content": "x"}]
    async with open_face(tmp_path) as face:
        error = await face.fails(400, {"model": "eliza", "messages": messages}, "chat/completions")
    assert error["param"] == "messages[1].role"
