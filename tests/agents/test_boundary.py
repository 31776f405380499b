"""What an exception means for the request that met it."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

import trio

from agents.base import AgentError
from agents.boundary import contained, failure_of
from bridge.errors import Failure

if TYPE_CHECKING:
    import pytest

GONE = Failure("AgentFailed", "The agent is gone.")


def test_an_expected_error_tells_its_failure_and_leaves_no_traceback(
    caplog: pytest.LogCaptureFixture,
) -> None:
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [AgentError(GONE)])])
    assert failure_of(AgentError(GONE), "agent=a") is GONE
    assert failure_of(group, "agent=a") is GONE
    assert caplog.records == []


def test_an_unexpected_error_is_internal_and_its_traceback_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    cause = KeyError("secret")
    failure = failure_of(ExceptionGroup("outer", [ExceptionGroup("inner", [cause])]), "agent=a")
    assert (failure.kind, failure.detail) == ("Internal", "KeyError")
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[1] is cause
    assert record.getMessage() == "agent=a failed: KeyError"


def test_of_several_errors_the_expected_one_is_told_and_the_others_are_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    others = [KeyError("a"), ValueError("b")]
    assert failure_of(ExceptionGroup("", [*others, AgentError(GONE)]), "agent=a") is GONE
    (record,) = caplog.records
    assert record.exc_info is not None
    assert cast("Any", record.exc_info[1]).exceptions == tuple(others)


async def test_what_is_contained_goes_no_further_but_a_cancel_does(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with contained("task=a"):
        raise KeyError("a")
    assert [record.levelno for record in caplog.records] == [logging.ERROR]
    with trio.CancelScope() as scope:
        scope.cancel()
        with contained("task=a"):
            await trio.sleep_forever()
    assert scope.cancelled_caught
