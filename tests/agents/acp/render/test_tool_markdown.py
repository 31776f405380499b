from __future__ import annotations

from typing import Any

import pytest

from agents.acp.calls.output import CallOutput
from agents.acp.calls.state import CallRecord
from agents.acp.render.tool_markdown import denied, outcome, started, unfinished
from agents.acp.schema.content import (
    Content,
    Diff,
    Terminal,
    TextContent,
    ToolCallContent,
    ToolCallLocation,
    UnknownToolCallContent,
)

ROOT = "/w"


def call(title: str = "Title", kind: str = "other", **known: Any) -> CallRecord:
    return CallRecord("1", title, kind=kind, **known)


def at(*paths: str) -> tuple[ToolCallLocation, ...]:
    return tuple(ToolCallLocation(path) for path in paths)


@pytest.mark.parametrize(
    ("known", "line"),
    [
        (call("Read /w/a.py", "read", locations=at("/w/a.py")), "📖 Read a.py"),
        (call("Read file", "read", locations=at("/w/a.py")), "📖 Read file `a.py`"),
        (
            call("Read", "read", locations=(ToolCallLocation("/w/a.py", 3), ToolCallLocation(""))),
            "📖 Read `a.py:3`",
        ),
        (
            call("Look", "search", locations=at("/1", "/2", "/3", "/4", "/5")),
            "🔍 Look `/1` `/2` `/3` and 2 more",
        ),
        (call("", "edit"), "✏️ Edit"),
        (call("", "dance"), "🔧 Tool call"),
        (call("", name="add_numbers"), "🔧 add_numbers"),
        (call("add", raw_input={"a": 1, "b": "x y"}), "🔧 add `a: 1, b: x y`"),
        (call("ls", "execute", raw_input={"command": "ls"}), "▶️ `ls`"),
        (call("`ls`", "execute", raw_input={"command": "ls"}), "▶️ `ls`"),
        (call("List: ls -l", "execute", raw_input={"command": "ls -l"}), "▶️ List: ls -l"),
        (call("Terminal", "execute", raw_input={"cmd": "ls"}), "▶️ Terminal `ls`"),
        (call("Sh", "execute", raw_input={"command": ["sh", "-c", "ls | wc"]}), "▶️ Sh `ls | wc`"),
        (call("Sh", "execute", raw_input={"command": ["git", "log", "x"]}), "▶️ Sh `git log x`"),
        (call("Think", "execute"), "▶️ Think"),
    ],
)  # fmt: skip
def test_a_call_begins_with_one_line(known: CallRecord, line: str) -> None:
    assert started(known, ROOT) == line


def test_paths_are_whole_where_there_is_no_root() -> None:
    assert started(call("Read /w/a.py"), "") == "🔧 Read /w/a.py"
    assert started(call("Read /w/a.py"), "/") == "🔧 Read /w/a.py"


def test_a_title_is_bounded() -> None:
    assert len(started(call("x" * 10_000), ROOT)) < 200


def ended(*content: ToolCallContent, status: str = "completed", **known: Any) -> str:
    return outcome(call(content=content, status=status, **known), ROOT, follows=True)


def text(given: str) -> Content:
    return Content(TextContent(given))


def test_an_outcome_without_a_result_is_a_mark() -> None:
    assert ended() == " ✔"
    assert ended(status="failed") == " ✘ *failed*"
    assert ended(status="cancelled") == " ✘ *cancelled*"
    assert ended(text("\n")) == " ✔"


def test_an_outcome_that_comes_later_names_its_call() -> None:
    assert outcome(call("a_b", status="completed"), ROOT, follows=False) == "✔ a_b"


def test_a_short_result_stands_on_the_line() -> None:
    assert ended(text("42\n")) == " ✔ `42`"


def test_a_terminal_is_not_shown_for_there_is_none() -> None:
    """Codex names one for each command; what the command wrote comes beside it."""
    assert ended(Terminal("t")) == " ✔"
    assert ended(Terminal("t"), raw_output={"formatted_output": "a"}) == " ✔ `a`"
    assert ended(text("42"), Terminal("t"), text("43")) == " ✔\n\n```\n42\n43\n```"


def test_texts_are_joined_in_one_fence() -> None:
    assert ended(text("```py\na\nb\n```")) == " ✔\n\n```py\na\nb\n```"
    assert ended(text("a"), text("b")) == " ✔\n\n```\na\nb\n```"


def test_kinds_of_content_stand_in_order() -> None:
    shown = ended(
        text("a"), Diff("/w/x", "1\n", "2\n"), text("b"), UnknownToolCallContent("y`z", {})
    )
    assert shown == (
        " ✔ `a`\n\n```diff\n--- x\n+++ x\n-2\n+1\n```\n\n`b`\n\n*(a result of the kind ``y`z``)*"
    )


def test_the_lines_of_a_change_are_those_that_the_agent_names() -> None:
    changes = (Diff("/w/x", "1", "2"), Diff("/w/x", "3", "4"), Diff("/w/y", "5", "6"))
    places = (ToolCallLocation("/w/x", 7), ToolCallLocation("/w/z", 1), ToolCallLocation("/w/x", 9))
    shown = outcome(
        CallRecord("c", status="completed", content=changes, locations=places), ROOT, follows=True
    )
    heads = [line for line in shown.split("\n") if line.startswith("@@")]
    assert heads == ["@@ -7,1 +7,1 @@", "@@ -9,1 +9,1 @@"], "and none for y"


def test_nameless_things_get_a_question_mark() -> None:
    assert ended(UnknownToolCallContent("", {})) == " ✔\n\n*(a result of the kind `?`)*"


def test_a_change_that_failed_is_not_shown_as_done() -> None:
    assert ended(Diff("/w/x", "1"), text("denied"), status="failed") == " ✘ *failed* `denied`"


def test_many_results_are_bounded() -> None:
    shown = ended(*(UnknownToolCallContent(str(number), {}) for number in range(50)))
    assert shown.endswith("`19`)*\n\n*… 30 more results*")


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("plain", "`plain`"),
        ({"formatted_output": "a", "exit_code": 0}, "`a`"),
        ({"stdout": "", "stderr": "oops"}, "`oops`"),
        ({"content": [{"text": "a"}, {"text": "b"}]}, "\n\n```\na\nb\n```"),
        ({"error": {"message": "no"}}, "`no`"),
        ([1, 2], "\n\n```\n- 1\n- 2\n```"),
        ({"rows": 1}, "`rows: 1`"),
        ([{"content": "a", "status": "done"}], "\n\n- [x] a"),
        ({"exit_code": 0}, ""),
        (7, "`7`"),
        ("", ""),
    ],
)  # fmt: skip
def test_without_content_the_raw_output_is_shown(raw: Any, shown: str) -> None:
    head = " ✔" if shown.startswith("\n") or not shown else " ✔ "
    assert ended(raw_output=raw) == head + shown


@pytest.mark.parametrize(
    ("status", "raw", "shown"),
    [
        ("completed", {"exit_code": 1}, " ✔ *exit code 1*"),
        ("failed", {"exit_code": 1}, " ✘ *failed: exit code 1*"),
        ("failed", {"formatted_output": "a", "exit_code": 1}, " ✘ *failed: exit code 1* `a`"),
        ("cancelled", {"exit_code": None, "signal": "SIGINT"}, " ✘ *cancelled: ended by SIGINT*"),
    ],
)
def test_a_command_that_did_not_end_well_tells_its_exit_status(
    status: str, raw: Any, shown: str
) -> None:
    assert ended(status=status, raw_output=raw) == shown


def written(*pieces: str, **status: Any) -> CallOutput:
    output = CallOutput()
    for piece in pieces:
        output.learn({"terminal_output_delta": {"data": piece}})
    output.learn({"terminal_exit": status})
    return output


def test_what_a_command_wrote_is_its_result() -> None:
    output = written("a\n", "b\n", exit_code=2, signal=None)
    shown = " ✘ *failed: exit code 2*\n\n```\na\nb\n```"
    assert ended(Terminal("t"), status="failed", output=output) == shown
    assert ended(Terminal("t"), output=written("a\n", exit_code=0)) == " ✔ `a`"
    assert ended(output=written("a\n"), raw_output={"exit_code": 0}) == " ✔ `a`"
    assert ended(output=written("a\n"), raw_output="a and more") == " ✔ `a`"


def test_what_a_command_wrote_stands_beside_other_results_and_is_not_repeated() -> None:
    output = written("a\nb\n")
    assert ended(text("Allowed."), output=output) == " ✔\n\n```\nAllowed.\na\nb\n```"
    assert ended(text("```\na\nb\n```"), output=output) == " ✔\n\n```\na\nb\n```"


def test_what_a_command_wrote_is_shown_though_it_did_not_end() -> None:
    known = call("Watch", output=written("built\n"))
    assert unfinished(known, ROOT, follows=True) == " *not finished* `built`"
    known = call("Watch", output=written("built\nagain\n"))
    shown = "🔧 Watch *not finished*\n\n```\nbuilt\nagain\n```"
    assert unfinished(known, ROOT, follows=False) == shown


def test_a_call_that_was_denied_says_so() -> None:
    assert denied(call("rm"), ROOT, follows=True) == " *denied*"
    assert denied(call("rm"), ROOT, follows=False) == "✘ rm *denied*"
    assert ended(text("No."), status="failed", is_denied=True) == " ✘ *denied* `No.`"
    assert ended(text("Half."), status="completed", is_denied=True) == " ✔ `Half.`"


def test_content_is_shown_and_not_the_raw_output() -> None:
    assert ended(text("seen"), raw_output="raw") == " ✔ `seen`"


def test_what_did_not_finish_says_so() -> None:
    assert unfinished(call("Wait"), ROOT, follows=True) == " *no result*"
    assert unfinished(call("Wait"), ROOT, follows=False) == "🔧 Wait *no result*"


def test_a_todo_list_that_a_call_gives_is_a_checklist() -> None:
    todos = '[{"content": "Sow", "status": "completed"}, {"content": "Reap", "status": "pending"}]'
    shown = ended(text("Two are left:"), text(todos), text("Go on."))
    assert "Two are left:" in shown
    assert "Go on." in shown
    assert "- [x] Sow" in shown
    assert "- [ ] Reap" in shown
    assert "{" not in shown
