"""What the endpoint for tests in other languages says, and to what."""

from __future__ import annotations

import json
from typing import Any

import pytest

from .responses_events import Call, Text
from .responses_program import answer, said
from .responses_server import Context, Plan

JSON = dict[str, Any]


def user(text: str, *images: str) -> JSON:
    content = [{"type": "input_text", "text": text}]
    content += [{"type": "input_image", "image_url": image} for image in images]
    return {"type": "message", "role": "user", "content": content}


def context(*items: JSON) -> Context:
    return Context(items, {})


def test_words_of_the_editor_are_not_the_users() -> None:
    around = "<reminder>Be brief.</reminder>\n<userRequest>\nmy name is Ada\n</userRequest>"
    told = context(user("<environment_info>Linux</environment_info>"), user(around), user("slow"))
    assert said(told) == ["my name is Ada", "slow"]


def test_everything_that_the_user_said_is_remembered() -> None:
    told = context(user("one"), user("what do you remember?"))
    assert answer(told) == [Text("one / what do you remember?")]


def test_several_calls_are_made_at_once_and_their_results_are_told() -> None:
    asked = user('use alpha {"n": 1}\nuse beta {}')
    outputs = answer(context(asked))
    assert isinstance(outputs, list)
    assert outputs[1:] == [Call("alpha", {"n": 1}), Call("beta", {})]
    results = [{"type": "function_call_output", "output": name} for name in ("one", "two")]
    assert answer(context(asked, *results)) == [Text("one and two")]


def test_images_are_counted() -> None:
    assert answer(context(user("look", "data:a", "data:b"))) == [Text("I see images: 2.")]


@pytest.mark.parametrize("text", ["hello", "use alpha", ""])
def test_anything_else_has_a_few_words_for_an_answer(text: str) -> None:
    assert answer(context(user(text))) == [Text("Yes, indeed.")]


def test_an_answer_may_have_no_end_or_be_refused() -> None:
    slow, quota = answer(context(user("slow"))), answer(context(user("quota")))
    assert isinstance(slow, Plan)
    assert slow.ending == "hang"
    assert isinstance(quota, Plan)
    assert quota.status == 429
    assert json.loads(quota.body or b"")["error"]["code"] == "insufficient_quota"
