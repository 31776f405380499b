from __future__ import annotations

import json
from typing import Any

import pytest

from vscodelm.http_server.usage import ResponseUsage, usage_in


@pytest.mark.parametrize(
    ("record", "usage"),
    [
        ({"prompt_tokens": 7, "completion_tokens": 3}, ResponseUsage(7, 3)),
        (
            {
                "prompt_tokens": 9_000,
                "completion_tokens": 0,
                "turn": {"prompt_tokens": 7, "completion_tokens": 3},
                "prompt_tokens_details": {"cached_tokens": 2},
                "completion_tokens_details": {"reasoning_tokens": 1},
            },
            ResponseUsage(7, 3, 2, 1),
        ),
        ({"prompt_tokens": 9_000, "completion_tokens": 0, "context_window": 1}, None),
        ({"completion_tokens": 3}, ResponseUsage(0, 3)),
        ({"prompt_tokens": -1, "completion_tokens": 3}, None),
        ({}, None),
        ([], None),
    ],
)
def test_only_real_tokens_count(record: Any, usage: ResponseUsage | None) -> None:
    assert usage_in(json.dumps(record).encode()) == usage


def test_both_ways_of_writing_have_the_same_numbers() -> None:
    usage = ResponseUsage(7, 3, 2, 1)
    assert usage.as_response["total_tokens"] == usage.as_completion["total_tokens"] == 10
    assert usage.as_completion["prompt_tokens_details"] == {"cached_tokens": 2}
