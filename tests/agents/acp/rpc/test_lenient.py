"""Forgiving reading. The schema says field by field what is forgiven: it is the oracle."""

from __future__ import annotations

import json
from typing import Any, cast

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import inspect

from agents.acp.rpc import lenient
from agents.acp.schema import content, methods, updates
from agents.acp.schema import errors as faults
from agents.acp.schema import initialize as setup
from agents.acp.schema import options as config
from agents.acp.schema.errors import ProtocolFault
from bridge.errors import LocalError
from tests.agents.acp.protocol_schema import (
    HAS_SCHEMA,
    JSON,
    definitions,
    needs_schema,
    properties,
    required,
)
from tests.agents.acp.strategies import allowed, as_json, values
from tests.agents.acp.test_schema import TYPES, names_of

SENT_ONLY = (methods.NewSessionRequest, methods.LoadSessionRequest)
KINDS = [kind for kind in TYPES if kind not in SENT_ONLY]
READ: list[type[msgspec.Struct]] = [
    updates.SessionNotification,
    methods.RequestPermissionRequest,
    methods.NewSessionResponse,
    methods.LoadSessionResponse,
    methods.ListSessionsResponse,
    methods.PromptResponse,
    methods.SetSessionConfigOptionResponse,
    setup.InitializeResponse,
    faults.Error,
    methods.CancelRequestNotification,
]

# Whole messages are slow to draw, and each has much in it.
FEW = settings(max_examples=25)


def fields_of(kind: type[msgspec.Struct]) -> dict[str, inspect.Field]:
    shape = cast("inspect.StructType", inspect.type_info(kind))
    return {field.encode_name: field for field in shape.fields}


FORGIVEN = "x-deserialize-default-on-error"
SKIPPING = "x-deserialize-skip-invalid-items"


@needs_schema
@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_whatever_the_schema_allows_is_read_at_once(
    kind: type[msgspec.Struct], data: st.DataObject
) -> None:
    """Without forgiveness, that is: by msgspec alone."""
    message = data.draw(allowed(names_of(kind)[0]))
    strict = msgspec.json.decode(json.dumps(message), type=kind)
    assert lenient.read(kind, message, "$") == strict


@pytest.mark.parametrize("kind", READ, ids=lambda kind: kind.__name__)
@FEW
@given(data=st.data())
def test_what_is_well_formed_is_read_as_msgspec_reads_it(
    kind: type[msgspec.Struct], data: st.DataObject
) -> None:
    value = data.draw(values(kind))
    sent = msgspec.json.encode(value)
    assert lenient.read(kind, json.loads(sent), "$") == msgspec.json.decode(sent, type=kind)


def malformed(field: inspect.Field) -> Any:
    """Return what can't be a field's value, whatever it is."""
    shapes = field.type.types if isinstance(field.type, inspect.UnionType) else (field.type,)
    is_list = any(isinstance(shape, inspect.VarTupleType) for shape in shapes)
    return {"no": []} if is_list else []


def marks() -> list[tuple[type[msgspec.Struct], str, JSON, bool]]:
    """Return every field of what we read, with the schema's marks, and whether it is required."""
    if not HAS_SCHEMA:
        return []
    return [
        (kind, name, properties(one)[name], name in required(one))
        for kind in KINDS
        for one in names_of(kind)
        for name, field in fields_of(kind).items()
        if name in properties(one) and not isinstance(field.type, inspect.AnyType)
    ]


MARKS = marks()


def shown(one: object) -> str:
    """Return what a parameter is called in a test's name."""
    return one if isinstance(one, str) else getattr(one, "__name__", "")


def example(kind: type[msgspec.Struct]) -> JSON:
    """Return a whole message of a kind, with every field."""
    fields = fields_of(kind)
    samples = {"options": [{"name": "n", "value": "v", "optionId": "o", "kind": "k"}]}
    whole: JSON = {}
    for name, field in fields.items():
        whole[name] = samples.get(name) if name in samples else _sample(field.type)
    if kind is content.ResourceContents:
        del whole["blob"]
    return whole


def _sample(shape: inspect.Type) -> Any:
    match shape:
        case inspect.AnyType():
            return {"any": [1]}
        case inspect.StrType():
            return "text"
        case inspect.BytesType():
            return "aGk="
        case inspect.BoolType():
            return True
        case inspect.IntType() | inspect.FloatType():
            return 7
        case inspect.DictType():
            return {"key": "value"}
        case inspect.VarTupleType(item_type=item):
            return [_sample(item)]
        case inspect.UnionType(types=types):
            return _sample(types[0])
        case inspect.StructType(cls=cls, tag_field=tag_field, tag=tag):
            whole = example(cls)
            return {**whole, tag_field: tag} if tag_field else whole
        case _:
            raise AssertionError(shape)


def read(kind: type[msgspec.Struct], value: Any) -> Any:
    return lenient.read(kind, value, "$")


@needs_schema
@pytest.mark.parametrize(("kind", "name", "told", "is_required"), MARKS, ids=shown)
def test_a_malformed_field_is_what_the_schema_makes_of_it(
    kind: type[msgspec.Struct], name: str, told: JSON, is_required: bool
) -> None:
    field = fields_of(kind)[name]
    whole = example(kind)
    good = read(kind, whole)
    broken = {**whole, name: malformed(field)}
    if not field.required:
        without = {key: value for key, value in whole.items() if key != name}
        if kind is content.ResourceContents:
            return  # it has text or blob, and never both
        assert read(kind, broken) == read(kind, without)
        assert read(kind, broken) != good
    else:
        assert is_required
        assert not told.get(FORGIVEN), "the schema forgives it, and so must we"
        with pytest.raises(ProtocolFault, match=rf"\$\.{name}"):
            read(kind, broken)


@needs_schema
@pytest.mark.parametrize(("kind", "name", "told", "is_required"), MARKS, ids=shown)
def test_null_is_like_absent_wherever_the_schema_allows_it(
    kind: type[msgspec.Struct], name: str, told: JSON, is_required: bool
) -> None:
    field = fields_of(kind)[name]
    whole = example(kind)
    if field.required or (kind is content.ResourceContents and name == "text"):
        if kind is not methods.CancelRequestNotification:
            with pytest.raises(ProtocolFault):
                read(kind, {**whole, name: None})
        return
    without = {key: value for key, value in whole.items() if key != name}
    assert read(kind, {**whole, name: None}) == read(kind, without)


@needs_schema
@pytest.mark.parametrize(
    ("kind", "name", "told", "is_required"),
    [one for one in MARKS if SKIPPING in one[2]],
    ids=shown,
)
def test_a_malformed_item_of_a_list_is_left_out(
    kind: type[msgspec.Struct], name: str, told: JSON, is_required: bool
) -> None:
    whole = example(kind)
    items: list[Any] = [12, None, *whole[name], [], *whole[name], True]
    doubled = [*whole[name], *whole[name]]
    assert read(kind, {**whole, name: items}) == read(kind, {**whole, name: doubled})


@needs_schema
def test_the_schema_has_the_marks_that_these_tests_look_for() -> None:
    text = json.dumps(definitions())
    assert text.count(FORGIVEN) > 200
    assert text.count(SKIPPING) > 15
    assert sum(FORGIVEN in told for _, _, told, _ in MARKS) > 60
    assert sum(SKIPPING in told for _, _, told, _ in MARKS) > 10


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.__name__)
def test_a_missing_field_is_a_fault_only_if_it_has_no_default(kind: type[msgspec.Struct]) -> None:
    whole = example(kind)
    for name, field in fields_of(kind).items():
        without = {key: value for key, value in whole.items() if key != name}
        if kind is content.ResourceContents and name in ("text", "blob"):
            continue
        if field.required:
            with pytest.raises(ProtocolFault, match=f"`{name}` is missing - at `\\$`"):
                read(kind, without)
        else:
            read(kind, without)


@FEW
@given(values(updates.SessionNotification))
def test_fields_that_nobody_knows_change_nothing(value: updates.SessionNotification) -> None:
    sent = as_json(value)
    sent["later"] = sent["update"]["later"] = {"x": 1}
    assert lenient.read(updates.SessionNotification, sent, "$") == closed_or_same(value)


def closed_or_same(value: updates.SessionNotification) -> updates.SessionNotification:
    return msgspec.json.decode(msgspec.json.encode(value), type=updates.SessionNotification)


@pytest.mark.parametrize("tag", ["video", "", "?"])
@pytest.mark.checklist(23)
def test_content_of_an_unknown_kind_is_kept(tag: str) -> None:
    block = {"type": tag, "frames": 3}
    chunk = {"sessionUpdate": "agent_message_chunk", "content": block}
    found = lenient.read(updates.SessionNotification, {"sessionId": "s", "update": chunk}, "$")
    assert found.update == updates.AgentMessageChunk(content.UnknownContent(tag, block))


@pytest.mark.parametrize("tag", ["brand_new", "", "?"])
@pytest.mark.checklist(23)
def test_an_update_of_an_unknown_kind_is_kept(tag: str) -> None:
    update = {"sessionUpdate": tag, "x": 1}
    found = lenient.read(updates.SessionNotification, {"sessionId": "s", "update": update}, "$")
    assert found.update == updates.UnknownUpdate(tag, update)


def test_what_a_tool_gave_of_an_unknown_kind_is_kept_in_its_place() -> None:
    items = [{"type": "chart", "n": 1}, {"type": "terminal", "terminalId": "t"}]
    call = lenient.read(content.ToolCallUpdate, {"toolCallId": "c", "content": items}, "$")
    assert call.content == (
        content.UnknownToolCallContent("chart", items[0]),
        content.Terminal("t"),
    )


@pytest.mark.parametrize("value", ["dance", "allow_thrice", ""])
@pytest.mark.checklist(23)
def test_an_unknown_value_of_an_enumeration_is_kept(value: str) -> None:
    call = lenient.read(content.ToolCallUpdate, {"toolCallId": "c", "kind": value}, "$")
    assert call.kind == value
    assert lenient.read(methods.PromptResponse, {"stopReason": value}, "$").stop_reason == value


@pytest.mark.checklist(20)
def test_an_option_of_an_unknown_kind_is_left_out() -> None:
    """There is no Unknown in this union: the schema says to skip it."""
    options = [
        {"type": "slider", "id": "a", "name": "A", "currentValue": 3},
        {"type": "boolean", "id": "b", "name": "B", "currentValue": True},
    ]
    found = lenient.read(updates.ConfigOptionUpdate, {"configOptions": options}, "$")
    assert found.config_options == (config.SessionConfigBoolean("b", "B", True),)


def test_a_fault_says_where_it_is() -> None:
    update = {"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": 3}}
    with pytest.raises(ProtocolFault) as caught:
        lenient.read(updates.SessionNotification, {"sessionId": "s", "update": update}, "$")
    assert str(caught.value) == "expected a string, got a number - at `$.update.content.text`"


@pytest.mark.parametrize(
    ("given_", "name"),
    [(None, "null"), (True, "true"), (False, "false"), (1.5, "a number"), ([], "an array")],
)
def test_a_fault_names_what_was_given(given_: Any, name: str) -> None:
    with pytest.raises(ProtocolFault, match=f"expected a string, got {name} - "):
        lenient.read(methods.PromptResponse, {"stopReason": given_}, "$")
    with pytest.raises(ProtocolFault, match="expected a string, got an object"):
        lenient.read(methods.PromptResponse, {"stopReason": {}}, "$")


def test_a_fault_names_an_unknown_tag_and_not_all_of_it() -> None:
    with pytest.raises(ProtocolFault, match="unknown `outcome`: 'xx") as caught:
        lenient.read(methods.RequestPermissionResponse, {"outcome": {"outcome": "x" * 999}}, "$")
    assert len(str(caught.value)) < 120


@pytest.mark.parametrize(("value", "read_as"), [(3.0, 3), (3.7, 3), (3, 3)])
def test_a_whole_number_may_have_a_point(value: float, read_as: int) -> None:
    update = lenient.read(updates.UsageUpdate, {"used": value, "size": 1}, "$")
    assert update.used == read_as
    assert type(update.used) is int


@pytest.mark.parametrize("value", [True, float("inf"), float("nan"), "3", None])
def test_what_is_no_number_is_none(value: Any) -> None:
    with pytest.raises(ProtocolFault, match="expected a number"):
        lenient.read(updates.UsageUpdate, {"used": value, "size": 1}, "$")


@pytest.mark.parametrize("text", ["aGVsbG8=", "aGVsbG8", "aGVs\nbG8=\n"])
def test_base64_may_be_written_carelessly(text: str) -> None:
    block = lenient.read(content.ImageContent, {"data": text, "mimeType": "image/png"}, "$")
    assert block.data == b"hello"


def test_what_is_no_base64_is_a_fault() -> None:
    with pytest.raises(ProtocolFault, match="expected base64"):
        lenient.read(content.ImageContent, {"data": "a", "mimeType": "image/png"}, "$")
    with pytest.raises(ProtocolFault, match="expected base64"):
        lenient.read(content.ImageContent, {"data": 1, "mimeType": "image/png"}, "$")


@pytest.mark.parametrize("more", [{}, {"text": "a", "blob": "YQ=="}])
def test_what_a_type_itself_refuses_is_a_fault(more: JSON) -> None:
    with pytest.raises(ProtocolFault, match=r"either `text` or `blob` - at `\$`"):
        lenient.read(content.ResourceContents, {"uri": "file:///x", **more}, "$")


def test_an_id_of_several_types_is_read_as_the_one_that_it_is() -> None:
    for id_ in (7, "seven", None):
        read_ = lenient.read(methods.CancelRequestNotification, {"requestId": id_}, "$")
        assert read_.request_id == id_
    with pytest.raises(ProtocolFault, match=r"at `\$\.requestId`"):
        lenient.read(methods.CancelRequestNotification, {"requestId": []}, "$")


def test_a_type_that_nobody_taught_it_is_a_fault_of_ours() -> None:
    class Odd(msgspec.Struct):
        field: set[str]

    with pytest.raises(LocalError):
        lenient.read(Odd, {"field": []}, "$")
