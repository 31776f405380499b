from __future__ import annotations

from agents.acp.schema.methods import SetSessionConfigOptionRequest
from tests.agents.acp.strategies import as_json


def test_an_option_that_is_on_or_off_is_set_with_its_type() -> None:
    assert as_json(SetSessionConfigOptionRequest.on_off("s", "web", False)) == {
        "sessionId": "s",
        "configId": "web",
        "type": "boolean",
        "value": False,
    }


def test_an_option_with_values_is_set_without_a_type() -> None:
    assert as_json(SetSessionConfigOptionRequest("s", "model", "fast")) == {
        "sessionId": "s",
        "configId": "model",
        "value": "fast",
    }
