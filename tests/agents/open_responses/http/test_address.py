from __future__ import annotations

import pytest

from agents.open_responses.http.address import resource, server_name


@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        ("http://x/v1", "http://x/v1/responses"),
        ("http://x/v1/", "http://x/v1/responses"),
        ("http://x", "http://x/responses"),
        ("https://x/v1/responses", "https://x/v1/responses"),
        (
            "https://x/openai/v1?api-version=preview",
            "https://x/openai/v1/responses?api-version=preview",
        ),
    ],
)
def test_where_responses_are(base_url: str, address: str) -> None:
    assert resource(base_url, "responses") == address


def test_where_models_are() -> None:
    assert resource("https://x/v1/responses", "models") == "https://x/v1/models"


def test_a_server_is_named_without_what_can_be_secret() -> None:
    assert server_name("https://ada:pw@x:8080/v1?key=abc") == "The endpoint x:8080"
