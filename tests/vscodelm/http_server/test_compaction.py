from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode

import pytest

from bridge.wire import ChatMessage, TextPart, ToolCallPart
from bridge.work import done
from vscodelm.http_server import compaction
from vscodelm.http_server.api_error import ApiError
from vscodelm.http_server.compaction import Restorer, compact

KEY = b"key"
CHAT = [
    ChatMessage("user", (TextPart("Hello"),)),
    ChatMessage("assistant", (TextPart("Hi"), ToolCallPart("c1", "read", {"a": [1]}))),
]


def test_a_transcript_is_restored_whole() -> None:
    assert done(Restorer(KEY).restore(compact(CHAT, KEY))) == CHAT


def test_an_item_of_another_server_or_a_changed_one_is_refused() -> None:
    content = compact(CHAT, KEY)
    sealed = bytearray(urlsafe_b64decode(content))
    sealed[-1] ^= 1
    for wrong in (
        compact(CHAT, b"other"),
        urlsafe_b64encode(sealed).decode(),
        content[:40],
        "",
        "!",
        "ä",
        "abc",
    ):
        with pytest.raises(ApiError) as raised:
            done(Restorer(KEY).restore(wrong))
        assert raised.value.code == "invalid_compaction"


@pytest.mark.limit("vscodelm.http_server.compaction.MOST_RESTORED_BYTES")
def test_all_items_of_a_request_have_room_together(monkeypatch: pytest.MonkeyPatch) -> None:
    content = compact(CHAT, KEY)
    monkeypatch.setattr(compaction, "MOST_RESTORED_BYTES", 100)
    with pytest.raises(ApiError) as raised:
        compact(CHAT, KEY)
    assert raised.value.status == 413
    restorer = Restorer(KEY)
    restorer._left = 300  # pyright: ignore[reportPrivateUsage]  # 64 MiB take a while
    assert done(restorer.restore(content)) == CHAT
    with pytest.raises(ApiError) as raised:
        done(restorer.restore(content))
    assert raised.value.code == "transcript_too_large"


@pytest.mark.limit("vscodelm.http_server.compaction._STEP_BYTES")
def test_an_item_is_restored_in_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compaction, "_STEP_BYTES", 1_000)
    chat = [ChatMessage("user", (TextPart("x" * 10_000),))] * 3
    content = compact(chat, KEY)
    assert len([*Restorer(KEY).restore(content)]) > 30
    assert done(Restorer(KEY).restore(content)) == chat
