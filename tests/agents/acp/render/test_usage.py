from __future__ import annotations

import msgspec
import pytest

from agents.acp.render.usage import TurnTokens, context_usage, final_usage, newest_usage
from agents.acp.schema.methods import Usage
from agents.acp.schema.updates import UsageUpdate
from agents.events import Attach
from agents.ledger import SessionRecord
from bridge.wire import Cost


def record(attach: Attach | None) -> dict[str, object]:
    assert attach is not None
    assert attach.mime_type == "usage"
    return msgspec.json.decode(attach.data, type=dict[str, object])


def turn_usage(usage: Usage, context: UsageUpdate | None = None) -> Attach | None:
    return final_usage(context, TurnTokens.of(usage), SessionRecord("a"))


def test_the_tokens_of_the_context_are_those_of_the_prompt() -> None:
    assert record(context_usage(UsageUpdate(1200, 200_000))) == {
        "prompt_tokens": 1200,
        "completion_tokens": 0,
        "total_tokens": 1200,
        "context_window": 200_000,
    }
    assert "context_window" not in record(context_usage(UsageUpdate(1200, 0)))


def test_zero_means_that_the_agent_does_not_know() -> None:
    assert context_usage(UsageUpdate(0, 200_000)) is None
    assert turn_usage(Usage(0, 0, 0)) is None


@pytest.mark.parametrize(
    ("usage", "tokens"),
    [
        (Usage(110, 100, 10), (100, 10, 110)),
        # cached tokens are among the input
        (Usage(110, 100, 10, cached_read_tokens=60), (100, 10, 110)),
        # they are counted apart
        (Usage(190, 100, 10, cached_read_tokens=60, cached_write_tokens=20), (180, 10, 190)),
        # thoughts are among the output
        (Usage(110, 100, 10, thought_tokens=5), (100, 10, 110)),
        # they are counted apart
        (Usage(115, 100, 10, thought_tokens=5), (100, 15, 115)),
    ],
)
def test_the_tokens_of_a_turn_are_counted_as_the_host_counts(
    usage: Usage, tokens: tuple[int, int, int]
) -> None:
    found = record(turn_usage(usage))
    assert (found["prompt_tokens"], found["completion_tokens"], found["total_tokens"]) == tokens


def test_details_are_told_where_they_are_known() -> None:
    found = record(turn_usage(Usage(110, 100, 10, thought_tokens=5, cached_read_tokens=60)))
    assert found["prompt_tokens_details"] == {"cached_tokens": 60}
    assert found["completion_tokens_details"] == {"reasoning_tokens": 5}
    assert record(turn_usage(Usage(110, 100, 10))).keys() == {
        "prompt_tokens", "completion_tokens", "total_tokens", "turn", "chat",
    }  # fmt: skip


def test_the_cost_of_the_session_is_told_where_it_makes_sense() -> None:
    told = record(context_usage(UsageUpdate(1, 2, Cost(0.125, "USD"))))
    assert told["cost"] == {"amount": 0.125, "currency": "USD"}
    for odd in (Cost(-1.0, "USD"), Cost(float("inf"), "USD"), Cost(1.0, "\n")):
        assert "cost" not in record(context_usage(UsageUpdate(1, 2, odd)))


def test_a_cost_is_told_where_the_context_is_unknown() -> None:
    cost = Cost(0.5, "USD")
    told = {"cost": {"amount": 0.5, "currency": "USD"}}
    assert record(context_usage(UsageUpdate(0, 200_000, cost))) == told
    last = record(final_usage(UsageUpdate(0, 0, cost), TurnTokens(200, 20), SessionRecord("a")))
    assert last["total_tokens"] == 220
    assert last["cost"] == told["cost"]


def test_a_cost_alone_leaves_the_context_that_was_told_before() -> None:
    before = UsageUpdate(1200, 200_000, Cost(0.25, "USD"))
    alone = UsageUpdate(0, 0, Cost(0.5, "USD"))
    assert newest_usage(before, alone) == UsageUpdate(1200, 200_000, Cost(0.5, "USD"))
    assert newest_usage(None, alone) == alone
    assert newest_usage(before, UsageUpdate(1, 2)) == UsageUpdate(1, 2)
    assert newest_usage(before, UsageUpdate(0, 0)) == UsageUpdate(0, 0)


def test_the_last_record_of_a_turn_has_the_tokens_of_the_turn_and_of_the_chat() -> None:
    chat = SessionRecord("a")
    chat.add_turn(100, 10)
    chat.add_turn(200, 20)
    context = UsageUpdate(1200, 200_000, Cost(0.5, "USD"))
    last = record(final_usage(context, TurnTokens(200, 20), chat))
    assert last == {
        **record(context_usage(context)),
        "turn": {"prompt_tokens": 200, "completion_tokens": 20, "total_tokens": 220},
        "chat": {"prompt_tokens": 300, "completion_tokens": 30, "total_tokens": 330},
    }
    assert record(final_usage(None, TurnTokens(200, 20), chat))["prompt_tokens"] == 200
    assert final_usage(context, None, chat) is None
