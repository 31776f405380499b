"""The news of one session, as the connection hands it to the session's turn. Pure."""

from __future__ import annotations

from typing import TypeAlias

from agents.acp.schema.errors import Error
from agents.acp.schema.methods import PromptResponse, RequestPermissionRequest
from agents.acp.schema.updates import SessionUpdate
from bridge.value import Value
from bridge.wire import RequestId

MOST_QUESTIONS = 100
"""Permission requests of a session that wait for their answers; others are refused."""

PermissionId: TypeAlias = RequestId | None
"""The id of an agent's request; some agents give none."""


class PermissionRequested(Value):
    """The agent asks for permission."""

    id: PermissionId
    request: RequestPermissionRequest


class Returned(Value):
    """The prompt was answered: the turn is over, except for late updates."""

    answer: PromptResponse | Error


News: TypeAlias = SessionUpdate | PermissionRequested | Returned
