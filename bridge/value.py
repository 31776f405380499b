"""Values that tasks and functions pass to each other, and that nobody changes.

They are msgspec structs, like the values of the wire: they are made for every part of every answer,
and hundreds of classes mustn't slow down the start
(docs/explanation/decisions/0005-values-are-structs.md). An object that its owner changes is an
attrs class.
"""

from __future__ import annotations

import enum
from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """A value: equal when its fields are, and never changed."""


class Key(enum.Enum):
    """A state, an input or a step of a machine: tables are looked up by it all the time.

    `Enum` hashes names by a function in Python. A member is one object, so that will do.
    """

    __hash__ = object.__hash__
