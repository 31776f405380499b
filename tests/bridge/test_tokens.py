"""The estimate of tokens: monotonous, additive, and about right."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.tokens import IMAGE_TOKENS, MESSAGE_OVERHEAD, estimate_message, estimate_text
from bridge.wire import (
    ChatMessage,
    DataPart,
    Part,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
    UnknownPart,
)


@pytest.mark.parametrize("text", ["", " ", "\t"])
def test_nothing_costs_nothing(text: str) -> None:
    """A single blank goes with the word after it."""
    assert estimate_text(text) == 0


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("hello", 1, 1),
        ("hello world", 2, 2),
        ("antidisestablishmentarianism", 4, 7),
        ("1234567890", 3, 4),
        ("你好世界", 2, 4),
        ("snake_case_name", 4, 6),
        ("a\n\n\nb", 3, 3),
        ("a        b", 3, 3),
        ("!!!!", 1, 3),
        ("naïve", 1, 3),
        ("😀", 1, 3),
        ("٣", 1, 2),
        ("The quick brown fox jumps over the lazy dog.", 9, 11),
        ("def f(x):\n    return x + 1\n", 10, 16),
    ],
)
def test_the_estimate_is_about_what_a_tokenizer_says(text: str, least: int, most: int) -> None:
    """The ranges hold o200k_base's count, or come close."""
    assert least <= estimate_text(text) <= most


@given(st.text(), st.text())
def test_more_text_never_costs_less(text: str, more: str) -> None:
    whole = estimate_text(text + more)
    assert max(estimate_text(text), estimate_text(more)) <= whole


@given(st.text(), st.text())
def test_lines_cost_what_they_cost_alone(text: str, more: str) -> None:
    lines = f"{text.strip()}x\nx{more.strip()}"
    alone = estimate_text(f"{text.strip()}x") + estimate_text(f"x{more.strip()}")
    assert estimate_text(lines) == alone + 1


@given(st.text())
def test_no_text_costs_more_than_its_characters(text: str) -> None:
    assert 0 <= estimate_text(text) <= len(text)


def cost(*parts: Part) -> int:
    return estimate_message(ChatMessage("user", parts)) - MESSAGE_OVERHEAD


def test_an_empty_message_costs_its_overhead() -> None:
    assert estimate_message(ChatMessage("user", ())) == MESSAGE_OVERHEAD


@pytest.mark.parametrize(
    ("part", "text"),
    [
        (TextPart("hello world"), "hello world"),
        (ThinkingPart("hello world"), "hello world"),
        (ThinkingPart(["hello ", "world"]), "hello world"),
        (ToolResultPart("c1", "hello world"), "hello world"),
        (ToolResultPart("c1", [{"value": "hello"}]), '[{"value":"hello"}]'),
        (ToolResultPart("c1"), "null"),
        (ToolCallPart("c1", "read", {"b": 1, "a": 2.0}), 'read{"a":2,"b":1}'),
    ],
)
def test_a_part_costs_what_a_model_reads_of_it(part: Part, text: str) -> None:
    assert cost(part) == estimate_text(text) > 0


def test_an_image_has_a_price_whatever_its_size() -> None:
    assert cost(DataPart("image/png", b"x" * 1000)) == IMAGE_TOKENS


@pytest.mark.parametrize("part", [DataPart("usage", b"{}"), UnknownPart("hologram", b"{}")])
def test_bookkeeping_costs_nothing(part: Part) -> None:
    assert cost(part) == 0


@given(st.lists(st.builds(TextPart, st.text())), st.lists(st.builds(TextPart, st.text())))
def test_parts_add_up(some: list[Any], more: list[Any]) -> None:
    assert cost(*some, *more) == cost(*some) + cost(*more)
