"""Texts, reasoning, refusals and links: each once, from whatever event has it."""

from __future__ import annotations

from typing import Any

import pytest

from agents.events import Say, Stop, StopReason, Think
from tests.agents.open_responses.hearing import JSON, Heard, hear
from tests.agents.open_responses.script import Message, Thought, call, say, script

DONE: JSON = {"type": "response.completed", "response": {"id": "resp_1"}}


def text(kind: str, value: str, **keys: Any) -> JSON:
    """Return `output_text.delta`, `refusal.done` and their like."""
    name = "delta" if kind.endswith("delta") else "text"
    if kind == "refusal.done":
        name = "refusal"
    return {"type": f"response.{kind}", name: value, **keys}


def item(*texts: str, kind: str = "output_text", **fields: Any) -> JSON:
    content = [{"type": kind, "text": one} for one in texts]
    return {"type": "message", "role": "assistant", "content": content, **fields}


def done(item: JSON, **keys: Any) -> JSON:
    return {"type": "response.output_item.done", "item": item, **keys}


def end(*items: JSON) -> JSON:
    return {"type": "response.completed", "response": {"id": "resp_1", "output": list(items)}}


# Rule 6: a text that came in deltas isn't repeated, and one that didn't is said once.


@pytest.mark.parametrize(
    "whole",
    [
        text("output_text.done", "abc", output_index=0, content_index=0),
        {
            "type": "response.content_part.done",
            "output_index": 0,
            "content_index": 0,
            "part": {"type": "output_text", "text": "abc"},
        },
        done(item("abc", id="msg_1"), output_index=0),
        end(item("abc", id="msg_1")),
    ],
    ids=["text.done", "part.done", "item.done", "completed"],
)
@pytest.mark.parametrize("deltas", [[], ["a"], ["a", "b"], ["a", "b", "c"]], ids=len)
def test_the_rest_of_a_text_is_said_by_the_first_event_that_has_it(
    deltas: list[str], whole: JSON
) -> None:
    said = [
        text("output_text.delta", one, item_id="msg_1", output_index=0, content_index=0)
        for one in deltas
    ]
    assert hear([*said, whole, whole, DONE]).text == "abc"


def test_a_text_that_is_told_otherwise_in_the_end_is_left_as_it_was_said() -> None:
    deltas = [text("output_text.delta", "abc", output_index=0)]
    for other in (
        text("output_text.done", "xyz", output_index=0),
        done(item("xyz"), output_index=0),
    ):
        assert hear([*deltas, other, end(item("xyz"))]).text == "abc"


def test_two_parts_are_told_apart() -> None:
    events = [
        text("output_text.delta", "a", output_index=0, content_index=0),
        text("output_text.delta", "x", output_index=0, content_index=1),
        text("output_text.delta", "b", output_index=0, content_index=0),
        text("output_text.done", "abc", output_index=0, content_index=0),
        text("output_text.done", "xyz", output_index=0, content_index=1),
        done(item("abc", "xyz"), output_index=0),
        end(item("abc", "xyz")),
    ]
    assert hear(events).text == "axbcyz"


def test_the_second_part_is_said_where_only_the_first_came_in_deltas() -> None:
    deltas = [text("output_text.delta", "abc", output_index=0, content_index=0)]
    assert hear([*deltas, done(item("abc", "xyz"), output_index=0), DONE]).text == "abcxyz"
    assert hear([*deltas, end(item("abc", "xyz"))]).text == "abcxyz"


def test_a_part_that_can_not_be_completed_keeps_no_other_from_being_said() -> None:
    deltas = [text("output_text.delta", "b", output_index=0, content_index=0)]
    assert hear([*deltas, done(item("abc", "xyz"), output_index=0), DONE]).text == "bxyz"


def test_places_that_are_not_those_of_the_item_say_nothing() -> None:
    """vLLM gave each delta its own content index; with one lost, nothing can be told."""
    deltas = [
        text("output_text.delta", one, output_index=0, content_index=n)
        for n, one in enumerate("ac")
    ]
    assert hear([*deltas, done(item("abc"), output_index=0), DONE]).text == "ac"


def test_two_messages_of_the_same_text_are_both_said() -> None:
    assert hear(script(say("ok"), say("ok"))).text == "okok"
    only_wholes = [e for e in script(say("ok"), say("ok")) if not e["type"].endswith(".delta")]
    assert hear(only_wholes).text == "okok"
    assert hear([only_wholes[-1]]).text == "okok"
    not_announced = [e for e in only_wholes if not e["type"].endswith(".added")]
    assert hear(not_announced).text == "okok"


def test_an_item_that_is_done_twice_under_two_names_is_said_once() -> None:
    deltas = [text("output_text.delta", "abc", item_id="msg_1", output_index=0)]
    first = done(item("abc", id="msg_1"), output_index=0)
    again = done(item("abc", id="msg_2"), output_index=1)
    without_index = done(item("abc", id="msg_3"))
    assert hear([*deltas, first, again, without_index, DONE]).text == "abc"


def test_a_message_that_is_new_in_the_final_output_is_said() -> None:
    events = script(say("abc"))
    events[-1]["response"]["output"].append(item("xyz", id="msg_9"))
    assert hear(events).text == "abcxyz"


def test_what_was_said_under_an_unknown_name_is_not_said_again() -> None:
    """Neither id nor index nor the beginning fits: it could be what was said, told otherwise."""
    deltas = [text("output_text.delta", "abx", item_id="a", output_index=3)]
    assert hear([*deltas, end(item("abc", id="b"))]).text == "abx"


def test_a_message_whose_beginning_was_said_is_found_by_it() -> None:
    deltas = [
        text("output_text.delta", "one", item_id="a", output_index=3),
        text("output_text.delta", "two", item_id="b", output_index=4),
    ]
    final = end(item("two and", id="y"), item("one and", id="x"))
    assert sorted(hear([*deltas, final]).text) == sorted("onetwo and and")


def test_messages_that_all_have_the_index_0_are_told_apart() -> None:
    events = [
        {"type": "response.output_item.added", "output_index": 0, "item": item(id="a")},
        text("output_text.delta", "one", item_id="a", output_index=0),
        text("output_text.done", "one", item_id="a", output_index=0),
        done(item("one", id="a"), output_index=0),
        {"type": "response.output_item.added", "output_index": 0, "item": item(id="b")},
        text("output_text.delta", "two", item_id="b", output_index=0),
        text("output_text.done", "two", item_id="b", output_index=0),
        done(item("two", id="b"), output_index=0),
    ]
    assert hear([*events, DONE]).text == "onetwo"
    not_announced = [event for event in events if event["type"] != "response.output_item.added"]
    assert hear([*not_announced, DONE]).text == "onetwo"


def test_texts_without_any_key_are_told_by_their_order() -> None:
    events = [
        text("output_text.delta", "one"),
        text("output_text.done", "one"),
        text("output_text.delta", "two"),
        text("output_text.done", "two"),
    ]
    assert hear([*events, end(item("one"), item("two"))]).text == "onetwo"


def test_an_item_of_plain_text_is_said() -> None:
    for content in ("abc", ["a", "bc"]):
        plain = {"type": "message", "role": "assistant", "content": content}
        assert hear([done(plain), DONE]).text == "abc"


@pytest.mark.parametrize("content", [None, {}, [None], [{}], [{"type": "output_text"}], 7, ""])
def test_a_message_without_text_says_nothing(content: Any) -> None:
    assert hear([done({"type": "message", "content": content}), DONE]).text == ""


def test_a_delta_of_nothing_is_nothing() -> None:
    for delta in ("", None):
        event = {"type": "response.output_text.delta", "delta": delta, "output_index": 0}
        assert hear([event, DONE]).events == [Stop()]


def test_a_delta_that_comes_too_late_is_nothing() -> None:
    key = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    whole, late = text("output_text.done", "ab", **key), text("output_text.delta", "b", **key)
    assert hear([whole, late, DONE]).events == [Say("ab"), Stop()]


def test_a_part_of_an_unknown_kind_is_left_out() -> None:
    part = {"type": "response.content_part.done", "part": {"type": "input_image"}}
    assert hear([part, DONE]).events == [Stop()]


# Rule 9: refusals.


@pytest.mark.parametrize(
    "events",
    [
        [text("refusal.delta", "no")],
        [text("refusal.done", "no")],
        [{"type": "response.content_part.done", "part": {"type": "refusal", "refusal": "no"}}],
        [done({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]})],
        [end({"type": "message", "content": [{"type": "refusal", "refusal": "no"}]})],
    ],
)
def test_a_refusal_is_plain_text_and_no_error(events: list[JSON]) -> None:
    heard = hear([*events, DONE])
    assert heard.text == "no"
    assert heard.end == Stop(StopReason.REFUSAL)


@pytest.mark.parametrize(
    "event",
    [
        text("refusal.delta", ""),
        text("refusal.done", ""),
        {"type": "response.content_part.done", "part": {"type": "refusal", "refusal": ""}},
        done({"type": "message", "content": [{"type": "refusal", "refusal": ""}]}),
    ],
)
def test_an_empty_refusal_refuses_nothing(event: JSON) -> None:
    assert hear([event, DONE]).end == Stop()


# Rule 8: reasoning.


@pytest.mark.parametrize(
    "name",
    [
        "response.reasoning.delta",
        "response.reasoning_text.delta",
        "response.reasoning_summary_text.delta",
        "response.reasoning_summary.delta",
        "thinking.delta",
    ],
)
def test_reasoning_has_many_names(name: str) -> None:
    assert hear([{"type": name, "delta": "hm"}, DONE]).thought == "hm"


@pytest.mark.parametrize(
    "event",
    [
        {"type": "response.reasoning.done", "text": "hm"},
        {"type": "response.reasoning_text.done", "text": "hm"},
        {"type": "response.reasoning_summary_text.done", "text": "hm"},
        {"type": "response.reasoning_summary.done", "text": "hm"},
        {
            "type": "response.reasoning_summary_part.done",
            "part": {"type": "summary_text", "text": "hm"},
        },
        {"type": "response.content_part.done", "part": {"type": "reasoning_text", "text": "hm"}},
        {"type": "response.reasoning_part.done", "part": {"type": "reasoning_text", "text": "hm"}},
        done({"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]}),
        done({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
        end({"type": "reasoning", "summary": [{"type": "summary_text", "text": "hm"}]}),
    ],
)
def test_reasoning_that_has_no_deltas_is_told_once(event: JSON) -> None:
    assert hear([event, event, DONE]).thought == "hm"


@pytest.mark.parametrize("is_summary", [True, False])
def test_reasoning_is_told_one_way_only(is_summary: bool) -> None:
    both = done(
        {
            "type": "reasoning",
            "id": "rs_1",
            "summary": [{"type": "summary_text", "text": "in short"}],
            "content": [{"type": "reasoning_text", "text": "at length"}],
        }
    )
    short = {"type": "response.reasoning_summary_text.delta", "delta": "in short"}
    long = {"type": "response.reasoning_text.delta", "delta": "at length"}
    first, second = (short, long) if is_summary else (long, short)
    keys = {"item_id": "rs_1"}
    heard = hear([{**first, **keys}, {**second, **keys}, both, end(both["item"])])
    assert heard.thought == ("in short" if is_summary else "at length")
    assert hear([both, end(both["item"])]).thought == "in short"


def test_reasoning_stays_with_the_way_that_it_began() -> None:
    both = {
        "type": "reasoning",
        "id": "rs_2",
        "summary": [{"type": "summary_text", "text": "in short"}],
        "content": [{"type": "reasoning_text", "text": "at length"}],
    }
    raw = text("reasoning_text.delta", "hm", item_id="rs_1", output_index=0)
    short = text("reasoning_summary_text.delta", "hm", item_id="rs_1", output_index=0)
    assert hear([raw, done(both, output_index=1), DONE]).thought == "hm\n\nat length"
    assert hear([short, done(both, output_index=1), DONE]).thought == "hm\n\nin short"


def test_between_the_parts_of_a_summary_is_a_blank_line() -> None:
    heard = hear(script(Thought([["one", " more"], ["two"]], is_summary=True)))
    assert heard.thought == "one more\n\ntwo"
    assert heard.events[:2] == [Think("one", id="rs_0"), Think(" more", id="rs_0")]


def test_between_two_items_of_reasoning_is_a_blank_line() -> None:
    heard = hear(script(Thought([["one"]]), call(), Thought([["two"]])))
    assert heard.thought == "one\n\ntwo"


def test_reasoning_whose_every_delta_is_a_part_of_its_own_is_one_text() -> None:
    """vLLM counts the content index up."""
    events = [
        text("reasoning_text.delta", one, item_id="rs_1", content_index=n)
        for n, one in enumerate("abc")
    ]
    assert hear([*events, DONE]).thought == "abc"


def test_reasoning_that_closes_after_the_message_is_told_once() -> None:
    """OpenRouter does that, and has another id for it in the end."""
    thought = {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "hm"}]}
    events = [
        text("reasoning_text.delta", "hm", item_id="rs_1", output_index=0),
        text("output_text.delta", "a", item_id="msg_1", output_index=1),
        done(item("a", id="msg_1"), output_index=1),
        done({**thought, "id": "rs_1"}, output_index=0),
        end({**thought, "id": "rs_tmp_9"}, item("a", id="msg_1")),
    ]
    heard = hear(events)
    assert (heard.thought, heard.text) == ("hm", "a")


# Rule 10: links.

SPEC = {"type": "url_citation", "url": "https://a.example/x", "title": "A"}
OTHER = {"type": "url_citation", "url": "https://b.example/", "title": "B"}


def cite(annotation: Any, **keys: Any) -> JSON:
    return {"type": "response.output_text.annotation.added", "annotation": annotation, **keys}


def links(annotations: str, *events: JSON) -> Heard:
    before = text("output_text.delta", "a", output_index=0)
    after = text("output_text.delta", "b", output_index=0)
    return hear(
        [before, *events, after, done(item("ab"), output_index=0), DONE], annotations=annotations
    )


def test_a_link_stands_where_it_belongs() -> None:
    heard = links("inline", cite(SPEC, output_index=0))
    assert heard.shown == "a [A](https://a.example/x)b"
    assert heard.text == "ab"
    assert heard.events[1] == Say(" [A](https://a.example/x)", by_us=True)


def test_links_stand_at_the_end_if_that_is_wanted() -> None:
    heard = links("end", cite(SPEC, output_index=0), cite(OTHER, output_index=0))
    assert heard.shown == "ab\n\n- [A](https://a.example/x)\n- [B](https://b.example/)\n"
    assert heard.text == "ab"


def test_links_at_the_end_are_shown_where_no_item_is_done() -> None:
    events = [text("output_text.delta", "a", output_index=0), cite(SPEC), DONE]
    assert hear(events, annotations="end").shown == "a\n\n- [A](https://a.example/x)\n"


def test_no_link_is_shown_if_that_is_wanted() -> None:
    assert links("none", cite(SPEC, output_index=0)).shown == "ab"


@pytest.mark.parametrize("annotations", ["inline", "end"])
def test_an_address_is_shown_once_in_a_message(annotations: str) -> None:
    twice = cite({**SPEC, "title": "again"}, output_index=0)
    heard = links(annotations, cite(SPEC, output_index=0), twice)
    assert heard.shown.count("a.example") == 1


def test_an_address_is_shown_again_in_another_message() -> None:
    events = [
        event
        for index in range(2)
        for event in (
            text("output_text.delta", "a", output_index=index),
            cite(SPEC, output_index=index),
            done(item("a"), output_index=index),
        )
    ]
    assert hear([*events, DONE]).shown.count("a.example") == 2


@pytest.mark.parametrize(
    "annotation",
    [
        None,
        "text",
        {},
        {"type": "file_citation", "file_id": "file_1", "filename": "x"},
        {"type": "container_file_citation", "file_id": "file_1"},
        {"type": "file_path", "file_id": "file_1"},
        {"type": "url_citation", "url": None},
        {"type": "url_citation", "url": "command:evil"},
        {"type": "url_citation", "url": "javascript:alert(1)"},
    ],
)
def test_what_has_no_address_on_the_web_is_not_shown(annotation: Any) -> None:
    assert links("inline", cite(annotation, output_index=0)).shown == "ab"


@pytest.mark.parametrize("annotations", ["inline", "end"])
def test_links_that_only_come_with_the_whole_text_are_shown(annotations: str) -> None:
    part = {"type": "output_text", "text": "a", "annotations": [SPEC]}
    message = {"type": "message", "id": "msg_1", "content": [part]}
    events = [
        {"type": "response.content_part.done", "item_id": "msg_1", "part": part},
        done(message),
        end(message),
    ]
    for some in (events, events[1:], events[2:]):
        heard = hear(some, annotations=annotations)
        assert heard.shown.count("[A](https://a.example/x)") == 1
        assert heard.text == "a"


def test_a_message_can_have_parts_of_several_kinds() -> None:
    heard = hear(script(Message([["a"]]), Message([["no"]], "refusal"), Message([["b"]])))
    assert heard.text == "anob"
    assert heard.end == Stop(StopReason.REFUSAL)


@pytest.mark.parametrize("kind", ["output_text", "reasoning_text"])
@pytest.mark.parametrize("has_item", [True, False])
def test_deltas_with_an_index_each_and_several_wholes_at_the_first_say_the_text_once(
    kind: str, has_item: bool
) -> None:
    key = {"item_id": "msg_1", "output_index": 0}
    pieces = ["Two", " and", " two"]
    told = [
        *(text(f"{kind}.delta", one, **key, content_index=at) for at, one in enumerate(pieces)),
        text(f"{kind}.done", "Two and two.", **key, content_index=0),
        {
            "type": "response.content_part.done",
            **key,
            "content_index": 0,
            "part": {"type": kind, "text": "Two and two."},
        },
    ]
    whole = item("Two and two.", kind=kind, id="msg_1")
    if kind == "reasoning_text":
        whole["type"] = "reasoning"
    heard = hear([*told, *([done(whole, output_index=0)] if has_item else []), end(whole)])
    assert heard.text + heard.thought == "Two and two."
