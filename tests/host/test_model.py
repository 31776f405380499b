"""The model does what the real host did: recorded chats, played with the model in its place."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from .agent_host_playback import AgentHostPlayback
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


AGENT_HOST = SHARED / "fixtures" / "vscode-agent-host"
AGENT_HOST_REMARKS = {
    "a01-plain": Remarks(),
    "a02-one": Remarks(),
    "a03-three": Remarks(),
    "a04-perm": Remarks(),
    "a05-bash": Remarks(),
    "a06-cancel": Remarks(),
    "a08-edit": Remarks(),
    "a10-errors": Remarks(),
    "a13-thinking-marker": Remarks(),
    "a14-two-chats": Remarks(),
    "a15-model-switch": Remarks(),
    "a16-compaction": Remarks(forks=frozenset({2}), left_out=frozenset({5})),
    "a17-utility": Remarks(),
    "a18-attachments": Remarks(),
    "a19-reload": Remarks(),
    "a21-subagent": Remarks(),
    "a28-big-image": Remarks(not_ours=frozenset({5})),
    "a34-instructions": Remarks(),
    "a35-hang11": Remarks(),
    "a37-beat": Remarks(),
}
AGENT_HOST_ID_TWICE = {"a28-big-image"}


@pytest.mark.parametrize("name", AGENT_HOST_REMARKS)
def test_the_model_sends_what_the_agent_host_sent(name: str) -> None:
    if not AGENT_HOST.is_dir():
        pytest.skip(f"no recordings in {AGENT_HOST}; set VSCODELM_SHARED")
    playback = AgentHostPlayback()
    playback.world.knowledge.by_words = name in AGENT_HOST_ID_TWICE
    with (AGENT_HOST / f"{name}.jsonl").open("rb") as lines:
        playback.play(lines, AGENT_HOST_REMARKS[name])
    assert playback.compared
    assert not playback.differences
    playback.world.close()


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
