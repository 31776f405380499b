from __future__ import annotations

from vscodelm.replay.branches import drawn
from vscodelm.replay.recording import Happening
from vscodelm.replay.run import Replay

from .test_run import answered, asked, led


def tree(*happenings: Happening) -> list[str]:
    replay = Replay()
    list(replay.steps(happenings))
    return list(drawn(replay.tracker.branches()))


def test_branches_are_a_tree_and_single_lines_are_left_out() -> None:
    lines = tree(
        *led("a", "b"),
        asked(3, "a", "ok", "c"),
        *answered(3, "ok"),
        asked(4, "a", "ok", "c", "ok", "d"),
        *answered(4, "ok"),
        asked(5, "a", "ok", "c", "ok", "e"),
        asked(6, "quite", "another", "chat"),
    )
    assert lines == [
        "branches",
        "  conversation 1: 2 exchanges",
        "  +- conversation 2: 3 exchanges, the first 1 shared",
        "     +- conversation 3: 3 exchanges, the first 2 shared",
    ]
    assert tree(*led("a")) == []
