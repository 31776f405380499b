"""Hosted tools: one line each, whatever order and ids their events have; and their images once."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from agents.events import Attach, Say, Stop
from agents.open_responses.stream.hosted import is_hosted
from tests.agents.open_responses.hearing import JSON, Heard, hear
from tests.agents.open_responses.script import say, script

PNG = b"\x89PNG\r\n\x1a\nrest"
SEARCH: JSON = {"type": "web_search_call", "id": "ws_1", "status": "in_progress"}
FOUND: JSON = {
    **SEARCH,
    "status": "completed",
    "action": {"type": "search", "query": "weather `in`\nOslo"},
}
DRAWN: JSON = {
    "type": "image_generation_call",
    "id": "ig_1",
    "status": "completed",
    "result": base64.b64encode(PNG).decode(),
}


def added(item: JSON, index: int | None = 0) -> JSON:
    return {"type": "response.output_item.added", "output_index": index, "item": item}


def done(item: JSON, index: int | None = 0) -> JSON:
    return {"type": "response.output_item.done", "output_index": index, "item": item}


def progress(name: str, **fields: Any) -> JSON:
    return {"type": f"response.{name}", "item_id": "ws_1", "output_index": 0, **fields}


def end(*output: JSON) -> JSON:
    return {"type": "response.completed", "response": {"status": "completed", "output": output}}


def images(heard: Heard) -> list[Attach]:
    return [event for event in heard.events if isinstance(event, Attach)]


def test_a_search_is_a_line_that_grows_and_no_note_is_taken() -> None:
    events = [
        added(SEARCH),
        progress("web_search_call.in_progress"),
        progress("web_search_call.searching"),
        progress("web_search_call.completed"),
        done(FOUND),
    ]
    heard = hear([*events, *script(say("It rains."))[2:-1], end(FOUND)])
    assert heard.shown == "\n\n🌐 Web search: `weather 'in' Oslo` ✔\n\nIt rains."
    assert heard.text == "It rains."
    assert heard.end == Stop()
    assert heard.outcome.notes == ()
    assert heard.outcome.has_emitted


@pytest.mark.parametrize(
    "name",
    [
        "code_interpreter_call_code.delta",
        "code_interpreter_call.interpreting",
        "file_search_call.searching",
        "mcp_call_arguments.done",
        "mcp_list_tools.in_progress",
        "image_generation_call.partial_image",
        "custom_tool_call_input.delta",
        "fusion_call.started",
        "acme:look_up_call.started",
    ],
)
def test_the_progress_of_a_hosted_tool_alone_is_a_line_without_a_note(name: str) -> None:
    heard = hear([progress(name), progress(name, delta="more"), end()])
    assert heard.outcome.notes == ()
    assert heard.shown.count("\n\n") == 2
    assert heard.text == ""


@pytest.mark.limit("agents.open_responses.stream.hosted._MOST_ABOUT")
@pytest.mark.parametrize(
    ("item", "line"),
    [
        ({"type": "code_interpreter_call", "code": "\nprint(1)\nx"}, "▶️ Code: `print(1)` ✔"),
        ({"type": "file_search_call", "queries": ["a b"]}, "🔍 File search: `a b` ✔"),
        ({"type": "web_search_call", "action": {"url": "u"}}, "🌐 Web search: `u` ✔"),
        ({"type": "web_search_call", "action": {"queries": 7}}, "🌐 Web search ✔"),
        ({"type": "mcp_call", "server_label": "git", "name": "log"}, "🔧 Tool: `git: log` ✔"),
        ({"type": "mcp_call", "name": "log", "error": "no"}, "🔧 Tool: `log` ✘ *failed*"),
        ({"type": "mcp_list_tools", "server_label": "git"}, "🔧 List of tools: `git` ✔"),
        ({"type": "acme:look_up_call", "status": "failed"}, "🔧 Look up ✘ *failed*"),
        ({"type": "__call"}, "🔧 A tool ✔"),
        ({"type": "shell_call", "query": "x" * 200}, f"🔧 Shell: `{'x' * 120}…` ✔"),
    ],
)
def test_each_tool_says_what_it_is_about(item: JSON, line: str) -> None:
    assert hear([done(item), end()]).shown == f"\n\n{line}\n\n"
    assert hear([end(item)]).shown == f"\n\n{line}\n\n"


OPENROUTER: tuple[tuple[str, JSON, str], ...] = (
    ("apply_patch", {}, "🔧 Apply patch ✔"),
    ("bash", {}, "🔧 Bash ✔"),
    ("browser_use", {}, "🔧 Browser use ✔"),
    ("code_interpreter", {"code": "print(1)"}, "▶️ Code: `print(1)` ✔"),
    ("datetime", {"datetime": "2026-03-12T14:30:00.000Z"}, "🔧 Datetime ✔"),
    ("experimental__search_models", {}, "🔧 Experimental search models ✔"),
    ("file_search", {"queries": ["a b"]}, "🔍 File search: `a b` ✔"),
    ("image_generation", {"revisedPrompt": "a cat"}, "🖼️ Image: `a cat` ✔"),
    ("mcp", {"serverLabel": "git", "toolName": "log"}, "🔧 Tool: `git: log` ✔"),
    ("memory", {}, "🔧 Memory ✔"),
    ("text_editor", {}, "🔧 Text editor ✔"),
    ("tool_search", {"query": "x"}, "🔧 Tool search: `x` ✔"),
    ("web_fetch", {"url": "https://a.test"}, "🌐 Web page: `https://a.test` ✔"),
    ("web_search", {"action": {"query": "x"}}, "🌐 Web search: `x` ✔"),
    ("web_search", {"status": "failed"}, "🌐 Web search ✘ *failed*"),
)
"""The kinds of items that OpenRouter's SDK has for its own tools, as of 2026."""


@pytest.mark.parametrize(("kind", "fields", "line"), OPENROUTER, ids=str)
def test_each_tool_of_openrouter_has_one_line_and_no_note_is_taken(
    kind: str, fields: JSON, line: str
) -> None:
    begun = {"type": f"openrouter:{kind}", "id": "st_1", "status": "in_progress"}
    item = {**begun, "status": "completed", **fields}
    for events in ([added(begun), done(item), end(item)], [done(item), end()], [end(item)]):
        heard = hear([*events[:-1], *script(say("Hm."))[2:-1], events[-1]])
        assert heard.shown.replace("Hm.", "") == f"\n\n{line}\n\n"
        assert heard.outcome.notes == ()
        assert heard.end == Stop()


def test_a_tool_of_openrouter_whose_progress_is_told_as_openais_has_one_line() -> None:
    begun = {**SEARCH, "type": "openrouter:web_search"}
    found = {**FOUND, "type": "openrouter:web_search"}
    steps = [progress(f"web_search_call.{step}") for step in ("in_progress", "completed")]
    heard = hear([added(begun), *steps, done(found), end(found)])
    assert heard.shown == "\n\n🌐 Web search: `weather 'in' Oslo` ✔\n\n"


@pytest.mark.parametrize("key", ["result", "imageB64"])
def test_an_image_of_openrouters_tool_is_an_image_once(key: str) -> None:
    drawn = {"type": "openrouter:image_generation", "id": "ig_1", "status": "completed"}
    drawn[key] = DRAWN["result"]
    assert images(hear([done(drawn), end(drawn)])) == [Attach("image/png", PNG)]
    elsewhere = {**drawn, key: None, "imageUrl": "https://images.test/1.png"}
    shown = hear([done(elsewhere), end(elsewhere)]).shown
    assert shown.count("[Image](https://images.test/1.png)") == 1


def test_the_end_of_a_line_is_left_out_where_something_else_was_said_since() -> None:
    heard = hear([added(SEARCH), *script(say("Hm."))[2:-1], done(FOUND), end(FOUND)])
    assert heard.shown == "\n\n🌐 Web search\n\nHm."
    failed = {**FOUND, "status": "failed"}
    heard = hear([added(SEARCH), *script(say("Hm."))[2:-1], done(failed), end(failed)])
    assert heard.shown == "\n\n🌐 Web search\n\nHm.✘ Web search *failed*\n\n"


def test_a_call_with_other_ids_at_the_end_has_one_line() -> None:
    other = {**FOUND, "id": "tmp_1"}
    assert hear([added(SEARCH), done(FOUND), end(other)]).shown.count("Web search") == 1
    assert hear([done({**SEARCH, "id": None}), end(other)]).shown.count("Web search") == 1
    assert hear([added(SEARCH), done(other), end(other)]).shown.count("Web search") == 1
    two = hear([done(FOUND), end(other, {**FOUND, "id": "tmp_2"})])
    assert two.shown.count("Web search") == 2


@pytest.mark.parametrize("before", [[], [done({**DRAWN, "result": None})]], ids=["begun", "done"])
def test_an_image_that_is_in_the_final_output_alone_is_said_under_any_id(
    before: list[JSON],
) -> None:
    begun = added({**DRAWN, "status": "in_progress", "result": None})
    for output in ([DRAWN], [{**DRAWN, "id": "ig_2"}]):
        heard = hear([begun, *before, end(*output)])
        assert [image.data for image in images(heard)] == [PNG]
        assert heard.shown.startswith("\n\n🖼️ Image ✔")
        assert heard.shown.count("Image") == 1


def test_each_image_of_the_final_output_is_said_once_under_any_ids() -> None:
    other = {**DRAWN, "result": base64.b64encode(PNG + b"2").decode()}
    begun = [added({**DRAWN, "id": name, "result": None}, at) for at, name in enumerate("ab")]
    for first in (done({**DRAWN, "id": "a"}, 0), done({**DRAWN, "id": "b"}, 1)):
        for output in ([DRAWN, other], [other, DRAWN]):
            told = [{**item, "id": f"z{at}"} for at, item in enumerate(output)]
            heard = hear([*begun, first, end(*told)])
            assert [image.data for image in images(heard)] == [PNG, PNG + b"2"]
            assert heard.shown.count("Image") == 2
    again = [done({**DRAWN, "id": "b"}, 1), end({**DRAWN, "id": "z"})]
    assert len(images(hear([*begun, *again]))) == 1


def test_the_line_of_a_call_that_failed_under_another_id_says_so() -> None:
    failed = {**SEARCH, "id": "ws_2", "status": "failed"}
    assert hear([added(SEARCH), end(failed)]).shown.strip() == "🌐 Web search ✘ *failed*"


def test_a_beginning_that_is_told_twice_leaves_the_line_open() -> None:
    heard = hear([added(SEARCH), added(SEARCH), done(FOUND), end(FOUND)])
    assert heard.shown == "\n\n🌐 Web search: `weather 'in' Oslo` ✔\n\n"


def test_events_without_any_key_are_about_the_newest_line_of_their_kind() -> None:
    bare = {"type": "web_search_call"}
    steps = [
        {"type": f"response.web_search_call.{step}"}
        for step in ("in_progress", "searching", "completed")
    ]
    found = {**FOUND, "id": None}
    once = [added(bare, None), *steps, done(found, None)]
    line = "\n\n🌐 Web search: `weather 'in' Oslo` ✔\n\n"
    assert hear([*once, end()]).shown == line
    assert hear([*once, *once, end()]).shown == line * 2
    assert hear([*steps, end()]).shown == "\n\n🌐 Web search\n\n"
    other = {"type": "response.file_search_call.searching"}
    assert hear([*steps, other, end()]).shown.count("search") == 2


@pytest.mark.parametrize("data", [PNG, PNG + b"1", PNG + b"12", PNG + b"\xff\xfe\xfb\xf0"])
def test_an_image_may_be_written_without_padding_and_for_urls(data: bytes) -> None:
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        for text in (encode(data).decode(), encode(data).decode().rstrip("=")):
            heard = hear([done({**DRAWN, "result": text}), end()])
            assert images(heard) == [Attach("image/png", data)]


def test_an_image_that_is_not_readable_says_so() -> None:
    broken = {**DRAWN, "result": "a"}
    begun = {**DRAWN, "result": None}
    assert hear([done(broken), end()]).shown == "\n\n🖼️ Image ✘ *can't be read*\n\n"
    heard = hear([added(begun), *script(say("Hm."))[2:-1], done(broken), end()])
    assert heard.shown == "\n\n🖼️ Image\n\nHm.✘ Image *can't be read*\n\n"
    failed = {**broken, "status": "failed"}
    assert hear([done(failed), end()]).shown == "\n\n🖼️ Image ✘ *failed*\n\n"
    assert hear([done(begun), end()]).shown == "\n\n🖼️ Image ✔\n\n"


def test_a_line_ends_where_the_next_begins() -> None:
    second = {**SEARCH, "id": "ws_2"}
    heard = hear([added(SEARCH), added(second, 1)])
    assert heard.shown == "\n\n🌐 Web search\n\n\n\n🌐 Web search"


def test_two_calls_at_once_have_a_line_each() -> None:
    second = {**SEARCH, "id": "ws_2"}
    heard = hear([added(SEARCH), added(second, 1), done(FOUND), done(second, 1), end()])
    assert heard.shown.count("Web search") == 2


@pytest.mark.parametrize("prefix", ["", "data:image/png;base64,"])
def test_an_image_is_an_image_once_however_often_it_is_told(prefix: str) -> None:
    drawn = {**DRAWN, "result": prefix + DRAWN["result"]}
    partial = progress("image_generation_call.partial_image", partial_image_b64="aaaa")
    begun = {**drawn, "result": None, "status": "in_progress"}
    heard = hear([added(begun), partial, done(drawn), done(drawn), end(drawn)])
    assert images(heard) == [Attach("image/png", PNG)]
    assert heard.shown == "\n\n🖼️ Image ✔\n\n"
    assert images(hear([added(begun), done(begun), end(drawn)])) == [Attach("image/png", PNG)]


def test_an_image_elsewhere_is_a_link_and_no_image_is_none() -> None:
    elsewhere = {**DRAWN, "result": "https://images.test/1.png"}
    assert "[Image](https://images.test/1.png)" in hear([done(elsewhere), end()]).shown
    for odd in ("a", "", None, "é", 7):
        assert not images(hear([done({**DRAWN, "result": odd}), end()]))


@pytest.mark.limit("agents.open_responses.stream.hosted._MOST_LINES")
def test_so_many_calls_have_a_line() -> None:
    calls = [{**SEARCH, "id": f"ws_{number}"} for number in range(1_001)]
    events = [event for number, call in enumerate(calls) for event in (added(call, number),)]
    assert hear([*events, done(calls[-1], 1_000), end()]).shown.count("Web search") == 1_000


def test_calls_of_the_editors_tools_are_no_hosted_ones() -> None:
    assert not is_hosted("function_call")
    assert not is_hosted("message")
    assert not is_hosted(None)
    assert not is_hosted("openrouter:function_call")
    assert not is_hosted("openrouter:")
    assert not is_hosted("acme:bash")
    told = hear([progress("function_call_arguments.other"), end()])
    assert not [event for event in told.events if isinstance(event, Say)]
