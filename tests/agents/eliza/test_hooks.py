"""How hooks are written, and what they do."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.eliza.hooks import (
    BATCH_WORDS,
    MOST_WORDS,
    AwaitAnswers,
    AwaitForm,
    BadHook,
    ErrorHook,
    FormHook,
    Hang,
    HangHook,
    Hook,
    LongHook,
    PermissionHook,
    ThinkHook,
    ToolHook,
    ToolRequest,
    TurnScript,
    enact,
    parse_hook,
    result_text,
    say,
)
from agents.eliza.script import BEFORE_FORM, FORM, FORM_URL
from agents.events import (
    CANCELLED,
    Answer,
    AskPermission,
    Batch,
    Break,
    CallTool,
    Decision,
    ElicitAnswer,
    Event,
    PermissionAnswer,
    Say,
    Stop,
    Think,
    ToolAnswer,
)
from bridge.wire import ToolSpec
from tests.agents.talk import said

# How they are written.


@pytest.mark.limit("agents.eliza.hooks.MOST_WORDS")
@pytest.mark.parametrize(
    ("text", "hook"),
    [
        ("!hang", HangHook()),
        ("  \n!hang  ", HangHook()),
        ("!Hang, please", HangHook()),
        ("!think about it\nand more", ThinkHook()),
        ("!error!", ErrorHook()),
        ("!long 12", LongHook(12)),
        ("!long 0012 words", LongHook(12)),
        ("!long 10000001", LongHook(MOST_WORDS)),
        ("!long " + "9" * 5000, LongHook(MOST_WORDS)),
        ("!permission Delete the file", PermissionHook("Delete the file")),
        ("!permission Delete it \nnow", PermissionHook("Delete it")),
        ("!tool clock", ToolHook((ToolRequest("clock", {}),))),
        ('!tool read {"path": "a b"}', ToolHook((ToolRequest("read", {"path": "a b"}),))),
        ('!tool read{"a": [1]}', ToolHook((ToolRequest("read", {"a": [1]}),))),
        ('!tool read\n{\n  "a": 1\n}', ToolHook((ToolRequest("read", {"a": 1}),))),
        (
            '!tool a {"x": 1}\r\n  !TOOL b\n\n!tool a',
            ToolHook((ToolRequest("a", {"x": 1}), ToolRequest("b", {}), ToolRequest("a", {}))),
        ),
        ("!form", FormHook()),
        ("!form url", FormHook(FORM_URL)),
        ("hook:Form URL https://a.example/b?c=d", FormHook("https://a.example/b?c=d")),
        ("hook:hang", HangHook()),
        (" Hook:Long 12", LongHook(12)),
        (
            'hook:tool a {"x": 1}\nHOOK:tool b\n!tool c',
            ToolHook((ToolRequest("a", {"x": 1}), ToolRequest("b", {}), ToolRequest("c", {}))),
        ),
    ],
)
def test_a_hook_is_recognised(text: str, hook: Hook) -> None:
    assert parse_hook(text) == hook


@pytest.mark.parametrize(
    "text",
    [
        *("", "!", "hang", "Say !hang", "!hanging", "!tools", "!long_one", "!unknown", "!!hang"),
        *("hook:", "hook: hang", "Say hook:hang", "hook:hanging", "hook:!hang", "unhook:hang"),
    ],
)
def test_anything_else_is_something_to_talk_about(text: str) -> None:
    assert parse_hook(text) is None


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("!long", "there is none"),
        ("!long x", "`x` is not one"),
        ("!long 0", "`0` is not one"),
        ("!long -5", "`-5` is not one"),
        ("!long \u0663", "is not one"),
        ("!long " + "x" * 1000, "xxx...` is not one"),
        ("!permission", "needs a title"),
        ("!form please", "`!form` is written as `!form`"),
        ("!form url ftp://a.example", "this is `url ftp://a.example`"),
        ("!form url https://a.example and more", "is written as"),
        ("!tool", "needs the name of a tool"),
        ('!tool {"a": 1}', "needs the name of a tool"),
        ("!tool read {", "must be one JSON object"),
        ("!tool read path", "must be one JSON object"),
        ("!tool read [1]", "Expected `object`, got `array`"),
        ('!tool read {"a": 1} please', "must be one JSON object"),
        ('!tool read {"a": ' + "[" * 100_000, "must be one JSON object"),
        ('!tool read {"a": "\ud800"}', "must be one JSON object"),
        ("!tool good {}\n!tool bad {", "`!tool bad`"),
        ("!tool good {}\nand more\n!tool good", "must be one JSON object"),
    ],
)
def test_a_hook_that_is_written_wrongly_says_what_is_wrong(text: str, complaint: str) -> None:
    hook = parse_hook(text)
    assert isinstance(hook, BadHook)
    assert complaint in hook.complaint
    assert len(hook.complaint) < 400


@given(st.text())
def test_any_text_is_a_hook_or_not(text: str) -> None:
    for start in ("", "!tool ", "!long ", "!permission ", "!hang ", "!form "):
        parse_hook(start + text)


scalars = st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(max_size=5)
json_objects = st.dictionaries(st.text(max_size=5), scalars | st.lists(scalars), max_size=3)


@given(st.lists(st.tuples(st.text("az_-", min_size=1), json_objects), min_size=1, max_size=3))
def test_what_is_written_as_calls_is_read_as_these_calls(
    calls: list[tuple[str, dict[str, Any]]],
) -> None:
    text = "\n".join(f"!tool {name} {json.dumps(parameters)}" for name, parameters in calls)
    requests = tuple(ToolRequest(name, parameters) for name, parameters in calls)
    assert parse_hook(text) == ToolHook(requests)


# What they do.

OFFERED = [ToolSpec("read"), ToolSpec("clock")]


def steps_of(text: str, tools: Sequence[ToolSpec] = OFFERED) -> TurnScript:
    hook = parse_hook(text)
    assert hook is not None
    numbers = count(1)
    return enact(hook, tools, lambda: f"id-{next(numbers)}")


def events_of(steps: TurnScript) -> list[Event]:
    """Return what a turn that asks nothing says."""
    events: list[Event] = []
    for step in steps:
        assert not isinstance(step, AwaitAnswers | AwaitForm | Hang)
        events += step
    return events


def after(steps: TurnScript, *answers: Answer) -> list[Event]:
    """Return what a turn says when it is sent the answers to its question."""
    step = steps.send(answers)
    assert not isinstance(step, AwaitAnswers | AwaitForm | Hang)
    return [*step, *events_of(steps)]


@given(st.text())
def test_the_words_that_are_said_make_up_the_text(text: str) -> None:
    events = events_of(say(text))
    words = [event.text for event in events[:-1] if isinstance(event, Say)]
    assert events[-1] == Stop()
    assert "".join(words) == text
    assert len(words) == len(events) - 1
    assert all(len(word.split()) == 1 for word in words[1:])


@pytest.mark.parametrize("words", [1, BATCH_WORDS - 1, BATCH_WORDS, BATCH_WORDS + 1])
def test_words_come_in_batches_and_none_is_empty(words: int) -> None:
    batches = [
        step
        for step in say("word " * words)
        if not isinstance(step, AwaitAnswers | AwaitForm | Hang)
    ]
    assert [len(batch) <= BATCH_WORDS + 1 for batch in batches] == [True] * len(batches)
    assert all(batches)
    assert sum(map(len, batches)) == words + 1


def test_hanging_begins_with_words() -> None:
    first, second = steps_of("!hang")
    assert not isinstance(first, AwaitAnswers | AwaitForm | Hang)
    assert said(first)
    assert isinstance(second, Hang)


def test_thinking_ends_with_an_answer() -> None:
    events = events_of(steps_of("!think"))
    kinds = [type(event) for event in events]
    assert kinds.count(Think) > 1
    assert kinds == [Think] * kinds.count(Think) + [Say] * kinds.count(Say) + [Stop]
    assert said(events)


def test_an_error_comes_after_words() -> None:
    events = events_of(steps_of("!error"))
    assert said(events)
    assert isinstance(events[-1], Break)
    assert events[-1].failure.kind == "AgentFailed"


@given(st.integers(1, 2000))
def test_a_long_answer_has_at_least_its_words_and_ends_a_sentence(words: int) -> None:
    events = events_of(steps_of(f"!long {words}"))
    text = said(events)
    assert words <= len(text.split()) == len(events) - 1 < words + 30
    assert text.endswith(".")
    assert events[-1] == Stop()


def test_a_long_answer_is_made_as_it_is_asked_for() -> None:
    steps = steps_of(f"!long {MOST_WORDS}")
    batch = next(steps)
    assert not isinstance(batch, AwaitAnswers | AwaitForm | Hang)
    assert len(batch) == BATCH_WORDS


def test_calls_go_out_together_and_results_are_shown_in_their_order() -> None:
    steps = steps_of('!tool read {"path": "a"}\n!tool clock')
    calls = (CallTool("id-1", "read", {"path": "a"}), CallTool("id-2", "clock", {}))
    assert next(steps) == AwaitAnswers(calls)
    text = said(after(steps, ToolAnswer("id-1", "first"), ToolAnswer("id-2", 2, is_error=True)))
    assert text == "The tool read answered:\n\nfirst\n\nThe tool clock failed:\n\n2"


def test_a_tool_that_is_not_offered_is_never_called() -> None:
    assert said(events_of(steps_of("!tool write"))) == (
        "The tool write is not offered here; offered: read, clock."
    )
    assert said(events_of(steps_of("!tool write", []))) == (
        "The tool write is not offered here; offered: none."
    )


def test_of_several_calls_those_that_are_offered_are_made() -> None:
    steps = steps_of("!tool write\n!tool clock")
    assert next(steps) == AwaitAnswers((CallTool("id-1", "clock", {}),))
    text = said(after(steps, ToolAnswer("id-1", "noon")))
    assert "The tool write is not offered" in text
    assert "noon" in text


@pytest.mark.parametrize(
    ("decision", "word"), [(Decision.ALLOWED, "allowed"), (Decision.DENIED, "denied")]
)
def test_she_says_what_the_user_decided(decision: Decision, word: str) -> None:
    steps = steps_of("!permission Delete *it*")
    details = {"message": r"Eliza asks: Delete \*it\*"}
    assert next(steps) == AwaitAnswers((AskPermission("id-1", "Delete *it*", details=details),))
    events = after(steps, PermissionAnswer("id-1", decision))
    assert word in said(events).split()
    assert events[-1] == Stop()


def test_a_question_that_was_abandoned_ends_the_turn_as_cancelled() -> None:
    steps = steps_of("!permission Delete it")
    next(steps)
    assert after(steps, PermissionAnswer("id-1", Decision.ABANDONED)) == [CANCELLED]


@pytest.mark.parametrize(
    ("text", "answer", "words"),
    [
        ("!form", ElicitAnswer("id-1", "accept", {"name": "x"}), '```json\n{"name":"x"}\n```'),
        ("!form", ElicitAnswer("id-1", "decline"), "You have declined."),
        ("!form url", ElicitAnswer("id-1", "accept"), "You have opened it."),
        ("!form url", ElicitAnswer("id-1", "cancel"), "You have closed it"),
    ],
)
def test_she_says_what_came_of_a_form(text: str, answer: ElicitAnswer, words: str) -> None:
    steps = steps_of(text)
    first = next(steps)
    assert isinstance(first, tuple)
    assert said(list(first)) == f"{BEFORE_FORM}\n\n"
    asked = next(steps)
    assert isinstance(asked, AwaitForm)
    is_form = text == "!form"
    assert (asked.elicit.form is not None) is is_form
    assert asked.elicit.url == (None if is_form else FORM_URL)
    assert words in said(after(steps, answer))


def test_the_form_has_a_field_of_each_kind() -> None:
    fields = FORM["properties"]
    kinds = [field["type"] for field in fields.values()]
    assert kinds == ["string", "string", "integer", "array", "boolean"]
    assert set(FORM["required"]) < set(fields)


def test_a_hook_that_is_written_wrongly_is_answered_with_the_complaint() -> None:
    assert "needs a number" in said(events_of(steps_of("!long x")))


@pytest.mark.parametrize(
    ("result", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "value": "a"}, {"type": "text", "value": "b"}], "a\nb"),
        (
            [{"type": "text", "value": "a"}, {"type": "data", "mimeType": "image/png"}],
            'a\n{"type":"data","mimeType":"image/png"}',
        ),
        ([], "[]"),
        ([1, 2], "[1,2]"),
        ([{"value": 1}], '[{"value":1}]'),
        ({"a": None}, '{"a":null}'),
        (None, "null"),
        (1.5, "1.5"),
    ],
)
def test_a_result_is_shown_as_its_texts_or_else_as_json(result: object, text: str) -> None:
    assert result_text(result) == text


def batches_of(steps: TurnScript) -> list[Batch]:
    return [step for step in steps if not isinstance(step, AwaitAnswers | AwaitForm | Hang)]


def test_a_long_answer_comes_in_full_batches() -> None:
    *full, last, end = batches_of(steps_of("!long 1000"))
    assert {len(batch) for batch in full} == {BATCH_WORDS}
    assert 0 < len(last) <= BATCH_WORDS
    assert len(end) == 2
