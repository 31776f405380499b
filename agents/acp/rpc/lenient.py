"""Reads JSON into our types as forgivingly as the protocol wants.

The protocol's schema marks nearly every optional field with "default on error", and lists with
"skip invalid items". So a malformed field with a default becomes that default, and a malformed item
of a list is left out. A value with an unknown tag becomes the `Unknown...` of its union, which has
the tag "?". Only a missing or malformed field without a default is an error, and only of its own
object.

msgspec can't do that. This module is slow, and reads only messages that msgspec has refused.
"""

from __future__ import annotations

import base64
import functools
import math
from typing import Any, TypeVar, cast

import msgspec
from msgspec import inspect

from agents.acp.schema.errors import ProtocolFault
from bridge.errors import LocalError

UNKNOWN = "?"
"""The tag of the union member that takes values with an unknown tag."""

T = TypeVar("T")

_shape = functools.cache(inspect.type_info)


def read(type_: type[T], value: Any, path: str) -> T:
    """Return `value`, loaded from JSON, as a struct; raises `ProtocolFault` with the path."""
    return cast("T", _read(_shape(type_), value, path))


def _read(shape: inspect.Type, value: Any, path: str) -> Any:
    match shape:
        case inspect.AnyType():
            return value
        case inspect.StrType():
            return _expect(isinstance(value, str), value, "a string", path)
        case inspect.BoolType():
            return _expect(isinstance(value, bool), value, "true or false", path)
        case inspect.IntType():
            return int(_expect(_is_number(value), value, "a number", path))
        case inspect.FloatType():
            return _float(_expect(_is_number(value), value, "a number", path), path)
        case inspect.NoneType():
            return _expect(value is None, value, "null", path)
        case inspect.BytesType():
            return _bytes(value, path)
        case inspect.StructType():
            return _struct(shape, value, path)
        case inspect.UnionType():
            return _union(shape, value, path)
        case inspect.VarTupleType(item_type=item):
            items = _expect(isinstance(value, list), value, "an array", path)
            return tuple(_good_items(item, items, path))
        case inspect.DictType(value_type=item):
            given = _object(value, path)
            return {key: _read(item, one, f"{path}.{key}") for key, one in given.items()}
        case _:
            raise LocalError(f"no reading of {shape}")


def _expect(good: bool, value: Any, wanted: str, path: str) -> Any:
    if not good:
        raise ProtocolFault(f"expected {wanted}, got {_name(value)} - at `{path}`")
    return value


def _name(value: Any) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return "a string"
        case int() | float():
            return "a number"
        case list():
            return "an array"
        case _:
            return "an object"


def _is_number(value: Any) -> bool:
    """Tell whether it is one; whole numbers, too, are sometimes written with a point."""
    if isinstance(value, float):
        return math.isfinite(value)  # which a whole number of thousands of digits can't be asked
    return isinstance(value, int) and not isinstance(value, bool)


def _float(value: float, path: str) -> float:
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        raise ProtocolFault(f"expected a number, got one that is too large - at `{path}`") from None


def _object(value: Any, path: str) -> dict[str, Any]:
    return _expect(isinstance(value, dict), value, "an object", path)


def _bytes(value: Any, path: str) -> bytes:
    """Return what base64 stands for; without `validate`, line ends in it do no harm."""
    text: str = _expect(isinstance(value, str), value, "base64", path)
    try:
        return base64.b64decode(text.rstrip("=") + "===")
    except ValueError:
        raise ProtocolFault(f"expected base64 - at `{path}`") from None


def _good_items(shape: inspect.Type, items: list[Any], path: str) -> list[Any]:
    good: list[Any] = []
    for index, item in enumerate(items):
        try:
            good.append(_read(shape, item, f"{path}[{index}]"))
        except ProtocolFault:
            continue
    return good


def _struct(shape: inspect.StructType, value: Any, path: str) -> msgspec.Struct:
    value = _object(value, path)
    fields: dict[str, Any] = {}
    for field in shape.fields:
        if field.encode_name not in value:
            if field.required:
                raise ProtocolFault(f"`{field.encode_name}` is missing - at `{path}`")
            continue
        try:
            fields[field.name] = _read(
                field.type, value[field.encode_name], f"{path}.{field.encode_name}"
            )
        except ProtocolFault:
            if field.required:
                raise
    try:
        return shape.cls(**fields)
    except ValueError as error:  # from its __post_init__
        raise ProtocolFault(f"{error} - at `{path}`") from None


def _union(shape: inspect.UnionType, value: Any, path: str) -> Any:
    tagged = [kind for kind in shape.types if isinstance(kind, inspect.StructType) and kind.tag]
    if tagged:
        return _tagged(tagged, _object(value, path), path)
    faults: list[ProtocolFault] = []
    for kind in shape.types:
        try:
            return _read(kind, value, path)
        except ProtocolFault as fault:
            faults.append(fault)
    raise faults[0]


def _tagged(kinds: list[inspect.StructType], value: dict[str, Any], path: str) -> Any:
    name = str(kinds[0].tag_field)
    tag = _expect(isinstance(value.get(name), str), value.get(name), "a string", f"{path}.{name}")
    for kind in kinds:
        if kind.tag == tag != UNKNOWN:
            return _struct(kind, value, path)
    for kind in kinds:
        if kind.tag == UNKNOWN:
            return kind.cls(tag, value)
    raise ProtocolFault(f"unknown `{name}`: {tag[:60]!r} - at `{path}`")
