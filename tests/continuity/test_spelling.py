"""A fact's letters survive wherever a text goes."""

from __future__ import annotations

import json

from tests.host.facts import fact_part

from .spelling import read, spelled, spelled_out

HI = {"type": "text", "value": "hi"}


def test_letters_are_read_in_their_order_from_json_too() -> None:
    text = f"a{spelled(3)} b{spelled(1, 2)}"
    assert read(text) == read(json.dumps({"text": text}, ensure_ascii=False)) == [3, 1, 2]


def test_a_users_fact_stands_within_what_was_typed() -> None:
    asked = {"type": "text", "value": "<context>\n</context>\n<userRequest>\nhi\n</userRequest>\n"}
    message = spelled_out({"role": "user", "content": [asked, fact_part(7)]})
    assert message["content"] == [
        asked | {"value": asked["value"].replace("hi", f"hi{spelled(7)}")}
    ]
    bare = spelled_out({"role": "user", "content": [HI, fact_part(7)]})
    assert bare["content"] == [HI | {"value": f"hi{spelled(7)}"}]


def test_an_answer_has_no_letters_but_those_that_were_said() -> None:
    message = spelled_out({"role": "assistant", "content": [HI, fact_part(7)]})
    assert message["content"] == [HI]


def test_a_result_has_its_fact_as_a_text_of_its_own() -> None:
    result = {"type": "tool_result", "toolCallId": "1", "result": [HI, fact_part(7)]}
    (part,) = spelled_out({"role": "user", "content": [result]})["content"]
    assert part["result"] == [HI, {"type": "text", "value": spelled(7)}]
