"""The reference of the wire, from `bridge.methods` and the Structs of `bridge.wire`."""

from __future__ import annotations

import inspect
import types
from collections.abc import Iterator
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import NODEFAULT, UNSET, Raw, UnsetType
from msgspec.structs import FieldInfo, fields

from bridge import wire
from bridge.methods import METHODS, WireMethod

from . import examples
from .markdown import anchor, block, sections, table

PARTS: tuple[type[msgspec.Struct], ...] = get_args(wire.KnownPart)

_AGENT = "[AgentSpec](#agentspec) or [ReadyAgentSpec](#readyagentspec)"

# What stays raw in the code until it is needed has a shape all the same.
_RAW: dict[tuple[type[msgspec.Struct], str], str] = {
    (wire.ChatParams, "messages"): "list of [ChatMessage](#chatmessage)",
    (wire.ChatParams, "agent"): _AGENT,
    (wire.LogInParams, "agent"): _AGENT,
    (wire.LogOutParams, "agent"): _AGENT,
    (wire.AgentSessionsParams, "agent"): _AGENT,
    (wire.InitializeParams, "mcp_servers"): "list of [UserMcpServer](#usermcpserver)",
    (wire.McpServersParams, "mcp_servers"): "list of [UserMcpServer](#usermcpserver)",
    (wire.ModelsParams, "agents"): f"object of {_AGENT}",
    (wire.ModelsParams, "settings"): "object of [Settings](#settings)",
    (wire.ModelsParams, "information"): "object of [ShownModel](#shownmodel)",
    (wire.TokenCountParams, "message"): "[ChatMessage](#chatmessage)",
    (wire.ToolSpec, "input_schema"): "JSON Schema",
    (wire.ToldFailure, "kind"): "[kind of failure](errors.md#kinds-of-failure)",
    (wire.ToldFailure, "fixes"): "list of [fixes](errors.md#fixes)",
}
_SCALARS: dict[object, str] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    bytes: "string, base64",
    Any: "any JSON",
    type(None): "null",
}
_ARROWS = {
    "request": "editor → vscodelm, answered",
    "notification to us": "editor → vscodelm",
    "notification from us": "vscodelm → editor",
    "request from us": "vscodelm → editor, answered",
}


def methods() -> str:
    """Return the list of methods, and a section for each."""
    overview = table(
        ["method", "direction", "params", "result"],
        [
            [
                f"[`{method.name}`](#{anchor(method.name)})",
                _ARROWS[method.direction],
                _link(method.params),
                _link(method.result) if method.result else "",
            ]
            for method in METHODS
        ],
    )
    return sections([overview, *(_method(method) for method in METHODS)])


def _method(method: WireMethod) -> str:
    example = block("text", "\n".join(examples.lines(method)))
    return sections([f"### {method.name}", method.summary, example])


def parts() -> str:
    """Return a section for each kind of part."""
    return sections(sections([_struct(part), block("json", examples.part(part))]) for part in PARTS)


def structs() -> str:
    """Return a section for each other type that travels, in the order in which it is met."""
    met: dict[type[msgspec.Struct], None] = {}
    for method in METHODS:
        for struct in (method.params, method.result):
            if struct is not None:
                _meet(struct, met)
    _meet(wire.AgentSpec, met)
    _meet(wire.ReadyAgentSpec, met)
    _meet(wire.ShownModel, met)
    _meet(wire.ChatMessage, met)
    _meet(wire.UserMcpServer, met)
    _meet(wire.ChangedFiles, met)
    return sections(_struct(struct) for struct in met if struct not in PARTS)


def _meet(struct: type[msgspec.Struct], met: dict[type[msgspec.Struct], None]) -> None:
    if struct in met or struct is wire.UnknownPart:
        return
    met[struct] = None
    for field in fields(struct):
        for inner in _structs(field.type):
            _meet(inner, met)


def _structs(hint: Any) -> Iterator[type[msgspec.Struct]]:
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        yield hint
    for inner in get_args(hint):
        yield from _structs(inner)


def _struct(struct: type[msgspec.Struct]) -> str:
    config = struct.__struct_config__
    rows = [_field(struct, field) for field in fields(struct)]
    if config.tag is not None:
        rows.insert(0, [f"`{config.tag_field}`", f"`{_json(config.tag)}`", "required"])
    body = table(["field", "type", "default"], rows) if rows else "No fields."
    about = inspect.getdoc(struct) or ""
    for field in fields(struct):  # the docstrings use the names that the code has
        about = about.replace(f"`{field.name}`", f"`{field.encode_name}`")
    return sections([f"### {struct.__name__}", about, body])


def _field(struct: type[msgspec.Struct], field: FieldInfo) -> list[str]:
    kind = _RAW.get((struct, field.name)) or hint_words(field.type)
    return [f"`{field.encode_name}`", kind, default_words(field)]


def hint_words(hint: Any) -> str:
    """Return a type in words; raises `TypeError` on one that has none yet."""
    if hint in _SCALARS:
        return _SCALARS[hint]
    if isinstance(hint, type) and issubclass(hint, msgspec.Struct):
        return _link(hint)
    origin, inner = get_origin(hint), get_args(hint)
    if origin is Annotated:
        return hint_words(inner[0])
    if origin is Literal:
        return " or ".join(f"`{_json(value)}`" for value in inner)
    if origin in (list, tuple) and inner[1:] in ((), (...,)):
        return f"list of {hint_words(inner[0])}"
    if origin is dict and inner[0] is str:
        return f"object of {hint_words(inner[1])}"
    if origin in (Union, types.UnionType):
        if set(PARTS) <= set(inner):
            return "[part](#parts)"
        return " or ".join(hint_words(one) for one in inner if one not in (UnsetType, Raw))
    raise TypeError(f"no words for {hint}")


def default_words(field: FieldInfo) -> str:
    """Return what a field is that is left out."""
    if field.default is UNSET:
        return "absent"
    if isinstance(field.default, msgspec.Struct):
        return "its defaults"
    if field.default is not NODEFAULT:
        return f"`{_json(field.default)}`"
    if field.default_factory is not NODEFAULT:
        return f"`{_json(field.default_factory())}`"
    return "required"


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _link(struct: type[msgspec.Struct]) -> str:
    return f"[{struct.__name__}](#{anchor(struct.__name__)})"
