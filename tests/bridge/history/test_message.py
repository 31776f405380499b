"""The canonical form: equal for what a host can't be held to, different for everything else."""

from __future__ import annotations

import itertools
from typing import Any, cast

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bridge.history.message import CallKey, Draft, Message, canonical_json, marker_token
from bridge.wire import (
    PERMISSION_TOOL,
    PERMISSION_TOOLS,
    DataPart,
    Part,
    Role,
    TextPart,
    ThinkingPart,
    ToolCallPart,
    ToolResultPart,
)
from tests.strategies import (
    chunkings,
    json_values,
    part_lists,
    roles,
    silent_parts,
    telling_parts,
)

CALL = ToolCallPart("c1", "read", {"path": "a"})
OTHER_CALL = ToolCallPart("c2", "read", {"path": "b"})
IMAGE = DataPart("image/png", b"\x89PNG")


@given(st.data())
def test_however_a_text_was_cut_the_message_is_the_same(data: st.DataObject) -> None:
    """Law 1: coalescing chunk by chunk equals coalescing once."""
    text = data.draw(st.text())
    pieces = [TextPart(piece) for piece in data.draw(chunkings(text))]
    assert Message.of("assistant", pieces) == Message.of("assistant", [TextPart(text)])
    assert Message.of("assistant", pieces).text == text


@given(roles, part_lists, part_lists)
def test_a_message_is_the_same_however_its_parts_come(
    role: Any, parts: list[Part], others: list[Part]
) -> None:
    draft = Draft(role)
    for some in (parts, others):
        draft.add(some)
        draft.message()
    assert attrs.astuple(draft.message()) == attrs.astuple(Message.of(role, [*parts, *others]))


@given(roles, st.lists(telling_parts), st.lists(silent_parts), st.randoms(use_true_random=False))
def test_parts_that_a_host_drops_or_adds_at_will_do_not_count(
    role: Any, telling: list[Part], silent: list[Part], random: Any
) -> None:
    mixed = list(telling)
    for part in silent:
        mixed.insert(random.randint(0, len(mixed)), part)
    assert Message.of(role, mixed) == Message.of(role, telling)


def meaning(parts: list[Part]) -> tuple[object, ...]:
    """What is compared, kind by kind, spelled out the slow way."""
    return (
        "".join(part.value for part in parts if isinstance(part, TextPart)),
        [
            (part.tool_call_id, part.tool_name, canonical_json(part.parameters))
            for part in parts
            if isinstance(part, ToolCallPart)
        ],
        [part.tool_call_id for part in parts if isinstance(part, ToolResultPart)],
        [part for part in parts if isinstance(part, DataPart) and part.mime_type == "image/png"],
    )


@given(roles, roles, part_lists, part_lists)
def test_messages_are_equal_just_when_they_mean_the_same(
    role: Any, other_role: Any, parts: list[Part], other_parts: list[Part]
) -> None:
    one, other = Message.of(role, parts), Message.of(other_role, other_parts)
    same = role == other_role and meaning(parts) == meaning(other_parts)
    assert (one == other) is same
    assert (one.digest == other.digest) is same
    if same:
        assert hash(one) == hash(other)


@pytest.mark.parametrize(
    ("parts", "others"),
    [
        ([TextPart("a"), CALL, TextPart("b")], [TextPart("ab"), CALL]),
        ([TextPart(""), CALL], [CALL]),
        ([ToolResultPart("c1", "long")], [ToolResultPart("c1", ["moved to a file"], True)]),
        (
            [ToolCallPart("c1", "t", {"a": 1.0, "b": [2.0]})],
            [ToolCallPart("c1", "t", {"b": [2], "a": 1})],
        ),
        ([ThinkingPart("hm"), TextPart("a")], [TextPart("a"), DataPart("usage", b"{}")]),
        ([ToolCallPart("c1__vscode-17", "t", {})], [ToolCallPart("c1", "t", {})]),
        ([ToolResultPart("c1__vscode-17")], [ToolResultPart("c1__vscode-x\ny")]),
        ([ToolCallPart("c1", "a.b/c:é", {})], [ToolCallPart("c1", "a_b_c__", {})]),
        ([TextPart("a")], [TextPart("a"), DataPart("stateful_marker", b"m\\token")]),
        (
            [ToolCallPart("c1", PERMISSION_TOOL, {"title": "a"})],
            [ToolCallPart("c1", PERMISSION_TOOL, {})],
        ),
        (
            [ToolCallPart("c1", PERMISSION_TOOLS[1], {"title": "a"})],
            [ToolCallPart("c1", PERMISSION_TOOLS[1], {})],
        ),
    ],
    ids=[
        "calls last",
        "empty text",
        "results by id",
        "arguments as JSON",
        "bookkeeping",
        "suffixes of calls",
        "suffixes of results",
        "names of tools",
        "markers",
        "what a question says",
        "what it says under its former name",
    ],
)
def test_what_hosts_are_known_to_change_makes_no_difference(
    parts: list[Part], others: list[Part]
) -> None:
    assert Message.of("user", parts) == Message.of("user", others)


@pytest.mark.parametrize(
    ("parts", "others"),
    [
        ([TextPart("a")], [TextPart("a ")]),
        ([CALL, OTHER_CALL], [OTHER_CALL, CALL]),
        ([CALL], [ToolCallPart("c1", "write", {"path": "a"})]),
        ([CALL], [ToolCallPart("c1", "read", {"path": "b"})]),
        ([ToolResultPart("c1")], [ToolResultPart("c2")]),
        ([CALL], [ToolResultPart("c1")]),
        ([IMAGE], [DataPart("image/jpeg", IMAGE.data)]),
        ([IMAGE], [DataPart("image/png", b"other")]),
        ([ToolCallPart("c1", "a-b", {})], [ToolCallPart("c1", "a_b", {})]),
        ([ToolCallPart("c1__", "t", {})], [ToolCallPart("c1", "t", {})]),
        ([ToolCallPart("__vscode-1", "t", {})], [ToolCallPart("__vscode-2", "t", {})]),
        ([ToolCallPart("c1", "t", {"a": 1})], [ToolCallPart("c1", "t", {"a": True})]),
        ([ToolCallPart("c1", "t", {"a": 1})], [ToolCallPart("c1", "t", {"a": 1.5})]),
    ],
)
def test_what_says_something_else_is_another_message(parts: list[Part], others: list[Part]) -> None:
    assert Message.of("user", parts) != Message.of("user", others)


def test_role_and_name_count_and_an_empty_name_is_none() -> None:
    parts = [TextPart("a")]
    different = [
        Message.of("user", parts),
        Message.of("assistant", parts),
        Message.of("user", parts, "alice"),
    ]
    assert all(one != other for one, other in itertools.combinations(different, 2))
    assert Message.of("user", parts, "") == Message.of("user", parts, None)


def test_fields_hold_what_is_compared() -> None:
    message = Message.of("user", [TextPart("a"), CALL, ToolResultPart("c0"), IMAGE], "alice")
    assert (message.role, message.name, message.text) == ("user", "alice", "a")
    assert message.calls == (CallKey("c1", "read", b'{"path":"a"}'),)
    assert message.results == ("c0",)
    assert len(message.images) == 1
    assert message.digest.hex() in repr(message)


def test_call_ids_and_tool_names_are_kept_as_they_are_compared() -> None:
    parts = [ToolCallPart("c1__vscode-17", "a.b", {}), ToolResultPart("c0__vscode-17")]
    message = Message.of("assistant", parts)
    assert message.calls == (CallKey("c1", "a_b", b"{}"),)
    assert message.results == ("c0",)
    assert Message.of("user", [ToolResultPart("__vscode-1")]).results == ("__vscode-1",)


# What is known of it beside.

WRAPPED = "<context>\nMonday\n</context>\n<userRequest>\nHello!\n</userRequest>\n"


@pytest.mark.parametrize(
    ("role", "text", "request_text"),
    [
        ("user", "Hello!", "Hello!"),
        ("user", WRAPPED, "Hello!"),
        ("user", "<environment_info>Linux", None),
        ("user", "", None),
        ("assistant", WRAPPED, None),
        ("system", "Hello!", None),
    ],
)
def test_a_message_knows_what_the_user_asks_in_it(
    role: Role, text: str, request_text: str | None
) -> None:
    assert Message.of(role, [TextPart(text)]).request == request_text


@pytest.mark.parametrize(
    ("role", "parts", "is_said"),
    [
        ("user", [TextPart("a")], True),
        ("assistant", [CALL], True),
        ("user", [ToolResultPart("c1")], True),
        ("user", [IMAGE], True),
        ("user", [TextPart("")], False),
        ("assistant", [ThinkingPart("hm")], False),
        ("system", [TextPart("a")], False),
    ],
)
def test_a_step_of_the_conversation_is_not_the_systems_and_not_empty(
    role: Role, parts: list[Part], is_said: bool
) -> None:
    assert Message.of(role, parts).is_said is is_said


def test_the_newest_marker_in_a_message_is_known() -> None:
    one, two = (DataPart("stateful_marker", f"m\\{token}".encode()) for token in ("a", "b"))
    assert Message.of("assistant", [TextPart("x")]).marker is None
    assert Message.of("assistant", [one, two]).marker == "b"
    assert Message.of("assistant", [one]).is_empty, "it says nothing"


@pytest.mark.parametrize(
    ("data", "token"),
    [
        (rb"model\token", "token"),
        (rb"\token", "token"),
        (rb"a/b c\with\more", r"with\more"),
        (b"model\\", ""),
        (b"token", None),
        (b"", None),
        (b"\xff\\t\xff", "t\ufffd"),
    ],
)
def test_a_marker_is_what_follows_the_model(data: bytes, token: str | None) -> None:
    """Hosts replace the model's id in front by that of the current one."""
    assert marker_token(data) == token


@pytest.mark.parametrize("part", [TextPart("a"), CALL, ToolResultPart("c1"), IMAGE])
def test_a_message_that_says_anything_is_not_empty(part: Part) -> None:
    assert not Message.of("user", [part]).is_empty


@given(st.lists(silent_parts))
def test_a_message_of_bookkeeping_alone_is_empty(parts: list[Part]) -> None:
    assert Message.of("assistant", [*parts, TextPart("")]).is_empty


def test_a_message_equals_nothing_but_messages() -> None:
    message = Message.of("user", [])
    assert message != message.digest
    assert message != None  # noqa: E711  the operator is what is tested


def as_javascript_sees_it(value: Any) -> object:
    """Numbers have one type, booleans are no numbers, keys have no order."""
    match value:
        case bool() | None | str():
            return (type(value), value)
        case int() | float():
            return int(value) if value == int(value) else value
        case list():
            return [as_javascript_sees_it(item) for item in cast("list[Any]", value)]
        case _:
            fields = cast("dict[str, Any]", value)
            return {key: as_javascript_sees_it(item) for key, item in fields.items()}


@given(json_values, json_values)
def test_canonical_json_is_equal_just_where_javascript_sees_no_difference(
    value: Any, other: Any
) -> None:
    same = as_javascript_sees_it(value) == as_javascript_sees_it(other)
    assert (canonical_json(value) == canonical_json(other)) is same


def test_canonical_json_knows_numbers_and_keys() -> None:
    assert canonical_json({"b": [1.0, -0.0, 1.5], "a": True}) == b'{"a":true,"b":[1,0,1.5]}'


@pytest.mark.parametrize("depth", [100, 900])
def test_arguments_too_deep_to_be_looked_through_are_compared_as_they_came(depth: int) -> None:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    assert canonical_json(value) == b"[" * depth + b"1" + b"]" * depth
