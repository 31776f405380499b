from __future__ import annotations

import json
from typing import Any

import pytest

from agents.open_responses.stream.outcome import TokenUsage
from agents.open_responses.stream.usage import read_usage, usage_record


@pytest.mark.parametrize(
    ("told", "usage"),
    [
        ({"input_tokens": 7, "output_tokens": 5, "total_tokens": 12}, TokenUsage(7, 5, 12)),
        ({"input_tokens": 7, "output_tokens": 5}, TokenUsage(7, 5, 12)),
        ({"input_tokens": 7.0, "output_tokens": None, "total_tokens": -1}, TokenUsage(7, 0, 7)),
        ({"output_tokens": 5}, TokenUsage(0, 5, 5)),
        (
            {"input_tokens": 0, "output_tokens": 0, "input_tokens_details": {"cached_tokens": 0}},
            TokenUsage(0, 0, 0, 0),
        ),
        (
            {"input_tokens": 1, "input_tokens_details": None, "output_tokens_details": []},
            TokenUsage(1, 0, 1),
        ),
        (
            {"input_tokens": 1, "output_tokens_details": {"reasoning_tokens": 3}},
            TokenUsage(1, 0, 1, None, 3),
        ),
        (
            {
                "prompt_tokens": 7,
                "completion_tokens": 5,
                "prompt_tokens_details": {"cached_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 3},
            },
            TokenUsage(7, 5, 12, 2, 3),
        ),
        (
            {
                "input_tokens": 7,
                "prompt_tokens": 1,
                "input_tokens_details": {},
                "prompt_tokens_details": {"cached_tokens": 1},
            },
            TokenUsage(7, 0, 7, 1),
        ),
        ({"input_tokens": float("inf"), "output_tokens": float("nan")}, None),
        ({"input_tokens": True, "output_tokens": "5"}, None),
        ({}, None),
        (None, None),
        ([], None),
    ],
)
def test_tokens_are_read_as_far_as_they_are_numbers(told: Any, usage: TokenUsage | None) -> None:
    assert read_usage(told) == usage


def test_the_host_is_told_in_its_own_words() -> None:
    record = usage_record(TokenUsage(7, 5, 12, 3, 2))
    assert record.mime_type == "usage"
    assert json.loads(record.data) == {
        "prompt_tokens": 7,
        "completion_tokens": 5,
        "total_tokens": 12,
        "prompt_tokens_details": {"cached_tokens": 3},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }


def test_what_the_server_did_not_say_the_host_is_not_told() -> None:
    assert set(json.loads(usage_record(TokenUsage(7, 5, 12)).data)) == {
        "prompt_tokens",
        "completion_tokens",
        "total_tokens",
    }
