"""What may be asked of a user by a form or an address."""

from __future__ import annotations

from typing import Any

import pytest

from agents.acp.schema.elicitation import (
    MOST_URL,
    CreateElicitationRequest,
    CreateElicitationResponse,
)
from tests.agents.acp.strategies import as_json

SCHEMA: dict[str, Any] = {"type": "object", "properties": {}}


@pytest.mark.parametrize(
    "asked",
    [
        {"requested_schema": SCHEMA},
        {"requested_schema": {}},
        {"mode": "url", "elicitation_id": "e", "url": "https://example.com/a?b=c#d"},
        {"mode": "url", "elicitation_id": "e", "url": "HTTP://localhost:8080"},
    ],
)
def test_a_form_or_an_address_may_be_asked_for(asked: dict[str, Any]) -> None:
    assert CreateElicitationRequest("Your name?", **asked).fault is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({}, "requestedSchema is missing"),
        ({"requested_schema": {"type": "array"}}, "type must be object"),
        ({"requested_schema": {"properties": []}}, "properties must be an object"),
        ({"mode": "url", "url": "https://a.example"}, "elicitationId is missing"),
        ({"mode": "url", "elicitation_id": "e"}, "url is missing"),
        ({"mode": "dance", "requested_schema": SCHEMA}, "mode 'dance' is unknown"),
        *(
            ({"mode": "url", "elicitation_id": "e", "url": url}, "must begin with http")
            for url in (
                *("", "file:///etc/passwd", "javascript:alert(1)", "command:workbench.x"),
                *("https://", " https://a.example", "https://a.example b", "https://a\n.example"),
                "vscode://x",
            )
        ),
    ],
)
def test_anything_else_is_refused_with_the_reason(asked: dict[str, Any], words: str) -> None:
    fault = CreateElicitationRequest("Your name?", **asked).fault
    assert fault is not None
    assert words in fault


@pytest.mark.limit("agents.acp.schema.elicitation.MOST_URL")
def test_an_address_may_be_long_but_not_endless() -> None:
    url = "https://a.example/".ljust(MOST_URL, "x")
    assert CreateElicitationRequest("?", "url", elicitation_id="e", url=url).fault is None
    longer = CreateElicitationRequest("?", "url", elicitation_id="e", url=f"{url}x")
    assert longer.fault == "url has more than 8192 characters"


def test_an_answer_has_content_only_where_there_is_some() -> None:
    assert as_json(CreateElicitationResponse("decline")) == {"action": "decline"}
    accepted = CreateElicitationResponse("accept", {"name": "Ada"})
    assert as_json(accepted) == {"action": "accept", "content": {"name": "Ada"}}
