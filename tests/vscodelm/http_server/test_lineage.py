from __future__ import annotations

import json
from itertools import product
from typing import Any

import pytest
from msgspec import Raw

from bridge.wire import ChatMessage, Permissions, Settings, TextPart, ToolCallPart
from bridge.work import done
from vscodelm.http_server.lineage import (
    answer_of,
    can_skip_nothing,
    policy,
    referred,
    response_of,
    system_message,
    user_item,
)

RANK: tuple[Permissions, ...] = ("deny", "read_only", "ask", "allow")


def raws(*items: Any) -> list[Raw]:
    return [Raw(json.dumps(item).encode()) for item in items]


@pytest.mark.parametrize(("model", "server"), [*product(RANK, RANK)])
def test_a_model_is_never_allowed_more_than_the_server_says(
    model: Permissions, server: Permissions
) -> None:
    found = policy(Settings(permissions=model), server).permissions
    assert RANK.index(found) <= RANK.index(server)
    if model in ("deny", "read_only"):
        assert RANK.index(found) <= RANK.index(model)
    else:
        assert found == server


def test_some_clients_can_skip_nothing() -> None:
    assert can_skip_nothing("ai/6.0.326 ai-sdk/provider-utils/4.0.66 runtime/node.js/24")
    assert not can_skip_nothing("OpenAI/Python 3.57.0")


def test_references_are_looked_up_once_for_each_response() -> None:
    suffix = "a" * 32
    references = [{"type": "item_reference", "id": f"msg_{suffix}0{n}"} for n in range(2)]
    items = raws(*references, {"type": "message", "role": "user"}, {"type": "item_reference"}, [])
    assert done(referred(items)) == [f"msg_{suffix}00"]
    assert done(referred("text")) == []
    assert response_of(f"fc_{suffix}17") == response_of(f"resp_{suffix}") == suffix


def test_the_items_of_a_response_are_messages_by_their_ids() -> None:
    call = {"type": "function_call", "id": "fc_1", "call_id": "c", "name": "n", "arguments": "{}"}
    message = {
        "type": "message",
        "id": "msg_1",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "a"}],
    }
    resource: dict[str, object] = {
        "output": [message, call, {"type": "reasoning", "id": "rs_1", "summary": []}]
    }
    assert done(answer_of(json.dumps(resource).encode())) == {
        "msg_1": [ChatMessage("assistant", (TextPart("a"),))],
        "fc_1": [ChatMessage("assistant", (ToolCallPart("c", "n", {}),))],
        "rs_1": [],
    }


def test_a_kept_answer_refers_to_nothing() -> None:
    resource = {"output": [{"type": "item_reference", "id": "msg_1"}]}
    with pytest.raises(AssertionError):
        done(answer_of(json.dumps(resource).encode()))


def test_instructions_and_a_text_are_a_message_and_an_item() -> None:
    assert system_message("x") == ChatMessage("system", (TextPart("x"),))
    assert json.loads(bytes(user_item("x")))["content"] == [{"type": "input_text", "text": "x"}]
