from __future__ import annotations

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bridge.inspection.steps import RequestDecision
from tests.recordings.cases import played
from vscodelm.replay.labels import Comparison, Label, LabelError, first_difference, read_labels
from vscodelm.replay.run import Replay


def differences(case: str, request: int, **changed: Any) -> list[str]:
    """Return what is said about a request of a recording of ours if its label is changed."""
    script = played(case)
    label = replace(script.labels[str(request)], **changed)
    comparison = Comparison({**script.labels, str(request): label})
    found: dict[str, list[str]] = {}
    for decision in Replay().decisions(script.happenings()):
        found[str(decision.request)] = comparison.check(decision)
    assert comparison.different == {name for name, said in found.items() if said}
    assert comparison.agreeing == len(script.labels) - len(comparison.different)
    return found[str(request)]


def test_labels_that_agree_leave_nothing_to_say() -> None:
    assert differences("edit", 5) == []


@pytest.mark.parametrize(
    ("request_", "changed", "said"),
    [
        (5, {"kind": "continue"}, "branch, the label says continue"),
        (3, {"kind": "sub-agent-continue"}, "continue, the label says sub-agent-continue"),
        (5, {"extends": 2}, "extends 1, the label says 2"),
        (5, {"extends": None}, "extends 1, the label says nothing"),
        (5, {"replaces": (2,)}, "takes back 2, 3, 4, the label says 2"),
        (3, {"replaces": (2,)}, "takes back nothing, the label says 2"),
        (5, {"new_from": 3}, "new from 4, the label says 3"),
        (5, {"new_from": 3, "alt_new_from": (5,)}, "new from 4, the label says 3 or 5"),
        (5, {"new_texts": ("cake?",)}, "gives 'With cheese?' where 'cake?' is due"),
        (5, {"new_texts": ("cheese", "more")}, "doesn't give 'more'"),
        (5, {"new_texts": ()}, "gives 'With cheese?', which isn't new"),
        (3, {"conversation": "B"}, "conversation 1 is line A so far, the label says B"),
    ],
)
def test_each_kind_of_difference_is_told(request_: int, changed: dict[str, Any], said: str) -> None:
    assert differences("edit", request_, **changed) == [said]


def test_a_conversation_of_ours_can_not_be_two_lines() -> None:
    assert differences("equal-chats", 4, conversation="B") == [
        "conversation 1 is line A so far, the label says B"
    ]


def test_a_line_may_be_several_conversations_of_ours() -> None:
    assert differences("edit", 6) == []


def test_another_place_where_the_new_begins_may_be_right_too() -> None:
    assert differences("edit", 5, new_from=3, alt_new_from=(4,)) == []


def test_a_request_beside_its_chat_may_be_seen_as_a_fork_of_it() -> None:
    assert differences("background-compaction", 3, extends=2, fork_new_from=5) == []
    assert differences("background-compaction", 3, extends=2) != []


def test_a_direct_call_is_no_worse_for_being_kept_as_a_chat() -> None:
    assert differences("plain-turns", 1, kind="one-shot") == []


def test_a_fork_takes_nothing_back_and_an_edit_does() -> None:
    assert differences("fork", 3) == []
    assert differences("fork", 3, conversation="A") == ["takes back 2, the label says nothing"]


def test_a_labelled_request_that_never_came_is_different() -> None:
    script = played("plain-turns")
    comparison = Comparison({**script.labels, "9": Label("A", "new")})
    for decision in Replay().decisions(script.happenings()):
        comparison.check(decision)
    assert comparison.finish() == ["9"]
    assert comparison.different == {"9"}
    assert comparison.agreeing == 3


def test_a_request_without_a_label_is_not_judged() -> None:
    comparison = Comparison({})
    decision: RequestDecision = next(Replay().decisions(played("plain-turns").happenings()))
    assert comparison.check(decision) == []
    assert not comparison.different


def test_pieces_are_found_in_order_each_once() -> None:
    assert first_difference(["a call", "a call"], ["call", "call"]) is None
    assert first_difference(["a call"], ["call", "call"]) == "doesn't give 'call'"
    assert first_difference(["b", "a"], ["a", "b"]) == "gives 'b' where 'a' is due"


def test_labels_are_found_by_the_name_of_the_recording() -> None:
    label = Label("A", "new", new_texts=("Hi.",))
    content = msgspec.json.encode({"one.jsonl": {"summary": "", "requests": {"1": label}}})
    assert read_labels(content, "one.jsonl") == {"1": label}
    assert read_labels(content, "other.jsonl") is None


@pytest.mark.parametrize(
    "content",
    [
        b"{",
        b"[]",
        b"\xff",
        b'{"a":{"requests":{"1":{"conversation":"A","kind":"sideways"}}}}',
    ],
)
def test_wrong_labels_are_an_error(content: bytes) -> None:
    with pytest.raises(LabelError):
        read_labels(content, "a")
