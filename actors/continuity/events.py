"""The events that a Session Actor reports to its machine (`actors.continuity.machine`)."""

from __future__ import annotations

from typing import TypeAlias

from bridge.errors import Failure
from bridge.value import Value
from bridge.wire import ChatMessage

from ..plan import AgentQuestion, Delivery


class SessionWanted(Value):
    """A delivery waits, and no session is open."""


class AgentPrepared(Value):
    """The agent has what it needs to open a session."""


class PreparationFailed(Value):
    """The agent can't get what it needs."""

    failure: Failure


class SearchEnded(Value):
    """The memory has a session that knows so many messages of the path; None if it has none."""

    handle: str | None = None
    steps: int = 0


class SessionOpened(Value):
    """The agent opened a session."""

    handle: str | None
    knows_history: bool


class DeliveryReceived(Value):
    """A delivery came.

    The other fields are about the open session: `skipped` are the messages of earlier deliveries
    that the agent missed, and `questions` are those of the open turn.
    """

    delivery: Delivery
    skipped: tuple[ChatMessage, ...] = ()
    questions: tuple[AgentQuestion, ...] = ()
    is_lost: bool = False
    offers_tools: bool = True


class TurnDrained(Value):
    """The turn that the user left has ended."""

    is_lost: bool
    offers_tools: bool


class OriginChecked(Value):
    """The memory says whether the origin of a fork is still this process's own."""

    is_ours: bool


class PromptReady(Value):
    """The prompt for the delivery is prepared. The agent gets `before` as the transcript."""

    before: tuple[ChatMessage, ...] = ()


class DeliverySkipped(Value):
    """The delivery was aborted before the agent saw it."""


class SessionTaken(Value):
    """The memory says that another process continues the session."""


class PromptDue(Value):
    """Nothing stands between the agent and the delivery."""


class TurnStopped(Value):
    """The agent's turn ended by itself."""


class TurnCut(Value):
    """The agent cut its turn short."""


class TurnFailed(Value):
    """The agent's turn failed. The session goes on."""

    failure: Failure


class TurnPaused(Value):
    """The agent's turn waits for answers."""


class TurnAborted(Value):
    """The History Actor aborted the turn."""


class ResponseEnded(Value):
    """The History Actor got the end of the response."""


class SessionBroke(Value):
    """The session raised an error, or couldn't be opened.

    Without a `failure` its turn was aborted and didn't stop in time.
    """

    failure: Failure | None


class ChatSuperseded(Value):
    """The chat continued elsewhere for a while."""

    has_own_process: bool
    """Whether closing the session frees a process."""


class ConversationEnded(Value):
    """No delivery comes any more."""


SessionEvent: TypeAlias = (
    SessionWanted
    | AgentPrepared
    | PreparationFailed
    | SearchEnded
    | SessionOpened
    | DeliveryReceived
    | TurnDrained
    | OriginChecked
    | PromptReady
    | DeliverySkipped
    | SessionTaken
    | PromptDue
    | TurnStopped
    | TurnCut
    | TurnFailed
    | TurnPaused
    | TurnAborted
    | ResponseEnded
    | SessionBroke
    | ChatSuperseded
    | ConversationEnded
)
