"""Limit how deep the values of peers are nested: agents, endpoints and the editor's tools.

A value that can be decoded may be too deep to be encoded again, because both recurse. So a value is
cut where it comes in, and later code may recurse. This module doesn't recurse. Pure.
"""

from __future__ import annotations

import json
from typing import Any, TypeAlias, cast

DEEPEST_LEVELS = 128
"""The most lists and objects within each other with content. Deeper ones are emptied."""

_Container: TypeAlias = "dict[str, Any] | list[Any]"


def is_deep(value: Any, most: int = DEEPEST_LEVELS) -> bool:
    """Tell whether more than `most` lists and objects, each with content, are within each other."""
    level = _containers([value])
    for _ in range(most):
        if not level:
            return False
        level = [inner for outer in level for inner in _containers(_values(outer))]
    return bool(level)


def shallow(value: Any, most: int = DEEPEST_LEVELS) -> Any:
    """Return a value that isn't deep: the same one, or a copy in which deeper ones are empty."""
    return _cut(value, most) if is_deep(value, most) else value


def json_in(text: str) -> Any:
    """Return the value that a text is in JSON, None if it is none, or one that is too deep."""
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return None if is_deep(found) else found


def _cut(value: Any, most: int) -> Any:
    whole = [value]
    level: list[_Container] = [whole]
    for _ in range(most):
        level = [copy for outer in level for copy in _copied(outer)]
    for outer in level:
        _empty(outer)
    return whole[0]


def _copied(outer: Any) -> list[_Container]:
    """Put copies in the place of what is directly inside; return them."""
    copies: list[_Container] = []
    for key, inner in _items(outer):
        if isinstance(inner, dict | list):
            copy = cast("_Container", inner).copy()
            outer[key] = copy
            copies.append(copy)
    return copies


def _empty(outer: Any) -> None:
    for key, inner in _items(outer):
        if isinstance(inner, dict | list):
            outer[key] = {} if isinstance(inner, dict) else []


def _items(outer: _Container) -> list[tuple[Any, Any]]:
    return list(outer.items()) if isinstance(outer, dict) else list(enumerate(outer))


def _values(outer: _Container) -> list[Any]:
    return list(outer.values()) if isinstance(outer, dict) else outer


def _containers(values: list[Any]) -> list[_Container]:
    return [value for value in values if value and isinstance(value, dict | list)]
