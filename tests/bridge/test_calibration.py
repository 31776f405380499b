"""Models whose counts are known are estimated by them, each by its own."""

from __future__ import annotations

import pytest

from bridge.calibration import Calibration
from bridge.gauge import Measured
from bridge.tokens import MESSAGE_OVERHEAD, estimate_message, estimate_text
from bridge.wire import ChatMessage, TextPart

STORY = ChatMessage("user", (TextPart("Once upon a time there was a baker. " * 50),))
TEXT = "word " * 1000


def counted(times: float) -> Measured:
    return Measured((STORY,), round((MESSAGE_OVERHEAD + estimate_message(STORY)) * times), None)


def test_a_model_that_nobody_counted_is_estimated() -> None:
    assert Calibration().estimator("a", "gpt").estimate_text(TEXT) == estimate_text(TEXT)


@pytest.mark.parametrize("is_asked_first", [True, False])
def test_a_count_corrects_its_model_and_no_other(is_asked_first: bool) -> None:
    calibration = Calibration()
    if is_asked_first:
        calibration.estimator("a", "gpt")
    calibration.learn("a", counted(1.5))
    assert calibration.estimator("a", "gpt").ratio == pytest.approx(1.15, abs=0.001)
    assert calibration.estimator("b", "gpt").ratio == 1.0


def test_what_was_counted_before_anybody_asked_counts_once_and_only_the_latest() -> None:
    calibration = Calibration()
    calibration.learn("a", counted(1.9))
    calibration.learn("a", counted(1.5))
    first = calibration.estimator("a", "gpt").ratio
    assert first == calibration.estimator("a", "gpt").ratio == pytest.approx(1.15, abs=0.001)
