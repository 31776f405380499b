from __future__ import annotations

import json
from typing import Any

import attrs
import pytest
from msgspec import Raw

from agents.acp.calls.identity import (
    editors_tool,
    is_of_another,
    is_still,
    may_be_editors,
    spellings,
)
from agents.acp.calls.state import CallRecord
from agents.acp.schema.content import (
    Content,
    Diff,
    TextContent,
    ToolCallLocation,
    ToolCallUpdate,
)
from bridge.wire import ToolSpec
from tests.agents.acp.offered import IdsNameTools, Offered, TitlesNameTools, WithUsersServers

SERVER = "vsca1b2c3"
SCHEMA = Raw(json.dumps({"type": "object", "properties": {"path": {}}}).encode())
OFFER = Offered.of(SERVER, ToolSpec("read_file", "", SCHEMA), "bare")
ID_NAMES = attrs.evolve(OFFER, owner=IdsNameTools())
BELIEVED = attrs.evolve(OFFER, owner=TitlesNameTools())
OURS = f"mcp__{SERVER}__read_file"


def recognised(**news: Any) -> str | None:
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", **news))
    tool = editors_tool(call, OFFER)
    return None if tool is None else tool.name


def meta(name: str) -> dict[str, Any]:
    return {"claudeCode": {"toolName": name}}


@pytest.mark.parametrize("spelled", sorted(spellings(SERVER, "read_file")))
def test_a_tool_is_recognised_as_agents_write_it(spelled: str) -> None:
    assert recognised(name=spelled) == "read_file"
    assert recognised(meta=meta(spelled)) == "read_file"
    assert recognised(title=spelled) == "read_file"


def test_the_spellings_of_real_agents_are_known() -> None:
    assert {
        "vs/add_numbers",  # fast-agent
        "Tool: vs/add_numbers",  # codex
        "mcp.vs.add_numbers",  # codex, later
        "add_numbers (vs MCP Server)",  # gemini
        "mcp__vs__add_numbers",  # claude
        "vs_add_numbers",  # opencode
        "vs-add_numbers",  # copilot
        "mcp_vs.add_numbers",  # vibe
        "mcp_vs_add_numbers",
        "vs__add_numbers",
    } <= spellings("vs", "add_numbers")


@pytest.mark.parametrize(
    "title",
    [
        "",
        "read_file",
        f"{OURS} ",
        f"{OURS} && rm -rf /",
        f"# {OURS}",
        OURS.upper(),
        f"mcp__{SERVER}__run",
        "mcp__vscother__read_file",
        f"mcp__{SERVER}__",
        SERVER,
    ],
)
def test_any_other_title_is_not(title: str) -> None:
    assert recognised(title=title) is None


def test_what_the_agent_says_of_the_tool_decides_whatever_the_title() -> None:
    assert recognised(title=OURS, name="bash") is None
    assert recognised(title=OURS, meta=meta("Bash")) is None
    assert recognised(title="Read a file", name=OURS) == "read_file"
    assert recognised(title="Read a file", meta=meta(OURS)) == "read_file"
    assert recognised(name="bash", meta=meta(OURS)) is None
    assert recognised(title="Read a file", meta={"toolName": OURS}) == "read_file"
    assert recognised(title=OURS, meta={"toolName": "read_file"}) is None
    assert recognised(title=OURS, meta={"toolName": "run_shell_command"}) is None


@pytest.mark.parametrize("kind", ["execute", "edit", "delete", "move", "fetch", "switch_mode", "?"])
def test_a_title_does_not_make_a_dangerous_kind_ours(kind: str) -> None:
    assert recognised(title=OURS, kind=kind) is None
    assert recognised(name=OURS, kind=kind) == "read_file"


CODEX = {"is_mcp_tool_call": True}


def test_codex_marks_a_call_over_mcp_and_its_wrapper_says_of_which_tool() -> None:
    """Its kind is `execute` for every tool. A model can choose neither the mark nor the keys."""
    wrapped = {"server": SERVER, "tool": "read_file", "arguments": {"path": "a"}}
    assert recognised(title="x", kind="execute", raw_input=wrapped, meta=CODEX) == "read_file"
    assert recognised(title=OURS, kind="execute", raw_input=wrapped) is None
    other = {**wrapped, "server": "other"}
    assert recognised(title=OURS, raw_input=other, meta=CODEX) is None
    assert recognised(title="x", kind="execute", raw_input={"command": "x"}, meta=CODEX) is None
    assert recognised(title="x", raw_input=wrapped, meta={"is_mcp_tool_call": 1}) is None


def test_what_is_put_around_the_input_of_a_question_says_nothing_against_a_tool() -> None:
    """Kilo asks before it announces, and tells the input in a wrapper, with nothing beside it."""
    assert recognised(title=OURS, raw_input={"mcpInput": {"path": "a"}}) == "read_file"
    assert recognised(title=OURS, raw_input={"mcpInput": {"command": "x"}}) is None
    assert recognised(title=OURS, raw_input={"mcpInput": {"path": "a"}, "command": "x"}) is None
    assert recognised(title=OURS, raw_input={"mcpInput": "rm -rf /"}) is None


@pytest.mark.parametrize("kind", ["other", "read", "search", "think"])
def test_a_title_of_a_harmless_kind_counts(kind: str) -> None:
    assert recognised(title=OURS, kind=kind) == "read_file"


@pytest.mark.parametrize(
    "raw",
    [
        {"command": "rm -rf /"},
        {"path": "a", "command": "x"},
        {"server": "other", "tool": "read_file", "arguments": {}},
        {"server": SERVER, "tool": "other", "arguments": {}},
        {"server": SERVER, "command": "x"},
        ["rm"],
        "rm",
    ],
)
def test_a_title_does_not_count_beside_the_input_of_another_tool(raw: Any) -> None:
    assert recognised(title=OURS, raw_input=raw) is None


@pytest.mark.parametrize(
    "raw",
    [
        None,
        {},
        {"path": "a"},
        {"server": SERVER, "tool": "read_file", "arguments": {"path": "a"}},
        {"server": SERVER},
    ],
)
def test_a_title_counts_beside_an_input_of_the_tool(raw: Any) -> None:
    assert recognised(title=OURS, raw_input=raw) == "read_file"


def test_a_title_does_not_count_where_a_file_is_changed_or_named() -> None:
    assert recognised(title=OURS, content=(Diff("/a", "new"),)) is None
    assert recognised(title=OURS, locations=(ToolCallLocation("/a"),)) is None
    told = (Content(TextContent("path: a")),)
    assert recognised(title=OURS, content=told) == "read_file"


def test_a_tool_without_parameters_takes_none() -> None:
    title = f"{SERVER}/bare"
    assert recognised(title=title, raw_input={}) == "bare"
    assert recognised(title=title, raw_input={"x": 1}) is None


def test_what_was_said_of_a_call_before_counts() -> None:
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", meta=meta("Bash")))
    call.learn(ToolCallUpdate("c1", title=OURS, meta={"claudeCode": {}}))
    assert editors_tool(call, OFFER) is None


@pytest.mark.parametrize(
    ("news", "is_so"),
    [
        ({"title": "Done"}, True),
        ({"raw_input": {"path": "a"}}, True),
        ({"content": (Content(TextContent("found")),)}, True),
        ({"name": OURS, "raw_input": {"command": "x"}}, True),
        ({"name": "bash"}, False),
        ({"meta": meta("Bash")}, False),
        ({"meta": meta(f"mcp__{SERVER}__bare")}, False),
        ({"kind": "execute"}, False),
        ({"raw_input": {"command": "rm -rf /"}}, False),
        ({"content": (Diff("/a", "new"),)}, False),
        ({"locations": (ToolCallLocation("/a"),)}, False),
    ],
)
def test_what_is_said_later_of_a_call_may_make_it_another_tools(
    news: dict[str, Any], is_so: bool
) -> None:
    call = CallRecord("c1", title=OURS)
    tool = editors_tool(call, OFFER)
    assert tool is not None
    call.learn(ToolCallUpdate("c1", **news))
    assert is_still(call, tool, OFFER) is is_so


@pytest.mark.parametrize("kind", ["execute", "edit", "delete", "?"])
def test_where_no_model_chooses_titles_the_kind_says_nothing_against_one(kind: str) -> None:
    def recognised_in_it(**news: Any) -> bool:
        call = CallRecord("c1")
        call.learn(ToolCallUpdate("c1", **news))
        return editors_tool(call, BELIEVED) is not None

    assert recognised_in_it(title=OURS, kind=kind)
    assert not recognised_in_it(title="read_file", kind=kind)
    assert not recognised_in_it(title=OURS, kind=kind, raw_input={"command": "rm -rf /"})
    assert not recognised_in_it(title=OURS, kind=kind, content=(Diff("/a", "new"),))


def by_id(call_id: str, offer: Offered = ID_NAMES, **news: Any) -> str | None:
    call = CallRecord(call_id)
    call.learn(ToolCallUpdate(call_id, **news))
    tool = editors_tool(call, offer)
    return None if tool is None else tool.name


@pytest.mark.parametrize("end", ["__call-1-1", "__x", "-1795459000000-3"])
def test_an_id_that_begins_with_the_name_of_a_tool_says_of_which_a_call_is(end: str) -> None:
    """The title is what the tool is given, in an argument called `command`."""
    call_id = f"mcp_{SERVER}_read_file{end}"
    assert by_id(call_id, title="ls", raw_input={"path": "a"}) == "read_file"
    assert by_id(call_id, OFFER, title="ls", raw_input={"path": "a"}) is None, "a model's own id"
    assert by_id(f"mcp_{SERVER}_bare{end}", title="ls") == "bare"


@pytest.mark.parametrize("kind", ["execute", "edit", "delete", "move", "fetch", "?"])
def test_the_kind_and_what_is_given_count_beside_an_id(kind: str) -> None:
    call_id = f"mcp_{SERVER}_read_file__1"
    assert by_id(call_id, title="ls", kind=kind) is None
    assert by_id(call_id, title="ls", raw_input={"command": "rm -rf /"}) is None
    assert by_id(call_id, title="ls", content=(Diff("/a", "new"),)) is None
    assert by_id(call_id, title="ls", locations=(ToolCallLocation("/a"),)) is None


@pytest.mark.parametrize(
    "call_id",
    [
        f"run_shell_command__mcp_{SERVER}_read_file__1",
        f"run_shell_command-mcp_{SERVER}_read_file-1-1",
        "mcp_other_read_file__1",
        f"mcp_{SERVER}_other__1",
        f"mcp_{SERVER}_read__file__1",
        f"mcp_{SERVER}_read_file2-1-1",
        f"x mcp_{SERVER}_read_file__1",
    ],
)
def test_an_id_that_names_another_tool_decides_against_a_title(call_id: str) -> None:
    assert by_id(call_id, title=f"read_file ({SERVER} MCP Server)") is None


def test_where_an_id_names_nothing_the_title_counts() -> None:
    for call_id in ("c1", f"mcp_{SERVER}_read_file", f"mcp_{SERVER}_read_file-1"):
        assert by_id(call_id, title="ls") is None
        assert by_id(call_id, title=OURS) == "read_file"


def form(server: str, kind: str = "mcp_tool_call") -> dict[str, Any]:
    """Return what codex asks with."""
    return {
        "server_name": server,
        "request": {"_meta": {"codex_approval_kind": kind}, "message": f"Use {OURS}?"},
    }


def approved(begun: Any, asked: Any) -> str | None:
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", title=f"Tool: {SERVER}/read_file", raw_input=begun))
    call.learn(ToolCallUpdate("c1", title="Approve MCP tool call", raw_input=asked))
    tool = editors_tool(call, OFFER)
    return None if tool is None else tool.name


BEGUN = {"server": SERVER, "tool": "read_file", "arguments": {"path": "a"}}


def test_a_form_about_a_call_of_which_it_is_known_what_it_calls_is_ours() -> None:
    assert approved(BEGUN, form(SERVER)) == "read_file"


@pytest.mark.parametrize(
    ("begun", "asked"),
    [
        ({"path": "a"}, form(SERVER)),  # nobody has said of which tool it is
        ({**BEGUN, "server": "other"}, form(SERVER)),
        ({**BEGUN, "tool": "other"}, form(SERVER)),
        ({**BEGUN, "command": "rm"}, form(SERVER)),
        (BEGUN, form("other")),
        (BEGUN, form(SERVER, "exec_command")),
        (BEGUN, {"server_name": SERVER}),
        (BEGUN, {"command": "rm -rf /"}),
    ],
)
def test_a_form_about_anything_else_is_not(begun: Any, asked: Any) -> None:
    assert approved(begun, asked) is None


def test_what_a_call_began_with_does_not_name_its_tool_without_a_form() -> None:
    other = {**BEGUN, "server": "other"}
    assert approved(other, {"path": "a"}) is None


def test_a_form_speaks_against_a_tool_that_a_call_was_taken_for_before() -> None:
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", title=OURS, raw_input=BEGUN))
    tool = editors_tool(call, OFFER)
    assert tool is not None
    call.learn(ToolCallUpdate("c1", title="Approve MCP tool call", raw_input=form(SERVER)))
    assert is_still(call, tool, OFFER)
    call.learn(ToolCallUpdate("c1", raw_input=form("other")))
    assert not is_still(call, tool, OFFER)


def test_a_name_counts_more_than_a_form() -> None:
    call = CallRecord("c1", name="bash")
    call.learn(ToolCallUpdate("c1", raw_input=BEGUN))
    call.learn(ToolCallUpdate("c1", raw_input=form(SERVER)))
    assert editors_tool(call, OFFER) is None
    call.learn(ToolCallUpdate("c1", name=OURS))
    assert editors_tool(call, OFFER) is not None


def test_a_form_does_not_count_where_a_title_says_whose_tool_it_is() -> None:
    assert recognised(title=OURS, raw_input=form(SERVER)) is None


def asked(announced: dict[str, Any], question: dict[str, Any]) -> str | None:
    """Return the tool of a call that is announced, and then asked about."""
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", **announced))
    call.learn(ToolCallUpdate("c1", **question))
    tool = editors_tool(call, OFFER)
    return None if tool is None else tool.name


ANNOUNCED: dict[str, Any] = {"title": f"{SERVER}-read_file", "kind": "execute"}


def test_a_call_that_was_announced_by_its_whole_name_may_be_asked_about_by_its_bare_one() -> None:
    question = {"title": "read_file", "kind": "other", "raw_input": {"path": "a"}}
    assert asked(ANNOUNCED, question) == "read_file"
    assert recognised(**question) is None


@pytest.mark.parametrize(
    "question",
    [
        {"title": "read_file"},  # the kind is still that of a command
        {"title": "read_file", "kind": "execute"},
        {"title": "bare", "kind": "other"},
        {"title": "Read a file", "kind": "other"},
        {"title": "read_file; rm -rf /", "kind": "other"},
        {"title": "read_file", "kind": "other", "raw_input": {"command": "rm -rf /"}},
        {"title": "read_file", "kind": "other", "name": "bash"},
        {"title": "read_file", "kind": "other", "meta": meta("Bash")},
        {"title": "read_file", "kind": "other", "content": (Diff("/a", "new"),)},
        {"title": "read_file", "kind": "other", "locations": (ToolCallLocation("/a"),)},
    ],
)
def test_an_announcement_does_not_make_a_question_about_something_else_ours(
    question: dict[str, Any],
) -> None:
    assert asked(ANNOUNCED, question) is None


@pytest.mark.parametrize("title", ["read_file", "vscother-read_file", f"{SERVER}-gone", "Read"])
def test_a_bare_name_counts_only_after_an_announcement_with_the_server(title: str) -> None:
    assert asked({"title": title}, {"title": "read_file", "kind": "other"}) is None


def test_a_title_that_is_the_input_does_not_take_the_name_away() -> None:
    question = {"title": '{"path":"a"}', "raw_input": {"path": "a"}}
    assert asked({"title": OURS, "raw_input": {}}, question) == "read_file"
    other = {"title": '{"path":"b"}', "raw_input": {"path": "a"}}
    assert asked({"title": OURS, "raw_input": {}}, other) is None


def says(*texts: str) -> tuple[Content, ...]:
    return tuple(Content(TextContent(text)) for text in texts)


def test_where_the_user_has_servers_too_a_bare_name_says_nothing() -> None:
    """The user's server may have a tool of the same name: then the agent's question is asked."""
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", title="read_file", content=says(ASKS)))
    beside = attrs.evolve(OFFER, owner=WithUsersServers())
    assert editors_tool(call, OFFER) is not None
    assert editors_tool(call, beside) is None
    assert is_of_another(call, OFFER, ["vscother"])
    assert not is_of_another(call, beside, ["vscother"])
    named = CallRecord("c2")
    named.learn(ToolCallUpdate("c2", title=OURS))
    assert editors_tool(named, beside) is not None


@pytest.mark.parametrize("spelled", sorted(spellings("github", "read_file")))
def test_a_tool_of_the_users_server_is_not_the_editors(spelled: str) -> None:
    offer = attrs.evolve(OFFER, owner=WithUsersServers())
    ways: list[dict[str, Any]] = [{"name": spelled}, {"meta": meta(spelled)}, {"title": spelled}]
    for news in ways:
        call = CallRecord("c1")
        call.learn(ToolCallUpdate("c1", **news))
        assert editors_tool(call, offer) is None


ASKS = "Requesting approval to perform: Call MCP tool `read_file`."


@pytest.mark.parametrize("title", ["read_file", 'read_file: {"path": "a"}'])
def test_a_question_in_the_agents_own_words_names_a_tool_by_its_bare_name(title: str) -> None:
    assert asked({"title": title, "content": says("{")}, {"content": says(ASKS)}) == "read_file"
    written = {"title": title, "content": says('{"path": "a"}')}
    assert asked(written, {"content": says(ASKS)}) == "read_file"
    of_another = {"title": title, "content": says('{"command": "rm"}')}
    assert asked(of_another, {"content": says(ASKS)}) is None


@pytest.mark.parametrize(
    "question",
    [
        {"title": "Shell: read_file", "content": says(ASKS)},
        {"title": "bare", "content": says(ASKS)},
        {"title": "gone", "content": says(ASKS.replace("read_file", "gone"))},
        {"title": "read_file", "content": says(ASKS, ASKS)},
        {"title": "read_file", "content": says(f"{ASKS} rm -rf /")},
        {"title": "read_file", "content": says("Requesting approval to perform: Run `rm`.")},
        {"title": "read_file", "content": says(ASKS), "kind": "execute"},
        {"title": "read_file", "content": says(ASKS), "raw_input": {"path": "a"}},
        {"title": "read_file", "content": says(ASKS), "name": "bash"},
        {"title": "read_file", "content": says(ASKS), "locations": (ToolCallLocation("/a"),)},
    ],
)
def test_other_words_of_a_question_do_not(question: dict[str, Any]) -> None:
    assert recognised(**question) is None


@pytest.mark.parametrize(
    ("news", "may_be"),
    [
        ({"title": f"{SERVER}-read_file", "kind": "execute"}, True),
        ({"title": f"{SERVER}-read_file", "kind": "execute", "status": "in_progress"}, False),
        ({"title": "read_file: {", "status": "in_progress", "content": says("{")}, True),
        ({"title": f"{SERVER}-read_file", "raw_input": {"command": "ls"}}, False),
        ({"title": "read_file", "content": (Diff("/a", "new"),)}, False),
        ({"title": "read_file", "name": "bash"}, False),
        ({"title": "Read a file"}, False),
    ],
)
def test_what_may_be_the_editors_is_worth_waiting_for(news: dict[str, Any], may_be: bool) -> None:
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", **news))
    assert may_be_editors(call, OFFER) is may_be


def test_every_spelling_has_the_name_of_the_server() -> None:
    """A title without it is looked at no further."""
    assert all("vscabc" in words for words in spellings("vscabc", "read_file"))


@pytest.mark.parametrize(
    ("news", "is_it"),
    [
        ({"title": "vsc222222_read_file", "raw_input": {"mcpInput": {"path": "x"}}}, True),
        ({"title": "mcp__vsc111111__read_file"}, True),
        ({"title": OURS}, False),
        ({"title": "vsc333333_read_file"}, False),
        ({"title": "vsc222222_write_file"}, False),
        ({"title": "cat vsc222222_read_file"}, False),
        ({"title": "vsc222222_read_file", "kind": "execute"}, False),
        ({"title": "vsc222222_read_file", "raw_input": {"command": "rm"}}, False),
        ({"title": "vsc222222_read_file", "name": "bash"}, False),
    ],
)
def test_a_call_of_another_chats_tool_is_known_by_the_same_rules(
    news: dict[str, Any], is_it: bool
) -> None:
    call = CallRecord("c1")
    call.learn(ToolCallUpdate("c1", **news))
    assert is_of_another(call, OFFER, ["vsc111111", "vsc222222"]) is is_it
    assert not is_of_another(call, OFFER, [])
