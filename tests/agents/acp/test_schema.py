"""Our types against the protocol's schema: names, tags, codes, and what we send."""

from __future__ import annotations

import functools
from typing import Any, cast, get_args

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agents.acp.schema import content, methods, plans, unstable, updates
from agents.acp.schema import errors as faults
from agents.acp.schema import initialize as setup
from agents.acp.schema import options as config
from agents.events import PermissionKind
from bridge.errors import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
)
from bridge.wire import EnvVariable, Wire

from .protocol_schema import definitions, needs_schema, properties, required, tags
from .strategies import as_json, texts, values

pytestmark = needs_schema

# What has another name there, or stands for several; the name of a union's variant is found by tag.
OTHER_NAMES: dict[type[msgspec.Struct], tuple[str, ...]] = {
    updates.UserMessageChunk: ("ContentChunk",),
    updates.AgentMessageChunk: ("ContentChunk",),
    updates.AgentThoughtChunk: ("ContentChunk",),
    updates.AvailableCommandInput: ("UnstructuredCommandInput",),
    content.ResourceContents: ("TextResourceContents", "BlobResourceContents"),
    config.SessionConfigSelectItem: ("SessionConfigSelectOption", "SessionConfigSelectGroup"),
    config.SessionConfigSelect: ("SessionConfigOption", "SessionConfigSelect"),
    config.SessionConfigBoolean: ("SessionConfigOption", "SessionConfigBoolean"),
    setup.AuthMethod: ("AuthMethodAgent", "AuthMethodTerminal"),
    setup.Supported: ("SessionListCapabilities", "LogoutCapabilities", "NoticeCapabilities"),
    methods.LoadSessionRequest: ("LoadSessionRequest", "ResumeSessionRequest"),
    methods.LoadSessionResponse: ("LoadSessionResponse", "ResumeSessionResponse"),
    methods.EmptyResponse: (
        "AuthenticateResponse",
        "CloseSessionResponse",
        "SetSessionModeResponse",
    ),
}
# Not in the stable schema, and never in any.
UNSTABLE = {"Usage", "usage", "fork"}
LEGACY = {
    *("SessionModelState", "ModelInfo", "SetSessionModelRequest", "models"),
    *("AuthVariable", "vars"),
}
UNSTABLE_TAGS = {
    kind.__struct_config__.tag
    for kind in (unstable.PlanUpdate, unstable.PlanRemoved, unstable.SubagentUpdate)
}
OURS = {"Method", "CancelledPermissionOutcome"}
TYPE_FIELD = {"type"}  # a tag there, a field here

TYPES = [
    kind
    for module in (config, content, faults, methods, plans, setup, updates)
    for kind in vars(module).values()
    if isinstance(kind, type)
    and issubclass(kind, Wire)
    and kind.__module__ == module.__name__
    and not kind.__name__.startswith("Unknown")
    and kind.__name__ not in UNSTABLE | LEGACY | OURS
]


def fields_of(kind: type[msgspec.Struct]) -> dict[str, msgspec.structs.FieldInfo]:
    return {field.encode_name: field for field in msgspec.structs.fields(kind)}


def names_of(kind: type[msgspec.Struct]) -> tuple[str, ...]:
    return OTHER_NAMES.get(kind, (kind.__name__,))


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_required_field_of_the_protocol_is_there(kind: type[msgspec.Struct]) -> None:
    here = set(fields_of(kind))
    for name in names_of(kind):
        assert required(name) <= here, name


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_every_field_is_one_of_the_protocol(kind: type[msgspec.Struct]) -> None:
    there = {key for name in names_of(kind) for key in properties(name)}
    there |= UNSTABLE | LEGACY | TYPE_FIELD | {"_meta"}
    if kind is methods.SetSessionConfigOptionRequest:
        there.add("value")  # one in each of its variants
    assert set(fields_of(kind)) <= there


@pytest.mark.parametrize("kind", TYPES, ids=lambda kind: kind.__name__)
def test_what_is_required_here_is_required_there(kind: type[msgspec.Struct]) -> None:
    there = {key for name in names_of(kind) for key in required(name)} | {"value"}
    assert {key for key, field in fields_of(kind).items() if field.required} <= there


@pytest.mark.parametrize(
    ("union", "ours", "left_out"),
    [
        ("ContentBlock", content.ContentBlock, set[str]()),
        ("ToolCallContent", content.ToolCallContent, set[str]()),
        ("SessionUpdate", updates.SessionUpdate, set[str]()),
        ("SessionConfigOption", config.SessionConfigOption, set[str]()),
        ("RequestPermissionOutcome", methods.RequestPermissionOutcome, set[str]()),
        ("McpServer", setup.McpServer, set[str]()),
    ],
)
def test_the_tags_of_a_union_are_those_of_the_protocol(
    union: str, ours: Any, left_out: set[str]
) -> None:
    members = cast("tuple[type[msgspec.Struct], ...]", get_args(ours))
    here = {kind.__struct_config__.tag: kind for kind in members}
    left_out_here = {None, "?", *UNSTABLE_TAGS}
    here = {tag: kind for tag, kind in here.items() if tag not in left_out_here}
    there = tags(union)
    assert set(here) == set(there) - left_out
    for tag, kind in here.items():
        assert there[str(tag)] in (*names_of(kind), "")


def test_the_values_of_enumerations_are_those_of_the_protocol() -> None:
    def there(name: str) -> set[str]:
        return {variant["const"] for variant in definitions()[name]["oneOf"]}

    assert set(get_args(PermissionKind)) == there("ToolKind")
    assert there("ToolCallStatus") == {"pending", "in_progress", "completed", "failed"}


JSON_RPC = {PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, INTERNAL_ERROR}


def test_the_codes_of_errors_are_those_of_the_protocol() -> None:
    own = {value for name, value in vars(faults).items() if name.isupper()}
    there = {variant.get("const") for variant in definitions()["ErrorCode"]["anyOf"]}
    assert own | JSON_RPC == there - {None}


def test_the_methods_are_those_of_the_protocol() -> None:
    there: dict[str, set[str]] = {}
    for name, definition in definitions("unstable").items():
        if "x-method" in definition:
            there.setdefault(definition["x-method"], set()).add(name)
    for method in methods.METHODS:
        if method is not methods.SET_MODEL:
            stem = method.name.removeprefix("session/")
            assert any(name.endswith("Request") for name in there[method.name]), stem
    assert "CancelNotification" in there[methods.CANCEL]
    assert "CancelRequestNotification" in there[methods.CANCEL_REQUEST]
    assert "SessionNotification" in there[methods.UPDATE]
    assert "RequestPermissionRequest" in there[methods.REQUEST_PERMISSION]


def test_what_is_not_stable_has_the_names_it_has_there() -> None:
    unstable = definitions("unstable")
    usage = unstable["Usage"]
    assert set(usage["required"]) <= set(fields_of(methods.Usage)) <= set(usage["properties"])
    assert "usage" in unstable["PromptResponse"]["properties"]
    assert "fork" in unstable["SessionCapabilities"]["properties"]
    fork = unstable["ForkSessionRequest"]
    assert set(fields_of(methods.LoadSessionRequest)) <= set(fork["properties"])
    assert unstable["ForkSessionResponse"]["required"] == ["sessionId"]


@pytest.mark.parametrize(
    "kind",
    [
        unstable.SubagentUpdate,
        unstable.PlanItems,
        unstable.PlanFile,
        unstable.PlanMarkdown,
        unstable.PlanUpdate,
        unstable.PlanRemoved,
    ],
    ids=lambda kind: kind.__name__,
)
def test_an_unstable_update_is_as_the_unstable_schema_has_it(kind: type[msgspec.Struct]) -> None:
    there = definitions("unstable")[kind.__name__]
    fields = fields_of(kind)
    assert set(there["required"]) <= set(fields) <= set(there["properties"])
    assert {key for key, field in fields.items() if field.required} <= set(there["required"])
    # and it becomes stable under our eyes: then its capability can be advertised
    assert kind.__name__ not in definitions()


@functools.cache
def validator(name: str) -> Any:
    return Draft202012Validator({"$ref": f"#/$defs/{name}", "$defs": definitions()})


def sends(name: str, value: msgspec.Struct) -> None:
    """Check that what we send for a value is what the schema allows for it."""
    validator(name).validate(as_json(value))


SENT: list[tuple[str, type[msgspec.Struct]]] = [
    ("InitializeRequest", setup.InitializeRequest),
    ("AuthenticateRequest", setup.AuthenticateRequest),
    ("NewSessionRequest", methods.NewSessionRequest),
    ("LoadSessionRequest", methods.LoadSessionRequest),
    ("ResumeSessionRequest", methods.LoadSessionRequest),
    ("ListSessionsRequest", methods.ListSessionsRequest),
    ("CloseSessionRequest", methods.CloseSessionRequest),
    ("SetSessionModeRequest", methods.SetSessionModeRequest),
    ("PromptRequest", methods.PromptRequest),
    ("CancelNotification", methods.CancelNotification),
    ("CancelRequestNotification", methods.CancelRequestNotification),
    ("RequestPermissionResponse", methods.RequestPermissionResponse),
    ("Error", faults.Error),
]


@pytest.mark.parametrize(("name", "kind"), SENT, ids=lambda one: getattr(one, "__name__", one))
@settings(max_examples=25)
@given(data=st.data())
def test_what_is_sent_is_what_the_protocol_allows(
    name: str, kind: type[msgspec.Struct], data: st.DataObject
) -> None:
    sends(name, data.draw(values(kind)))


@given(texts, texts, texts | st.booleans())
def test_an_option_is_set_as_the_protocol_wants(
    session: str, option: str, value: str | bool
) -> None:
    if isinstance(value, bool):
        request = methods.SetSessionConfigOptionRequest.on_off(session, option, value)
        assert as_json(request)["type"] == "boolean"
    else:
        request = methods.SetSessionConfigOptionRequest(session, option, value)
        assert "type" not in as_json(request)
    sends("SetSessionConfigOptionRequest", request)


def test_lists_that_the_protocol_requires_are_sent_when_empty() -> None:
    stdio = setup.McpServerStdio("vsc", "/usr/bin/python3", (), ())
    request = methods.NewSessionRequest("/work", (stdio,))
    assert as_json(request) == {
        "cwd": "/work",
        "mcpServers": [{"name": "vsc", "command": "/usr/bin/python3", "args": [], "env": []}],
    }
    sends("NewSessionRequest", request)
    assert as_json(methods.NewSessionRequest("/work", ())) == {"cwd": "/work", "mcpServers": []}
    http = setup.McpServerHttp("vsc", "http://127.0.0.1:1/x", ())
    assert as_json(http)["headers"] == []
    with_env = setup.McpServerStdio("vsc", "/x", ("-I",), (EnvVariable("A", "b"),))
    sends("McpServer", with_env)


def test_the_validator_refuses_what_the_protocol_refuses() -> None:
    """Otherwise the tests above would prove nothing."""
    assert not validator("NewSessionRequest").is_valid({"cwd": "/work"})
