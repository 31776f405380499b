"""Hypothesis strategies for the protocol's messages, made from our types."""

from __future__ import annotations

from typing import Any, TypeVar, cast

import msgspec
from hypothesis import strategies as st
from msgspec import inspect

from agents.acp.schema import content, methods
from agents.acp.schema import initialize as setup

from .protocol_schema import JSON, definitions

T = TypeVar("T")

texts = st.text(max_size=8)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=5,
)


def values(type_: type[T]) -> st.SearchStrategy[T]:
    """Return a strategy for values of a struct; the `Unknown...` ones are left out."""
    if type_ is methods.NewSessionRequest:
        return cast("st.SearchStrategy[T]", _opening())
    if type_ is methods.LoadSessionRequest:
        return cast("st.SearchStrategy[T]", st.tuples(texts, _opening()).map(_loading))
    return cast("st.SearchStrategy[T]", _values(inspect.type_info(type_)))


def _opening() -> st.SearchStrategy[methods.NewSessionRequest]:
    """Return what only goes out: msgspec can't decode its servers, of which one kind has no tag."""
    servers = values(setup.McpServerStdio) | values(setup.McpServerHttp)
    servers |= values(setup.McpServerSse)
    folders = st.lists(texts, max_size=2).map(tuple)
    return st.builds(
        methods.NewSessionRequest, texts, st.lists(servers, max_size=2).map(tuple), folders
    )


def _loading(
    of: tuple[str, methods.NewSessionRequest],
) -> methods.LoadSessionRequest:
    session_id, new = of
    return methods.LoadSessionRequest(
        session_id, new.cwd, new.mcp_servers, new.additional_directories
    )


def _values(shape: inspect.Type) -> st.SearchStrategy[Any]:
    match shape:
        case inspect.AnyType():
            return json_values
        case inspect.StrType():
            return texts
        case inspect.BoolType():
            return st.booleans()
        case inspect.IntType():
            return st.integers(0, 65_535)
        case inspect.FloatType():
            return st.floats(allow_nan=False, allow_infinity=False, width=32)
        case inspect.NoneType():
            return st.none()
        case inspect.BytesType():
            return st.binary(max_size=8)
        case inspect.VarTupleType(item_type=item):
            return st.lists(_values(item), max_size=3).map(tuple)
        case inspect.DictType():
            return st.dictionaries(texts, _dict_values(shape), max_size=2)
        case inspect.UnionType(types=types):
            return st.one_of([_values(one) for one in types if not _is_unknown(one)])
        case inspect.StructType():
            return _structs(shape)
        case _:
            raise AssertionError(shape)


def _dict_values(shape: inspect.DictType) -> st.SearchStrategy[Any]:
    return _values(shape.value_type)


def _structs(shape: inspect.StructType) -> st.SearchStrategy[Any]:
    if shape.cls is content.ResourceContents:
        text = st.builds(content.ResourceContents, texts, text=texts)
        return text | st.builds(content.ResourceContents, texts, blob=st.binary(max_size=8))
    fields = {field.name: _values(field.type) for field in shape.fields}
    return st.fixed_dictionaries(fields).map(lambda given: shape.cls(**given))


def _is_unknown(shape: inspect.Type) -> bool:
    return isinstance(shape, inspect.StructType) and shape.tag == "?"


def as_json(value: msgspec.Struct) -> Any:
    """Return what is sent for a value."""
    return msgspec.json.decode(msgspec.json.encode(value))


# The other way round: messages that the schema allows, whatever our types say.


def allowed(name: str) -> st.SearchStrategy[Any]:
    """Return a strategy for what the schema allows under the name of a definition."""
    return st.deferred(lambda: _allowed(definitions()[name]))


def _allowed(schema: JSON) -> st.SearchStrategy[Any]:
    if "const" in schema:
        return st.just(schema["const"])
    parts = [_allowed_part(part) for part in schema.get("allOf", ())]
    parts += [
        st.one_of([_allowed_part(variant) for variant in schema[key]])
        for key in ("oneOf", "anyOf")
        if key in schema
    ]
    if "type" in schema:
        kinds: Any = schema["type"]
        types: list[str] = [kinds] if isinstance(kinds, str) else kinds
        parts.append(st.one_of([_of_type(one, schema) for one in types]))
    if not parts:
        return json_values
    return parts[0] if len(parts) == 1 else st.tuples(*parts).map(_merged)


def _allowed_part(schema: JSON) -> st.SearchStrategy[Any]:
    if "$ref" in schema:
        return allowed(schema["$ref"].removeprefix("#/$defs/"))
    return _allowed(schema)


def _merged(parts: tuple[Any, ...]) -> Any:
    """Return an object with the properties of all."""
    return {key: value for part in parts for key, value in part.items()}


def _of_type(name: str, schema: JSON) -> st.SearchStrategy[Any]:
    match name:
        case "string":
            return texts
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(schema.get("minimum", -1000), schema.get("maximum", 1000))
        case "number":
            return st.floats(allow_nan=False, allow_infinity=False)
        case "null":
            return st.none()
        case "array":
            return st.lists(_allowed_part(schema["items"]), max_size=2)
        case _:
            return _objects(schema)


def _objects(schema: JSON) -> st.SearchStrategy[Any]:
    required = schema.get("required", ())
    fields = {
        # Bytes are strings there, and base64 only by the words of the description.
        key: st.just("aGk=") if key in ("data", "blob") and key in required else _allowed_part(one)
        for key, one in schema.get("properties", {}).items()
    }
    return st.fixed_dictionaries(
        {key: fields[key] for key in fields if key in required},
        optional={key: fields[key] for key in fields if key not in required},
    )
