"""The news of one session, as the connection hands it to the session's turn. Pure."""

from __future__ import annotations

from typing import TypeAlias, assert_never

from agents.acp.schema.elicitation import CreateElicitationRequest, CreateElicitationResponse
from agents.acp.schema.errors import Error
from agents.acp.schema.methods import (
    CancelledPermissionOutcome,
    PromptResponse,
    RequestPermissionRequest,
    RequestPermissionResponse,
)
from agents.acp.schema.updates import SessionUpdate
from bridge.value import Value
from bridge.wire import RequestId

MOST_QUESTIONS = 100
"""Questions of a session that wait for their answers; others are refused."""

QuestionId: TypeAlias = RequestId | None
"""The id of an agent's request; some agents give none."""


class PermissionRequested(Value):
    """The agent asks for permission."""

    id: QuestionId
    request: RequestPermissionRequest


class InputRequested(Value):
    """The agent asks the user for input."""

    id: QuestionId
    request: CreateElicitationRequest


class InputCompleted(Value):
    """The user has finished at the page that the agent asked to open."""

    elicitation_id: str


class InputMissed(Value):
    """The agent asked for input between turns, which was declined."""

    message: str


UserQuestion: TypeAlias = RequestPermissionRequest | CreateElicitationRequest
"""A request of the agent that the user answers."""


def cancelled(question: UserQuestion) -> RequestPermissionResponse | CreateElicitationResponse:
    """Return the answer to a question of a turn that was cancelled."""
    match question:
        case RequestPermissionRequest():
            return RequestPermissionResponse(CancelledPermissionOutcome())
        case CreateElicitationRequest():
            return CreateElicitationResponse("cancel")
        case _:
            assert_never(question)


class Returned(Value):
    """The prompt was answered: the turn is over, except for late updates."""

    answer: PromptResponse | Error


News: TypeAlias = (
    SessionUpdate | PermissionRequested | InputRequested | InputCompleted | InputMissed | Returned
)
