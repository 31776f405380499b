"""What we send, read by the official Python SDK: a reading of the protocol that isn't ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from acp import schema
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.acp.schema import initialize as setup
from agents.acp.schema import methods

from .strategies import as_json, values

if TYPE_CHECKING:
    import msgspec
    from pydantic import BaseModel

SENT: list[tuple[type[msgspec.Struct], type[BaseModel]]] = [
    (setup.InitializeRequest, schema.InitializeRequest),
    (setup.AuthenticateRequest, schema.AuthenticateRequest),
    (methods.NewSessionRequest, schema.NewSessionRequest),
    (methods.LoadSessionRequest, schema.LoadSessionRequest),
    (methods.ListSessionsRequest, schema.ListSessionsRequest),
    (methods.CloseSessionRequest, schema.CloseSessionRequest),
    (methods.SetSessionModeRequest, schema.SetSessionModeRequest),
    (methods.PromptRequest, schema.PromptRequest),
    (methods.CancelNotification, schema.CancelNotification),
    (methods.RequestPermissionResponse, schema.RequestPermissionResponse),
]


NEWER = ("notices", "compaction")
"""Capabilities that the SDK has yet to learn, which it leaves out."""


@pytest.mark.parametrize(("ours", "theirs"), SENT, ids=lambda kind: kind.__name__)
@settings(max_examples=10)
@given(data=st.data())
def test_the_sdk_reads_what_we_send_and_would_send_the_same(
    ours: type[msgspec.Struct], theirs: type[BaseModel], data: st.DataObject
) -> None:
    sent = as_json(data.draw(values(ours)))
    session = sent.get("clientCapabilities", {}).get("session", {})
    for capability in NEWER:
        session.pop(capability, None)
    read = theirs.model_validate(sent)
    assert read.model_dump(mode="json", by_alias=True, exclude_unset=True) == sent
