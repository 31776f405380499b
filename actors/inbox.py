"""What the History Actor is told, by the editor port and by its session actors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

import attrs

from bridge.errors import Failure
from bridge.index import ConversationKey
from bridge.models import AgentChoice
from bridge.transcript import Transcript
from bridge.wire import Capabilities, ChatOptions, Part, RequestId, Settings


@attrs.frozen
class Asked:
    """A chat request."""

    request: RequestId
    model: str
    agent: AgentChoice
    transcript: Transcript
    options: ChatOptions
    settings: Settings
    capabilities: Capabilities


@attrs.frozen
class Cancelled:
    """The editor cancelled a request."""

    request: RequestId


@attrs.frozen
class StatsAsked:
    """`lm/stats`."""

    request: RequestId


@attrs.frozen
class Leaving:
    """The editor is gone or we are told to stop: settle everything and end."""


@attrs.frozen
class Said:
    """An agent said something in a turn."""

    conversation: ConversationKey
    turn: int
    parts: Sequence[Part]


@attrs.frozen
class Ended:
    """A turn's response is complete."""

    conversation: ConversationKey
    turn: int


@attrs.frozen
class Failed:
    """A turn failed."""

    conversation: ConversationKey
    turn: int
    failure: Failure


@attrs.frozen
class Expired:
    """A session has been idle for its time."""

    conversation: ConversationKey


FromEditor: TypeAlias = Asked | Cancelled | StatsAsked | Leaving
FromSession: TypeAlias = Said | Ended | Failed | Expired
Message: TypeAlias = FromEditor | FromSession
