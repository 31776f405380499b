"""The CPU of a request against the number of old messages that it repeats.

Measured on the real process, between two answers. The CPU clock of the child covers the whole path:
reading, splitting, decoding, digests, routing, comparison with the record, delivery, the agent and
its answer. Costs that don't grow with the history, such as the answer, aren't in the slope. Memory
that one request leaves to be freed, or indexed, is counted in the next one. The editor behaves as
one: each request repeats the last one and its answer, so that only the newest message is new.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from statistics import median

import attrs

from .editor import KILOBYTE, Chat, editing, message
from .harness import Result

LIMIT = 5.0
LENGTHS = (10, 1_000, 10_000)
REQUESTS = 10
"""So many in a row: each makes two more messages old, which mustn't count for the short history."""


@attrs.define
class _Cost:
    """A conversation, and what its requests cost: the old messages and the seconds of each row."""

    chat: Chat
    old: list[float] = attrs.field(factory=list[float])
    seconds: list[float] = attrs.field(factory=list[float])

    def measure(self, requests: int) -> None:
        """Make the requests; the number of old messages is their mean."""
        child = self.chat.editor.child
        before, began = len(self.chat.messages), child.cpu_seconds()
        for number in range(requests):
            self.chat.say(f"{before} {number} {KILOBYTE}")
        self.old.append((before + len(self.chat.messages)) / 2 - 1)
        self.seconds.append((child.cpu_seconds() - began) / requests)


def measure(
    lengths: Sequence[int] = LENGTHS, requests: int = REQUESTS, repetitions: int = 5
) -> list[Result]:
    """Measure conversations of these lengths in turn, each with a process of its own."""
    with ExitStack() as processes:
        costs = [_Cost(_begin(Chat(processes.enter_context(editing())), old)) for old in lengths]
        for _ in range(repetitions):
            for cost in costs:
                cost.measure(requests)
        if any(cost.chat.editor.live_sessions() != 1 for cost in costs):
            raise RuntimeError("an old message was taken for a new one")
    first, last = costs[0], costs[-1]
    slope = median(
        (last.seconds[i] - first.seconds[i]) / (last.old[i] - first.old[i])
        for i in range(repetitions)
    )
    note = "; ".join(
        f"{1000 * median(cost.seconds):.1f} ms at {median(cost.old):,.0f}" for cost in costs
    )
    return [Result("history", 1e6 * slope, LIMIT, "us a message", note)]


def _begin(chat: Chat, old: int) -> Chat:
    """Make so many messages old."""
    roles = ("user", "assistant")
    chat.messages += [message(roles[i % 2], f"{i} {KILOBYTE}") for i in range(old - 2)]
    chat.say(KILOBYTE)
    return chat
