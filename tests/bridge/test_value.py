"""Values: equal when their fields are, and never changed."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bridge.value import Value


class Point(Value):
    x: int
    y: int = 0


class Place(Value):
    x: int
    y: int = 0


def test_values_are_equal_when_their_fields_are() -> None:
    assert Point(1) == Point(1, 0)
    assert hash(Point(1)) == hash(Point(1, 0))
    assert Point(1) != Point(1, 1)


def test_values_of_two_kinds_are_never_equal() -> None:
    place: object = Place(1)
    assert place != Point(1)


def test_a_value_cannot_be_changed_only_replaced() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError, match="immutable"):
        point.x = 2
    assert replace(point, y=3) == Point(1, 3)
    assert point == Point(1)


def test_a_value_has_no_room_for_anything_else() -> None:
    point: Any = Point(1)
    with pytest.raises(AttributeError):
        point.z = 2
    assert not hasattr(point, "__dict__")
