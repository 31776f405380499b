"""What our model is told, whatever the dialect, and what it makes of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from .dialects import chat_completions, messages, responses
from .scenario import Call, Given, Said, Say, Scenario, Think, Tool, scenario_for

JSON = dict[str, Any]

SHELL = Tool("bash", {"properties": {"command": {"type": "string"}}, "required": ["command"]})
PICTURE = "aGVsbG8="
TOLD = Given(
    (
        Said("system", "Be kind."),
        Said("user", "my name is Ada"),
        Said("user", "", (PICTURE,)),
        Said("assistant", "Hello"),
        Said("assistant", ""),
        Said("tool", "done"),
    ),
    (SHELL,),
)


def given(*said: Said, tools: tuple[Tool, ...] = (SHELL,)) -> Given:
    return Given(said, tools)


def text_of(given: Given) -> str:
    return "".join(step.text for step in scenario_for(given).steps if isinstance(step, Say))


def test_a_request_without_tools_is_a_side_call() -> None:
    assert scenario_for(given(Said("user", "ENDLESS"), tools=())).name == "side call"


def test_the_newest_word_of_the_user_counts_wherever_an_agent_puts_its_notes() -> None:
    said = Said("user", "RECALL"), Said("assistant", "You told me"), Said("user", "LOOK")
    assert scenario_for(given(*said, Said("user", "<reminder>"))).name == "LOOK"
    assert scenario_for(given(*said, Said("system", "Be brief."))).name == "LOOK"
    assert scenario_for(given(*said, Said("assistant", "I see"), Said("user", "x"))).name == "echo"


def test_results_of_tools_count_until_the_user_says_more() -> None:
    called = Said("user", "WRITE(/x)"), Said("assistant", ""), Said("tool", "done")
    assert text_of(given(*called)) == "The tool said: done"
    assert scenario_for(given(*called, Said("user", "RECALL"))).name == "RECALL"


def test_all_results_of_calls_made_at_once_are_told() -> None:
    called = Said("user", "WRITE(/x)"), Said("assistant", ""), Said("tool", "a"), Said("tool", "b")
    assert text_of(given(*called)) == "The tool said: a and b"
    assert text_of(given(*called, Said("user", "<reminder>"))) == "The tool said: a and b"


def test_what_the_user_said_of_a_name_is_recalled() -> None:
    said = Said("user", "my name is Ada"), Said("assistant", "my name is Eve")
    assert text_of(given(*said, Said("user", "my name is Bob. RECALL"))) == "You told me: Ada Bob."
    assert text_of(given(Said("user", "RECALL"))) == "You told me: nothing."


@pytest.mark.parametrize(
    ("tool", "arguments"),
    [
        (SHELL, {"command": "touch /x"}),
        (
            Tool("shell", {"properties": {"command": {"type": "array"}}}),
            {"command": ["bash", "-c", "touch /x"]},
        ),
        (
            Tool(
                "bench__bash",
                {
                    "properties": {"cmd": {"type": "string"}, "why": {"type": "string"}},
                    "required": ["why"],
                },
            ),
            {"cmd": "touch /x", "why": "Make a file"},
        ),
    ],
)
def test_a_file_is_written_by_the_shell_that_there_is(tool: Tool, arguments: JSON) -> None:
    scenario = scenario_for(given(Said("user", "WRITE(/x)"), tools=(tool,)))
    assert scenario.steps[-1] == Call(tool.name, arguments)


def test_a_file_is_written_without_a_shell_where_only_that_is_asked_about() -> None:
    write, terminal = Tool("write_file", {}), Tool("terminal", SHELL.parameters)
    wanted = Said("user", "WRITE(/x)")
    scenario = scenario_for(given(wanted, tools=(terminal, write)))
    assert scenario.steps[-1] == Call("write_file", {"path": "/x", "content": "written"})
    assert scenario_for(given(wanted, tools=(terminal,))).steps[-1] == Call(
        "terminal", {"command": "touch /x"}
    )


def test_a_call_says_how_dangerous_it_is_where_an_agent_insists_on_it() -> None:
    parameters: JSON = {"properties": {"command": {}}, "required": ["command", "security_risk"]}
    tool = Tool("terminal", parameters)
    judged = {"security_risk": "LOW"}
    scenario = scenario_for(given(Said("user", "WRITE(/x)"), tools=(tool,)))
    assert scenario.steps[-1] == Call("terminal", {"command": "touch /x"} | judged)
    assert used("USE terminal {}", tools=(tool,)) == [Call("terminal", judged)]


READ = Tool("read_file", {}, "Reads.", "mcp__vsc1")
LIST = Tool("vsc1_list_dir", {})


def used(text: str, *results: str, tools: tuple[Tool, ...] = (LIST, READ)) -> list[Call]:
    """Return what is called after these results."""
    made = [one for result in results for one in (Said("assistant", ""), Said("tool", result))]
    scenario = scenario_for(given(Said("user", text), *made, tools=tools))
    return [step for step in scenario.steps if isinstance(step, Call)]


def test_tools_are_used_by_their_names_whatever_an_agent_puts_before_them() -> None:
    text = 'Please:\nUSE read_file {"path": "/a b"}\nUSE list_dir {}\nUSE bash {}'
    assert used(text, tools=(LIST, READ, SHELL)) == [
        Call("read_file", {"path": "/a b"}, "mcp__vsc1"),
        Call("vsc1_list_dir", {}),
        Call("bash", {}),
    ]


def test_what_comes_then_waits_for_all_results_of_what_came_before() -> None:
    text = "USE list_dir {}\nUSE list_dir {}\nTHEN\nUSE read_file {}"
    assert len(used(text)) == 2
    assert used(text, "a") == []
    assert used(text, "a", "b") == [Call("read_file", {}, "mcp__vsc1")]
    assert used(text, "a", "b", "c") == []


def test_the_editors_tool_is_used_where_the_agent_has_one_of_that_name() -> None:
    named = (Tool(name, {}) for name in ("read_file", "vsc1-read_file", "unread_file"))
    told = given(Said("user", "USE read_file {}"), tools=tuple(named))
    assert scenario_for(told).steps[1:] == (Call("vsc1-read_file", {}),)


def test_a_command_that_lingers_goes_on_after_the_file_is_there() -> None:
    (_, call) = scenario_for(given(Said("user", "LINGER(/x)"))).steps
    assert call == Call("bash", {"command": "touch /x && sleep 25"})


def test_what_was_used_in_a_transcript_is_not_used_again() -> None:
    before = "User: No.\nUSE read_file {}\n\nAgent: Let me see.\n\n"
    assert used(f"{before}USE list_dir {{}}\nBe brief.") == [Call("vsc1_list_dir", {})]
    assert scenario_for(given(Said("user", f"{before}RECALL"))).name == "RECALL"


def test_a_tool_that_only_code_can_call_is_called_by_code() -> None:
    """The agent's own tool of that name is another one."""
    code, own = Tool("run_typescript", {}), Tool("read_file", {})
    told = Said("system", "Groups:\n\n- file_system\n- mcp_vsc1\n")
    asked = Said("user", 'USE read_file {"path": "/a"}')
    scenario = scenario_for(given(told, asked, tools=(own, code)))
    call = 'tools.mcp_vsc1.read_file({"path": "/a"})'
    assert scenario.steps[-1] == Call(
        "run_typescript", {"code": f"async function main() {{ return await {call}; }}"}
    )
    without_a_group = scenario_for(given(asked, tools=(own, code)))
    assert without_a_group.steps[-1] == Call("read_file", {"path": "/a"})


def test_a_tool_of_the_same_name_that_an_agent_has_itself_is_not_used() -> None:
    own = Tool("list_dir", {})
    assert used("USE list_dir {}", tools=(own, LIST)) == [Call("vsc1_list_dir", {})]
    assert used("USE list_dir {}", tools=(own,)) == [Call("list_dir", {})]


def test_a_tool_that_was_not_offered_is_missed_in_words() -> None:
    missed = scenario_for(given(Said("user", "USE fly {}"), tools=(READ,)))
    assert missed.steps[-1] == Say("I have no fly, only mcp__vsc1__read_file.")


DIALECTS: list[tuple[Callable[[JSON], Given], JSON]] = [
    (
        chat_completions.read,
        {
            "messages": [
                {"role": "system", "content": "Be kind."},
                {"role": "user", "content": [{"type": "text", "text": "my name is Ada"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "image_url", "image_url": {"url": f"data:x;base64,{PICTURE}"}}
                    ],
                },
                {"role": "assistant", "content": "Hello"},
                {"role": "assistant", "content": None, "tool_calls": [{}]},
                {"role": "tool", "content": "done"},
            ],
            "tools": [{"function": {"name": "bash", "parameters": SHELL.parameters}}],
        },
    ),
    (
        responses.read,
        {
            "instructions": "Be kind.",
            "input": [
                {"role": "user", "content": "my name is Ada"},
                {
                    "type": "message",
                    "role": "user",
                    "content": [{"type": "input_image", "image_url": f"data:x;base64,{PICTURE}"}],
                },
                {"type": "reasoning", "summary": []},
                {"role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]},
                {"type": "function_call", "name": "bash", "arguments": "{}"},
                {"type": "function_call_output", "output": "done"},
            ],
            "tools": [
                {"type": "function", "name": "bash", "parameters": SHELL.parameters},
                {"type": "web_search"},
            ],
        },
    ),
    (
        messages.read,
        {
            "system": [{"type": "text", "text": "Be kind."}],
            "messages": [
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "my name is Ada"},
                        {"type": "image", "source": {"type": "base64", "data": PICTURE}},
                    ],
                },
                {"role": "assistant", "content": "Hello"},
                {"role": "assistant", "content": [{"type": "tool_use", "name": "bash"}]},
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "content": [{"type": "text", "text": "done"}]}
                    ],
                },
            ],
            "tools": [{"name": "bash", "input_schema": SHELL.parameters}, {"type": "search"}],
        },
    ),
]


def test_a_group_of_tools_is_told_with_each_and_called_by_both_names() -> None:
    inner: JSON = {
        "type": "function",
        "name": "read_file",
        "description": "Reads.",
        "parameters": {},
    }
    body: JSON = {
        "input": [],
        "tools": [{"type": "namespace", "name": "mcp__vsc1", "tools": [inner]}],
    }
    assert responses.read(body).tools == (READ,)
    reply = Scenario("it", (Call("read_file", {}, "mcp__vsc1"),))
    assert b'"namespace": "mcp__vsc1"' in b"".join(responses.write(reply, 7))


@pytest.mark.parametrize(("read", "body"), DIALECTS)
def test_every_dialect_tells_the_same(read: Callable[[JSON], Given], body: JSON) -> None:
    assert read(body) == TOLD


@pytest.mark.parametrize("write", [chat_completions.write, responses.write, messages.write])
def test_every_dialect_carries_a_whole_reply(
    write: Callable[[Scenario, int], Iterator[bytes]],
) -> None:
    steps = Think("Hmm"), Say("One"), Call("bash", {"command": "ls"})
    events = list(write(Scenario("it", steps), 7))
    assert all(event.endswith(b"\n\n") for event in events)
    stream = b"".join(events).decode()
    assert all(word in stream for word in ("Hmm", "One", "bash"))
    assert json.dumps(json.dumps({"command": "ls"})) in stream


def test_a_reply_in_one_piece_holds_all_of_it() -> None:
    steps = Think("Hmm"), Say("One "), Say("two"), Call("bash", {"command": "ls"})
    choice = chat_completions.write_whole(Scenario("it", steps), 7)["choices"][0]
    message, (call,) = choice["message"], choice["message"]["tool_calls"]
    assert (message["reasoning_content"], message["content"]) == ("Hmm", "One two")
    assert call["function"] == {"name": "bash", "arguments": json.dumps({"command": "ls"})}
    assert choice["finish_reason"] == "tool_calls"
    short = chat_completions.write_whole(Scenario("it", (Say("One"),)), 7)["choices"][0]
    assert short["finish_reason"] == "stop"
