"""Counts that a server gave, and estimates of the rest."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tokens import hybrid as tokens_hybrid
from bridge.tokens.hybrid import Estimate, HybridEstimator
from bridge.tokens.message import MESSAGE_OVERHEAD, REPLY_OVERHEAD, estimate_message, estimate_tools
from bridge.wire import ChatMessage, DataPart, Role, TextPart, ThinkingPart, ToolSpec

TOOLS = [ToolSpec("read", "Read a file.")]


def say(text: str, role: Role = "user") -> ChatMessage:
    return ChatMessage(role, (TextPart(text),))


QUESTION, ANSWER, MORE = say("Why? " * 200), say("Because. " * 200, "assistant"), say("And now?")


def price(*messages: ChatMessage) -> int:
    return sum(MESSAGE_OVERHEAD + estimate_message(message) for message in messages)


def test_what_nobody_counted_is_estimated() -> None:
    hybrid = HybridEstimator()
    tokens = REPLY_OVERHEAD + price(QUESTION, ANSWER)
    assert hybrid.estimate_conversation([QUESTION, ANSWER]) == Estimate(tokens, "estimated", 0.7)


def test_tools_are_part_of_what_is_estimated() -> None:
    without = HybridEstimator().estimate_conversation([MORE]).tokens
    with_tools = HybridEstimator().estimate_conversation([MORE], TOOLS).tokens
    assert with_tools == without + estimate_tools(TOOLS)


def test_what_the_server_counted_is_exact() -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate([QUESTION], 12_345)
    assert hybrid.estimate_conversation([QUESTION]) == Estimate(12_345, "actual", 1.0)
    assert hybrid.estimate_conversation([QUESTION], TOOLS).tokens == 12_345


def test_what_follows_a_count_is_estimated_on_top_of_it() -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate([QUESTION], 12_345, TOOLS)
    estimate = hybrid.estimate_conversation([QUESTION, ANSWER, MORE], TOOLS)
    assert estimate == Estimate(12_345 + price(ANSWER, MORE), "hybrid", 0.85)


def test_the_longest_count_is_taken_and_a_branch_begins_at_its_own() -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate([QUESTION], 1_000_000)
    hybrid.calibrate([QUESTION, ANSWER], 2_000_000)
    assert hybrid.estimate_conversation([QUESTION, ANSWER, MORE]).tokens == 2_000_000 + price(MORE)
    assert hybrid.estimate_conversation([QUESTION, MORE]).tokens == 1_000_000 + price(MORE)
    assert hybrid.estimate_conversation([MORE, ANSWER]).method == "estimated"


def test_a_message_that_the_host_renders_anew_is_still_known() -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate([ChatMessage("user", (TextPart("Wh"), TextPart("y?"), ThinkingPart("x")))], 9)
    assert hybrid.estimate_conversation([say("Why?")]).method == "actual"


def test_the_ratio_moves_by_a_part_of_what_was_measured() -> None:
    hybrid = HybridEstimator()
    estimated = REPLY_OVERHEAD + price(QUESTION)
    hybrid.calibrate([QUESTION], round(estimated * 1.5))
    assert hybrid.ratio == pytest.approx(0.7 + 0.3 * 1.5, abs=0.001)
    assert hybrid.estimate_text("word " * 100) == pytest.approx(115, abs=2)
    assert hybrid.estimate_message(ANSWER) == pytest.approx(estimate_message(ANSWER) * 1.15, abs=1)


def test_the_ratio_is_measured_on_what_is_new_since_the_last_count() -> None:
    """What an agent tells its model beside the chat is in both counts, and so in neither."""
    hybrid = HybridEstimator()
    hybrid.calibrate([QUESTION], 50_000)
    hybrid.calibrate([QUESTION, ANSWER], 50_000 + round(price(ANSWER) * 1.2))
    assert hybrid.ratio == pytest.approx(0.7 + 0.3 * 1.2, abs=0.001)


@pytest.mark.parametrize("times", [0.51, 2.7, 3.99])
def test_a_tokenizer_may_have_four_times_as_many_tokens_or_half(times: float) -> None:
    hybrid = HybridEstimator()
    before = hybrid.estimate_conversation([QUESTION]).tokens
    hybrid.calibrate([QUESTION], round(times * before))
    assert hybrid.ratio == pytest.approx(0.7 + 0.3 * times, abs=0.01)


@pytest.mark.parametrize("times", [0.49, 4.02])
def test_a_ratio_of_more_than_four_tells_nothing_of_the_tokenizer(times: float) -> None:
    hybrid = HybridEstimator()
    before = hybrid.estimate_conversation([QUESTION]).tokens
    hybrid.calibrate([QUESTION], round(times * before))
    assert hybrid.ratio == 1.0


@pytest.mark.parametrize(
    ("messages", "tokens"),
    [
        ([QUESTION], 50_000),  # the server sees far more than we do
        ([QUESTION], 10),  # and here less
        ([MORE], 11),  # too little to measure by
        ([QUESTION], 0),  # it doesn't know
        ([QUESTION], -1),
        ([], 100),
    ],
)
def test_what_measures_nothing_leaves_the_ratio_alone(
    messages: list[ChatMessage], tokens: int
) -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate(messages, tokens)
    assert hybrid.ratio == 1.0


@pytest.mark.parametrize("tokens", [0, -5])
def test_a_count_of_nothing_is_no_count(tokens: int) -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate([QUESTION], tokens)
    assert hybrid.estimate_conversation([QUESTION]).method == "estimated"


def test_a_reset_forgets_the_counts_and_keeps_the_ratio() -> None:
    hybrid = HybridEstimator()
    hybrid.calibrate([QUESTION], round(price(QUESTION) * 1.5))
    ratio = hybrid.ratio
    hybrid.reset()
    assert hybrid.estimate_conversation([QUESTION]).method == "estimated"
    assert hybrid.ratio == ratio > 1.0


def test_the_oldest_count_is_forgotten_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens_hybrid, "KNOWN_CONVERSATIONS", 2)
    hybrid = HybridEstimator()
    for text, tokens in (("a", 1), ("b", 2), ("a", 3), ("c", 4)):
        hybrid.calibrate([say(text)], tokens)
    known = {text: hybrid.estimate_conversation([say(text)]).method for text in "abc"}
    assert known == {"a": "actual", "b": "estimated", "c": "actual"}


def test_an_image_is_priced_by_the_family_of_the_model() -> None:
    picture = ChatMessage("user", (DataPart("image/png", b"x"),))
    claude, other = HybridEstimator("claude-opus"), HybridEstimator("gpt-5")
    assert claude.estimate_message(picture) > other.estimate_message(picture)
    seen = claude.estimate_conversation([picture]).tokens
    assert seen > other.estimate_conversation([picture]).tokens


@given(st.lists(st.integers(0, 3), min_size=1), st.lists(st.integers(0, 3)), st.integers(1, 10**6))
def test_a_longer_conversation_never_has_fewer_tokens(
    known: list[int], more: list[int], tokens: int
) -> None:
    messages = [say("x" * (number + 1)) for number in [*known, *more]]
    hybrid = HybridEstimator()
    hybrid.calibrate(messages[: len(known)], tokens)
    estimates = [
        hybrid.estimate_conversation(messages[:size]).tokens
        for size in range(len(known), len(messages) + 1)
    ]
    assert estimates[0] == tokens
    assert estimates == sorted(estimates)


def test_a_part_of_a_conversation_tells_the_ratio_and_counts_for_nothing_else() -> None:
    hybrid = HybridEstimator()
    hybrid.learn([ANSWER], round(price(ANSWER) * 1.2))
    assert hybrid.ratio == pytest.approx(0.7 + 0.3 * 1.2, abs=0.001)
    assert hybrid.estimate_conversation([ANSWER]).method == "estimated"


def test_a_whole_request_has_its_tools_and_the_beginning_of_the_answer() -> None:
    hybrid = HybridEstimator()
    hybrid.learn([QUESTION], REPLY_OVERHEAD + estimate_tools(TOOLS) + price(QUESTION), TOOLS)
    assert hybrid.ratio == pytest.approx(1.0)
    bare = HybridEstimator()
    bare.learn([QUESTION], price(QUESTION) + REPLY_OVERHEAD, ())
    assert bare.ratio == pytest.approx(1.0)


@pytest.mark.parametrize("tokens", [-5, 0, 10, 50_000])
def test_a_part_that_measures_nothing_leaves_the_ratio_alone(tokens: int) -> None:
    hybrid = HybridEstimator()
    hybrid.learn([QUESTION], tokens)
    assert hybrid.ratio == 1.0
