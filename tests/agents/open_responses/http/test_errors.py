"""What a server says went wrong, in all shapes that were seen."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agents.open_responses.http.errors import (
    EndpointError,
    Fault,
    bad_header,
    broke_off,
    fault_of,
    no_key,
    no_stream,
    out_of_reach,
    read_fault,
    refused,
    scrubbed,
    silent,
    untellable,
)
from bridge.errors import Failure, FailureKind
from tests.agents.open_responses.recordings import FOLDER, needs_recordings
from tests.growth import assert_linear


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (
            {"error": {"message": "no", "type": "t", "param": "p", "code": "c"}},
            Fault(400, "no", "c", "p", "t"),
        ),
        ({"message": "no", "type": "t", "code": None}, Fault(400, "no", "", "", "t")),
        ({"error": {"message": "no", "code": 404}}, Fault(400, "no", "404")),
        ({"error": "no"}, Fault(400, "no")),
        ({"error": {"error": {"message": "no"}}}, Fault(400, "no")),
        ({"detail": "no"}, Fault(400, "no")),
        ({"details": "no"}, Fault(400, "no")),
        ({"detail": [{"msg": "a"}, {"message": "b"}]}, Fault(400, "a; b")),
        ({"success": False, "error": [{"message": "a"}, "b"]}, Fault(400, "a; b")),
        ({"error": {"message": {"a": 1}}}, Fault(400, '{"a":1}')),
        ({"type": "error", "message": "no"}, Fault(400, "no")),
        ({}, Fault(400, "")),
        ("no", Fault(400, "no")),
        (["a", "b"], Fault(400, "a; b")),
        ([], Fault(400, "[]")),
        (None, Fault(400, "null")),
    ],
)
def test_an_error_is_read_from_any_shape(body: Any, fault: Fault) -> None:
    assert read_fault(json.dumps(body).encode(), 400) == fault


@pytest.mark.parametrize("name", ["status", "status_code", "statusCode", "code"])
def test_a_status_inside_counts_where_http_has_none(name: str) -> None:
    assert fault_of({"error": {"message": "slow down", name: 429}}).status == 429


def test_a_page_of_a_proxy_is_read_as_text() -> None:
    page = b"<html><head><title>x</title></head><body>\n<h1>502 Bad\n Gateway</h1></body>\xff"
    assert read_fault(page, 502) == Fault(502, "502 Bad Gateway \ufffd")
    assert read_fault(b"", 500) == Fault(500, "")


_MARKUP = re.compile(r"<(script|style|head)\b.*?</\1>|<[^>]*>", re.IGNORECASE | re.DOTALL)


@given(
    st.lists(
        st.sampled_from(["<", ">", "<script", "<Style>", "</script>", "</STYLE>", "a", "/"]),
        max_size=15,
    ).map("".join)
)
@example("<script<script</script>>a<style</style>")
@example("<head><script>a</script>b")
def test_a_page_is_read_as_the_pattern_says(page: str) -> None:
    said = " ".join(_MARKUP.sub(" ", page).split())
    assert read_fault(page.encode(), 500).message == said


@pytest.mark.parametrize(
    "piece", ["<script", "<", "<script>", "<a", "<head<style", ">", "</script"]
)
def test_a_page_is_read_in_linear_time(piece: str) -> None:

    assert_linear(
        lambda count: (piece * count).encode()[: 64 * 1024],
        lambda page: read_fault(page, 500),
        2_000,
    )


def test_a_long_text_is_cut() -> None:
    assert len(read_fault(b"x" * 5000, 500).message) == 1003


@pytest.mark.limit("agents.open_responses.http.errors._LONGEST_WORD")
@pytest.mark.parametrize("length", [200, 201])
def test_a_long_code_is_cut(length: int) -> None:
    body = json.dumps({"error": {"message": "no", "code": "x" * length}}).encode()
    assert read_fault(body, 400).code == "x" * 200


@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"code": "insufficient_quota"}, 429),
        ({"code": "rate_limit_exceeded"}, 429),
        ({"type": "too_many_requests"}, 429),
        ({"code": "invalid_api_key"}, 401),
        ({"type": "authentication_error"}, 401),
        ({"type": "permission_error"}, 403),
        ({"code": "model_not_found"}, 404),
        ({"type": "not_found"}, 404),
        ({"type": "invalid_request_error"}, 400),
        ({"code": "context_length_exceeded"}, 400),
        ({"code": "content_filter"}, 400),
        ({"code": "image_too_large"}, 400),
        ({"code": "image_too_small"}, 400),
        ({"code": "image_parse_error"}, 400),
        ({"code": "image_file_too_large"}, 400),
        ({"code": "unsupported_image_media_type"}, 400),
        ({"code": "empty_image_file"}, 400),
        ({"code": "failed_to_download_image"}, 400),
        ({"code": "data_residency_mismatch"}, 400),
        ({"code": "unsupported_parameter"}, 400),
        ({"code": "unknown_parameter"}, 400),
        ({"code": "missing_required_parameter"}, 400),
        ({"code": "unsupported_value"}, 400),
        ({"code": "string_above_max_length"}, 400),
        ({"type": "usage_not_included"}, 403),
        ({"code": "account_deactivated"}, 403),
        ({"code": "unsupported_country_region_territory"}, 403),
        ({"code": "payment_required"}, 402),
        ({"type": "overloaded_error"}, 503),
        ({"code": "timeout"}, 504),
        ({"type": "server_error"}, 500),
        ({"type": "model_error"}, 500),
        ({"code": 503}, 503),
        ({"code": "529"}, 529),
        ({"code": 7}, 500),
        ({}, 500),
    ],
)
def test_an_error_inside_a_200_gets_the_status_that_would_fit(
    error: dict[str, Any], status: int
) -> None:
    assert fault_of({"error": {"message": "no", **error}}).status == status


@pytest.mark.parametrize(
    ("message", "status"),
    [
        ("Unauthorized: invalid api key", 401),
        ("HTTP/1.1 401 Unauthorized", 401),
        ("API error (status 400): bad", 400),
        ("upstream returned status 401: no", 401),
        ("got status code: 404", 404),
        ("Error code: 422 - no", 422),
        ("Not authenticated", 401),
        ("Payment Required", 402),
        ("access is forbidden", 403),
        ("that was a bad request", 400),
        ("it broke after 400 words", 500),
        ("an invalid answer came from above", 500),
        ("status 4000", 500),
        ("x" * 2000 + " status 400", 500),
    ],
)
def test_a_message_says_the_status_that_nothing_else_says(message: str, status: int) -> None:
    assert fault_of(message).status == status
    assert fault_of({"message": message, "code": 503}).status == 503


def test_a_status_beside_the_error_counts() -> None:
    nested = {"type": "error", "status": 409, "error": {"code": "x", "message": "no"}}
    assert fault_of(nested) == Fault(409, "no", "x")


@pytest.mark.parametrize(
    ("fault", "kind", "is_retryable"),
    [
        (Fault(401, "no"), "NoPermissions", False),
        (Fault(403, "no"), "NoPermissions", False),
        (Fault(402, "no"), "Blocked", False),
        (Fault(429, "slow down"), "Blocked", True),
        (Fault(429, "no", "insufficient_quota"), "Blocked", False),
        (Fault(429, "You exceeded your current quota, please check"), "Blocked", False),
        (Fault(400, "no", "content_filter"), "Blocked", False),
        (Fault(404, "no", "model_not_found"), "NotFound", False),
        (Fault(400, "no", type="invalid_request_error"), "AgentFailed", False),
        (Fault(422, "no"), "AgentFailed", False),
        (Fault(408, "no"), "Unavailable", True),
        (Fault(409, "no"), "AgentFailed", True),
        (Fault(500, "no"), "Unavailable", True),
        (Fault(503, "no"), "Unavailable", True),
        (Fault(500, "no", "model_not_found"), "Unavailable", False),
        (Fault(500, "no", "image_parse_error"), "Unavailable", False),
        (Fault(503, "no", type="usage_not_included"), "Unavailable", False),
        (Fault(500, "image_parse_error: unsupported_value"), "Unavailable", True),
    ],
)
def test_a_fault_tells_the_host_what_kind_it_is_and_whether_a_retry_helps(
    fault: Fault, kind: FailureKind, is_retryable: bool
) -> None:
    assert fault.kind == kind
    assert fault.is_retryable is is_retryable


@pytest.mark.parametrize(
    ("fault", "is_unknown"),
    [
        (Fault(400, "no", "previous_response_not_found"), True),
        (Fault(409, "x previous_response_not_found x"), True),
        (Fault(404, "no", param="response_id"), True),
        (Fault(400, "must be null", param="previous_response_id"), True),
        (Fault(404, "Response with id 'resp_1' not found."), True),
        (Fault(404, "The model was not found"), False),
        (Fault(500, "no", param="previous_response_id"), False),
        (Fault(400, "no", param="input"), False),
    ],
)
def test_an_unknown_response_is_told_in_many_ways(fault: Fault, is_unknown: bool) -> None:
    assert fault.is_unknown_response is is_unknown


def test_the_user_is_told_what_to_do() -> None:
    failure = Fault(401, "Wrong key", "invalid_api_key", "p", "t").failure("Local")
    assert failure.message == "Local failed: Wrong key. Check the key for it."
    assert failure.detail == "401 t invalid_api_key p"
    failure = Fault(404, "No such model!").failure("Local")
    assert "No such model! Check the address and the name of the model." in failure.message
    assert Fault(400, "No.").failure("Local").message == "Local failed: No."


@pytest.mark.limit("agents.open_responses.http.errors._LONGEST_WAIT")
@pytest.mark.parametrize(
    ("seconds", "when"),
    [
        (None, "later"),
        (0.0, "later"),
        (0.2, "in 1 second"),
        (119.5, "in 120 seconds"),
        (121.0, "in 3 minutes"),
        (7200.0, "in 2 hours"),
        (2_592_000.0, "in 720 hours"),
        (2_592_001.0, "later"),
    ],
)
def test_the_user_is_told_when_to_ask_again(seconds: float | None, when: str) -> None:
    failure = Fault(500, "").failure("Local", seconds)
    assert failure.message == f"Local failed: status 500. Try again {when}."
    quota = Fault(429, "No more", "insufficient_quota").failure("Local", seconds)
    assert quota.message == "Local failed: No more."


@needs_recordings
def test_recorded_errors_are_read() -> None:
    for file in sorted(FOLDER.glob("*/*.error.json")):
        recorded = json.loads(file.read_bytes())
        fault = read_fault(json.dumps(recorded["response"]).encode(), 400)
        assert fault.message
        assert fault.message[0] not in "{["
        assert not fault.is_retryable


def of_provider(raw: Any, **error: Any) -> Fault:
    """Return the error of OpenRouter's in which a provider's is."""
    metadata = {"raw": raw, "provider_name": "Anthropic"}
    told = {"message": "Provider returned error", "code": 502, "metadata": metadata}
    return fault_of({"error": {**told, **error}, "user_id": "u"})


LOW = "Your credit balance is too low"
SAID = f"Provider returned error (Anthropic): {LOW}"


@pytest.mark.parametrize(
    "raw",
    [
        {"error": {"message": LOW}},
        {"type": "error", "error": {"type": "invalid_request_error", "message": LOW}},
        json.dumps({"error": {"message": LOW}}),
        json.dumps([{"error": {"message": LOW}}]),
        LOW,
        f"<html><body>{LOW}</body></html>",
        json.dumps({"error": {"message": json.dumps({"error": {"message": LOW}})}}),
    ],
)
def test_an_error_of_openrouter_says_what_its_provider_says(raw: Any) -> None:
    fault = of_provider(raw)
    assert fault.message == SAID
    assert not fault.is_retryable


@pytest.mark.parametrize(
    ("raw", "status", "code", "is_retryable"),
    [
        ("upstream down", 502, "502", True),
        (
            {"error": {"message": "no", "code": "image_parse_error"}},
            400,
            "image_parse_error",
            False,
        ),
        ({"error": {"message": "no", "code": 401}}, 401, "401", False),
        ({"error": {"message": "no", "code": 503}}, 503, "503", True),
        ({"error": {"code": "model_not_found"}}, 404, "model_not_found", False),
        ({}, 502, "502", True),
        ("", 502, "502", True),
        (None, 502, "502", True),
    ],
)
def test_a_lasting_error_of_a_provider_is_not_asked_again(
    raw: Any, status: int, code: str, is_retryable: bool
) -> None:
    fault = of_provider(raw)
    assert (fault.status, fault.code, fault.is_retryable) == (status, code, is_retryable)


def test_a_provider_is_said_once_and_only_where_it_is_named() -> None:
    assert of_provider("Provider returned error").message == "Provider returned error"
    assert of_provider("no", message="").message == "The provider failed (Anthropic): no"
    unnamed = {"message": "It failed.", "code": 502, "metadata": {"raw": "no"}}
    assert fault_of(unnamed).message == "It failed: no"
    busy = {"error": {"message": "too many", "code": 503}}
    assert of_provider(busy, code=429).status == 429, "what OpenRouter says, where both may pass"
    assert of_provider({"error": {"message": "no", "code": 401}}, code=400).status == 400


@pytest.mark.parametrize("is_text", [True, False])
def test_a_message_that_is_an_error_as_json_is_opened(is_text: bool) -> None:
    error = {"error": {"message": "No such key", "code": 401, "param": "key"}}
    inner = json.dumps(error) if is_text else error
    assert fault_of({"error": {"message": inner}}) == Fault(401, "No such key", "401", "key")
    assert fault_of({"error": {"message": inner}}, 400).status == 400


def test_a_message_that_is_other_json_is_said_as_it_is() -> None:
    assert fault_of({"message": '{"a": 1}'}).message == '{"a": 1}'
    assert fault_of({"message": "{no json"}).message == "{no json"


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
