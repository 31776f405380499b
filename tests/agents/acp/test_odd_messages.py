"""What an agent sends is shown or left out, however deep it is and however many digits it has."""

from __future__ import annotations

import msgspec
import pytest
from msgspec import Raw

from agents.acp.errors import is_cancelled, is_lost_session, refused
from agents.acp.render.renderer import Renderer
from agents.acp.render.session_view import SessionView
from agents.acp.render.usage import TurnTokens, context_usage
from agents.acp.rpc import lenient
from agents.acp.rpc.decode import (
    Envelope,
    Skipped,
    decode_lines,
    decode_params,
    decode_result,
    decode_update,
)
from agents.acp.schema.errors import ProtocolFault
from agents.acp.schema.methods import PROMPT, RequestPermissionRequest, Usage
from agents.acp.schema.updates import UsageUpdate
from agents.events import Attach, Say
from agents.nesting import DEEPEST_LEVELS, is_deep
from agents.token_record import MOST_TOKENS
from bridge.wire import Cost

LEVELS = (DEEPEST_LEVELS + 1, 970)
HUGE = b"7" * 4300
ODD = [
    *[b"[" * levels + b'"x"' + b"]" * levels for levels in LEVELS],
    *[b'{"output":' * levels + b'"x"' + b"}" * levels for levels in LEVELS],
    *[b'[{"text":' * levels + b'"x"' + b"}]" * levels for levels in LEVELS],
    HUGE,
    b"-" + HUGE,
    HUGE + b"7" * 1000,
    b"1e400",
    b'"\xed\xa0\x80 and \\ud83d"',
]


def shown(update: bytes) -> str:
    """Return what a user sees of an update, and of the turn's end."""
    try:
        told = decode_update(Raw(b'{"sessionId":"s","update":%s}' % update)).update
    except ProtocolFault:
        return ""  # it costs that one message
    renderer = Renderer(SessionView())
    events = [*renderer.update(told), *renderer.finish()]
    for event in events:
        msgspec.json.encode(event)  # as it goes to the editor
    return "".join(event.text for event in events if isinstance(event, Say))


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("field", ["rawOutput", "rawInput", "_meta", "content", "locations"])
@pytest.mark.parametrize("kind", ["other", "execute"])
def test_a_tool_call_is_shown_whatever_it_holds(field: str, odd: bytes, kind: str) -> None:
    call = b'"toolCallId":"1","title":"Look","status":"completed","kind":"%s"' % kind.encode()
    for what in (b"tool_call", b"tool_call_update"):
        shown(b'{"sessionUpdate":"%s",%s,"%s":%s}' % (what, call, field.encode(), odd))


def test_a_raw_output_is_cut_and_shown() -> None:
    call = b'{"sessionUpdate":"tool_call","toolCallId":"1","title":"Look","status":"completed",%s}'
    deep = b'"rawOutput":{"a":"first","b":%s}' % (b"[" * 600 + b"]" * 600)
    assert "first" in shown(call % deep)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize(
    "kind", ["usage_update", "plan", "agent_message_chunk", "dance", "session_info_update"]
)
def test_any_update_is_shown_or_left_out(kind: str, odd: bytes) -> None:
    for field in ("used", "size", "cost", "entries", "content", "title", "raw", "_meta"):
        more = b'"used":5,"size":10,' if kind == "usage_update" and field == "cost" else b""
        shown(b'{"sessionUpdate":"%s",%s"%s":%s}' % (kind.encode(), more, field.encode(), odd))


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_an_error_is_told_whatever_its_data(odd: bytes) -> None:
    for more in (b"", b'"half":"\\ud83d",'):
        error = b'{"code":-32603,%s"message":"Internal error","data":%s}' % (more, odd)
        (told,) = decode_lines([b'{"jsonrpc":"2.0","id":1,"error":%s}' % error])
        if isinstance(told, Skipped):
            continue
        assert told.error is not None
        assert not is_deep(told.error.data)
        assert not is_lost_session(told.error)
        assert not is_cancelled(told.error)
        failure = refused("Claude", told.error)
        assert failure.message.startswith("Claude failed: ")
        msgspec.json.encode(failure)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
@pytest.mark.parametrize("field", ["id", "code", "message", "error", "method", "params", "result"])
def test_any_line_is_a_message_or_skipped(field: str, odd: bytes) -> None:
    lines = [
        b'{"jsonrpc":"2.0","id":1,"%s":%s}' % (field.encode(), odd),
        b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"a","%s":%s}}'
        % (field.encode(), odd),
        b'[{"jsonrpc":"2.0","id":1,"%s":%s}]' % (field.encode(), odd),
    ]
    for told in decode_lines(lines):
        if isinstance(told, Envelope):
            msgspec.json.encode(told.id if isinstance(told.id, int | str) else None)


@pytest.mark.parametrize("odd", ODD, ids=range(len(ODD)))
def test_requests_and_results_are_read_or_refused(odd: bytes) -> None:
    call = b'{"sessionId":"s","options":[],"toolCall":{"toolCallId":"1","rawInput":%s}}' % odd
    try:
        asked = decode_params(RequestPermissionRequest, Raw(call), "session/request_permission")
    except ProtocolFault:
        pass
    else:
        assert not is_deep(asked.tool_call.raw_input)
    for usage in (
        b'"totalTokens":%s,"inputTokens":%s,"outputTokens":1',
        b'"totalTokens":%s,"x":%s',
    ):
        try:
            result = decode_result(
                PROMPT, Raw(b'{"stopReason":"end_turn","usage":{%s}}' % (usage % (odd, odd)))
            )
        except ProtocolFault:
            continue
        assert result.usage is None or TurnTokens.of(result.usage) is None


def test_a_price_of_hundreds_of_digits_is_left_out() -> None:
    with pytest.raises(ProtocolFault, match="too large"):
        lenient.read(Cost, {"amount": 10**400, "currency": "EUR"}, "$")


@pytest.mark.limit("agents.token_record.MOST_TOKENS")
def test_counts_up_to_the_largest_are_told_and_no_larger() -> None:
    most = MOST_TOKENS
    assert isinstance(context_usage(UsageUpdate(most, most)), Attach)
    assert TurnTokens.of(Usage(most, most, 0)) == TurnTokens(most, 0)
    assert context_usage(UsageUpdate(most + 1, most)) is None
    told = context_usage(UsageUpdate(1, most + 1))
    assert told is not None
    assert b"context_window" not in told.data
    for odd in (Usage(most + 1, 1, 1), Usage(1, most + 1, 1), Usage(1, 1, 1, 10**4299)):
        assert TurnTokens.of(odd) is None
