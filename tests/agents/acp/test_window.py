from __future__ import annotations

from agents.acp.window import USUAL_WINDOW, ContextWindow


def test_a_record_may_take_half_of_what_there_is_room_for() -> None:
    assert ContextWindow(10_000).record_budget == 15_000
    assert ContextWindow().record_budget == USUAL_WINDOW // 2 * 3


def test_what_was_heard_before_is_taken_over() -> None:
    window = ContextWindow(10)
    assert window.with_news_of(ContextWindow()) is window
    assert window.tokens == 10
    assert window.with_news_of(ContextWindow(20)).tokens == 20
