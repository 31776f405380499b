from __future__ import annotations

import msgspec
import pytest

from actors.presentation import OWN_CALL, OWN_IMAGE, Presenter
from agents.events import AskPermission, Attach, CallTool, OwnCall, Say, StopReason, Think
from bridge.wire import (
    PERMISSION_TOOL,
    Capabilities,
    DataPart,
    OwnTextPart,
    Part,
    TextPart,
    ThinkingMode,
    ThinkingPart,
    ToolCallPart,
    UnknownPart,
)

THOUGHT = Think("hm", "1", {"signature": "x"})


def presenter(*capabilities: str, thinking: ThinkingMode = "part") -> Presenter:
    return Presenter(Capabilities(**dict.fromkeys(capabilities, True)), thinking)


def test_text_is_shown_and_empty_text_is_not() -> None:
    it = presenter()
    assert it.part(Say("")) is None
    assert not it.said
    assert it.part(Say("Hello")) == TextPart("Hello")
    assert it.said


def test_what_the_agent_didn_t_say_itself_is_known_from_the_rest() -> None:
    assert presenter().part(Say("- Read", by_us=True)) == OwnTextPart("- Read")


def test_thinking_as_text_is_a_paragraph_of_its_own() -> None:
    """However it is cut, and whatever comes between."""
    it = presenter(thinking="text")
    events = [
        Think("h"),
        Think("m"),
        Say("Good "),
        Say(""),
        Attach("usage", b"{}"),
        Say("day"),
        Say("- Read", by_us=True),
        Think("oh"),
        Think(""),
        CallTool("1", "f", {}),
        Say("42"),
    ]
    shown = [it.part(event) for event in events]
    text = "".join(part.value for part in shown if isinstance(part, TextPart))
    assert text == "hm\n\nGood day- Read\n\noh\n\n42"


@pytest.mark.parametrize(
    ("mode", "capable", "shown"),
    [
        ("part", True, ThinkingPart("hm", "1", {"signature": "x"})),
        ("part", False, None),
        ("text", True, OwnTextPart("hm")),
        ("text", False, OwnTextPart("hm")),
        ("hide", True, None),
        ("hide", False, None),
    ],
)
def test_thinking_follows_the_setting_and_the_capability(
    mode: ThinkingMode, capable: bool, shown: Part | None
) -> None:
    capabilities = ["thinking"] if capable else []
    assert presenter(*capabilities, thinking=mode).part(THOUGHT) == shown


def test_thinking_as_text_counts_as_an_answer_and_as_a_part_does_not() -> None:
    """A host that got nothing but thinking asks again."""
    as_text = presenter(thinking="text")
    as_text.part(THOUGHT)
    assert as_text.said
    as_part = presenter("thinking")
    as_part.part(THOUGHT)
    assert not as_part.said


def test_an_empty_thought_is_shown_only_for_what_the_host_is_to_keep() -> None:
    kept = Think("", metadata={"signature": "x"})
    assert presenter("thinking").part(Think("", "1")) is None
    assert presenter("thinking").part(kept) == ThinkingPart("", None, {"signature": "x"})
    assert presenter("thinking", thinking="text").part(kept) is None
    assert presenter().part(kept) is None


@pytest.mark.parametrize(
    ("mime_type", "needs"),
    [("usage", "usage"), ("stateful_marker", "marker"), ("image/png", "data")],
)
@pytest.mark.parametrize("capability", ["usage", "marker", "data", "thinking"])
def test_each_kind_of_data_needs_its_own_capability(
    mime_type: str, needs: str, capability: str
) -> None:
    part = presenter(capability).part(Attach(mime_type, b"x"))
    assert part == (DataPart(mime_type, b"x") if needs == capability else None)


def test_a_tool_call_is_shown_as_it_is() -> None:
    it = presenter()
    assert it.part(CallTool("1", "f", {"a": 1})) == ToolCallPart("1", "f", {"a": 1})
    assert it.said


def test_a_permission_is_asked_through_the_hosts_tool_with_all_that_helps_to_decide() -> None:
    it = presenter()
    ask = AskPermission("1", "Delete it", "delete", {"path": "a.txt", "title": "not this one"})
    parameters = {"path": "a.txt", "title": "Delete it", "kind": "delete"}
    assert it.part(ask) == ToolCallPart("1", PERMISSION_TOOL, parameters)
    assert it.said


@pytest.mark.parametrize("reason", list(StopReason))
def test_an_answer_is_never_empty(reason: StopReason) -> None:
    notice = presenter().notice(reason)
    assert isinstance(notice, OwnTextPart)
    assert notice.value.startswith("*The agent")


@pytest.mark.parametrize("reason", list(StopReason))
def test_an_answer_that_stopped_early_says_why(reason: StopReason) -> None:
    it = presenter()
    it.part(Say("Hello"))
    notice = it.notice(reason)
    if reason in (StopReason.END_TURN, StopReason.CANCELLED):
        assert notice is None
    else:
        assert isinstance(notice, OwnTextPart)
        assert notice.value.startswith("\n\n*The agent")


def test_an_agents_own_call_is_a_part_of_its_own_only_for_those_who_want_it_apart() -> None:
    call = OwnCall("1", "shell", "completed", {"command": "ls"}, "a.txt")
    apart = Presenter(Capabilities(), "part", separates_calls=True)
    part = apart.part(Say("🔧 ls ✔", by_us=True, call=call))
    assert isinstance(part, UnknownPart)
    assert part.kind == OWN_CALL
    assert msgspec.json.decode(part.json, type=OwnCall) == call
    assert apart.said
    assert apart.part(Say("Hello")) == TextPart("Hello")
    assert presenter().part(Say("🔧 ls ✔", by_us=True, call=call)) == OwnTextPart("🔧 ls ✔")
    assert presenter().part(Say("", by_us=True, call=call)) is None


def test_an_image_is_a_part_of_its_own_for_a_program_and_other_data_is_not() -> None:
    apart = Presenter(Capabilities(), "part", separates_calls=True)
    part = apart.part(Attach("image/png", b"png"))
    assert part == UnknownPart(OWN_IMAGE, b'{"mime_type":"image/png","result":"cG5n"}')
    assert apart.part(Attach("audio/wav", b"wav")) is None
    assert Presenter(Capabilities(), "part").part(Attach("image/png", b"png")) is None
