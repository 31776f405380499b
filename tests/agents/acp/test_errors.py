"""Errors of agents, as users are told of them. The texts are those of real agents."""

from __future__ import annotations

import pytest
from hypothesis import given

from agents.acp.errors import (
    ended_early,
    exited,
    is_auth_required,
    is_cancelled,
    is_lost_session,
    refused,
    silent,
    wrong_version,
)
from agents.acp.schema.errors import Error
from bridge.errors import FailureKind

from .strategies import values


@pytest.mark.parametrize(
    "error",
    [
        Error(-32002, "Resource not found: sess_1"),
        Error(-32001, "not found"),
        Error(-32602, "Unknown session id"),
        Error(-32602, "Invalid params", {"message": 'Session "abc-1" not found'}),
        Error(-32602, "Session abc does not exist"),
        Error(-32603, "Internal error", {"details": "Session not found"}),
        Error(-32603, "Internal error", "Invalid session identifier"),
        Error(-32603, "No previous sessions found for this project."),
        Error(-32603, "no session found with id x"),
        Error(-32603, "could not find session abc"),
        Error(-32603, "Internal error", [{"cause": ["unknown session abc"]}]),
    ],
)
@pytest.mark.checklist(17)
def test_a_lost_session_is_recognised_under_all_its_codes(error: Error) -> None:
    assert is_lost_session(error)


@pytest.mark.parametrize(
    "error",
    [
        Error(-32602, "Session abc is already loaded"),
        Error(-32603, "A turn is already running", ["in session abc"]),
        Error(-32603, "Internal error: boom", {"code": 7}),
        Error(-32603, "Runtime MCP server 'twotools' is already registered in this session"),
        Error(-32603, "The session works. The file was not found"),
        Error(-32000, "Session not found: log in"),
        Error(-32601, "Unknown session method"),
        Error(-32603, "x", {"a": {"b": {"c": {"d": {"e": "unknown session"}}}}}),
    ],
)
def test_other_errors_are_no_lost_session(error: Error) -> None:
    assert not is_lost_session(error)


def test_a_missing_file_is_no_lost_session() -> None:
    for code in (-32002, -32001):
        assert not is_lost_session(Error(code, "There is no file /a."), may_be_file=True)
        assert is_lost_session(Error(code, "Session not found"), may_be_file=True)


@pytest.mark.parametrize(
    ("error", "cancelled"),
    [
        (Error(-32800, "Request cancelled"), True),
        (Error(-32603, "This operation was aborted"), True),
        (Error(-32603, "Internal error", {"details": "The request was canceled"}), True),
        (Error(-32603, "interrupted by user"), True),
        (Error(-32000, "Request was cancelled"), True),
        (Error(499, "AbortError"), True),
        (Error(-32603, "Internal error", {"name": "AbortError"}), True),
        (Error(-32603, "Internal error", {"details": "asyncio.CancelledError"}), True),
        (Error(-32603, "Internal error"), False),
        (Error(-32603, "('Connection aborted.', RemoteDisconnected())"), False),
        (Error(-32603, "boom"), False),
        (Error(-32602, "aborted"), False),
    ],
)
@pytest.mark.checklist(24)
def test_what_a_cancelled_prompt_may_be_answered_with(error: Error, cancelled: bool) -> None:
    assert is_cancelled(error) is cancelled


def test_a_login_is_asked_for_with_advice() -> None:
    error = Error(-32000, "Authentication required")
    assert is_auth_required(error)
    failure = refused("Claude", error, advice="Run `claude /login`.", last_words="trace")
    assert failure.kind == "NoPermissions"
    assert failure.message == "Claude needs a login. Run `claude /login`."
    assert failure.detail == "-32000 Authentication required"
    assert failure.stderr_tail == "trace"
    assert refused("Claude", error).message == "Claude needs a login."


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        ("Internal error: boom", "AgentFailed"),
        ("401 Unauthorized", "NoPermissions"),
        ("Please log in first", "NoPermissions"),
        ("Invalid API key", "NoPermissions"),
        ("429 Too Many Requests", "Blocked"),
        ("You exceeded your current quota", "Blocked"),
        ("rate limit reached", "Blocked"),
        ("503 Service Unavailable", "Unavailable"),
        ("connect ECONNREFUSED 127.0.0.1:1", "Unavailable"),
        ("the request timed out", "Unavailable"),
        ("We're experiencing high demand just now", "Unavailable"),
        ("line 4290 of file 5031", "AgentFailed"),
    ],
)
def test_the_words_of_an_error_tell_its_kind(words: str, kind: FailureKind) -> None:
    assert refused("Codex", Error(-32603, words)).kind == kind
    assert refused("Codex", Error(-32603, "Internal error", {"details": words})).kind == kind


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Error(-32603, "boom"), "X failed: boom"),
        (Error(-32603, "boom", {}), "X failed: boom"),
        (Error(-32603, "boom", 3), "X failed: boom (3)"),
        (Error(-32603, ""), "X failed: no reason given"),
        (Error(-32603, "Internal error", "boom"), "X failed: Internal error (boom)"),
        (Error(-32603, "Internal error: boom", "boom"), "X failed: Internal error: boom"),
        (Error(-32603, "Internal", {"error": "boom"}), "X failed: Internal (boom)"),
        (Error(-32603, "Internal", {"message": "boom"}), "X failed: Internal (boom)"),
        (Error(-32603, "Internal", {"details": "boom"}), "X failed: Internal (boom)"),
        (Error(-32603, "Internal", {"reason": "boom"}), "X failed: Internal (boom)"),
        (Error(-32603, "Internal", {"error": {"message": "boom"}}), "X failed: Internal (boom)"),
        (
            Error(-32603, "Internal", {"message": "Internal", "details": "boom"}),
            "X failed: Internal (boom)",
        ),
        (
            Error(-32603, "Internal", {"code": 1, "error": "Internal", "cause": "boom"}),
            "X failed: Internal (boom)",
        ),
        (
            Error(-32603, "Internal", {"details": " ", "reason": 7}),
            'X failed: Internal ({"details":" ","reason":7})',
        ),
        (Error(-32603, "Internal", {"a": 1}), 'X failed: Internal ({"a":1})'),
        (Error(-32603, "red \x1b[31m"), "X failed: red ␛[31m"),
    ],
)
def test_a_failure_says_what_the_agent_said(error: Error, message: str) -> None:
    failure = refused("X", error)
    assert failure.message == message
    assert failure.stderr_tail is None


@given(values(Error))
def test_every_error_becomes_a_failure(error: Error) -> None:
    assert refused("X", error).as_rpc_error().message
    assert len(refused("X", Error(error.code, error.message * 10_000, error.data)).message) < 3_000


def test_another_version_is_named() -> None:
    for failure in (
        wrong_version("X", 2),
        refused("X", Error(-32022, "unsupported", {"supported": [2]})),
    ):
        assert failure.kind == "AgentFailed"
        assert "doesn't support version 1" in failure.message
        assert "2" in failure.message


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (1, "X ended (status 1). The next request restarts it."),
        (-9, "X ended (signal 9)."),
        (None, "X ended (it closed its output)."),
        (127, "X ended (status 127)."),
    ],
)
@pytest.mark.checklist(3, 4)
def test_a_process_that_ended_is_told_with_its_last_words(status: int | None, words: str) -> None:
    failure = exited("X", status, "panic!")
    assert failure.kind == "AgentFailed"
    assert words in failure.message
    assert failure.stderr_tail == "panic!"
    assert exited("X", status, "").stderr_tail is None


@pytest.mark.parametrize(
    ("status", "said", "kind", "words"),
    [
        (127, "", "NotFound", "X can't be started: a command that it needs was not found"),
        (1, "", "AgentFailed", "(status 1). Run its command in a terminal to see the reason"),
        (0, "", "AgentFailed", "(status 0). Run its command in a terminal to see the reason"),
        (1, "no\nkey", "AgentFailed", '(status 1). It said: "no key". Run its command'),
    ],
)
@pytest.mark.checklist(4)
def test_a_process_that_ended_early_is_told_with_its_last_words(
    status: int, said: str, kind: str, words: str
) -> None:
    failure = ended_early("X", status, "panic!", said=said)
    assert failure.kind == kind
    assert words in failure.message
    assert failure.stderr_tail == "panic!"
    assert ended_early("X", status, "").stderr_tail is None


def test_an_agent_that_ends_on_purpose_says_why_itself() -> None:
    failure = ended_early("X", 0, "", said="Use Y instead.\x1b[0m\n" + "y" * 5_000)
    assert failure.message.startswith(
        'X ended before it was ready (status 0). It said: "Use Y instead.'
    )
    assert "terminal" not in failure.message
    assert "\x1b" not in failure.message
    assert len(failure.message) < 1_200


def test_an_agent_that_says_nothing_to_us_is_told_with_what_it_said() -> None:
    failure = silent("X", 7, "panic!", said="Your name?")
    assert failure.kind == "Unavailable"
    assert 'within 7 seconds. It said: "Your name?". Run its command' in failure.message
    assert failure.stderr_tail == "panic!"
    assert "It said" not in silent("X", 7, "").message
