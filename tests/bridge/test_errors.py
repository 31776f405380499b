"""Errors as they go out."""

from __future__ import annotations

from bridge.errors import INTERNAL_ERROR, REQUEST_FAILED, Failure, RpcError, internal


def test_a_failure_is_an_error_that_a_user_can_act_on_and_a_host_can_sort() -> None:
    error = Failure("Blocked", "Your quota is used up", "429", "a\nb").as_rpc_error()
    assert (error.code, error.message) == (REQUEST_FAILED, "Your quota is used up")
    assert error.data == {"kind": "Blocked", "detail": "429", "stderrTail": "a\nb"}


def test_the_message_is_the_detail_where_there_is_no_other_and_stderr_is_optional() -> None:
    error = Failure("NotFound", "claude is not on PATH").as_rpc_error()
    assert error.data == {"kind": "NotFound", "detail": "claude is not on PATH"}


def test_an_empty_tail_of_stderr_still_says_that_there_was_one() -> None:
    assert Failure("AgentFailed", "x", stderr_tail="").as_rpc_error().data["stderrTail"] == ""


def test_an_internal_error_has_its_own_code_and_repeats_nothing_of_the_cause() -> None:
    error = internal(ValueError("the key is sk-123")).as_rpc_error()
    assert error.code == INTERNAL_ERROR
    assert error.data == {"kind": "Internal", "detail": "ValueError"}
    assert "sk-123" not in error.message


def test_an_rpc_error_reads_as_its_message() -> None:
    assert str(RpcError(-32601, "Method not found: x")) == "Method not found: x"
    assert RpcError(-32601, "x").data is None


def test_secrets_are_taken_out_of_every_text_of_a_failure() -> None:
    failure = Failure("AgentFailed", "a KEY", "b KEY", "c KEY")

    def hide(text: str) -> str:
        return text.replace("KEY", "-")

    assert failure.without_secrets(hide) == Failure("AgentFailed", "a -", "b -", "c -")
    assert Failure("AgentFailed", "KEY").without_secrets(hide) == Failure("AgentFailed", "-")
