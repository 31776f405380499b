"""A session's handle keeps its server and its folder; older handles have neither."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents.acp.handles import SessionHandle
from agents.mcp.names import server_name


@given(st.text(), st.text("0123456789abcdef", min_size=1, max_size=16), st.text())
def test_what_is_kept_is_read_again(session_id: str, suffix: str, folder: str) -> None:
    handle = SessionHandle(session_id, server_name(suffix), folder)
    assert SessionHandle.read(handle.text) == handle


@pytest.mark.parametrize(
    "text", ["ses_1", "", "a#b", "a#vsc", "a#vscA", "a#vscab c", "a\n#x", "a@/x"]
)
def test_an_id_alone_is_an_id(text: str) -> None:
    handle = SessionHandle.read(text)
    assert handle == SessionHandle(text)
    assert handle.text == text


@pytest.mark.parametrize("folder", ["/two", "/with #vsc1@ and %23", "C:\\Users\\Ada", "/bl\u00e5"])
def test_a_folder_is_read_again(folder: str) -> None:
    handle = SessionHandle("s1", "vsc1", folder)
    assert SessionHandle.read(handle.text) == handle


def test_a_folder_that_is_no_unicode_is_kept_as_another() -> None:
    assert SessionHandle.read(SessionHandle("s1", "vsc1", "/\udcff").text).folder == "/?"


@pytest.mark.parametrize(
    ("one", "other", "is_another"),
    [
        ("s1#vsc1@/x", "s1#vsc2", True),
        ("s1#vsc1", "s1#vsc2@/x", True),
        ("s1#vsc1@/x", "s1", True),
        ("s1#vsc1@/x", "s1#vsc1@/x", False),
        ("s1#vsc1@/x", "s2#vsc2", False),
        ("s1#vsc1", "s1#vsc2", False),
    ],
)
def test_two_handles_of_a_session_that_was_continued(
    one: str, other: str, is_another: bool
) -> None:
    assert SessionHandle.read(one).is_another_of(SessionHandle.read(other)) is is_another
