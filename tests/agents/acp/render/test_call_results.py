"""A result is shown as the text that it is, out of what agents put around it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.calls.state import CallRecord
from agents.acp.render.call_results import is_said, result_of, says_failed, text_of, todos_in
from agents.acp.schema.content import Content, TextContent, ToolCall, ToolCallUpdate
from agents.acp.schema.plans import PlanEntry

BASH = CallRecord("1", "Look", kind="execute", raw_input={"command": "ls -l", "description": "See"})


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\nb", "a\nb"),
        ("", ""),
        ("(no output)", ""),
        ("(Bash completed with no output)", ""),
        ("Tool ran without output or errors.", ""),
        ("Command executed successfully.", ""),
        ("<empty>", ""),
        ("(none)", ""),
        ("none", "none"),
        ("There is no output file", "There is no output file"),
        (json.dumps({"stdout": "", "stderr": ""}), ""),
        (json.dumps({"stdout": "a\n", "stderr": "b", "interrupted": False}), "a\nb"),
        (json.dumps({"output": "a", "exit_code": 0, "error": None}), "a"),
        (json.dumps([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]), "a\nb"),
        (json.dumps({"result": {"content": [{"type": "text", "text": "a"}]}, "error": None}), "a"),
        (json.dumps({"total_count": 0, "matches": []}), ""),
        ("look_up result\n- **output:** a\n- **b:** c\n- **exit_code:** 0", "a\n- **b:** c"),
        ("look_up result\n- **exit_code:** 0", ""),
        ("look_up result\n- a", "look_up result\n- a"),
        (json.dumps({"message": "a", "id": 4}), json.dumps({"message": "a", "id": 4})),
        (json.dumps({"output": {"rows": [1]}}), "rows:\n  - 1"),
        (json.dumps([1, 2]), "[1, 2]"),
        ("{not JSON", "{not JSON"),
        ("a\n<shellId: 0 completed with exit code 0>", "a"),
        ("<shellId: 2 completed with exit code 0>", ""),
        ("a\n<shellId: 0 completed with exit code 3>\n", "a\nexit code 3"),
        ("a <b> exit code 0>", "a <b> exit code 0>"),
        ("x" * 500, "x" * 500),
    ],
)
def test_the_text_in_a_result(text: str, shown: str) -> None:
    assert result_of(text, BASH) == (shown, "")


def test_a_fence_names_the_language() -> None:
    assert result_of("```py\na\n```", BASH) == ("a", "py")
    assert result_of('```json\n{"output": "```sh\\na\\n```"}\n```', BASH) == ("a", "sh")


def test_a_file_that_is_read_is_what_it_is() -> None:
    read = CallRecord("1", "Read a.json", kind="read")
    assert result_of('{"output": "x"}', read) == ('{"output": "x"}', "")
    assert todos_in('[{"content": "a", "status": "done"}]', read) is None


def test_a_todo_list_as_a_result_is_one() -> None:
    found = todos_in('{"list": [{"title": "a", "status": "done"}], "total": 1}', BASH)
    assert found == (PlanEntry("a", status="completed"),)
    assert todos_in("[1]", BASH) is None


@pytest.mark.parametrize("output", ["", "a\nb", "{}"])
def test_a_report_on_a_command_gives_way_to_what_the_command_wrote(output: str) -> None:
    report = f"Command: ls -l\nDirectory: (root)\nOutput: {output or '(empty)'}\nExit Code: 0"
    known = CallRecord(
        "1", kind="execute", raw_input={"command": "ls -l"}, raw_output={"output": output, "pid": 7}
    )
    assert result_of(report, known) == (output, "")
    known.raw_output = None
    assert result_of(report, known) == (report, "")


def test_what_is_said_before_the_end_and_says_what_the_call_is_is_no_result() -> None:
    known = CallRecord("1")
    known.learn(
        ToolCall(
            "1",
            "`ls`",
            status="in_progress",
            raw_input={"command": "ls", "description": "See it"},
            content=(Content(TextContent("See  it")),),
        )
    )
    assert is_said("See it", known)
    assert is_said("ls", known)
    assert not is_said("See", known)
    assert not is_said("y" * 1000, known)
    known.learn(ToolCallUpdate("1", status="completed", content=(Content(TextContent("See it")),)))
    assert not is_said("See it", known), "it came with the end"


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "plain"),
        ("(no output)", ""),
        ({"stdout": "", "stderr": ""}, ""),
        ({"stdout": "", "stderr": "", "cwd": "/x"}, ""),
        ({"stdout": "a", "stderr": "b"}, "a\nb"),
        ({"message": "", "count": 3}, "count: 3"),
        ({"message": "", "ok": True, "code": 3}, ""),
        ({"result": {"content": [{"type": "text", "text": "a"}]}, "error": None}, "a"),
        ({"content": "a", "detailedContent": "b"}, "a"),
        ({"a": {"b": [1, {"c": "x"}]}, "d": None}, "a:\n  b:\n    - 1\n    -\n      c: x"),
        ({"c": "x\ny", "e": True}, "c:\n  x\n  y\ne: true"),
        (7, "7"),
        ([], ""),
    ],
)  # fmt: skip
def test_the_text_in_a_raw_output(raw: Any, shown: str) -> None:
    assert text_of(raw) == shown


WORDS = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=12,
)


@given(VALUES)
def test_no_raw_output_is_shown_as_json(raw: Any) -> None:
    shown = text_of(raw)
    assert not set('{}[]"') & set(shown), shown


@given(
    st.lists(st.sampled_from(["stdout", "output", "text", "content", "result"]), max_size=4),
    WORDS,
)
def test_a_text_is_found_in_wrappers_in_wrappers(keys: list[str], text: str) -> None:
    wrapped: Any = text
    for key in keys:
        wrapped = {key: wrapped, "exit_code": 0}
    assert text_of(wrapped) == text
    assert result_of(json.dumps(wrapped), BASH)[0] in (text, json.dumps(text))


@pytest.mark.parametrize("levels", [400, 100_000])
def test_a_text_of_deep_json_is_shown_as_it_is(levels: int) -> None:
    deep = '{"content":' * levels + '"x"' + "}" * levels
    assert result_of(deep, BASH) == (deep, "")


@pytest.mark.parametrize(
    ("raw", "shown", "failed"),
    [
        ("content='a\\nb' num=5 error=None", "a\nb", False),
        ("success=False command='ls' error='No.' stdout=None", "No.", True),
        ("success=True error='odd' stdout='a'", "a", False),
        ("content='gone' num=0 error='gone'", "gone", True),
        ("matches=[Found(line=2, is_error=False)] error=None", "matches:\n  -\n    line: 2", False),
        ("matches=[] error=None truncated=False", "", False),
        ("a=1 b=2", "a=1 b=2", False),
        ({"success": False, "message": "No."}, "No.", True),
        ({"error": " "}, "", False),
        (None, "None", False),
    ],
)
def test_a_result_that_python_shows_is_read_and_may_say_that_it_failed(
    raw: Any, shown: str, failed: bool
) -> None:
    assert text_of(raw) == shown
    assert says_failed(raw) is failed


def test_the_name_of_the_tool_before_its_result_is_left_out() -> None:
    call = CallRecord("1", "look_up: a")
    assert result_of("Tool: look_up\nResult:\na\nb", call) == ("a\nb", "")
    assert result_of("Tool: look_up\n\nNo.", call) == ("No.", "")
    assert result_of("Tool: other\nResult:\na", call) == ("Tool: other\nResult:\na", "")
