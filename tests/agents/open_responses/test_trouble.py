from __future__ import annotations

import pytest

from agents.open_responses.faults import Fault
from agents.open_responses.trouble import (
    EndpointError,
    bad_header,
    broke_off,
    no_key,
    no_stream,
    out_of_reach,
    refused,
    scrubbed,
    silent,
    untellable,
)
from bridge.errors import Failure

SERVER = "The endpoint x"


@pytest.mark.parametrize(
    ("error", "kind", "can_retry"),
    [
        (out_of_reach(SERVER, "Connection refused"), "Unavailable", True),
        (out_of_reach(SERVER, "[SSL: CERTIFICATE_VERIFY_FAILED] x"), "Unavailable", False),
        (broke_off(SERVER, "reset"), "Unavailable", True),
        (silent(SERVER, 300), "Unavailable", False),
        (no_stream(SERVER, "text/html; x", "<html>"), "AgentFailed", False),
        (no_stream(SERVER, "", ""), "AgentFailed", False),
        (bad_header(SERVER), "NoPermissions", False),
    ],
)
def test_each_trouble_has_its_kind(error: EndpointError, kind: str, can_retry: bool) -> None:
    assert error.failure.kind == kind
    assert error.can_retry is can_retry
    assert SERVER in str(error)


def test_what_is_missing_or_in_the_way_is_named() -> None:
    missing = no_key("ENDPOINT_KEY").failure
    assert missing.kind == "NoPermissions"
    assert "ENDPOINT_KEY" in missing.message
    assert "an image stands there" in untellable(ValueError("an image stands there")).message


def test_a_refusal_says_whether_and_when_to_ask_again() -> None:
    busy = refused(Fault(503, "busy"), {"retry-after": "2"}, SERVER)
    assert (busy.can_retry, busy.retry_after, busy.is_unknown_response) == (True, 2.0, False)
    assert busy.failure.message.endswith("failed: busy. Try again in 2 seconds.")
    assert not refused(Fault(503, "busy"), {"x-should-retry": "false"}, SERVER).can_retry
    assert not refused(Fault(401, "no"), {"x-should-retry": "true"}, SERVER).can_retry
    gone = Fault(400, "no", "previous_response_not_found")
    assert refused(gone, {}, SERVER).is_unknown_response


def test_no_secret_is_told() -> None:
    failure = Failure("AgentFailed", "You sent hunter22, or abc", "Bearer xyz sk-0123456789abcdef")
    clean = scrubbed(failure, ["hunter22", "abc"])
    assert clean.message == "You sent [redacted], or abc"
    assert clean.detail == "[redacted] [redacted]"
    assert scrubbed(Failure("AgentFailed", "x"), []).detail == ""
