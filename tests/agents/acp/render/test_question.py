"""What a person reads before an agent may act: all of it, once, and nothing that isn't so."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.calls.state import CallRecord
from agents.acp.render import question_paper as module
from agents.acp.render.question import question_message
from agents.acp.render.question_paper import WHOLE_CHARACTERS
from agents.acp.schema.content import (
    Content,
    Diff,
    EmbeddedResource,
    ResourceContents,
    TextContent,
    ToolCallContent,
    ToolCallLocation,
)
from agents.acp.text.markdown import MOST_ITEMS
from agents.acp.text.visible import LONGEST_WORD, cells, is_hidden
from tests.agents.acp.text.test_visible import TEXTS
from tests.growth import assert_linear


def message(raw: Any = None, title: str = "", note: str | None = None, **known: Any) -> str:
    return question_message(CallRecord("c", title=title, raw_input=raw, **known), "OpenCode", note)


def said(text: str) -> tuple[ToolCallContent, ...]:
    return (Content(TextContent(text)),)


UNSAID = "It doesn't say what this is about."
VIEW = {"command": "view", "path": "/w/a.py", "kind": "ViewAction"}
ABOUT_VIEW = (
    "Risk: LOW\n\nSummary: viewer: {text}\n\nAction: ViewAction\n\n"
    "Arguments:\n  command: 'view'\n  path: '/w/a.py'\n  kind: 'ViewAction'"
)
CHANGE = (Diff("/w/a.py", "def f():\n    return 2", "def f():\n    return 1"),)


def test_a_question_that_names_a_tool_alone_says_that_it_says_no_more() -> None:
    assert message(None, "read") == f"OpenCode asks: read\n\n{UNSAID}"
    assert message(None, "Leave the plan") == "OpenCode asks: Leave the plan"
    assert UNSAID not in message({"path": "a"}, "read")


def test_a_title_with_the_input_as_json_is_shown_without_it() -> None:
    given = {"command": "touch a b", "timeout": 3}
    text = json.dumps({"command": "touch a b"})
    assert message(given, f"shell: {text}: $ touch a b").startswith("OpenCode asks:\n\n```sh\n")
    assert message({"path": "a"}, 'look: {"path": "a"}').startswith("OpenCode asks: look\n")
    assert message({"path": "a"}, '{"path": "a"}: Looking').startswith("OpenCode asks: Looking\n")
    assert message({"path": "a"}, "{not JSON}").startswith("OpenCode asks: {not JSON}\n")
    assert message({"path": "a"}, "look at {1}").startswith("OpenCode asks: look at {1}\n")


def test_a_title_with_another_input_is_shown_whole() -> None:
    """Or a part of the action would stand nowhere."""
    title = 'look: {"path": "b"}'
    assert title in message({"path": "a"}, title).replace("\\", "")
    assert title in message(None, title).replace("\\", "")


@pytest.mark.limit("agents.acp.render.question_paper._LONGEST_COMPARED")
def test_a_text_about_the_input_is_shown_as_far_as_it_says_more() -> None:
    text = ABOUT_VIEW.format(text=json.dumps(VIEW))
    shown = message(VIEW, "viewer: Reading /w/a.py", content=said(text))
    assert shown.endswith("\n\n```\nRisk: LOW\n```")
    other = message(VIEW, "viewer", content=said("Action: ViewAction\n\nrm -rf /w/a.py"))
    assert other.endswith("\n\n```\nrm -rf /w/a.py\n```")
    for more in (0, 1):
        long = "view\n" * (module._LONGEST_COMPARED // 5) + "\n" * more  # pyright: ignore[reportPrivateUsage]
        assert (long.strip() in message(VIEW, "viewer", content=said(long))) is bool(more)


def test_the_name_of_what_to_do_with_a_file_is_no_command() -> None:
    assert "- command: `view`" in message(VIEW, "viewer")
    assert "```sh\nview\n```" in message({"command": "view"}, "viewer")
    assert "```sh\nrm a\n```" in message({"command": "rm a", "path": "/w"}, "shell")


def test_the_parts_of_a_change_are_said_once() -> None:
    flat = {"old_string": "return 1", "new_string": "return 2"}
    assert "string" not in message(flat, content=CHANGE)
    assert "edit" not in message({"edit": {"old": "return 1", "new": "return 2"}}, content=CHANGE)
    for other in ({"old_string": "return 2"}, {"new_name": "f"}, {"edit": {"old": 1}}):
        (key,) = other
        assert key.partition("_")[0] in message(other, "x y", content=CHANGE)


def test_what_is_replaced_is_shown_as_a_diff() -> None:
    one = {"old_str": "a\nb", "new_str": "c"}
    diff = "```diff\n-a\n-b\n+c\n```"
    assert message({"edit": one}).endswith(f"edit:\n\n{diff}")
    assert message({"all": [one, one]}).endswith("-a\n-b\n+c\n-a\n-b\n+c\n```")
    for other in ([one, "x"], [one | {"all": True}], {"old": "a", "new": 1}, {"a": "b", "c": "d"}):
        assert "```diff" not in message({"edit": other})


def test_a_purpose_that_the_title_has_is_said_once() -> None:
    given = {"command": "ls", "description": "Look around"}
    assert message(given, "ls (Look around)").startswith("OpenCode asks: ls (Look around)\n")


def test_the_name_of_an_argument_has_as_little_room_as_its_value() -> None:
    name = "a b " * 60  # too long for a line
    assert f"{name}: c" in message({name: "c"})
    text = message({"a b " * WHOLE_CHARACTERS: "c"})
    assert len(text) < 2 * WHOLE_CHARACTERS
    assert "characters of this are not shown" in text


@pytest.mark.parametrize("title", ["", "`ls -l`", "Run: ls -l", "bash", "execute ls", "ls…"])
def test_a_command_is_said_once(title: str) -> None:
    assert message({"command": "ls -l"}, title) == "OpenCode asks:\n\n```sh\nls -l\n```"


@pytest.mark.parametrize(
    ("given", "line"),
    [
        ({"cmd": "ls"}, "ls"),
        ({"command": ["bash", "-lc", "it's"]}, """bash -lc 'it'"'"'s'"""),
        ({"command": ["rm", 1]}, "rm 1"),
    ],
)
def test_a_command_is_written_as_for_a_shell(given: Any, line: str) -> None:
    assert message(given) == f"OpenCode asks:\n\n```sh\n{line}\n```"


def test_what_a_command_is_for_stands_at_the_top_and_the_rest_below_by_name() -> None:
    given = {
        "command": "make",
        "description": "Build it",
        "timeout": 120,
        "workdir": "/w_x",
        "env": {"A": "b"},
        "nothing": None,
    }
    assert message(given, "bash") == (
        "OpenCode asks: Build it\n\n```sh\nmake\n```\n\n"
        '- timeout: `120`\n- workdir: `/w_x`\n- env: `{"A": "b"}`'
    )
    assert message(given, "Run *make*").startswith("OpenCode asks: Run \\*make\\* · Build it\n")


def test_a_change_is_a_diff_with_the_lines_of_the_file_and_said_once() -> None:
    given = {"file_path": "/w/src/a.py", "old_string": "b", "new_string": "c"}
    shown = message(
        given,
        "Edit `src/a.py`",
        content=(Diff("/w/src/a.py", "c", "b"),),
        locations=(ToolCallLocation("/w/src/a.py"),),
        files={"/w/src/a.py": "1\n2\nb = 3\n"},
    )
    assert shown == (
        "OpenCode asks:\n\nChange `/w/src/a.py`:\n\n"
        "```diff\n@@ -1,3 +1,3 @@\n 1\n 2\n-b = 3\n+c = 3\n```"
    )


@pytest.mark.parametrize(
    ("diff", "words"),
    [
        (Diff("/a", "x"), "New file `/a`:\n\n```diff\n@@ -0,0 +1,1 @@\n+x\n```"),
        (Diff("/a", ""), "New empty file `/a`"),
        (Diff("/a", "x", "x"), "No change in `/a`"),
        (Diff("/a", "x\n", "x\r\n"), "Only line ends change in `/a`"),
    ],
)
def test_what_becomes_of_a_file_is_said(diff: Diff, words: str) -> None:
    assert message(content=(diff,)) == f"OpenCode asks:\n\n{words}"


def test_a_patch_in_the_input_is_a_diff_unless_the_change_stands_there_already() -> None:
    patch = "--- a.py\n+++ a.py\n@@ -1 +1 @@\n-a\n+b\n"
    given = {"filepath": "a.py", "diff": patch}
    assert message(given, "edit") == (
        f"OpenCode asks:\n\n- filepath: `a.py`\n\ndiff:\n\n```diff\n{patch}```"
    )
    other = patch.replace("+b", "+c")
    change = (Diff("a.py", "b\n", "a\n"),)
    assert message(given, content=change).count("+b") == 1
    assert "+c" in message({**given, "diff": other}, content=change)


def test_other_input_is_a_list_and_no_json() -> None:
    assert message({"url": "https://x.org", "format": "text"}, "webfetch") == (
        "OpenCode asks: webfetch\n\n- url: `https://x.org`\n- format: `text`"
    )
    assert message({"plan": "# Do\n1"}, "Plan", content=said("```\n# Do\n1\n```")) == (
        "OpenCode asks: Plan\n\nplan:\n\n```\n# Do\n1\n```"
    )
    long = {"deep": {"list": ["word " * 10] * 5}}
    assert '```json\n{\n  "list": [' in message(long)


def test_input_that_is_no_object_is_shown_too() -> None:
    assert message("do it", "x") == "OpenCode asks: x\n\n```\ndo it\n```"
    assert message(["a"]) == 'OpenCode asks:\n\n```\n["a"]\n```'
    assert message("do it", content=said("do it")).count("do it") == 1


def test_the_tool_in_a_wrapper_is_named() -> None:
    given = {"server": "s", "tool": "t", "arguments": {"q": "y"}}
    assert message(given, "x") == "OpenCode asks: x\n\n- server: `s`\n- tool: `t`\n- q: `y`"


def test_a_todo_list_is_a_checklist() -> None:
    given = {"todos": [{"content": "a_b*", "status": "completed"}, {"content": "c"}]}
    assert message(given, "todowrite") == "OpenCode asks: todowrite\n\n- [x] a_b\\*\n- [ ] c"


def test_a_long_todo_list_is_not_shown_whole() -> None:
    todos = [{"content": f"do {number:03}"} for number in range(103)]
    text = message({"todos": todos})
    assert "⚠️ **18 characters of this are not shown.**" in text
    assert "do 099" in text
    assert "do 100" not in text


def test_a_title_of_many_words_takes_linear_time() -> None:
    """Each word is the end of a path, so each is looked at, beside a text that is as long."""

    def make(count: int) -> tuple[str, str]:
        return "b " * count, f"{'x' * 800 * count}/b"

    def ask(given: tuple[str, str]) -> str:
        return message({"file": given[1], "command": "ls"}, given[0])

    assert_linear(make, ask, 1_000)


def test_words_and_places_of_the_agent_stand_there() -> None:
    resource = Content(EmbeddedResource(ResourceContents("file:///x", "more")))
    assert (
        message(
            None,
            "Look",
            content=(*said("Why: because."), resource, *said(" ")),
            locations=(ToolCallLocation("/a", 3), ToolCallLocation("/b"), ToolCallLocation("")),
        )
        == "OpenCode asks: Look\n\n```\nWhy: because.\n```\n\n```\nmore\n```\n\nIn `/a:3`, `/b`"
    )


def test_what_the_user_must_know_comes_before_the_action() -> None:
    assert message(None, "Do it now", note="Approving is for good: *x*") == (
        "OpenCode asks: Do it now\n\n⚠️ **Approving is for good: \\*x\\***"
    )
    assert question_message(CallRecord("c"), "") == f"The agent asks: Use a tool\n\n{UNSAID}"
    assert question_message(CallRecord("c"), "a_ [b](c)").startswith("a\\_ \\[b\\](c) asks:")


def test_what_a_narrow_page_cannot_hold_is_code_which_an_editor_breaks() -> None:
    long = "a/" * 15
    change = (Diff(long, "x"),)
    assert message({"command": long}).endswith(f"asks:\n\n```sh\n{long}\n```")
    assert message(title=long) == f"OpenCode asks:\n\n```\n{long}\n```"
    assert f"New file:\n\n```\n{long}\n```\n\n```diff\n" in message(content=change)
    assert message({"url": long}, "x").endswith(f"\n\nurl:\n\n```\n{long}\n```")
    assert message({long: 1}, "x").endswith(f"\n\n```\n{long}: 1\n```")
    places = (ToolCallLocation(long), ToolCallLocation("b", 1))
    assert message(title="x", locations=places).endswith(f"\n\nIn:\n\n```\n{long}\nb:1\n```")
    assert message(title="x y", note=long).endswith(f"⚠️\n\n```\n{long}\n```")
    todos = [{"content": long, "status": "completed"}, {"content": "c"}]
    assert message({"todos": todos}).endswith(f"```\n[x] {long}\n[ ] c\n```")


@given(TEXTS)
def test_nothing_but_code_has_a_word_that_a_narrow_page_cannot_hold(text: str) -> None:
    parts = (Diff(text * 3, "x"), *said(text))
    shown = message({text: text * 5, "url": text}, text * 2, content=parts, note=text * 3)
    outside = re.sub(r"(?ms)^(`{3,})[^`\n]*\n.*?^\1$", "", shown)
    assert all(cells(word) <= 2 * LONGEST_WORD + 4 for word in outside.split())


def test_many_lines_are_counted_at_the_top() -> None:
    assert message({"command": "x\n" * 13}).startswith(
        "OpenCode asks:\n\n*13 lines:*\n\n```sh\nx\n"
    )
    assert "lines" not in message({"command": "x\n" * 12})


def test_so_is_the_length_of_a_line_that_fills_a_narrow_page() -> None:
    assert message({"command": "x" * 288}).startswith("OpenCode asks:\n\n*288 characters:*\n\n")
    assert "characters" not in message({"command": "x" * 287})


@pytest.mark.limit("agents.acp.render.question_paper.WHOLE_CHARACTERS")
def test_what_there_is_no_room_for_is_counted_before_the_rest() -> None:
    shown = message({"command": "x" * (WHOLE_CHARACTERS + 7), "cwd": "/secret"})
    assert shown.startswith("OpenCode asks:\n\n⚠️ **17 characters of this are not shown.**\n\n")
    assert "… 7 characters left out …" in shown


def test_what_is_left_out_of_a_large_change_is_counted() -> None:
    change = Diff("/w/a.py", "x = 1\n" * 400_000)
    shown = message(title="a", content=(change,))
    count = re.search(r"\*\*([\d,]+) characters of this are not shown", shown)
    assert count is not None
    assert int(count[1].replace(",", "")) > 2_370_000


def test_more_parts_than_there_is_room_for_are_counted_too() -> None:
    shown = message({f"k{at}": at for at in range(1, 102)}, content=(Diff("/a", "b"),) * 101)
    assert "k100: `100`" in shown
    assert "k101" not in shown
    assert "characters of this are not shown" in shown


@given(TEXTS, st.sampled_from(["command", "url", "diff", "content", "title", "path"]))
def test_no_text_hides_a_part_or_ends_its_block(text: str, where: str) -> None:
    raw: Any = {where: text} if where in ("command", "url", "diff") else None
    content: Sequence[ToolCallContent] = said(text) if where == "content" else ()
    content = (Diff(text, "x"),) if where == "path" else content
    shown = message(raw, text if where == "title" else "", content=tuple(content))
    assert not any(is_hidden(one) for one in shown.replace("⚠️", ""))
    wanted = [one for one in text if not (one.isspace() or is_hidden(one) or one in "⟨↪`\u0301.…")]
    letters = iter(shown)
    assert all(one in letters for one in wanted)
    fences = [line for line in shown.split("\n") if line.startswith("```")]
    opened = [line for line in fences if line.strip("`") in ("sh", "diff")]
    if opened and where != "path":
        ticks = opened[0].partition("sh")[0].partition("diff")[0]
        assert [line for line in fences if line.startswith(ticks)] == [opened[0], ticks]


@pytest.mark.limit("agents.acp.render.question_paper._SAID_CHARACTERS")
def test_so_much_of_what_stands_there_is_compared_with_words() -> None:
    command = "x" * (module._SAID_CHARACTERS - 5) + " word"  # pyright: ignore[reportPrivateUsage]
    assert message({"command": command}, title="word").startswith("OpenCode asks:\n")
    said_again = message({"command": f"x{command}"}, title="word")
    assert "characters left out" in said_again.partition("\n")[0]


def test_what_there_is_no_room_for_of_the_open_calls_is_counted() -> None:
    long = "x y " * WHOLE_CHARACTERS
    calls = [CallRecord(str(at), title="Run", raw_input={"command": long}) for at in range(2)]
    shown = question_message(CallRecord("c", title="Go"), "It", about=calls)
    left_out = 2 * len(long.strip()) - WHOLE_CHARACTERS
    counted = int(re.findall(r"([0-9,]+) characters of this are not", shown)[0].replace(",", ""))
    assert left_out <= counted <= left_out + 100
    assert len(shown) < 2 * WHOLE_CHARACTERS
    many = [CallRecord(str(at), title="Run it") for at in range(MOST_ITEMS + 2)]
    shown = question_message(CallRecord("c", title="Go"), "It", about=many)
    assert shown.count("Run it") == MOST_ITEMS
    assert "characters of this are not shown" in shown


def test_a_title_of_an_open_call_is_no_markdown() -> None:
    calls = [CallRecord("1", title="**a** [b](c)"), CallRecord("2", title="x" * 200)]
    shown = question_message(CallRecord("c", title="Go"), "It", about=calls)
    assert "1. \\*\\*a\\*\\* \\[b\\](c)" in shown
    assert f"2.\n\n```\n{'x' * 200}\n```" in shown


def test_a_change_in_the_way_of_git_is_shown_once() -> None:
    patch = "\n".join(
        [
            *("diff --git a/w/a.py b/w/a.py", "create file mode 100644", "--- a/dev/null"),
            *("+++ b/w/a.py", "@@ -1,0 +1,2 @@", "+one", "+two", ""),
        ]
    )
    call = CallRecord(
        "1",
        kind="edit",
        content=(Diff("/w/a.py", "one\ntwo\n"),),
        raw_input={"diff": patch, "path": "/w/a.py"},
    )
    assert question_message(call, "it").count("+one") == 1
    other = attrs.evolve(call, raw_input={"diff": patch.replace("+two", "+three")})
    assert "+three" in question_message(other, "it")


def test_a_command_that_is_a_list_of_itself_is_shown_once() -> None:
    call = CallRecord("1", kind="execute", raw_input={"command": "ls -l", "commands": ["ls -l"]})
    assert question_message(call, "it").count("ls -l") == 1
    call.raw_input = {"command": "ls -l", "commands": ["ls -l", "rm x"]}
    assert "rm x" in question_message(call, "it")


@pytest.mark.parametrize(
    ("more", "is_shown"), [({}, False), ({"mode": 511}, True), ({"note": "Now"}, True)]
)
def test_a_change_is_not_said_again_by_an_object_with_its_patch(more: Any, is_shown: bool) -> None:
    patch = "Index: /a\n--- /a\n+++ /a\n@@ -1 +1 @@\n-x\n+y\n"
    about = {"file": "/a", "patch": patch, "additions": 1, "deletions": 1}
    changed = (Diff("/a", "y", "x"),)
    shown = message({"filediff": about | more}, content=changed)
    assert ("filediff" in shown) is is_shown


@pytest.mark.parametrize("raw", [{"mcpInput": {"a": "b"}}, {"data": {"a": "b"}, "kind": "XAction"}])
def test_what_is_in_a_wrapper_is_said_once(raw: Any) -> None:
    shown = message(raw)
    assert "- a: `b`" in shown
    assert "{" not in shown
