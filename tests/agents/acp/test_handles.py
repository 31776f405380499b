"""A session's handle keeps the name of its server, and older handles have none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.handles import SessionHandle
from agents.mcp.names import server_name


@given(st.text(), st.text("0123456789abcdef", min_size=1, max_size=16))
def test_what_is_kept_is_read_again(session_id: str, suffix: str) -> None:
    handle = SessionHandle(session_id, server_name(suffix))
    assert SessionHandle.read(handle.text) == handle


@pytest.mark.parametrize("text", ["ses_1", "", "a#b", "a#vsc", "a#vscA", "a#vscab c", "a\n#x"])
def test_an_id_alone_is_an_id(text: str) -> None:
    handle = SessionHandle.read(text)
    assert handle == SessionHandle(text)
    assert handle.text == text
