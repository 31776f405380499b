from __future__ import annotations

import json

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.render.paragraphs import Page
from agents.acp.render.session_view import SessionView
from agents.acp.render.tool_calls import ToolCalls
from agents.acp.schema.content import (
    Content,
    Diff,
    Terminal,
    TextContent,
    ToolCall,
    ToolCallLocation,
    ToolCallUpdate,
)
from agents.events import OwnCall, Say
from tests.agents.acp.offered import Offered, TitlesNameTools
from tests.agents.acp.scenes import done


def tool_calls(view: SessionView | None = None, offer: Offered | None = None) -> ToolCalls:
    return ToolCalls(Page(), view or SessionView(), "", offer)


WORDS = st.text(st.characters(categories=["L"]), min_size=1, max_size=8)
OFFER = Offered.of("vsc7", "read_file", "b", "d")


def text(says: list[Say]) -> str:
    assert all(say.by_us for say in says)
    return "".join(say.text for say in says)


def told_of(calls: ToolCalls, *news: ToolCall | ToolCallUpdate) -> str:
    return text([say for item in news for say in calls.update(item)])


def running(call_id: str, title: str = "Read a") -> ToolCall:
    return ToolCall(call_id, title, status="in_progress")


def test_a_call_that_runs_is_shown_and_its_end_behind_it() -> None:
    assert told_of(tool_calls(), running("1"), done("1")) == "🔧 Read a ✔"


def test_the_files_that_a_call_changed_are_known_when_it_is_done() -> None:
    calls = tool_calls()
    changes = (Diff("/a", "1", "2"), Diff("/b", "1"), Diff("/a", "3", "4"))
    begins = ToolCallUpdate("1", status="in_progress", content=(*changes, Terminal("t")))
    assert calls.changed(begins) == ()
    calls.update(begins)
    assert calls.changed(ToolCallUpdate("1", status="completed")) == ("/a", "/b")
    assert calls.changed(ToolCallUpdate("1", status="completed", content=changes[1:2])) == ("/b",)
    assert calls.changed(ToolCallUpdate("1", status="failed")) == ()
    assert calls.changed(ToolCallUpdate("2", status="completed", content=changes[:1])) == ("/a",)
    assert calls.changed(ToolCallUpdate("2", status="completed")) == ()


@pytest.mark.parametrize("status", ["completed", "failed"])
def test_what_was_shown_of_a_call_that_ended_is_not_held(status: str) -> None:
    """An agent may read a hundred files in a turn."""
    calls = tool_calls()
    begins = ToolCall("1", "Read a", status="in_progress", raw_input={"path": "a"})
    calls.update(begins)
    long = "x" * 1_000
    ends = ToolCallUpdate("1", status=status, raw_output=long, content=(Diff("/a", long, "b"),))
    calls.update(ends)
    record = calls.learn(ends)
    assert record.is_closed
    assert (record.content, record.raw_input, record.raw_output) == ((), None, None)
    assert long not in repr(calls)


def test_nothing_is_ever_shown_twice() -> None:
    calls = tool_calls()
    told_of(calls, running("1"), done("1"))
    again = (running("1"), ToolCallUpdate("1", title="x"), done("1", "late"), running("1"))
    assert told_of(calls, *again) == ""
    assert calls.finish() == []


@pytest.mark.checklist(22)
def test_several_announcements_of_a_call_are_one_call() -> None:
    assert told_of(tool_calls(), running("1"), running("1", "Read b"), running("1")) == "🔧 Read a"


@pytest.mark.checklist(22)
def test_an_update_of_a_call_that_nobody_announced_is_enough() -> None:
    assert (
        told_of(tool_calls(), ToolCallUpdate("1", title="Read a", status="completed")) == "✔ Read a"
    )


def test_a_bare_call_is_held_until_more_is_known() -> None:
    calls = tool_calls()
    assert told_of(calls, ToolCall("1", "Terminal", raw_input={})) == ""
    assert told_of(calls, ToolCallUpdate("1", raw_input={"a": 1})) == "🔧 Terminal `a: 1`"
    assert calls.flush() == ()


def test_held_calls_are_shown_when_asked_for() -> None:
    calls = tool_calls()
    told_of(calls, ToolCall("1", "One"), ToolCall("2", "Two"), ToolCallUpdate("3", meta={}))
    assert text(list(calls.flush())) == "🔧 One\n\n🔧 Two"
    assert list(calls.flush()) == []


def test_parallel_calls_end_by_their_names() -> None:
    shown = told_of(tool_calls(), running("1", "One"), running("2", "Two"), done("1"), done("2"))
    assert shown == "🔧 One\n\n🔧 Two\n\n✔ One\n\n✔ Two"


@pytest.mark.checklist(22)
def test_calls_that_never_end_are_closed_when_the_turn_is_over() -> None:
    calls = tool_calls()
    told_of(calls, running("1", "One"), ToolCall("2", "Two"), ToolCallUpdate("3", meta={}))
    assert text(list(calls.finish())) == " *no result*\n\n🔧 Two *no result*"
    assert list(calls.finish()) == []
    assert told_of(calls, done("1")) == ""


def answered(calls: ToolCalls, call_id: str, *, is_allowed: bool = False, why: str = "") -> None:
    calls.decide(call_id, is_allowed=is_allowed, is_explained=bool(why))


def asked(calls: ToolCalls, call_id: str, title: str | None = "Write a") -> None:
    calls.learn(ToolCallUpdate(call_id, title=title))


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_call_that_the_agent_only_asks_about_is_not_shown(is_complete: bool) -> None:
    """The question has an id that nothing else is ever said of."""
    calls = tool_calls()
    for call_id in ("allowed", "open"):
        asked(calls, call_id)
    answered(calls, "allowed", is_allowed=True)
    assert list(calls.flush()) == []
    assert list(calls.finish(is_complete=is_complete)) == []
    assert told_of(calls, done("open")) == ""


def test_a_call_that_was_denied_and_never_updated_is_shown_as_denied() -> None:
    calls = tool_calls()
    told_of(calls, running("1", "One"))
    asked(calls, "1")
    asked(calls, "2", "Two")
    answered(calls, "1")
    answered(calls, "2")
    assert text(list(calls.finish(is_complete=True))) == " *denied*\n\n✘ Two *denied*"
    assert list(calls.finish()) == []


def test_a_denial_is_shown_where_the_agent_goes_on() -> None:
    calls = tool_calls()
    asked(calls, "1")
    answered(calls, "1")
    assert text(list(calls.flush())) == "✘ Write a *denied*"
    assert list(calls.flush()) == []
    late = ToolCallUpdate("1", status="failed", title="Write a")
    assert told_of(calls, late) == ""
    assert list(calls.finish()) == []


def test_an_agent_that_tells_of_a_denied_call_is_shown() -> None:
    calls = tool_calls()
    told_of(calls, running("1"))
    answered(calls, "1")
    refused = ToolCallUpdate("1", status="failed", content=done("1", "Not wanted.").content)
    assert told_of(calls, refused) == " ✘ *denied* `Not wanted.`"
    assert list(calls.flush()) == []


def test_the_last_answer_about_a_call_counts() -> None:
    calls = tool_calls()
    told_of(calls, running("1"))
    answered(calls, "1")
    answered(calls, "1", is_allowed=True)
    assert list(calls.flush()) == []
    assert text(list(calls.finish())) == " *no result*"


def test_a_denial_that_was_explained_is_not_shown_again() -> None:
    calls = tool_calls()
    told_of(calls, running("1", "One"))
    asked(calls, "2")
    answered(calls, "1", why="You skipped it.")
    answered(calls, "2", why="You skipped it.")
    assert list(calls.flush()) == []
    assert list(calls.finish(is_complete=True)) == []


@pytest.mark.parametrize("title", [None, ""])
def test_a_denied_call_of_which_nothing_is_known_is_not_shown(title: str | None) -> None:
    calls = tool_calls()
    asked(calls, "1", title)
    answered(calls, "1")
    answered(calls, "nobody's")
    assert list(calls.flush()) == []
    assert list(calls.finish()) == []


def test_a_call_after_which_the_agent_has_answered_needs_no_result() -> None:
    page = Page()
    calls = ToolCalls(page, SessionView(), "", None)
    told_of(calls, running("1", "One"), running("2", "Two"))
    page.say("The answer.", None)
    told_of(calls, ToolCallUpdate("2", status="in_progress"))
    assert text(list(calls.finish(is_complete=True))) == "\n\n🔧 Two *no result*"
    assert told_of(calls, done("1")) == "", "it was closed"


def test_a_turn_that_was_cut_off_leaves_calls_without_a_result() -> None:
    page = Page()
    calls = ToolCalls(page, SessionView(), "", None)
    told_of(calls, running("1", "One"))
    page.say_block("The answer.")
    assert text(list(calls.finish())) == "\n\n🔧 One *no result*"


def test_what_a_command_wrote_is_shown_though_the_agent_has_gone_on() -> None:
    page = Page()
    calls = ToolCalls(page, SessionView(), "", None)
    told_of(calls, running("1", "Watch"))
    wrote = ToolCallUpdate("1", meta={"terminal_output": {"data": "built"}})
    told_of(calls, wrote)
    page.say("It runs.", None)
    assert text(list(calls.finish(is_complete=True))) == "\n\n🔧 Watch *not finished* `built`"


def test_late_news_of_an_earlier_turn_is_not_shown() -> None:
    view = SessionView()
    told_of(tool_calls(view), running("1"), done("1"))
    assert told_of(tool_calls(view), done("1")) == ""


def test_an_agent_may_use_an_id_again_in_another_turn() -> None:
    view = SessionView()
    told_of(tool_calls(view), running("1"), done("1"))
    assert told_of(tool_calls(view), running("1", "Read b"), done("1")) == "🔧 Read b ✔"


def test_calls_of_the_editors_tools_are_left_to_the_editor() -> None:
    calls = tool_calls(offer=OFFER)
    name = "mcp__vsc7__read_file"
    assert told_of(calls, running("1", name), done("1", "text")) == ""
    assert calls.learn(ToolCallUpdate("2", title=name)).is_closed
    assert told_of(calls, done("2", "text")) == ""
    assert list(calls.finish()) == []


def test_a_call_that_was_shown_before_its_tool_was_known_is_closed_all_the_same() -> None:
    calls = tool_calls(offer=OFFER)
    shown = told_of(calls, running("1"), ToolCallUpdate("1", title="vsc7/b"), done("1"))
    assert shown == "🔧 Read a ✔"


@pytest.mark.parametrize(
    "news",
    [
        ToolCall("1", "rm -rf / # vsc7", status="in_progress"),
        ToolCall("1", "vsc7/b && rm -rf /", status="in_progress"),
        ToolCall("1", "vsc7/gone", status="in_progress"),
        ToolCall("1", "Search", status="in_progress", raw_input={"server": "vsc7"}),
        ToolCall("1", "vsc7/b", status="in_progress", kind="execute"),
        ToolCall("1", "Run", name="bash_vsc7_b", status="in_progress"),
    ],
)
def test_a_call_that_only_mentions_the_editors_tools_is_shown(news: ToolCall) -> None:
    calls = tool_calls(offer=OFFER)
    assert told_of(calls, news)
    assert calls.under_way == 0


def test_a_call_that_turns_out_to_be_anothers_is_shown_after_all() -> None:
    """The model has given it the title of one of the editor's tools."""
    calls = tool_calls(offer=OFFER)
    command = ToolCallUpdate("1", kind="execute", raw_input={"command": "rm -rf /"})
    assert told_of(calls, running("1", "vsc7/b")) == ""
    assert calls.under_way == 1
    assert "rm -rf /" in told_of(calls, command)
    assert calls.under_way == 0
    assert told_of(calls, done("1")) == " ✔"


def test_a_call_whose_kind_is_guessed_is_left_to_the_editor_where_titles_are_believed() -> None:
    calls = tool_calls(offer=attrs.evolve(OFFER, owner=TitlesNameTools()))
    announced = ToolCall("1", "vsc7/b", kind="execute")
    assert told_of(calls, announced, ToolCallUpdate("1", title="vsc7/b", kind="execute")) == ""
    assert calls.under_way == 1
    assert told_of(calls, done("1")) == ""
    assert calls.under_way == 0
    assert list(calls.finish()) == []


@pytest.mark.parametrize(("server", "is_shown"), [("vsc7", False), ("other", True)])
def test_a_form_keeps_a_call_of_the_editors_hidden_if_it_is_about_its_server(
    server: str, is_shown: bool
) -> None:
    calls = tool_calls(offer=OFFER)
    wrapped = {"server": "vsc7", "tool": "b", "arguments": {"n": 1}}
    form = {"server_name": server, "request": {"_meta": {"codex_approval_kind": "mcp_tool_call"}}}
    announced = ToolCall("1", "Tool: vsc7/b", status="in_progress", raw_input=wrapped)
    assert told_of(calls, announced) == ""
    calls.learn(ToolCallUpdate("1", title="Approve MCP tool call", raw_input=form))
    assert calls.under_way == (not is_shown)
    assert bool(told_of(calls, done("1"))) is is_shown


def test_a_call_that_turns_out_to_be_anothers_when_it_is_over_is_shown_then() -> None:
    calls = tool_calls(offer=OFFER)
    ended = ToolCallUpdate("1", kind="edit", status="completed")
    assert told_of(calls, running("1", "vsc7/b"), ended).startswith("✔ ")
    assert calls.under_way == 0
    assert list(calls.finish()) == []


def test_what_is_learnt_from_a_permission_request_shows_nothing() -> None:
    calls = tool_calls()
    told_of(calls, ToolCall("1", "Terminal"))
    record = calls.learn(ToolCallUpdate("1", raw_input={"a": 1}))
    assert (record.title, record.arguments) == ("Terminal", {"a": 1})
    assert told_of(calls, done("1")) == "✔ Terminal `a: 1`"


def test_calls_of_the_editors_tools_are_counted_while_they_are_under_way() -> None:
    calls = tool_calls(offer=OFFER)
    name = "mcp__vsc7__read_file"
    assert calls.under_way == 0
    told_of(calls, running("1", name), running("2", "vsc7/b"), running("3", "Read c"))
    assert calls.under_way == 2
    told_of(calls, running("1", name), ToolCallUpdate("1", status="in_progress"))
    assert calls.under_way == 2
    told_of(calls, done("1"), done("1"), done("3"))
    assert calls.under_way == 1
    told_of(calls, ToolCallUpdate("4", title="vsc7/d", status="completed"))
    assert calls.under_way == 1


def being_written(call_id: str, *texts: str) -> list[ToolCall | ToolCallUpdate]:
    """An input that comes as text, as the model writes it; the title grows with it."""
    content = [(Content(TextContent(text)),) for text in texts]
    return [
        ToolCall(call_id, "Open", status="in_progress", content=content[0]),
        *(ToolCallUpdate(call_id, content=one) for one in content[1:]),
    ]


def test_an_input_that_is_written_bit_by_bit_names_the_call_and_is_no_result() -> None:
    news = being_written("1", "", '{"pa', '{"path": "a', '{"path": "a.py"}')
    calls = tool_calls()
    assert told_of(calls, *news[:-1]) == "", "it waits for its name"
    assert told_of(calls, news[-1]) == "🔧 Open `path: a.py`"
    assert told_of(calls, ToolCallUpdate("1", status="completed")) == " ✔"


def test_what_was_shown_without_a_name_gets_it_at_its_end() -> None:
    news = being_written("1", '{"pa', '{"path": "a.py"}')
    calls = tool_calls()
    told_of(calls, news[0])
    assert text([*calls.flush()]) == "🔧 Open"
    assert told_of(calls, news[1], done("1")) == "\n\n✔ Open `path: a.py`"


@given(st.dictionaries(WORDS, WORDS | st.integers(), min_size=1), st.data())
def test_an_input_is_learned_from_text_however_it_is_cut(
    given_: dict[str, str | int], data: st.DataObject
) -> None:
    whole = json.dumps(given_, indent=data.draw(st.none() | st.just(1)))
    cuts = data.draw(st.lists(st.integers(0, len(whole) - 1), max_size=4).map(sorted))
    calls = tool_calls()
    for news in being_written("1", *(whole[:cut] for cut in cuts), whole):
        calls.update(news)
    record = calls.learn(ToolCallUpdate("1"))
    assert record.arguments == given_
    assert record.content == ()


def test_text_that_is_no_input_is_a_result() -> None:
    content = (Content(TextContent('{"a": 1}')),)
    calls = tool_calls()
    begins = ToolCall("1", "Show", status="in_progress", raw_input={"x": 1}, content=content)
    assert told_of(calls, begins, ToolCallUpdate("1", status="completed")) == (
        '🔧 Show `x: 1` ✔ `{"a": 1}`'
    )


def test_a_todo_list_that_waits_is_shown_as_a_list_alone() -> None:
    """An agent asks first whether it may write the list."""
    calls = tool_calls()
    calls.update(ToolCall("1", "todowrite", raw_input={}))
    items = [{"content": "Do it", "status": "pending"}, {"content": "Look", "status": "done"}]
    calls.learn(ToolCallUpdate("1", raw_input={"todos": items}))
    assert calls.flush() == []
    assert told_of(calls, done("1")) == "**Plan**\n\n- [ ] Do it\n- [x] Look"


def test_a_command_that_is_not_known_yet_is_waited_for() -> None:
    """An agent knows the folder before the model has written the command."""
    calls = tool_calls()
    folder = (ToolCallLocation("/w"),)
    begins = ToolCall("1", "bash", kind="execute", raw_input={"cwd": "/w"}, locations=folder)
    assert told_of(calls, begins) == ""
    calls.learn(ToolCallUpdate("1", title="ls", raw_input={"command": "ls"}))
    assert text([*calls.flush()]) == "▶️ `ls`"


SHELL = ToolCall("1", "Run: ls", kind="execute", status="in_progress", raw_input={"command": "ls"})


def test_a_denied_call_that_is_called_completed_is_shown_as_denied() -> None:
    for raw, shown in (
        ("success=False error='Rejected' stdout=None", " ✘ *denied* `Rejected`"),
        (None, " ✘ *denied*"),
        ("it ran", " ✔ `it ran`"),
    ):
        calls = tool_calls()
        told_of(calls, SHELL)
        answered(calls, "1")
        ends = ToolCallUpdate("1", status="completed", raw_output=raw)
        assert told_of(calls, ends) == shown


def test_the_end_of_a_call_is_not_told_after_why_it_was_denied() -> None:
    calls = tool_calls()
    told_of(calls, SHELL)
    answered(calls, "1", why="You skipped it.")
    assert told_of(calls, ToolCallUpdate("1", status="failed", raw_output="No.")) == ""
    assert text([*calls.finish()]) == ""


def test_a_call_is_not_begun_after_why_it_was_denied_but_shown_where_it_was_made() -> None:
    """Some agents tell nothing while they wait for an answer."""
    for status, shown in (("failed", ""), ("completed", "✔ Run: ls `a`")):
        calls = tool_calls()
        calls.ask(ToolCallUpdate("1", title="shell", raw_input={"command": "ls"}))
        answered(calls, "1", why="You skipped it.")
        assert told_of(calls, SHELL) == ""
        assert told_of(calls, ToolCallUpdate("1", status=status, raw_output="a")) == shown


def test_a_question_does_not_take_the_words_of_a_call_away() -> None:
    calls = tool_calls()
    told_of(calls, running("1", "Create made.txt"))
    assert calls.ask(ToolCallUpdate("1", title="create_file")).title == "Create made.txt"
    assert calls.ask(ToolCallUpdate("1", title="Create it now")).title == "Create it now"
    assert calls.ask(ToolCallUpdate("2", title="create_file")).title == "create_file"


def test_what_a_question_was_about_is_named_by_its_command_or_by_the_open_calls() -> None:
    calls = tool_calls()
    assert calls.subjects("1") == ()
    calls.ask(ToolCallUpdate("1", title="shell", kind="execute", raw_input={"command": "ls"}))
    assert calls.subjects("1") == ["shell `ls`"]
    told_of(calls, SHELL, running("2", "Read a"))
    calls.ask(ToolCallUpdate("all", title="Confirm"))
    assert calls.subjects("all") == ["Run: ls", "Read a"]
    told_of(calls, done("1"), done("2"))
    assert calls.subjects("all") == ["Confirm"]


@pytest.mark.parametrize(("why", "shown"), [("You skipped it.", ""), ("", " ✘ *denied* `No.`")])
def test_a_denial_without_details_is_of_all_open_calls(why: str, shown: str) -> None:
    calls = tool_calls()
    told_of(calls, SHELL)
    calls.ask(ToolCallUpdate("all", title="Confirm"))
    answered(calls, "all", why=why)
    assert told_of(calls, ToolCallUpdate("1", status="failed", raw_output="No.")) == shown


def test_a_todo_list_that_never_ends_is_not_told_to_have_no_result() -> None:
    calls = tool_calls()
    todos = [{"content": "Read", "status": "pending"}]
    told_of(calls, ToolCall("1", "todo", status="in_progress", raw_input={"todos": todos}))
    assert text([*calls.finish()]) == ""


def test_a_denial_of_a_call_is_of_no_other() -> None:
    calls = tool_calls()
    told_of(calls, SHELL, running("2"))
    calls.ask(ToolCallUpdate("2", title="Read"))
    answered(calls, "2", why="You skipped it.")
    assert calls.subjects("2") == ["Read a"]
    assert told_of(calls, ToolCallUpdate("1", status="failed")).strip() == "✘ Run: ls *failed*"


def test_a_program_is_told_of_a_call_when_it_begins_and_when_it_ends() -> None:
    calls = tool_calls()
    begun = ToolCall("1", "List", kind="execute", status="in_progress", raw_input={"command": "ls"})
    (said,) = calls.update(begun)
    assert said.call == OwnCall("1", "execute", "in_progress", {"command": "ls"})
    output = (Content(TextContent("a.txt")), Content(TextContent("b.txt")))
    news = ToolCallUpdate("1", status="completed", content=output)
    said = calls.update(news)[-1]
    assert said.call == OwnCall("1", "execute", "completed", {"command": "ls"}, "a.txt\nb.txt")
    (said,) = calls.update(ToolCallUpdate("2", title="Read", status="failed"))[-1:]
    assert said.call == OwnCall("2", "other", "failed")
