"""The memory of `vscodelm serve-http` over many requests: it mustn't grow.

Chats that go on by `previous_response_id` take turns with answers that their clients leave. Most
responses are kept.
"""

from __future__ import annotations

from .harness import Result
from .http_client import HttpClient, serving

GROWTH_LIMIT = 1.05
TURNS = 5
"""Of each chat."""
FULL = (2_000, 10_000)


def measure(early: int = 600, late: int = 1_800) -> list[Result]:
    """Measure the growth from `early` to `late` requests."""
    with serving() as client:
        before = _talk(client, 0, early)
        after = _talk(client, early, late)
    note = f"{before / 1e6:.1f} MB after {early:,} requests, {after / 1e6:.1f} MB after {late:,}"
    return [Result("http memory", after / before, GROWTH_LIMIT, "x", note)]


def measure_fully() -> list[Result]:
    """Measure it over 10,000 requests."""
    return measure(*FULL)


def _talk(client: HttpClient, done: int, until: int) -> int:
    """Hold chats until so many requests were made; return the bytes in memory."""
    for first in range(done, until, TURNS):
        answer = client.ask(f"I have a problem, it is my {first}. one.")
        for turn in range(1, TURNS):
            words = f"I told you {turn} times of problem {first}, you never remember."
            answer = client.ask(words, previous_response_id=answer.id, store=turn < TURNS - 1)
        client.leave(f"!hang {first}")
    return client.child.resident_bytes()
