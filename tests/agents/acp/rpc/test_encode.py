from __future__ import annotations

import json

import pytest

from agents.acp.rpc.encode import response_line
from agents.acp.schema.content import ImageContent, TextContent
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import (
    CANCEL,
    PROMPT,
    CancelledPermissionOutcome,
    CancelNotification,
    PromptRequest,
    RequestPermissionResponse,
    SelectedPermissionOutcome,
)
from bridge.errors import METHOD_NOT_FOUND
from bridge.jsonrpc import notification_line, request_line


def test_a_request_is_one_line() -> None:
    params = PromptRequest("s", (TextContent("a\nb"), ImageContent(b"hi", "image/png")))
    line = request_line(3, PROMPT.name, params)
    assert line.count(b"\n") == 1
    assert json.loads(line) == {
        "jsonrpc": "2.0",
        "id": 3,
        "method": "session/prompt",
        "params": {
            "sessionId": "s",
            "prompt": [
                {"type": "text", "text": "a\nb"},
                {"type": "image", "data": "aGk=", "mimeType": "image/png"},
            ],
        },
    }


def test_a_notification_has_no_id() -> None:
    assert json.loads(notification_line(CANCEL, CancelNotification("s"))) == {
        "jsonrpc": "2.0",
        "method": "session/cancel",
        "params": {"sessionId": "s"},
    }


@pytest.mark.parametrize("id_", [7, "seven", None])
def test_an_answer_has_the_id_of_its_request(id_: int | str | None) -> None:
    chosen = RequestPermissionResponse(SelectedPermissionOutcome("once"))
    assert json.loads(response_line(id_, chosen)) == {
        "jsonrpc": "2.0",
        "id": id_,
        "result": {"outcome": {"outcome": "selected", "optionId": "once"}},
    }
    error = Error(METHOD_NOT_FOUND, "no such method")
    assert json.loads(response_line(id_, error)) == {
        "jsonrpc": "2.0",
        "id": id_,
        "error": {"code": -32601, "message": "no such method"},
    }


def test_a_cancelled_permission_says_only_that() -> None:
    response = RequestPermissionResponse(CancelledPermissionOutcome())
    assert json.loads(response_line(1, response))["result"] == {"outcome": {"outcome": "cancelled"}}
