"""Values: what tasks and functions hand to each other, and nobody changes.

They are msgspec structs, as what travels on the wire is, and for the same reason: they are made for
every part of every answer, and hundreds of kinds of them mustn't make the process slow to start
(docs/explanation/decisions/0005-values-are-structs.md). What has an owner who
changes it is an attrs class.
"""

from __future__ import annotations

from typing import dataclass_transform

import msgspec


@dataclass_transform(frozen_default=True, field_specifiers=(msgspec.field,))
class Value(msgspec.Struct, frozen=True):
    """A value: equal when its fields are, and never changed."""
