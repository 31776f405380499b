from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.open_responses.http.retry import MOST_SECONDS, wait, wanted_wait, wants_retry

DATE = {"date": "Tue, 15 Nov 1994 08:12:31 GMT"}


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "3"}, 3.0),
        ({"retry-after": "0.5", "retry-after-ms": "20"}, 0.02),
        ({"retry-after": "-1"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "soon", **DATE}, None),
        ({"retry-after": "Tue, 15 Nov 1994 08:12:41 GMT", **DATE}, 10.0),
        ({"retry-after": "Tue, 15 Nov 1994 08:12:21 GMT", **DATE}, 0.0),
        ({"retry-after": "Tue, 15 Nov 1994 08:12:41 GMT"}, None),
        ({"retry-after": "Tue, 15 Nov 1994 08:12:41", **DATE}, None),
    ],
)
def test_what_a_server_asks_to_wait(headers: dict[str, str], seconds: float | None) -> None:
    assert wanted_wait(headers) == seconds


def test_what_a_server_says_of_retries() -> None:
    assert wants_retry({"x-should-retry": "TRUE"}) is True
    assert wants_retry({"x-should-retry": "false"}) is False
    assert wants_retry({}) is None


@given(st.integers(0, 1000), st.floats(0, 1, exclude_max=True))
def test_waits_grow_to_eight_seconds_and_vary_by_a_quarter(retry: int, chance: float) -> None:
    seconds = wait(retry, None, lambda: chance)
    longest = min(8.0, 0.5 * 2 ** min(retry, 10))
    assert seconds is not None
    assert 0.75 * longest <= seconds <= longest


@pytest.mark.limit("agents.open_responses.http.retry.MOST_SECONDS")
def test_a_server_s_wish_counts_up_to_a_bound() -> None:
    assert wait(0, 3.0, lambda: 0.5) == 3.0
    assert wait(0, MOST_SECONDS, lambda: 0.5) == MOST_SECONDS
    assert wait(0, MOST_SECONDS + 1, lambda: 0.5) is None
    assert wait(0, 0.0, lambda: 0.0) == 0.5
