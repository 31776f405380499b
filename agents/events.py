"""What an agent says and what it is told: values (the contract is in `agents.base`)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Literal, TypeAlias

import attrs

from bridge.errors import Failure
from bridge.wire import ChatMessage, Settings, ToolSpec

# What an agent says.


@attrs.frozen
class Say:
    """A piece of the answer, Markdown."""

    text: str


@attrs.frozen
class Think:
    """A piece of the agent's reasoning."""

    text: str
    id: str | None = None
    metadata: Any = None


@attrs.frozen
class Attach:
    """Bytes for the host, such as a `usage` record; only hosts that know the kind get it."""

    mime_type: str
    data: bytes


@attrs.frozen
class CallTool:
    """A call of one of the editor's tools; `call_id` is unique in the whole process."""

    call_id: str
    name: str
    parameters: Any


PermissionKind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]


@attrs.frozen
class AskPermission:
    """May the agent do this? `details` is what a person needs to decide (raw input, diff, ...)."""

    call_id: str
    title: str
    kind: PermissionKind = "other"
    details: dict[str, Any] = attrs.field(factory=dict[str, Any])


@attrs.frozen
class Await:
    """The agent waits for the answers to what it asked; the turn goes on with them."""


class StopReason(enum.Enum):
    """How a turn ended by itself (ACP's words)."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


@attrs.frozen
class Stop:
    """The turn is over."""

    reason: StopReason = StopReason.END_TURN


@attrs.frozen
class Break:
    """The turn failed, the session lives."""

    failure: Failure


Event: TypeAlias = Say | Think | Attach | CallTool | AskPermission | Await | Stop | Break
Batch: TypeAlias = Sequence[Event]


# What an agent is told.


@attrs.frozen
class ToolAnswer:
    """The result of a `CallTool`, any JSON."""

    call_id: str
    result: Any
    is_error: bool = False


class Decision(enum.Enum):
    """What became of an `AskPermission`."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ABANDONED = "abandoned"
    """The user moved on: the turn is being cancelled."""


@attrs.frozen
class PermissionAnswer:
    """The user's decision."""

    call_id: str
    decision: Decision


Answer: TypeAlias = ToolAnswer | PermissionAnswer


@attrs.frozen
class Prompt:
    """One turn's input.

    `transcript` is what was said before this session existed, as accepted by the user; it is empty
    but for a session's first turn. `messages` are new, oldest first.
    """

    messages: tuple[ChatMessage, ...]
    transcript: tuple[ChatMessage, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    tool_required: bool = False
    model_options: dict[str, Any] = attrs.field(factory=dict[str, Any])
    settings: Settings = attrs.field(factory=Settings)
