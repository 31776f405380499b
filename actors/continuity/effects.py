"""Effects that the machine of a session returns, and the Session Actor carries out."""

from __future__ import annotations

from typing import TypeAlias

from agents.events import Answer
from agents.origin import Origin
from bridge.errors import Failure
from bridge.history.message import Message
from bridge.value import Value
from bridge.wire import ChatMessage, Settings, ToolSpec

from ..beginning import Head, Start, Why
from ..plan import Delivery


class PrepareAgent(Value):
    """Have the agent get what it needs.

    Then report `AgentPrepared`, `PreparationFailed`, or `DeliverySkipped` if `turn` is aborted.
    """

    turn: int


class SearchMemory(Value):
    """Search the memory; then report `SearchEnded`."""

    path: tuple[Message, ...]


class OpenSession(Value):
    """Open a session; then report `SessionOpened`."""

    origin: Origin


class ForgetHandle(Value):
    """Note that no conversation may continue the session of this handle.

    `is_held` if the open session has the same handle.
    """

    handle: str
    is_held: bool


class ReleaseHandle(Value):
    """Release a closed session in the memory."""

    handle: str


class CheckOrigin(Value):
    """Ask the memory for the origin of a fork; then report `OriginChecked`."""

    handle: str


class PreparePrompt(Value):
    """Collect the earlier messages; then report `PromptReady` or `DeliverySkipped`.

    The session knows the first `known` of them, or all if that is None.
    """

    delivery: Delivery
    known: int | None


class BeginTurn(Value):
    """Note in the memory that a turn begins.

    Then report `SessionTaken`, `DeliverySkipped` or `PromptDue`.
    """

    turn: int
    handle: str | None


class ContinueTurn(Value):
    """Report `DeliverySkipped` or `PromptDue`: the open turn continues."""

    turn: int


class Introduce(Value):
    """Report to the History Actor how the session begins; `told` messages are replayed."""

    turn: int
    start: Start
    why: Why
    told: int


class BeginResponse(Value):
    """Begin the response to a delivery.

    The session `is_in_step` if it remembers nothing that was withdrawn.
    """

    delivery: Delivery
    is_in_step: bool


class PromptAgent(Value):
    """Run a turn of the agent; then report how that ended."""

    messages: tuple[ChatMessage, ...]
    before: tuple[ChatMessage, ...] = ()
    """The transcript for a session that knows nothing of these messages."""


class AnswerAgent(Value):
    """Answer the questions of the open turn; then report how it ended."""

    answers: tuple[Answer, ...]


class EndResponse(Value):
    """End the response; then report `ResponseEnded`.

    The session can be continued if it `is_settled`.
    """

    is_settled: bool


class FailResponse(Value):
    """End the response by a failure; then report `ResponseEnded`."""

    failure: Failure


class FailTurn(Value):
    """Fail a turn that has no session any more."""

    turn: int
    failure: Failure


class DrainTurn(Value):
    """Cancel the turn and drain it to its end."""


class DrainFirst(Value):
    """As `DrainTurn`; then report `TurnDrained`. The agent gets no results of `dropped`."""

    dropped: tuple[str, ...]
    tools: tuple[ToolSpec, ...]
    """The editor's tools that the session is to be offered afterwards."""
    settings: Settings


class AllowForks(Value):
    """Tell the mailbox where the session is at rest."""

    head: Head | None


class CloseSession(Value):
    """Close the session. If a delivery waits, another session serves it."""

    why: Why


ResponseEffect: TypeAlias = PromptAgent | AnswerAgent | EndResponse | FailResponse
"""The effects that an abort of their turn ends."""

SessionEffect: TypeAlias = (
    PrepareAgent
    | SearchMemory
    | OpenSession
    | ForgetHandle
    | ReleaseHandle
    | CheckOrigin
    | PreparePrompt
    | BeginTurn
    | ContinueTurn
    | Introduce
    | BeginResponse
    | PromptAgent
    | AnswerAgent
    | EndResponse
    | FailResponse
    | FailTurn
    | DrainTurn
    | DrainFirst
    | AllowForks
    | CloseSession
)
