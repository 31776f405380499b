"""A todo list is told from other calls by its input, and becomes a plan."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.calls.state import CallRecord
from agents.acp.render.paragraphs import Page
from agents.acp.render.question import question_message
from agents.acp.render.session_view import SessionView
from agents.acp.render.todos import listed, todo_entries
from agents.acp.render.tool_calls import ToolCalls
from agents.acp.schema.content import ToolCall
from agents.acp.schema.plans import PlanEntry

if TYPE_CHECKING:
    from random import Random

ITEM = {"content": "Do it", "status": "completed"}


@pytest.mark.parametrize(
    "given",
    [
        {"todos": [ITEM]},
        {"todos": [ITEM], "merge": True},
        {"todos": [{"description": "Do it", "status": "completed", "id": 1}]},
        {"server": "x", "tool": "y", "arguments": {"todos": [ITEM]}},
        {"action": "write", "todos": [ITEM], "draft": None},
        {"plan": [{"step": "Do it", "status": "DONE"}]},
        {"tasks": [{"title": "Do it", "done": True}]},
    ],
)
def test_the_ways_in_which_agents_write_a_list(given: Any) -> None:
    assert todo_entries(CallRecord("c", raw_input=given)) == (
        PlanEntry("Do it", status="completed"),
    )


@pytest.mark.parametrize(
    "given",
    [
        None,
        "todos",
        {"todos": "Do it"},
        {"todos": []},
        {"todos": ["Do it"]},
        {"todos": [ITEM, {"content": ""}]},
        {"todos": [{"content": "a", "status": 3}]},
        {"todos": [ITEM], "path": "/etc/passwd"},
        {"todos": [ITEM], "more": {"path": "x"}},
        {"todos": [ITEM], "paths": ["x"]},
        {"files": [{"name": "a.py"}]},
        {"files": [{"name": "a.py", "status": "modified"}]},
    ],
)
def test_what_is_no_list_is_an_ordinary_call(given: Any) -> None:
    assert todo_entries(CallRecord("c", raw_input=given)) is None


def test_a_list_that_could_not_be_written_is_a_call_that_failed() -> None:
    calls = ToolCalls(Page(), SessionView(), "", None)
    (say,) = calls.update(ToolCall("1", "todowrite", status="failed", raw_input={"todos": [ITEM]}))
    assert say.text.startswith("✘ todowrite ")
    assert say.text.endswith(" *failed*")


def dashed(words: str) -> str:
    return words.replace("_", "-")


@given(
    st.lists(
        st.tuples(
            st.text(min_size=1, max_size=20),
            st.sampled_from(["pending", "in_progress", "completed", "cancelled"]),
        ),
        min_size=1,
        max_size=5,
    ),
    st.sampled_from(["content", "description", "text", "title", "task", "step", "name"]),
    st.from_regex(r"[a-z]{1,10}", fullmatch=True),
    st.sampled_from([str.upper, str.title, str, dashed]),
    st.randoms(),
)
def test_a_list_is_known_whatever_it_is_called(
    steps: list[tuple[str, str]], words: str, name: str, spell: Callable[[str], str], dice: Random
) -> None:
    def item(number: int, content: str, status: str) -> dict[str, Any]:
        pairs = [(words, content), ("status", spell(status)), ("id", number), ("priority", "low")]
        dice.shuffle(pairs)
        return dict(pairs)

    pairs: list[tuple[str, Any]] = [
        (name, [item(number, *step) for number, step in enumerate(steps)]),
        ("merge_", False),
    ]
    dice.shuffle(pairs)
    expected = tuple(PlanEntry(content, status=status) for content, status in steps)
    assert todo_entries(CallRecord("c", raw_input=dict(pairs))) == expected
    assert listed(dict(pairs)) == expected
    assert listed(dict(pairs)[name]) == expected


def test_what_else_a_question_about_a_list_shows() -> None:
    call = CallRecord("c", raw_input={"action": "write", "todos": [ITEM]})
    message = question_message(call, "it")
    assert "- [x] Do it" in message
    assert "- action: `write`" in message
