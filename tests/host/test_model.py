"""The model does what the real host did: recorded chats, played with the model in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .playback import Playback, Remarks

SHARED = Path(os.environ.get("VSCODELM_SHARED", Path(__file__).parents[3] / "shared"))
RECORDINGS = SHARED / "fixtures" / "vscode"

REMARKS = {
    "01-plain-three-turns": Remarks(),
    "02-one-tool": Remarks(),
    "03-three-parallel-tools": Remarks(),
    "05-terminal-skip": Remarks(),
    "06-stop-mid-stream": Remarks(),
    "08-edit-and-resend": Remarks(),
    "09-regenerate": Remarks(),
    "10-error-before-part": Remarks(),
    "13-thinking-marker-usage": Remarks(),
    "14-two-chats-same-first-message": Remarks(),
    "16a-switch-to-small-background-compaction": Remarks(same_chat=True, forks=frozenset({1})),
    "16c-compact-command": Remarks(),
    "17-utility-main-agent": Remarks(),
    "19-reload": Remarks(visible={5: 49, 7: 29, 15: 56}),
    "20-modes-ask-edit-plan": Remarks(),
    "21-subagent": Remarks(),
    "22-inline-chat": Remarks(),
    "23-participant-and-consumer": Remarks(from_request=9),
    "26-odd-tool-calls": Remarks(),
    "27-steering-message-while-running": Remarks(),
    "28-large-results-and-images": Remarks(),
    "30-max-requests": Remarks(pauses=frozenset({10})),
    "31-fork-conversation": Remarks(),
    "33-autopilot": Remarks(),
}
ID_TWICE = {"26-odd-tool-calls"}
"""Our own call ids are unique; the recorded agent gave one to two calls, whose results are one."""
BEFORE = {"16a-switch-to-small-background-compaction": "14-two-chats-same-first-message"}


@pytest.mark.parametrize("name", REMARKS)
def test_the_model_sends_what_the_host_sent(name: str) -> None:
    if not RECORDINGS.is_dir():
        pytest.skip(f"no recordings in {RECORDINGS}; set VSCODELM_SHARED")
    playback = Playback()
    playback.world.knowledge.by_words = name in ID_TWICE
    for one in filter(None, [BEFORE.get(name), name]):
        with (RECORDINGS / f"{one}.jsonl").open("rb") as lines:
            playback.play(lines, REMARKS[one])
    assert playback.compared
    assert not playback.differences
    playback.world.close()
