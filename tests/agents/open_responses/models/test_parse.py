from __future__ import annotations

import json
from typing import Any

import pytest

from agents.open_responses.models.parse import read_models
from bridge.models import ListedModel


def listed(*entries: Any) -> tuple[ListedModel, ...] | None:
    return read_models(json.dumps({"object": "list", "data": entries}).encode())


def test_a_plain_list_has_names_alone() -> None:
    plain = {"id": "small", "object": "model", "created": 1, "owned_by": "us"}
    assert listed(plain, plain, {"id": ""}, {"id": 7}, "x") == (ListedModel("small"),)


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {
                "name": "Small",
                "context_length": 1000,
                "architecture": {"input_modalities": ["text", "image"]},
                "supported_parameters": ["tools", 1],
                "top_provider": {"max_completion_tokens": 100},
            },
            ("Small", 1000, 100, True, True),
        ),
        (
            {"context_window": 1000, "max_tokens": 100, "tags": ["vision"], "type": "language"},
            (None, 1000, 100, False, True),
        ),
        ({"max_model_len": 1000, "name": ""}, (None, 1000, None, None, None)),
        ({"max_context_length": 0, "max_tokens": True}, (None, None, None, None, None)),
        ({"capabilities": {"tool_calling": True, "vision": 0}}, (None, None, None, True, False)),
        ({"capabilities": ["tool_use"]}, (None, None, None, True, False)),
    ],
)
def test_what_servers_add_is_understood(entry: dict[str, Any], expected: tuple[Any, ...]) -> None:
    assert listed({"id": "small", **entry}) == (ListedModel("small", *expected),)


@pytest.mark.parametrize("kind", ["embedding", "embeddings", "image", "rerank"])
def test_what_makes_no_text_is_left_out(kind: str) -> None:
    assert listed({"id": "small", "type": kind}) == ()


def test_a_list_may_be_called_otherwise() -> None:
    assert read_models(b'{"models": [{"id": "a"}]}') == (ListedModel("a"),)
    assert read_models(b'[{"id": "a"}]') == (ListedModel("a"),)


@pytest.mark.parametrize("body", [b"", b"\xff", b"{}", b'{"data": 7}', b"<html>"])
def test_what_is_no_list(body: bytes) -> None:
    assert read_models(body) is None
