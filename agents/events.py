"""Events of an agent, and its prompts and answers: values (the contract is in `agents.base`)."""

from __future__ import annotations

import enum
from collections.abc import Sequence
from typing import Any, Final, Literal, TypeAlias

import msgspec

from bridge.errors import Failure
from bridge.value import Value
from bridge.wire import ChatMessage, ElicitAction, FieldValue, Settings, ToolSpec

# Events of an agent.


class OwnCall(Value):
    """A call of one of the agent's own tools, as far as it has come."""

    call_id: str
    name: str
    status: Literal["in_progress", "completed", "failed"]
    arguments: Any = None
    output: str = ""


class Say(Value):
    """A piece of the answer, Markdown.

    `by_us` marks text that the agent didn't say itself, such as the line for one of its tool calls.
    It is shown and recorded, and left out when the conversation is replayed to an agent. If the
    text tells of a call, `call` has the same for a program.
    """

    text: str
    by_us: bool = False
    call: OwnCall | None = None


class Think(Value):
    """A piece of the agent's reasoning."""

    text: str
    id: str | None = None
    metadata: Any = None


class Attach(Value):
    """Bytes for the host, such as a `usage` record; only hosts that know the kind get it."""

    mime_type: str
    data: bytes


class Counted(Value):
    """The tokens of all that the editor said up to here, tools included, as the model counted them.

    It is sent only where the model received exactly these words: an agent's other context is no
    measure of the editor's words.
    """

    tokens: int


class CallTool(Value):
    """A call of one of the editor's tools; `call_id` is unique in the whole process."""

    call_id: str
    name: str
    parameters: Any


PermissionKind: TypeAlias = Literal[
    "read", "edit", "delete", "move", "search", "execute", "think", "fetch", "switch_mode", "other"
]
ALWAYS_ASKED: Final[frozenset[PermissionKind]] = frozenset({"switch_mode"})
"""The kinds that the user decides about under "allow", too.

They change how the agent works, such as from planning to doing.
"""


class AskPermission(Value):
    """May the agent do this? `details` is what a person needs to decide (raw input, diff, ...)."""

    call_id: str
    title: str
    kind: PermissionKind = "other"
    details: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])


class Elicit(Value):
    """Ask the user to fill in a `form`, a flat JSON schema, or to open a `url`.

    The response stays open meanwhile, and the turn may say more. The answer is an `ElicitAnswer`.
    """

    call_id: str
    message: str
    form: dict[str, Any] | None = None
    url: str | None = None


class TakeBack(Value):
    """The agent needs no answer to an `Elicit` any more."""

    call_id: str


class Await(Value):
    """The agent waits for the answers to what it asked; the turn goes on with them."""


class StopReason(enum.Enum):
    """The reason why a turn ended by itself (ACP's words)."""

    END_TURN = "end_turn"
    MAX_TOKENS = "max_tokens"
    MAX_TURN_REQUESTS = "max_turn_requests"
    REFUSAL = "refusal"
    CANCELLED = "cancelled"


class Stop(Value):
    """The turn is over."""

    reason: StopReason = StopReason.END_TURN


CANCELLED: Final = Stop(StopReason.CANCELLED)
"""The end of a turn that the editor cancelled."""
TURN_CANCELLED: Final = "The turn was cancelled."
"""Tells an agent that a call, or a request about a file, ended with its turn."""


class Break(Value):
    """The turn failed, the session lives."""

    failure: Failure


Event: TypeAlias = (
    Say
    | Think
    | Attach
    | Counted
    | CallTool
    | AskPermission
    | Elicit
    | TakeBack
    | Await
    | Stop
    | Break
)
Batch: TypeAlias = Sequence[Event]


# Input of an agent.


class ToolAnswer(Value):
    """The result of a `CallTool`, any JSON."""

    call_id: str
    result: Any
    is_error: bool = False


class Decision(enum.Enum):
    """The decision about an `AskPermission`."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ABANDONED = "abandoned"
    """The user moved on: the turn is being cancelled."""


class PermissionAnswer(Value):
    """The decision; `reason` says who decided and why, as sentences of plain text for the user.

    `option` is the answer of the agent's own that the user chose, by its id.
    """

    call_id: str
    decision: Decision
    reason: str = ""
    option: str | None = None


class ElicitAnswer(Value):
    """The answer to an `Elicit`; an accepted form has its `content`."""

    call_id: str
    action: ElicitAction
    content: dict[str, FieldValue] | None = None
    is_told: bool = False
    """Whether the user has read already why it was declined."""


Answer: TypeAlias = ToolAnswer | PermissionAnswer | ElicitAnswer


class Prompt(Value):
    """One turn's input.

    `transcript` is what was said before this session existed, as accepted by the user; it is empty
    but for a session's first turn. `messages` are new, oldest first. `system` is the host's system
    prompt in the newest request, even if it was sent before; None: it isn't sent apart.
    `configuration` has the user's choices in the host's picker, by their keys.
    """

    messages: tuple[ChatMessage, ...]
    transcript: tuple[ChatMessage, ...] = ()
    tools: tuple[ToolSpec, ...] = ()
    tool_required: bool = False
    model_options: dict[str, Any] = msgspec.field(default_factory=dict[str, Any])
    settings: Settings = msgspec.field(default_factory=Settings)
    configuration: dict[str, str] = msgspec.field(default_factory=dict[str, str])
    system: tuple[ChatMessage, ...] | None = None
    is_chat: bool = False
    """Whether the host shows the answer in a chat. A program may read any other answer."""
    is_paced: bool = False
    """Whether the host shows a response only when it has ended, so that long ones are cut."""
