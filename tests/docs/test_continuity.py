"""What the pictures show is what happened, and what a replay says of the same chat."""

from __future__ import annotations

import pytest

from agents.origin import FRESH, ForkOf
from bridge.inspection.telling import SessionSource
from docs.generator import continuity, pictured_chats
from docs.generator.pictured_chats import Given, Play, Run, played
from vscodelm.replay.recording import read_recording
from vscodelm.replay.run import Replay

IN_ONE_PROCESS: list[Play] = [
    pictured_chats.extend,
    pictured_chats.edit_and_undo,
    pictured_chats.retry,
    pictured_chats.stop_and_go_on,
    pictured_chats.stop_and_edit,
    pictured_chats.fork,
    pictured_chats.compaction,
]


def given(run: Run) -> list[Given]:
    return [event for event in run.events if isinstance(event, Given)]


@pytest.mark.parametrize("play", IN_ONE_PROCESS)
def test_a_replay_says_what_the_agent_was_really_given(play: Play) -> None:
    run = played(play)
    lines = run.trace.getvalue().splitlines(keepends=True)
    decisions = list(Replay().decisions(read_recording(lines)))
    really = given(run)
    assert len(decisions) == len(really)
    for decision, one in zip(decisions, really, strict=True):
        match decision.telling.way:
            case SessionSource.GOES_ON:
                assert (one.origin, one.past) == (None, ())
            case SessionSource.FORK:
                assert isinstance(one.origin, ForkOf)
                assert one.past == ()
            case SessionSource.NEW:
                assert one.origin == FRESH
                assert len(one.past) == decision.telling.past
            case other:
                pytest.fail(f"{other}")


def test_an_agent_without_forks_is_told_what_the_replay_names_as_the_other_way() -> None:
    last = given(played(pictured_chats.fork, is_able=False))[-2]
    assert last.past == ("A", "answer to A", "B", "answer to B")


def test_a_picture_has_who_was_given_what() -> None:
    drawn = continuity.picture(played(pictured_chats.crash))
    assert "    Note over S2: sent again: A / answer to A / B (crashes)\n    C->>S2: C" in drawn
    assert "    S1-->>S2: is forked\n" in continuity.picture(played(pictured_chats.fork))


def test_an_endpoint_goes_on_from_its_responses() -> None:
    told = continuity.endpoint()
    assert told.count("continues from its last complete response") == 2
    assert "continues from the response before the new messages" in told
